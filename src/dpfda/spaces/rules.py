"""How rows become records: the contract that engines read by, for curves and for plain rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpfda.core import codec
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.pooling import Pooling
from dpfda.spaces.units import Unit

if TYPE_CHECKING:
    from dpfda.spaces.own_times import Align


class Ragged(Protocol):
    """Curves at their own times, one after another: `starts` has one entry more than there are curves."""

    @property
    def times(self) -> np.ndarray | None: ...
    @property
    def values(self) -> np.ndarray: ...
    @property
    def starts(self) -> np.ndarray | None: ...


class Rules(Protocol):
    """Whose rows are, how each is brought to its grid, and what the rows of one unit come to."""

    @property
    def unit(self) -> Unit | None: ...
    @property
    def align(self) -> Align | None: ...
    @property
    def grid(self) -> AnyGrid | None:
        """Where rows that are curves live."""

    @property
    def lenient(self) -> bool:
        """Whether an unusable row is left out or missing; else it is an error."""

    @property
    def width(self) -> int:
        """Numbers in one row, as it is read."""

    @property
    def record_width(self) -> int:
        """Numbers in one record."""

    @property
    def facts(self) -> list[object]:
        """What decides how a record comes about, for the key of a summary."""

    @property
    def rules(self) -> tuple[object, ...]:
        """All that decides what becomes of a row."""

    def filled(self, rows: np.ndarray) -> np.ndarray:
        """Rows whose gaps are bridged, where that is the rule."""

    def on_grid(self, ragged: Ragged) -> np.ndarray:
        """Curves at their own times as rows."""

    def each(self, rows: np.ndarray) -> np.ndarray:
        """Records where nobody has several rows."""

    def contributions(self, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """One record for each unit, whose rows begin at `starts`."""


@dataclass(frozen=True, eq=False)
class PlainRows:
    """Rows that are no curves: taken as they are, pooled by unit."""

    width: int
    pooling: Pooling
    align: None = None

    @property
    def unit(self) -> Unit | None:
        return self.pooling.unit

    @property
    def grid(self) -> None:
        return None

    @property
    def lenient(self) -> bool:
        return self.pooling.lenient

    @property
    def record_width(self) -> int:
        return self.pooling.width

    @property
    def facts(self) -> list[object]:
        return [codec.to_plain(self.unit), *self.pooling.facts]

    @property
    def rules(self) -> tuple[object, ...]:
        return (codec.canonical(self.facts), self.width)

    def filled(self, rows: np.ndarray) -> np.ndarray:
        return rows

    def on_grid(self, ragged: Ragged) -> np.ndarray:
        raise AssertionError("rows that are no curves have no times")

    def each(self, rows: np.ndarray) -> np.ndarray:
        return self.pooling.each(rows)

    def contributions(self, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return self.pooling.pooled(rows, starts)
