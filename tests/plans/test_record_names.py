"""What a record is called: a word beside every plan, in its files and in all that is said of it."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import re

import numpy as np
import pytest

import dpfda as dp
from dpfda.core.nouns import Nouns
from dpfda.errors import ParameterError

METHOD = dp.methods.KNorm(3)
CURVES = np.random.default_rng(3).uniform(0, 1, (300, 8))
FACTS = {"n": 300, "epsilon": 1}
BALL = FACTS | {"bound": dp.L2Ball(1.0), "grid": 8}
BOX = FACTS | {"domain": [(0, 1)]}
PAIRS = np.column_stack([CURVES[:, 0], CURVES[:, 1] > 0.5])
#: A plan of every kind, the records it is for, and what one of them is without a noun of its own.
KINDS = {
    "mean": (dp.MeanPlan, BALL | {"method": METHOD}, CURVES, "curve"),
    "staged mean": (dp.MeanPlan, BALL, CURVES, "curve"),
    "function": (dp.MeanPlan, FACTS | {"of": dp.Above(0.5), "grid": 8}, CURVES, "curve"),
    "covariance": (dp.CovariancePlan, BALL | {"method": METHOD, "invalid": "center"}, CURVES, "curve"),
    "percentiles": (dp.PercentilePlan, FACTS | {"range": (0, 1), "grid": 8}, CURVES, "curve"),
    "radius": (dp.plans.RadiusPlan, BALL, CURVES, "curve"),
    "survival": (dp.SurvivalPlan, FACTS | {"horizon": 1.0}, PAIRS, "record"),
    "density": (dp.DensityPlan, BOX, CURVES[:, :1], "point"),
    "regression": (
        dp.plans.RegressionPlan,
        BALL | {"covariates": 1, "covariate_bound": 1.0, "passes": 1},
        np.column_stack([CURVES[:, :1], CURVES]),
        "record",
    ),
    "smoother": (dp.plans.SmootherPlan, BOX | {"bound": (0, 1), "passes": 1}, CURVES[:, :2], "record"),
    "huber": (
        dp.plans.KernelPlan,
        BOX | {"bound": (0, 1), "criterion": "huber", "components": 3},
        CURVES[:, :2],
        "record",
    ),
    "classes": (dp.plans.KernelPlan, BOX | {"classes": ("0", "1")}, PAIRS, "record"),
}
#: Those that know whose a record is.
WITH_UNIT = ("mean", "staged mean", "function", "covariance", "percentiles", "radius", "survival")


def planned(kind, **more):
    make, facts, _, _ = KINDS[kind]
    return make(**facts | more)


@pytest.mark.parametrize("kind", KINDS)
def test_it_travels_with_the_plan_and_is_no_part_of_it(kind):
    plain, named = planned(kind), planned(kind, record="home")
    assert (plain.record, named.record) == (None, "home")
    assert plain == named
    assert hash(plain) == hash(named)
    assert plain.digest == named.digest
    assert plain.family == named.family
    doors = [type(named).from_json(named.to_json()), pickle.loads(pickle.dumps(named)), copy.deepcopy(named)]
    assert [plan.record for plan in doors] == ["home"] * 3
    assert "record" not in json.loads(plain.to_json())["plan"]
    if kind != "radius":  # one that is made anew from its bound
        assert dataclasses.replace(named, record=None).to_json() == plain.to_json()


@pytest.mark.parametrize("kind", KINDS)
def test_it_travels_with_the_release_and_is_spoken(kind, tmp_path):
    records = KINDS[kind][2]
    release = planned(kind, record="home").release(records)
    again = dp.load(release.save(tmp_path / "release.json"))
    assert again.plan.record == "home"
    for text in (str(release.statement), release.methods_text()):
        assert "one home in the data is replaced by any other home" in text
    assert "The number of homes, 300, is public." in str(release.statement)
    assert "300 homes" in release.methods_text()
    assert "record" not in json.loads(planned(kind).release(records).to_json())["plan"]


@pytest.mark.parametrize("kind", KINDS)
def test_somebody_has_a_record_and_is_never_unusable(kind):
    item = KINDS[kind][3]
    for facts in ({}, {"invalid": "center"}):
        text = planned(kind, record="person/people", **facts).explain()
        assert f"had that person's {item} been a different one" in text
        assert f"a person with several {item}s in the data" in text
        assert re.search(rf"(a|An unusable) {item} (is unusable|counts)", text), text
        assert "unusable person" not in text
        assert "persons" not in text
        assert "peoples" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_without_one_nothing_changes(kind):
    item = KINDS[kind][3]
    plain = planned(kind)
    assert (plain.wording.record, plain.wording.records) == (item, f"{item}s")
    assert planned(kind, record=item).explain() == plain.explain()
    assert planned(kind, record=item).wording.rows == plain.wording.rows
    assert f"had that person's {item} been a different one" in plain.explain()
    assert f"a person who contributes several {item}s" in plain.explain()


@pytest.mark.parametrize("kind", WITH_UNIT)
def test_a_unit_is_called_by_it(kind):
    column, noun = planned(kind, unit="home"), planned(kind, unit="home", record="apartment")
    assert column.digest == noun.digest
    expected = column.explain().replace("all curves of a home", "all curves of an apartment")
    expected = re.sub(r"\b(a|A) home\b", lambda found: f"{found[1]}n apartment", expected)
    assert noun.explain() == expected.replace("home", "apartment")


def test_groups_share_one(tmp_path):
    arms = np.repeat(["a", "b"], 150)
    both = dp.mean(
        CURVES, by=arms, groups=["a", "b"], epsilon=1, bound=dp.L2Ball(1.0), method=METHOD, record="person/people"
    )
    assert both.plan.record == "person/people"
    assert "how many people each group has" in str(both.statement)
    assert "Which group a person belongs to" in str(both.statement)
    assert dp.load(both.save(tmp_path / "both.json"))["a"].plan.record == "person/people"
    with pytest.raises(ParameterError, match="one name for a record"):
        dp.plans.GroupPlan(("a", "b"), [planned("mean", record="home"), planned("mean")])


def test_verbs_and_models_take_it():
    facts = {"epsilon": 1, "record": "home"}
    releases = [
        dp.mean(CURVES, bound=dp.L2Ball(1.0), method=METHOD, **facts),
        dp.covariance(CURVES, bound=dp.L2Ball(1.0), method=METHOD, **facts),
        dp.density(CURVES[:, 0], domain=[(0, 1)], **facts),
        dp.percentiles(CURVES, range=(0, 1), **facts),
        dp.survival(PAIRS, horizon=1.0, **facts),
        dp.suggest_radius(CURVES, bound=dp.Range(-1, 2), **facts),
        dp.FunctionOnScalarRegression(bound=dp.L2Ball(1.0), covariate_bound=1.0, passes=1, **facts)
        .fit(CURVES[:, :1], CURVES)
        .release_,
        dp.KernelRegressor(domain=(0, 1), bound=(0, 1), **facts).fit(CURVES[:, :1], CURVES[:, 1]).release_,
        dp.KernelClassifier(domain=(0, 1), classes=[0, 1, 2], **facts).fit(CURVES[:, :1], np.arange(300) % 3).release_,
    ]
    assert [release.plan.record for release in releases] == ["home"] * len(releases)


@pytest.mark.parametrize(
    "record", ["", " ", "/", "a/", "/b", "a/b/c", 3, "x" * 61, "a\nb", b"x", "\x1b[2J", "\u202eemoh"]
)
def test_a_wrong_noun_is_refused_before_anything_is_read(record, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="nouns")
    verbs = [
        lambda: dp.mean("none.csv", epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger, record=record),
        lambda: dp.density("none.csv", epsilon=1, domain=[(0, 1)], ledger=ledger, record=record),
        lambda: dp.survival("none.csv", epsilon=1, horizon=1.0, ledger=ledger, record=record),
        lambda: dp.KernelClassifier(epsilon=1, domain=(0, 1), ledger=ledger, record=record).fit("nothing", None),
        *(lambda kind=kind: planned(kind, record=record) for kind in ("mean", "radius", "smoother", "classes")),
    ]
    for verb in verbs:
        with pytest.raises(ParameterError, match="record names what one record is"):
            verb()
    assert ledger.spent == 0


def test_hostile_nouns_are_spelt_out_and_escaped():
    plan = planned("mean", record="<script>alert(1)<\\script>")
    assert "<script>" not in plan._repr_html_()
    assert "&lt;script&gt;" in plan._repr_html_()


def test_columns_keep_their_names():
    """The name of a column is no noun: a slash in it is part of it."""
    nouns = Nouns.of("curve", None, "id/visit")
    assert (nouns.record, nouns.records, nouns.piece) == ("id/visit", "id/visits", "curve")
