"""The Euclidean ball on the integer lattice: clip and add up, decided exactly, at memory speed.

Encoded values are integers held in floats. A sum of their squares is exact in any order while
it stays below 2^53, and once the true sum reaches 2^53 no order of rounding brings it back below
(rounding is monotone and 2^53 is a float). So "inside" and "near" are facts about the record, not
about the loop, and plain numpy and the compiled loop of the `fast` extra agree to the last bit
(derivations: integer clip).
"""

from __future__ import annotations

import math

import numpy as np

try:
    import numba
except ImportError:  # the extra is optional
    numba = None  # type: ignore[assignment]

#: Lattice radius of every bound: squares inside sum to at most 2^48, and stay exact up to 5.6 radii
#: (derivations: integer clip).
RADIUS_BITS = 24
RADIUS = 2.0**RADIUS_BITS
#: Stands in for a value that overflowed on its way to the lattice.
HUGE = 2.0**1023
#: The largest square inside, and the square up to which sums of squares are exact in any order.
LIMIT, EXACT = RADIUS**2, 2.0**53
#: Shrinking by 2^-48 more than needed covers the rounding of the factor and of the product.
SHRUNK = RADIUS * (1 - 2.0**-48)
#: Rows taken at a time; the bits do not depend on it.
ROWS = 256
#: Values from which on the compiled loop is worth the time it takes to load; the bits do not depend
#: on it.
WORTH = 1 << 20


def clip_euclidean(lattice: np.ndarray) -> np.ndarray:
    """Rows brought inside the ball by scaling and truncation; inside rows unchanged.

    Near rows (squares below 2^53) are scaled as they are. Far rows are first brought near by a
    power of two, and their squares summed in two limbs that stay exact for up to 2^26 coordinates.
    """
    with np.errstate(over="ignore"):
        energy = np.einsum("ij,ij->i", lattice, lattice)
    outside = np.flatnonzero(energy > LIMIT)
    rows, energy = lattice[outside], energy[outside]
    far = energy >= EXACT
    if far.any():
        nearer = rescale_far_rows(rows if far.all() else rows[far])
        energy[far] = _two_limb_energy(nearer)
        rows[far] = nearer
    rows *= np.where(energy > LIMIT, SHRUNK / np.sqrt(energy), 1.0)[:, None]
    np.trunc(rows, out=rows)
    if outside.size == len(lattice):
        return rows
    clipped = lattice.copy()
    clipped[outside] = rows
    return clipped


def rescale_far_rows(rows: np.ndarray) -> np.ndarray:
    """Rows times the power of two that puts their largest value just below the radius, truncated."""
    rows = np.clip(rows, -HUGE, HUGE)
    exponent = np.frexp(np.abs(rows).max(axis=1))[1]
    rows *= np.exp2(RADIUS_BITS - exponent)[:, None]
    return np.trunc(rows, out=rows)


def _two_limb_energy(rows: np.ndarray) -> np.ndarray:
    squares = rows * rows
    high = squares * 2.0**-26
    np.floor(high, out=high)
    energy = high.sum(axis=1) * 2.0**26
    high *= 2.0**26
    squares -= high
    return energy + squares.sum(axis=1)


class _Seen:
    """Values that this process has clipped so far: after many, the compiled loop pays, also for small batches."""

    values = 0


def sum_clipped(
    batch: np.ndarray, center: np.ndarray, weights: np.ndarray, compiled: bool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Integer totals of ``clip(rint((row - center) * weights))``, and the rows that need a closer look.

    Rows whose squares do not have a finite sum (missing, infinite or absurdly large values) are not
    added but listed. `compiled` None uses the compiled loop where it is installed and worth it.
    """
    if compiled is None:
        _Seen.values += batch.size
        compiled = numba is not None and _Seen.values >= WORTH
    return (_compiled_sum if compiled else _numpy_sum)(batch, center, weights)


def _numpy_sum(batch: np.ndarray, center: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
            energy = np.einsum("ij,ij->i", lattice, lattice)
            if not (energy <= LIMIT).all():
                usual = np.isfinite(energy)
                unusual.append(start + np.flatnonzero(~usual))
                lattice = clip_euclidean(lattice if usual.all() else lattice[usual])
            totals += lattice.sum(axis=0).astype(np.int64)
    return totals, np.concatenate(unusual) if unusual else np.empty(0, dtype=np.int64)


if numba is not None:
    # Only reassociation is allowed to the compiler: it vectorises sums that are exact in any
    # order, and leaves NaN, infinities and the rounding of single operations as they are.
    @numba.njit(fastmath={"reassoc"}, inline="never", cache=True)
    def _energy(row: np.ndarray) -> float:
        total = 0.0
        for i in range(row.size):
            total += row[i] * row[i]
        return total

    @numba.njit(fastmath={"reassoc", "nnan", "nsz"}, inline="never", cache=True)
    def _largest(row: np.ndarray) -> float:  # rows that get here have a finite energy, so no NaN
        largest = 0.0
        for i in range(row.size):
            largest = max(largest, abs(row[i]))
        return largest

    @numba.njit(cache=True)
    def _bring_near(row: np.ndarray) -> None:
        factor = 2.0 ** float(RADIUS_BITS - math.frexp(_largest(row))[1])
        for i in range(row.size):
            row[i] = np.trunc(row[i] * factor)

    @numba.njit(fastmath={"reassoc"}, inline="never", cache=True)
    def _far_energy(row: np.ndarray) -> float:
        high_total, low_total = 0.0, 0.0
        for i in range(row.size):
            square = row[i] * row[i]
            high = np.floor(square * 2.0**-26)
            high_total += high
            low_total += square - high * 2.0**26
        return high_total * 2.0**26 + low_total

    @numba.njit(cache=True, nogil=True)
    def _fused(
        batch: np.ndarray, center: np.ndarray, weights: np.ndarray, totals: np.ndarray, usual: np.ndarray
    ) -> None:
        row = np.empty(weights.size)
        for r in range(batch.shape[0]):
            for i in range(weights.size):
                row[i] = np.rint((batch[r, i] - center[i]) * weights[i])
            energy = _energy(row)
            usual[r] = energy < np.inf
            if not usual[r]:
                continue
            if energy >= EXACT:
                _bring_near(row)
                energy = _far_energy(row)
            if energy <= LIMIT:
                for i in range(weights.size):
                    totals[i] += row[i]
            else:
                factor = SHRUNK / np.sqrt(energy)
                for i in range(weights.size):
                    totals[i] += np.trunc(row[i] * factor)


def _compiled_sum(batch: np.ndarray, center: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    totals = np.zeros(weights.size, dtype=np.int64)
    usual = np.empty(len(batch), dtype=np.bool_)
    block = 1 << 26  # float totals of that many records stay below 2^53: exact
    for start in range(0, len(batch), block):
        exact = np.zeros(weights.size)
        part = slice(start, start + block)
        _fused(batch[part], center, weights, exact, usual[part])
        totals += exact.astype(np.int64)
    return totals, np.flatnonzero(~usual)
