"""The one loop over records: blocks of rows go in, exact integers come out, on as many threads as help.

A problem says what is done to a block of rows; here blocks are cut, given to threads and added up. What each row adds
is an integer that depends on that row alone, so neither blocks nor threads nor the kernels that do the work (numpy's,
or the compiled ones of the `fast` extra) change a bit of the totals.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpfda.bounds import plain
from dpfda.core.doubles import doubles
from dpfda.core.errors import DpfdaError, RecordError
from dpfda.core.lazy import lazy

if TYPE_CHECKING:
    import threadpoolctl
else:
    threadpoolctl = lazy("threadpoolctl")

log = logging.getLogger("dpfda")

#: Values in a block: a few arrays of this many stay in a processor's cache.
VALUES = 1 << 17
#: Values from which on a thread of its own, and the time that compiled kernels take to load, are worth it.
PER_THREAD, WORTH = 1 << 18, 1 << 23
#: The environment's word on how many threads to use.
VARIABLE = "DPFDA_THREADS"

T = TypeVar("T")
_kernels: ContextVar[str | None] = ContextVar("kernels", default=None)
_threads: ContextVar[int | None] = ContextVar("threads", default=None)


class Block:
    """Some rows on their way into totals; what several problems ask of them is worked out once."""

    def __init__(self, rows: np.ndarray, kernels: ModuleType = plain):
        self.rows = rows if rows.dtype in (np.float64, np.float32) else doubles(rows)
        self.kernels = kernels
        self._known: dict[Hashable, Any] = {}

    @property
    def values(self) -> np.ndarray:
        """The rows in double precision."""
        return doubles(self.rows)

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, the first time; the same thing afterwards."""
        if name not in self._known:
            self._known[name] = make()
        found: T = self._known[name]
        return found

    def columns(self, first: int) -> Block:
        """The columns from one on."""
        return Block(self.rows[:, first:], self.kernels)

    def take(self, places: np.ndarray) -> Block:
        """Some of the rows."""
        return Block(self.rows[places], self.kernels)


def add_up(
    totals: Callable[[Block], np.ndarray], batch: np.ndarray, light: bool = False, rows: int | None = None
) -> np.ndarray:
    """The sum of the integers `totals` of blocks of rows, so many at a time; errors name rows of the whole.

    `light` work reads each row once and keeps nothing: its blocks are as large as its kernels like.
    """

    def work(blocks: Iterable[tuple[int, Block]]) -> np.ndarray | None:
        found = None
        for _, block in blocks:
            part = totals(block)
            found = part if found is None else found + part
        return found

    return np.asarray(sum(part for part in _over_blocks(work, batch, light, rows) if part is not None))


def each(encode: Callable[[Block], np.ndarray], batch: np.ndarray, width: int, rows: int | None = None) -> np.ndarray:
    """One row of `width` numbers for every row of a batch."""
    found = np.empty((len(batch), width))

    def work(blocks: Iterable[tuple[int, Block]]) -> None:
        for start, block in blocks:
            found[start : start + len(block.rows)] = encode(block)

    _over_blocks(work, batch, False, rows)
    return found


def _over_blocks(
    work: Callable[[Iterable[tuple[int, Block]]], T], batch: np.ndarray, light: bool, rows: int | None
) -> list[T]:
    """What each thread makes of its blocks, which it is given with the places of their first rows.

    A compiler that fails (no space for what it makes, say) costs time and nothing else, unless it was asked for. It is
    worth asking from so many values on: a word about it that people see would tell of a private number of records.
    """
    kernels = choose_kernels(batch.size)
    try:
        return _with_kernels(kernels, work, batch, light, rows)
    except (DpfdaError, MemoryError):
        raise
    except Exception as error:
        if kernels is plain or _kernels.get() == "compiled":
            raise
        log.debug("compiled kernels fail here (%s): numpy does their work", type(error).__name__)
        _Seen.broken = True
        return _with_kernels(plain, work, batch, light, rows)


