"""The contract of covariances, regularised risks and moments: one neighbour never moves a stage past its epsilon.

Everything runs through the real `summarize` and `statistic`. Stages after the first are compared given what
was drawn before: their budgets add up, so each must keep to its own.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from conftest import GRID, drawn_without_noise, hostile, neighbours, plan_losses, stage_loss, stage_losses

import dpfda as dp
from dpfda import engines
from dpfda.problems import losses

RELATIONS = ("replace", "add-remove")
COVARIANCE_METHODS = {
    "FRL": dp.methods.FRL(),
    "FRL-6": dp.methods.FRL(components=6),
    "QR": dp.methods.QR(),
    "QR-kernel": dp.methods.QR(noise="kernel"),
    "AR": dp.methods.AR(),
    "Minimax": dp.methods.Minimax(),
    "KNorm": dp.methods.KNorm(),
    "KNorm-4": dp.methods.KNorm(components=4),
    "default": None,
}


# -- covariance ---------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("method", COVARIANCE_METHODS)
def test_no_neighbour_moves_a_covariance_past_epsilon(method, relation, rng):
    plan = dp.CovariancePlan(
        n=30, epsilon=1.0, bound=dp.L2Ball(0.8, 0.3), grid=GRID, kernel=dp.kernels.Matern(1.5, 0.2),
        method=COVARIANCE_METHODS[method], neighbors=relation, invalid="center",
    )  # fmt: skip
    line, center = plan.basis.line, plan.problem.code.center
    # All others in one corner of the ball, one record across: the mean is as far away as it can be.
    directions = [np.eye(line.size)[0], rng.normal(size=line.size), np.ones(line.size)]
    part = plan.stage.parts[0]
    if not isinstance(part.law, dp.noise.Ball):
        weights = plan.basis.matrix(
            np.append(part.filter / part.law.scales, np.zeros(plan.basis.size))[: plan.basis.size]
        )
        directions.append(np.linalg.eigh(np.abs(weights))[1][:, -1])
    pairs = []
    for direction in directions:
        corner = 0.8 * line.synthesize(direction / np.linalg.norm(direction))
        base = np.tile(center - corner, (plan.n, 1))
        pairs.append(neighbours(plan.problem.count_is_private, base, center + corner, center - corner))
        pairs.append(neighbours(plan.problem.count_is_private, base, center + 1e6 * corner, center - corner))
    records = hostile(GRID.size)
    base = rng.normal(0, 1, (plan.n, GRID.size))
    pairs += [neighbours(plan.problem.count_is_private, base, r, records[i - 1]) for i, r in enumerate(records)]
    losses = plan_losses(plan, pairs)
    assert max(losses) <= 1.0
    if method.startswith("KNorm") and relation == "replace":
        assert max(losses) >= 0.98


def test_the_covariance_bound_is_the_supremum(rng):
    """``||S - S'||`` over random configurations stays below ``4 tau^2 (n-1)/n^2`` and comes close to it."""
    n, best = 5, 0.0
    for _ in range(3000):
        points = rng.normal(size=(n + 1, 3))
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1.0)
        if rng.random() < 0.5:
            points[: n - 1] = points[0]
        first, second = points[:n], np.vstack([points[: n - 1], points[n]])
        best = max(best, float(np.linalg.norm(np.cov(first.T, bias=True) - np.cov(second.T, bias=True))))
    assert 0.9 * 4 * (n - 1) / n**2 < best <= 4 * (n - 1) / n**2


@pytest.mark.parametrize("n", [2, 1000, 2**29])
def test_covariances_of_few_and_very_many_curves(n):
    """Totals are written down by hand: all others at one corner, one moved across."""
    plan = dp.CovariancePlan(n=n, epsilon=1.0, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(3))
    curve = plan.basis.line.synthesize(np.eye(plan.basis.line.size)[0])
    down, up = (plan.problem.total(np.array([c])) for c in (-curve, curve))
    same = dp.engines.Summary(plan.problem.key, n, n * down)
    moved = dp.engines.Summary(plan.problem.key, n, (n - 1) * down + up)
    assert 0.98 <= plan.loss(plan.statistic(same) - plan.statistic(moved)) <= 1.0


