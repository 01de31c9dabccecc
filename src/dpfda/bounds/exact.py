"""Exact products of wide integers at array speed.

Totals of records reach 2^63 and public matrices carry 52 bits, so a plain product overflows.
Splitting both into limbs keeps every sum below 2^63; the limbs are put together as Python
integers (derivations: exact totals).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Bits of a limb in tensor products: two of them, over 4,096 rows, stay exact in floats (derivations: exact totals).
DIGIT = 20
#: Bits of a limb in products with a vector, three for 63 bits; over so many columns their sums stay below 2^56.
LIMB, COLUMNS = 21, 1 << 14
_MASK = (1 << LIMB) - 1


def product(matrix: np.ndarray, vector: np.ndarray) -> list[int]:
    """``matrix @ vector`` without rounding, for int64 entries of up to 2^52 and 2^63 in size.

    >>> product(np.array([[2**52, 1]]), np.array([2**62, 5])) == [2**114 + 5]
    True
    """
    if np.asarray(vector).dtype == object:  # totals of more records than any machine has seen
        return [int(x) for x in np.asarray(matrix).astype(object) @ vector]
    matrix, vector = np.asarray(matrix, dtype=np.int64), np.asarray(vector, dtype=np.int64)
    result = [0] * len(matrix)
    for start in range(0, vector.size, COLUMNS):
        part = slice(start, start + COLUMNS)
        rights = _limbs(vector[part])
        sums = np.zeros((5, len(matrix)), dtype=np.int64)  # of at most three products below 2^56 each
        for i, left in enumerate(_limbs(matrix[:, part])):
            for j, right in enumerate(rights):
                sums[i + j] += left @ right
        result = [
            r + a + (b << LIMB) + (c << 2 * LIMB) + (d << 3 * LIMB) + (e << 4 * LIMB)
            for r, (a, b, c, d, e) in zip(result, sums.T.tolist(), strict=True)
        ]
    return result


def _limbs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``low + mid 2^21 + high 2^42``, the last one signed."""
    return values & _MASK, (values >> LIMB) & _MASK, values >> (2 * LIMB)


def contract(tensor: np.ndarray, matrices: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Every axis of `tensor` multiplied by its matrix (rows: that axis), without rounding.

    Integers in, integers out, as limbs: ``sum_i out[i] << (DIGIT * i)``. Limbs have 20 bits and axes at
    most 4,096 rows, so each floating-point product of two limbs sums to less than 2^53: plain matrix
    products, and exact.

    >>> limbs = contract(np.array([[1, 2], [3, 4]]), [np.array([[5], [6]]), np.array([[2**30], [1]])])
    >>> entries(limbs, np.array([[0, 0]])) == [23 * 2**30 + 34]
    True
    """
    limbs = _carried([np.asarray(tensor, dtype=np.int64)])
    for axis, matrix in enumerate(matrices):
        right = _carried([np.asarray(matrix, dtype=np.int64)])
        sums = [np.zeros((), dtype=np.int64)] * (len(limbs) + len(right) - 1)
        for i, a in enumerate(limbs):
            rows = np.moveaxis(a, axis, -1).astype(float)
            for k, b in enumerate(right):
                part = (rows @ b.astype(float)).astype(np.int64)
                sums[i + k] = sums[i + k] + np.moveaxis(part, -1, axis)
        limbs = _carried(sums)
    return limbs


def entries(limbs: Sequence[np.ndarray], index: np.ndarray) -> list[int]:
    """The integers at these places (one row of `index` each) of what :func:`contract` gave."""
    places = tuple(np.asarray(index).T)
    result = [0] * len(index)
    for i, limb in enumerate(limbs):
        result = [r + (int(x) << (DIGIT * i)) for r, x in zip(result, limb[places], strict=True)]
    return result


def _carried(sums: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The same integers with every limb in [0, 2^20), but for the last, which is signed and as small."""
    limbs, carry = [], np.zeros_like(sums[0])
    pending = list(sums)
    while pending or (np.abs(carry) >> DIGIT).any():
        total = carry + (pending.pop(0) if pending else 0)
        limbs.append(total & ((1 << DIGIT) - 1))
        carry = total >> DIGIT
    return [*limbs, carry]
