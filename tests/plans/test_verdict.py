"""The verdict on a plan: one definition, a cure that works, and a warning before the charge."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dpfda as dp
from dpfda.errors import NoiseWarning
from dpfda.plans.verdict import rounded
from dpfda.results.verdict import CLEAR, COARSE, Verdict, word_for

FACTS = {"bound": dp.L2Ball(1.0), "grid": 24}
#: A plan of each kind for so many records.
KINDS = {
    "mean": lambda n: dp.MeanPlan(n=n, epsilon=1.0, **FACTS),
    "fixed mean": lambda n: dp.MeanPlan(n=n, epsilon=1.0, method=dp.methods.FRL(6), **FACTS),
    "covariance": lambda n: dp.CovariancePlan(n=n, epsilon=1.0, bound=dp.L2Ball(1.0), grid=16),
    "density": lambda n: dp.DensityPlan(n=n, epsilon=1.0, domain=[(0, 1)]),
    "regression": lambda n: dp.plans.RegressionPlan(
        n=n, epsilon=1.0, bound=dp.L2Ball(1.0), grid=16, covariates=1, covariate_bound=1.0
    ),
    "smoother": lambda n: dp.plans.SmootherPlan(n=n, epsilon=1.0, domain=[(0, 1)], bound=(0, 1)),
    "huber": lambda n: dp.plans.KernelPlan(n=n, epsilon=1.0, domain=[(0, 1)], bound=(0, 1), criterion="huber"),
    "classes": lambda n: dp.plans.KernelPlan(n=n, epsilon=1.0, domain=[(0, 1)], classes=("a", "b")),
}


def test_one_definition():
    assert [word_for(r) for r in (0.0, CLEAR, 0.31, COARSE, 0.76, np.inf, np.nan)] == [
        "clear", "clear", "coarse", "coarse", "mostly noise", "mostly noise", "mostly noise",
    ]  # fmt: skip
    assert word_for(0.1, few=True) == "mostly noise"
    plan = dp.MeanPlan(n=500, epsilon=1.0, **FACTS)
    assert plan.verdict.ratio == pytest.approx(np.sqrt(plan.expected_risk) / plan.accuracy.signal)
    with pytest.raises(TypeError, match=r"verdict\.word"):
        bool(plan.verdict)


@pytest.mark.parametrize("kind", KINDS)
def test_every_plan_is_judged_and_more_records_never_hurt(kind):
    plans = [KINDS[kind](n) for n in (10, 100, 1000, 100_000)]
    order = ["mostly noise", "coarse", "clear"]
    words = [plan.verdict.word for plan in plans]
    assert words == sorted(words, key=order.index)
    assert words[-1] == "clear"
    for plan in plans:
        assert plan.verdict.told in repr(plan)
        assert plan.verdict.told in plan.explain()
        assert (plan.verdict.cure == "") == (plan.verdict.word == "clear")


@pytest.mark.parametrize("kind", KINDS)
def test_the_cure_works(kind):
    """What it names makes the word the next better one, and much less does not."""
    plan = next(plan for n in (300, 100, 30, 10, 5, 3) if (plan := KINDS[kind](n)).verdict.word != "clear")
    verdict = plan.verdict
    assert set(verdict.needs) >= {"epsilon", "n"}
    order = ["clear", "coarse", "mostly noise"]
    for name, value in verdict.needs.items():
        if name == "bound":
            continue
        better = plan._varied(**{name: value})
        assert order.index(better.verdict.word) <= order.index(verdict.better)
        if value > 2 * getattr(plan, name):
            almost = plan._varied(**{name: type(value)(value / 1.5)})
            assert order.index(almost.verdict.word) > order.index(verdict.better)
        assert f"{value:,.0f}" in verdict.cure if name == "n" else f"{value:.3g}" in verdict.cure


def test_few_components_are_mostly_noise_whatever_the_ratio():
    """Auto with at most four components; not where that is all there is, nor where somebody chose so."""
    few = dp.MeanPlan(n=50, epsilon=1.0, **FACTS)
    assert "4 components" in str(few.verdict)
    assert few.verdict.word == "mostly noise"
    assert "components" not in str(dp.MeanPlan(n=50, epsilon=1.0, bound=dp.L2Ball(1.0), grid=3).verdict)
    assert "components" not in str(replace(few, method=dp.methods.KNorm(4)).verdict)


def test_a_public_guess_takes_the_place_of_the_class():
    plan = dp.MeanPlan(n=400, epsilon=1.0, bound=dp.L2Ball(10.0), grid=48, method=dp.methods.KNorm(8))
    wave = np.sin(6 * plan.grid.points)
    strong, weak = plan.verdict_for(5 * wave), plan.verdict_for(0.2 * wave)
    assert (strong.word, weak.word) == ("clear", "mostly noise")
    # A smaller bound is the cure where no scale is found: it holds the curves, and there is less noise.
    radius = weak.needs["bound"]
    assert radius < 10
    tighter = replace(plan, bound=dp.L2Ball(radius)).verdict_for(0.2 * wave)
    assert tighter.word in ("coarse", "clear")
    assert f"{radius:.3g}" in weak.cure
    found = dp.MeanPlan(n=400, epsilon=1.0, bound=dp.L2Ball(10.0), grid=48).verdict_for(0.5 * wave)
    assert found.word == "clear"  # the scale is found privately
    for wrong in (np.ones(5), np.full(48, np.nan)):
        with pytest.raises(dp.DpfdaError, match="or one value for each of 48 grid points"):
            plan.verdict_for(wrong)


def test_a_warning_before_the_charge(tmp_path):
    """By public facts alone: for the plan itself, for a verb that counts first, for a guess of n, for groups."""
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=10, study="noise")
    curves = np.zeros((10, 24))
    options = {"epsilon": 1.0, "bound": dp.L2Ball(1.0), "ledger": ledger}
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoiseWarning)
        plan = dp.MeanPlan(n=10, epsilon=1.0, **FACTS)
        for release in (
            lambda: plan.release(curves, ledger),
            lambda: dp.mean(curves, **options),
            lambda: dp.mean(np.zeros((3000, 24)), n=10, neighbors="add-remove", **options),
            lambda: dp.mean(curves, by=["a"] * 5 + ["b"] * 5, groups=["a", "b"], **options),
            lambda: dp.FunctionOnScalarRegression(
                epsilon=1.0, bound=dp.L2Ball(1.0), covariate_bound=1.0, ledger=ledger
            ).fit(np.zeros((10, 1)), curves),
        ):
            with pytest.raises(NoiseWarning, match=r"^Mostly noise: .* from epsilon .* on, or from .*s on"):
                release()
        assert ledger.spent == 0
        dp.mean(np.zeros((3000, 24)), **options)
        dp.mean(np.zeros((3000, 24)), n=3000, neighbors="add-remove", **options)
        assert ledger.spent == 2
    with pytest.warns(NoiseWarning) as caught:
        release = dp.mean(curves, **options)
    assert caught[0].filename == __file__  # it points to whoever asked for it
    assert ledger.spent == 3
    assert "mostly noise" in release.plot().get_title(loc="left")
    assert "Mostly noise" in release.statement
    assert issubclass(NoiseWarning, UserWarning)


def test_what_is_clear_is_not_called_noise():
    release = dp.mean(np.zeros((3000, 24)), epsilon=1.0, bound=dp.L2Ball(1.0))
    assert "noise" not in release.plot().get_title(loc="left")
    assert "Clear: the error is expected to be" in release.statement


def test_groups_take_the_worst_verdict():
    plans = [dp.MeanPlan(n=n, epsilon=1.0, **FACTS) for n in (3000, 10)]
    both = dp.plans.GroupPlan(("many", "few"), plans)
    assert both.verdict is plans[1].verdict
    assert "clear" in repr(both).splitlines()[1]
    assert "mostly noise" in repr(both).splitlines()[2]


def test_cures_are_looked_for_when_they_are_asked_for():
    asked = []
    verdict = Verdict(0.5, "the signal", "curves", lambda better: asked.append(better) or {"epsilon": 2.0, "n": 1200})
    assert verdict.told == "Coarse: the error is expected to be 50% of the signal."
    assert not asked
    assert verdict.cure == "Clear from epsilon 2 on, or from 1,200 curves on."
    assert verdict.needs == {"epsilon": 2.0, "n": 1200}
    assert asked == ["clear"]
    assert rounded(123.4) == 130


@pytest.mark.parametrize("name", ["mean", "covariance", "density"])
def test_saved_releases_say_it_again(name, tmp_path):
    release = {
        "mean": lambda: dp.mean(np.zeros((10, 24)), epsilon=1.0, bound=dp.L2Ball(1.0)),
        "covariance": lambda: dp.covariance(np.zeros((10, 16)), epsilon=1.0, bound=dp.L2Ball(1.0)),
        "density": lambda: dp.density(np.linspace(0, 1, 5), epsilon=0.1, domain=[(0, 1)]),
    }[name]()
    assert release.plan.verdict.word == "mostly noise"
    path = release.save(tmp_path / "release.json")
    assert "; mostly noise" in dp.load(path).plot().get_title(loc="left")


def test_what_is_asked_first_changes_nothing():
    facts = {"n": 3000, "epsilon": 1, "domain": [(0, 1)], "bound": (0, 1)}
    risk = dp.plans.SmootherPlan(**facts).expected_risk
    other = dp.plans.SmootherPlan(**facts)
    assert other.expected_error < risk
    assert other.expected_risk == risk