# -- regularised risk -----------------------------------------------------------------------------


def risk_plan(criterion: str, dimension: int, relation: str, **options: object) -> dp.plans.KernelPlan:
    facts = {"classes": ("a", "b", "c")} if criterion != "huber" else {"bound": (-2.0, 3.0)}
    facts |= {"n": 25, "epsilon": 1.0, "domain": [(0.0, 1.0)] * dimension, "neighbors": relation, "invalid": "center"}
    return dp.plans.KernelPlan(criterion=criterion, **(facts | options))


def strongest_input(plan: dp.plans.KernelPlan) -> np.ndarray:
    """The middle of the cell where the functions of the input have their largest norm, or any one of many."""
    box = plan.box
    places = box.all_cells if box.dimension <= 3 else np.zeros((1, box.dimension), dtype=np.int64)
    norms = np.linalg.norm(plan.features.at_cells(places), axis=1)
    assert norms.max() <= plan.features.kappa
    return (places[int(norms.argmax())] + 0.5) / box.cells


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
@pytest.mark.parametrize("criterion", ["logistic", "hinge", "huber"])
def test_no_neighbour_moves_a_minimiser_past_epsilon(criterion, dimension, relation, rng):
    for psi in (None, 1e-3, 5.0):
        plan = risk_plan(criterion, dimension, relation, psi=psi)
        ends = (-9.0, 9.0) if criterion == "huber" else (1.0, 0.0)
        corner = strongest_input(plan)
        far = [*corner, ends[0]], [*corner, ends[1]]
        strange = [
            [np.nan] * (dimension + 1), [np.inf] * dimension + [1.0], [-1e308] * dimension + [0.0],
            [5e-324] * dimension + [1.0], [0.5] * dimension + [np.nan], [0.5] * dimension + [1e308],
            [0.5] * dimension + [-7.5], [*np.ones(dimension), ends[1]],
        ]  # fmt: skip
        base = np.column_stack([rng.uniform(-0.2, 1.2, (plan.n, dimension)), rng.integers(0, 3, plan.n)])
        pairs = [neighbours(plan.problem.count_is_private, base, np.array(far[0]), np.array(far[1]))]
        pairs += [
            neighbours(plan.problem.count_is_private, base, np.array(r), np.array(strange[i - 1]))
            for i, r in enumerate(strange)
        ]
        losses = stage_losses(plan.stage, pairs)
        assert max(losses) <= 1.0
        if psi == 5.0 and criterion == "hinge" and dimension <= 2:
            # A strong penalty keeps every margin open: the pull is the whole slope, and the bound is met.
            assert max(losses) >= 0.97


@pytest.mark.parametrize("criterion", ["logistic", "hinge", "huber"])
def test_the_solver_reaches_its_tolerance_on_hostile_data(criterion, rng):
    """One record, equal records, separable records: the gradient that the reach counts on is always reached."""
    plan = risk_plan(criterion, 2, "replace", psi=1e-5)
    problem = plan.problem
    for records in (
        np.tile([0.0, 0.0, 1.0], (plan.n, 1)),
        np.column_stack([rng.uniform(0, 1, (plan.n, 2)), np.arange(plan.n) % 2]),
        np.column_stack([np.linspace(0, 1, plan.n), np.zeros(plan.n), np.linspace(0, 1, plan.n) > 0.5]),
    ):
        rows = problem.total(records)
        places, levels = problem.decoded(rows)
        features, y = problem.features.at_cells(places), np.array(problem.levels)[levels]
        weights = rows[:, -1] / plan.n
        arguments = (problem.loss, features, y, weights, problem.psi, problem.features.kappa, problem.tolerance)
        gradient = losses._evaluated(*arguments[:5], losses.minimize(*arguments))[0]
        assert np.linalg.norm(gradient) <= problem.tolerance


