"""Products of cosines on a box of one, two or three dimensions.

At midpoints with equal weights they are orthonormal as they are, in any dimension; functions are
put together axis by axis, so that a million cells cost little more than a thousand.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.basis import Eigenbasis, _first_only, _sealed
from dpfda.spaces.grid import AnyGrid


class ProductBasis(Eigenbasis):
    """``prod_a psi_(j_a)(x_a)``, one function per row of `index`, in the order of that index."""

    def __init__(self, grid: AnyGrid, eigenvalues: np.ndarray, index: np.ndarray):
        self.grid = grid
        self.eigenvalues, self.index = _sealed(np.asarray(eigenvalues, dtype=float)), _sealed(np.asarray(index))

    @abstractmethod
    def along(self, axis: int, points: np.ndarray, derivative: int = 0) -> np.ndarray:
        """The functions of one axis at these points, one column each."""

    @cached_property
    def frequencies(self) -> tuple[int, ...]:
        """How many functions each axis contributes."""
        return tuple(int(top) + 1 for top in self.index.max(axis=0))

    @cached_property
    def _lines(self) -> list[np.ndarray]:
        return [self.along(a, axis.points) for a, axis in enumerate(self.grid.axes)]

    @cached_property
    def functions(self) -> np.ndarray:
        return _sealed(self.evaluate(self.grid.points))

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        _first_only(derivative)
        points = self.points(t)
        columns = points[:, None] if points.ndim == 1 else points
        if derivative and columns.shape[1] > 1:
            raise ParameterError("derivatives are for curves", "a surface", "Difference it on the grid.")
        values = np.ones((len(columns), self.size))
        for a, column in enumerate(columns.T):
            values *= self.along(a, column, derivative)[:, self.index[:, a]]
        return values

    def synthesize(self, coefficients: ArrayLike) -> np.ndarray:
        c = np.asarray(coefficients, dtype=float)
        tensor = np.zeros((*c.shape[:-1], *self.frequencies))
        tensor[(..., *self.index.T)] = c
        for a, line in enumerate(self._lines):
            tensor = np.moveaxis(np.moveaxis(tensor, a - len(self._lines), -1) @ line.T, -1, a - len(self._lines))
        return tensor.reshape(*c.shape[:-1], self.grid.size)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        v = np.asarray(values, dtype=float)
        tensor = v.reshape(*v.shape[:-1], *self.grid.shape)
        for a, (axis, line) in enumerate(zip(self.grid.axes, self._lines, strict=True)):
            place = a - len(self._lines)
            tensor = np.moveaxis(np.moveaxis(tensor, place, -1) @ (axis.weights[:, None] * line), -1, place)
        return tensor[(..., *self.index.T)]


class CosineProductBasis(ProductBasis):
    """Products of ``1, sqrt(2) cos(pi j x), ...``, scaled to the sides of the box."""

    def __init__(self, grid: AnyGrid, eigenvalues: np.ndarray, index: np.ndarray):
        if not all(axis.is_midpoints for axis in grid.axes):
            raise ParameterError(
                "products of cosines live at midpoints of equal cells", "another grid", "Use Grid.midpoints."
            )
        super().__init__(grid, eigenvalues, index)

    def _changed(self, eigenvalues: np.ndarray) -> CosineProductBasis:
        return CosineProductBasis(self.grid, eigenvalues, self.index[: eigenvalues.size])

    def along(self, axis: int, points: np.ndarray, derivative: int = 0) -> np.ndarray:
        line = self.grid.axes[axis]
        frequency = np.pi * np.arange(self.frequencies[axis]) / line.length
        angle = np.multiply.outer(np.asarray(points) - line.span[0], frequency)
        height = np.full(frequency.size, np.sqrt(2 / line.length))
        height[0] = np.sqrt(1 / line.length)
        return -height * frequency * np.sin(angle) if derivative else height * np.cos(angle)


def by_frequency(shape: tuple[int, ...], most: int) -> np.ndarray:
    """The `most` slowest products of cosines that a grid of this shape can tell apart, slowest first."""
    reach = [min(size, _radius(len(shape), most)) for size in shape]
    index = np.array(list(product(*(range(r) for r in reach))))
    order = np.lexsort((*index.T[::-1], (index**2).sum(axis=1)))
    return index[order][:most]


def _radius(dimension: int, most: int) -> int:
    """Frequencies below this hold a quarter-disc (or an eighth of a ball) of `most` points."""
    return int(np.ceil({1: most, 2: np.sqrt(4 * most / np.pi), 3: np.cbrt(6 * most / np.pi)}[dimension])) + 2
