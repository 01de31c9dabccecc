"""Step functions on the cells of a line: what counts in bins are coefficients of."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.basis import Eigenbasis, _sealed
from dpfda.spaces.grid import Grid


class StepBasis(Eigenbasis):
    """One function per bin, of integral one: constant on the cells of its bin. Bins begin at the cells `starts`.

    They are orthogonal; `energies` are their squared norms.
    """

    grid: Grid

    def __init__(self, grid: Grid, starts: np.ndarray):
        self.grid, self.starts = grid, _sealed(np.asarray(starts, dtype=np.int64))
        self.eigenvalues = _sealed(np.ones(self.starts.size))

    def _changed(self, eigenvalues: np.ndarray) -> Eigenbasis:
        return self  # bins are not ordered by importance: there are no first ones

    @property
    def cells(self) -> np.ndarray:
        """How many cells each bin has."""
        return np.diff(np.append(self.starts, self.grid.size))

    @property
    def lengths(self) -> np.ndarray:
        return self.cells * (self.grid.length / self.grid.size)

    @property
    def energies(self) -> np.ndarray:
        values: np.ndarray = 1 / self.lengths
        return values

    @cached_property
    def functions(self) -> np.ndarray:
        return _sealed(np.repeat(np.diag(1 / self.lengths), self.cells, axis=0))

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        if derivative:
            raise ParameterError(
                "steps have no slope", "a derivative", "Release with method=dp.methods.KNorm(): cosines have one."
            )
        points, (low, _) = self.points(t), self.grid.span
        cell = np.clip(((points - low) * (self.grid.size / self.grid.length)).astype(np.int64), 0, self.grid.size - 1)
        return self.functions[cell]

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        """Integrals over the bins: coefficients of the step function with the same shares."""
        v = np.asarray(values, dtype=float) * self.grid.weights
        return np.add.reduceat(v, self.starts, axis=-1)
