"""The one way from a plan and data to a release: all kinds of plans go it, and what nobody knows is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda.core import codec

SOURCE = Path(dp.__file__).parent
CURVES = {"n": 40, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": 12}
BOX = {"n": 40, "epsilon": 1, "domain": [(0, 1)]}
ROWS = np.zeros((40, 12))
INPUTS = np.full((40, 2), 0.5)
LABELLED = np.column_stack([np.full(40, 0.5), np.arange(40) % 3])
THREE = {"n": 40, "epsilon": "1/3", "domain": [(0, 1)], "classes": ("a", "b", "c")}
PLANS = {
    "mean": (dp.MeanPlan(**CURVES), ROWS),
    "covariance": (dp.CovariancePlan(**CURVES), ROWS),
    "density": (dp.DensityPlan(**BOX), np.full(40, 0.5)),
    "radius": (dp.plans.RadiusPlan(n=40, epsilon=1, grid=12, bound=dp.L2Ball(8.0)), ROWS),
    "regression": (
        dp.plans.RegressionPlan(**CURVES, covariates=1, covariate_bound=1.0),
        np.column_stack([np.zeros(40), ROWS]),
    ),
    "smoother": (dp.plans.SmootherPlan(**BOX, bound=(0, 1)), INPUTS),
    "kernel": (dp.plans.KernelPlan(**BOX, classes=("a", "b")), INPUTS.round()),
    "classes": (
        dp.plans.ClassPlan(("a", "b", "c"), [dp.plans.KernelPlan(positive=i, **THREE) for i in range(3)]),
        LABELLED,
    ),
    "groups": (dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(**{**CURVES, "n": 20})] * 2), ROWS),
}
#: What is executed there is SQL, or a picture's layout.
ELSEWHERE = ("ledger/", "reading/databases", "results/fitting")
LABELS = {"groups": {"by": ["x", "y"] * 20}}


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_refuses_what_it_does_not_know(name):
    plan, rows = PLANS[name]
    known = LABELS.get(name, {})
    for call in (plan.release, plan.summarize):
        with pytest.raises(TypeError, match="nonsense"):
            call(rows, nonsense=3, **known)
        with pytest.raises(TypeError, match="engine"):
            call(rows, engine="no-such-engine", **known)
    with pytest.raises(dp.errors.ParameterError, match="engine is one of"):
        plan.release(dp.read(rows, engine="no-such-engine"), **known)


def test_a_table_of_counts_takes_no_other_options():
    plan = dp.DensityPlan(**{**BOX, "n": 4}, cells=4)
    with pytest.raises(TypeError, match="nonsense"):
        plan.release(counts=[1, 1, 1, 1], nonsense=1)
    with pytest.raises(dp.errors.ParameterError, match="how records are summarised"):
        plan.release(counts=[1, 1, 1, 1], site="north")
    with pytest.raises(dp.errors.ParameterError, match="both or neither"):
        plan.release([0.5] * 4, counts=[1, 1, 1, 1])


@pytest.mark.parametrize("verb", [dp.mean, dp.covariance, dp.suggest_radius, dp.density])
def test_every_verb_refuses_what_it_does_not_know(verb):
    for unknown in ("nonsense", "columns", "engine"):
        with pytest.raises(TypeError, match=unknown):
            verb(ROWS, epsilon=1, **{unknown: "x"})


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_charges_once_and_releases(name, tmp_path):
    plan, rows = PLANS[name]
    ledger = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=1)
    release = plan.release(rows, ledger, **LABELS.get(name, {}))
    assert [(entry.epsilon, entry.plan) for entry in ledger.history()] == [(plan.epsilon, plan.digest)]
    assert release.entry == 1
    with pytest.raises(dp.errors.BudgetExceeded):
        plan.release(rows, ledger.path, **LABELS.get(name, {}))


def test_what_the_data_says_of_its_reading_must_be_in_the_plan():
    plan, rows = PLANS["mean"]
    for reading in ({"fill": 2}, {"align": "linear"}, {"grid": dp.Grid.uniform(0, 24, 12)}):
        with pytest.raises(dp.errors.PlanMismatch, match="The plan decides"):
            plan.release(dp.read(rows, **reading))
    filled = dp.MeanPlan(**CURVES, fill=2)
    assert filled.release(dp.read(rows, fill=2, grid=12)).plan is filled
    assert dp.mean(dp.read(rows, fill=2), epsilon=1, bound=dp.L2Ball(1.0)).plan.fill == 2


def test_a_summary_was_read_already():
    rows, staged = ROWS, dp.methods.Staged(dp.methods.KNorm(5))
    one = dp.MeanPlan(**CURVES, method=dp.methods.KNorm(3))
    summary = one.summarize(rows)
    for late in ({"units": ["a"] * 40}, {"site": "north"}, {"checkpoint": "c.json"}, {"between": ("a", "b")}):
        with pytest.raises(dp.errors.ParameterError, match="how records are summarised"):
            one.release(summary, **late)
    plan = dp.MeanPlan(**{**CURVES, "n": 900}, method=staged)
    assert plan.schedule.passes > 1
    with pytest.raises(dp.errors.ParameterError, match="reads the records"):
        plan.release(summary)


def test_only_one_module_opens_the_door():
    """The protocol is written once: nobody else charges, and nobody else draws for a release."""
    callers: dict[str, set[str]] = {"execute": set(), "charge": set(), "draw": set()}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in callers:
                callers[node.func.attr].add(path.relative_to(SOURCE).as_posix())
    assert {p for p in callers["execute"] if not p.startswith(ELSEWHERE)} == {"release/run.py"}
    # The page's ledger passes the door's charge on, unless somebody has cancelled.
    assert {p for p in callers["charge"] if not p.startswith(("ledger/", "audits/"))} - {"studio/jobs.py"} == {
        "release/door.py"
    }
    assert {p for p in callers["draw"] if not p.startswith(("noise/", "audits/"))} == {"release/door.py"}


def test_labels_for_a_plan_without_units_are_refused():
    for name in ("mean", "regression", "density"):
        plan, rows = PLANS[name]
        with pytest.raises(dp.errors.ParameterError, match="a plan without a unit"):
            plan.release(rows, units=["a"] * 40)
    one = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(**{**CURVES, "n": 20}, method=dp.methods.KNorm(3))] * 2)
    found = one.summarize(ROWS, **LABELS["groups"])
    with pytest.raises(dp.errors.ParameterError, match="how records are summarised"):
        one.release(found, **LABELS["groups"])


def test_points_have_no_rules_about_gaps():
    for reading in ({"fill": 3}, {"align": "linear"}, {"grid": 7}):
        with pytest.raises(dp.errors.PlanMismatch, match="The plan decides"):
            dp.density(dp.read(np.full(40, 0.5), **reading), epsilon=1, domain=[(0, 1)])


def test_classes_are_told_apart_by_kernel_plans_alone():
    """Each record is read once for all of them: a plan of several passes has no place there."""
    with pytest.raises(dp.errors.ParameterError, match="kernel plans"):
        dp.plans.ClassPlan(("a", "b"), [PLANS["mean"][0]] * 2)


def test_a_summary_of_a_regression_is_the_same_from_any_container():
    """Also where more records are there than n, and some are kept."""
    rows = np.random.default_rng(0).uniform(-1, 1, (60, 14))
    facts = {**CURVES, "n": 25, "invalid": "center"}
    plan = dp.plans.RegressionPlan(**facts, covariates=2, covariate_bound=1.0, passes=1)
    assert plan.summarize(rows) == plan.summarize(rows.tolist()) == plan.summarize(rows, site="north")


def test_data_passed_for_an_option_is_not_shown():
    data = np.full((3, 3), 123.456)
    for option in ("columns", "layout", "engine", "align", "fill", "header"):
        with pytest.raises(dp.errors.ParameterError) as caught:
            dp.read(data, **{option: data})
        assert "123" not in str(caught.value)


def test_sizes_of_groups_that_are_not_there_are_refused():
    with pytest.raises(dp.errors.ParameterError, match="for the groups alone"):
        dp.mean(
            ROWS, epsilon=1, bound=dp.L2Ball(1.0), by=["x", "y"] * 20, groups=["x", "y"], n={"x": 20, "y": 20, "z": 9}
        )


def test_releases_of_groups_are_of_the_plan_that_was_charged(tmp_path):
    """Sealed anew, a release that cost more under a charge for less is refused."""
    plan, rows = PLANS["groups"]
    path = plan.release(rows, **LABELS["groups"]).save(tmp_path / "g.json")
    body = codec.unseal(path.read_text(), "releases", 1)
    dear = dp.MeanPlan(**{**CURVES, "n": 20, "epsilon": 50})
    body["releases"]["x"]["plan"] = codec.to_plain(dear)
    path.write_text(codec.seal("releases", 1, body))
    with pytest.raises(dp.errors.FileError, match="whole releases"):
        dp.load(path)
    for plan in (None, codec.to_plain(dear)):  # nothing, and a single plan
        body = {"plan": plan, "releases": {"": {"plan": plan}}}
        path.write_text(codec.seal("releases", 1, body))
        with pytest.raises(dp.errors.FileError, match="whole releases"):
            dp.load(path)
