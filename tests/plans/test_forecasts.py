"""Forecasts of means: what the closed forms say is what the stages do, and no choice of Auto hangs on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dpfda as dp
from dpfda.plans.accuracy import geometric_mean
from dpfda.plans.forecasts import MeanClass, kept_length, likely
from dpfda.release.door import Receipt

FACTS = {"bound": dp.L2Ball(1.0), "grid": 24}


def simulated(plan: dp.MeanPlan, curves: np.ndarray, rng: np.random.Generator) -> float:
    """Squared error of one release through the real stages, with noise from a seed: `curves` stand for all n."""
    drawn, stage = [], plan.stage
    while stage is not None:
        encoder = stage.encoder
        few = encoder.kind(encoder.key, len(curves), encoder.total(curves))
        noise = stage.spread([part.law.simulate(1, rng) for part in stage.parts])[0]
        drawn.append(stage.statistic(few.times(plan.n // len(curves))) + noise)
        stage = plan.schedule.next(drawn)
    release = plan.build_release(drawn, Receipt("mean", "now"))
    return float(plan.grid.norm(release.values - curves.mean(axis=0)) ** 2)


def member(plan: dp.MeanPlan, members: MeanClass, row: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Curves of one member of the class, within the bound."""
    away = rng.normal(size=(count, plan.basis.size)) * np.sqrt(members.strays[row])
    away *= np.exp(0.4 * rng.normal(size=(count, 1)) - 0.16)
    signs = rng.choice([-1.0, 1.0], plan.basis.size)
    curves = plan.basis.synthesize(np.sqrt(members.means[row]) * signs + away - away.mean(axis=0))
    return curves * np.minimum(1.0, 1.0 / plan.grid.norm(curves))[:, None]


@pytest.mark.parametrize(
    ("n", "method"),
    [(60, None), (200, None), (1000, None), (300, dp.methods.KNorm(8)), (300, dp.methods.FRL(6))],
    ids=["few", "one round", "two rounds", "ball", "laplace"],
)
def test_the_closed_form_is_what_simulated_releases_do(n, method):
    """Root mean squares over a sixth of the class, within 20 %; seeded, so that it holds or does not."""
    rng = np.random.default_rng(1)
    plan = dp.MeanPlan(n=n, epsilon=1.0, method=method, **FACTS)
    members = plan.accuracy.members
    forecast = plan.accuracy.risks_over(members)
    rows = rng.choice(len(forecast), 30, replace=False)
    found = []
    for row in rows:
        curves = member(plan, members, row, n if n < 100 else 100, rng)
        found.append(np.mean([simulated(plan, curves, rng) for _ in range(4)]))
    assert np.sqrt(geometric_mean(np.array(found)) / geometric_mean(forecast[rows])) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("spread", [0.1, 0.3, 0.6])
def test_a_public_spread_is_believed(spread):
    """Curves stray no further than is said: the forecast does not take an honest spread for one that clips them."""
    plan = dp.MeanPlan(n=1000, epsilon=1.0, method=dp.Auto(spread=spread), **FACTS)
    members = plan.accuracy.members
    assert (np.sqrt(members.strays.sum(axis=1)) < spread / 2).all()
    np.testing.assert_allclose(members.means.sum(axis=1) + members.strays.sum(axis=1), members.sizes**2, rtol=0.05)
    without = dp.MeanPlan(n=1000, epsilon=1.0, **FACTS)
    assert plan.expected_risk < 5 * without.expected_risk  # three hundred times, when the spread was not heeded
    guess = np.cos(np.pi * plan.grid.points) / 2
    assert plan.verdict_for(guess).ratio < 0.1


def test_curves_about_a_guess_lie_within_the_bound():
    """A mean near the edge of a physical range: values are 0 to 5, most are near 0, and none can be clipped."""
    grid = dp.Grid.midpoints(0, 24, 48)
    guess = 0.3 + 0.2 * np.exp(-(((grid.points - 19) / 3) ** 2))
    plan = dp.MeanPlan(n=2000, epsilon=1, bound=dp.Range(0, 5), grid=grid)
    members = MeanClass.about(plan.problem, guess)
    assert (members.sizes <= plan.bound.outer * (1 + 1e-12)).all()
    assert np.allclose(members.means.sum(axis=1) + members.strays.sum(axis=1) + members.beyond, members.sizes**2)
    assert (members.kept(np.array([plan.bound.outer])) == 1).all()  # nothing is clipped at the bound
    possible = plan.hypothetical(guess, size=20, seed=3, spread=0.5)
    assert 1 / 4 < plan.verdict_for(guess).ratio / possible.ratio < 4
    beyond = MeanClass.about(plan.problem, guess + 10)  # a guess that the bound does not hold is believed
    assert (beyond.sizes > plan.bound.outer).all()


