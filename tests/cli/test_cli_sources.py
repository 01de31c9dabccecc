"""Where the command reads from: lakes, queries of database files, and engines."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::dpfda.errors.UnitWarning")
MEAN = "--columns 'h[0-9]' --epsilon 1 --radius 1 --quiet"
SECRET = "cell-that-nobody-may-see"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(0.1, 0.05, (300, 6)), columns=[f"h{i}" for i in range(6)])
    home = rng.integers(0, 30, 300)
    frame = frame.assign(home=home, region=np.where(home < 15, "north", "south"), month=np.arange(300) % 3)
    frame.to_parquet("lake", partition_cols=["region", "month"])
    frame.to_parquet("mixed.parquet")
    return frame


@pytest.fixture
def databases(folder):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    pytest.importorskip("adbc_driver_sqlite", reason="the ADBC driver of SQLite is not installed")
    import sqlite3

    with duckdb.connect("study.duckdb") as connection:
        connection.register("frame", folder)
        connection.execute("create table days as select * from frame")
    with closing(sqlite3.connect("study.db")) as other, other:
        folder.to_sql("days", other, index=False)


def run(line: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == code, (line, result.output, result.exception)
    return " ".join(result.output.split())


def test_a_lake_by_its_folders():
    run(f"mean lake {MEAN} --unit home --by region --groups north,south --out mean.json")
    assert {name: part.plan.n for name, part in dp.load("mean.json").items()} == {"north": 15, "south": 15}
    os.mkdir("empty")
    assert "folders called name=value" in run(f"mean empty {MEAN} --out x.json", code=1)


@pytest.mark.parametrize("file", ["study.duckdb", "study.db"])
@pytest.mark.usefixtures("databases")
def test_a_query_of_a_database(file):
    before = Path(file).read_bytes()
    sql = f"{file} --sql 'select * from days'"
    run(f"mean {sql} {MEAN} --unit home --by region --groups north,south --out mean.json")
    assert dp.load("mean.json")["north"].plan.n == 15
    run(f"mean {sql} {MEAN} --neighbors add-remove --n 300 --invalid center --out mean.json")
    run(f"radius {sql} --columns 'h[0-9]' --epsilon 9 --range=-5:5 --out radius.json --quiet")
    run(f"covariance {sql} {MEAN} --out covariance.json")
    run(f"density {file} --sql 'select h0 from days' --epsilon 1 --domain -1:1 --quiet --out density.json")
    columns = "--covariates home --columns 'h[0-9]' --covariate-range 0:30"
    run(f"regress {sql} {columns} --epsilon 1 --radius 1 --quiet --out regression.json")
    assert Path(file).read_bytes() == before


@pytest.mark.usefixtures("databases")
def test_databases_and_queries_go_together():
    shutil.copy("study.duckdb", "renamed.db")  # by what it is, not by what it is called
    run(f"mean renamed.db --sql 'from days' {MEAN} --out mean.json")
    for line, message in (
        ("study.duckdb", "'study.duckdb' is a database of DuckDB, got no query. Pass --sql 'select * from TABLE'"),
        ("study.db", "'study.db' is a database of SQLite"),
        ("mixed.parquet --sql 'select 1'", "--sql asks a database of DuckDB or SQLite"),
        ("none.duckdb --sql 'select 1'", "There is no file 'none.duckdb'"),
        ("study.duckdb --sql 'delete from days'", "Pass a SELECT"),
        ("study.duckdb --sql 'select nothing from days'", "The query cannot be run"),
        (f"study.duckdb --sql \"select ('{SECRET}' || h0)::int as h0, h1 from days\"", "The query breaks off"),
        ("study.duckdb --sql 'from days' --engine dask", "an engine reads files"),
        ("lake --engine dask --master local", "--master is the address of a Spark cluster"),
        ("lake --engine flink", "engine is one of dask, spark"),
    ):
        said = run(f"mean {line} {MEAN} --out x.json", code=1)
        assert message in said
        assert SECRET not in said.replace(line, "")


@pytest.mark.usefixtures("databases")
def test_a_command_without_queries_says_what_to_do():
    said = run(
        "fit study.db --target h0 --inputs h1 --domain 0:1 --bound 0:1 --loss squared --epsilon 1 --out x.json", 1
    )
    assert "'study.db' is a database. Write its rows to a CSV or Parquet file" in said
    assert "dp." not in said


def test_units_in_any_order_say_which_engine(monkeypatch):
    pytest.importorskip("dask", reason="Dask is not installed")
    run(f"mean mixed.parquet {MEAN} --unit home --out mean.json")  # few rows are gathered
    assert dp.load("mean.json").plan.n == 30
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    said = run(f"mean mixed.parquet {MEAN} --unit home --out x.json", code=1)
    assert "read them with --engine dask or --engine spark, which need no order" in said
    run(f"mean mixed.parquet {MEAN} --unit home --engine dask --out mean.json")
    assert dp.load("mean.json").plan.n == 30


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, and there is none")
@pytest.mark.long
def test_a_session_of_spark_is_started_and_says_nothing():
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    line = f"mean lake {MEAN} --unit home --by region --engine spark --master 'local[1]' --anyway --out mean.json"
    paths = [str(Path(dp.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    code = "import warnings; warnings.simplefilter('ignore'); import sys; from dpfda.cli import app; app(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *shlex.split(f"{line} --groups north,south")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "WARN" not in done.stderr
    assert "Setting default log level" not in done.stderr
    assert {name: part.plan.n for name, part in dp.load("mean.json").items()} == {"north": 15, "south": 15}
