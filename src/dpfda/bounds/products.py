"""Products of whole numbers that are exact in any order, and cost half where a matrix is its own mirror image.

Eigenfunctions on an evenly spaced line are even or odd about its middle. Values at two mirrored points are then added
and subtracted first, and each product runs over half the points. All are integers below 2^53, so nothing is rounded
and no bit depends on the way (derivations: exact totals).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np


class ExactProduct:
    """Rows of integers times an integer `matrix`, or its transpose, held in floats."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns that are even, odd, and neither."""
        flipped = self.matrix[::-1]
        even = (self.matrix == flipped).all(axis=0)
        odd = ~even & (self.matrix == -flipped).all(axis=0)
        if 2 * (even | odd).sum() < even.size:  # hardly worth it
            even, odd = even & False, odd & False
        return np.flatnonzero(even), np.flatnonzero(odd), np.flatnonzero(~(even | odd))

    @property
    def folds(self) -> bool:
        return self.parts[2].size < self.matrix.shape[1]

    @cached_property
    def columns(self) -> np.ndarray:
        """All columns: the even, the odd and the other ones."""
        return np.concatenate(self.parts)

    @cached_property
    def order(self) -> np.ndarray:
        """Where each column is among them."""
        return np.argsort(self.columns).astype(np.int64)

    @cached_property
    def halves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The matrices of even columns (upper half, middle included), odd columns (upper half) and other columns."""
        size = len(self.matrix)
        even, odd, other = self.parts
        parts = self.matrix[: size - size // 2, even], self.matrix[: size // 2, odd], self.matrix[:, other]
        first, second, third = (np.ascontiguousarray(part) for part in parts)
        return first, second, third

    def times(self, rows: np.ndarray) -> np.ndarray:
        """Rows times the matrix."""
        if not self.folds:
            return np.asarray(rows @ self.matrix)
        half = rows.shape[1] // 2
        even, odd, other = self.halves
        upto, found = even.shape[1] + odd.shape[1], np.empty((len(rows), self.matrix.shape[1]))
        sums = rows[:, : len(even)].copy()
        sums[:, :half] += rows[:, : -half - 1 : -1]
        np.matmul(sums, even, out=found[:, : even.shape[1]])
        np.matmul(rows[:, :half] - rows[:, : -half - 1 : -1], odd, out=found[:, even.shape[1] : upto])
        if other.size:
            np.matmul(rows, other, out=found[:, upto:])
        return np.take(found, self.order, axis=1)

    @cached_property
    def turned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, transposed."""
        even, odd, other = (np.ascontiguousarray(part.T) for part in self.halves)
        return even, odd, other