def _with_kernels(
    kernels: ModuleType,
    work: Callable[[Iterable[tuple[int, Block]]], T],
    batch: np.ndarray,
    light: bool,
    rows: int | None,
) -> list[T]:
    if rows is None:
        rows = max(1, (kernels.LIGHT_VALUES if light else VALUES) // max(1, batch.shape[1]))
    places = _Places(range(0, max(1, len(batch)), rows))

    def blocks() -> Iterator[tuple[int, Block]]:
        for start in places:
            places.current.start = start
            yield start, Block(batch[start : start + rows], kernels)

    def careful() -> T:
        try:
            return work(blocks())
        except RecordError as error:
            places.stopped = True
            raise error.shifted(places.current.start) from None
        except BaseException:
            places.stopped = True
            raise

    workers = min(threads(), -(-len(batch) // rows), batch.size // PER_THREAD)
    with one_blas_thread() if batch.size >= PER_THREAD else nullcontext():
        return [careful()] if workers <= 1 else _in_threads(careful, places, workers)


class _Places:
    """Places that several threads share, each given to one of them, in order; none after a failure."""

    def __init__(self, places: Iterable[int]):
        self._left, self._lock, self.stopped = iter(places), threading.Lock(), False
        self.current = threading.local()

    def __iter__(self) -> Iterator[int]:
        while not self.stopped:
            with self._lock:
                place = next(self._left, None)
            if place is None:
                return
            yield place


def _in_threads(work: Callable[[], T], places: _Places, workers: int) -> list[T]:
    """What each of several threads comes to. Of several errors the one of the first rows is raised.

    Places are given out in order, so whoever fails first in the data was at work before anybody stopped.
    """
    with ThreadPoolExecutor(workers, thread_name_prefix="dpfda") as pool:
        futures: list[Future[T]] = []
        try:
            with suppress(RuntimeError):  # no more threads here: those that there are, or this one, do it all
                futures.extend(pool.submit(copy_context().run, work) for _ in range(workers))
            if not futures:
                return [work()]
            failed = [error for future in futures if (error := future.exception()) is not None]
        finally:
            places.stopped = True
    if failed:
        raise min(failed, key=lambda error: min(error.rows, default=0) if isinstance(error, RecordError) else -1)
    return [future.result() for future in futures]


# -- who does the work ------------------------------------------------------------------------------


class _Seen:
    """Values that this process has added up so far: after many, compiled kernels pay, also for small batches; and
    whether they have failed."""

    values, broken = 0, False


def choose_kernels(values: int) -> ModuleType:
    """The module that works on blocks: numpy's, or the compiled one where it is installed and worth loading."""
    named = _kernels.get()
    if named == "plain":
        return plain
    _Seen.values += values
    if named is None and (_Seen.broken or _Seen.values < WORTH):
        return plain
    return compiled_kernels() or plain


@cache
def compiled_kernels() -> ModuleType | None:
    """The compiled kernels; None without the `fast` extra, or where its compiler does not load."""
    try:
        return import_module("dpfda.bounds.compiled")
    except Exception:  # whatever is wrong with it: numpy does its work
        return None


def threads() -> int:
    """As many as was asked for, or as this process may use."""
    asked = _threads.get() or os.environ.get(VARIABLE, "")
    if str(asked).isdecimal() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def using(kernels: str | None = None, threads: int | None = None) -> Iterator[None]:
    """Inside, work with these kernels ("plain" or "compiled") or so many threads; the totals are the same."""
    marks = _kernels.set(kernels or _kernels.get()), _threads.set(threads or _threads.get())
    try:
        yield
    finally:
        _kernels.reset(marks[0])
        _threads.reset(marks[1])


class _Blas:
    """How many loops hold the linear algebra library to one thread, and what to do when the last one is done."""

    lock, holders, release = threading.Lock(), 0, staticmethod(lambda: None)


@cache
def _libraries(scipy_too: bool) -> threadpoolctl.ThreadpoolController:
    """The libraries with threads of their own, that of scipy too where it is loaded; finding them takes a while."""
    return threadpoolctl.ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, matrix products take one thread each: a loop has threads of its own, and small ones only wait."""
    with _Blas.lock:
        if _Blas.holders == 0:
            _Blas.release = (
                _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas").restore_original_limits
            )
        _Blas.holders += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.holders -= 1
            if _Blas.holders == 0:
                _Blas.release()
