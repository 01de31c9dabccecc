"""The hot loop: add up encoded curves that are already inside the ball, in one pass.

A record is inside when the sum of squares of its rounded values is at most the limit. Those
sums are exact in any order while they are at most 2^53, and once beyond they can never round
back below (derivations: integer clip), so plain numpy and the compiled loop of the `fast`
extra agree to the last bit. Anything else, NaN and infinities included, fails the comparison
and is left to the careful path.
"""

from __future__ import annotations

import numpy as np

try:
    import numba
except ImportError:  # the extra is optional
    numba = None  # type: ignore[assignment]

ROWS = 1024


def sum_inside(
    batch: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float, compiled: bool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Integer totals of the records inside, and the row numbers of all others.

    `compiled` None uses the compiled loop where it is installed and the batch is worth it.
    """
    if compiled is None:
        compiled = numba is not None and batch.size >= 1 << 20
    loop = _compiled_sum if compiled else _numpy_sum
    return loop(batch, center, weights, limit)


def _numpy_sum(
    batch: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float
) -> tuple[np.ndarray, np.ndarray]:
    totals = np.zeros(weights.size, dtype=np.int64)
    unusual = []
    buffer = np.empty((ROWS, weights.size))
    centred = bool(center.any())
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(batch), ROWS):
            chunk = batch[start : start + ROWS]
            lattice = buffer[: len(chunk)]
            if centred:
                np.subtract(chunk, center, out=lattice)
                np.multiply(lattice, weights, out=lattice)
            else:
                np.multiply(chunk, weights, out=lattice)
            np.rint(lattice, out=lattice)
            inside = np.einsum("ij,ij->i", lattice, lattice) <= limit
            if not inside.all():
                unusual.append(start + np.flatnonzero(~inside))
                lattice = lattice[inside]
            totals += lattice.sum(axis=0).astype(np.int64)
    return totals, np.concatenate(unusual) if unusual else np.empty(0, dtype=np.int64)


if numba is not None:
    # Only reassociation is allowed to the compiler: it vectorises sums that are exact in any
    # order, and leaves NaN, infinities and rounding of single operations as they are.
    @numba.njit(fastmath={"reassoc"}, inline="never", cache=True)
    def _energy(row: np.ndarray) -> float:
        total = 0.0
        for i in range(row.size):
            total += row[i] * row[i]
        return total

    @numba.njit(cache=True, nogil=True)
    def _fused(
        batch: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float, totals: np.ndarray, inside: np.ndarray
    ) -> None:
        row = np.empty(weights.size)
        for r in range(batch.shape[0]):
            for i in range(weights.size):
                row[i] = np.rint((batch[r, i] - center[i]) * weights[i])
            inside[r] = _energy(row) <= limit
            if inside[r]:
                for i in range(weights.size):
                    totals[i] += row[i]


def _compiled_sum(
    batch: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float
) -> tuple[np.ndarray, np.ndarray]:
    totals = np.zeros(weights.size, dtype=np.int64)
    inside = np.empty(len(batch), dtype=np.bool_)
    block = 1 << 26  # float totals of that many records stay below 2^53: exact
    for start in range(0, len(batch), block):
        exact = np.zeros(weights.size)
        stop = start + block
        _fused(batch[start:stop], center, weights, limit, exact, inside[start:stop])
        totals += exact.astype(np.int64)
    return totals, np.flatnonzero(~inside)
