"""Functions of one record: what is averaged where it is not the curve itself.

A function looks at one record alone, gives values on a public grid, and brings the bound that they stay within.
Whatever it gives is clipped to that bound like any curve, so that privacy never rests on its being right (derivations:
functions of a record).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.units import BoundLike, Range
from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, shown
from dpfda.core.silence import silence
from dpfda.spaces.grid import AnyGrid, Grid

#: Weights of a grid as whole numbers that add up to about this much: sums of them are exact in floats, in any order.
WHOLE = 2.0**48


@dataclass(frozen=True, eq=False)
class RecordFunction(Fact, ABC):
    """A bounded function of one record, for ``dp.mean(curves, of=...)``. Subclasses say which.

    A subclass is a frozen dataclass whose fields are numbers, texts, arrays or other facts. It says `bound`,
    `description` and `encode`; the rest has defaults. Its name and fields are what plans, files and summaries know it
    by: a function that does something else needs another name. It looks at the record that it is given and at nothing
    else, and keeps nothing between calls.

    Examples
    --------
    >>> isinstance(Above(140), RecordFunction)
    True
    """

    @property
    @abstractmethod
    def bound(self) -> BoundLike:
        """The bound that its values stay within for every record: mostly a :class:`Range`."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What it gives, in words that end the sentence "What is used of each curve is ..."."""

    @property
    def value(self) -> str:
        """What the mean of its values is called, for axes and titles."""
        return "value of a function"

    def grid_of(self, grid: AnyGrid) -> AnyGrid:
        """Where its values live; mostly where the record does.

        Parameters
        ----------
        grid : Grid, or a product of grids
            Where the record lives.

        Returns
        -------
        Grid, or a product of grids
            Where the values of the function live.
        """
        return grid

    @abstractmethod
    def encode(self, values: np.ndarray, grid: AnyGrid) -> ArrayLike:
        """Its values for one record, as many as :meth:`grid_of` has points.

        Parameters
        ----------
        values : array
            The record, in the shape of the grid: finite numbers, a copy of its own.
        grid : Grid, or a product of grids
            Where the record lives.

        Returns
        -------
        array
            Finite numbers. Where it fails or gives something else the record is unusable.
        """

    def finish(self, values: np.ndarray, grid: AnyGrid) -> np.ndarray:
        """What the released mean is brought to, after the noise: the range that holds every mean of its values.

        Parameters
        ----------
        values : array
            The released mean on the grid of the values, as a vector.
        grid : Grid, or a product of grids
            That grid.

        Returns
        -------
        array
            The values inside that range.
        """
        bound = self.bound
        return np.clip(values, bound.low, bound.high) if isinstance(bound, Range) else values

    def _each(self, rows: np.ndarray, grid: AnyGrid, size: int) -> np.ndarray:
        """Its values for finite records, a row of `size` each; all missing where it fails."""
        found = np.full((len(rows), size), np.nan)
        with silence():  # what a record does there is nobody's business
            for row, values in zip(found, rows, strict=True):
                try:
                    row[:] = numbers(self.encode(np.array(values).reshape(grid.shape), grid), size)
                except KeyboardInterrupt:
                    raise
                except BaseException:  # its text may hold values of the record, also where it asks to exit
                    row[:] = np.nan
        return found


def numbers(values: ArrayLike, size: int) -> np.ndarray:
    """What a function gave, as so many numbers."""
    found = np.asarray(values)
    if found.size != size or found.dtype.kind not in "biuf":
        raise ValueError(f"it gives {found.size} values of type {found.dtype} where {size} numbers are expected")
    return found.ravel()


@dataclass(frozen=True, eq=False)
class Above(RecordFunction):
    """Whether a curve is above a level, at each point: 1 where it is, 0 elsewhere. Its mean is the share above.

    Parameters
    ----------
    level : float
        A public number, in the units of the curves.

    Examples
    --------
    >>> Above(140).encode(np.array([120.0, 140.0, 160.0]), Grid.uniform(0, 1, 3)).tolist()
    [False, False, True]
    """

    level: float

    def __post_init__(self) -> None:
        cure = "Pass dp.Above(140), say: a level in the units of the curves."
        object.__setattr__(self, "level", _level(self.level, "a level is a finite number (within 1e60)", cure))

    @property
    def bound(self) -> Range:
        return Range(0, 1)

    @property
    def description(self) -> str:
        return f"1 where it is above {self.level:g} and 0 elsewhere"

    @property
    def value(self) -> str:
        return f"share above {self.level:g}"

    def encode(self, values: np.ndarray, grid: AnyGrid) -> np.ndarray:
        return np.asarray(values > self.level)

    def _each(self, rows: np.ndarray, grid: AnyGrid, size: int) -> np.ndarray:
        if type(self) is not Above:  # whatever else a subclass computes, it sees one record at a time
            return super()._each(rows, grid, size)
        return self.encode(rows, grid).astype(float)


