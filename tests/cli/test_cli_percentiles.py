"""`dpfda percentiles`: from a file to a profile, by groups, by plans, in parts, in studies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

FACTS = ["--columns", "h*", "--range", "40:400", "--epsilon", "1", "--grid", "0:24:24:midpoints"]
PLAN = ["plan", "--levels", "5,50,95", "--range", "40:400", "--epsilon", "1", "--grid", "0:24:24:midpoints"]


@pytest.fixture(autouse=True)
def days(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    curves = dp.datasets.glucose(600, np.random.default_rng(0)).curves[:, ::2].round(1)
    frame = pd.DataFrame(curves, columns=[f"h{i}" for i in range(24)])
    frame.assign(arm=np.repeat(["a", "b"], 300), who=np.arange(600) // 3).to_csv("days.csv", index=False)


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


def test_curves_and_their_files():
    written = [
        "--out",
        "p.json",
        "--csv",
        "p.csv",
        "--plot",
        "p.png",
        "--statement",
        "s.txt",
        "--methods-text",
        "m.txt",
    ]
    told = ["--levels", "10,50,90", "--value", "glucose (mg/dL)", "--ignore", "arm,who"]
    run("percentiles", "days.csv", *FACTS, *told, *written)
    assert Path("p.csv").read_text().startswith("percentile,t,value,lower,upper\n10.0,0.5,")
    assert "set of percentile curves" in run("show", "p.json")
    data = json.loads(run("show", "p.json", "--json"))
    assert len(data["values"]) == 3 * 24
    assert dp.load("p.json").levels == (0.1, 0.5, 0.9)
    assert dp.load("p.json").plan.value == "glucose (mg/dL)"


def test_groups_units_and_plans():
    run(
        "percentiles",
        "days.csv",
        *FACTS,
        "--by",
        "arm",
        "--groups",
        "a=300,b=300",
        "--out",
        "g.json",
        "--ignore",
        "who",
    )
    run("show", "g.json", "--difference", "a,b", "--out", "gap.json", "--plot", "gap.png")
    assert "p = " in run("show", "gap.json")
    run("percentiles", "days.csv", *FACTS, "--unit", "who", "--n", "200", "--out", "u.json", "--ignore", "arm")
    assert dp.load("u.json").plan.unit == dp.Unit("who")
    assert "typical error" in run(*PLAN, "--n", "600", "--out", "plan.json")
    run(
        "percentiles",
        "days.csv",
        "--columns",
        "h*",
        "--plan",
        "plan.json",
        "--ignore",
        "arm,who",
        "--out",
        "planned.json",
    )
    told = " ".join(run(*PLAN, "--groups", "a=300,b=300", "--out", "pg.json").split())
    assert "typical error" in told
    assert "RankDesign" not in told
    run("percentiles", "days.csv", "--columns", "h*", "--plan", "pg.json", "--by", "arm", "--ignore", "who", "--json")


def test_parts_and_studies():
    run(*PLAN, "--n", "600", "--out", "plan.json")
    run("summarize", "days.csv", "--columns", "h*", "--plan", "plan.json", "--out", "part.summary")
    run("release", "plan.json", "part.summary", "--out", "r.json")
    assert dp.load("r.json").levels == (0.05, 0.5, 0.95)
    Path("study.toml").write_text(
        'version = 1\nstudy = "days"\n[budget]\nepsilon = 2\n[source]\ndata = "days.csv"\ncolumns = "h*"\n'
        '[bound]\nrange = "40:400"\n[[release]]\nname = "profile"\nkind = "percentiles"\nshare = "1/2"\n'
        'levels = "25,50,75"\ngrid = "0:24:24:midpoints"\nn = 600\n'
    )
    assert "profile: percentiles, " in run("run", "study.toml", "--dry-run")
    run("run", "study.toml", "--begin")
    assert len(list(Path("published").rglob("profile.json"))) == 1


def test_levels_are_in_per_cent():
    plan = ["plan", "--range", "40:400", "--grid", "0:24:24", "--n", "600", "--epsilon", "1"]
    assert ".05 would be 0.05 %" in run(*plan, "--levels", ".05,.5,.95", code=1)


def test_a_release_of_other_data_has_no_units():
    pd.DataFrame(np.full((600, 24), 100.0)).add_prefix("h").to_csv("other.csv", index=False)
    Path("study.toml").write_text(
        'version = 1\nstudy = "days"\n[budget]\nepsilon = 2\n[source]\ndata = "days.csv"\ncolumns = "h*"\n'
        'grid = "0:24:24:midpoints"\n[units]\nunit = "who"\nmost = 3\n[bound]\nrange = "40:400"\n'
        '[[release]]\nname = "mean"\nshare = "1/2"\ndata = "other.csv"\nunit = ""\n'
    )
    run("run", "study.toml", "--begin")
    (made,) = Path("published").rglob("mean.json")
    assert dp.load(made).plan.unit is None
