"""The domain of a curve or surface: points, quadrature weights, and one inner product.

Clipping, standardising, coefficients, norms and sensitivities all use
``<f, g> = sum q_i f_i g_i`` with the weights kept here, so the guarantee is about the
numbers the computer handles (derivations: inner product).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.checks import check_name
from dpfda.core.codec import Fact, frozen_array
from dpfda.core.errors import ParameterError, shown
from dpfda.spaces.quadrature import checked_weights, rule_of, weights_by

#: Points along one line, and of all combinations of several: more than any curve or surface has, and few enough that
#: a plan and a release of them fit into a file. Memory for a matrix of them is checked where one is needed.
MOST_POINTS, MOST_TOGETHER = 1_000_000, 2**24
#: Beyond this squares and quotients of places leave the range of numbers.
FARTHEST = 1e60


class AnyGrid(Fact, ABC):
    """Where records live: a line (`Grid`), a surface (`ProductGrid`), or a line per component (`ComponentGrid`).

    What is asked of all of them. A record is one row of `size` values, the last axis fastest.

    Examples
    --------
    >>> [Grid.uniform(0, 1, 3).noun, Grid.product(Grid.uniform(0, 1, 3), Grid.uniform(0, 2, 4)).noun]
    ['curve', 'surface']
    """

    #: Whether this is one line and nothing more.
    is_line: ClassVar[bool] = False

    if TYPE_CHECKING:  # every grid has these: some as fields, which a property here would hide

        @property
        @abstractmethod
        def axes(self) -> tuple[Grid, ...]: ...
        @property
        @abstractmethod
        def points(self) -> np.ndarray: ...
        @property
        @abstractmethod
        def weights(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def length(self) -> float:
        """What length scales of kernels are measured against."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many points each axis has."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """How many values a record has."""
        return math.prod(self.shape)

    @property
    def volume(self) -> float:
        """Length of a line, area or volume of a product, once per component."""
        return float(np.prod([axis.length for axis in self.axes]))

    @property
    def label(self) -> str:
        """Axis label for plots."""
        return ", ".join(axis.label for axis in self.axes)

    @property
    def domain(self) -> AnyGrid:
        """Where kernels act, and what one component runs along: mostly the grid itself."""
        return self

    @property
    def noun(self) -> str:
        """What a record is called."""
        return "curve" if self.domain.is_line else "surface"

    @property
    def count(self) -> int:
        """How many components a record has."""
        return 1

    @property
    def description(self) -> str:
        """The components in words; nothing where there is one."""
        return ""

    def rows(self, t: ArrayLike | None = None) -> ArrayLike:
        """Points `t` (or all of the grid) at which a basis is evaluated.

        Parameters
        ----------
        t : array, optional
            Points of one's own. Default: all of the grid.
        """
        return self.points if t is None else t

    def apart(self, values: np.ndarray) -> np.ndarray:
        """Values at :meth:`rows`, one row per component where there are several.

        Parameters
        ----------
        values : array
            One value for each of those points, along the last axis.
        """
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Grid(AnyGrid):
    """Increasing points with positive quadrature weights.

    Parameters
    ----------
    points : array of float
        At least two, finite and strictly increasing.
    weights : str or array of float, optional
        "trapezoid" (default), "equal" (span / size each) or one positive number per point.
    name, unit : str, optional
        Of the axis, for labels. Default: "t", without a unit.
    span : pair of float, optional
        The ends of the domain, which holds every point. Default: the first and the last point.

    Examples
    --------
    >>> grid = Grid([0.0, 0.5, 2.0], name="hour", unit="h")
    >>> grid.weights.tolist()
    [0.25, 1.0, 0.75]
    >>> Grid.uniform(0, 1, 3)
    Grid(3 points of t on [0, 1], trapezoid weights)
    """

    is_line: ClassVar[bool] = True
    points: np.ndarray
    weights: np.ndarray = "trapezoid"  # type: ignore[assignment]
    name: str = "t"
    unit: str = ""
    span: tuple[float, float] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        points = frozen_array(_numbers(self.points) + 0.0)  # no negative zeros
        if points.ndim != 1 or not 2 <= points.size <= MOST_POINTS:
            raise ParameterError(
                f"a grid needs at least two points in one dimension, and at most {MOST_POINTS:,}",
                f"shape {points.shape}",
                "Pass a list such as [0, 0.5, 1].",
            )
        if not (np.abs(points) < FARTHEST).all() or not (np.diff(points) > 0).all():
            raise ParameterError(
                f"grid points must be finite (within {FARTHEST:g}) and strictly increasing",
                "points that are not",
                "Sort them and drop repeats.",
            )
        low, high = (float(points[0]), float(points[-1])) if self.span is None else _pair(self.span)
        if not -FARTHEST < low <= points[0] <= points[-1] <= high < FARTHEST:
            raise ParameterError("the span must be finite and hold every grid point", (low, high), "Widen it.")
        for text in (self.name, self.unit):
            check_name("names and units of axes", text)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "span", (low, high))
        weights = self.weights
        if isinstance(weights, str):
            weights = weights_by(weights, points, high - low)
        object.__setattr__(self, "weights", checked_weights(_numbers(weights), points))

    @classmethod
    def uniform(
        cls,
        start: float,
        stop: float,
        size: int,
        weights: str | ArrayLike = "trapezoid",
        name: str = "t",
        unit: str = "",
    ) -> Grid:
        """Equally spaced points including both ends.

        Parameters
        ----------
        start, stop : float
            The ends of the domain.
        size : int
            The number of points.
        weights : "trapezoid", "equal" or array, optional
            As for :class:`Grid`.
        name, unit : str, optional
            As for :class:`Grid`.

        Examples
        --------
        >>> Grid.uniform(0, 1, 5).points.tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        _check_size(start, stop, size)
        return cls(np.linspace(start, stop, size), weights, name, unit)  # type: ignore[arg-type]

    @classmethod
    def midpoints(cls, start: float, stop: float, size: int, name: str = "t", unit: str = "") -> Grid:
        """Centres of `size` equal cells, equal weights: the home of the cosine basis.

        Parameters
        ----------
        start, stop : float
            The ends of the domain.
        size : int
            The number of cells.
        name, unit : str, optional
            As for :class:`Grid`.

        Examples
        --------
        >>> Grid.midpoints(0, 1, 4).points.tolist()
        [0.125, 0.375, 0.625, 0.875]
        """
        _check_size(start, stop, size)
        points = start + (np.arange(size) + 0.5) * ((stop - start) / size)
        return cls(points, "equal", name, unit, (start, stop))  # type: ignore[arg-type]

    @staticmethod
    def product(*axes: Grid) -> ProductGrid:
        """The grid of a surface: every combination of the axes' points.

        Parameters
        ----------
        *axes : Grid
            One for each direction.

        Examples
        --------
        >>> Grid.product(Grid.uniform(0, 1, 3), Grid.uniform(0, 2, 4)).size
        12
        """
        return ProductGrid(tuple(axes))

    @property
    def size(self) -> int:
        """How many points there are."""
        return self.points.size

    @property
    def axes(self) -> tuple[Grid, ...]:
        """The grid itself: a line has one axis."""
        return (self,)

    @property
    def length(self) -> float:
        low, high = self.span
        return high - low

    @cached_property
    def is_midpoints(self) -> bool:
        """Whether sampled cosines are exactly orthonormal here (derivations: inner product)."""
        cell = self.length / self.size
        centres = (np.arange(self.size) + 0.5) * cell
        # Relative to the start: far from zero the points themselves are rounded, and must not pass.
        shifts = np.abs((self.points - self.span[0]) - centres)
        return float(shifts.max()) < 1e-12 * self.length and float(np.abs(self.weights - cell).max()) < 1e-12 * cell

    @property
    def rule(self) -> str:
        """The named quadrature rule that the weights follow, or "given"."""
        return rule_of(self.weights, self.points, self.length)

    @property
    def label(self) -> str:
        """Axis label for plots."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def inner(self, f: ArrayLike, g: ArrayLike) -> np.ndarray:
        """The inner product ``sum q_i f_i g_i`` over the last axis, with the weights ``q``.

        Parameters
        ----------
        f, g : array
            Values at the points, along the last axis.
        """
        return np.sum(self.weights * np.asarray(f) * np.asarray(g), axis=-1)

    def norm(self, f: ArrayLike) -> np.ndarray:
        """The square root of the inner product of `f` with itself.

        Parameters
        ----------
        f : array
            Values at the points, along the last axis.
        """
        return np.sqrt(self.inner(f, f))

    def __repr__(self) -> str:
        low, high = self.span
        return f"Grid({self.size} points of {self.label} on [{low:g}, {high:g}], {self.rule} weights)"