@dataclass(frozen=True, eq=False)
class TimeAbove(RecordFunction):
    """The share of its domain that a curve spends above each of several levels: a curve over levels, from 1 to 0.

    Shares are by the weights of the grid. The mean falls from level to level, and so does what is released.

    Parameters
    ----------
    levels : sequence of float or Grid
        At least two public numbers in rising order, in the units of the curves; a grid also names them.

    Examples
    --------
    >>> TimeAbove([70, 140, 180]).encode(np.array([120.0, 160.0, 200.0]), Grid.uniform(0, 1, 3)).tolist()
    [1.0, 0.75, 0.25]
    """

    levels: Grid
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(self, levels: Sequence[float] | np.ndarray | Grid) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.levels, Grid):
            return
        cure = "Pass dp.TimeAbove([70, 140, 180]), say: levels in the units of the curves."
        if not isinstance(self.levels, Sequence | np.ndarray) or isinstance(self.levels, str):
            raise ParameterError("levels are public numbers in rising order", shown(self.levels), cure)
        rule = "levels are two or more finite numbers (within 1e60) in rising order"
        levels = [_level(level, rule, cure) for level in self.levels]
        if len(levels) < 2 or not (np.diff(levels) > 0).all():
            raise ParameterError(rule, f"{len(levels)} of them" if len(levels) < 2 else "others", cure)
        object.__setattr__(self, "levels", Grid(np.array(levels), name="level"))

    @property
    def bound(self) -> Range:
        return Range(0, 1)

    @property
    def description(self) -> str:
        low, high = self.levels.points[[0, -1]].tolist()
        return (
            f"the share of its domain that it spends above each of {self.levels.size} levels from {low:g} to {high:g}"
        )

    @property
    def value(self) -> str:
        return "share of time above the level"

    def grid_of(self, grid: AnyGrid) -> AnyGrid:
        if grid.count > 1:
            raise ParameterError(
                "the time above a level is that of one curve", grid.description, "Release each component by itself."
            )
        return self.levels

    def encode(self, values: np.ndarray, grid: AnyGrid) -> np.ndarray:
        return np.asarray(self._shares(values.reshape(1, -1), grid)[0])

    def _each(self, rows: np.ndarray, grid: AnyGrid, size: int) -> np.ndarray:
        if type(self) is not TimeAbove:  # as above
            return super()._each(rows, grid, size)
        return self._shares(rows, grid)

    def _shares(self, rows: np.ndarray, grid: AnyGrid) -> np.ndarray:
        """Whole numbers are added up, so that the company of a record cannot change a bit."""
        size = self.levels.size
        weights = np.rint(grid.weights * (WHOLE / grid.weights.sum()))
        passed = np.searchsorted(self.levels.points, rows)  # levels that lie below each value
        places = passed + np.arange(len(rows))[:, None] * (size + 1)
        parts = np.bincount(places.ravel(), np.tile(weights, len(rows)), len(rows) * (size + 1))
        within = np.cumsum(parts.reshape(len(rows), size + 1)[:, :0:-1], axis=1)
        return np.asarray(within[:, ::-1] / weights.sum())

    def finish(self, values: np.ndarray, grid: AnyGrid) -> np.ndarray:
        return super().finish(_falling(values, grid.weights), grid)


def _level(level: float, rule: str, cure: str) -> float:
    number = isinstance(level, int | float | np.integer | np.floating)
    if not number or isinstance(level, bool) or not abs(float(level)) < 1e60:
        raise ParameterError(rule, shown(level), cure)
    return float(level)


def _falling(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest values that never rise: neighbours that do are averaged.

    >>> _falling(np.array([0.9, 0.2, 0.4, 0.1]), np.ones(4)).round(6).tolist()
    [0.9, 0.3, 0.3, 0.1]
    """
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        block = (value, weight, 1)
        while blocks and blocks[-1][0] < block[0]:
            before, much, count = blocks.pop()
            block = ((before * much + block[0] * block[1]) / (much + block[1]), much + block[1], count + block[2])
        blocks.append(block)
    return np.repeat([block[0] for block in blocks], [block[2] for block in blocks])
