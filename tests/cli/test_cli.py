"""The command: every example in a help text runs, every error is one line and an exit code."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

runner = CliRunner()
PLAN = "--n 200 --epsilon 1 --radius 1 --grid 0:1:12"


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    np.savetxt(
        "curves.csv",
        rng.uniform(0, 1, (200, 12)),
        delimiter=",",
        header=",".join(f"h{i}" for i in range(12)),
        comments="",
    )
    return tmp_path


def run(line: str, code: int = 0):
    result = runner.invoke(app, shlex.split(line))
    assert result.exit_code == code, (line, result.output, result.exception)
    return result


def commands() -> dict[str, object]:
    """All commands, loaded."""
    return {name: command.loaded for name, command in deferred().items()}


def deferred() -> dict[str, object]:
    found = {}
    for name, command in get_command(app).commands.items():
        for sub, inner in getattr(command, "commands", {"": command}).items():
            if not inner.hidden:
                found[f"{name} {sub}".strip()] = inner
    return found


def test_reproduce_says_where_it_went():
    said = run("reproduce timing --quick", code=2).output
    assert "python -m dpfda_experiments" in said


@pytest.mark.parametrize("name", commands())
def test_the_example_in_each_help_text_runs(name, folder):
    help_text = run(f"{name} --help").output
    assert "Example: dpfda" in help_text
    example = re.search(r"Example: dpfda (.*?)(?=\n\n)", help_text, re.DOTALL)
    line = " ".join(example.group(1).split())
    if name == "studio":  # it runs until it is stopped: tests/studio/test_starting.py
        assert line == "studio study --no-browser"
        return
    if name == "survival":
        rows = np.column_stack(dp.datasets.survival(200, np.random.default_rng(0))[:2])
        np.savetxt("patients.csv", rows, "%d", ",", header="days,died", comments="")
    if name == "density":
        ages = np.random.default_rng(0).gamma(9.0, 8.0, 300).clip(0, 110)
        (folder / "ages.csv").write_text("age\n" + "\n".join(f"{a:.1f}" for a in ages) + "\n")
    if name in ("regress", "fit", "predict"):
        rng = np.random.default_rng(0)
        people = np.column_stack([rng.uniform(0, 100, 2000), rng.uniform(0, 5, 2000), rng.integers(0, 2, 2000)])
        curves = rng.uniform(0, 1, (2000, 6))
        visits, names = np.hstack([people[:, :2], curves]), "age,dose,a,b,c,d,e,f"
        np.savetxt("visits.csv", visits, delimiter=",", header=names, comments="")
        np.savetxt("people.csv", people, delimiter=",", header="age,weight,sick", comments="")
    if name == "predict":
        run("fit people.csv --target sick --inputs age,weight --domain 0:110 --epsilon 1 --out model.json")
    if name == "audit":
        run("plan --n 60 --epsilon 1 --radius 1 --grid 0:1:6 --method frl:components=1 --out plan.json")
        line = line.replace("--quick", "--draws 1000 --releases 8 --effort 100")
    if name in ("summarize", "release"):
        curves = np.random.default_rng(0).uniform(0, 1, (200, 12))
        for i in range(2):
            pd.DataFrame(curves[i::2], columns=[f"h{i}" for i in range(12)]).to_parquet(f"part{i}.parquet")
        run(f"plan {PLAN} --method auto:passes=1 --out plan.json")
        run("ledger create study.ledger --epsilon 2 --study test")
        line = line.replace("part*.parquet", "'part*.parquet'").replace("*.summary", "a.summary b.summary")
    if name == "release":
        run("summarize part0.parquet -o a.summary")
        run("summarize part1.parquet -o b.summary")
    if name == "show":
        run("mean curves.csv --epsilon 1 --radius 1 --out mean.json")
    if name == "run":
        shared = (
            'version = 1\nstudy = "s"\n[budget]\nepsilon = 1\n[source]\ndata = "curves.csv"\n[bound]\nrange = "0:1"\n'
        )
        Path("study.toml").write_text(shared + '[[release]]\nname = "mean"\nshare = 1\n')
    if name.startswith("ledger") and name != "ledger create":
        run("ledger create study.ledger --epsilon 2 --study test")
    if name == "report":
        run("ledger create study.ledger --epsilon 2 --study test")
    if name in ("ledger verify", "ledger adopt", "report"):
        run("mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --out mean.json")
    run(line)


def test_a_whole_study(folder):
    run(f"plan {PLAN} --out plan.json")
    run("ledger create study.ledger --epsilon 1.5 --study load")
    run(
        "mean curves.csv --plan plan.json --ledger study.ledger --study load --out mean.json --csv mean.csv "
        "--plot mean.png --statement statement.txt"
    )
    assert (folder / "mean.png").read_bytes()[:4] == b"\x89PNG"
    assert "study 'load' as entry 1" in (folder / "statement.txt").read_text()
    release = dp.load("mean.json")
    assert np.loadtxt("mean.csv", delimiter=",", skiprows=1)[:, 1] == pytest.approx(release.values)
    shown = run("show mean.json").output
    assert "differentially private" in shown
    assert "200" in run("show plan.json").output
    data = json.loads(run("ledger show study.ledger --json").output)
    assert (data["spent"], data["remaining"]) == (1.0, 0.5)
    run("mean curves.csv --plan plan.json --ledger study.ledger --out again.json", code=3)
    assert not (folder / "again.json").exists()
    history = json.loads(run("ledger history study.ledger --json").output)
    assert [row["query"] for row in history] == ["mean"]


NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?(/\d+)?")


def texts(data: object, key: str = ""):
    """Every text in plain data, with the name that it stands under."""
    parts = data.items() if isinstance(data, dict) else [(key, part) for part in data] if isinstance(data, list) else ()
    for name, part in parts:
        yield from texts(part, name)
    if isinstance(data, str):
        yield key, data


def test_numbers_are_numbers_in_every_json(folder):
    run(f"plan {PLAN} --method frl:components=1 --out plan.json")
    run("ledger create study.ledger --epsilon 9/2 --study load --period year")
    bound = "--range 0:1 --ledger study.ledger"
    lines = [
        f"plan {PLAN} --target 1e-9", f"mean curves.csv --epsilon 1/3 {bound} --out m.json", "show m.json",
        "show plan.json",
        f"covariance curves.csv --epsilon 1/3 {bound} --out c.json", "ledger show study.ledger",
        "ledger history study.ledger", "ledger verify study.ledger m.json", "show study.ledger", "check curves.csv",
        "compare --n 508 --radius 1 --grid 0:1:12 --methods frl --epsilons '1/2 1'",
        "radius curves.csv --n 20000 --epsilon 1/3 --range 0:1 --grid 0:1:12 --dry-run",
        "audit plan.json --draws 1000 --releases 8 --effort 100",
    ]  # fmt: skip
    found = 0
    for line in lines:
        data = json.loads(run(f"{line} --json").stdout)
        said = [(key, text) for key, text in texts(data) if NUMBER.fullmatch(text)]
        exact = {
            "exact",
            "epsilon_exact",
            "spent_exact",
            "budget",
            "spent",
            "remaining",
        }  # beside the numbers, within "exact"
        assert [key for key, _ in said if key not in exact and key not in ("period", "current_period")] == [], line
        found += len(list(texts(data)))
    assert found > 100


def test_json_output_is_json(folder):
    figures = json.loads(run(f"plan {PLAN} --json --target 1e-9").output)
    plan = dp.MeanPlan(n=200, epsilon=1, bound=dp.L2Ball(1.0), grid=12)
    assert figures["expected_risk"] == pytest.approx(plan.expected_risk)
    assert figures["plan"] == plan.digest
    assert figures["n_for_target"] == plan.solve(1e-9, vary="n")
    table = json.loads(
        run("compare --n 200 --radius 1 --grid 0:1:12 --epsilons '1 2' --methods 'qr knorm' --json").output
    )
    assert set(table["methods"]) == {"QR", "KNorm"}
    released = json.loads(run("mean curves.csv --epsilon 1 --radius 1 --json").stdout)
    assert len(released["values"]) == 12


def test_spellings(folder):
    run(
        "mean curves.csv --epsilon 1/2 --radius 3 --norm l1 --kernel cosine-matern:1.5:0.1 --grid 0:1:12:midpoints "
        "--method qr:psi=0.01,noise=kernel --neighbors add-remove --n 200 --invalid center --standardize --fill 2 "
        "--columns h* --header --shrink bayes --quiet --out a.json --axis 'hour (h)' --center 0.2"
    )
    run("mean curves.csv --epsilon 1 --radius 1 --kernel gaussian:1 --columns h1,h2 --method frl --out b.json")
    run("mean curves.csv --epsilon 1 --radius 1 --kernel exponential:0.2 --grid 0:1:12:equal --quiet --out c.json")
    assert run("--version").output.startswith("dpfda ")
    assert (
        "released mean"
        in runner.invoke(
            app, ["--verbose", "mean", "curves.csv", "--epsilon", "1", "--radius", "1", "--out", "d.json"]
        ).stderr
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plan --n 9 --radius 1 --grid 0:1:12", "epsilon must be given, got none"),
        (
            "plan --n 9 --epsilon 0 --radius 1 --grid 0:1:12",
            "epsilon must be a number between 1e-9 and 10,000, got '0'",
        ),
        ("plan --n 9 --epsilon 1 --grid 0:1:12", "Pass --range LOW:HIGH"),
        ("plan --n 9 --epsilon 1 --radius -1 --grid 0:1:12", "radius must"),
        ("plan --n 9 --epsilon 1 --radius 1", "Pass --grid"),
        ("plan --epsilon 1 --radius 1 --grid 0:1:12", "Pass --n"),
        ("plan --n 9 --epsilon 1 --radius 1 --grid 0:1", "start:stop:size"),
        ("plan --n 9 --epsilon 1 --radius 1 --grid 0:1:9:cubic", "trapezoid, equal or midpoints"),
        (f"plan {PLAN} --kernel spline:3", "kernel must be one of"),
        (f"plan {PLAN} --kernel matern:a", "name and its numbers"),
        (f"plan {PLAN} --method lasso", "method must be one of"),
        (f"plan {PLAN} --method qr:zeta=1", "qr takes"),
        (f"plan {PLAN} --method qr:psi=x", "psi must be a number"),
        (f"plan {PLAN} --norm l3", "norm must be one of"),
        (f"plan {PLAN} --out no/plan.json", "does not exist"),
        ("mean none.csv --epsilon 1 --radius 1 --json", "no file 'none.csv'"),
        ("mean curves.csv --epsilon 1 --radius 1 --out no/mean.json", "does not exist"),
        ("mean curves.csv --epsilon 1 --radius 1 --plot mean.gif", "must end in .png"),
        ("mean curves.csv --epsilon 1 --radius 1 --json --shrink lasso", "shrinkage must be"),
        ("mean curves.csv --plan none.json --json", "cannot be read"),
        ("show none.json", "cannot be read"),
        ("show curves.csv", "seems to be a table of text"),
        ("compare --n 9 --radius 1 --grid 0:1:9 --measure x", "measure must be"),
        ("compare --n 9 --radius 1 --grid 0:1:9 --epsilons ''", "methods and budgets"),
    ],
)
def test_errors_are_one_clear_line(line, message, folder):
    result = run(line, code=1)
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unwritable_output_is_found_before_the_charge(folder):
    run("ledger create study.ledger --epsilon 1 --study s")
    run("mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --plot no/mean.png", code=1)
    assert dp.Ledger("study.ledger").spent == 0
    run("mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --study other --json", code=3)
    run("mean curves.csv --epsilon 1 --radius 1 --ledger none.ledger --json", code=3)
    run("ledger create study.ledger --epsilon 1 --study s", code=3)
    run("mean", code=2)


def test_demo_leaves_its_files(folder):
    output = run("demo --out demo --curves 300").output
    assert "$ dpfda mean" in output
    names = {path.name for path in (folder / "demo").iterdir()}
    assert "$ dpfda density" in output
    means = {"curves.csv", "mean.json", "mean.csv", "mean.png", "statement.txt", "study.ledger"}
    kinds = ("density", "covariance", "regression")
    made = {f"{kind}{end}" for kind in kinds for end in (".json", ".csv", ".png", "-statement.txt")}
    assert names == means | made | {"people.csv", "homes.csv", "components.png", "report.html"}
    run("demo --out demo --curves 300")  # again, on the same ledger
    assert len(dp.Ledger("demo/study.ledger").history()) == 8


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger", "needs a place to go"),
        ("mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --out study.ledger", "used twice"),
        ("mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --csv curves.csv", "used twice"),
        ("mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --out x.png --plot x.png", "used twice"),
        (
            "mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --out /proc/mean.json",
            "cannot be written here",
        ),
        (
            f"mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --out {'m' * 300}.json",
            "cannot be written here",
        ),
        ("mean curves.csv --plan plan.json --epsilon 0.1 --ledger study.ledger --json", "settles everything"),
        ("mean curves.csv --plan plan.json --standardize --ledger study.ledger --json", "settles everything"),
        ("mean curves.csv --epsilon 1 --radius 1 --study s --json", "Pass --ledger too"),
        ("show plan.json --plot p.png", "no curve and no methods"),
        ("compare --n 9 --radius 1 --grid 0:1:9 --plot c.xyz", "end in .png"),
        ("show mean.json --plot p.bmpx", "end in .png"),
        ("plan --n 9 --epsilon 1 --radius 1 --grid 0:1:100000", "at most"),
        ("plan --n 9 --epsilon 1e9999999 --radius 1 --grid 0:1:9", "epsilon must be"),
        ("demo --curves -1", "at least ten"),
        ("plan --n 9 --epsilon 1 --radius 1 --grid a:b:c", "got 'a:b:c'"),
        ("show .", "cannot be read"),
    ],
)
def test_doors_that_must_stay_shut(line, message, folder):
    run("ledger create study.ledger --epsilon 5 --study s")
    run(f"plan {PLAN} --out plan.json")
    run("mean curves.csv --epsilon 1 --radius 1 --out mean.json --quiet")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(line, code=1)
    assert message in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert dp.Ledger("study.ledger").spent == 0


def test_unforeseen_errors_show_their_kind_and_no_content(folder, monkeypatch):
    def broken(*args, **options):
        raise ValueError("SECRET")

    monkeypatch.setattr("dpfda.api.mean", broken)
    result = run("mean curves.csv --epsilon 1 --radius 1 --json", code=1)
    assert "unforeseen ValueError" in result.stderr
    assert "SECRET" not in result.stderr


def test_databases_pipes_and_journals_are_never_replaced(folder):
    run("ledger create study.ledger --epsilon 5 --study s")
    run("ledger create other.ledger --epsilon 5 --study s")
    for line in (
        f"plan {PLAN} --out other.ledger",
        "mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --out other.ledger",
        "mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --out study.ledger-journal",
    ):
        run(line, code=1)
    os.mkfifo("pipe")
    run(f"plan {PLAN} --out pipe", code=1)
    assert dp.Ledger("other.ledger").spent == dp.Ledger("study.ledger").spent == 0


def test_the_demo_leaves_other_peoples_files_alone(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "curves.csv").write_text("precious")
    run("demo --out mine", code=1)
    assert (folder / "mine" / "curves.csv").read_text() == "precious"
    (folder / "real").mkdir()
    run("ledger create real/study.ledger --epsilon 5 --study REAL")
    run("demo --out real", code=3)
    assert dp.Ledger("real/study.ledger").spent == 0


def test_a_disk_without_room_is_found_before_the_charge(folder):
    """A file-size limit in a child process stands for a full disk."""
    run("ledger create study.ledger --epsilon 5 --study s")
    line = "mean curves.csv --epsilon 1 --radius 1 --ledger study.ledger --plot p.png"
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); import signal; "
    limit += "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); from dpfda.cli import app; app(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", limit, *line.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot be written here" in done.stderr
    assert dp.Ledger("study.ledger").spent == 0
    assert not list(folder.glob(".dpfda-*"))
