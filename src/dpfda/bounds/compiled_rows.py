"""What is done to one row, compiled: what the kernels of `compiled` are made of.

Only reassociation is allowed to the compiler, and only for sums that are exact in any order or that decide nothing by
themselves: NaN, infinities and the rounding of single operations stay as they are. (Compiled code is kept until its own
file changes: whoever changes a function here touches `compiled.py` too.)
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from dpfda.bounds.lattice import EXACT, HUGE, LIMIT, RADIUS_BITS, SHRUNK

compiled: Any = numba.njit(cache=True, nogil=True)
any_order: Any = numba.njit(cache=True, nogil=True, fastmath={"reassoc"}, inline="never")


def sealed(rows: np.ndarray) -> np.ndarray:
    """The rows of a block, contiguous and to read only: one type for the compiler, whatever they were."""
    view = np.ascontiguousarray(rows).view()
    view.flags.writeable = False
    return view


@any_order
def squares_of(row: np.ndarray) -> float:
    total = 0.0
    for i in range(row.size):
        total += row[i] * row[i]
    return total


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nnan", "nsz"}, inline="never")
def largest(row: np.ndarray) -> float:  # rows that get here hold no NaN
    largest = 0.0
    for i in range(row.size):
        largest = max(largest, abs(row[i]))
    return largest


@any_order
def far_squares_of(row: np.ndarray) -> float:
    high_total, low_total = 0.0, 0.0
    for i in range(row.size):
        square = row[i] * row[i]
        high = np.floor(square * 2.0**-26)
        high_total += high
        low_total += square - high * 2.0**26
    return high_total * 2.0**26 + low_total


@compiled
def clip_row(row: np.ndarray) -> None:
    """One row of integers, or of values that overflowed, brought inside the ball, in place."""
    energy = squares_of(row)
    if energy <= LIMIT:
        return
    if energy >= EXACT:
        for i in range(row.size):
            row[i] = min(max(row[i], -HUGE), HUGE)
        factor = 2.0 ** float(RADIUS_BITS - math.frexp(largest(row))[1])
        for i in range(row.size):
            row[i] = np.trunc(row[i] * factor)
        energy = far_squares_of(row)
    if energy > LIMIT:
        factor = SHRUNK / np.sqrt(energy)
        for i in range(row.size):
            row[i] = np.trunc(row[i] * factor)


@compiled
def place_row(values: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float, row: np.ndarray) -> None:
    for i in range(weights.size):
        row[i] = min(max(np.rint((values[i] - center[i]) * weights[i]), -limit), limit)


@any_order
def trace(values: np.ndarray) -> float:
    """Zero, or NaN if a value is missing or infinite."""
    total = 0.0
    for i in range(values.size):
        total += np.float64(values[i]) * 0.0
    return total
