"""A radius that is bought: found within a public bound, with a promise before the charge or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpfda as dp
from dpfda.noise.choice import chances
from dpfda.plans.radius_search import most_missed, most_steps

RadiusPlan = dp.plans.RadiusPlan


def planned(n=215, epsilon="0.1", bound=None, **more):
    return RadiusPlan(n=n, epsilon=epsilon, grid=12, bound=dp.Range(0, 400) if bound is None else bound, **more)


# -- what is found -------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [1.0, 1 / 3, 1 / 10, 1 / 30])
def test_a_suggested_radius_holds_the_quantile(share):
    """Fewer than 40 % held has odds of e^-900; a radius three steps too large, of e^-9 at least."""
    curves = 5 + 2 * share * np.random.default_rng(0).uniform(-1, 1, (20_000, 1)) * np.ones((1, 24))
    release = dp.suggest_radius(curves, epsilon=0.5, quantile=0.5, bound=dp.RMS(2.0, center=5))
    held = float((np.abs(curves[:, 0] - 5) <= release.radius).mean())
    assert held > 0.4
    assert release.radius < 0.5 * 2 * share * 2 ** (5 / 4)
    assert float(release) == release.radius == release.bound.radius
    assert release.bound.center == 5


def test_few_records_get_a_radius_of_the_right_size():
    """215 curves at epsilon 0.1, where 9.3 is right: by the exact law, and in releases."""
    curves = 200 + 9 * np.random.default_rng(1).normal(size=(215, 48))
    plan = replace(planned(), grid=dp.Grid.uniform(0, 1, 48))
    scores = plan.statistic(plan.summarize(curves))
    law = chances((scores.max() - scores) * 0.1)
    assert law[(plan.radii > 4.5) & (plan.radii < 28)].sum() > 0.95
    found = [dp.suggest_radius(curves, epsilon=0.1, bound=dp.Range(0, 400)).radius for _ in range(5)]
    assert min(found) < 28  # five in a row beyond it have odds below 1e-6


def test_a_bound_in_units_is_the_ball_that_it_is():
    grid = dp.Grid.uniform(0, 4, 9)
    ball = dp.L2Ball(23.0, 13.5)
    plans = [RadiusPlan(n=300, epsilon=1, grid=grid, bound=bound) for bound in (dp.Range(2, 25), ball)]
    assert plans[0] == plans[1]
    assert plans[0].digest == plans[1].digest
    assert plans[0].radii[-1] == 23.0
    assert np.isclose(plans[0].radii[0], 23 / 32)
    assert RadiusPlan.from_json(plans[0].to_json()) == plans[0]
    assert replace(plans[0], n=400).choices == 1


# -- what is promised ----------------------------------------------------------------------------------


def worst_laws(plan, rng):
    """Laws of the chosen place, with the count of curves that each radius holds, for many kinds of curves."""
    size, n = plan.radii.size, plan.n
    for kind in range(400):
        if kind % 4 == 0:  # all curves alike
            counts = np.where(np.arange(size) >= rng.integers(size), n, 0)
        elif kind % 4 == 1:  # most within a small radius, the others within the largest only
            counts = np.full(size, rng.integers(n))
            counts[-1] = n
        else:
            counts = np.sort(rng.integers(0, n + 1, size))
            counts[-1] = n
        scores = -np.maximum(plan.quantile * n - counts, 0) - plan.problem.prices
        yield counts, chances((scores.max() - scores) * float(plan.epsilon))


@pytest.mark.parametrize(("n", "epsilon", "more"), [
    (215, 0.1, {}), (500, 0.1, {}), (2000, 0.1, {}), (60, 1, {}), (40, 0.5, {"smallest": 50.0}), (300, 40, {}),
    (500, 0.2, {"quantile": 0.5}),
])  # fmt: skip
def test_what_is_promised_holds_for_any_curves(n, epsilon, more, rng):
    plan, close = planned(n, epsilon, **more), 0.0
    for counts, law in worst_laws(plan, rng):
        wanted = int(np.argmax(counts >= plan.quantile * n))
        few = law[counts < plan.held * n - 1e-9].sum()
        large = law[plan.radii > plan.radii[wanted] * plan.times / 2**0.25 * (1 + 1e-9)].sum()
        assert few + large <= 0.05
        close = max(close, few, large)
    assert close > 0.001  # it promises no less than it could by orders


def test_promises_are_tight_where_curves_are_the_worst():
    costs = planned().problem.prices * 0.1
    missed = most_missed(costs, 0.025)
    worst = np.concatenate([missed - (costs[-1] - costs[:-1]), [0.0]])
    assert np.isclose(chances(worst)[:-1].sum(), 0.025, rtol=1e-3)
    steps = most_steps(costs, 0.025)
    above = chances(costs)[::-1].cumsum()[::-1]
    assert above[steps + 1] <= 0.025 < above[steps]


def test_more_records_and_more_epsilon_promise_more():
    plans = [planned(n, epsilon) for n, epsilon in ((150, 0.1), (215, 0.1), (500, 0.1), (500, 0.5), (5000, 0.5))]
    held, times = [plan.held for plan in plans], [plan.times for plan in plans]
    assert held == sorted(held)
    assert times == sorted(times, reverse=True)
    assert planned(100, 0.1, smallest=50.0).held > planned(100, 0.1).held


def test_plans_say_how_far_off_they_can_be():
    plan = planned(2000, 0.1)
    for text in (repr(plan), plan.explain(), str(plan.verdict)):
        assert "with a probability of 95 % the radius holds at least 0.83 of the curves" in text.replace("With", "with")
        assert "at most 2 times" in text
    assert planned().verdict.word == "coarse"
    assert planned(150).verdict.word == "mostly noise"


def test_a_plan_that_promises_nothing_says_so_and_is_refused(tmp_path):
    plan = planned(60)
    assert not plan.means_something
    for text in (repr(plan), plan.explain(), plan._repr_html_()):
        assert "nothing can be promised" in text.lower()
        assert "210 curves" in text
        assert "at least 0 of" not in text
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="radius")
    curves = 200 + np.zeros((60, 12))
    summary = plan.summarize(curves)
    with pytest.raises(dp.errors.ParameterError, match=r"anything between 6.25 and 200. It takes epsilon=0.29 or 210"):
        plan.release(summary, book)
    for given in ({}, {"n": 60}, {"n": 60, "neighbors": "add-remove", "invalid": "center"}):
        with pytest.raises(dp.errors.ParameterError, match=r"60 curves at epsilon 0.1"):
            dp.suggest_radius(curves, epsilon=0.1, bound=dp.Range(0, 400), ledger=book, **given)
    assert book.spent == 0
    needs = plan.verdict.needs
    assert planned(60, needs["epsilon"]).means_something
    assert planned(needs["n"]).means_something


def test_the_refusal_depends_on_no_record():
    """The same words for any curves, before they are looked at where n is given."""
    said = []
    for curves in (np.zeros((60, 12)), np.full((60, 12), np.nan), np.full((60, 12), 1e300)):
        with pytest.raises(dp.errors.ParameterError) as caught:
            dp.suggest_radius(curves, epsilon=0.1, bound=dp.Range(0, 400))
        said.append(str(caught.value))
    assert len(set(said)) == 1
    with pytest.raises(dp.errors.ParameterError, match="anything between"):
        dp.suggest_radius(_never(), epsilon=0.1, n=60, grid=12, bound=dp.Range(0, 400))


def _never():
    raise AssertionError("the curves were read")
    yield


def test_a_wide_plan_of_version_0_1_is_refused_as_well():
    plan = RadiusPlan(n=60, epsilon="0.1", grid=12, smallest=2.0**-30, largest=2.0**30)
    assert (plan.choices, plan.times, plan.held) == (None, None, 0.0)
    assert '"choices"' not in plan.to_json()
    with pytest.raises(dp.errors.ParameterError, match="anything between"):
        plan.release(np.ones((60, 12)))
    assert "holds at least" not in plan.explain()


# -- charges, files and nonsense -----------------------------------------------------------------------


def test_a_radius_is_charged_and_has_a_statement(tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon="1/2", study="radius")
    release = dp.suggest_radius(np.ones((500, 12)), epsilon="1/10", bound=dp.RMS(10, center=0.5), ledger=book)
    assert book.spent == Fraction(1, 10)
    assert "permute and flip" in release.statement
    assert "holds at least" in release.statement
    assert release.bound.center == 0.5
    assert RadiusPlan.from_json(release.plan.to_json()) == release.plan
    with pytest.raises(dp.errors.BudgetExceeded):
        dp.suggest_radius(np.ones((500, 12)), epsilon=1, bound=dp.L2Ball(2.0), ledger=book)


@pytest.mark.parametrize("bad", [
    {"quantile": 0}, {"quantile": 1.0}, {"quantile": "x"}, {"smallest": 2.0}, {"smallest": 1.9}, {"smallest": True},
    {"smallest": np.inf}, {"epsilon": None}, {"bound": None}, {"bound": 3.0}, {"bound": dp.bounds.L1Ball(1.0)},
    {"bound": dp.Range(0, 1), "standardize": True},
])  # fmt: skip
def test_a_radius_plan_refuses_nonsense(bad):
    with pytest.raises(dp.errors.ParameterError):
        dp.suggest_radius(np.ones((50, 12)), **({"epsilon": 1.0, "bound": dp.L2Ball(2.0)} | bad))


def test_a_radius_has_no_band_and_one_bound():
    with pytest.raises(dp.errors.ParameterError, match="curve"):
        planned().accuracy.band()
    with pytest.raises(dp.errors.ParameterError, match="Drop them"):
        planned(largest=3.0)
    with pytest.raises(dp.errors.ParameterError, match="surely holds"):
        RadiusPlan(n=60, epsilon=1, grid=12)
    with pytest.raises(dp.errors.ParameterError, match="choices"):
        RadiusPlan(n=60, epsilon=1, grid=12, largest=3.0, choices=7)


def test_json_holds_no_more_than_it_says():
    body = json.loads(planned().to_json())["plan"]
    assert body["largest"] == 200.0
    assert body["choices"] == 1
    assert body["center"] == 200.0
