"""What values are called: a word beside a plan, in its files and pictures, and no part of what is reviewed."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest

import dpfda as dp
from dpfda.errors import FileError, ParameterError

NAME = "glucose (mmol/L)"
METHOD = dp.methods.KNorm(3)
CURVES = np.random.default_rng(3).uniform(0, 1, (300, 8))
FACTS = {"epsilon": 1, "bound": dp.L2Ball(1.0), "grid": 8}
PLANS = {
    "mean": (dp.MeanPlan, FACTS | {"n": 300, "method": METHOD}),
    "covariance": (dp.CovariancePlan, FACTS | {"n": 300, "method": METHOD}),
    "regression": (dp.plans.RegressionPlan, FACTS | {"n": 300, "covariates": 1, "covariate_bound": 1.0, "passes": 1}),
    "smoother": (dp.plans.SmootherPlan, {"n": 300, "epsilon": 1, "domain": [(0, 1)], "bound": (0, 1), "passes": 1}),
    "huber": (
        dp.plans.KernelPlan,
        {"n": 300, "epsilon": 1, "domain": [(0, 1)], "bound": (0, 1), "criterion": "huber", "components": 3},
    ),
}


def planned(kind, **more):
    make, facts = PLANS[kind]
    return make(**facts | more)


@pytest.mark.parametrize("kind", PLANS)
def test_it_travels_with_the_plan_and_is_no_part_of_it(kind):
    plain, named = planned(kind), planned(kind, value=NAME)
    assert (plain.value, named.value) == (None, NAME)
    assert plain == named
    assert hash(plain) == hash(named)
    assert plain.digest == named.digest
    assert plain.family == named.family
    doors = [
        type(named).from_json(named.to_json()),
        pickle.loads(pickle.dumps(named)),
        copy.deepcopy(named),
        dataclasses.replace(named, n=400),
    ]
    assert [plan.value for plan in doors] == [NAME] * 4
    assert dataclasses.replace(named, value=None).to_json() == plain.to_json()
    assert "value" not in json.loads(plain.to_json())["plan"]
    assert NAME in repr(named)


@pytest.mark.parametrize("kind", PLANS)
def test_it_travels_with_the_release(kind, tmp_path):
    records = CURVES if kind in ("mean", "covariance") else np.column_stack([CURVES[:, :1], CURVES])
    records = records[:, :2] if kind in ("smoother", "huber") else records
    release = planned(kind, value=NAME).release(records)
    again = dp.load(release.save(tmp_path / "release.json"))
    assert again.plan.value == release.plan.value == NAME
    unnamed = planned(kind).release(records)
    assert "value" not in json.loads(unnamed.to_json())["plan"]


def test_no_plan_takes_the_name_of_an_equal_one():
    """Equal plans share what is computed, never what they are called."""
    named = [planned("mean", value=name) for name in (None, "load (kW)", NAME, None)]
    assert [plan.release(CURVES).plan.value for plan in named] == [None, "load (kW)", NAME, None]
    assert [plan.release(CURVES).plot().get_ylabel() for plan in named] == ["mean", "load (kW)", NAME, "mean"]
    assert [plan.value for row in dp.compare(named[1], [METHOD], [1, 2]).values() for plan in row] == ["load (kW)"] * 2


def test_groups_have_one_name(tmp_path):
    arms = np.repeat(["a", "b"], 150)
    both = dp.mean(CURVES, by=arms, groups=["a", "b"], method=METHOD, value=NAME, **FACTS)
    assert both.plan.value == NAME
    again = dp.load(both.save(tmp_path / "both.json"))
    assert [again.plan.value, again["a"].plan.value, again.plan["b"].value] == [NAME] * 3
    assert again.plan.digest == both.plan.digest
    plan = dp.plans.GroupPlan.from_json(both.plan.to_json())
    assert plan.value == NAME
    assert plan.release(CURVES, by=arms)["a"].plan.value == NAME
    assert again.plot().get_ylabel() == NAME
    with pytest.raises(ParameterError, match="one name for their values"):
        dp.plans.GroupPlan(("a", "b"), [planned("mean", value=NAME), planned("mean")])


def test_verbs_and_models_take_it():
    assert dp.mean(CURVES, method=METHOD, value=NAME, **FACTS).plan.value == NAME
    assert dp.covariance(CURVES, method=METHOD, value=NAME, **FACTS).plan.value == NAME
    x = CURVES[:, :1]
    curves = dp.FunctionOnScalarRegression(epsilon=1, bound=dp.L2Ball(1.0), covariate_bound=1.0, passes=1, value=NAME)
    assert curves.fit(x, CURVES).plan_.value == NAME
    for loss in ("squared", "huber"):
        model = dp.KernelRegressor(loss, epsilon=1, domain=(0, 1), bound=(0, 1), value=NAME)
        assert model.fit(x, CURVES[:, 1]).plan_.value == NAME
        assert model.get_params()["value"] == NAME


@pytest.mark.parametrize("value", ["", "  ", 3, "x" * 101, "a\nb", b"kW", "\x1b[2J"])
def test_a_wrong_name_is_refused_before_anything_is_read(value, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="names")
    for verb in (dp.mean, dp.covariance):
        with pytest.raises(ParameterError, match="value names what is measured"):
            verb("no such file.csv", epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger, value=value)
    for kind in PLANS:
        with pytest.raises(ParameterError, match="value names what is measured"):
            planned(kind, value=value)
    models = [
        dp.KernelRegressor(epsilon=1, domain=(0, 1), bound=(0, 1), ledger=ledger, value=value),
        dp.FunctionOnScalarRegression(epsilon=1, bound=dp.L2Ball(1.0), covariate_bound=1.0, ledger=ledger, value=value),
    ]
    for model in models:
        with pytest.raises(ParameterError, match="value names what is measured"):
            model.fit("nothing that can be read", None)
    assert ledger.spent == 0


def test_classes_have_no_unit():
    facts = {"n": 300, "epsilon": 1, "domain": [(0, 1)], "classes": ("no", "yes")}
    with pytest.raises(ParameterError, match="labels have no range, threshold or unit"):
        dp.plans.KernelPlan(value=NAME, **facts)


def test_a_file_cannot_hide_a_name_that_would_be_refused():
    body = json.loads(planned("mean", value=NAME).to_json())
    assert body["plan"]["value"] == NAME
    with pytest.raises(FileError, match="checksum"):
        dp.MeanPlan.from_json(json.dumps(body).replace(NAME, "weight (kg)"))
