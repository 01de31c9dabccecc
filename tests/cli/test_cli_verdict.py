"""What will be mostly noise is refused on the command line, with the cure, before anything is charged."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli.app import app

runner = CliRunner()


def run(line: str, code: int = 0):
    result = runner.invoke(app, shlex.split(line))
    assert result.exit_code == code, (line, result.output, result.exception)
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    for name, count in (("few", 12), ("many", 2000)):
        head = "age," + ",".join(f"h{i}" for i in range(12)) + ",sick"
        rows = np.column_stack([rng.uniform(0, 100, count), rng.uniform(0, 1, (count, 12)), rng.integers(0, 2, count)])
        np.savetxt(f"{name}.csv", rows, delimiter=",", header=head, comments="", fmt="%g")
    run("ledger create study.ledger --epsilon 100 --study noise")
    return tmp_path


COMMANDS = {
    "mean": "--columns h* --radius 1",
    "covariance": "--columns h* --radius 1",
    "density": "--columns age --domain 0:110",
    "regress": "--covariates age --covariate-range 0:110 --columns h* --radius 2",
    "fit": "--target sick --classes 0,1 --inputs age --domain 0:110",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_noise_needs_a_word(name, folder):
    epsilon = "0.05" if name == "density" else "0.5"
    line = f"{name} few.csv --epsilon {epsilon} {COMMANDS[name]} --ledger study.ledger --out found.json"
    said = " ".join(run(line, code=2).output.split())
    assert "Refused: Mostly noise: " in said
    assert "from epsilon" in said
    assert "--anyway" in said
    assert not (folder / "found.json").exists()
    assert dp.Ledger("study.ledger").spent == 0
    said = " ".join(run(f"{line} --anyway").output.split())
    assert "Warning: Mostly noise: " in said
    assert dp.Ledger("study.ledger").spent > 0
    assert (folder / "found.json").exists()
    enough = line.replace("few", "many").replace(f"--epsilon {epsilon}", "--epsilon 20").replace("found", "more")
    assert "ostly noise" not in run(enough).output


def test_nothing_is_read_where_n_is_said(folder):
    """The refusal comes before a file is opened: one that is damaged is not noticed."""
    (folder / "broken.csv").write_text("h0,h1\n1,x\n")
    line = "mean broken.csv --epsilon 0.5 --radius 1 --n 12 --grid 0:1:2 --json --method knorm:components=2"
    assert "Refused" in run(f"{line} --epsilon 0.01", code=2).output
    assert "Error" in run(f"{line} --epsilon 0.01 --anyway", code=1).output


def test_plans_tell_it_first(folder):
    base = "plan --radius 1 --grid 0:1:48 --epsilon 1"
    said = run(f"{base} --n 20").output
    assert "Mostly noise" in said
    assert "from epsilon" in said
    assert "Clear from epsilon" in run(f"{base} --n 150").output
    assert "Clear: the error" in run(f"{base} --n 3000 --explain").output
    data = json.loads(run(f"{base} --n 20 --json").output)
    assert data["verdict"] == "mostly noise"
    assert data["verdict_ratio"] > 0.75
    assert data["verdict_cure"].startswith("Coarse from epsilon")
    assert data["risk_range"][0] < data["expected_risk"] < data["risk_range"][1]
    groups = json.loads(run("plan --radius 1 --grid 0:1:48 --epsilon 1 --groups a=3000,b=20 --json").output)
    assert groups["verdict"] == "mostly noise"
    assert groups["groups"]["a"]["verdict"] == "clear"


def test_comparisons_tell_it_for_each_method_and_budget():
    line = "compare --n 100 --radius 1 --grid 0:1:24 --epsilons '1/8 1 16' --methods 'auto frl'"
    data = json.loads(run(f"{line} --json").output)
    assert data["verdicts"]["Auto"][0] == "mostly noise"
    assert data["verdicts"]["Auto"][2] == "clear"
    table = run(line).output
    assert "noise" in table
    assert "clear" in table


def test_a_plan_file_is_judged_as_well(folder):
    run("plan --radius 1 --grid 0:1:12 --epsilon 1 --n 12 --out plan.json")
    run("mean few.csv --plan plan.json --columns h* --json", code=2)
    run("mean few.csv --plan plan.json --columns h* --json --anyway")


def test_an_audit_asks_for_privacy_alone(folder):
    run("plan --n 20 --epsilon 1 --radius 1 --grid 0:1:6 --method frl:components=1 --out plan.json")
    run("audit plan.json --draws 1000 --releases 8 --effort 100")
