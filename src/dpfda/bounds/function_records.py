"""Records that are functions of curves: applied to each curve alone, averaged where a unit has several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpfda.bounds.functions import RecordFunction
from dpfda.core import codec
from dpfda.core.doubles import doubles
from dpfda.core.errors import RecordError
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.pooling import Averages


@dataclass(frozen=True, eq=False, kw_only=True)
class Functions(Averages):
    """What a function gives for each curve; centre, length and weights are those of its values.

    A curve is unusable if it holds missing or infinite values, or if the function gives no finite numbers for it: an
    error, or missing (derivations: functions of a record).
    """

    function: RecordFunction
    grid: AnyGrid
    fill: int | None

    @property
    def facts(self) -> list[object]:
        """The function, where curves live, and the gaps that are filled before it."""
        where = [self.grid.points.tolist(), self.grid.weights.tolist()]
        return [codec.to_plain(self.function), *where, self.fill]

    def each(self, rows: np.ndarray) -> np.ndarray:
        rows = doubles(rows)
        found = np.full((len(rows), self.width), np.nan)
        usable = np.isfinite(rows).all(axis=1)
        self._stop_at(~usable, self.unusable)
        found[usable] = self.function._each(rows[usable], self.grid, self.width)
        failed = ~np.isfinite(found).all(axis=1)
        self._stop_at(failed, f"{type(self.function).__name__} gives no finite numbers for a curve")
        found[failed] = np.nan
        return found

    def _stop_at(self, which: np.ndarray, problem: str) -> None:
        if which.any() and not self.lenient:
            raise RecordError(problem, np.flatnonzero(which).tolist(), self.cure)
