"""Passes share what they can: records in memory are made ready once, counted without encoding, and then let go."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda.engines import aligned as holding
from dpfda.engines.aligned import Aligned
from dpfda.reading.source import Source
from dpfda.release import passes as ways
from dpfda.spaces.alignment import Alignment

WIDTH, N = 8, 6000
GRID = dp.Grid.uniform(0, 1, WIDTH)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def rows(rng):
    return rng.normal(size=(N, WIDTH))


@pytest.fixture
def long(rows):
    times = np.tile(GRID.points, N)
    return pd.DataFrame({"id": np.repeat(np.arange(N), WIDTH), "time": times, "value": rows.ravel()})


@pytest.fixture
def readings(monkeypatch):
    """How often sources were read and problems added up, and how many curves were brought to the grid."""
    found = {"read": 0, "encoded": 0, "aligned": 0}
    blocks, align = Source.blocks, Alignment.on_grid

    def read(self, *given, **options):
        found["read"] += 1
        return blocks(self, *given, **options)

    def aligned(self, ragged):
        found["aligned"] += ragged.starts.size - 1
        return align(self, ragged)

    def added(self, *given, real=holding.Task.added):
        found["encoded"] += 1
        return real(self, *given)

    monkeypatch.setattr(Source, "blocks", read)
    monkeypatch.setattr(Alignment, "on_grid", aligned)
    monkeypatch.setattr(holding.Task, "added", added)
    return found


def test_curves_are_aligned_once_for_all_passes(long, readings):
    release = dp.mean(dp.read(long, layout="long", grid=GRID), epsilon=1, bound=dp.L2Ball(3.0))
    assert release.plan.schedule.passes >= 3
    assert readings["encoded"] >= 3
    assert readings["read"] == 1
    assert readings["aligned"] == N


@pytest.mark.parametrize("kind", ["units", "groups", "list", "integers", "table"])
def test_other_work_is_done_once_too(kind, rows, readings):
    more = {
        "units": {"unit": (np.arange(N) % (N // 2)).tolist()},
        "groups": {"by": ["a", "b"] * (N // 2), "groups": ["a", "b"]},
    }
    table = pa.table({f"h{i}": rows[:, i] for i in range(WIDTH)})
    data = {"list": rows.tolist(), "integers": (9 * rows).astype(np.int32), "table": table}.get(kind, rows)
    dp.mean(data, epsilon=1, bound=dp.L2Ball(3.0), **more.get(kind, {}))
    assert readings["encoded"] >= 3
    sides = 2 if kind in ("units", "groups") else 1  # labels beside the data: it is read within
    assert readings["read"] == sides + (kind == "list")  # a word about its width, before


def test_what_was_made_ready_gives_the_same_bits(long, rows):
    plan = dp.MeanPlan(n=N, epsilon=1, bound=dp.L2Ball(3.0), grid=GRID, align="linear")
    other = dp.MeanPlan(n=N, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, align="linear")
    curves = dp.read(long, layout="long")
    shared = Aligned()
    for one in (plan, other, plan):  # another bound is another outer radius: made ready anew
        assert dp.engines.summarize(one.problem, curves, aligned=shared) == dp.engines.summarize(one.problem, curves)
        assert shared.ready(holding.Task(one.problem)) is not None
    labels = ["a", "b", "c"] * (N // 3)
    both = Aligned()
    for names in (["a", "b", "c"], ["b"], ["c", "a"]):
        problems = dict.fromkeys(names, other.problem)
        found = dp.engines.summarize_groups(problems, rows, labels, ["a", "b", "c"], aligned=both)
        assert found == dp.engines.summarize_groups(problems, rows, labels, ["a", "b", "c"])
        assert set(found) == set(names)


def test_a_public_number_of_records_is_kept_from_what_is_held(long):
    plan = dp.MeanPlan(n=N - 50, epsilon=1, bound=dp.L2Ball(3.0), grid=GRID, align="linear")
    curves, shared = dp.read(long, layout="long"), Aligned()
    one, two = (
        dp.engines.summarize(plan.problem, curves, max_records=N - 50, aligned=aligned) for aligned in (None, shared)
    )
    assert one == two
    assert two.count == N - 50


def test_records_are_held_up_to_a_size_and_let_go(long, readings, monkeypatch):
    monkeypatch.setattr(holding, "MOST_BYTES", 1000)
    dp.mean(dp.read(long, layout="long", grid=GRID), epsilon=1, bound=dp.L2Ball(3.0))
    assert readings["read"] == readings["encoded"] + 1  # the count was one of them

    seen = []
    monkeypatch.setattr(holding, "MOST_BYTES", 1 << 30)
    monkeypatch.setattr(ways.Aligned, "forget", lambda self: seen.append(self.held))
    dp.mean(dp.read(long, layout="long", grid=GRID), epsilon=1, bound=dp.L2Ball(3.0))
    assert seen[-1] is not None
    monkeypatch.undo()
    shared = Aligned()
    shared.held = seen[-1]
    shared.forget()
    assert shared.held is None


def test_nothing_is_encoded_to_count(rows, readings, tmp_path):
    paths = [tmp_path / f"{name}.parquet" for name in "ab"]
    for path, part in zip(paths, (rows[:200], rows[200:]), strict=True):
        pq.write_table(pa.table({f"h{i}": part[:, i] for i in range(WIDTH)}), path)
    for data in (rows, rows.astype(np.float32), pd.DataFrame(rows), rows.tolist(), paths):
        readings["encoded"] = 0
        release = dp.mean(data, epsilon=1, bound=dp.L2Ball(3.0), method=dp.Auto(passes=1))
        assert release.plan.n == N
        assert readings["encoded"] == (1 if data is paths else 2)  # in memory: the radius, then what it asks for


def test_a_private_number_is_not_counted(rows, long):
    for neighbors in ("replace", "add-remove"):
        plan = dp.MeanPlan(n=N, epsilon=1, bound=dp.L2Ball(3.0), grid=GRID, neighbors=neighbors)
        counted = ways.FromRecords(dp.read(rows)).count(plan.stage.encoder)
        assert counted == ({"": N} if neighbors == "replace" else None)
    with pytest.raises(dp.errors.ParameterError, match="add-remove"):
        dp.mean(rows, epsilon=1, bound=dp.L2Ball(3.0), neighbors="add-remove")


def test_refusals_are_the_same_where_records_are_counted_first(rows, tmp_path):
    empty, odd = rows[:0], rows.copy()
    odd[7, 3] = np.nan
    pq.write_table(pa.table({f"h{i}": rows[:0, i] for i in range(WIDTH)}), tmp_path / "none.parquet")
    for nothing in (empty, tmp_path / "none.parquet"):
        with pytest.raises(dp.errors.RecordError, match="no curves"):
            dp.mean(dp.read(nothing, grid=GRID), epsilon=1, bound=dp.L2Ball(3.0))
    with pytest.raises(dp.errors.RecordError, match="row 8"):
        dp.mean(odd, epsilon=1, bound=dp.L2Ball(3.0))
    with pytest.raises(dp.errors.RecordError, match="fewer than two records"):
        dp.mean(rows, epsilon=1, bound=dp.L2Ball(3.0), by=["a"] * (N - 1) + ["b"], groups=["a", "b"])
    with pytest.raises(dp.errors.RecordError, match="one label per record"):
        dp.mean(rows, epsilon=1, bound=dp.L2Ball(3.0), by=["a", "b"], groups=["a", "b"])
