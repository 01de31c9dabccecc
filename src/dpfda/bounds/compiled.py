"""What is done to a block of rows, compiled. `plain` says what each function does; the bits are the same.

Code is compiled once for each type of rows (float32 or float64) and kept beside the package, or where the compiler
keeps such things.
"""

from __future__ import annotations

import numpy as np

from dpfda.bounds import plain
from dpfda.bounds.compiled_rows import any_order, clip_row, compiled, place_row, sealed, squares_of, trace
from dpfda.bounds.lattice import LIMIT
from dpfda.bounds.products import ExactProduct

#: Rows that work which keeps nothing takes at a time.
LIGHT_ROWS = 1 << 14


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


def coefficients(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float,
    product: ExactProduct, scale: np.ndarray, clipped: bool = False,
) -> np.ndarray:  # fmt: skip
    found = np.empty((len(rows), scale.size))
    even, odd, other = product.halves
    upto = even.shape[1], even.shape[1] + odd.shape[1]
    if product.folds:
        folded = np.empty(rows.shape)
        _fold(sealed(rows), usable, center, weights, limit, folded)
        np.matmul(folded[:, : len(even)], even, out=found[:, : upto[0]])
        np.matmul(folded[:, len(even) :], odd, out=found[:, upto[0] : upto[1]])
    if other.size:
        np.matmul(on_lattice(rows, usable, center, weights, limit), other, out=found[:, upto[1] :])
    out = np.empty(found.shape)
    _scale(found, product.order, scale, clipped, out)
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
    found: np.ndarray, edges: np.ndarray, weights: np.ndarray, margin: float, counts: np.ndarray, close: np.ndarray
) -> None:
    far = np.empty(counts.size)
    for r in range(found.shape[0]):
        far[:] = 0.0
        for b in range(edges.size - 1):
            energy = squares_of(found[r, edges[b] : edges[b + 1]])
            for c in range(counts.size):
                far[c] += energy * weights[b, c]
        near = False
        for c in range(counts.size):
            near |= not (abs(far[c] - 1.0) > margin)
        close[r] = near
        if not near:
            for c in range(counts.size):
                counts[c] += far[c] <= 1.0


def count_inside(
    found: np.ndarray, starts: np.ndarray, weights: np.ndarray, margin: float
) -> tuple[np.ndarray, np.ndarray]:
    counts, close = np.zeros(weights.shape[1], dtype=np.int64), np.empty(len(found), dtype=np.bool_)
    _count_inside(found, np.append(starts, found.shape[1]), weights, margin, counts, close)
    return counts, np.flatnonzero(close)


@compiled
def _squares(values: np.ndarray, center: np.ndarray, roots: np.ndarray, out: np.ndarray) -> None:
    for i in range(roots.size):
        away = (values[i] - center[i]) * roots[i]
        out[i] = min(away * away, 1e12)


@compiled
def _sum_pieces(
    rows: np.ndarray,
    usable: np.ndarray,
    center: np.ndarray,
    roots: np.ndarray,
    pieces: np.ndarray,
    steps: float,
    totals: np.ndarray,
) -> None:
    held, squares = np.empty(totals.size), np.empty(roots.size)
    for r in range(rows.shape[0]):
        if not usable[r]:
            continue
        _squares(rows[r], center, roots, squares)
        held[:] = 0.0
        i = 0
        while i < pieces.size:
            piece = pieces[i]
            total = held[piece]
            while i < pieces.size and pieces[i] == piece:
                total += squares[i]
                i += 1
            held[piece] = total
        whole = 0.0
        for k in range(held.size):
            whole += held[k]
        whole = max(whole, 1.0) * (1 + 2.0**-40)
        for k in range(held.size):
            totals[k] += np.floor(held[k] / whole * steps)


def sum_pieces(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, roots: np.ndarray, pieces: np.ndarray, count: int,
    steps: float,
) -> np.ndarray:  # fmt: skip
    totals = np.zeros(count)
    _sum_pieces(sealed(rows), usable, center, roots, pieces, steps, totals)
    return totals.astype(np.int64)


@compiled
def _pick(values: np.ndarray, columns: np.ndarray, units: np.ndarray, out: np.ndarray) -> None:
    for r in range(values.shape[0]):
        for j in range(columns.size):
            out[r, j] = np.rint(values[r, columns[j]] * units[j])


@compiled
def _unfold(even: np.ndarray, odd: np.ndarray, row: np.ndarray) -> None:
    """Values from their even and odd parts, added to what is there."""
    half, last = odd.size, np.uint64(row.size - 1)
    for i in range(even.size):
        row[i] += even[i]
    for i in range(half):
        row[i] += odd[i]
    for i in range(half):
        row[last - np.uint64(i)] += even[i] - odd[i]


