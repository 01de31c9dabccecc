"""Shares as data: they add up to epsilon, exactly, and are what the stages of a release cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpfda as dp
from dpfda.methods import Staged

FACTS = {"n": 500, "epsilon": "7/10"}
BALL = FACTS | {"bound": dp.L2Ball(1.0), "grid": 12}
BOX = FACTS | {"domain": [(0, 1)]}
PRIVATE = {"neighbors": "add-remove"}
PLANS = {
    "one stage": (dp.MeanPlan, BALL | {"method": dp.methods.KNorm(3)}),
    "filtered": (dp.MeanPlan, BALL | {"method": dp.methods.FRL()}),
    "checked": (dp.MeanPlan, BALL | {"method": dp.Auto(passes=1)}),
    "staged": (dp.MeanPlan, BALL),
    "three rounds": (dp.MeanPlan, BALL | {"method": Staged(shares=("1/5", "1/5", "3/5"), radius="1/20", check="1/50")}),
    "public spread": (dp.MeanPlan, BALL | {"method": Staged(spread=0.5, selection=0)}),
    "function": (dp.MeanPlan, FACTS | {"of": dp.Above(0.5), "grid": 12}),
    "components": (dp.MeanPlan, BALL | {"grid": dp.spaces.ComponentGrid(2, dp.Grid.uniform(0, 1, 8))}),
    "covariance": (dp.CovariancePlan, BALL),
    "covariance in one": (dp.CovariancePlan, BALL | {"method": dp.methods.KNorm(3)}),
    "covariance in three": (dp.CovariancePlan, BALL | {"method": dp.Auto(passes=3)}),
    "percentiles": (dp.PercentilePlan, FACTS | {"range": (0, 1), "grid": 12}),
    "many percentiles": (dp.PercentilePlan, FACTS | {"n": 200_000, "range": (0, 1), "grid": 12}),
    "radius": (dp.plans.RadiusPlan, BALL),
    "survival": (dp.SurvivalPlan, FACTS | {"horizon": 1.0}),
    "density": (dp.DensityPlan, BOX),
    "density in two": (dp.DensityPlan, FACTS | {"domain": [(0, 1), (0, 1)]}),
    "regression": (dp.plans.RegressionPlan, BALL | {"covariates": 2, "covariate_bound": 1.0}),
    "few": (dp.plans.RegressionPlan, BALL | {"n": 60, "covariates": 2, "covariate_bound": 1.0}),
    "many": (dp.plans.RegressionPlan, BALL | {"n": 9000, "covariates": 2, "covariate_bound": 1.0}),
    "in one": (dp.plans.RegressionPlan, BALL | {"covariates": 1, "covariate_bound": 1.0, "passes": 1}),
    "in four": (dp.plans.RegressionPlan, BALL | {"covariates": 1, "covariate_bound": [(0, 1)], "passes": 4}),
    "smoother": (dp.plans.SmootherPlan, BOX | {"bound": (0, 1)}),
    "huber": (dp.plans.KernelPlan, BOX | {"bound": (0, 1), "criterion": "huber", "components": 3}),
    "classes": (dp.plans.KernelPlan, BOX | {"classes": ("a", "b")}),
    "hinge": (dp.plans.KernelPlan, BOX | {"classes": ("a", "b"), "criterion": "hinge", "psi": 0.1}),
}


def walked(plan):
    """Epsilon of each reading, as stages come one after the other in a run."""
    found, drawn, key, stage = [], [], None, plan.stage
    while stage is not None:
        found += [] if stage.encoder.key == key else [Fraction(0)]
        key = stage.encoder.key
        found[-1] += stage.epsilon
        draw = np.zeros(stage.problem.size)
        draw[0] = 1.0
        drawn.append(draw)
        stage = plan.schedule.next(drawn)
    return found


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("kind", PLANS)
def test_shares_add_up_to_epsilon_and_are_what_stages_cost(kind, neighbors):
    make, facts = PLANS[kind]
    plan = make(**facts, neighbors=neighbors)
    shares = plan.shares
    assert sum(part.epsilon for part in shares) == plan.epsilon == Fraction(7, 10)
    assert all(type(part.epsilon) is Fraction and part.epsilon > 0 for part in shares)
    assert all(part.share == part.epsilon / plan.epsilon for part in shares)
    readings = [part.reading for part in shares]
    assert sorted(set(readings)) == list(range(1, plan.schedule.passes + 1))
    assert readings == sorted(readings)
    costs = [sum(part.epsilon for part in shares if part.reading == r) for r in range(1, plan.schedule.passes + 1)]
    assert costs == walked(plan)
    assert all(part.step and part.step.isprintable() for part in shares)


def test_a_staged_mean_says_what_it_does():
    plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.Range(0, 2), grid=48)
    assert [(part.reading, part.step) for part in plan.shares] == [
        (1, "a radius that holds most curves"),
        (2, "a rough centre"),
        (3, "an ellipsoid about the centre that holds most curves"),
        (4, "the mean of curves clipped about the centre"),
        (4, "how much curves vary, for confidence bands"),
        (4, "how much of the mean was left out, for all bands"),
    ]
    for part in plan.shares:  # and its sentences have the same numbers
        assert f"({part.share} of epsilon)" in plan.explain()


def test_a_private_number_has_its_share():
    plan = dp.MeanPlan(**BALL, neighbors="add-remove")
    assert [part.step for part in plan.shares].count("the number of records") == 1


def test_choices_are_told():
    select = dp.methods.Select([dp.methods.KNorm(2), dp.methods.KNorm(5)])
    plan = dp.MeanPlan(**BALL, method=select)
    assert [part.step for part in plan.shares] == ["the choice among 2 methods", "the mean"]
    assert sum(part.epsilon for part in plan.shares) == plan.epsilon


def test_groups_cost_what_the_dearest_does_and_classes_add_up():
    plans = [dp.MeanPlan(**BALL | {"epsilon": epsilon, "method": dp.methods.KNorm(3)}) for epsilon in (1, 2)]
    groups = dp.plans.GroupPlan(("a", "b"), plans)
    assert groups.shares == plans[1].shares
    assert sum(part.epsilon for part in groups.shares) == groups.epsilon
    names = ("a", "b", "c")
    parts = [dp.plans.KernelPlan(**BOX, classes=names, positive=i) for i in range(3)]
    classes = dp.plans.ClassPlan(names, parts)
    assert sum(part.epsilon for part in classes.shares) == classes.epsilon
    assert sum(part.share for part in classes.shares) == 1
    assert {part.step.partition(": ")[0] for part in classes.shares} == set(names)
