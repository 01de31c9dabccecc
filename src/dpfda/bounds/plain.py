"""What is done to a block of rows, in plain numpy. `compiled` does the same, to the last bit.

Steps are elementwise, hence the same for a record wherever it stands, and sums are of integers, hence exact in any
order. Where a decision rests on a sum of floats, a quick sum in any order decides all rows that are clearly on one
side, and says which are too close: those are decided by the one sum whose order is fixed (derivations: integer clip).
"""

from __future__ import annotations

import numpy as np

from dpfda.bounds.lattice import LIMIT, clip_euclidean
from dpfda.bounds.products import ExactProduct, multiply
from dpfda.bounds.scratch import buffer
from dpfda.core.doubles import doubles

#: Values that work which keeps nothing takes at a time.
LIGHT_VALUES = 1 << 18
#: A sum of squares is right to far less than this share of it, in any order.
MARGIN = 2.0**-24


def usable_rows(rows: np.ndarray) -> np.ndarray:
    """Which rows hold finite values only."""
    finite = np.isfinite(rows)
    return np.ones(len(rows), dtype=bool) if finite.all() else np.asarray(finite.all(axis=1))


def column_sums(rows: np.ndarray) -> np.ndarray:
    """Sums of columns of integers in floats, as integers: exact in any order, since blocks are small."""
    return np.asarray((np.ones(len(rows)) @ rows).astype(np.int64))


