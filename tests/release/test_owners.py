"""A table that may hold several records of one person: said by the names of its columns, whatever is in them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp

NAMES = [f"h{i}" for i in range(6)]
FACTS = {"epsilon": 1, "bound": dp.L2Ball(2.0)}


@pytest.fixture
def frame(rng):
    curves = rng.uniform(0, 1, (30, 6)).round(3)
    return pd.DataFrame(curves, columns=NAMES).assign(patient=[f"p{i}" for i in range(30)], note="x")


def told(data, verb=dp.mean, **options):
    """The words of warning of a release."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        verb(data, **{k: v for k, v in ({"grid": 6, "n": 30} | FACTS | options).items() if v is not None})
    return [str(warning.message) for warning in caught if warning.category is dp.errors.UnitWarning]


def kinds(frame, tmp_path):
    """The same table in every kind, in which it knows its names."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    return [frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), table, stream, tmp_path / "t.csv",
            tmp_path / "t.parquet"]  # fmt: skip


def test_columns_of_which_nothing_is_said_are_told_of_once(frame, tmp_path):
    for data in kinds(frame, tmp_path):
        (words,) = told(dp.read(data, columns="h*"), method=dp.Auto(passes=1))
        assert "2 columns that are neither values nor named in unit= or by=, 'patient' among them" in words
        assert "Pass unit='patient'" in words
        assert "note" not in words  # a name that could be a cell of a first record is not shown
    assert len(told(dp.read(frame, columns="h*"))) == 1  # read three times, told once


def test_what_is_named_is_not_told_of(frame, tmp_path):
    for data in kinds(frame, tmp_path):
        assert told(dp.read(data, columns="h*", ignore=["patient", "note"]), method=dp.Auto(passes=1)) == []
    assert told(dp.read(frame, columns="h*"), unit="patient") == []
    assert told(dp.read(frame, ignore="note"), unit="patient") == []
    assert told(dp.read(frame, columns="h*"), unit=list(frame.patient)) == []
    assert told(frame[NAMES]) == []
    assert told(frame[NAMES].to_numpy()) == []
    (words,) = told(dp.read(frame, columns="h*"), by="note", groups=["x"], n=30)
    assert "a column that is neither values nor named in unit= or by=, 'patient'" in words


@pytest.mark.parametrize("more", [{}, {"invalid": "center"}, {"invalid": "center", "neighbors": "add-remove"}])
def test_labels_decide_nothing(frame, more):
    """The same words whether labels repeat, are missing, or are all different."""
    labels = (list(frame.patient), ["p0"] * 30, [None] * 30, [f"p{i // 2}" for i in range(30)])
    said = [told(dp.read(frame.assign(patient=own), columns="h*"), **more) for own in labels]
    assert len(said[0]) == 1
    assert all(words == said[0] for words in said)


def test_ignored_columns_are_no_values_and_exist(frame):
    plan = dp.MeanPlan(n=30, grid=6, **FACTS)
    curves = frame[NAMES].to_numpy()
    assert plan.summarize(dp.read(frame, ignore=["patient", "note"])) == plan.summarize(curves)
    assert plan.summarize(dp.read(frame.drop(columns="note"), ignore="pat*")) == plan.summarize(curves)
    with pytest.raises(dp.errors.ParameterError, match="ignore must name columns of the data, got 'nothing'"):
        plan.summarize(dp.read(frame, ignore=["nothing"]))
    with pytest.raises(dp.errors.ParameterError, match="a column has one role"):
        plan.summarize(dp.read(frame, columns=NAMES, ignore=["h0"]))
    with pytest.raises(dp.errors.ParameterError, match="a column has one role"):
        dp.mean(dp.read(frame, columns="h*", ignore="patient"), unit="patient", n=30, **FACTS)
    with pytest.raises(dp.errors.ParameterError, match="ignore is a pattern, or a list of names"):
        dp.read(frame, ignore=3)


def test_days_of_a_long_table_are_records_of_their_own(rng):
    stamps = pd.date_range("2026-06-01", periods=96, freq="30min", tz="UTC")
    frame = pd.DataFrame({"meter": "m1", "stamp": stamps, "kwh": rng.uniform(0, 1, 96)})
    grid = dp.Grid(np.arange(48) / 2, weights="equal", span=(0.0, 24.0))
    data = dp.read(frame, layout=dp.Long("meter", "stamp", "kwh", day="UTC"), align="linear")
    (words,) = told(data, grid=grid, n=2)
    assert "Every day of one 'meter' is a record of its own" in words
    assert "Pass unit='meter'" in words
    assert told(data, grid=grid, n=2, unit="meter", invalid="center") == []


def test_points_have_no_unit_to_pass(frame):
    points = pd.DataFrame({"age": np.linspace(1, 99, 30), "patient": "p"})
    (words,) = told(dp.read(points, columns=["age"]), dp.density, grid=None, bound=None, domain=[(0, 100)])
    assert "Keep one record of each person" in words
    assert "unit=" not in words


@pytest.mark.parametrize("header", [None, True])
def test_a_first_record_that_ends_like_an_id_is_not_shown(header, tmp_path):
    (tmp_path / "a.csv").write_text("ann-smith-id,NA,x_id\n1,2,3\n4,5,6\n")
    with pytest.raises(dp.errors.ParameterError, match="a column says whose a record is") as caught:
        dp.mean(dp.read(tmp_path / "a.csv", header=header), **FACTS)
    assert "ann" not in str(caught.value)
    (words,) = told(dp.read(tmp_path / "a.csv", header=header, columns=["NA", "x_id"]), grid=2, n=2)
    assert "ann" not in words
    assert "Pass unit=<the column that says whose a record is>" in words


def test_an_index_that_pandas_wrote_is_no_value(frame, tmp_path):
    frame[NAMES].sample(30, random_state=1).to_parquet(tmp_path / "i.parquet")  # an index of its own becomes a column
    with pytest.raises(dp.errors.ParameterError, match="'__index_level_0__' says whose a record is"):
        dp.mean(tmp_path / "i.parquet", **FACTS)
    assert dp.mean(dp.read(tmp_path / "i.parquet", ignore="__*"), **FACTS).grid.size == 6
