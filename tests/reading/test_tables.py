"""Tables of every kind: what their names and types say of curves, before a record is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pytest

import dpfda as dp


def query_of(frame: pd.DataFrame) -> object:
    connection = pytest.importorskip("duckdb").connect()
    connection.register("days", frame)
    return dp.sql("select * from days", connection).data


def table_of(kind: str, frame: pd.DataFrame, folder: Path) -> object:
    """One table, as every kind that has names."""
    frame.to_parquet(folder / "x.parquet")
    frame.to_csv(folder / "x.csv", index=False)
    kinds = {
        "pandas": lambda: frame,
        "arrow": lambda: pa.Table.from_pandas(frame),
        "stream": lambda: pa.RecordBatchReader.from_stream(pa.Table.from_pandas(frame)),
        "polars": lambda: pytest.importorskip("polars").from_pandas(frame),
        "lazy": lambda: pytest.importorskip("polars").from_pandas(frame).lazy(),
        "query": lambda: query_of(frame),
        "dataset": lambda: pa.dataset.dataset(folder / "x.parquet"),
        "dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2),
        "parquet": lambda: folder / "x.parquet",
        "csv": lambda: folder / "x.csv",
    }
    return kinds[kind]()


TABLES = ("pandas", "arrow", "polars", "lazy", "query", "dataset", "parquet", "csv", "dask", "stream")


@pytest.mark.parametrize("kind", TABLES)
def test_unequal_ages_are_passed_over_in_no_kind_of_table(kind, tmp_path, recwarn):
    frame = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (60, 3)), columns=["1", "2.5", "7"])
    options = {"epsilon": 1, "bound": dp.Range(0, 1), "n": 60, "method": dp.Auto(passes=1, check=False)}
    with pytest.raises(dp.errors.ParameterError, match="grid='header'"):
        dp.mean(dp.read(table_of(kind, frame, tmp_path), header=True), **options)
    found = dp.mean(dp.read(table_of(kind, frame, tmp_path), header=True, grid="header"), **options)
    assert found.grid.points.tolist() == [1, 2.5, 7]
    assert {warning.category for warning in recwarn} <= {dp.errors.NoiseWarning, dp.errors.LeftOutWarning}


@pytest.mark.parametrize("kind", ["pandas", "arrow", "polars", "lazy", "query", "dataset", "parquet"])
@pytest.mark.parametrize("reading", [{"columns": ["curve"]}, {"layout": dp.Lists("curve")}])
def test_curves_in_cells_have_their_length_and_groups_beside_them(kind, reading, tmp_path):
    values = np.random.default_rng(0).uniform(0, 1, (60, 5))
    frame = pd.DataFrame({"arm": ["a", "b"] * 30, "curve": list(map(list, values))})
    curves = dp.read(table_of(kind, frame, tmp_path), **reading)
    found = dp.mean(curves, epsilon=9, bound=dp.Range(0, 1), by="arm", groups=["a", "b"])
    assert found["a"].grid.size == 5
    with pytest.raises(dp.errors.ParameterError, match="the grid must be given"):  # a record would decide it
        dp.mean(curves, epsilon=9, bound=dp.Range(0, 1), n=60, invalid="center")


def test_no_record_of_a_ragged_array_decides_the_grid():
    rows = np.empty(60, dtype=object)
    rows[:] = [[0.1, 0.2, 0.3]] * 59 + ["a record that stops whoever reads it"]
    for data in (rows, pd.Series(rows), pytest.importorskip("polars").Series([[0.1, 0.2]] * 60)):
        with pytest.raises(dp.errors.ParameterError, match="the grid must be given"):
            dp.mean(data, epsilon=1, bound=dp.Range(0, 1), n=60, invalid="center")