def _scaled(rows: np.ndarray, center: np.ndarray, weights: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``(row - center) * weights``, in two steps or (the same numbers) in one."""
    if rows.dtype != out.dtype:
        np.copyto(out, rows)
        rows = out
    if not center.any():
        return np.multiply(rows, weights, out=out)
    np.subtract(rows, center, out=out)
    return np.multiply(out, weights, out=out)


def on_lattice(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float
) -> np.ndarray:
    """``rint((row - center) * weights)``, kept to `limit`; a row that is not usable is zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = _scaled(rows, center, weights, np.empty(rows.shape))
        np.rint(found, out=found)
        np.clip(found, -limit, limit, out=found)
    if not usable.all():
        found[~usable] = 0.0
    return found


def coefficients(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float,
    product: ExactProduct, scale: np.ndarray, clipped: bool = False,
) -> np.ndarray:  # fmt: skip
    """Rows on the lattice, times a matrix, times a scale, rounded, and brought inside the ball if wanted."""
    found = product.times(on_lattice(rows, usable, center, weights, limit))
    found *= scale
    np.rint(found, out=found)
    return clip_euclidean(found) if clipped else found


def clip(rows: np.ndarray) -> np.ndarray:
    """Rows of integers brought inside the ball, in place or not."""
    return clip_euclidean(rows)


def sum_clipped(rows: np.ndarray, center: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integer totals of ``clip(rint((row - center) * weights))``, and the rows that need a closer look.

    Rows whose squares do not have a finite sum (missing, infinite or absurdly large values) are not added but listed.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        lattice = _scaled(rows, center, weights, buffer("halves", *rows.shape))
        np.rint(lattice, out=lattice)
        energy = np.einsum("ij,ij->i", lattice, lattice)
    if (energy <= LIMIT).all():
        return column_sums(lattice), np.empty(0, dtype=np.int64)
    usual = np.isfinite(energy)
    return column_sums(clip_euclidean(lattice if usual.all() else lattice[usual])), np.flatnonzero(~usual)


def squared_norms(rows: np.ndarray, center: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted squared distances from the centre, added in any order."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        found = _scaled(rows, center, np.ones(1), buffer("halves", *rows.shape))
        found *= found
        return np.asarray(found @ weights)


def count_inside(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float,
    product: ExactProduct, scale: np.ndarray, starts: np.ndarray, shares: np.ndarray, margin: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """How many rows of `coefficients` have a weighted sum of squares of at most one, for each column of `shares`.

    These have a row for each block of coefficients that begins at `starts`. Rows that come within `margin` of one are
    not counted but given back.
    """
    found = coefficients(rows, usable, center, weights, limit, product, scale)
    places = np.arange(found.shape[1])
    block = np.zeros((places.size, starts.size))
    block[places, np.searchsorted(starts, places, "right") - 1] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        far = (found * found) @ block @ shares
        inside, outside = far < 1.0 - margin, far > 1.0 + margin
    clear = inside | outside
    if clear.all():
        return inside.sum(axis=0), found[:0]
    sure = clear.all(axis=1)
    return inside[sure].sum(axis=0), found[~sure]


def sum_pieces(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, roots: np.ndarray, pieces: np.ndarray, count: int,
    steps: float,
) -> np.ndarray:  # fmt: skip
    """Squared distances over pieces of the domain, in the order of grid points, as shares of at most one: their sums.

    A row that strays further than one counts as at one; shares are rounded down to so many steps.
    """
    columns = buffer("halves", rows.shape[1], len(rows))  # a row for each grid point
    with np.errstate(over="ignore", invalid="ignore"):
        np.subtract(rows.T, center[:, None], out=columns)
        columns *= roots[:, None]
        columns *= columns
        np.minimum(columns, 1e12, out=columns)
    held, whole = np.zeros((count, len(rows))), np.zeros(len(rows))
    for piece, column in zip(pieces.tolist(), columns, strict=True):
        held[piece] += column
    if not usable.all():
        held[:, ~usable] = 0.0
    for piece in held:
        whole += piece
    held /= np.maximum(whole, 1.0) * (1 + 2.0**-40)
    held *= steps
    return np.floor(held, out=held).sum(axis=1).astype(np.int64)


def sum_rest(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, roots: np.ndarray,
    values: np.ndarray, columns: np.ndarray, units: np.ndarray, product: ExactProduct, unit: float, scale: float,
) -> np.ndarray:  # fmt: skip
    """What is left of rows, times roots, without what is counted of them: scaled, rounded, clipped and added up.

    What is counted are `columns` of `values`, times units, rounded, times the transposed matrix, times `unit`.
    """
    inside = (values if columns.size == values.shape[1] else values[:, columns]) * units
    counted = multiply(np.rint(inside, out=inside), product.matrix.T, buffer("found", len(rows), roots.size))
    counted *= unit
    with np.errstate(over="ignore", invalid="ignore"):
        rest = np.subtract(rows, center, out=buffer("halves", len(rows), roots.size))
        rest *= roots
        rest -= counted
        rest *= scale
    if not usable.all():
        rest[~usable] = 0.0
    return column_sums(clip_euclidean(np.rint(rest, out=rest)))


def bring_to_pieces(
    rows: np.ndarray, usable: np.ndarray, center: np.ndarray, weights: np.ndarray, pieces: np.ndarray,
    roots: np.ndarray, most: np.ndarray, far: float, steps: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Weighted distances added up over pieces, in the order of grid points, over roots; cut to `most` and to the ball.

    Beside the rows, what was cut of their squares, in so many steps of the largest that is kept.
    """
    columns = buffer("halves", rows.shape[1], len(rows))  # a row for each grid point
    with np.errstate(over="ignore", invalid="ignore"):
        np.subtract(rows.T, center[:, None], out=columns)
        columns *= weights[:, None]
        np.clip(columns, -far, far, out=columns)
    held = np.zeros((roots.size, len(rows)))
    for piece, column in zip(pieces.tolist(), columns, strict=True):
        held[piece] += column
    if not usable.all():
        held[:, ~usable] = 0.0
    np.trunc(held / roots[:, None], out=held)
    cut = np.maximum((held / most[:, None]) ** 2 - 1, 0.0)
    np.clip(held, -most[:, None], most[:, None], out=held)
    energy = np.zeros(len(rows))
    for piece in held:
        energy += piece * piece
    cut += np.maximum(1 - LIMIT / np.maximum(energy, 1.0), 0.0)
    np.minimum(cut, 1.0, out=cut)
    cut *= steps
    return clip_euclidean(np.ascontiguousarray(held.T)), np.ceil(cut, out=cut).T


def count_cells(
    rows: np.ndarray, spans: np.ndarray, factors: np.ndarray, counts: np.ndarray, clips: bool
) -> tuple[np.ndarray, np.ndarray]:
    """How many points fall into each cell of a box with so many equal `counts` along its axes, and stray points.

    Along an axis a cell is ``(x - low) * factor``, rounded down. Where the box `clips`, only a missing value strays.
    """
    places, stray = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=bool)
    for (low, high), factor, count, column in zip(spans, factors, counts.tolist(), rows.T, strict=True):
        x = doubles(column)
        lost = np.isnan(x) if clips else ~((x >= low) & (x <= high))
        x = np.clip(np.where(lost, low, x) if lost.any() else x, low, high)
        x -= low
        x *= factor
        places *= count
        places += np.minimum(x.astype(np.int64), count - 1)
        stray |= lost
    found = np.bincount(places if not stray.any() else places[~stray], minlength=int(counts.prod()))
    return found, np.flatnonzero(stray)
