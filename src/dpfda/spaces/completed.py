"""A kernel's functions and beside them others, so that together they see all that a grid can show, or nearly.

A smooth kernel has few functions that numbers can tell from nothing. What curves have beyond them is never released,
but a check for bands must see it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpfda.spaces.basis import DISTINCT, Eigenbasis, _sealed
from dpfda.spaces.grid import Grid
from dpfda.spaces.points import interpolated


class CompletedBasis(Eigenbasis):
    """The functions of `line`, then cosines made orthonormal to all before them, up to `size`; few points have fewer.

    The added functions have next to no weight, and are interpolated linearly between the points of the grid.
    """

    grid: Grid

    def __init__(self, line: Eigenbasis, size: int):
        assert isinstance(line.grid, Grid)
        self.grid, self.line = line.grid, line
        self._added = _sealed(_complement(line, size))
        falling = float(line.eigenvalues[-1]) * 2.0 ** -np.arange(1.0, self._added.shape[1] + 1)
        self.eigenvalues = _sealed(np.append(line.eigenvalues, falling))
        self.excess  # noqa: B018  (asserts orthonormality)

    @property
    def functions(self) -> np.ndarray:
        return np.hstack([self.line.functions, self._added])

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        points, values = self.points(t), self._added
        if derivative:
            values = np.gradient(values, self.grid.points, axis=0)
        found = [interpolated(self.grid, column, points) for column in values.T]
        return np.column_stack([self.line.evaluate(points, derivative), *found])

    def _changed(self, eigenvalues: np.ndarray) -> Eigenbasis:
        return self.line.first(eigenvalues.size) if eigenvalues.size <= self.line.size else self


def _complement(line: Eigenbasis, size: int) -> np.ndarray:
    """Cosines of rising frequency, orthonormal on the grid to `line` and to one another: columns."""
    assert isinstance(line.grid, Grid)
    grid, root = line.grid, np.sqrt(line.grid.weights)
    found = line.vectors
    for frequency in range(grid.size):
        if found.shape[1] >= min(size, grid.size):
            break
        vector = root * np.cos(np.pi * frequency * (grid.points - grid.span[0]) / grid.length)
        vector = vector / np.linalg.norm(vector)
        left = vector - found @ (found.T @ vector)
        left = left - found @ (found.T @ left)  # once more, for the rounding of the first
        if np.linalg.norm(left) > DISTINCT:
            found = np.column_stack([found, left / np.linalg.norm(left)])
    added: np.ndarray = found[:, line.size :] / root[:, None]
    return added
