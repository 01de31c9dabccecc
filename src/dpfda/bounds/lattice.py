"""The Euclidean ball on the integer lattice: inside or outside, and the clip, decided exactly.

Encoded values are integers held in floats. A sum of their squares is exact in any order while
it stays below 2^53, and once the true sum reaches 2^53 no order of rounding brings it back below
(rounding is monotone and 2^53 is a float). So "inside" and "near" are facts about the record, not
about the loop, and plain numpy and the compiled kernels of the `fast` extra agree to the last bit
(derivations: integer clip).
"""

from __future__ import annotations

import numpy as np

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


def clip_euclidean(lattice: np.ndarray) -> np.ndarray:
    """Rows brought inside the ball by scaling and truncation; inside rows unchanged.

    Near rows (squares below 2^53) are scaled as they are. Far rows are first brought near by a
    power of two, and their squares summed in two limbs that stay exact for up to 2^26 coordinates.

    Parameters
    ----------
    lattice : array of shape (records, coordinates)
        Encoded records: whole numbers, kept as floats.
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
