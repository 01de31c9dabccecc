"""Kernels that add up by pieces of the domain, or by cells, compiled. `plain` says what each function does."""

from __future__ import annotations

import numpy as np

from dpfda.bounds.compiled_rows import clip_row, compiled, sealed, squares_of
from dpfda.bounds.lattice import EXACT, LIMIT


@compiled
def _add_pieces(values: np.ndarray, pieces: np.ndarray, held: np.ndarray) -> None:
    """Values added up by piece, in their order; where there are as many pieces as values, each is alone."""
    if held.size == pieces.size:
        for i in range(pieces.size):
            held[i] = values[i]
        return
    held[:] = 0.0
    i = 0
    while i < pieces.size:
        piece = pieces[i]
        total = held[piece]
        while i < pieces.size and pieces[i] == piece:
            total += values[i]
            i += 1
        held[piece] = total


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
        _add_pieces(squares, pieces, held)
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
        _add_pieces(about, pieces, held)
        for k in range(roots.size):
            value = np.trunc(held[k] / roots[k])
            over = value / most[k]
            lost[k] = max(over * over - 1.0, 0.0)
            held[k] = min(max(value, -most[k]), most[k])
        energy = squares_of(held)
        if energy >= EXACT:  # else it is the same in any order
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
