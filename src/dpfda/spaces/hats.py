"""Functions by their values at the points of a line: one for each point, linear in between."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.basis import Eigenbasis, _sealed
from dpfda.spaces.grid import Grid


class PointBasis(Eigenbasis):
    """One function per grid point: one there, zero at all others. Coefficients are values.

    They are orthogonal in the inner product of the grid; `energies` are their squared norms.
    """

    grid: Grid

    def __init__(self, grid: Grid):
        self.grid = grid
        self.eigenvalues = _sealed(np.ones(grid.size))

    def _changed(self, eigenvalues: np.ndarray) -> Eigenbasis:
        return self  # points are not ordered by importance: there are no first ones

    @property
    def energies(self) -> np.ndarray:
        return self.grid.weights

    @property
    def functions(self) -> np.ndarray:
        return np.eye(self.grid.size)

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        if derivative:
            raise ParameterError("values at points have no slope", "a derivative", "Difference them on the grid.")
        points = self.points(t)
        return np.stack([np.interp(points, self.grid.points, row) for row in np.eye(self.grid.size)], axis=-1)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        return np.asarray(values, dtype=float)
