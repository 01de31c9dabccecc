"""Frames of polars that have not been computed yet: their names without computing them, their rows some at a time.

Polars hands batches to a function while it computes, so it runs in a thread and waits for whoever reads. Its own
iterator of batches ends early where that fails, and prints what failed: a cell, maybe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Queue
from threading import Thread
from typing import Protocol, TypeGuard

from dpfda.reading.arrow import pa


class LazyFrame(Protocol):
    """What is needed of one."""

    def collect_schema(self) -> Mapping[str, object]: ...
    def select(self, names: Sequence[str]) -> LazyFrame: ...
    def collect(self) -> object: ...


class Streaming(LazyFrame, Protocol):
    """One of a polars that hands out batches."""

    def sink_batches(self, function: Callable[[object], bool]) -> object: ...


def is_lazy(data: object) -> TypeGuard[LazyFrame]:
    """Whether data is one: polars warns whoever asks it for its columns as if it were a table."""
    return hasattr(data, "collect_schema") and hasattr(data, "collect")


def batches(frame: LazyFrame, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """These columns, some rows at a time where polars can do that; no other column is computed."""
    chosen = frame.select(names)
    for part in _parts(chosen) if _streams(chosen) else [chosen.collect()]:
        yield from pa.RecordBatchReader.from_stream(part)


def _streams(frame: LazyFrame) -> TypeGuard[Streaming]:
    return hasattr(frame, "sink_batches")


def _parts(frame: Streaming) -> Iterator[object]:
    """The tables that it hands out: one waits while another is read."""
    waiting: Queue[object] = Queue(maxsize=1)
    stopped, failed = False, False

    def take(part: object) -> bool:
        waiting.put(part)
        return stopped

    def run() -> None:
        nonlocal failed
        try:
            frame.sink_batches(take)
        except BaseException:  # its text may quote a cell
            failed = True
        waiting.put(None)

    thread = Thread(target=run, name="dpfda-lazy-frame", daemon=True)
    thread.start()
    try:
        while (part := waiting.get()) is not None:
            yield part
        if failed:
            raise ValueError("the frame cannot be computed")
    finally:
        stopped = True
        while thread.is_alive() and part is not None:
            part = waiting.get()
        thread.join()
