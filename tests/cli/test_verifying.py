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
