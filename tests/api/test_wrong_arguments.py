"""Wrong arguments in Python as a table: each ends in an error of ours that says what to pass instead.

A row is the call, the kind of error and a pattern of its message. Whatever the row, nothing of the records is in the
message and nothing is charged. After the table, every keyword is given things of every wrong kind.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from wrong_files import NAMES, NUMBER, PERSON, PRIVATE, make, state

import dpfda as dp
from dpfda import errors

X = np.full((30, 6), 0.5)
X[3, 2] = float(NUMBER)
GOOD = {"epsilon": 1, "bound": dp.L2Ball(1.0), "n": 30, "method": dp.methods.KNorm(components=2)}
PLAN = {**GOOD, "grid": 6}
FRAME = pd.DataFrame(X, columns=NAMES).assign(ward=["north"] * 15 + ["south"] * 15, who=[PERSON] * 30)
MODEL = {"epsilon": 1, "domain": [(0, 1)], "bound": (0, 1)}
TIMES = np.linspace(0, 1, 6)
P, R, F, L = errors.ParameterError, errors.RecordError, errors.FileError, errors.LedgerError


def gappy(**options: object) -> object:
    curves = X.copy()
    curves[4, 1:5] = np.nan
    return dp.mean(dp.read(curves, **options), **GOOD)


ROWS: list[tuple[Callable[[], object], type[Exception], str]] = [
    # -- what is protected
    (lambda: dp.mean(X, bound=dp.L2Ball(1.0)), P, r"epsilon must be given.*epsilon=0\.5"),
    (lambda: dp.mean(X, epsilon="one", bound=dp.L2Ball(1.0)), P, r"epsilon must be a positive number, such as 0\.5"),
    (lambda: dp.mean(X, epsilon="0,5", bound=dp.L2Ball(1.0)), P, r"decimals with a point: epsilon=0\.5"),
    (lambda: dp.mean(X, epsilon=1), P, "bound must be a public bound"),
    (lambda: dp.mean(X, **{**GOOD, "n": 1000.0}), P, r"n must be a whole number.*Pass n=1000, without quotes"),
    (lambda: dp.mean(X, **{**GOOD, "n": "1000"}), P, r"n must be a whole number.*Pass n=1000, without quotes"),
    (lambda: dp.mean(X, **{**GOOD, "n": 1}), P, "privacy needs company"),
    (lambda: dp.mean(X, **GOOD, neighbors=np.ones(3)), P, "neighbors must be one of"),
    (lambda: dp.mean(X, **GOOD, invalid=np.ones(3)), P, "invalid must be one of"),
    # -- typing errors
    (lambda: dp.mean(X, epsilom=1), TypeError, "unexpected keyword argument 'epsilom'. Did you mean 'epsilon'"),
    (lambda: dp.density(X, zzz=1), TypeError, "unexpected keyword argument 'zzz'. It takes points"),
    (lambda: dp.mean(X, **GOOD, columns="h*"), TypeError, r"pass dp\.read\(data, columns=\.\.\.\) as the data"),
    # -- ledgers and names
    (lambda: dp.mean(X, **GOOD, ledger=3), P, r"ledger is the path of a file, got 3. Pass ledger='study\.ledger'"),
    (lambda: dp.mean(X, **GOOD, query=3), P, "names of queries are printable texts.*Pass a text"),
    (lambda: dp.mean(X, **GOOD, query=X), P, "names of queries are printable texts"),
    (lambda: dp.Ledger(3), P, "a ledger is the path of a file"),
    (lambda: dp.Ledger(None), P, "a ledger is the path of a file"),
    (lambda: dp.Ledger("study.ledger", study=3), P, "study is the name"),
    (lambda: dp.Ledger("studdy.ledger"), L, "no ledger 'studdy.ledger'. In its folder there is 'study.ledger'"),
    (lambda: dp.Ledger("nothing/a.ledger"), L, "Nothing in its folder ends in .ledger"),
    (lambda: dp.Ledger("study.ledger").verify(["mean.json"]), P, r"releases=\[dp\.load"),
    (lambda: dp.Ledger("study.ledger").adopt(releases=3), P, r"releases=\[dp\.load"),
    (lambda: dp.Ledger("study.ledger").adopt(spent="lots"), P, "spent must be a positive number"),
    (lambda: dp.Ledger("study.ledger").backup(3), P, "a backup is the path of a file"),
    # -- whose, which, where
    (lambda: dp.mean(X, **GOOD, unit=3), P, "labels are one per record, got 3"),
    (lambda: dp.mean(X, **GOOD, by=3), P, "labels are one per record, got 3"),
    (lambda: dp.mean(X, **GOOD, by="ward"), P, r"named where data has names.*by='ward' with ndarray.*by=\[\.\.\.\]"),
    (lambda: dp.mean(X, **GOOD, unit="who"), P, r"named where data has names, got unit='who' with ndarray"),
    (lambda: dp.mean(dp.read(X, columns="h*"), **GOOD), P, r"named where data has names.*data\[:, 2:8\]"),
    (lambda: dp.mean(dp.read(X, layout="long"), **PLAN), P, "named where data has names.*Pass a DataFrame or a file"),
    (lambda: dp.mean(dp.read(FRAME, columns="h*"), **GOOD, unit="Who"), P, "8 columns. One of them is spelt almost so"),
    (lambda: dp.mean(dp.read(FRAME, columns="h*"), **GOOD, unit="person"), P, "8 columns. Check the spelling"),
    (lambda: dp.mean(dp.read(FRAME, columns="h*"), **GOOD, by="ward", groups="north"), P, "groups must be a list"),
    (
        lambda: dp.mean(dp.read("record-first.csv", columns=["a"]), **PLAN, unit="Zebulin-Private"),
        P,
        "7 columns. One of them is spelt almost",
    ),
    (lambda: dp.mean(X, **GOOD, grid=TIMES), P, r"Pass grid=dp\.Grid\(times\)"),
    (lambda: dp.mean(X, **GOOD, grid=list(TIMES)), P, r"Pass grid=dp\.Grid\(times\)"),
    (lambda: dp.mean(X, **GOOD, grid="0:1:6"), P, r"grid=dp\.Grid\.uniform\(0, 1, 48\), or grid=48"),
    (lambda: dp.Grid(TIMES, span=3), P, r"the span is a pair of numbers.*span=\(0, 24\)"),
    (lambda: dp.Grid(TIMES, weights={}), P, "weights must be positive"),
    # -- data
    (lambda: dp.mean({"a": X[0]}, **PLAN), R, r"not as a dict. Pass pandas\.DataFrame\(data\).*np\.array"),
    (lambda: dp.mean(None, **PLAN), R, "not as NoneType. Pass np.array"),
    (lambda: dp.mean(X[0], **PLAN), R, "two dimensions"),
    (lambda: dp.mean(dp.read("text.parquet"), **{**GOOD, "grid": 7}), R, "Cells do not hold numbers in column 'name'"),
    (lambda: dp.mean(dp.read(FRAME, columns=["h0", "ward"]), **{**GOOD, "grid": 2}), R, "numbers? in .*column 'ward'"),
    (lambda: dp.read(X, progress=True), P, "progress is a function.*progress=print"),
    (lambda: dp.read(X, layout=3), P, r"layout=dp\.Long\(id='id', time='time', value='value'\)"),
    (lambda: dp.Long("a", "a", "b"), P, "three different columns"),
    (lambda: dp.Lists(3), P, r"layout=dp\.Lists\(values='curve'\)"),
    (
        lambda: dp.mean(dp.read("long-names.csv", layout="long"), **PLAN),
        P,
        r"got 'id', which is none. .*layout=dp\.Long\(id='meter', time='hour', value='kwh'\)",
    ),
    (lambda: gappy(), R, "in row 5 of the data .counted from 1.. Repair it, pass fill="),
    (lambda: gappy(fill=3), R, "a gap is longer than the 3 points that are filled.*pass a larger fill"),
    (lambda: gappy(align="linear"), R, r"no observation in a stretch of more than 0\.25.*Interpolate\(gap=0\.5\)"),
    (
        lambda: gappy(align=dp.spaces.Smooth(gap=1, least=3)),
        R,
        r"fewer than 3 observations at different times.*Smooth\(least=2\)",
    ),
    # -- files of ours
    (lambda: dp.load(3), P, "a release is the path of a file"),
    (lambda: dp.load("plan.json"), F, "'plan.json' is not a dpfda release: it is a plan"),
    (lambda: dp.load("part.summary"), F, "'part.summary' is not a dpfda release: it is a summary"),
    (lambda: dp.load("study.ledger"), F, "'study.ledger' is not a release: it is a database, such as a ledger"),
    (lambda: dp.load("curves.csv"), F, "'curves.csv' is not a dpfda release: it is not JSON"),
    (lambda: dp.load("notes.json"), F, "'notes.json' is not a dpfda release: it is JSON of something else"),
    (lambda: dp.load("newer.json"), F, "format version 91, and this program reads 1. Update dpfda"),
    (lambda: dp.MeanPlan.from_json(3), P, "a plan is read from text"),
    (lambda: dp.MeanPlan.from_json(Path("mean.json").read_text()), F, "This text is not a dpfda plan: it is a release"),
    (
        lambda: dp.MeanPlan.from_json(Path("density-plan.json").read_text()),
        F,
        "holds a DensityPlan, and a MeanPlan is needed",
    ),
    # -- plans and models
    (lambda: dp.compare(3), P, "a plan of a mean, a covariance or a density is compared"),
    (lambda: dp.compare(dp.MeanPlan(**PLAN), [3]), P, "methods are a list of dpfda methods"),
    (lambda: dp.compare(dp.MeanPlan(**PLAN), epsilons=1), P, "epsilons are a list of budgets"),
    (lambda: dp.density(X[:, 0], epsilon=1, domain=X[:2, :3]), P, "domain must hold one to three .* got ndarray"),
    (lambda: dp.density(X[:, 0], epsilon=1, domain=[(0, 1)], axes=3), P, "axes must be one name, got 0 of them"),
    (lambda: dp.density(X[:, 0], epsilon=1, domain=[(0, 1)], edges={}), P, "edges must be numbers"),
    (lambda: dp.L2Ball(X.min() - X.max()), P, "got float64"),
    (lambda: dp.KernelRegressor(**MODEL, invalid=X).fit(X, X[:, 0]), P, "invalid must be one of"),
    (lambda: dp.KernelRegressor(**MODEL, ledger=3).fit(X[:, :1], X[:, 0]), P, "ledger is the path of a file"),
    (lambda: dp.KernelRegressor(**MODEL).fit(X, X[:, 0]), P, r"each of 6 inputs.*domain=\(low, high\) for all"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wrong")
    with pytest.warns(dp.errors.NoiseWarning):  # thirty records
        make(made)
    return made


@pytest.mark.parametrize(("call", "kind", "pattern"), ROWS, ids=[pattern for _, _, pattern in ROWS])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_wrong_call_is_told_what_is_wrong(call, kind, pattern, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = state(folder)
    with pytest.raises(Exception, match=pattern) as caught:
        call()
    assert type(caught.value) is kind
    assert [word for word in PRIVATE if word in str(caught.value)] == []
    assert state(folder) == before
    assert dp.Ledger("study.ledger").spent == Fraction(0)


#: Things of wrong kinds; some of them hold data.
KINDS = {
    "number": 3, "text": "Zzz", "array": np.full(3, float(NUMBER)), "dict": {"a": float(NUMBER)}, "object": object(),
    "pair": (1, [float(NUMBER)]), "bytes": b"x", "true": True,
}  # fmt: skip


def keywords() -> Iterator[tuple[str, Callable[..., object], dict[str, object]]]:
    """Everything that takes keywords, with what it takes well."""
    points = {"epsilon": 1, "domain": [(0, 1)], "n": 30, "method": dp.methods.KNorm(components=2)}
    model = {"n": 30, "epsilon": 1, "domain": [(0, 1)], "bound": (0, 1)}
    yield "mean", dp.mean, {"curves": X, **GOOD}
    yield "covariance", dp.covariance, {"curves": X, **GOOD}
    yield "density", dp.density, {"points": X[:, 0] * 0, **points, "cells": 8}
    yield "suggest_radius", dp.suggest_radius, {"curves": X, "epsilon": 1, "n": 30}
    yield "read", dp.read, {"data": "curves.csv"}
    yield "MeanPlan", dp.MeanPlan, PLAN
    yield "CovariancePlan", dp.CovariancePlan, PLAN
    yield "DensityPlan", dp.DensityPlan, points
    regression = {name: value for name, value in PLAN.items() if name != "method"}
    yield "RegressionPlan", dp.plans.RegressionPlan, {**regression, "covariates": 2, "covariate_bound": 2.0}
    yield "SmootherPlan", dp.plans.SmootherPlan, model
    yield "Ledger", dp.Ledger, {"path": "study.ledger"}
    yield "Grid", dp.Grid, {"points": TIMES}
    yield "Long", dp.Long, {}
    yield "Lists", dp.Lists, {"values": "curve"}
    yield "Unit", dp.Unit, {"name": "who"}
    yield "L2Ball", dp.L2Ball, {"radius": 1.0}
    yield "load", dp.load, {"path": "mean.json"}


#: Fields of saved plans that nobody passes.
INTERNAL = {"rule"}


@pytest.mark.parametrize(("make", "good"), [row[1:] for row in keywords()], ids=[row[0] for row in keywords()])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_keyword_ends_in_a_raw_error(make, good, folder, monkeypatch):
    monkeypatch.chdir(folder)
    known = [name for name in inspect.signature(make).parameters if name in good or name not in ("method", *INTERNAL)]
    said = []
    for name in known:
        for value in KINDS.values():
            try:
                make(**{**good, name: value})
            except errors.DpfdaError as error:
                said.append(str(error))
    assert len(said) >= 3 * len(known)
    assert [message for message in said if any(word in message for word in PRIVATE)] == []


def test_rows_are_shown_from_one_and_kept_from_zero():
    with pytest.raises(errors.RecordError, match=r"in row 5 of the data \(counted from 1\)") as caught:
        gappy()
    assert caught.value.rows == (4,)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only a superuser can become somebody else")
def test_what_may_not_be_read_is_a_file_that_is_wrong():
    """A child that has given its rights away: exit code 1 for files, 3 for a ledger that cannot be used."""
    script = """
