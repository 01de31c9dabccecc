"""Products of whole numbers that are exact in any order, and cost half where a matrix is its own mirror image.

Eigenfunctions on an evenly spaced line are even or odd about its middle. Values at two mirrored points are then added
and subtracted first, and each product runs over half the points; a few entries that rounding has left one step off are
added afterwards. All are integers below 2^53, so nothing is rounded and no bit depends on the way
(derivations: exact totals).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpfda.bounds.scratch import buffer

#: Multiplications in one call of the library: so few take a shorter way there, and no threads of its own.
FEW, LEAST_ROWS = 1_000_000, 32
#: The largest share of entries that may be off, and of columns that have such entries, for folding to be worth it; the
#: latter in numpy, where each column takes a step of its own.
OFF, OFF_COLUMNS = 1 / 50, 1 / 10


def multiply(rows: np.ndarray, matrix: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Rows times a matrix, some rows at a time."""
    found = np.empty((len(rows), matrix.shape[1])) if out is None else out
    step = max(LEAST_ROWS, FEW // max(1, matrix.size))
    for start in range(0, len(rows), step):
        np.matmul(rows[start : start + step], matrix, out=found[start : start + step])
    return found


@dataclass(frozen=True, eq=False)
class Folded:
    """A matrix by its mirrored columns: the upper halves of even and odd ones, and entries that are off.

    `columns` says where they belong in the matrix, `order` where its columns are among them. What is off has a row of
    the matrix, a column among the folded ones, and a value.
    """

    even: np.ndarray
    odd: np.ndarray
    columns: np.ndarray
    order: np.ndarray
    off: tuple[np.ndarray, np.ndarray, np.ndarray]

    @classmethod
    def of(cls, matrix: np.ndarray) -> Folded | None:
        """The matrix folded, if hardly an entry is off."""
        size = len(matrix)
        flipped = matrix[::-1]
        is_even = np.abs(matrix - flipped).sum(axis=0) <= np.abs(matrix + flipped).sum(axis=0)
        mirrored = np.where(is_even, flipped, -flipped)
        mirrored[: size // 2] = matrix[: size // 2]
        if size % 2:
            mirrored[size // 2] = np.where(is_even, matrix[size // 2], 0.0)
        off = matrix - mirrored
        far = np.abs(off).sum(axis=0).max() > np.abs(matrix).sum(axis=0).max() / 4  # sums stay exact up to here
        if size < 2 or far or np.count_nonzero(off) > OFF * off.size:
            return None
        columns = np.concatenate([np.flatnonzero(is_even), np.flatnonzero(~is_even)])
        order = np.argsort(columns).astype(np.int64)
        rows, places = (np.ascontiguousarray(numbers) for numbers in np.nonzero(off))
        even, odd = matrix[: size - size // 2, is_even], matrix[: size // 2, ~is_even]
        return cls(
            np.ascontiguousarray(even), np.ascontiguousarray(odd), columns, order,
            (rows, order[places], off[rows, places]),
        )  # fmt: skip

    @cached_property
    def turned(self) -> tuple[np.ndarray, np.ndarray]:
        """Both halves transposed."""
        return np.ascontiguousarray(self.even.T), np.ascontiguousarray(self.odd.T)


class ExactProduct:
    """Rows of integers times an integer `matrix`, held in floats."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix

    @cached_property
    def folded(self) -> Folded | None:
        return Folded.of(self.matrix)

    def times(self, rows: np.ndarray) -> np.ndarray:
        """Rows times the matrix."""
        folded = self.folded
        if folded is None or np.unique(folded.off[1]).size > OFF_COLUMNS * self.matrix.shape[1]:
            return multiply(rows, self.matrix)
        half, place = rows.shape[1] // 2, folded.even.shape[1]
        found, sums = buffer("found", len(rows), self.matrix.shape[1]), buffer("halves", len(rows), len(folded.even))
        upper, lower = rows[:, :half], rows[:, : -half - 1 : -1]
        np.add(upper, lower, out=sums[:, :half])
        sums[:, half:] = rows[:, half : len(folded.even)]
        multiply(sums, folded.even, found[:, :place])
        differences = np.subtract(upper, lower, out=buffer("halves", len(rows), half))
        multiply(differences, folded.odd, found[:, place:])
        for row, column, value in zip(*folded.off, strict=True):
            found[:, column] += rows[:, row] * value
        return np.take(found, folded.order, axis=1)
