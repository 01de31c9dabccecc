"""Curves with several components are one record: no neighbour moves the statistic of all components past epsilon.

Everything runs through the real path, as in the contract of plain curves. Records sit on the surface of the body
in one component alone, in all of them alike, in opposite senses, far out, and where careless code breaks.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from conftest import LENGTHS, METHODS, drawn_without_noise, hostile, neighbours, plan_losses, stage_losses

import dpfda as dp

RELATIONS = ("replace", "add-remove")
LINE = dp.Grid.uniform(0, 1, 9)
GRID = dp.spaces.ComponentGrid(("x", "y"), LINE)
CENTRE = np.array([0.3 + 0.2 * np.sin(3 * LINE.points), -0.1 * LINE.points])
BOUNDS = {
    "L2": dp.L2Ball(0.8),
    "L2, a level each": dp.L2Ball(0.8, [0.3, -0.2]),
    "L2, a curve each": dp.L2Ball(0.8, CENTRE),
    "L1": dp.bounds.L1Ball(1.5, 0.2),
    "Ellipsoid": dp.bounds.Ellipsoid(LENGTHS, CENTRE),
    "Box": dp.bounds.Box(LENGTHS),
}
NAMES = ("FRL", "QR", "AR", "Minimax-kernel", "KNorm", "KNorm-3")
CHOSEN = {name: METHODS[name] for name in NAMES} | {"Blocks": dp.methods.Blocks()}
STAGED = {
    "rounds": dp.methods.Staged(dp.methods.KNorm(6), shares=("3/10", "7/10")),
    "blocks, spread": dp.methods.Staged(dp.methods.Blocks(11), spread=0.3, shares=("1/5", "1/4", "11/20")),
    "auto": dp.Auto(),
}


def planned(method: object, bound: object, relation: str, n: int = 20, **more: object) -> dp.MeanPlan:
    facts = {"epsilon": 1.0, "grid": GRID, "kernel": dp.kernels.Matern(1.5, 0.2), "invalid": "center"} | more
    return dp.MeanPlan(n=n, bound=bound, method=method, neighbors=relation, **facts)


def corners(problem: object) -> list[np.ndarray]:
    """Curves about the centre on the surface of the body: one component, both alike, one against the other, mixed."""
    basis, lengths = problem.basis, problem.bound.lengths(problem.basis.size)
    size, which = basis.size, np.arange(basis.size) % GRID.count
    directions = [which == 0, which == 1, np.ones(size), 1 - 2 * which, *np.eye(size)[[0, 1, size - 1]]]
    return [basis.synthesize(lengths * d / np.linalg.norm(d)) for d in np.array(directions, dtype=float)]


def records(rng: np.random.Generator) -> list[np.ndarray]:
    """Hostile records, also in one component beside an innocent other."""
    calm, odd = np.cos(LINE.points), hostile(LINE.size)
    halves = [np.concatenate((calm, r) if i % 2 else (r, calm)) for i, r in enumerate(odd)]
    wild = [rng.standard_cauchy(GRID.size) * 10.0 ** rng.integers(-3, 4) for _ in range(2)]
    return [*hostile(GRID.size), *halves, *wild]


def pairs_about(problem: object, count_is_private: bool, n: int, rng: np.random.Generator) -> list[tuple]:
    center, base = problem.center, problem.center + 0.1 * rng.normal(size=(n, GRID.size))
    ends = corners(problem)
    far = [
        neighbours(count_is_private, base, center + (1e9 if i % 2 else 1.0) * c, center - c) for i, c in enumerate(ends)
    ]
    for c in (ends[3], ends[4]):  # thresholds bite unless all others stand beyond them
        far.append(neighbours(count_is_private, np.tile(center + c, (n, 1)), center + c, center - c))
    odd = records(rng)
    return far + [neighbours(count_is_private, base, record, odd[i - 1]) for i, record in enumerate(odd)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("method", CHOSEN)
def test_no_neighbour_exceeds_epsilon(method, bound, relation, rng):
    plan = planned(CHOSEN[method], BOUNDS[bound], relation)
    losses = plan_losses(plan, pairs_about(plan.problem, plan.problem.count_is_private, plan.n, rng))
    assert 0 < max(losses) <= float(plan.epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bound", ["L2", "L2, a level each", "L2, a curve each"])
@pytest.mark.parametrize("count", [None, 5])
def test_the_bound_over_all_components_is_used_up(count, bound, relation, rng):
    """In one component alone or shared among both, a curve on the surface of the ball nearly reaches epsilon."""
    plan = planned(dp.methods.KNorm(count), BOUNDS[bound], relation)
    base = plan.problem.center + 0.1 * rng.normal(size=(plan.n, GRID.size))
    which = np.arange(plan.basis.size) % GRID.count
    inside = np.arange(plan.basis.size) < plan.stage.parts[0].where.size
    for direction in (inside * (which == 0), inside * (which == 1), inside * (1.0 - 2 * which)):
        corner = plan.basis.synthesize(plan.bound.radius * direction / np.linalg.norm(direction))
        pair = neighbours(
            plan.problem.count_is_private, base, plan.problem.center + corner, plan.problem.center - corner
        )
        # Under add-remove part of epsilon covers the count, and a corner is only half as far from the centre.
        share = float(plan.stage.parts[0].law.epsilon)
        assert 0.98 * share <= plan.stage.parts[0].law.loss(
            (plan.statistic(plan.summarize(pair[0])) - plan.statistic(plan.summarize(pair[1])))[
                plan.stage.parts[0].where
            ]
        )
        assert 0.9 < plan_losses(plan, [pair])[0] <= float(plan.epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("options", [{"standardize": True}, {"fill": 3}, {"standardize": True, "fill": 2}])
@pytest.mark.parametrize("method", ["KNorm", "QR"])
def test_per_curve_steps_keep_the_contract(method, options, rng):
    plan = planned(CHOSEN[method], BOUNDS["L2"], "replace", **options)
    base, odd = rng.normal(size=(plan.n, GRID.size)), records(rng)
    pairs = [neighbours(False, base, record, odd[i - 1]) for i, record in enumerate(odd)]
    assert max(plan_losses(plan, pairs)) <= float(plan.epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bound", ["L2, a curve each", "Ellipsoid", "L1"])
@pytest.mark.parametrize("method", STAGED)
def test_no_neighbour_moves_a_stage_past_its_share(method, bound, relation, rng):
    plan = planned(STAGED[method], BOUNDS[bound], relation, n=900 if method == "auto" else 40)
    data = plan.problem.center + 0.2 * rng.normal(size=(plan.n, GRID.size))
    drawn = drawn_without_noise(plan, data)
    stages = [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, len(drawn)))]
    assert plan.schedule.next(drawn) is None
    assert len(stages) == len(plan.chosen.steps)
    assert sum((stage.epsilon for stage in stages), Fraction(0)) == plan.epsilon
    for stage in stages:
        inner = getattr(stage.problem, "inner", stage.problem)
        losses = stage_losses(stage, pairs_about(inner, plan.problem.count_is_private, plan.n, rng))
        assert max(losses) <= float(stage.epsilon) * (1 + 1e-9)
        assert max(losses) > 0 or not isinstance(stage.parts[0].law, dp.noise.Ball)


@pytest.mark.parametrize("bound", ["L2, a level each", "Box"])
def test_no_neighbour_moves_a_choice_of_methods_past_its_share(bound, rng):
    plan = planned(
        dp.methods.Select([dp.methods.KNorm(2), dp.methods.KNorm(9), dp.methods.Minimax()], share="1/4"),
        BOUNDS[bound],
        "replace",
        n=20,
    )
    pairs = pairs_about(plan.problem, False, plan.n, rng)
    assert max(stage_losses(plan.stage, pairs)) <= 0.25 * (1 + 1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_neighbour_moves_a_radius_past_its_share(relation, rng):
    plan = dp.plans.RadiusPlan(
        n=30, epsilon=1.0, grid=GRID, bound=dp.L2Ball(8.0), quantile=0.5, neighbors=relation, invalid="center"
    )
    base = np.exp(rng.normal(size=(30, 1))) * rng.normal(size=(30, GRID.size))
    odd = [*records(rng), np.full(GRID.size, 1e9), *base[:3]]
    pairs = [neighbours(plan.problem.count_is_private, base, record, odd[i - 1]) for i, record in enumerate(odd)]
    assert 0.4 <= max(stage_losses(plan.stage, pairs)) <= float(plan.stage.epsilon) == 1.0


def test_totals_do_not_depend_on_batches(rng):
    plan = planned(STAGED["rounds"], BOUNDS["L2"], "replace", n=600, standardize=True, fill=2)
    data = rng.normal(size=(600, GRID.size))
    data[::7, 3] = np.nan
    drawn = drawn_without_noise(plan, data)
    for stage in (plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, len(drawn)))):
        parts = [stage.encoder.total(part) for part in np.split(data[rng.permutation(600)], [1, 2, 5, 300])]
        assert np.array_equal(stage.encoder.total(data), sum(parts))
