"""Curves as cells of a public range: at each point of the grid, the cell that the value falls into, counted exactly.

The summary is a table of counts, one row per point and one column per cell. Everything that percentile curves need is
linear in it, so records are read once however many stages follow (derivations: percentiles).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpfda.bounds.loops import Block, add_up
from dpfda.core import codec
from dpfda.core.doubles import doubles
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.defaults import HasNeighbors, check_count, check_key
from dpfda.problems.summary import Summary, are_integers
from dpfda.spaces.grid import Grid
from dpfda.spaces.pooling import WHOLE
from dpfda.spaces.rules import Rules

#: Rows that are placed at a time: as many values as stay in a processor's cache, and enough to pay for a table.
VALUES = 1 << 20


@dataclass(frozen=True, eq=False)
class Cells:
    """Equal cells of the range from `low` to `high`; values beyond it are in the outermost ones."""

    low: float
    high: float
    count: int
    points: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.points, self.count

    @property
    def middle(self) -> int:
        """The cell of a value that cannot be used: mid-range."""
        return self.count // 2

    def cells(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each value, and which curves are usable: all of their values are numbers."""
        usable = np.isfinite(rows).all(axis=1)
        with np.errstate(all="ignore"):  # what a value does in a comparison or a cast is nobody's business
            places = np.clip(doubles(rows), self.low, self.high)  # single precision would round the ends
            places -= self.low
            places *= self.count / (self.high - self.low)
            places[~usable] = self.middle
            cells = places.astype(np.int64)
        return np.clip(cells, 0, self.count - 1, out=cells), usable

    @cached_property
    def edges(self) -> np.ndarray:
        """Where cells begin and end."""
        return np.linspace(self.low, self.high, self.count + 1)


@dataclass(frozen=True, eq=False)
class ValueCells:
    """How many of `n` curves are in each cell at each point of the grid: an encoder, for all stages of a plan."""

    grid: Grid
    cells: Cells
    n: int
    neighbors: str = "replace"
    invalid: str = "raise"
    alignment: Rules | None = None

    kind = Summary

    @property
    def count_is_private(self: HasNeighbors) -> bool:
        return self.neighbors == "add-remove"

    @property
    def has_units(self) -> bool:
        """Whether a record is a unit's: shares of cells, instead of a curve."""
        return self.alignment is not None and self.alignment.unit is not None

    @property
    def whole(self) -> int:
        """What one record adds to the counts of each point."""
        return WHOLE if self.has_units else 1

    @property
    def record(self) -> str:
        unit = None if self.alignment is None else self.alignment.unit
        return "curve" if unit is None else unit.name

    @property
    def record_grid(self) -> Grid:
        return self.grid

    @property
    def width(self) -> int:
        points, count = self.cells.shape
        return points * count if self.has_units else points

    @cached_property
    def key(self) -> str:
        cells, rules = self.cells, [] if self.alignment is None else self.alignment.facts
        facts = ["cells", self.grid.points.tolist(), cells.low, cells.high, cells.count, self.invalid, *rules]
        if (fill := getattr(self.alignment, "fill", None)) is not None:
            facts.append(["fill", fill])
        return codec.digest(facts)

    # -- one record -----------------------------------------------------------------------

    def total(self, batch: np.ndarray) -> np.ndarray:
        """The table of counts of a batch, point by point, exact integers. A total function where records may be."""
        totals = self._shares if self.has_units else self.block_totals
        return add_up(totals, batch, rows=max(1, VALUES // self.width))

    def block_totals(self, block: Block) -> np.ndarray:
        """The same for a block of curves; an unusable one is an error, or (``invalid="center"``) mid-range."""
        places, usable = self.cells.cells(block.rows)
        self._refuse(usable)
        points, count = self.cells.shape
        places += np.arange(points) * count
        return np.bincount(places.ravel(), minlength=points * count)

    def _shares(self, block: Block) -> np.ndarray:
        """The same for a block of units, each a row of whole parts; a row that is none counts as mid-range."""
        points, count = self.cells.shape
        rows = block.rows.reshape(len(block.rows), points, count)
        with np.errstate(invalid="ignore"):
            fair = (rows >= 0).all(axis=(1, 2)) & (rows == np.floor(rows)).all(axis=(1, 2))
            usable = fair & (rows.sum(axis=2, dtype=float) == WHOLE).all(axis=1)
        self._refuse(usable)
        totals = rows[usable].sum(axis=0, dtype=float).astype(np.int64)
        totals[:, self.cells.middle] += WHOLE * int((~usable).sum())
        return totals.ravel()

    def _refuse(self, usable: np.ndarray) -> None:
        if self.invalid == "raise" and not usable.all():
            raise RecordError(
                "A curve holds missing or infinite values",
                np.flatnonzero(~usable).tolist(),
                "Repair it, pass fill=<longest gap> to dp.read, or invalid='center' to count it as mid-range.",
            )

    # -- all records ----------------------------------------------------------------------

    def check(self, summary: Summary) -> None:
        """Refuse a summary that does not belong here: every record adds the same to each point."""
        check_key(self, summary, "grid, range, cells or per-curve options")
        totals = summary.totals
        points, count = self.cells.shape
        if totals.shape != (points * count,) or not are_integers(totals) or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
        whole = summary.count * self.whole
        damaged = bool((totals < 0).any() or (totals > whole).any())
        if not damaged:
            exact = totals if whole * count < 2**62 else totals.astype(object)  # of which no sum wraps around
            damaged = any(int(x) != whole for x in exact.reshape(points, count).sum(axis=1))
        if damaged:
            raise PlanMismatch("This summary holds counts that no curves can have; it is damaged.")
        check_count(self, summary)

    def table(self, summary: Summary) -> np.ndarray:
        """Counts by point and cell; beyond 2^62 in all as Python integers."""
        large = summary.count * self.whole >= 2**62
        return (summary.totals.astype(object) if large else summary.totals).reshape(self.cells.shape)
