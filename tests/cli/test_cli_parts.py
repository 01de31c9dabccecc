"""The command over many files: layouts, units, groups, summaries of parts, and what it says when something is wrong."""

from __future__ import annotations

import json
import os
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

CURVES = "--columns 'h[0-9]*'"
PLAN = "--epsilon 1 --radius 1 --grid 0:24:12 --unit home --method auto:passes=1"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(0.1, 0.05, (300, 12)), columns=[f"h{i:02d}" for i in range(12)])
    frame = frame.assign(home=np.arange(300) // 10, region=np.where(np.arange(300) < 150, "north", "south"))
    for i in range(3):
        frame[i * 100 : (i + 1) * 100].to_parquet(f"part{i}.parquet")
    frame.sample(frac=1, random_state=1).to_parquet("mixed.parquet")
    return tmp_path


def run(line: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == code, (line, result.output, result.exception)
    return result.output


def test_parts_are_summarised_apart_and_released_together():
    run(f"plan --n 30 {PLAN} --out plan.json")
    run("ledger create study.ledger --epsilon 1 --study load")
    said = run(f"summarize 'part[01].parquet' {CURVES} -o a.summary")
    assert "CONFIDENTIAL" in said
    assert "2 files" in said
    assert os.stat("a.summary").st_mode & 0o777 == 0o600
    assert "2 files" in run(f"summarize part0.parquet part1.parquet {CURVES} -o a.summary")  # nothing to do
    found = json.loads(run(f"summarize part2.parquet {CURVES} --plan plan.json -o b.summary --json"))
    assert found["files"] == ["part2.parquet"]
    run("release plan.json a.summary b.summary --ledger study.ledger --out mean.json --csv mean.csv --plot mean.png")
    assert dp.load("mean.json").plan.unit == dp.Unit("home")
    assert "a.summary: a summary of 2 files" in run("show a.summary")
    assert "has 0 left" in run("release plan.json a.summary b.summary --ledger study.ledger --out x.json", code=3)


def test_summaries_that_do_not_belong_are_refused_before_any_charge(monkeypatch):
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    run(f"plan --n 30 {PLAN} --out plan.json")
    run(f"plan --n 30 {PLAN.replace('--radius 1', '--radius 2')} --out other.json")
    run("ledger create study.ledger --epsilon 1 --study load")
    run(f"summarize 'part*.parquet' {CURVES} -o a.summary")
    run(f"summarize 'part[01].parquet' {CURVES} -o b.summary")
    for line, message in (
        ("release other.json a.summary", "another plan"),
        ("release plan.json a.summary b.summary", "is counted already"),
        ("release plan.json b.summary", "n = 30 homes and the data has 20"),
        ("release plan.json plan.json", "not a dpfda summary"),
        (f"summarize part0.parquet {CURVES} --plan other.json -o a.summary", "another plan"),
        (f"summarize part0.parquet {CURVES} -o plan.json", "not a dpfda summary"),
        (f"summarize mixed.parquet {CURVES} -o c.summary", "homes are not in order"),
        (f"summarize none.parquet {CURVES} -o c.summary", "no file"),
    ):
        if line.startswith("release"):
            line += " --ledger study.ledger --out x.json"
        assert message in " ".join(run(line, code=1).split())
    assert json.loads(run("ledger show study.ledger --json"))["spent"] in ("0", 0, 0.0)


def test_a_plan_that_reads_several_times_is_not_for_summaries():
    run(f"plan --n 3000 {PLAN.replace('auto:passes=1', 'auto:spread=0.1')} --out plan.json")
    assert "--method auto:passes=1" in run(f"summarize part0.parquet {CURVES} -o a.summary", code=1)


def test_groups_and_units_from_many_files():
    run(f"mean 'part*.parquet' {CURVES} --epsilon 1 --radius 1 --unit home --by region --out g.json --csv g.csv")
    run(f"covariance 'part*.parquet' {CURVES} --epsilon 1 --radius 1 --unit home --by region --out c.json")
    assert list(dp.load("c.json")) == ["north", "south"]
    groups = dp.load("g.json")
    assert {name: part.plan.n for name, part in groups.items()} == {"north": 15, "south": 15}
    run(f"plan --groups north=15,south=15 {PLAN} --out plan.json --explain")
    assert "2 groups" in run("show plan.json")
    assert list(json.loads(run("show plan.json --json"))["groups"]) == ["north", "south"]
    run(f"summarize 'part*.parquet' {CURVES} --by region -o g.summary")
    run("release plan.json g.summary --out again.json --statement s.txt")
    assert list(dp.load("again.json")) == ["north", "south"]
    run(f"mean 'part*.parquet' {CURVES} --plan plan.json --by region --out third.json")
    assert "--by" in run(f"summarize part0.parquet {CURVES} -o h.summary", code=1)
    assert "names with their n" in run(f"plan --groups north {PLAN}", code=1)
    wrong = f"mean 'part*.parquet' {CURVES} --epsilon 1 --radius 1 --by region --unit home --groups north --json"
    assert "names no group" in run(wrong, code=1)


def test_layouts_alignment_and_warnings():
    times = pd.date_range("2026-04-04", "2026-04-06 23:30", freq="30min", tz="Australia/Adelaide")
    long = pd.DataFrame({"meter": np.repeat(np.arange(9), len(times)), "stamp": np.tile(times, 9), "kwh": 0.5})
    long.to_parquet("long.parquet")
    layout = "long:id=meter,time=stamp,value=kwh,day=Australia/Adelaide"
    options = "--unit meter --grid 0:24:48:midpoints --epsilon 1 --radius 4"
    run(f"mean long.parquet --layout {layout} {options} --out l.json")
    assert dp.load("l.json").plan.n == 9
    said = run(f"mean 'part*.parquet' {CURVES} --epsilon 1 --radius 1 --out x.json")
    assert "Pass --unit home" in said
    assert "Warning" not in run(f"mean 'part*.parquet' {CURVES} --epsilon 1 --radius 1 --unit home --out x.json")
    for wrong, message in (
        ("--layout tall", "layout is wide, lists or long"),
        ("--align cubic", "align is linear or smooth"),
        ("--most 3", "about units"),
        ("--scheduler tcp://x", "no --engine dask"),
        ("--engine hadoop", "engine is one of"),
    ):
        assert message in run(f"mean part0.parquet {CURVES} --epsilon 1 --radius 1 --json {wrong}", code=1)


def test_the_command_reads_on_dask():
    pytest.importorskip("dask", reason="the dask extra is not installed")
    run(f"mean mixed.parquet {CURVES} --epsilon 1 --radius 1 --unit home --engine dask --out d.json")
    assert dp.load("d.json").plan.n == 30
    run(f"radius mixed.parquet {CURVES} --epsilon 1 --radius 8 --unit home --engine dask")