@pytest.mark.parametrize("criterion", ["logistic", "hinge", "huber"])
@pytest.mark.parametrize("times", [1, 100])
def test_the_certificate_holds_in_more_digits(criterion, times):
    """Data in one cell, separable or noisy, a hundred times the guess: the true gradient is as short as claimed."""
    relation = "replace" if times == 1 else "add-remove"
    probe = risk_plan(criterion, 1, relation, n=2000, components=12)
    plan = risk_plan(criterion, 1, relation, n=2000, components=12, psi=1.01 * probe._least_penalty(probe.features))
    problem, x = plan.problem, (np.arange(2000) + 0.5) / 2000
    shapes = (np.zeros(2000), x > 0.5, np.sin(40 * x) > 0, np.random.default_rng(0).random(2000) > 0.5)
    for labels in shapes:
        rows = problem.total(np.column_stack([x if labels.any() else 0 * x, labels]))
        places, levels = problem.decoded(rows)
        features, y = problem.features.at_cells(places), np.array(problem.levels)[levels]
        weights = times * rows[:, -1] / plan.n
        facts = (problem.loss, features, y, weights, problem.psi)
        u = losses.minimize(*facts, problem.features.kappa, problem.tolerance).astype(np.longdouble)
        first = problem.loss.derivatives(y.astype(np.longdouble), features.astype(np.longdouble) @ u)[0]
        gradient = features.astype(np.longdouble).T @ (weights.astype(np.longdouble) * first) + 2 * problem.psi * u
        assert np.sqrt(float(gradient @ gradient)) <= 2 * problem.tolerance


def test_gradient_steps_alone_reach_the_same_minimiser(rng):
    """The slow method that must never fail is run on its own."""
    features = rng.normal(size=(60, 5)) / 4
    y, weights = np.sign(rng.normal(size=60)), np.full(60, 1 / 60)
    for loss in (losses.Logistic(), losses.Hinge(), losses.Huber(0.3)):
        quick = losses.minimize(loss, features, y, weights, 1e-2, 1.5, 1e-10)
        slow = losses._accelerated(loss, features, y, weights, 1e-2, 1.5, 1e-10, np.zeros(5))
        assert np.abs(quick - slow).max() <= 2 * 1e-10 / (2 * 1e-2)


# -- moments and residuals --------------------------------------------------------------------------


def curves_plan(relation: str, covariate_bound: object, **options: object) -> dp.plans.RegressionPlan:
    facts = {"n": 40, "epsilon": 2.0, "bound": dp.L2Ball(1.5, 0.2), "covariates": 2, "grid": GRID} | options
    return dp.plans.RegressionPlan(covariate_bound=covariate_bound, neighbors=relation, invalid="center", **facts)


def smoother_plan(relation: str, dimension: int, **options: object) -> dp.plans.SmootherPlan:
    facts = {"n": 40, "epsilon": 2.0, "domain": [(0.0, 1.0)] * dimension, "bound": (-1.0, 2.0)} | options
    return dp.plans.SmootherPlan(neighbors=relation, invalid="center", **facts)


PLANS = {
    "norm": lambda relation, passes: curves_plan(relation, 3.0, passes=passes),
    "tiny norm": lambda relation, passes: curves_plan(relation, 1e-6, passes=passes),
    "ranges": lambda relation, passes: curves_plan(relation, [(0, 1), (-50.0, 400.0)], passes=passes),
    "one input": lambda relation, passes: smoother_plan(relation, 1, passes=passes),
    "two inputs": lambda relation, passes: smoother_plan(relation, 2, components=9, passes=passes),
    "three inputs": lambda relation, passes: smoother_plan(relation, 3, components=7, passes=passes),
    "five inputs": lambda relation, passes: smoother_plan(relation, 5, passes=passes),
}
GUIDED = {
    "mean": (lambda relation: curves_plan(relation, 3.0), 2),
    "mean, ranges": (lambda relation: curves_plan(relation, [(0, 1), (-50.0, 400.0)]), 2),
    "mean, standardised": (lambda relation: curves_plan(relation, 3.0, standardize=True), 1),
    "residuals": (lambda relation: curves_plan(relation, 3.0, epsilon=20.0), 4),
    "residuals, ranges": (lambda relation: curves_plan(relation, [(0, 1), (-50.0, 400.0)], epsilon=20.0), 4),
    "moments": (lambda relation: curves_plan(relation, 3.0, epsilon=100.0), 5),
    "level of one input": (lambda relation: smoother_plan(relation, 1), 2),
    "one input": (lambda relation: smoother_plan(relation, 1, epsilon=100.0), 5),
    "three inputs": (lambda relation: smoother_plan(relation, 3, components=7, epsilon=100.0), None),
}


