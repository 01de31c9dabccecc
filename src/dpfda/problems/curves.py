"""A step that looks at one curve alone, before it is clipped: standardising.

A record's encoding must be a function of that record, to the last bit, whatever batch it came
in. So sums over a curve run in a fixed order, elementwise across the batch; a library sum may
change its order with the shape of the batch.
"""

from __future__ import annotations

import numpy as np

from dpfda.spaces.grid import AnyGrid

#: A curve whose residual is at most this share of its norm is constant; it becomes zero. Any share is valid; this one
#: is above the rounding of sums over a grid.
CONSTANT = 1e-12


def standardize(curves: np.ndarray, grid: AnyGrid) -> np.ndarray:
    """Each curve minus its own mean (of each component), divided by its own norm, in the grid's inner product."""
    domain = grid.domain
    columns = np.array(curves, dtype=float).T.copy()  # one row per grid point: elementwise over records
    largest = np.maximum.reduce(np.abs(columns), axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        # Powers of two: exact, and they keep squares of huge or tiny values in range.
        exponent = np.where(np.isfinite(largest) & (largest > 0), -np.frexp(largest)[1], 0)
        columns = np.ldexp(columns, exponent)
        size = np.sqrt(_ordered_sum(columns * columns, grid.weights))
        for part in np.split(columns, grid.size // domain.size):
            part -= _ordered_sum(part, domain.weights) / _ordered_sum(np.ones((domain.size, 1)), domain.weights)
        residual = np.sqrt(_ordered_sum(columns * columns, grid.weights))
        columns = np.where(residual <= CONSTANT * size, 0.0 * columns, columns / residual)
    return np.ascontiguousarray(columns.T)


def _ordered_sum(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    total = np.zeros(columns.shape[1])
    for column, weight in zip(columns, weights, strict=True):
        total += weight * column
    return total
