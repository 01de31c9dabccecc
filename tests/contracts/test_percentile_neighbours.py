"""The contract of percentile curves: given earlier draws, no record moves a stage past its own share of epsilon.

Everything runs through the real `summarize`, `next` and `statistic`. Records are constant at all levels of a stage's
own table (where the bound is attained), jump between both ends, or are hostile; earlier draws are real ones, what the
data would give without noise, and absurd ones.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import drawn_without_noise, hostile

import dpfda as dp
from dpfda.problems.rank_moments import RankMoments
from dpfda.problems.stage import Stage
from dpfda.results.quantile_atoms import factors_of
from dpfda.spaces.pooling import WHOLE, Shares

RELATIONS = ("replace", "add-remove")
GRIDS = {
    "midpoints": dp.Grid.midpoints(0, 24, 12),
    "uneven": dp.Grid(np.array([0.0, 1.0, 1.5, 4.0, 9.0, 9.5, 16.0, 24.0])),
    "two": dp.Grid.uniform(0, 1, 2),
}
#: With so much of a budget, shares of cells are released between both stages of waves.
MUCH = 200
CASES = [("midpoints", "9/10"), ("uneven", "9/10"), ("two", "9/10"), ("uneven", MUCH)]
NAMES = [f"h{i:02d}" for i in range(12)]


def plan_for(grid: str, relation: str, **more: object) -> dp.PercentilePlan:
    facts = {"n": 40, "epsilon": "9/10", "range": (40.0, 400.0), "neighbors": relation, "invalid": "center"}
    return dp.PercentilePlan(grid=GRIDS[grid], cells=128, **(facts | more))


def records(size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Constants all over the range, steps and jumps between its ends, and what breaks careless code."""
    ends = np.where(np.arange(size) % 2, 40.0, 400.0)
    step = np.where(np.arange(size) < size / 2, 40.0, 400.0)
    spike = np.full(size, 100.0)
    spike[0] = 400.0
    found = [np.full(size, x) for x in np.linspace(40, 400, 41)]
    found += [ends, ends[::-1], step, step[::-1], spike, np.full(size, -1e300), np.full(size, 399.99999999999994)]
    found += [*(record[:size] for record in hostile(max(size, 4))), *rng.uniform(0, 500, (6, size))]
    found += [rng.uniform(40, 400, size).astype(np.float32)]
    return found


def histories(plan: dp.PercentilePlan, base: np.ndarray) -> list[list[np.ndarray]]:
    """Draws that could have come before."""
    absurd: list[np.ndarray] = []
    while (stage := plan.stage if not absurd else plan.schedule.next(absurd)) is not None:
        absurd.append(np.where(np.arange(stage.problem.size) % 2, 1e6, -1e6))
    return [list(plan.release(base).drawn), drawn_without_noise(plan, base), absurd]


def stages_after(plan: dp.PercentilePlan, drawn: list[np.ndarray]) -> list[Stage]:
    return [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, len(drawn)))]


def losses(stage: Stage, seen: list[object], alone: object) -> list[float]:
    statistics = [stage.statistic(summary) for summary in seen]
    others = statistics if alone is None else [stage.statistic(alone)]
    return [stage.loss(a - b) for a, b in product(statistics, others)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("grid", "epsilon"), CASES)
def test_no_record_moves_a_stage_past_its_share(grid, epsilon, relation, rng):
    plan = plan_for(grid, relation, epsilon=epsilon)
    size = plan.grid.size
    base = rng.normal(150, 30, (39, size))
    seen = [plan.summarize(np.vstack([base, record])) for record in records(size, rng)]
    alone = plan.summarize(base) if relation == "add-remove" else None
    for drawn in histories(plan, np.vstack([base, base[:1]])):
        stages = stages_after(plan, drawn)
        assert len(stages) == (3 if epsilon == MUCH else 2)
        assert sum((stage.epsilon for stage in stages), Fraction(0)) == plan.epsilon
        for stage in stages:
            assert max(losses(stage, seen, alone)) <= float(stage.epsilon)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("grid", ["midpoints", "uneven"])
