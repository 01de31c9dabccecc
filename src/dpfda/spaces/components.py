"""Curves with several components, such as a position (x, y): one record, one norm, one bound.

Their grid is a line, once per component; the norm is the square root of the sum over components of the integrals
of squares. A kernel acts along the line and takes components for independent, so the functions of the line come
once per component, and what is true of any orthonormal basis on a grid is true of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.spaces.basis import Eigenbasis, _sealed
from dpfda.spaces.grid import AnyGrid, Grid, check_together
from dpfda.spaces.points import as_points

#: More components than any curve has; a name has at most so many characters.
MOST_COMPONENTS, LONGEST = 1000, 60
#: Names that are all spelt out in a sentence.
TOLD = 6


@dataclass(frozen=True, eq=False, repr=False)
class ComponentGrid(AnyGrid):
    """The grid of curves with several components: a `line`, once for each of the `names`.

    A record is one row: all values of the first component, then all of the second, and so on.

    Parameters
    ----------
    names : sequence of str, or int
        Names of the components, or how many there are.
    line : Grid
        What each of them runs along.

    Examples
    --------
    >>> grid = ComponentGrid(("x", "y"), Grid.uniform(0, 1, 48))
    >>> grid.shape
    (2, 48)
    >>> ComponentGrid(3, Grid.uniform(0, 1, 48)).names
    ('1', '2', '3')
    """

    names: tuple[str, ...]
    line: Grid

    def __post_init__(self) -> None:
        if not isinstance(self.line, Grid):
            raise ParameterError("components run along a line", shown(self.line), "Pass Grid.uniform(0, 1, 48), say.")
        names = _as_names(self.names)
        check_together((len(names), self.line.size))
        object.__setattr__(self, "names", names)

    @cached_property
    def axes(self) -> tuple[Grid, ...]:
        """The numbers of the components, and the line."""
        numbers = np.arange(float(self.count))
        # Weight one each, on a span as long as there are components: volumes and averages count them all.
        return Grid(numbers, np.ones(self.count), "component", "", (-0.5, self.count - 0.5)), self.line

    @cached_property
    def points(self) -> np.ndarray:
        """Rows ``(number, t)``, component by component."""
        return self.rows(self.line.points)

    @cached_property
    def weights(self) -> np.ndarray:
        """Those of the line, once for each component."""
        return np.tile(self.line.weights, self.count)

    @property
    def domain(self) -> Grid:
        return self.line

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def length(self) -> float:
        """That of the line: length scales of kernels are measured along it."""
        return self.line.length

    @property
    def name(self) -> str:
        """The names of the axes."""
        return f"component, {self.line.name}"

    @property
    def description(self) -> str:
        """How many components there are, and their names."""
        names = self.names if self.count <= TOLD else (*self.names[:3], "...", self.names[-1])
        return f"{self.count} components ({', '.join(names)})"

    def number(self, component: str | int) -> int:
        """The place of a component, by its name or its number from 0.

        Parameters
        ----------
        component : str or int
            A name, or a number from 0.
        """
        if isinstance(component, str) and component in self.names:
            return self.names.index(component)
        whole = isinstance(component, int | np.integer) and not isinstance(component, bool)
        if not whole or not 0 <= component < self.count:  # type: ignore[operator]
            cure = f"Pass one of the names, or a number from 0 to {self.count - 1}."
            raise ParameterError(f"a curve has {self.description}", shown(component), cure)
        return int(component)

    def rows(self, t: ArrayLike | None = None) -> np.ndarray:
        """Points ``(number, t)`` of all components at times `t` (or at the points of the line), component by component.

        What is a row for each point already stays as it is.

        Parameters
        ----------
        t : array, optional
            Times along the line, or a row ``(number, t)`` for each point. Default: all points of the line.
        """
        if t is None:
            return self.points
        if np.ndim(t) == 2:
            return np.asarray(t, dtype=float)
        times = as_points(t, self.line)
        return np.column_stack([np.repeat(self.axes[0].points, times.size), np.tile(times, self.count)])

    def apart(self, values: np.ndarray) -> np.ndarray:
        """Values at :meth:`rows`, one row per component.

        Parameters
        ----------
        values : array
            Values of all components one after the other, along the last axis.
        """
        return values.reshape(*values.shape[:-1], self.count, -1)

    def __repr__(self) -> str:
        return f"ComponentGrid({self.description}, each on {self.line!r})"


def _as_names(names: Any) -> tuple[str, ...]:
    if isinstance(names, int | np.integer) and not isinstance(names, bool):
        names = [str(i + 1) for i in range(min(int(names), MOST_COMPONENTS + 1))]
    found = tuple(names) if isinstance(names, tuple | list) else ()
    if not 2 <= len(found) <= MOST_COMPONENTS:
        raise ParameterError(
            f"components have between 2 and {MOST_COMPONENTS:,} names",
            shown(names),
            "Pass ('x', 'y'), or their number; a curve with one component lives on a plain Grid.",
        )
    if not all(isinstance(n, str) and n.strip() and n.isprintable() and len(n) <= LONGEST for n in found):
        raise ParameterError(
            f"names of components are short texts of up to {LONGEST} characters", "others", "Pass ('x', 'y'), say."
        )
    if len(set(found)) < len(found):
        raise ParameterError("components must have different names", "a name twice", "Rename one.")
    return found


class ComponentBasis(Eigenbasis):
    """Each function of a line once per component, in the order of their eigenvalues."""

    def __init__(self, grid: AnyGrid, line: Eigenbasis, eigenvalues: np.ndarray | None = None):
        self.grid, self.line = grid, line
        self.count = grid.count
        self.eigenvalues = _sealed(np.repeat(line.eigenvalues, self.count) if eigenvalues is None else eigenvalues)

    def _changed(self, eigenvalues: np.ndarray) -> ComponentBasis:
        needed = -(-eigenvalues.size // self.count)
        return ComponentBasis(self.grid, self.line.first(needed), eigenvalues)

    @cached_property
    def functions(self) -> np.ndarray:
        each = np.einsum("ab,ij->aijb", np.eye(self.count), self.line.functions)
        return _sealed(each.reshape(self.grid.size, -1)[:, : self.size])

    def points(self, t: ArrayLike) -> np.ndarray:
        rows = as_points(t, self.grid)
        if (rows[:, 0] != np.rint(rows[:, 0])).any():
            cure = "Pass rows of a component's number and a time."
            raise ParameterError(f"components are numbered 0 to {self.count - 1}", "numbers between them", cure)
        return rows

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        rows = self.points(t)
        values = np.zeros((len(rows), self.line.size, self.count))
        values[np.arange(len(rows)), :, rows[:, 0].astype(int)] = self.line.evaluate(rows[:, 1], derivative)
        return values.reshape(len(rows), -1)[:, : self.size]

    def synthesize(self, coefficients: ArrayLike) -> np.ndarray:
        c = np.asarray(coefficients, dtype=float)
        whole = np.zeros((*c.shape[:-1], self.line.size * self.count))
        whole[..., : self.size] = c
        curves = self.line.synthesize(whole.reshape(*c.shape[:-1], self.line.size, self.count).swapaxes(-1, -2))
        return curves.reshape(*c.shape[:-1], self.grid.size)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        v = np.asarray(values, dtype=float)
        found = self.line.coefficients(v.reshape(*v.shape[:-1], *self.grid.shape)).swapaxes(-1, -2)
        return found.reshape(*v.shape[:-1], -1)[..., : self.size]


def with_components(line: Grid, data: Any) -> Grid | ComponentGrid:
    """The grid of functional data on this line, with the names of its components where it has several."""
    count = np.shape(data.data_matrix)[-1]
    if np.ndim(data.data_matrix) != 3 or count < 2:
        return line
    given = getattr(data, "coordinate_names", None) or [None] * count
    return ComponentGrid(tuple(str(name or i + 1) for i, name in enumerate(given)), line)


def as_rows(data: Any, grid: AnyGrid | None) -> Any:
    """Functional data, or an array (records, components, points), as one row per record; anything else as it is.

    The grid decides whether records have components; data says so by its shape, never by a value.
    """
    if grid is None or grid.count == 1:
        return data
    if hasattr(data, "data_matrix") and hasattr(data, "grid_points"):
        matrix, own = np.asarray(data.data_matrix), np.asarray(data.grid_points[0], dtype=float)
        same = matrix.ndim == 3 and matrix.shape[1:] == grid.shape[::-1]
        if not same or not np.allclose(own, grid.domain.points, rtol=1e-9, atol=1e-12):
            raise RecordError(
                f"Functional data must have the plan's {grid.count} components, on its grid",
                cure="Build the plan on its grid_points and coordinate_names, or resample it.",
            )
        return matrix.transpose(0, 2, 1).reshape(len(matrix), grid.size)
    if isinstance(data, np.ndarray) and data.ndim == 3:
        if data.shape[1:] != grid.shape or grid.count == grid.domain.size:  # a square could be either way round
            count, points = grid.shape
            raise RecordError(
                f"An array of records must have the shape (n, {count}, {points}), components before points",
                cure=f"Pass rows of {grid.size} values, component after component.",
            )
        return data.reshape(len(data), grid.size)
    return data
