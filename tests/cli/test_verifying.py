"""`dpfda ledger verify`: what a ledger can say of files, and what it says of files that were made to fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.core import codec

CURVES = np.random.default_rng(1).uniform(0, 1, (200, 12))
FACTS = {"n": 200, "epsilon": "1/2", "bound": dp.Range(0, 1), "grid": 12}


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """A study with one release that was charged."""
    monkeypatch.chdir(tmp_path)
    made = dp.Ledger.create("study.ledger", epsilon=2, study="s")
    plan = dp.MeanPlan(**FACTS)
    Path("plan.json").write_text(plan.to_json())
    plan.release(CURVES, made).save("mean.json")
    return made


def verify(*files: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["ledger", "verify", "study.ledger", *files])
    assert done.exit_code == code, done.output
    return done.stdout


def verdict(*files: str, code: int = 0) -> dict[str, object]:
    return json.loads(verify(*files, "--json", code=code))


def test_it_says_whether_the_very_file_was_noted(ledger):
    assert "mean.json: entry 1, by its seal; this file was not noted." in verify("mean.json")
    assert verdict("mean.json")["noted"] == []
    ledger.record_output(dp.load("mean.json"), "mean.json")
    assert "mean.json: entry 1, the very file that was noted." in verify("mean.json")
    assert verdict("mean.json")["noted"] == ["mean.json"]


def test_a_second_draw_that_borrows_a_charge_is_found(ledger):
    """Whoever can edit can count: the file is whole, its seal is right, and only the first file tells."""
    dp.MeanPlan(**FACTS).release(CURVES).save("second.json")
    first, second = (json.loads(Path(name).read_text()) for name in ("mean.json", "second.json"))
    facts = {name: value for name, value in second.items() if name not in ("dpfda", "version", "sha256")}
    facts |= {name: first[name] for name in ("study", "entry", "seal", "statement")}
    Path("second.json").write_text(codec.seal("release", 1, facts))
    assert "Holds the charges of 1 release." in verify("second.json")  # alone, nothing speaks against it
    found = verdict("mean.json", "second.json", code=4)["findings"]
    assert set(found) == {"mean.json", "second.json"}
    assert "second.json hold different results under one charge, entry 1" in found["mean.json"]
    ledger.record_output(dp.load("mean.json"), "mean.json")  # a file that was noted is told from any other
    assert "another digest" in verdict("second.json", code=4)["findings"]["second.json"]


def test_what_is_made_of_a_release_is_no_second_draw(ledger):
    release = dp.load("mean.json")
    release.shrink("posterior-mean").save("raw.json")
    arms = np.where(np.arange(200) % 2, "a", "b")
    both = dp.mean(CURVES, by=arms, groups=["a", "b"], epsilon="1/2", bound=dp.Range(0, 1), grid=12, ledger=ledger)
    both.save("both.json")
    both["a"].save("a.json")
    both["b"].save("b.json")
    both.difference("a", "b").save("gap.json")
    found = verdict("mean.json", "raw.json", "both.json", "a.json", "b.json", "gap.json")
    assert found["findings"] == {}
    assert set(found["entries"].values()) == {1, 2}
    said = verify("both.json", "a.json", "gap.json")
    assert "a.json: entry 2, by its seal; this file was not noted, of another plan than that was charged for" in said
    assert said.count("of another plan") == 1
    ledger.record_output(both, "both.json")  # a part has a file of its own, which nobody notes
    assert verdict("both.json", "a.json", "gap.json")["noted"] == ["both.json"]


def resealed(name: str, **facts: object) -> None:
    """A file with other facts and a checksum that is right."""
    body = json.loads(Path(name).read_text())
    kind, version = body.pop("dpfda"), body.pop("version")
    body.pop("sha256")
    Path(name).write_text(codec.seal(kind, version, body | facts))


def test_a_part_that_is_not_in_its_whole_is_found(ledger):
    arms = np.where(np.arange(200) % 2, "a", "b")
    groups = {"by": arms, "groups": ["a", "b"], "epsilon": "1/2", "bound": dp.Range(0, 1), "grid": 12}
    both = dp.mean(CURVES, **groups, ledger=ledger)
    both.save("both.json")
    both["a"].save("a.json")
    resealed("a.json", raw=[x + 1 for x in json.loads(Path("a.json").read_text())["raw"]])
    assert set(verdict("both.json", "a.json", code=4)["findings"]) == {"both.json", "a.json"}


def test_a_release_that_costs_more_than_its_charge_is_found(ledger):
    dp.MeanPlan(**FACTS | {"epsilon": 50}).release(CURVES).save("second.json")
    first = json.loads(Path("mean.json").read_text())
    resealed("second.json", **{name: first[name] for name in ("study", "entry", "seal")})
    found = verdict("mean.json", "second.json", code=4)["findings"]
    assert found == {"second.json": "it costs epsilon 50, and entry 1 was charged epsilon 0.5 only."}


def test_another_machine_s_eigenvectors_are_no_second_draw(ledger):
    """One comes out with the other sign: values decide, and the draw is what the file holds."""
    plan = dp.MeanPlan(**FACTS | {"epsilon": 1, "method": dp.methods.KNorm(4)})
    release = plan.release(CURVES, ledger)
    release.save("known.json")
    release.shrink("james-stein").save("shrunk.json")
    for name in ("known.json", "shrunk.json"):
        body = json.loads(Path(name).read_text())
        turned = {part: [-x if i == 1 else x for i, x in enumerate(body[part])] for part in ("coefficients", "raw")}
        resealed(name, **turned)
    assert "re-expressed in this basis" in dp.load("known.json").steps
    assert verdict("known.json", "shrunk.json")["findings"] == {}
    dp.load("known.json").save("again.json")  # and saved again there
    assert verdict("known.json", "again.json")["findings"] == {}


def test_one_file_that_cannot_be_read_leaves_the_others_their_verdict(ledger):
    Path("bad.json").write_text(Path("plan.json").read_text())
    resealed("bad.json", plan=json.loads(Path("plan.json").read_text())["plan"] | {"n": -5})
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff\x00")
    found = verdict("mean.json", "bad.json", "picture.png", code=4)
    assert found["entries"] == {"mean.json": 1}
    assert set(found["findings"]) == {"bad.json", "picture.png"}


def test_a_plan_of_a_group_is_a_part_of_what_was_charged(ledger):
    arms = np.where(np.arange(200) % 2, "a", "b")
    both = dp.mean(CURVES, by=arms, groups=["a", "b"], epsilon="1/2", bound=dp.Range(0, 1), grid=12, ledger=ledger)
    both.save("both.json")
    Path("member.json").write_text(both["a"].plan.to_json())
    assert verdict("both.json", "member.json")["plans"] == {"member.json": [2]}


def test_what_an_adoption_wrote_in_has_the_files_that_were_noted_for_it(ledger, tmp_path):
    ledger.backup("old.ledger")
    for name, epsilon in (("one.json", "1/2"), ("two.json", "1/4")):
        dp.MeanPlan(**FACTS | {"epsilon": epsilon}).release(CURVES, ledger).save(name)
    Path("old.ledger").replace("study.ledger")
    restored = dp.Ledger("study.ledger")
    restored.adopt(releases=[dp.load("two.json"), dp.load("one.json")])
    for name in ("one.json", "two.json"):
        restored.record_output(dp.load(name), name)
    found = verdict("one.json", "two.json")
    assert (found["entries"], found["noted"]) == ({"one.json": 3, "two.json": 2}, ["one.json", "two.json"])


def test_a_plan_is_no_finding_where_the_ledger_may_not_know(ledger):
    """A copy may be older than the charge; an adoption wrote in an amount, and no plan."""
    Path("other.json").write_text(dp.MeanPlan(**FACTS | {"bound": dp.Range(0, 2)}).to_json())
    assert verdict("other.json", "mean.json", "--copy")["findings"] == {}
    ledger.backup("old.ledger")
    Path("old.ledger").replace("study.ledger")
    dp.Ledger("study.ledger").adopt(spent="1/4")
    assert verdict("other.json", "mean.json")["findings"] == {}


def test_a_plan_is_held_against_the_charges(ledger):
    assert "plan.json: the plan of entry 1." in verify("plan.json", "mean.json")
    other = dp.MeanPlan(**FACTS | {"bound": dp.Range(0, 2)})
    Path("other.json").write_text(other.to_json())
    assert "other.json: the plan of no charge yet." in verify("other.json")  # before data that is as it should be
    found = verdict("plan.json", "other.json", "mean.json", code=4)
    assert found["plans"] == {"plan.json": [1], "other.json": []}
    assert "nothing was charged for this plan" in found["findings"]["other.json"]
    Path("other.json").write_text(other.to_json().replace("12", "13"))
    assert "does not match its checksum" in verdict("other.json", code=4)["findings"]["other.json"]