def test_constant_curves_use_up_the_share(grid, relation):
    """All levels of a stage are tried: noise is no larger than it must be."""
    plan = plan_for(grid, relation, n=3, epsilon=1)
    size, middles = plan.grid.size, 40 + 360 * (np.arange(128) + 0.5) / 128
    base = np.full((2, size), 200.0)
    alone = plan.summarize(base) if relation == "add-remove" else None
    seen = [plan.summarize(np.vstack([base, np.full(size, x)])) for x in middles]
    found = losses(plan.stage, seen, alone)
    assert 0.98 * float(plan.stage.epsilon) <= max(found) <= float(plan.stage.epsilon)


def units_much(plan: dp.PercentilePlan) -> dict[str, object]:
    """The same plan with a budget for shares of cells."""
    facts = {name: getattr(plan, name) for name in ("n", "range", "grid", "cells", "neighbors", "invalid", "unit")}
    return facts | {"epsilon": 1000}


def units(kinds: list[np.ndarray]) -> pd.DataFrame:
    frame = pd.DataFrame(np.vstack(kinds), columns=NAMES)
    return frame.assign(who=np.repeat([f"u{i:03d}" for i in range(len(kinds))], [len(kind) for kind in kinds]))


@pytest.mark.parametrize("most", [None, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_unit_moves_a_stage_past_its_share(relation, most, rng):
    """However many days somebody has, and whatever they hold."""
    plan = plan_for("midpoints", relation, n=8, unit=dp.Unit("who", most=most))
    bad, size = np.array(hostile(12)), 12
    low, high = np.full((1, size), 40.0), np.full((1, size), 400.0)
    kinds = [low, high, np.repeat(high, 5, axis=0), np.vstack([low, high, high]), bad, bad[:1], bad[-1:]]
    kinds += [np.full((1, size), np.nan), np.full((4, size), np.inf), rng.uniform(0, 500, (41, size))]
    kinds += [np.vstack([np.full((3, size), np.nan), high]), np.vstack([high, high]), np.full((1, size), 220.0)]
    base = list(rng.normal(150, 30, (7, 2, size)))
    seen = [plan.summarize(dp.read(units([*base, kind]), columns="h*")) for kind in kinds]
    alone = plan.summarize(dp.read(units(base), columns="h*")) if relation == "add-remove" else None
    drawn = [np.linspace(-3, 3, plan.stage.problem.size)]
    cells = dp.PercentilePlan(**units_much(plan)).schedule.next(drawn)
    for stage in (plan.stage, plan.schedule.next(drawn), cells):
        assert max(losses(stage, seen, alone)) <= float(stage.epsilon)


def test_a_units_days_share_its_weight():
    """Five equal days are one; a unit without a usable day counts as mid-range, as an unusable curve does."""
    plan = plan_for("midpoints", "replace", n=3, unit="who")
    days = np.linspace(50, 390, 12)[None]
    once = plan.summarize(dp.read(units([days, days + 5, days - 5]), columns="h*"))
    often = plan.summarize(dp.read(units([np.repeat(days, 5, axis=0), days + 5, days - 5]), columns="h*"))
    assert once.totals.tolist() == often.totals.tolist()
    lost = plan.summarize(dp.read(units([np.full((2, 12), np.nan), days + 5, days - 5]), columns="h*"))
    middle = plan.summarize(dp.read(units([np.full((1, 12), 220.0), days + 5, days - 5]), columns="h*"))
    assert lost.totals.tolist() == middle.totals.tolist()


def test_an_unusable_curve_is_mid_range_and_surplus_ones_are_dropped(rng):
    plan = plan_for("midpoints", "replace", n=3)
    curves = rng.uniform(40, 400, (3, 12))
    gone, middle = curves.copy(), curves.copy()
    gone[1, 4], middle[1] = np.nan, 220.0
    assert plan.summarize(gone) == plan.summarize(middle)
    assert plan.summarize(np.vstack([curves, curves])).count == 3
    few = plan.stage.statistic(plan.summarize(curves[:2]))
    assert few.tolist() == plan.stage.statistic(plan.summarize(np.vstack([curves[:2], middle[1]]))).tolist()


def test_values_beyond_the_range_are_its_ends():
    plan = plan_for("two", "replace", n=4)
    wild = np.array([[-5.0, 39.0], [401.0, 1e300], [40.0, -0.0], [400.0, 400.0]])
    assert plan.summarize(wild) == plan.summarize(np.clip(wild, 40.0, 400.0))


def test_a_group_costs_its_own_share(rng):
    """Groups share no record, so a neighbour is in one of them."""
    plan = plan_for("midpoints", "replace", n=20)
    joint = dp.plans.GroupPlan(("a", "b"), (plan, plan))
    labels = np.repeat(["a", "b"], 20)
    curves = rng.normal(150, 30, (40, 12))
    moved = curves.copy()
    moved[0] = 400.0
    first, second = joint.summarize(curves, labels), joint.summarize(moved, labels)
    assert first["b"] == second["b"]
    assert plan.loss(plan.statistic(first["a"]) - plan.statistic(second["a"])) <= float(plan.stage.epsilon)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("n", [2, 50_000])
@pytest.mark.parametrize("epsilon", ["1/100", "100"])
def test_whatever_is_drawn_a_release_follows(n, epsilon, relation):
    """Nothing may fail after a charge: noise of any size leads to a next stage, and to curves inside the range."""
    for points in (2, 30) if n == 2 else (7,):
        grid = dp.Grid.midpoints(0, 1, points)
        plan = dp.PercentilePlan(n=n, epsilon=epsilon, range=(-1e-3, 5e7), grid=grid, cells=128, neighbors=relation)
        for size in (0.0, 1.0, -1e3, 1e12):
            drawn: list[np.ndarray] = []
            while (stage := plan.stage if not drawn else plan.schedule.next(drawn)) is not None:
                if isinstance(stage.problem, RankMoments):
                    assert 0 <= stage.problem.table.min() <= stage.problem.table.max() < 1024
                drawn.append(size * np.cos(np.arange(stage.problem.size) ** 2.0))
            table = plan.schedule.published(drawn, plan.levels)
            assert np.isfinite(table.flat).all()
            assert table.is_whole


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("ends", [(0.1, 0.7), (16777217.0, 16777219.0), (-1e-3, 1e-3)])
def test_single_precision_does_not_round_the_ends_of_the_range(ends, unit, rng):
    """A clipped value just beyond an end would be in a cell that is none: another point's, or another unit's."""
    plan = plan_for("two", "replace", n=40, range=ends, unit=unit)
    rows = np.vstack([np.tile([ends, ends[::-1]], (5, 1)), rng.uniform(*ends, (28, 2)), [[-9e9, 9e9], [np.nan, 0]]])
    units = None if unit is None else [f"u{i}" for i in range(40)]
    single = rows.astype(np.float32)
    found = plan.summarize(single, units=units)
    assert found == plan.summarize(single.astype(float), units=units)
    plan.problem.check(found)


class OddCells:
    shape = (2, 4)

    def cells(self, rows):
        return np.tile([-1, 7], (len(rows), 1)), np.ones(len(rows), dtype=bool)


def test_a_cell_that_is_none_stays_with_its_unit():
    parts = Shares(True, dp.Unit("who"), OddCells()).pooled(np.zeros((3, 2)), np.array([0, 2])).reshape(2, 2, 4)
    assert parts.sum(axis=2).tolist() == [[WHOLE, WHOLE]] * 2


def test_forged_summaries_are_refused():
    """Sums that wrap around 64 bits, and counts that are no integers."""
    plan = plan_for("two", "add-remove")
    good = plan.summarize(np.full((40, 2), 200.0))
    forged = good.totals.reshape(2, 128).copy()
    forged[:, :4] += 2**62  # four of them are nothing in 64 bits
    huge = np.zeros((2, 128), dtype=np.int64)
    huge[:, :5] = 2**62
    wrong = [
        replace(good, totals=forged.ravel()),
        replace(good, totals=huge.ravel(), count=2**62),
        replace(good, count=40.0),
        replace(good, count=np.int64(40)),
        replace(good, count="40"),
    ]
    for summary in wrong:
        with pytest.raises(dp.errors.PlanMismatch, match="damaged"):
            plan.problem.check(summary)
    plan.problem.check(replace(good, totals=good.totals.astype(object) * 2**60, count=40 * 2**60))


@pytest.mark.parametrize("sd", [1e-3, 1e-300])
def test_atoms_that_noise_leaves_nothing_of(sd):
    """All shares are noise, and what stands out is nothing, or less."""
    for height in (0.0, -sd, 5e-324):
        shares = np.full(128, -100 * sd)
        shares[60] = height
        assert factors_of(shares, sd) is None
        shares[20] = 50 * sd
        factors = factors_of(shares, sd, np.zeros(128))
        assert np.isfinite(factors).all()
        assert factors.min() > 0