@compiled
def _sum_rest(
    rows: np.ndarray,
    usable: np.ndarray,
    center: np.ndarray,
    roots: np.ndarray,
    even: np.ndarray,
    odd: np.ndarray,
    other: np.ndarray,
    unit: float,
    scale: float,
    totals: np.ndarray,
) -> None:
    row, counted = np.empty(roots.size), np.zeros(roots.size)
    for r in range(rows.shape[0]):
        if not usable[r]:
            continue
        values = rows[r]
        if other.size:
            counted[:] = other[r]
        else:
            counted[:] = 0.0
        if even.size:
            _unfold(even[r], odd[r], counted)
        for i in range(roots.size):
            row[i] = np.rint(((values[i] - center[i]) * roots[i] - counted[i] * unit) * scale)
        clip_row(row)
        for i in range(roots.size):
            totals[i] += row[i]


def sum_rest(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, roots: np.ndarray,
    values: np.ndarray, columns: np.ndarray, units: np.ndarray, product: ExactProduct, unit: float, scale: float,
) -> np.ndarray:  # fmt: skip
    even, odd, other = product.turned
    upto, inside = (len(even), len(even) + len(odd)), np.empty((len(rows), columns.size))
    _pick(values, columns[product.columns], units[product.columns], inside)
    counted = inside[:, : upto[0]] @ even, inside[:, upto[0] : upto[1]] @ odd, inside[:, upto[1] :] @ other
    totals = np.zeros(roots.size)
    _sum_rest(sealed(rows), usable, center, roots, *counted, unit, scale, totals)
    return totals.astype(np.int64)


@compiled
def _bring_to_pieces(
    rows: np.ndarray,
    usable: np.ndarray,
    center: np.ndarray,
    weights: np.ndarray,
    pieces: np.ndarray,
    roots: np.ndarray,
    most: np.ndarray,
    far: float,
    steps: float,
    out: np.ndarray,
    cut: np.ndarray,
) -> None:
    about = np.empty(weights.size)
    for r in range(rows.shape[0]):
        held, lost, values = out[r], cut[r], rows[r]
        held[:] = 0.0
        lost[:] = 0.0
        if not usable[r]:
            continue
        for i in range(weights.size):
            about[i] = min(max((values[i] - center[i]) * weights[i], -far), far)
        i = 0
        while i < pieces.size:
            piece = pieces[i]
            total = held[piece]
            while i < pieces.size and pieces[i] == piece:
                total += about[i]
                i += 1
            held[piece] = total
        for k in range(roots.size):
            value = np.trunc(held[k] / roots[k])
            over = value / most[k]
            lost[k] = max(over * over - 1.0, 0.0)
            held[k] = min(max(value, -most[k]), most[k])
        energy = 0.0
        for k in range(roots.size):
            energy += held[k] * held[k]
        beyond = max(1.0 - LIMIT / max(energy, 1.0), 0.0)
        for k in range(roots.size):
            lost[k] = np.ceil(min(lost[k] + beyond, 1.0) * steps)
        clip_row(held)


def bring_to_pieces(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, pieces: np.ndarray,
    roots: np.ndarray, most: np.ndarray, far: float, steps: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    out, cut = np.empty((len(rows), roots.size)), np.empty((len(rows), roots.size))
    _bring_to_pieces(sealed(rows), usable, center, weights, pieces, roots, most, far, steps, out, cut)
    return out, cut


@compiled
def _count_cells(
    rows: np.ndarray,
    spans: np.ndarray,
    factors: np.ndarray,
    counts: np.ndarray,
    clips: bool,
    totals: np.ndarray,
    stray: np.ndarray,
) -> None:
    for r in range(rows.shape[0]):
        place, lost = 0, False
        for a in range(counts.size):
            x, low, high = np.float64(rows[r, a]), spans[a, 0], spans[a, 1]
            lost |= np.isnan(x) if clips else not (low <= x <= high)
            x = low if lost else min(max(x, low), high)
            place = place * counts[a] + min(np.int64((x - low) * factors[a]), counts[a] - 1)
        stray[r] = lost
        if not lost:
            totals[place] += 1


def count_cells(
    rows: np.ndarray, spans: np.ndarray, factors: np.ndarray, counts: np.ndarray, clips: bool
) -> tuple[np.ndarray, np.ndarray]:
    totals, stray = np.zeros(int(counts.prod()), dtype=np.int64), np.empty(len(rows), dtype=np.bool_)
    _count_cells(sealed(rows), spans, factors, counts, clips, totals, stray)
    return totals, np.flatnonzero(stray)
