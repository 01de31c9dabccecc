"""The contract of stages and private choices: given earlier draws, no neighbour moves a stage past its own share.

Shares add up to epsilon, so that is all there is to prove. Earlier draws are what the data would give without
noise, and real ones; records are built to lie on the surface of the body that each stage clips to.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from conftest import BOUNDS, GRID, drawn_without_noise, hostile, neighbours, stage_loss, stage_losses

import dpfda as dp
from dpfda.problems.ellipsoid_stages import InsideProblem, VaryProblem
from dpfda.problems.left_out import LeftOutProblem
from dpfda.problems.norms import NormProblem
from dpfda.problems.surface_check import SurfaceCheck, pieces_of, schatten16

RELATIONS = ("replace", "add-remove")
STAGES = {
    "default": dp.methods.Staged(),
    "ball": dp.methods.Staged(dp.methods.KNorm(6), shares=("3/10", "7/10")),
    "blocks, spread": dp.methods.Staged(dp.methods.Blocks(11), spread=0.3, shares=("1/5", "1/4", "11/20")),
    "three rounds": dp.methods.Staged(dp.methods.KNorm(9), shares=("1/5", "1/4", "11/20")),
    "ridge first": dp.methods.Staged(dp.methods.QR(), spread=0.2, shares=("1/2", "1/2")),
    "thresholds first": dp.methods.Staged(dp.methods.AR(), shares=("1/2", "1/2")),
    "no choice": dp.methods.Staged(dp.methods.KNorm(5), spread=0.5, selection=0, confidence=0),
    "radius, one round": dp.methods.Staged(dp.methods.KNorm(5), shares=("1",), radius="1/5"),
    "radius, rounds": dp.methods.Staged(dp.methods.KNorm(6), shares=("1/4", "3/4"), radius="1/10"),
    "check, one round": dp.methods.Staged(dp.methods.KNorm(7), shares=("1",), check="1/10"),
    "check, radius": dp.methods.Staged(dp.methods.KNorm(5), shares=("1",), radius="1/5", check="1/4"),
    "check, rounds": dp.methods.Staged(dp.methods.KNorm(6), shares=("1/4", "3/4"), confidence="1/5", check="1/5"),
    "check, no variation": dp.methods.Staged(dp.methods.Blocks(9), spread=0.3, confidence=0, check="1/2"),
    "auto": dp.Auto(),
    "auto without a check": dp.Auto(check=False),
    "auto, spread": dp.Auto(spread=0.2),
}


def mean_plan(method: object, bound: object, relation: str, n: int = 40, **more: object) -> dp.MeanPlan:
    facts = {"epsilon": 1.0, "grid": GRID, "kernel": dp.kernels.Matern(1.5, 0.2), "invalid": "center"} | more
    return dp.MeanPlan(n=n, bound=bound, method=method, neighbors=relation, **facts)


def pairs_of(stage: dp.problems.stage.Stage, n: int, count_is_private: bool, rng: np.random.Generator) -> list[tuple]:
    """Neighbours about a stage: across its body along single functions and blocks, far out, and hostile."""
    inner = getattr(stage.problem, "inner", stage.problem)
    basis, center = inner.basis, inner.center
    base = center + 0.1 * rng.normal(size=(n, GRID.size))
    lengths = inner.bound.lengths(basis.size)
    directions = [*np.eye(basis.size)[[0, basis.size // 2, -1]], rng.normal(size=basis.size), np.ones(basis.size)]
    pairs = []
    for direction in directions:
        unit = direction / np.linalg.norm(direction)
        corner = basis.synthesize(lengths * unit if not inner.bound.on_grid else lengths[0] * unit)
        for far in (0.5, 1.0, 30.0):
            pairs.append(neighbours(count_is_private, base, center + far * corner, center - far * corner))
        pairs.append(neighbours(count_is_private, base, center + 1e9 * corner, center))
    odd = hostile(GRID.size)
    pairs += [neighbours(count_is_private, base, record, odd[i - 1]) for i, record in enumerate(odd)]
    return pairs


def stages_of(plan: object, drawn: list[np.ndarray]) -> list[dp.problems.stage.Stage]:
    return [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, len(drawn)))]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bound", ["L2-centred", "Ellipsoid", "Box-centred", "L1"])
@pytest.mark.parametrize("method", STAGES)
def test_no_neighbour_moves_a_stage_past_its_share(method, bound, relation, rng):
    if "radius" in method and not bound.startswith("L2"):
        with pytest.raises(dp.errors.ParameterError, match="balls"):
            mean_plan(STAGES[method], BOUNDS[bound], relation)
        return
    plan = mean_plan(STAGES[method], BOUNDS[bound], relation, n=40 if "auto" not in method else 900)
    data = plan.problem.center + 0.2 * rng.normal(size=(plan.n, GRID.size))
    quiet = drawn_without_noise(plan, data)
    assert plan.schedule.next(quiet) is None
    for drawn, fresh in ((quiet, 0), (list(plan.release(data).drawn) or quiet, 1)):
        stages = stages_of(plan, drawn)
        assert len(stages) == len(getattr(plan.chosen, "steps", (1,)))
        assert sum((stage.epsilon for stage in stages), Fraction(0)) == plan.epsilon
        for stage in stages[fresh:]:  # the first one knows no draws: once is enough
            losses = stage_losses(stage, pairs_of(stage, plan.n, plan.problem.count_is_private, rng))
            assert max(losses) <= float(stage.epsilon)
            assert max(losses) > 0 or not isinstance(stage.parts[0].law, dp.noise.Ball)  # scores may move alike


@pytest.mark.parametrize("method", ["ball", "blocks, spread", "three rounds"])
def test_the_rounds_use_up_their_shares(method, rng):
    """The bound on each round is attained: noise is no larger than it must be."""
    plan = mean_plan(STAGES[method], dp.L2Ball(0.8), "replace")
    data = 0.2 * rng.normal(size=(plan.n, GRID.size))
    for stage in stages_of(plan, drawn_without_noise(plan, data)):
        part, problem = stage.parts[0], stage.problem
        if not isinstance(part.law, dp.noise.Ball):
            continue
        alone = [np.linalg.norm(problem.lengths[b][:1] / part.law.axes[b][:1]) for b in part.law.blocks]
        direction = np.zeros(problem.basis.size)
        for block, weight in zip(part.law.blocks, np.array(alone) / np.linalg.norm(alone), strict=True):
            direction[block.start] = weight
        corner = problem.basis.synthesize(problem.bound.lengths(problem.basis.size) * direction)
        base = np.tile(problem.center, (plan.n, 1))
        pair = neighbours(False, base, problem.center + corner, problem.center - corner)
        assert 0.98 * float(stage.epsilon) <= stage_loss(stage, *pair) <= float(stage.epsilon)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("method", ["check, one round", "check, radius", "check, rounds", "check, no variation"])
def test_the_check_uses_up_its_share(method, relation, rng):
    """Two far curves on opposite sides are cut to the cap: no less noise would hide that."""
    plan = mean_plan(STAGES[method], dp.L2Ball(0.8), relation)
    data = 0.2 * rng.normal(size=(plan.n, GRID.size))
    stage = stages_of(plan, drawn_without_noise(plan, data))[-1]
    assert isinstance(stage.problem, LeftOutProblem)
    away = stage.problem.inner.center + 1e6 * np.cos(40 * GRID.points)
    base = np.tile(away, (plan.n, 1))  # all of them, so that the length of the sum moves as the sum does
    losses = stage_losses(stage, [neighbours(plan.problem.count_is_private, base, away, -away)])
    assert 0.98 * float(stage.epsilon) <= max(losses) <= float(stage.epsilon)


CENTRED = {
    "ball": dp.methods.Centred(dp.methods.KNorm(6)),
    "first functions": dp.methods.Centred(dp.methods.Leading(3), first=dp.methods.KNorm(4)),
    "scale first": dp.methods.Centred(dp.methods.Leading(3), "1/10", "1/20", "1/20", dp.methods.KNorm(4)),
    "check": dp.methods.Centred(dp.methods.KNorm(6), first=dp.methods.KNorm(4), check="1/4"),
    "default": None,
}
CENTRED_PASSES = {"scale first": 4, "check": 4, "default": 5}


@pytest.mark.parametrize("method", CENTRED)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_neighbour_moves_a_centred_covariance_past_its_share(relation, method, rng):
    plan = dp.CovariancePlan(
        n=60, epsilon=1.0, bound=dp.L2Ball(0.8, 0.3), grid=GRID, kernel=dp.kernels.Matern(1.5, 0.2),
        method=CENTRED[method], neighbors=relation, invalid="center",
    )  # fmt: skip
    assert plan.schedule.passes == CENTRED_PASSES.get(method, 3)
    data = 0.3 + 0.2 * rng.normal(size=(plan.n, GRID.size))
    for drawn in (drawn_without_noise(plan, data), list(plan.release(data).drawn)):
        stages = stages_of(plan, drawn)
        assert len(stages) == plan.schedule.passes
        assert sum((stage.epsilon for stage in stages), Fraction(0)) == plan.epsilon
        for stage in stages:
            code = getattr(stage.problem, "code", getattr(stage.problem, "inner", stage.problem))
            corner = code.basis.synthesize(code.bound.outer * np.eye(code.basis.size)[0])
            same = np.tile(code.center - corner, (plan.n, 1))
            pairs = [neighbours(plan.problem.count_is_private, same, code.center + far * corner, code.center - corner)
                     for far in (0.5, 1.0, 1e9)]  # fmt: skip
            odd = hostile(GRID.size)
            pairs += [neighbours(plan.problem.count_is_private, data, r, odd[i - 1]) for i, r in enumerate(odd)]
            losses = stage_losses(stage, pairs)
            assert max(losses) <= float(stage.epsilon)
            assert max(losses) > 0 or isinstance(stage.parts[0].law, dp.noise.Choice)


@pytest.mark.parametrize("points", [21, 110])
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_neighbour_moves_a_check_of_a_surface_past_its_share(relation, points, rng):
    """Records on the corners of its box, on its ball, beyond both, and hostile ones, against different surfaces."""
    grid, n = dp.Grid.uniform(0, 1, points), 40
    inner = dp.MeanPlan(
        n=n, epsilon=1, bound=dp.L2Ball(1.0, 0.3), grid=grid, neighbors=relation, invalid="center"
    ).problem
    size = len(set(pieces_of(points).tolist()))
    heights = np.full(size, 0.8 / np.sqrt(size))
    noise = rng.normal(size=(size, size))
    surfaces = [np.zeros((size, size)), noise @ noise.T / size, -1e9 * np.eye(size), 0.3 * (noise + noise.T)]
    surfaces = surfaces if points < 100 else surfaces[:1]  # roots of wide matrices take their time
    largest = []
    for surface in surfaces:
        check = SurfaceCheck(inner, surface, 1.0, heights, (Fraction(1, 2), Fraction(1, 4)))
        stage = check.stage((Fraction(1, 2), Fraction(1, 3)))
        assert stage.epsilon == Fraction(5, 6)
        most = np.multiply.outer(check.edges, check.edges)
        assert (np.abs(check.target) <= most).all()
        assert schatten16(check.target) <= 2**32
        signs = np.where(rng.random((3, points)) < 0.5, -1.0, 1.0)
        corners = [0.3 + far * sign * np.repeat(1, points) for sign in signs for far in (0.8, 0.79, 1.1, 5.0)]
        first = 0.3 + 30 * np.eye(points)[0]
        base = np.tile(0.3 + 0.8 * signs[0], (n, 1))
        records = [*corners, first, np.full(points, 0.3), *hostile(points)]
        records = records if points < 100 else [*records[:5], first, *hostile(points)[5:8]]
        pairs = [
            neighbours(check.count_is_private, base, record, other)
            for record, other in [*zip(records, records[1:] + records[:1], strict=True), (corners[3], corners[4])]
        ]
        losses = stage_losses(stage, pairs)
        assert max(losses) <= float(stage.epsilon)
        largest.append(max(losses))
    assert max(largest) >= 0.5 * float(Fraction(5, 6))  # neither number has much more noise than it must


CANDIDATES = [
    dp.methods.KNorm(2),
    dp.methods.KNorm(9),
    dp.methods.QR(psi=1e-3),
    dp.methods.AR(),
    dp.methods.FRL(4),
    dp.methods.Minimax(),
]


@pytest.mark.parametrize("bound", BOUNDS)
def test_no_neighbour_moves_a_choice_of_methods_past_its_share(bound, rng):
    plan = mean_plan(dp.methods.Select(CANDIDATES, share="1/4"), BOUNDS[bound], "replace", n=20)
    problem = plan.problem
    assert sum((s.epsilon for s in stages_of(plan, [np.eye(6)[0]] * 2)), Fraction(0)) == plan.epsilon
    lengths = plan.bound.lengths(plan.basis.size)
    corners = [
        plan.basis.synthesize(lengths * d / np.linalg.norm(d))
        for d in (np.eye(plan.basis.size)[0], np.ones(plan.basis.size))
    ]
    pairs = []
    for corner in corners:
        for base in (np.tile(problem.center + corner, (20, 1)), problem.center + rng.normal(size=(20, GRID.size))):
            for record in (corner, -corner, 1e9 * corner, np.zeros(GRID.size), *hostile(GRID.size)):
                pairs.append(neighbours(False, base, problem.center + record, problem.center - corner))
    losses = stage_losses(plan.stage, pairs)
    assert 0 < max(losses) <= 0.25
    if bound.startswith("L2"):
        assert max(losses) > 0.05


def test_huge_public_noise_does_not_round_scores():
    """At a tiny epsilon the noise is 10^15 times what a record can do; scores must not be rounded by it."""
    plan = mean_plan(
        dp.methods.Select([dp.methods.Blocks(2), dp.methods.Blocks(20)]),
        dp.L2Ball(1.0),
        "replace",
        n=1000,
        epsilon=1e-9,
    )
    curve = plan.basis.synthesize(np.eye(GRID.size)[-1])
    data = np.zeros((1000, GRID.size))
    data[:499] = curve
    other = data.copy()
    other[499] = curve
    summaries = [plan.summarize(x) for x in (data, other)]
    scores = [plan.stage.to_lattice(summary)[0] for summary in summaries]
    moved = [a - b for a, b in zip(*scores, strict=True)]
    assert 0 < max(moved) - min(moved) <= plan.stage.problem.range


# -- the choice itself --------------------------------------------------------------------------------


def probabilities(scores: list[Fraction], epsilon: float, sensitivity: float) -> np.ndarray:
    """Exact outcome probabilities of permute and flip, by enumeration of all orders."""
    size, best = len(scores), max(scores)
    coins = [math.exp(-epsilon * float(best - s) / sensitivity) for s in scores]
    found = np.zeros(size)
    for order in itertools.permutations(range(size)):
        left = 1.0
        for candidate in order:
            found[candidate] += left * coins[candidate]
            left *= 1 - coins[candidate]
    return found / math.factorial(size)


def test_permute_and_flip_hides_a_neighbour():
    """Probabilities of neighbouring scores differ by at most e^epsilon, and by nearly that for some."""
    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(300):
        scores = rng.integers(-6, 1, 4)
        moved = scores + rng.integers(-1, 2, 4)
        ratio = probabilities([Fraction(int(s)) for s in scores], 1.0, 2.0) / probabilities(
            [Fraction(int(s)) for s in moved], 1.0, 2.0
        )
        law = dp.noise.Choice(Fraction(1), 4, Fraction(2))
        assert np.log(ratio).max() <= law.loss(moved - scores) + 1e-12 <= 1.0 + 1e-12
        worst = max(worst, float(np.log(ratio).max()))
    assert worst > 0.8


def test_exact_draws_have_their_probabilities():
    """Pearson's statistic stays below its quantile at 1e-9, and does not for another epsilon."""
    scores = [Fraction(0), Fraction(-1), Fraction(-5, 2), Fraction(-7)]
    law = dp.noise.Choice(Fraction(1), 4, Fraction(2))
    counts = sum(law.draw(scores) for _ in range(20_000))
    for epsilon, fits in ((1.0, True), (0.7, False), (1.4, False)):
        expected = 20_000 * probabilities(scores, epsilon, 2.0)
        assert (((counts - expected) ** 2 / expected).sum() < 45.0) == fits


def test_counts_do_not_depend_on_batches(rng):
    """Every question about a record is a function of that record: any order and batches give the same integers."""
    plan = mean_plan(dp.methods.Staged(dp.methods.KNorm(12)), dp.L2Ball(0.8), "replace", n=700)
    data = 0.3 * rng.normal(size=(700, GRID.size))
    data[::50] *= 1e6
    stages = stages_of(plan, drawn_without_noise(plan, data))
    problems = [
        *(stage.problem for stage in stages),
        dp.plans.RadiusPlan(n=700, epsilon=1, grid=GRID, bound=dp.L2Ball(8.0)).problem,
    ]
    assert {InsideProblem, VaryProblem, NormProblem} <= {type(problem) for problem in problems}
    for problem in problems:
        whole = problem.total(data)
        shuffled = data[rng.permutation(700)]
        parts = [problem.total(part) for part in np.split(shuffled, [1, 2, 5, 300])]
        assert np.array_equal(whole, sum(parts))
