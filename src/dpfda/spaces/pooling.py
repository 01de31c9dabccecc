"""One record per unit: what becomes of all the rows that a person, a household or a device has.

A unit's record is the average of what its rows come to, each alone: of their values, of a public function of them, or
of the cells that they fall into. Averages are made of whole numbers, so the order of rows does not matter
(derivations: units).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dpfda.core.errors import RecordError
from dpfda.spaces.units import Unit

#: Values of a unit's curves are rounded to whole numbers of a quantum before they are added, so that sums are exact
#: in any order: 2^30 quanta make the largest value that a curve inside the bound can have at one point.
QUANTUM_BITS = 30
#: Larger values count as this many quanta; sums of this many curves then fit in 63 bits.
LARGEST, MOST_CURVES = 2.0**46, 2**16
#: A unit's record of cells has this much weight at each place, in whole parts: exact in single precision.
WHOLE = 1 << 16


@dataclass(frozen=True, eq=False)
class Pooling(ABC):
    """What each row comes to, and what the rows of one unit come to together. Subclasses say how."""

    lenient: bool
    unit: Unit | None

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers in one record."""

    @property
    def facts(self) -> list[object]:
        """What decides it beyond the unit, for the key of a summary."""
        return []

    def each(self, rows: np.ndarray) -> np.ndarray:
        """Records where nobody has several: the rows, or what they come to."""
        return rows

    @abstractmethod
    def pooled(self, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """One record per unit, whose rows begin at `starts`; of one without a usable row, all is missing."""

    def check_sizes(self, starts: np.ndarray, size: int) -> np.ndarray:
        """How many rows each unit has; too many are an error (leniently they were dropped before)."""
        sizes = np.diff(np.append(starts, size))
        if sizes.size and sizes.max() > MOST_CURVES:
            raise RecordError(
                f"A {self.unit.name if self.unit else 'unit'} has more than {MOST_CURVES:,} curves",
                cure="Pass unit=dp.Unit(..., most=1000), or check that the column names units.",
            )
        return sizes


@dataclass(frozen=True, eq=False)
class Averages(Pooling):
    """Averages of curves: exact sums of rounded values about a public centre."""

    center: np.ndarray
    outer: float
    weights: np.ndarray
    unusable: str = "A curve holds missing or infinite values"
    cure: str = "Repair it, or pass invalid='center' to leave it out of its average."

    @property
    def width(self) -> int:
        return self.center.size

    @cached_property
    def _quanta(self) -> np.ndarray:
        """A power of two per grid point."""
        largest = self.outer / np.sqrt(self.weights)
        return np.exp2(np.floor(np.log2(largest)) - QUANTUM_BITS)

    @cached_property
    def _per_quantum(self) -> np.ndarray:
        return 1 / self._quanta  # exact: powers of two

    def pooled(self, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """The average of each unit's curves.

        Missing or infinite values make a curve unusable: an error, or no part of the average.
        """
        rows = self.each(rows)
        usable = np.isfinite(rows).all(axis=1)
        if not usable.all() and not self.lenient:
            raise RecordError(self.unusable, np.flatnonzero(~usable).tolist(), self.cure)
        sizes = self.check_sizes(starts, len(rows))
        with np.errstate(all="ignore"):
            quanta = rows - self.center
            quanta *= self._per_quantum
            np.clip(quanta, -LARGEST, LARGEST, out=quanta)
            np.rint(quanta, out=quanta)
            if not usable.all():
                quanta[~usable] = 0.0
            # Whole numbers below 2^53 add up exactly as floats too, and without a copy.
            few = sizes.size > 0 and int(sizes.max()) <= 2**6
            totals = np.add.reduceat(quanta if few else quanta.astype(np.int64), starts, axis=0)
            counts = np.add.reduceat(usable.astype(np.int64), starts)
            return np.asarray(self.center + totals / counts[:, None] * self._quanta)  # none usable: missing


class Placing(Protocol):
    """Where a row falls: at each of several places, into one of several cells."""

    @property
    def shape(self) -> tuple[int, int]:
        """Places of a record, and cells at each."""

    def cells(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell at each place of each row, and which rows are usable; the others' cells may be anything."""


@dataclass(frozen=True, eq=False)
class Shares(Pooling):
    """A unit's rows by the cells they fall into: at each place, whole parts of `WHOLE` that add up to it."""

    placing: Placing
    unusable: str = "A curve holds missing or infinite values"
    cure: str = "Repair it, or pass invalid='center' to leave it out of its average."

    @property
    def width(self) -> int:
        places, count = self.placing.shape
        return places * count if self.unit is not None else places

    def pooled(self, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        cells, usable = self.placing.cells(rows)
        if not usable.all() and not self.lenient:
            raise RecordError(self.unusable, np.flatnonzero(~usable).tolist(), self.cure)
        sizes = self.check_sizes(starts, len(rows))
        places, count = self.placing.shape
        cells = np.clip(cells, 0, count - 1)  # a cell that is none would be another unit's
        owner = np.repeat(np.arange(starts.size), sizes)[usable]
        parts = np.empty((starts.size, places, count), dtype=np.float32)
        rows_of = np.bincount(owner, minlength=starts.size)
        divisor = np.maximum(rows_of, 1)[:, None]
        for place in range(places):
            found = np.bincount(owner * count + cells[usable, place], minlength=starts.size * count)
            # Sums up to each cell are rounded down, so that parts add up whatever the number of rows.
            below = np.cumsum(found.reshape(starts.size, count), axis=1) * WHOLE // divisor
            parts[:, place] = np.diff(below, axis=1, prepend=0)
        parts[rows_of == 0] = np.nan
        return parts.reshape(starts.size, places * count)
