"""Bounds in the user's units: the ball that they are, in every plan of curves, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import dpfda as dp
from dpfda.core.errors import ParameterError
from dpfda.plans import RegressionPlan

DAY = dp.Grid.uniform(0, 24, 48)
GRIDS = {
    "line": DAY,
    "midpoints": dp.Grid.midpoints(0, 7, 13, "hour", "h"),
    "uneven": dp.Grid([0.0, 0.1, 0.5, 3.0]),
    "wider span": dp.Grid([0.2, 0.4, 0.7], span=(0.0, 1.0)),
    "weights": dp.Grid.uniform(0, 1, 5, weights=[1, 2, 3, 4, 5]),
    "surface": dp.Grid.product(dp.Grid.uniform(0, 1, 9), dp.Grid.uniform(0, 3, 7)),
    "components": dp.spaces.ComponentGrid(("x", "y"), dp.Grid.uniform(0, 3, 20)),
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_range_is_the_smallest_ball_that_holds_all_curves_between_its_ends(name):
    grid = GRIDS[name]
    ball, root = dp.Range(2, 25).on(grid), np.sqrt(grid.weights.sum())
    assert type(ball) is dp.L2Ball
    assert ball.radius == pytest.approx(11.5 * root, rel=1e-14)
    assert float(ball.center) == 13.5
    rng = np.random.default_rng(0)
    inside = np.vstack([np.full((1, grid.size), 2.0), rng.choice([2.0, 25.0], (200, grid.size))])
    near = 4 * ball.radius / 2**24 / np.sqrt(grid.weights.min())  # steps of the lattice: nothing was scaled down
    assert np.abs(ball.clip(inside, grid) - inside).max() < near
    outside = np.full((1, grid.size), 25.0 + 0.01)
    assert np.abs(ball.clip(outside, grid) - outside).min() > 0.009


def test_a_root_mean_square_has_a_centre_of_any_kind():
    assert dp.RMS(1.5).on(DAY) == dp.L2Ball(1.5 * np.sqrt(24))
    assert dp.RMS(1.5, 0.5).on(DAY) == dp.L2Ball(1.5 * np.sqrt(24), 0.5)
    curve = np.sin(DAY.points)
    assert dp.RMS(1.5, center=curve).on(DAY) == dp.L2Ball(1.5 * np.sqrt(24), curve)
    both = GRIDS["components"]
    plan = dp.MeanPlan(n=300, epsilon=1, bound=dp.RMS(1.0, center=[1.0, 2.0]), grid=both)
    assert plan.bound.center.tolist() == [1.0] * 20 + [2.0] * 20  # one level per component


def test_plans_keep_the_ball_so_that_nothing_saved_changes():
    ball, facts = dp.L2Ball(11.5 * 24**0.5, 13.5), {"n": 400, "epsilon": 1, "grid": DAY}
    more = {"covariates": 2, "covariate_bound": 3.0}
    for kind, extra in ((dp.MeanPlan, {}), (dp.CovariancePlan, {}), (RegressionPlan, more)):
        plan = kind(bound=dp.Range(2, 25), **facts, **extra)
        same = kind(bound=ball, **facts, **extra)
        assert (plan.bound, plan.digest, plan) == (ball, same.digest, same)
        assert "Range" not in plan.to_json()
        assert kind.from_json(plan.to_json()) == plan


def test_verbs_and_models_take_them():
    rng = np.random.default_rng(0)
    curves = 8 + rng.normal(0, 1, (300, 12))
    ball, by = dp.L2Ball(11.5, 13.5), ["a", "b", "b"] * 100
    assert dp.mean(curves, epsilon=1, bound=dp.Range(2, 25)).plan.bound == ball
    assert dp.covariance(curves, epsilon=1, bound=dp.RMS(11.5, 13.5)).plan.bound == ball
    unit = dp.mean(curves, epsilon=1, bound=dp.Range(2, 25), unit=list(range(100)) * 3)
    assert unit.plan.bound == ball
    groups = dp.mean(curves, epsilon=1, bound=dp.Range(2, 25), by=by, groups=["a", "b"])
    assert {part.plan.bound for part in groups.values()} == {ball}
    x = rng.normal(0, 1, (300, 1))
    model = dp.FunctionOnScalarRegression(epsilon=4, bound=dp.Range(2, 25), covariate_bound=3.0)
    assert model.fit(x, curves).release_.plan.bound == ball
    assert model.bound == dp.Range(2, 25)  # as scikit-learn has it: parameters stay as they were given


@pytest.mark.parametrize("bound", [dp.Range(2, 25), dp.RMS(1.5), dp.RMS(1.5, np.arange(4.0))])
def test_they_are_facts(bound):
    for other in (copy.deepcopy(bound), pickle.loads(pickle.dumps(bound))):
        assert other == bound
        assert hash(other) == hash(bound)
    assert bound != dp.Range(2, 26)


def test_a_hostile_record_moves_no_more_than_the_ball_lets_it():
    """Through the real path: two neighbours whose records are as far apart as numbers go."""
    grid = dp.Grid.uniform(0, 4, 16)
    facts = {"n": 20, "epsilon": 1, "grid": grid, "method": dp.methods.KNorm(8)}
    plan = dp.MeanPlan(bound=dp.Range(2, 25), **facts)
    curves = np.full((20, 16), 8.0)
    totals = []
    for record in (np.full(16, 1e300), np.full(16, -1e300), np.full(16, 25.0), np.full(16, 2.0)):
        curves[7] = record
        totals.append(plan.statistic(plan.summarize(curves)))
    moved = [totals[0] - totals[1], totals[2] - totals[3]]
    for difference in moved:
        assert np.sqrt((difference**2).sum()) <= 2 * plan.bound.radius / 20 * (1 + 1e-9)
        assert plan.loss(difference) <= 1 + 1e-9
    assert np.sqrt((moved[1] ** 2).sum()) > 1.9 * 23 / 20  # and the whole range counts


@pytest.mark.parametrize(
    ("ends", "rule"),
    [
        ((25, 2), "from a number to a larger one"),
        ((3, 3), "from a number to a larger one"),
        ((1e16, 1e16 + 2), "from a number to a larger one"),
        ((0, np.inf), "two finite numbers"),
        ((np.nan, 1), "two finite numbers"),
        (("2", "25"), "two finite numbers"),
        ((False, True), "two finite numbers"),
        ((None, 3), "two finite numbers"),
        (([1], 3), "two finite numbers"),
    ],
)
def test_ranges_that_are_none(ends, rule):
    with pytest.raises(ParameterError, match=rf"{rule}.*Pass dp\.Range\(2, 25\)"):
        dp.Range(*ends)


@pytest.mark.parametrize("given", [{"radius": 0}, {"radius": True}, {"radius": "1"}, {"radius": 1, "center": "a"}])
def test_root_mean_squares_that_are_none(given):
    with pytest.raises(ParameterError):
        dp.RMS(**given)


@pytest.mark.parametrize(
    ("bound", "cure"),
    [
        (5, r"got 5\. Pass bound=dp\.Range\(low, high\) .* or dp\.L2Ball\(radius, center\)"),
        ((2, 25), r"got \(2, 25\)\. Pass bound=dp\.Range\(low, high\) for values between these two"),
        ([2, 25], r"Pass bound=dp\.Range\(low, high\)"),
        (None, r"dp\.Range\(low, high\) .*dp\.suggest_radius"),
        (dp.Range, r"Pass bound=dp\.Range\(low, high\)"),
    ],
)
@pytest.mark.parametrize("kind", [dp.MeanPlan, dp.CovariancePlan])
def test_what_is_no_bound_is_told_what_is_one(kind, bound, cure):
    with pytest.raises(ParameterError, match=cure):
        kind(n=100, epsilon=1, bound=bound, grid=12)


def test_what_has_no_curves_has_no_bound_in_their_units():
    x = np.zeros((50, 1))
    with pytest.raises(ParameterError, match=r"got Range\. Pass bound=\(low, high\)"):
        dp.KernelRegressor(epsilon=1, domain=[(0, 1)], bound=dp.Range(0, 1)).fit(x, x[:, 0])
    with pytest.raises(ParameterError, match=r"got Range\. Pass domain=\[\(0, 110\)\]"):
        dp.density(x, epsilon=1, domain=dp.Range(0, 1))
    with pytest.raises(ParameterError, match=r"standardised curves have norm one"):
        dp.MeanPlan(n=100, epsilon=1, bound=dp.Range(0, 1), grid=12, standardize=True)
    with pytest.raises(ParameterError, match="needs a grid"):
        dp.Range(0, 1).on(12)


def test_plans_say_what_a_bound_means():
    plan = dp.MeanPlan(n=400, epsilon=1, bound=dp.Range(2, 25), grid=DAY)
    words = "urves within 11.5 (root mean square) of 13.5 count in full; every curve that stays between 2 and 25 does"
    assert f"c{words}" in repr(plan)
    assert f"C{words}" in plan.explain()
    assert f"C{words}" in plan.release(np.full((400, 48), 8.0)).statement
    about = dp.MeanPlan(n=400, epsilon=1, bound=dp.RMS(1.5, np.sin(DAY.points)), grid=DAY)
    assert "curves within 1.5 (root mean square) of the public centre curve count in full" in repr(about)
    surface = dp.MeanPlan(n=400, epsilon=1, bound=dp.Range(0, 3), grid=GRIDS["surface"])
    assert "every surface that stays between 0 and 3 does" in repr(surface)
    shapes = dp.MeanPlan(n=400, epsilon=1, bound=dp.L2Ball(1.0), grid=DAY, standardize=True)
    assert "count in full" not in repr(shapes)


@pytest.mark.parametrize(
    ("bound", "guess", "said"),
    [
        (dp.L2Ball(1.0), dp.Range(4, 12), "too tight for the guess"),
        (dp.L2Ball(1.0), 8, "too tight for the guess"),
        (dp.Range(2, 10), dp.Range(4, 12), "tight for the guess: some curves"),
        (dp.Range(0, 5), 0.3 + 0.1 * np.sin(DAY.points), "may be tight for the guess"),
        (dp.Range(2, 25), dp.Range(4, 12), "suits the guess"),
        (dp.Range(2, 25), 8 + np.sin(DAY.points), "suits the guess"),
        (dp.RMS(5, center=8), 8, "suits the guess"),
        (dp.Range(-500, 500), dp.Range(4, 12), "likely too loose for the guess: it is 42 times"),
        (dp.Range(-500, 500), 8, "likely too loose"),
    ],
    ids=str,
)
def test_a_bound_is_held_against_a_public_guess(bound, guess, said):
    plan = dp.MeanPlan(n=1000, epsilon=1, bound=bound, grid=DAY)
    assert said in plan.verdict_for(guess).bound
    assert said in str(plan.verdict_for(guess))


def test_a_loose_bound_costs_most_where_no_radius_is_found():
    loose, guess = {"n": 1000, "epsilon": 1, "bound": dp.Range(-500, 500), "grid": DAY}, dp.Range(4, 12)
    assert "costs little here" in dp.MeanPlan(**loose).verdict_for(guess).bound
    plain = dp.MeanPlan(**loose, method=dp.methods.KNorm(6)).verdict_for(guess).bound
    assert "times as large as with one that fits. Values between 0 and 16 would hold them." in plain


@pytest.mark.parametrize("guess", [0, "8", True, np.ones(5), np.nan])
def test_guesses_that_are_none(guess):
    with pytest.raises(ParameterError, match="a guess"):
        dp.MeanPlan(n=1000, epsilon=1, bound=dp.Range(2, 25), grid=DAY).verdict_for(guess)
