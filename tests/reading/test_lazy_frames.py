"""Queries of polars that have not run yet: read without a warning, chosen columns only, some rows at a time."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import dpfda as dp
from dpfda.reading.source import Source

pl = pytest.importorskip("polars")
WIDTH, ROWS = 6, 40_000
PLAN = dp.MeanPlan(n=ROWS, epsilon=1, bound=dp.L2Ball(1.0), grid=WIDTH, method=dp.methods.KNorm(2))


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).normal(size=(ROWS, WIDTH))


@pytest.fixture(scope="module")
def file(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("lake") / "days.parquet"
    columns = {f"h{i}": values[:, i] for i in range(WIDTH)}
    more = {"site": ["north", "south"] * (ROWS // 2), "who": np.arange(ROWS) // 2, "note": ["x"] * ROWS}
    pl.DataFrame(columns | more).write_parquet(path, row_group_size=5000)
    return path


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dp.errors.UnitWarning)
        yield


def test_a_query_gives_what_its_table_gives(file, values):
    lazy = pl.scan_parquet(file)
    assert PLAN.summarize(dp.read(lazy, columns="h*")) == PLAN.summarize(values)
    release = dp.mean(dp.read(lazy, columns="h*"), epsilon=1, bound=dp.L2Ball(1.0))
    assert (release.plan.n, release.grid.size) == (ROWS, WIDTH)
    numbers = lazy.select([f"h{i}" for i in range(WIDTH)])  # all of its columns are values
    assert PLAN.summarize(numbers) == PLAN.summarize(values)
    both = dp.mean(
        dp.read(lazy, columns="h*"), by="site", groups=["north", "south"], epsilon=1, bound=dp.L2Ball(1.0), n=ROWS // 2
    )
    assert sorted(both) == ["north", "south"]
    owned = dp.MeanPlan(n=ROWS // 2, epsilon=1, bound=dp.L2Ball(1.0), grid=WIDTH, unit="who")
    assert owned.summarize(dp.read(lazy, columns="h*")).count == ROWS // 2


def test_a_grid_for_all_is_found_without_a_warning(file):
    release = dp.mean(dp.read(pl.scan_parquet(file), columns="h*"), unit="who", epsilon=1, bound=dp.Range(-3, 3))
    assert (release.plan.n, release.grid.size) == (ROWS // 2, WIDTH)


def test_only_chosen_columns_are_computed(file, values):
    """A column whose cells cannot be computed stands beside the values: nobody asks for it."""
    broken = pl.scan_parquet(file).with_columns(pl.col("note").cast(pl.Float64, strict=True).alias("score"))
    with pytest.raises(pl.exceptions.PolarsError):
        broken.collect()
    assert PLAN.summarize(dp.read(broken, columns="h*")) == PLAN.summarize(values)


def test_rows_come_some_at_a_time_and_in_their_order(file, values):
    blocks = [block.values for block in Source(pl.scan_parquet(file), "h*").blocks()]
    assert len(blocks) > 1
    assert np.array_equal(np.vstack(blocks), values)
    long = pl.LazyFrame({"who": ["a", "a", "b"], "t": [0.0, 1.0, 0.5], "v": [1.0, 2.0, 3.0]})
    assert dp.read(long, layout=dp.Long("who", "t", "v")).irregular


def test_what_a_query_says_when_it_balks_stays_unsaid(file, tmp_path):
    secret = pl.LazyFrame({"a": ["0.5", "secret"], "b": [1.0, 2.0]}).with_columns(pl.col("a").cast(pl.Float64))
    plan = dp.MeanPlan(n=2, epsilon=1, bound=dp.L2Ball(1.0), grid=2)
    for query in (secret, pl.scan_parquet(tmp_path / "gone.parquet")):
        with pytest.raises(dp.errors.FileError) as caught:
            plan.summarize(query)
        assert "secret" not in str(caught.value)
        assert "gone" not in str(caught.value)
        assert caught.value.__context__ is None
    with pytest.raises(dp.errors.ParameterError, match="match at least one"):
        PLAN.summarize(dp.read(pl.scan_parquet(file), columns="z*"))
    with pytest.raises(dp.errors.FileError, match="objects"):
        plan.summarize(pl.LazyFrame({"a": pl.Series([object(), object()], dtype=pl.Object), "b": [1.0, 2.0]}))


def test_whoever_stops_reading_stops_the_query(file):
    reading = Source(pl.scan_parquet(file), "h*").blocks(read_ahead=False)
    next(reading)
    reading.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "dpfda-query"]