def odd_pairs(
    plan: dp.plans.RegressionPlan | dp.plans.SmootherPlan, rng: np.random.Generator
) -> list[tuple[np.ndarray, ...]]:
    """Neighbouring data sets: extreme covariates against opposite responses, and hostile numbers everywhere."""
    inputs, size = plan.design.columns, plan.response.columns
    top = np.full(inputs, 1e9) if isinstance(plan, dp.plans.RegressionPlan) else np.zeros(inputs)
    curve = 1e3 * plan.response.code.basis.functions[:, 0] if size > 1 else np.array([1e9])
    records = [np.append(top, curve), np.append(top, -curve), np.append(-top, curve), np.append(top, 0 * curve)]
    records += [
        np.append(rng.normal(size=inputs), odd) for odd in (hostile(size) if size > 1 else [[np.nan], [np.inf]])
    ]
    records += [np.append(odd, 0.3 * curve) for odd in hostile(3 * inputs)[:6] for odd in [odd[:inputs]]]
    records.append(np.full(inputs + size, np.nan))
    base = np.column_stack([rng.normal(0, 1, (plan.n, inputs)), rng.normal(0, 1, (plan.n, size))])
    return [neighbours(plan.problem.count_is_private, base, record, records[i - 1]) for i, record in enumerate(records)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("passes", [1, 4])
@pytest.mark.parametrize("name", PLANS)
def test_no_neighbour_moves_a_moment_past_its_share(name, passes, relation, rng):
    plan = PLANS[name](relation, passes)
    pairs = odd_pairs(plan, rng)
    drawn = drawn_without_noise(plan, pairs[0][0])
    assert len(drawn) == passes
    stages = [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, passes))]
    assert sum((stage.epsilon for stage in stages), Fraction(0)) == plan.epsilon
    assert plan.schedule.next(drawn) is None
    for stage in stages:
        losses = stage_losses(stage, pairs)
        assert max(losses) <= float(stage.epsilon)
        assert max(losses) > 0


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", GUIDED)
def test_no_neighbour_moves_a_guided_stage_past_its_share(name, relation, rng):
    """The default: a radius of lengths, the mean, residuals or moments; draws in between at several radii."""
    make, passes = GUIDED[name]
    plan = make(relation)
    assert plan.is_guided
    assert plan.chosen.passes == (passes or plan.schedule.passes)
    pairs = odd_pairs(plan, rng)
    drawn = drawn_without_noise(plan, pairs[0][0])
    for place in (0, 5, 10) if plan.chosen.radius else (None,):
        if place is not None:
            drawn[0] = np.eye(len(drawn[0]))[place]
        stages = [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, plan.chosen.passes))]
        assert sum((stage.epsilon for stage in stages), Fraction(0)) == plan.epsilon
        for stage in stages:
            losses = stage_losses(stage, pairs)
            assert 0 < max(losses) <= float(stage.epsilon)
    assert plan.schedule.next(drawn) is None