def test_the_risk_and_its_range_are_of_the_class():
    plan = dp.MeanPlan(n=500, epsilon=1.0, **FACTS)
    risks = plan.accuracy.risks_over(plan.accuracy.members)
    low, high = plan.risk_range
    weights = np.where(plan.accuracy.members.sizes < 0.2, 1, 2)  # bounds eight times too large count half
    assert plan.expected_risk == pytest.approx(np.exp(np.average(np.log(risks), weights=weights)))
    assert low < plan.expected_risk < high
    assert np.mean((risks >= low) & (risks <= high)) == pytest.approx(0.8, abs=0.02)
    assert plan.accuracy.risk_range == plan.risk_range


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_forecasts_fall_with_the_budget_and_scale_with_the_bound(neighbors):
    plans = [dp.MeanPlan(n=400, epsilon=e, neighbors=neighbors, **FACTS) for e in (0.05, 0.2, 1, 5, 20, 100)]
    risks = [plan.expected_risk for plan in plans]
    assert risks == sorted(risks, reverse=True)
    assert risks[-1] < 1e-5
    for plan in plans:
        large = replace(plan, bound=dp.L2Ball(1000.0))
        assert large.expected_risk == pytest.approx(1e6 * plan.expected_risk, rel=1e-6)
        assert large.verdict.ratio == pytest.approx(plan.verdict.ratio, rel=1e-6)


def test_members_are_what_they_say():
    plan = dp.MeanPlan(n=500, epsilon=1.0, **FACTS)
    members = MeanClass.of(plan.problem, known=False)
    assert set(np.round(1 / members.sizes, 9)) == {1.0, 2.0, 4.0, 8.0}
    whole = members.means.sum(axis=1) + members.strays.sum(axis=1)
    assert whole == pytest.approx(members.sizes**2, rel=1e-9)
    assert (members.signals < members.means.sum(axis=1)).all()
    assert (members.signals > 0).all()
    assert members.kept(np.array([1.0])) == pytest.approx(1.0)  # a right bound clips nothing
    assert (members.kept(np.array([0.1]))[members.sizes == 1] < 0.2).all()
    assert set(MeanClass.of(plan.problem, known=True).sizes) == {1.0}


def test_lengths_and_choices():
    """Clipped lengths against draws, and a choice that is nearly certain where scores are far apart."""
    lengths = np.exp(0.5 + 0.4 * np.random.default_rng(3).normal(size=400_000))
    for radius in (0.5, 1.5, 4.0):
        kept = np.minimum(lengths, radius).mean() / lengths.mean()
        assert kept_length(np.array(0.5), 0.4, radius) == pytest.approx(kept, abs=2e-3)
    assert likely(np.array([[0.0, -1.0, -30.0]]), 1.0)[0] == pytest.approx([0.731, 0.269, 0.0], abs=1e-3)


def test_choices_of_auto_do_not_hang_on_forecasts(monkeypatch):
    """Auto compares ways by its own outlook."""
    monkeypatch.setattr(MeanClass, "of", classmethod(lambda *given: pytest.fail("a forecast was made")))
    for n in (20, 200, 2000):
        assert dp.MeanPlan(n=n, epsilon=1.0, **FACTS).chosen is not None


def test_other_plans_have_ranges_too():
    covariance = dp.CovariancePlan(n=2000, epsilon=1.0, bound=dp.L2Ball(1.0), grid=16)
    density = dp.DensityPlan(n=2000, epsilon=1.0, domain=[(0, 1)])
    for plan in (covariance, density):
        low, high = plan.risk_range
        assert 0 < low < plan.expected_risk < high
    regression = dp.plans.RegressionPlan(
        n=2000, epsilon=1.0, bound=dp.L2Ball(1.0), grid=16, covariates=1, covariate_bound=1.0
    )
    assert regression.risk_range == (regression.expected_risk, regression.expected_risk)
