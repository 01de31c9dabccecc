"""`dpfda survival`: from a file to a curve, by groups, by plans, in parts, in studies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

COLUMNS = ["--time", "days", "--event", "died"]
FACTS = [*COLUMNS, "--horizon", "900", "--epsilon", "1"]


@pytest.fixture(autouse=True)
def patients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days, died, arms = dp.datasets.survival(800, np.random.default_rng(0))
    frame = pd.DataFrame({"died": died.astype(int), "arm": arms, "who": np.arange(800) // 2, "days": days})
    frame.to_csv("patients.csv", index=False)
    frame.to_parquet("patients.parquet")


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


def test_a_curve_and_its_files():
    run("survival", "patients.csv", *FACTS, "--axis", "time (days)", "--out", "s.json", "--csv", "s.csv", "--plot",
        "s.png", "--statement", "s.txt", "--methods-text", "m.txt", "--ignore", "arm,who")  # fmt: skip
    assert Path("s.csv").read_text().startswith("time,value,lower,upper,at_risk\n")
    shown = run("show", "s.json")
    assert "Median: " in shown
    assert "Mean up to the horizon: " in shown
    data = json.loads(run("show", "s.json", "--json"))
    assert len(data["median"]) == len(data["rmst"]) == 3
    assert dp.load("s.json").plan.axis == "time (days)"


def test_events_in_words():
    frame = pd.read_csv("patients.csv")
    frame.assign(died=np.where(frame.died, "yes", "no")).to_csv("words.csv", index=False)
    said = run("survival", "words.csv", *FACTS, "--out", "s.json", "--ignore", "arm,who", code=1)
    assert "write 1 for yes" in " ".join(said.split())
    assert "--columns" not in said


def test_groups_units_and_plans():
    groups = ["--by", "arm", "--groups", "old=400,new=400"]
    run("survival", "patients.parquet", *FACTS, *groups, "--out", "g.json", "--plot", "g.pdf")
    run("show", "g.json", "--difference", "new,old", "--out", "gap.json")
    assert "p = " in run("show", "gap.json")
    assert "Difference of means up to the horizon, new minus old: " in run("show", "gap.json")
    assert len(json.loads(run("show", "gap.json", "--json"))["rmst"]) == 3
    assert "old: Median: " in run("show", "g.json", "--plot", "again.png", "--kind", "steps", "--of", "incidence")
    assert "draw survival curves" in run("show", "gap.json", "--plot", "x.png", "--kind", "steps", code=1)
    assert "--of is for a picture" in run("show", "g.json", "--of", "hazard", code=1)
    run("survival", "patients.csv", *FACTS, "--unit", "who", "--n", "400", "--out", "u.json", "--ignore", "arm")
    assert dp.load("u.json").plan.n == 400
    run("plan", "--horizon", "900", "--n", "800", "--epsilon", "1", "--out", "p.json")
    run("survival", "patients.csv", *COLUMNS, "--plan", "p.json", "--ignore", "arm,who", "--out", "planned.json")
    run("plan", "--horizon", "900", "--groups", "old=400,new=400", "--epsilon", "1", "--out", "pg.json")
    run("survival", "patients.csv", *COLUMNS, "--plan", "pg.json", "--by", "arm", "--out", "pg.out.json")
    assert sorted(dp.load("pg.out.json")) == ["new", "old"]


def test_parts_and_studies():
    run("plan", "--horizon", "900", "--n", "800", "--epsilon", "1", "--out", "plan.json")
    run("summarize", "patients.csv", "--columns", "days,died", "--plan", "plan.json", "--out", "part.summary")
    run("release", "plan.json", "part.summary", "--out", "r.json")
    assert dp.load("r.json").plan.n == 800
    Path("study.toml").write_text(
        'version = 1\nstudy = "trial"\n[budget]\nepsilon = 2\n[source]\ndata = "patients.csv"\n[[release]]\n'
        'name = "overall"\nkind = "survival"\nshare = "1/2"\ntime = "days"\nevent = "died"\nhorizon = 900\nn = 800\n'
    )
    assert "survival" in run("run", "study.toml", "--dry-run")
    run("run", "study.toml", "--begin")
    assert len(list(Path("published").rglob("overall.json"))) == 1
