"""Exact products of wide integers at array speed.

Totals of records reach 2^63 and public matrices carry 52 bits, so a plain product overflows.
Splitting both into limbs keeps every sum below 2^63; the limbs are put together as Python
integers (derivations: exact totals).
"""

from __future__ import annotations

import numpy as np

LIMB, COLUMNS = 21, 1 << 14
_MASK = (1 << LIMB) - 1


def product(matrix: np.ndarray, vector: np.ndarray) -> list[int]:
    """``matrix @ vector`` without rounding, for int64 entries of up to 2^52 and 2^63 in size.

    >>> product(np.array([[2**52, 1]]), np.array([2**62, 5])) == [2**114 + 5]
    True
    """
    matrix, vector = np.asarray(matrix, dtype=np.int64), np.asarray(vector, dtype=np.int64)
    result = [0] * len(matrix)
    for start in range(0, vector.size, COLUMNS):
        part = slice(start, start + COLUMNS)
        for i, left in enumerate(_limbs(matrix[:, part])):
            for j, right in enumerate(_limbs(vector[part])):
                shift = LIMB * (i + j)
                result = [r + (int(x) << shift) for r, x in zip(result, left @ right, strict=True)]
    return result


def _limbs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``low + mid 2^21 + high 2^42``, the last one signed."""
    return values & _MASK, (values >> LIMB) & _MASK, values >> (2 * LIMB)
