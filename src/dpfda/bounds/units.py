"""Bounds in the units of the curves: a range of values, or a typical distance, that become a ball on a grid.

Neither says anything about the data that must be true: a curve that lies outside is clipped like any other
(derivations: bounded records).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.bodies import Bound, L2Ball
from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, shown
from dpfda.spaces.grid import AnyGrid

#: A domain's length and the sum of its weights are the same where they differ by rounding alone.
ROUNDING = 8 * 2.0**-52
#: A range is wide enough for numbers of its size to be told apart.
NARROWEST = 1e-12


class UnitBound(Fact, ABC):
    """A bound in the units of the curves, which is a ball once the grid is known.

    Examples
    --------
    >>> isinstance(Range(2, 25), UnitBound)
    True
    """

    @abstractmethod
    def on(self, grid: AnyGrid) -> L2Ball:
        """The ball that it is on this grid.

        Parameters
        ----------
        grid : Grid, or a product of grids
            Where curves have their values.

        Returns
        -------
        L2Ball
            The smallest ball, in the grid's inner product, that holds every curve within the bound.
        """


@dataclass(frozen=True, eq=False)
class Range(UnitBound):
    """Values between `low` and `high`: the smallest ball that holds every curve that stays between them.

    Its centre is the middle, its radius half the width times the root of the domain's length. The guarantee never
    needs it to be true.

    Parameters
    ----------
    low, high : float
        Public numbers, in the units of the curves, that you can defend without looking at the data.

    Examples
    --------
    >>> from dpfda.spaces import Grid
    >>> ball = Range(2, 25).on(Grid.uniform(0, 4, 9))
    >>> ball.radius, float(ball.center)
    (23.0, 13.5)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        ends = self.low, self.high
        cure = "Pass dp.Range(2, 25) for values between 2 and 25, say: a range that you can defend without the data."
        if not all(_is_number(end) and abs(end) < 1e60 for end in ends):
            raise ParameterError("a range has two finite numbers (within 1e60)", shown(ends), cure)
        low, high = map(float, ends)
        if not high - low > max(1e-60, NARROWEST * max(abs(low), abs(high))):
            raise ParameterError("a range runs from a number to a larger one", (low, high), cure)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def on(self, grid: AnyGrid) -> L2Ball:
        return L2Ball((self.high - self.low) / 2 * root_length(grid), np.asarray((self.low + self.high) / 2))


@dataclass(frozen=True, eq=False)
class RMS(UnitBound):
    """Curves within `radius` of the centre, as a root mean square over the domain.

    Parameters
    ----------
    radius : float
        A positive public number, in the units of the curves, that you can defend without looking at the data.
    center : float or array, optional
        A public centre: a number, or one value per grid point. Default: zero.

    Examples
    --------
    >>> from dpfda.spaces import Grid
    >>> RMS(1.5, center=0.5).on(Grid.uniform(0, 4, 9)).radius
    3.0
    """

    radius: float
    center: ArrayLike | None = None

    def __post_init__(self) -> None:
        ball = L2Ball(self.radius, self._center)  # the same rules
        object.__setattr__(self, "radius", ball.radius)
        object.__setattr__(self, "center", ball.center)

    @property
    def _center(self) -> np.ndarray | None:
        return None if self.center is None else np.asarray(self.center)

    def on(self, grid: AnyGrid) -> L2Ball:
        return L2Ball(self.radius * root_length(grid), self._center)


#: What a bound on one curve may be, and where it must be a ball.
BoundLike: TypeAlias = Bound | UnitBound
BallLike: TypeAlias = L2Ball | UnitBound


def root_length(grid: AnyGrid) -> float:
    """The root of the domain's length (or area), by the grid's own weights: the norm of the curve that is one.

    >>> from dpfda.spaces import Grid
    >>> root_length(Grid.uniform(0, 9, 100))
    3.0
    """
    if not isinstance(grid, AnyGrid):
        raise ParameterError("a bound in units needs a grid", shown(grid), "Pass dp.Grid.uniform(0, 1, 48), say.")
    length = math.fsum(grid.weights)
    return math.sqrt(grid.volume if abs(length - grid.volume) <= ROUNDING * length else length)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
