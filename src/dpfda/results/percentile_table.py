"""The numbers that percentile curves are published as: a table of levels by times, and how sure each of them is.

The table is kept with a release, so that it shows the same curves whatever a later version would fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpfda.results.bands import check_level

#: Levels of every table, beside those that a plan asks for: an eightieth apart, and closer at both ends.
SIDES = (0.001, 0.0025, 0.005)
LEVELS = np.unique(np.round([*SIDES, *(np.arange(1, 80) / 80), *(1 - np.array(SIDES))], 12))
#: Levels of confidence that bands are kept for.
CONFIDENCE = np.array([0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.999])


def table_levels(asked: tuple[float, ...]) -> np.ndarray:
    """The levels of a table."""
    return np.unique(np.append(LEVELS, asked))


@dataclass(frozen=True, eq=False)
class PercentileTable:
    """Quantiles by level and time, and bands of those that were asked for.

    `bands` holds lower and upper limits, simultaneous, for each level of `CONFIDENCE`.
    """

    asked: tuple[float, ...]
    low: float
    high: float
    quantiles: np.ndarray
    bands: np.ndarray

    @classmethod
    def of(cls, flat: np.ndarray, asked: tuple[float, ...], low: float, high: float, times: int) -> PercentileTable:
        """The table that :attr:`flat` wrote."""
        size, shape = table_levels(asked).size * times, (CONFIDENCE.size, 2, len(asked), times)
        if flat.shape != (size + int(np.prod(shape)),):
            raise ValueError("not a table of these levels and times")
        return cls(asked, low, high, flat[:size].reshape(-1, times), flat[size:].reshape(shape))

    @property
    def flat(self) -> np.ndarray:
        """All numbers, one after another."""
        return np.concatenate([self.quantiles.ravel(), self.bands.ravel()])

    @property
    def is_whole(self) -> bool:
        """Whether curves do not cross, stay inside the range, and lie within their bands."""
        rising = (np.diff(self.quantiles, axis=0) >= 0).all()
        inside = all((part >= self.low).all() and (part <= self.high).all() for part in (self.quantiles, self.bands))
        held = (self.bands[:, 0] <= self.values).all() and (self.values <= self.bands[:, 1]).all()
        return bool(rising and inside and held)

    @property
    def levels(self) -> np.ndarray:
        return table_levels(self.asked)

    @property
    def values(self) -> np.ndarray:
        """The quantiles that were asked for, one row per level."""
        return np.asarray(self.quantiles[np.searchsorted(self.levels, self.asked)])

    @property
    def _whole(self) -> tuple[np.ndarray, np.ndarray]:
        """Levels from 0 to 1, and their quantiles: the ends of the range are those of 0 and 1."""
        times = self.quantiles.shape[1]
        ends = np.full((1, times), self.low), np.full((1, times), self.high)
        return np.concatenate([[0.0], self.levels, [1.0]]), np.concatenate([ends[0], self.quantiles, ends[1]])

    def at(self, level: np.ndarray) -> np.ndarray:
        """Quantiles at any levels, linear between those of the table: one row per level."""
        levels, rows = self._whole
        right = np.clip(np.searchsorted(levels, level), 1, levels.size - 1)
        share = ((level - levels[right - 1]) / (levels[right] - levels[right - 1]))[:, None]
        found: np.ndarray = (1 - share) * rows[right - 1] + share * rows[right]
        return np.asarray(np.clip(found, rows[right - 1], rows[right]))

    def shares_below(self, curves: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The largest level at or below `y`, where `curves` are the quantiles of all levels at some points.

        `curves` has one column for each of the values `y`.
        """
        levels = self._whole[0]
        found = np.empty(y.size)
        for place, (column, value) in enumerate(zip(curves.T, y.tolist(), strict=True)):
            right = int(np.searchsorted(column, value, side="right"))
            if right in (0, levels.size):
                found[place] = 0.0 if right == 0 else 1.0
                continue
            rise = column[right] - column[right - 1]
            share = min(max((value - column[right - 1]) / rise, 0.0), 1.0)
            found[place] = levels[right - 1] + share * (levels[right] - levels[right - 1])
        return found

    @property
    def whole_quantiles(self) -> np.ndarray:
        return self._whole[1]

    def limits(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """The band of this confidence for the levels that were asked for: between and beyond those that are kept."""
        check_level(level)
        rare, kept = -np.log1p(-level), -np.log1p(-CONFIDENCE)
        right = int(np.clip(np.searchsorted(kept, rare), 1, kept.size - 1))
        share = (rare - kept[right - 1]) / (kept[right] - kept[right - 1])
        lower, upper = (1 - share) * self.bands[right - 1] + share * self.bands[right]
        values = self.values
        return np.clip(lower, self.low, values), np.clip(upper, values, self.high)
