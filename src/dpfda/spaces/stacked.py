"""Several curves side by side, one per coefficient of a regression: a surface with one numbered axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.basis import Eigenbasis, _sealed
from dpfda.spaces.grid import Grid, ProductGrid


class StackedBasis(Eigenbasis):
    """``count`` copies of a basis of curves, curve after curve."""

    def __init__(self, line: Eigenbasis, count: int, eigenvalues: np.ndarray | None = None):
        self.line, self.count = line, count
        numbers = Grid(np.arange(count, dtype=float), np.ones(count), "coefficient")
        self.grid = ProductGrid((numbers, *line.grid.axes))
        self.eigenvalues = _sealed(np.tile(line.eigenvalues, count) if eigenvalues is None else eigenvalues)

    def _changed(self, eigenvalues: np.ndarray) -> Eigenbasis:
        return self  # curves are not ordered by importance: there are no first ones

    @property
    def functions(self) -> np.ndarray:
        return np.kron(np.eye(self.count), self.line.functions)

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        if derivative:
            raise ParameterError("derivatives are for curves", "several of them", "Difference them on the grid.")
        points = self.points(t)
        member = np.rint(points[:, 0]).astype(int)
        values = np.zeros((len(points), self.count, self.line.size))
        values[np.arange(len(points)), member] = self.line.evaluate(points[:, 1])
        return values.reshape(len(points), self.size)

    def synthesize(self, coefficients: ArrayLike) -> np.ndarray:
        c = np.asarray(coefficients, dtype=float)
        curves = self.line.synthesize(c.reshape(*c.shape[:-1], self.count, self.line.size))
        return curves.reshape(*c.shape[:-1], self.grid.size)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        v = np.asarray(values, dtype=float)
        curves = self.line.coefficients(v.reshape(*v.shape[:-1], *self.grid.shape))
        return curves.reshape(*v.shape[:-1], self.size)
