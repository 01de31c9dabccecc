"""Covariances in their first functions: how many, which numbers leave, and the rule of earlier versions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpfda as dp
from dpfda.methods.earlier_centre import earlier_centre, earlier_error

FACTS = {"epsilon": 1, "bound": dp.L2Ball(2.0), "grid": 40}


def test_the_first_functions_and_all_their_products_leave():
    plan = dp.CovariancePlan(n=900, method=dp.methods.Leading(4), **FACTS)
    pairs = {tuple(pair) for pair in plan.basis.index[plan.scales > 0].tolist()}
    assert pairs == {(j, k) for k in range(4) for j in range(k + 1)}
    assert plan.kernel.length_scale == 1
    assert dp.CovariancePlan(n=900, method=dp.methods.KNorm(4), **FACTS).kernel.length_scale == pytest.approx(0.1)
    assert dp.CovariancePlan(n=900, kernel=dp.kernels.Matern(1.5, 0.3), **FACTS).kernel.length_scale == 0.3


def test_more_records_carry_more_functions_and_the_bound_does_not_matter():
    def functions(n, radius=2.0):
        plan = dp.CovariancePlan(n=n, method=dp.methods.Leading(), **(FACTS | {"bound": dp.L2Ball(radius)}))
        return plan.chosen.functions

    counts = [functions(n) for n in (2, 100, 3000, 10_000, 100_000)]
    assert counts[:2] == [5, 5]
    assert counts == sorted(counts)
    assert counts[-1] == round(0.455 * 100_000 ** (1 / 3))
    assert functions(10_000, 2e3) == functions(10_000, 2e-3) == counts[3]
    small = dp.CovariancePlan(n=10**9, epsilon=1, bound=dp.L2Ball(1.0), grid=6, method=dp.methods.Leading())
    assert small.chosen.functions == small.basis.line.size == 6


def test_the_default_finds_scale_centre_and_radius_first():
    plan = dp.CovariancePlan(n=900, **FACTS)
    method = plan.chosen
    assert isinstance(method, dp.methods.Centred)
    assert (method.steps, method.rest) == (("scale", "centre", "choose", "covariance", "check"), Fraction(3, 4))
    assert isinstance(method.method, dp.methods.Leading)
    assert method.first.components == round(0.7 * 90**0.5)
    assert "one of 41 scales" in plan.schedule.numbers_text
    once = replace(plan, method=dp.Auto(passes=1))
    assert once.method == dp.methods.Leading()
    steps = {passes: replace(plan, method=dp.Auto(passes=passes)).chosen.steps for passes in (3, 4, 5, 9)}
    assert steps == {3: method.steps[1:4], 4: method.steps[:4], 5: method.steps, 9: method.steps}
    assert dp.CovariancePlan.from_json(plan.to_json()) == plan


def test_a_bound_that_is_far_too_large_hardly_matters():
    """Ten times the radius is a hundred times the noise about a public centre; four passes find the scale again."""
    t, rng = (np.arange(48) + 0.5) / 48, np.random.default_rng(3)
    curves = 1 + rng.normal(size=(4000, 1)) + 0.6 * rng.normal(size=(4000, 1)) * np.cos(np.pi * t)
    true = np.cov(curves.T, bias=True)
    errors = []
    for radius in (4.0, 40.0):
        plan = dp.CovariancePlan(n=4000, epsilon=2, bound=dp.L2Ball(radius), grid=dp.Grid.midpoints(0, 1, 48))
        errors.append(np.mean([np.linalg.norm(plan.release(curves).values - true) for _ in range(5)]))
    assert errors[1] < 0.3 * np.linalg.norm(true)
    assert errors[1] < 3 * errors[0] + 0.05 * np.linalg.norm(true)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: dp.methods.Leading(0), "whole number"),
        (lambda: dp.CovariancePlan(n=9, method=dp.methods.Leading(41), **FACTS), "at most"),
        (lambda: dp.MeanPlan(n=9, method=dp.methods.Leading(3), **FACTS), "for covariances"),
        (lambda: dp.methods.Centred(first=dp.methods.FRL(3)), "ball noise"),
        (lambda: dp.methods.Centred(scale=0), "share"),
        (lambda: dp.methods.Centred(centre="2/5", selection="2/5", scale="2/5"), "leave something"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, words):
    with pytest.raises(dp.errors.ParameterError, match=words):
        wrong()


def test_the_posterior_mean_is_for_the_first_functions():
    release = dp.covariance(np.zeros((50, 12)), epsilon=1, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(3))
    assert release.steps[0] == "shrinkage by bayes"
    with pytest.raises(dp.errors.ParameterError, match="Leading"):
        release.shrink("posterior")
    default = dp.covariance(np.zeros((50, 12)), epsilon=1, bound=dp.L2Ball(1.0))
    assert default.shrink("bayes").steps[0] == "shrinkage by bayes"


#: What the rule chose in earlier versions, and the risk that it gave.
EARLIER = [
    (50, "1/10", 0.1, "replace", "Minimax(power=1.25, noise='matched', sensitivity='tight')", 1.6995665503425583),
    (500, "1", 0.1, "replace", "KNorm(components=16)", 0.04922416263433192),
    (5000, "4", 0.1, "add-remove", "KNorm(components=40)", 0.00011906954899296156),
    (5000, "1", 0.4, "replace", "KNorm(components=40)", 0.000712263845209185),
]


@pytest.mark.parametrize(("n", "epsilon", "length", "neighbors", "chosen", "error"), EARLIER)
def test_the_rule_of_earlier_versions_stands(n, epsilon, length, neighbors, chosen, error):
    kernel = dp.kernels.Matern(1.5, length)
    plan = dp.MeanPlan(n=n, kernel=kernel, method=dp.methods.KNorm(3), neighbors=neighbors, **FACTS)
    found = earlier_centre(plan.problem, Fraction(epsilon))
    assert repr(found) == chosen
    assert earlier_error(plan.problem, Fraction(epsilon), found) == pytest.approx(error, rel=1e-9)