def test_the_bound_on_a_mean_within_a_radius_is_met():
    """Opposite responses, far beyond the radius that was drawn: the part of the mean is used up."""
    plan = curves_plan("replace", 3.0, epsilon=20.0)
    curve = plan.response.code.basis.functions[:, 0]
    stage = plan.schedule.next([np.eye(11)[3]])
    base = np.tile(np.append([3.0, 0.0], 0.2 + 9 * curve), (plan.n, 1))
    moved = base.copy()
    moved[0, 2:] = 0.2 - 9 * curve
    assert 0.98 <= stage_loss(stage, base, moved) / float(stage.parts[1].law.epsilon) <= 1


@pytest.mark.parametrize("bound", [3.0, [(-1.0, 1.0), (-2.0, 2.0)]])
def test_the_second_moment_bound_is_met(bound):
    """The longest covariates with opposite responses: the part of the second moment is used up."""
    plan = curves_plan("replace", bound, passes=1, split=0.5)
    curve = plan.response.code.basis.functions[:, 0]
    record = np.append([3.0, 3.0], 0.2 + 1.5 * curve)
    other = np.append([3.0, 3.0], 0.2 - 1.5 * curve)
    base = np.tile(record, (plan.n, 1))
    assert (
        0.98 <= stage_loss(plan.stage, base, np.vstack([base[1:], other])) / float(plan.stage.parts[1].law.epsilon) <= 1
    )


def test_the_first_moment_bound_is_met():
    """Covariates at a right angle (seen with their constant) move the first moment by sqrt(2) B^2."""
    plan = curves_plan("replace", 3.0, passes=1, split=0.5)
    # (1/2, u) and (1/2, v) with u v = -1/4 are orthogonal; the design's constant is half of its bound.
    angle = np.arccos(-0.25)
    first = np.append([3.0, 0.0], np.full(GRID.size, 0.2))  # responses at the public centre move nothing
    second = np.append([3.0 * np.cos(angle), 3.0 * np.sin(angle)], np.full(GRID.size, 0.2))
    base = np.tile(first, (plan.n, 1))
    assert (
        0.98
        <= stage_loss(plan.stage, base, np.vstack([base[1:], second])) / float(plan.stage.parts[0].law.epsilon)
        <= 1
    )


def test_residual_products_are_clipped_as_a_whole(rng):
    """A huge residual on the longest covariates moves the last stage by its whole share, and no further."""
    plan = curves_plan("replace", 3.0, passes=4)
    base = np.column_stack([rng.normal(0, 1, (plan.n, 2)), rng.normal(0, 0.1, (plan.n, GRID.size))])
    stage = plan.schedule.next(drawn_without_noise(plan, base)[:3])
    shape = stage.problem.axes
    worst = shape * (np.arange(shape.size) == int(np.argmax(shape)))
    curve = plan.response.code.basis.functions[:, : shape.size] @ (100 * worst)
    pair = [np.append([3.0, 0.0], sign * curve) for sign in (1, -1)]
    loss = stage_loss(stage, np.vstack([base[1:], pair[0]]), np.vstack([base[1:], pair[1]]))
    assert loss <= float(stage.epsilon)
    if isinstance(stage.parts[0].law, dp.noise.Ball):
        assert loss >= 0.85 * float(stage.epsilon)  # the response's own bound keeps a residual from being larger


@pytest.mark.parametrize("name", PLANS)
def test_stages_do_not_depend_on_order_or_batches(name, rng):
    plan = PLANS[name]("replace", 4)
    data = np.column_stack([rng.normal(0, 1, (40, plan.design.columns)), rng.normal(0, 1, (40, plan.response.columns))])
    drawn = drawn_without_noise(plan, data)
    for stage in (
        plan.stage,
        plan.schedule.next(drawn[:1]),
        plan.schedule.next(drawn[:2]),
        plan.schedule.next(drawn[:3]),
    ):
        whole = engines.summarize(stage.encoder, data)
        parts = [engines.summarize(stage.encoder, part) for part in (data[25:], data[:7], data[7:25])]
        assert parts[0].merge(parts[1]).merge(parts[2]) == whole
        assert engines.summarize(stage.encoder, data[::-1]) == whole
