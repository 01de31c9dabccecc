"""What is done to a block of rows, compiled. `plain` says what each function does; the bits are the same.

Code is compiled once for each type of rows (float32 or float64) and kept beside the package, or where the compiler
keeps such things.
"""

from __future__ import annotations

import numpy as np

from dpfda.bounds import plain
from dpfda.bounds.compiled_pieces import bring_to_pieces as bring_to_pieces
from dpfda.bounds.compiled_pieces import count_cells as count_cells
from dpfda.bounds.compiled_pieces import sum_pieces as sum_pieces
from dpfda.bounds.compiled_rows import any_order, clip_row, compiled, place_row, sealed, squares_of, trace
from dpfda.bounds.lattice import LIMIT
from dpfda.bounds.products import ExactProduct, multiply
from dpfda.bounds.scratch import buffer

#: Values that work which keeps nothing takes at a time.
LIGHT_VALUES = 1 << 22


@compiled
def _usable(rows: np.ndarray, usable: np.ndarray) -> None:
    for r in range(rows.shape[0]):
        usable[r] = trace(rows[r]) == 0.0


def usable_rows(rows: np.ndarray) -> np.ndarray:
    usable = np.empty(len(rows), dtype=np.bool_)
    _usable(sealed(rows), usable)
    return usable


def column_sums(rows: np.ndarray) -> np.ndarray:
    return plain.column_sums(rows)


@compiled
def _on_lattice(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float, out: np.ndarray
) -> None:
    for r in range(rows.shape[0]):
        if usable[r]:
            place_row(rows[r], center, weights, limit, out[r])
        else:
            out[r] = 0.0


def on_lattice(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float
) -> np.ndarray:
    out = np.empty(rows.shape)
    _on_lattice(sealed(rows), usable, center, weights, limit, out)
    return out


@compiled
def _fold(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float, out: np.ndarray
) -> None:
    """Sums of mirrored values of rows on the lattice, the middle one alone, then their differences."""
    size, row = weights.size, np.empty(weights.size)
    half, last = size // 2, np.uint64(size - 1)  # an unsigned index needs no check for a negative one
    mirrored = np.empty(half)
    for r in range(rows.shape[0]):
        if not usable[r]:
            out[r] = 0.0
            continue
        place_row(rows[r], center, weights, limit, row)
        sums, differences = out[r, : size - half], out[r, size - half :]
        for i in range(half):
            mirrored[i] = row[last - np.uint64(i)]
        for i in range(half):
            sums[i] = row[i] + mirrored[i]
        for i in range(half):
            differences[i] = row[i] - mirrored[i]
        if size > 2 * half:
            sums[half] = row[half]


@compiled
def _scale(found: np.ndarray, order: np.ndarray, scale: np.ndarray, clipped: bool, out: np.ndarray) -> None:
    for r in range(found.shape[0]):
        row = out[r]
        for j in range(scale.size):
            row[j] = np.rint(found[r, order[j]] * scale[j])
        if clipped:
            clip_row(row)


