"""Somebody who watches a release: told of its phases in order, and able to stop it before the charge.

The watcher is known by the context it was named in, so that no function between a verb and the loop over rows has to
hand it on. It is told nothing that is private: where the number of records is, it hears that reading goes on, by the
clock and never by the block.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

log = logging.getLogger("dpfda")
#: Seconds between two words where blocks must not be counted.
BEAT = 0.1


@dataclass(frozen=True)
class Phase:
    """What a release is doing.

    Parameters
    ----------
    name : str
        "checking" (plan and ledger), "reading" (the records), "charging" (the ledger, next), "charged", "drawing"
        (noise) or "done". Without a ledger nothing is charged, and "drawing" is the first that cannot be undone.
    number, of : int, optional
        Which reading this is, of how many; `of` is None while records are counted for a plan that is not made yet.
    rows, rows_total : int, optional
        Rows read so far in this reading, and all of them where that is known. Only where the number of records is
        public.
    bytes, bytes_total : int, optional
        Bytes of the files that are done in this reading, and of all files.
    entry : int, optional
        The entry of the ledger, once it is charged.

    Examples
    --------
    >>> Phase("reading", 2, 4).words, Phase("charged", entry=5).words
    ('Reading 2 of 4', 'Charged as entry 5')
    """

    name: str
    number: int | None = None
    of: int | None = None
    rows: int | None = None
    rows_total: int | None = None
    bytes: int | None = None
    bytes_total: int | None = None
    entry: int | None = None

    @property
    def words(self) -> str:
        """The phase for a person."""
        if self.name == "reading":
            return f"Reading {self.number}" + ("" if self.of is None else f" of {self.of}")
        return f"Charged as entry {self.entry}" if self.name == "charged" else self.name.capitalize()


Watcher: TypeAlias = Callable[[Phase], object]


class Watching:
    """What one watcher has been told: which reading it is, and whether there is a way back."""

    def __init__(self, watch: Watcher):
        self.watch, self.final, self.muted = watch, False, False
        self.readings, self.reading, self.last = 0, Phase("reading", 1), 0.0

    def tell(self, phase: Phase) -> None:
        """Before the charge whatever the watcher raises stops the run; after it, that is logged by its kind alone."""
        if self.muted:
            return
        self.last = time.monotonic()
        if not self.final:
            self.watch(phase)
            return
        try:
            self.watch(phase)
        except Exception as error:  # of somebody else, about whatever: a charged release is finished
            self.muted = True
            log.warning("The watcher raised %s after the charge, and is told nothing more.", type(error).__name__)


_watching: ContextVar[Watching | None] = ContextVar("watching", default=None)


@contextmanager
def watched(watch: Watcher | None) -> Iterator[None]:
    """Within this, `watch` is told the phases of every release, whichever verb, plan or model makes it.

    Before the charge an exception that it raises stops the release: nothing is charged, and the exception comes out.
    After the charge the release is finished whatever it raises; that is logged by its kind, and nothing more is told.
    (A KeyboardInterrupt stops at any time; a note on it says where a charge stands.)

    Parameters
    ----------
    watch : callable, optional
        Called with a :class:`Phase`, in this thread. Of a reading in this process it is called after every block of
        rows, of one on a cluster once. None: nobody watches.

    Yields
    ------
    None
        Control, while `watch` is told.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> told = []
    >>> with dp.engines.watched(told.append):
    ...     release = dp.mean(np.zeros((50, 8)), epsilon=1, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(2))
    >>> list(dict.fromkeys(phase.name for phase in told))
    ['checking', 'reading', 'drawing', 'done']
    """
    token = _watching.set(None if watch is None else Watching(watch))
    try:
        yield
    finally:
        _watching.reset(token)


# -- what a run says ------------------------------------------------------------------------------


def begin() -> None:
    """A release begins."""
    if (found := _watching.get()) is not None:
        found.final, found.muted, found.readings = False, False, 0
        found.tell(Phase("checking"))


def reading(of: int | None) -> None:
    """The records are read next: once more, of so many times."""
    if (found := _watching.get()) is not None:
        number = found.readings = found.readings + 1
        found.reading = Phase("reading", number, None if of is None else max(of, number))
        found.tell(found.reading)


def restart() -> None:
    """What was read does not count: the first reading begins anew."""
    if (found := _watching.get()) is not None:
        found.readings = 0


def tell(name: str, entry: int | None = None) -> None:
    """Anything else. From "charged" or "drawing" on there is no way back."""
    if (found := _watching.get()) is not None:
        found.final = found.final or name in ("charged", "drawing")
        found.tell(Phase(name, entry=entry))


# -- what readers say -----------------------------------------------------------------------------

#: Told how many rows are done, and how many there are.
OnRows: TypeAlias = Callable[[int, int | None], None]
#: Told after each file how many are done, of how many.
OnFile: TypeAlias = Callable[[int, int], None]


def on_rows(private: bool, also: OnRows | None = None) -> OnRows | None:
    """What to call after each block of rows: the watcher, and `also` where rows are public; None for nobody."""
    found = _watching.get()
    if private:
        return None if found is None else _beat(found)
    if found is None:
        return also
    return _rows(found, also)


def _beat(found: Watching) -> OnRows:
    """That reading goes on, now and then."""

    def beat(done: int, total: int | None) -> None:
        if time.monotonic() - found.last >= BEAT:
            found.tell(found.reading)

    return beat


def _rows(found: Watching, also: OnRows | None) -> OnRows:
    def told(done: int, total: int | None) -> None:
        if also is not None:
            also(done, total)
        at = found.reading
        found.tell(Phase("reading", at.number, at.of, done, total, at.bytes, at.bytes_total))

    return told


def on_file(sizes: Callable[[], list[int]], also: OnFile | None = None) -> OnFile | None:
    """What to call after each file, whose `sizes` in bytes are asked for once; None where nobody listens."""
    found = _watching.get()
    if found is None:
        return also
    held: list[int] = []

    def told(done: int, total: int) -> None:
        if also is not None:
            also(done, total)
        held.extend(() if held else sizes())
        at = found.reading
        found.reading = Phase("reading", at.number, at.of, bytes=sum(held[:done]), bytes_total=sum(held))
        found.tell(found.reading)

    return told
