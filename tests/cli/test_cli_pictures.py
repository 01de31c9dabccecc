"""Pictures that the command writes: their formats, and the name of values on their axes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from test_cli import run

import dpfda as dp

START = {".png": b"\x89PNG", ".pdf": b"%PDF-", ".svg": b"<?xml"}
MEAN = "mean curves.csv --epsilon 1 --radius 3 --grid 0:24:12:midpoints --axis 'hour (h)' --method knorm:components=4"
NAME = "load (kW)"


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    columns = [f"h{i}" for i in range(12)]
    frame = pd.DataFrame(rng.uniform(0, 1, (200, 12)), columns=columns)
    frame.to_csv("curves.csv", index=False)
    frame.assign(arm=np.where(np.arange(200) % 2, "a", "b")).to_csv("arms.csv", index=False)
    frame.iloc[:, :3].to_csv("points.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("ending", START)
def test_the_ending_says_the_format(folder, ending):
    run(f"{MEAN} --value '{NAME}' --out mean.json --plot mean{ending} --quiet")
    data = (folder / f"mean{ending}").read_bytes()
    assert data.startswith(START[ending])
    run(f"show mean.json --plot again{ending.upper()} --json")
    assert (folder / f"again{ending.upper()}").read_bytes() == data  # a saved release draws the same picture
    assert b"/Type3" not in data


def test_every_picture_takes_every_ending(folder):
    facts = "covariance curves.csv --epsilon 1 --radius 3 --quiet --anyway"
    run(f"{facts} --value '{NAME}' --plot c.svg --surface s.pdf --components p.svg")
    assert (folder / "s.pdf").read_bytes().startswith(b"%PDF-")
    assert "covariance of load (kW²)" in (folder / "c.svg").read_text(encoding="utf-8")
    assert "component of load" in (folder / "p.svg").read_text(encoding="utf-8")
    run("compare --n 508 --radius 1 --grid 0:1:12 --methods 'knorm qr' --epsilons '1 2' --plot compare.pdf")
    assert (folder / "compare.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize("option", ["--plot", "--surface", "--components"])
def test_another_ending_is_refused_before_a_charge(folder, option):
    ledger = dp.Ledger.create(folder / "study.ledger", epsilon=1, study="pictures")
    line = f"covariance curves.csv --epsilon 1 --radius 3 --ledger study.ledger {option} x.gif"
    assert "'x.gif' must end in .png, .pdf or .svg" in run(line, 1).output
    assert ledger.spent == 0
    assert not (folder / "x.gif").exists()


def test_the_name_of_values_goes_through_plan_files(folder):
    facts = "--n 200 --epsilon 1 --radius 3 --grid 0:24:12 --method knorm:components=4"
    for words in ("", "--covariance"):
        assert NAME in run(f"plan {facts} {words} --value '{NAME}' --out plan.json").output
        named = json.loads((folder / "plan.json").read_text())
        assert named["plan"]["value"] == NAME
        run(f"plan {facts} {words} --out bare.json")
        verb = "covariance" if words else "mean"
        for plan, more, wanted in (
            ("plan", "", NAME),
            ("plan", "--value 'use (W)'", "use (W)"),
            ("bare", "--value 'use (W)'", "use (W)"),
            ("bare", "", None),
        ):
            run(f"{verb} curves.csv --plan {plan}.json {more} --out r.json --quiet --anyway")
            assert dp.load("r.json").plan.value == wanted


def test_plans_of_groups_and_parts_keep_it(folder):
    facts = "--groups a=100,b=100 --epsilon 1 --radius 3 --grid 0:24:12 --method knorm:components=4"
    run(f"plan {facts} --value '{NAME}' --out plan.json")
    run("mean arms.csv --columns 'h*' --by arm --plan plan.json --out r.json --plot r.svg --quiet --anyway")
    assert dp.load("r.json").plan.value == NAME
    assert NAME in (folder / "r.svg").read_text(encoding="utf-8")
    run("mean arms.csv --columns 'h*' --by arm --plan plan.json --value 'use (W)' --out r.json --quiet --anyway")
    assert dp.load("r.json")["a"].plan.value == "use (W)"
    run("plan --n 200 --epsilon 1 --radius 3 --grid 0:24:12 --method knorm:components=4 --value 'use (W)' --out p.json")
    run("summarize curves.csv --plan p.json -o part.summary")
    run("release p.json part.summary --out r.json")
    assert dp.load("r.json").plan.value == "use (W)"


def test_models_take_it(folder):
    words = f"--epsilon 1 --value '{NAME}' --out m.json --quiet --anyway"
    run(f"regress curves.csv --covariates h0 --covariate-range 0:1 --radius 3 --passes 1 {words}")
    assert dp.load("m.json").plan.value == NAME
    run(f"fit points.csv --target h0 --inputs h1 --domain 0:1 --bound 0:1 --loss squared {words}")
    assert dp.load("m.json").plan.value == NAME
    told = run(f"fit points.csv --target h0 --inputs h1 --domain 0:1 --loss logistic {words}", 1).output
    assert "classes have no unit" in told


def test_a_wrong_name_is_told_as_an_option_and_costs_nothing(folder):
    ledger = dp.Ledger.create(folder / "study.ledger", epsilon=1, study="pictures")
    many = "x" * 101
    for line in (
        f"{MEAN} --ledger study.ledger --value {many} --json",
        f"covariance no.csv --epsilon 1 --radius 3 --ledger study.ledger --value {many} --json",
        f"regress no.csv --covariates h0 --covariate-range 0:1 --epsilon 1 --radius 3 --value {many} --json",
        f"fit no.csv --target h0 --domain 0:1 --bound 0:1 --loss squared --epsilon 1 --value {many} --json",
    ):
        assert "Pass --value" in run(line, 1).output.replace("\n", " ")
    assert ledger.spent == 0
    told = run("plan --n 200 --epsilon 1 --domain 0:1 --value 'load (kW)'", 1).output
    assert "this is a density" in told


def test_what_a_record_is_called_goes_through_every_command(folder):
    facts = "--n 200 --epsilon 1 --radius 3 --grid 0:24:12 --method knorm:components=4"
    assert "200 homes" in run(f"plan {facts} --record home --explain --out plan.json").output
    run(f"plan {facts} --out bare.json")
    for plan, more, wanted in (("plan", "", "home"), ("bare", "--record person/people", "person/people")):
        run(f"mean curves.csv --plan {plan}.json {more} --out r.json --quiet --anyway")
        assert dp.load("r.json").plan.record == wanted
    words = "--epsilon 1 --record home --out r.json --quiet --anyway"
    for line in (
        f"{MEAN.replace(' --epsilon 1', '')} {words}",
        f"covariance curves.csv --radius 3 {words}",
        f"percentiles curves.csv --range 0:1 {words}",
        f"density points.csv --columns h0 --domain 0:1 {words}",
        f"radius curves.csv --range 0:1 {words.replace('--anyway', '')}",
        f"regress curves.csv --covariates h0 --covariate-range 0:1 --radius 3 --passes 1 {words}",
        f"fit arms.csv --target arm --inputs h0 --domain 0:1 --classes a,b {words}",
    ):
        run(line)
        assert dp.load("r.json").plan.record == "home", line
    assert "record names what one record is" in run(f"{MEAN} --record a/b/c --json", 1).output