def _numbers(values: ArrayLike) -> np.ndarray:
    try:
        return frozen_array(values)
    except (TypeError, ValueError):
        return frozen_array([])


def _pair(span: ArrayLike) -> list[float]:
    if _numbers(span).shape != (2,):
        raise ParameterError("the span is a pair of numbers", type(span).__name__, "Pass span=(0, 24), say.")
    return [float(end) for end in _numbers(span)]


def _check_size(start: float, stop: float, size: int) -> None:
    numbers = all(isinstance(end, int | float | np.number) for end in (start, stop))
    if not numbers or not -FARTHEST < start < stop < FARTHEST:
        raise ParameterError("a grid must run from a start to a larger stop", (start, stop), "Swap the ends.")
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 2 <= size <= MOST_POINTS:
        raise ParameterError(f"a grid has between 2 and {MOST_POINTS:,} points", shown(size), "Pass a whole number.")


@dataclass(frozen=True, eq=False, repr=False)
class ProductGrid(AnyGrid):
    """Every combination of the points of several axes, last axis fastest.

    Parameters
    ----------
    axes : sequence of Grid
        One for each direction; :meth:`Grid.product` takes them one by one.

    Examples
    --------
    >>> Grid.product(Grid.uniform(0, 1, 3), Grid.uniform(0, 2, 4)).shape
    (3, 4)
    """

    axes: tuple[Grid, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes))
        if not self.axes or not all(isinstance(axis, Grid) for axis in self.axes):
            raise ParameterError(
                "a product needs grids as axes", type(self.axes).__name__, "Pass Grid objects: Grid.product(a, b)."
            )
        check_together(self.shape)

    @cached_property
    def points(self) -> np.ndarray:
        """One row per point, one column per axis."""
        mesh = np.meshgrid(*(axis.points for axis in self.axes), indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=-1)

    @cached_property
    def weights(self) -> np.ndarray:
        """Products of the weights of the axes, the last axis fastest."""
        weights = self.axes[0].weights
        for axis in self.axes[1:]:
            weights = np.multiply.outer(weights, axis.weights).ravel()
        return weights

    @property
    def length(self) -> float:
        """The longest side, against which length scales are measured."""
        return max(axis.length for axis in self.axes)

    @property
    def name(self) -> str:
        """The names of the axes."""
        return ", ".join(axis.name for axis in self.axes)

    def __repr__(self) -> str:
        sides = " x ".join(f"[{axis.span[0]:g}, {axis.span[1]:g}]" for axis in self.axes)
        return f"ProductGrid({' x '.join(map(str, self.shape))} points of {self.label} on {sides})"


def check_together(shape: tuple[int, ...]) -> None:
    """Refuse, before anything is laid out, more combinations of points than a surface has."""
    if math.prod(shape) > MOST_TOGETHER:
        size = " x ".join(map(str, shape[:4])) + (" x ..." if len(shape) > 4 else "")
        raise ParameterError(f"a grid has at most {MOST_TOGETHER:,} points altogether", size, "Ask for fewer.")