import os, sys, shlex
from pathlib import Path
from typer.testing import CliRunner
import dpfda as dp
from dpfda.cli import app
run = lambda line: CliRunner().invoke(app, shlex.split(line))
os.chdir(sys.argv[1])
Path("a.csv").write_text("a,b\\n" + "1,2\\n" * 30)
run("plan --n 30 --epsilon 1 --radius 1 --grid 0:1:2 --out plan.json")
run("ledger create s.ledger --epsilon 1 --study s")
run("mean a.csv --epsilon 1 --radius 1 --json --anyway")  # loads everything that is needed
run("show plan.json")
for name in ("b.csv", "plan.json", "s.ledger"):
    Path(name).touch()
    os.chmod(name, 0)
os.chmod(".", 0o755)
os.setgid(65534); os.setuid(65534)
mean = "--epsilon 1 --radius 1 --json"
for line in (f"mean b.csv {mean}", "mean a.csv --plan plan.json --json", "show plan.json", "ledger show s.ledger",
             f"mean a.csv {mean} --ledger s.ledger", "ledger create t.ledger --epsilon 1 --study t"):
    done = run(line)
    print(done.exit_code, "Error: " in done.stderr, "cannot be" in done.stderr)
"""
    with tempfile.TemporaryDirectory() as place:  # where others may go
        alone = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
        done = subprocess.run([sys.executable, "-c", script, place], capture_output=True, text=True, env=alone)
    assert done.stdout.splitlines() == [f"{code} True True" for code in (1, 1, 1, 3, 3, 1)], done.stderr
    assert re.search("Traceback", done.stderr) is None