@compiled
def _add_off(folded: np.ndarray, at: np.ndarray, columns: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    """Entries that are off, times the rows that were folded; a value is half the difference of a sum and a difference.

    They are below the middle, or the middle itself.
    """
    size = folded.shape[1]
    half = size // 2
    for r in range(folded.shape[0]):
        for k in range(at.size):
            mirrored = size - 1 - at[k]
            value = folded[r, mirrored]
            if mirrored < half:
                value = (value - folded[r, size - half + mirrored]) * 0.5
            out[r, columns[k]] += value * values[k]


def _products(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float, product: ExactProduct
) -> tuple[np.ndarray, np.ndarray]:
    """Rows on the lattice times a matrix, and where its columns are in the result."""
    folded = product.folded
    if folded is None:
        found = buffer("found", len(rows), product.matrix.shape[1])
        multiply(on_lattice(rows, usable, center, weights, limit), product.matrix, found)
        return found, np.arange(found.shape[1])
    halves, found = buffer("halves", *rows.shape), buffer("found", len(rows), folded.columns.size)
    _fold(sealed(rows), usable, center, weights, limit, halves)
    place = folded.even.shape[1]
    multiply(halves[:, : len(folded.even)], folded.even, found[:, :place])
    multiply(halves[:, len(folded.even) :], folded.odd, found[:, place:])
    if folded.off[0].size:
        _add_off(halves, *folded.off, found)
    return found, folded.order


def coefficients(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float,
    product: ExactProduct, scale: np.ndarray, clipped: bool = False,
) -> np.ndarray:  # fmt: skip
    found, order = _products(rows, usable, center, weights, limit, product)
    out = np.empty(found.shape)
    _scale(found, order, scale, clipped, out)
    return out


@compiled
def _clip(rows: np.ndarray) -> None:
    for r in range(rows.shape[0]):
        clip_row(rows[r])


def clip(rows: np.ndarray) -> np.ndarray:
    _clip(rows)
    return rows


@compiled
def _sum_clipped(
    rows: np.ndarray, center: np.ndarray, weights: np.ndarray, totals: np.ndarray, usual: np.ndarray
) -> None:
    row = np.empty(weights.size)
    for r in range(rows.shape[0]):
        values = rows[r]
        for i in range(weights.size):
            row[i] = np.rint((values[i] - center[i]) * weights[i])
        energy = squares_of(row)
        usual[r] = energy < np.inf
        if not usual[r]:
            continue
        if energy > LIMIT:
            clip_row(row)
        for i in range(weights.size):
            totals[i] += row[i]


def sum_clipped(rows: np.ndarray, center: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    totals, usual = np.zeros(weights.size), np.empty(len(rows), dtype=np.bool_)
    _sum_clipped(sealed(rows), center, weights, totals, usual)
    return totals.astype(np.int64), np.flatnonzero(~usual)


@any_order
def _squared_norm(values: np.ndarray, center: np.ndarray, weights: np.ndarray) -> float:
    total = 0.0
    for i in range(weights.size):
        away = values[i] - center[i]
        total += away * away * weights[i]
    return total


@compiled
def _squared_norms(rows: np.ndarray, center: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    for r in range(rows.shape[0]):
        out[r] = _squared_norm(rows[r], center, weights)


def squared_norms(rows: np.ndarray, center: np.ndarray, weights: np.ndarray) -> np.ndarray:
    out = np.empty(len(rows))
    _squared_norms(sealed(rows), center, weights, out)
    return out


@compiled
def _count_inside(
    found: np.ndarray, scale: np.ndarray, edges: np.ndarray, shares: np.ndarray, margin: float,
    counts: np.ndarray, close: np.ndarray,
) -> int:  # fmt: skip
    """Each block of coefficients is in two places. Rows that are too close go to `close`; how many there are."""
    row, far, many = np.empty(scale.size), np.empty(counts.size), 0
    for r in range(found.shape[0]):
        values = found[r]
        for j in range(scale.size):
            row[j] = np.rint(values[j] * scale[j])
        far[:] = 0.0
        for b in range(edges.shape[1] - 1):
            squares = squares_of(row[edges[0, b] : edges[0, b + 1]]) + squares_of(row[edges[1, b] : edges[1, b + 1]])
            for c in range(counts.size):
                far[c] += squares * shares[b, c]
        near = False
        for c in range(counts.size):
            near |= not (abs(far[c] - 1.0) > margin)
        if near:
            close[many] = row
            many += 1
        else:
            for c in range(counts.size):
                counts[c] += far[c] <= 1.0
    return many


def count_inside(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float,
    product: ExactProduct, scale: np.ndarray, starts: np.ndarray, shares: np.ndarray, margin: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    found, order = _products(rows, usable, center, weights, limit, product)
    columns, edges = np.argsort(order), np.append(starts, scale.size)
    place = scale.size if product.folded is None else product.folded.even.shape[1]
    both = np.searchsorted(columns[:place], edges), place + np.searchsorted(columns[place:], edges)
    counts, close = np.zeros(shares.shape[1], dtype=np.int64), buffer("close", *found.shape)
    many = _count_inside(found, scale[columns], np.array(both), shares, margin, counts, close)
    return counts, close[:many, order]


@compiled
def _pick(values: np.ndarray, columns: np.ndarray, units: np.ndarray, out: np.ndarray) -> None:
    for r in range(values.shape[0]):
        for j in range(columns.size):
            out[r, j] = np.rint(values[r, columns[j]] * units[j])


@compiled
def _unfold(even: np.ndarray, odd: np.ndarray, row: np.ndarray) -> None:
    """Values from their even and odd parts."""
    half, last = odd.size, np.uint64(row.size - 1)
    for i in range(half):
        row[i] = even[i] + odd[i]
    for i in range(half):
        row[last - np.uint64(i)] = even[i] - odd[i]
    if even.size > half:
        row[half] = even[half]


@compiled
def _sum_rest(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, roots: np.ndarray, counted: np.ndarray, odd: np.ndarray,
    inside: np.ndarray, at: np.ndarray, columns: np.ndarray, values: np.ndarray, unit: float, scale: float,
    totals: np.ndarray,
) -> None:  # fmt: skip
    """`counted` has what is counted of rows, or its even part where there is an odd one."""
    row, known = np.empty(roots.size), np.empty(roots.size)
    for r in range(rows.shape[0]):
        if not usable[r]:
            continue
        if odd.size:
            _unfold(counted[r], odd[r], known)
            for k in range(at.size):
                known[at[k]] += inside[r, columns[k]] * values[k]
        else:
            known[:] = counted[r]
        numbers = rows[r]
        for i in range(roots.size):
            row[i] = np.rint(((numbers[i] - center[i]) * roots[i] - known[i] * unit) * scale)
        clip_row(row)
        for i in range(roots.size):
            totals[i] += row[i]


def sum_rest(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, roots: np.ndarray,
    values: np.ndarray, columns: np.ndarray, units: np.ndarray, product: ExactProduct, unit: float, scale: float,
) -> np.ndarray:  # fmt: skip
    inside, totals, folded = buffer("inside", len(rows), columns.size), np.zeros(roots.size), product.folded
    if folded is None:
        _pick(values, columns, units, inside)
        nothing = np.empty(0, dtype=np.int64)
        whole = multiply(inside, product.matrix.T, buffer("even", len(rows), roots.size))
        steps = whole, np.empty((0, 0)), inside, nothing, nothing, np.empty(0)
    else:
        _pick(values, columns[folded.columns], units[folded.columns], inside)
        (even, odd), place = folded.turned, folded.even.shape[1]
        parts = buffer("even", len(rows), even.shape[1]), buffer("odd", len(rows), odd.shape[1])
        multiply(inside[:, :place], even, parts[0])
        multiply(inside[:, place:], odd, parts[1])
        steps = *parts, inside, *folded.off
    _sum_rest(sealed(rows), usable, center, roots, *steps, unit, scale, totals)
    return totals.astype(np.int64)
