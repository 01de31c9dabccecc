"""Problems whose records are read by another one: what they say of records is what that one says."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dpfda.problems.defaults import Counted, DefaultProblem, HasNeighbors
from dpfda.problems.summary import Summary
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.rules import Rules


class Reader(Counted, HasNeighbors, Protocol):
    """Whoever reads the records."""

    def check(self, summary: Summary) -> None:
        """Refuse a summary that does not belong here."""


class HasReader(Protocol):
    """Whoever leaves the reading to another problem."""

    @property
    def inner(self) -> Reader: ...


class SameRecords(DefaultProblem):
    """Records as `inner` reads them."""

    @property
    def n(self: HasReader) -> int:
        return self.inner.n

    @property
    def neighbors(self: HasReader) -> str:
        return self.inner.neighbors

    @property
    def invalid(self: HasReader) -> str:
        return self.inner.invalid

    @property
    def alignment(self: HasReader) -> Rules | None:
        return self.inner.alignment

    @property
    def record(self: HasReader) -> str:
        return self.inner.record

    @property
    def record_grid(self: HasReader) -> AnyGrid | None:
        return self.inner.record_grid

    @property
    def width(self: HasReader) -> int:
        return self.inner.width


class SameSummary(SameRecords):
    """Another statistic of the same summary: nothing is read again."""

    @property
    def key(self: HasReader) -> str:
        return self.inner.key

    def total(self: HasReader, batch: np.ndarray) -> np.ndarray:
        return self.inner.total(batch)

    def check(self: HasReader, summary: Summary) -> None:
        self.inner.check(summary)
