"""Means of functions of curves on the command line: a level, levels, plans, study files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output + done.stderr
    return done


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    rng = np.random.default_rng(0)
    values = 130 + rng.normal(0, 20, (2000, 1)) + rng.normal(0, 5, (2000, 12))
    path = tmp_path_factory.mktemp("glucose") / "days.csv"
    names = ",".join(f"h{i}" for i in range(12))
    np.savetxt(path, values, delimiter=",", header=names, comments="", fmt="%.3f")
    return path


@pytest.mark.parametrize(
    ("words", "function"),
    [
        (["--above", "140"], dp.Above(140)),
        (["--above=-5.5"], dp.Above(-5.5)),
        (["--time-above", "70:180:12"], dp.TimeAbove(dp.Grid.uniform(70, 180, 12, name="level"))),
        (["--time-above", "70,140,180"], dp.TimeAbove([70, 140, 180])),
    ],
)
def test_each_way_to_say_it(words, function, days, tmp_path):
    out = tmp_path / "mean.json"
    told = json.loads(run("mean", days, "--epsilon", "1", "--grid", "0:24:12", *words, "--out", out, "--json").stdout)
    plan = dp.load(out).plan
    assert plan.of == function
    assert plan.problem.record_grid == dp.Grid.uniform(0, 24, 12)
    assert told["bound_in_units"] == {"root_mean_square": 0.5, "center": 0.5, "low": 0.0, "high": 1.0}
    facts = ["--n", "2000", "--epsilon", "1", "--grid", "0:24:12"]
    run("plan", *facts, *words, "--out", tmp_path / "plan.json")
    assert dp.MeanPlan.from_json((tmp_path / "plan.json").read_text()) == plan
    run("mean", days, "--plan", tmp_path / "plan.json", "--statement", tmp_path / "said.txt")
    assert function.description in (tmp_path / "said.txt").read_text()


def test_a_study_file_releases_functions(days, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(
        f"""
version = 1
study = "glucose"
[budget]
epsilon = 2
[source]
data = "{days}"
grid = "0:24:12"
n = 2000
[[release]]
name = "high"
kind = "mean"
above = 140
share = "1/2"
[[release]]
name = "times"
kind = "mean"
time-above = "70:180:4"
share = "1/2"
"""
    )
    shown = run("run", "study.toml", "--dry-run").stdout
    assert "mean share above 140" in shown
    assert "grid of curves" in shown
    run("run", "study.toml", "--begin")
    found = {path.name: dp.load(path) for path in tmp_path.rglob("*.json") if "plan" in path.read_text()[:4000]}
    assert {release.title for release in found.values()} == {
        "mean share above 140",
        "mean share of time above the level",
    }
