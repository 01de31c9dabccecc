"""Differences of groups as files: whole, with their statement, and refused where they were edited or put together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda import plans
from dpfda.core import codec
from dpfda.results import statements

BY = ["north"] * 200 + ["south"] * 100
CURVES = np.random.default_rng(0).normal(0, 0.2, (300, 12)) + np.repeat([[0.0], [0.4]], [200, 100], axis=0)
FACTS = {"by": BY, "groups": ["north", "south"], "epsilon": 1}


def groups(kind: str):
    if kind == "density":
        return dp.density(CURVES[:, 0], domain=[(-2, 2)], **FACTS)
    if kind == "covariance":
        return dp.covariance(CURVES, bound=dp.L2Ball(1.0), **FACTS)
    if kind == "components":
        grid = dp.spaces.ComponentGrid(("x", "y"), dp.Grid.uniform(0, 1, 6))
        return dp.mean(CURVES.reshape(-1, 2, 6), grid=grid, bound=dp.L2Ball(1.0), **FACTS)
    method = dp.methods.KNorm(3) if kind == "mean" else None
    return dp.mean(CURVES, bound=dp.L2Ball(1.0), method=method, **FACTS)


@pytest.mark.parametrize("kind", ["mean", "default", "density", "covariance", "components"])
def test_a_difference_is_saved_and_loaded_whole(kind, tmp_path):
    found = groups(kind)
    gap = found.difference("south", "north")
    again = dp.load(gap.save(tmp_path / "gap.json"))
    assert isinstance(again, dp.results.Difference)
    assert (again.first, again.second, again.plan) == ("south", "north", found.plan)
    assert np.allclose(again.values, gap.values, rtol=0, atol=1e-12)
    assert np.allclose(again.shown_band(0.9).upper, gap.shown_band(0.9).upper)
    assert again.statement == gap.statement
    assert again.methods_text() == gap.methods_text()
    assert again.to_json() == gap.to_json()


def test_it_states_what_it_costs_what_its_band_promises_and_what_the_test_says(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=2)
    found = dp.mean(CURVES, bound=dp.L2Ball(1.0), ledger=ledger, query="load", **FACTS)
    gap = found.difference("south", "north")
    parts = gap.statement_parts
    assert parts.heading == (
        f"Privacy statement for the difference of a load curve, south minus north, of releases of {found.created} "
        f"(plan {found.plan.digest[:12]})."
    )
    assert parts.composition == f"{statements.FREE} {found.plan.composition}"
    assert "costs nothing of its own" in parts.composition
    assert "parallel composition" in parts.composition
    assert list(parts.groups) == ["south", "north"]
    assert parts.bands.startswith(gap.band_promise)
    assert f"Test of whether both populations have the same curve: {gap.test()}" in parts.bands
    assert parts.charge == f"Charged to the ledger of study 's' as entry 1, seal {found.seal[:16]}."
    assert (gap.query, gap.created, gap.study, gap.entry, gap.seal) == (
        found.query, found.created, "s", 1, found.seal,
    )  # fmt: skip
    assert ledger.verify([dp.load(gap.save(tmp_path / "gap.json"))])[0].number == 1
    assert ledger.spent == 1


def test_without_bands_of_populations_there_is_no_test_to_tell():
    found = dp.density(CURVES[:, 0], domain=[(-2, 2)], method=dp.methods.KNorm(2), **FACTS)
    words = found.difference("north", "south").statement_parts.bands
    assert words.startswith("The band shows what the noise of both releases alone can do: it is no error bar.")
    assert "Test of" not in words


def test_a_difference_is_of_two_groups():
    found = groups("mean")
    with pytest.raises(dp.errors.ParameterError, match="two groups, got 'north' twice"):
        found.difference("north", "north")


@pytest.fixture(scope="module")
def body():
    found = groups("mean").difference("north", "south").to_json()
    return {name: value for name, value in json.loads(found).items() if name not in ("dpfda", "version", "sha256")}


def test_an_edited_file_is_refused(body, tmp_path):
    path = Path(tmp_path / "gap.json")
    path.write_text(codec.seal("difference", 1, body).replace('"north"', '"South"', 1))
    with pytest.raises(dp.errors.FileError, match="does not match its checksum"):
        dp.load(path)


def test_a_file_that_is_none_of_a_difference_is_refused_whatever_its_seal(body, tmp_path):
    other = json.loads(groups("mean").difference("north", "south").to_json())
    lonely = codec.to_plain(dp.MeanPlan(n=200, epsilon=1, grid=12, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(3)))
    part = plans.KernelPlan(n=300, epsilon="1/2", domain=[(0, 1)], classes=("north", "south"), positive=0)
    classes = codec.to_plain(plans.ClassPlan(("north", "south"), (part, part)))
    changes = {
        "the same side twice": {"left": body["right"]},
        "swapped sides": {"left": body["right"], "right": body["left"]},
        "one name twice": {"second": "north"},
        "a group that is none": {"first": "west"},
        "no name": {"first": None},
        "no text as a name": {"first": ["north"]},
        "other values": {"values": [x + 1 for x in body["values"]]},
        "too few values": {"values": body["values"][:-1]},
        "no numbers": {"values": ["x"] * 12},
        "no side": {"left": None},
        "a side of another time": {"left": body["left"] | {"created": "2020-01-01T00:00:00Z"}},
        "a side of another charge": {"left": body["left"] | {"study": "s", "entry": 1, "seal": "0" * 64}},
        "the other side's draws": {"left": other["left"] | {"created": "2020-01-01T00:00:00Z"}},
        "a plan of one": {"plan": lonely},
        "a plan of classes": {"plan": classes},
        "no plan": {"plan": None},
    }
    path = tmp_path / "gap.json"
    for change in changes.values():
        path.write_text(codec.seal("difference", 1, body | change))
        with pytest.raises(dp.errors.FileError, match="whole"):
            dp.load(path)
    for missing in ("plan", "first", "second", "left", "right", "values"):
        path.write_text(codec.seal("difference", 1, {key: body[key] for key in body if key != missing}))
        with pytest.raises(dp.errors.FileError, match="whole"):
            dp.load(path)
    path.write_text(codec.seal("difference", 1, body))
    assert dp.load(path).first == "north"


def test_what_either_side_says_against_itself_is_in_every_word_and_picture():
    """A bound that is far too small: groups, their difference, both texts and the pictures say so."""
    rng = np.random.default_rng(0)
    curves = 5 + rng.normal(0, 0.1, (4000, 24))
    both = dp.mean(curves, epsilon=1, bound=dp.L2Ball(0.5), by=["a", "b"] * 2000, groups=["a", "b"])
    gap = both.difference("a", "b")
    assert len(both.cautions) == 1
    assert len(gap.cautions) == 2
    for text in (both.methods_text(), gap.methods_text(), both.statement, gap.statement):
        assert "reach beyond the bound" in text
    for thing in (both, gap):
        assert "reach beyond" in " ".join(text.get_text().replace("\n", " ") for text in thing.plot().texts)


def test_delta_of_classes_adds_up_in_the_statement():
    facts = {"n": 900, "epsilon": "1/3", "domain": [(0, 1)], "classes": ("a", "b", "c")}
    members = [
        dp.plans.KernelPlan(positive=i, method=dp.methods.GaussianProcess(delta=1e-6), **facts) for i in range(3)
    ]
    three = dp.plans.ClassPlan(("a", "b", "c"), members)
    assert "(1, 3e-06)-differentially private" in statements.protection(members[0], three)
