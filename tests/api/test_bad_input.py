"""Wrong arguments and wrong files: each has its own error, charges nothing, writes nothing, leaks nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import mean_of

import dpfda as dp

MARK = 123.456789
GOOD = {"epsilon": 1.0, "bound": dp.L2Ball(1.0)}


@pytest.fixture
def curves(rng):
    return rng.uniform(0, 1, (30, 12))


@pytest.fixture
def ledger(tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="test")


def refused(error, match, ledger, *args, **options):
    with pytest.raises(error, match=match) as caught:
        mean_of(*args, **(GOOD | options), ledger=ledger)
    assert ledger.spent == 0
    assert str(MARK) not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), None, "much", True, 1e9])
def test_epsilon(epsilon, curves, ledger):
    assert "Pass epsilon" in refused(dp.errors.ParameterError, "epsilon must", ledger, curves, epsilon=epsilon)


@pytest.mark.parametrize("bound", [None, 1.0, "l2"])
def test_no_bound(bound, curves, ledger):
    refused(dp.errors.ParameterError, "bound must be a public bound", ledger, curves, bound=bound)


@pytest.mark.parametrize("radius", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_radius(radius):
    for kind in (dp.L2Ball, dp.bounds.L1Ball):
        with pytest.raises(dp.errors.ParameterError, match="radius must be a positive finite number"):
            kind(radius)
    for kind in (dp.bounds.Ellipsoid, dp.bounds.Box):
        with pytest.raises(dp.errors.ParameterError, match="positive finite numbers"):
            kind([1.0, 0.0])
    with pytest.raises(dp.errors.ParameterError, match="center must be"):
        dp.L2Ball(1.0, [np.nan])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_in_a_curve(value, curves, ledger):
    curves[7, 3], curves[8, 0] = value, MARK
    message = refused(dp.errors.RecordError, "missing or infinite values in row 8", ledger, curves)
    assert "invalid='center'" in message
    assert dp.mean(curves, **GOOD, invalid="center").values.shape == (12,)


def test_rows_are_counted_from_the_start_of_the_source(tmp_path, rng):
    frame = pd.DataFrame(rng.uniform(0, 1, (300_000, 12)))
    frame.iloc[250_000, 4] = np.inf
    frame.to_parquet(tmp_path / "c.parquet")
    frame.columns = frame.columns.astype(str)
    frame.to_parquet(tmp_path / "c.parquet")
    with pytest.raises(dp.errors.RecordError, match="row 250001"):
        dp.mean(tmp_path / "c.parquet", **GOOD)


def test_wrong_length(curves, ledger, tmp_path):
    message = refused(
        dp.errors.RecordError, "12 values and the plan expects 10", ledger, curves, grid=dp.Grid.uniform(0, 1, 10)
    )
    assert "columns=" in message
    (tmp_path / "ragged.csv").write_text("a,b,c\n1,2,3\n1,2\n")
    refused(dp.errors.RecordError, "2 cells and the first line has 3 in row 2", ledger, tmp_path / "ragged.csv")
    refused(dp.errors.RecordError, "same number|one length", ledger, [[1.0, 2.0], [1.0]], grid=dp.Grid.uniform(0, 1, 2))


def test_text_in_a_numeric_column(ledger, tmp_path, curves):
    (tmp_path / "text.csv").write_text("a,b\n1,2\n3,secret-name\n")
    message = refused(
        dp.errors.RecordError, "does not hold a number in row 2, column 2 ", ledger, tmp_path / "text.csv"
    )
    assert "secret" not in message
    refused(dp.errors.RecordError, "column 'name'", ledger, pd.DataFrame({"name": ["x", "y"], "v": [1.0, 2.0]}))
    refused(dp.errors.RecordError, "column 'name'", ledger, pa.table({"name": ["x", "y"], "v": [1.0, 2.0]}))
    refused(dp.errors.RecordError, "rows of numbers", ledger, np.array([["a", "b"], ["c", "d"]]))


def test_empty_and_tiny_data(ledger, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    refused(dp.errors.RecordError, "is empty", ledger, tmp_path / "empty.csv")
    (tmp_path / "header.csv").write_text("a,b\n")
    refused(dp.errors.RecordError, "no curves", ledger, tmp_path / "header.csv")
    refused(dp.errors.RecordError, "no curves", ledger, np.empty((0, 5)), grid=dp.Grid.uniform(0, 1, 5))
    refused(dp.errors.ParameterError, "n must be a whole number of at least 2", ledger, np.ones((1, 5)))
    refused(dp.errors.RecordError, "two dimensions", ledger, np.ones(5))


def test_n_must_match_the_plan(curves, ledger):
    plan = dp.MeanPlan(n=29, **GOOD, grid=12)
    with pytest.raises(dp.errors.PlanMismatch, match="n = 29 curves and the data has 30"):
        plan.release(curves, ledger)
    assert ledger.spent == 0
    with pytest.raises(dp.errors.PlanMismatch, match="another plan"):
        dp.MeanPlan(n=30, epsilon=1, bound=dp.L2Ball(2.0), grid=12).release(
            dp.MeanPlan(n=30, **GOOD, grid=12).summarize(curves), ledger
        )
    assert ledger.spent == 0


@pytest.mark.parametrize("n", [0, 1, -5, 2.5, "many", True, 2**40])
def test_bad_n(n):
    with pytest.raises(dp.errors.ParameterError, match="n must be"):
        dp.MeanPlan(n=n, **GOOD, grid=12)


def test_unknown_words(curves, ledger):
    refused(dp.errors.ParameterError, "kernel must be", ledger, curves, kernel="matern")
    refused(dp.errors.ParameterError, "method must be a dpfda method", ledger, curves, method="qr")
    refused(dp.errors.ParameterError, "neighbors must be one of", ledger, curves, neighbors="swap")
    refused(dp.errors.ParameterError, "invalid must be one of", ledger, curves, invalid="drop")
    refused(dp.errors.ParameterError, "grid must be", ledger, curves, grid="0:1")
    refused(dp.errors.ParameterError, "public guess", ledger, curves, neighbors="add-remove")
    refused(dp.errors.ParameterError, "fill must be", ledger, curves, fill=0)
    refused(dp.errors.ParameterError, "one value per grid point", ledger, curves, bound=dp.L2Ball(1.0, np.zeros(5)))


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: dp.methods.FRL(components=0), "components must be"),
        (lambda: dp.methods.KNorm(components=2.5), "components must be"),
        (lambda: dp.MeanPlan(n=30, **GOOD, grid=12, method=dp.methods.QR(eta=1.0)), "eta must be"),
        (lambda: dp.methods.QR(psi=-1), "psi must be"),
        (lambda: dp.methods.AR(psi=float("inf")), "psi"),
        (lambda: dp.methods.QR(noise="white"), "noise must be one of"),
        (lambda: dp.methods.AR(sensitivity="loose"), "sensitivity must be"),
        (lambda: dp.methods.Minimax(power=0), "power must be"),
        (lambda: dp.MeanPlan(n=9, **GOOD, grid=12, method=dp.methods.FRL(components=13)), "at most the basis size"),
        (lambda: dp.MeanPlan(n=9, **GOOD, grid=12, method=dp.methods.AR(psi=1e9)), "at least one coefficient"),
    ],
)
def test_bad_methods(make, rule):
    with pytest.raises(dp.errors.ParameterError, match=rule):
        make()


def test_columns(tmp_path, ledger):
    (tmp_path / "c.csv").write_text("id,h1,h2\na,1,2\nb,3,4\n")
    refused(dp.errors.ParameterError, "match at least one column", ledger, tmp_path / "c.csv", columns="x*")
    refused(dp.errors.ParameterError, "must name columns", ledger, tmp_path / "c.csv", columns=["h1", "h9"])
    assert dp.mean(dp.read(tmp_path / "c.csv", columns="h*"), **GOOD).values.shape == (2,)


def test_files(tmp_path, ledger):
    refused(dp.errors.FileError, "no file 'none.csv'", ledger, tmp_path / "none.csv")
    (tmp_path / "c.xlsx").write_text("x")
    refused(dp.errors.FileError, "must end in", ledger, tmp_path / "c.xlsx")
    (tmp_path / "c.parquet").write_text("not parquet")
    refused(dp.errors.FileError, "not a readable Parquet", ledger, tmp_path / "c.parquet")
    (tmp_path / "c.csv").write_bytes(b"\x81\x00\xff,\x01")
    refused(dp.errors.FileError, "text in UTF-8", ledger, tmp_path / "c.csv")


def test_ledgers(tmp_path, curves, ledger):
    with pytest.raises(dp.errors.LedgerError, match=r"no ledger 'none.ledger'"):
        dp.mean(curves, **GOOD, ledger=tmp_path / "none.ledger")
    with pytest.raises(dp.errors.LedgerError, match="ledger of study 'test', not of 'other'"):
        dp.Ledger(ledger.path, study="other")
    (tmp_path / "corrupt.ledger").write_bytes(b"garbage" * 500)
    with pytest.raises(dp.errors.LedgerError, match="not an intact"):
        dp.mean(curves, **GOOD, ledger=tmp_path / "corrupt.ledger")
    dp.mean(curves, **GOOD, ledger=ledger)
    with pytest.raises(dp.errors.BudgetExceeded, match="costs epsilon 1 and study 'test' has 0 left of 1"):
        dp.mean(curves, **GOOD, ledger=ledger)
    assert ledger.spent == 1


def test_a_locked_ledger(tmp_path, curves, ledger, monkeypatch):
    monkeypatch.setattr("dpfda.ledger.store.WAIT_SECONDS", 0.05)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(dp.errors.LedgerError, match="locked by another process"):
        dp.mean(curves, **GOOD, ledger=ledger)
    other.execute("ROLLBACK")
    assert ledger.spent == 0
    other.close()


def test_a_budget_that_is_spent_is_refused_before_the_data_is_read(tmp_path, ledger):
    with pytest.raises(dp.errors.BudgetExceeded):
        dp.mean(
            tmp_path / "never-read.csv", epsilon=2, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 5), ledger=ledger
        )


def test_arguments_that_are_not_numbers():
    for make in (
        lambda: dp.Grid(["a", "b"]),
        lambda: dp.Grid.uniform(0, 1, 5.5),
        lambda: dp.L2Ball(1.0, "abc"),
        lambda: dp.bounds.Box(["x"]),
        lambda: dp.Grid.uniform(0, 1, True),
    ):
        with pytest.raises(dp.errors.ParameterError):
            make()
    assert dp.Grid([-0.0, 1.0]) == dp.Grid([0.0, 1.0])
    assert hash(dp.Grid([-0.0, 1.0])) == hash(dp.Grid([0.0, 1.0]))
    assert dp.methods.QR(2) == dp.methods.QR(2.0)
    first, second = (dp.MeanPlan(n=9, **GOOD, grid=12, method=m) for m in (dp.methods.QR(2), dp.methods.QR(2.0)))
    assert first.digest == second.digest
    with pytest.raises(dp.errors.ParameterError, match="points must be numbers"):
        first.release(np.zeros((9, 12)))("noon")


def test_foreign_databases_are_not_ledgers(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with closing(sqlite3.connect(tmp_path / "other")) as db, db:
        db.execute("CREATE TABLE t (x)")
    for name in ("empty", "other"):
        with pytest.raises(dp.errors.LedgerError, match=r"not an intact|is empty"):
            dp.Ledger(tmp_path / name)
