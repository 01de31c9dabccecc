"""Reading ahead: the same items in the same order, errors in their turn, and no thread that stays."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda.reading import source as readers
from dpfda.reading.ahead import WAITING, ahead


@pytest.fixture(autouse=True, scope="module")
def _nothing_before():
    """What other tests left in circles (an error and whoever looks at it) may hold on to a stream."""
    gc.collect()


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "dpfda-ahead"]


def test_items_keep_their_order_and_are_made_elsewhere():
    def items():
        for i in range(50):
            yield i, threading.current_thread() is threading.main_thread()

    assert list(ahead(items())) == [(i, False) for i in range(50)]
    assert threads() == []


def test_an_error_comes_in_its_turn():
    def items():
        yield 1
        yield 2
        raise dp.errors.RecordError("A cell does not hold a number", [3])

    stream = ahead(items())
    assert [next(stream), next(stream)] == [1, 2]
    with pytest.raises(dp.errors.RecordError, match="row 4") as caught:
        next(stream)
    assert caught.value.__context__ is None
    assert threads() == []


@pytest.mark.parametrize("taken", [1, WAITING + 2])
def test_who_stops_early_leaves_no_thread(taken):
    made, closed = [], []

    def items():
        try:
            for i in range(10**6):
                made.append(i)
                yield i
        finally:
            closed.append(True)

    stream = ahead(items())
    for _ in range(taken):
        next(stream)
    stream.close()
    assert threads() == []
    assert closed == [True]
    assert len(made) <= taken + WAITING + 2  # few wait


def test_an_interrupt_where_records_are_added_up_ends_the_reading(tmp_path, monkeypatch):
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({f"h{i}": np.zeros(5000) for i in range(6)}), path, row_group_size=100)
    plan = dp.MeanPlan(n=5000, epsilon=1, bound=dp.L2Ball(1.0), grid=6)

    def interrupted(self, batch):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(plan.problem), "total", interrupted)
        with pytest.raises(KeyboardInterrupt):
            dp.engines.summarize(plan.problem, path)
    assert threads() == []
    assert dp.engines.summarize(plan.problem, path).count == 5000


def test_files_are_told_of_when_their_records_are_through(tmp_path):
    for name in "ab":
        pq.write_table(pa.table({f"h{i}": np.zeros(300) for i in range(6)}), tmp_path / f"{name}.parquet")
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    seen, rows = [], []

    def told(done: int, of: int) -> None:
        seen.append((sum(rows), done, of, threading.current_thread() is threading.main_thread()))

    for raw in readers.Source(files).blocks(told, read_ahead=True):
        rows.append(len(raw))
    assert seen == [(300, 1, 2, True), (600, 2, 2, True)]


def test_an_error_that_is_kept_does_not_keep_the_reading(tmp_path):
    path = tmp_path / "c.parquet"
    columns = {f"h{i}": np.full(5000, np.inf) for i in range(6)}
    pq.write_table(pa.table(columns), path, row_group_size=100)
    with pytest.raises(dp.errors.RecordError) as kept:
        dp.engines.summarize(dp.MeanPlan(n=5000, epsilon=1, bound=dp.L2Ball(1.0), grid=6).problem, path)
    assert kept.value.__traceback__ is not None
    assert threads() == []


INTERRUPTED = """
import itertools, random, signal
from dpfda.reading.ahead import ahead

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
for turn in range(800):
    try:
        stream = ahead(item for item in itertools.count())
        signal.setitimer(signal.ITIMER_REAL, random.Random(turn).uniform(0.0005, 0.003))
        for _ in stream:
            pass
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
print("ended")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_whoever_is_interrupted_never_waits_for_ever():
    """An interruption falls anywhere, also where a lock was just taken: a queue of Python would stay locked."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert done.stdout == "ended\n", done.stderr
