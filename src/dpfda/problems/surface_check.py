"""How far the covariance of the records lies from a surface that has been released: two numbers, and no more.

A release that was shrunk, cut off and clipped can be wrong in ways that no noise law knows. So records are read once
more, in a wider ball, and compared with what was published: at the worst place, and as an operator. Both numbers are
norms of a sum of small things, one for each record, so one record moves them little (derivations: covariance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

import numpy as np

from dpfda.bounds.lattice import RADIUS, RADIUS_BITS
from dpfda.bounds.loops import Block, add_up
from dpfda.bounds.sensitivities import BoxSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch
from dpfda.noise import Laplace
from dpfda.noise.samplers import flint
from dpfda.problems.covariance import SQUARE_BITS, products_of_pairs
from dpfda.problems.defaults import check_count, check_key
from dpfda.problems.derived import DerivedProblem
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary, are_integers

#: Pieces of the domain at most: a grid of 101 points is checked point by point, and the exact root of its matrix takes
#: under a second.
PIECES = 104
#: The lattice radius of an encoded record, and what a value is kept to before pieces are added up.
EDGE, FAR = 1 << SQUARE_BITS, 2.0**60
#: How much of a square was cut off counts in so many steps, up to one squared height, and twice: where the chance of a
#: square falls as its second power (fourth moments just do not exist), half of what is cut lies further out.
CUT, CUT_WEIGHT = 1 << 20, 2
#: A sixteenth root of two, rounded up, and what a root rounded down can add.
ROOT16, FLOOR = 1.0443, 2.0**-30


def pieces_of(size: int) -> np.ndarray:
    """The piece of the domain that each of so many grid points belongs to: its own, where there are few."""
    count = min(size, PIECES)
    return np.arange(size) * count // size


@dataclass(frozen=True, eq=False)
class SurfaceCheck(DerivedProblem):
    """Two distances between the second moments of curves about a released centre and a released `surface`.

    Coordinates are means over pieces of the domain times the root of their lengths, so that sums of squares are L2
    lengths. A record is kept to `heights`, piece by piece, and to the ball of this `radius`. The first number is the
    largest entry of the difference, in units of the heights, with what was cut off of records there; the second is the
    difference's Schatten norm of order 16 (the largest eigenvalue, very nearly), in units of the squared radius. The
    mean stands beside the moments in either, times `weights`: where it is large, moments about the centre are no
    covariance.
    """

    surface: np.ndarray
    radius: float
    heights: np.ndarray
    weights: tuple[Fraction, Fraction]

    # -- public facts -----------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return 2

    @cached_property
    def key(self) -> str:
        return codec.digest(["surface check", self.inner.key, self.radius, self.edges.tolist()])

    @cached_property
    def pieces(self) -> np.ndarray:
        return pieces_of(self.inner.grid.size)

    @cached_property
    def edges(self) -> np.ndarray:
        """The heights in lattice units: whole numbers from 1 to the radius."""
        return np.clip(np.ceil(self.heights / self.radius * EDGE), 1, EDGE).astype(np.int64)

    @property
    def unit(self) -> float:
        """One lattice step of a record."""
        return self.radius / EDGE

    @cached_property
    def target(self) -> np.ndarray:
        """The surface on the lattice, no entry further out than a record can reach, nor its norm (object integers)."""
        most = np.multiply.outer(self.edges, self.edges)
        with np.errstate(over="ignore"):
            near = np.clip(self.surface / self.unit**2, -most, most)
        near = np.tril(near) + np.tril(near, -1).T  # to the last bit: the norm is one of symmetric matrices only
        whole = np.trunc(near).astype(np.int64).astype(object)
        if isqrt(int((whole * whole).sum())) < EDGE**2:  # no Schatten norm is larger than this one
            return np.asarray(whole)
        norm = schatten16(whole)
        return np.asarray(whole if norm < EDGE**2 else whole * (EDGE**2 - 1) // (norm + len(whole)))

    @property
    def checked(self) -> np.ndarray:
        """The surface that is compared, in the units of the pieces."""
        return np.asarray(self.target.astype(float) * self.unit**2)

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """What one record can do to either number (derivations: error bars)."""
        return self._alone(np.arange(2))

    def _alone(self, where: np.ndarray) -> BoxSensitivity:
        square = 1 + float(self.weights[1]) ** 2
        operator = square + 1.001 if self.count_is_private else ROOT16 * square
        return BoxSensitivity(np.array([2.0 + CUT_WEIGHT, operator + FLOOR])[where], 1 / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        return np.full(2, 4.0)

    def stage(self, shares: Sequence[Fraction]) -> Stage:
        """Either number with Laplace noise, for its share."""
        parts = []
        for place, epsilon in enumerate(shares):
            where = np.array([place])
            alone = self._alone(where)
            scale = alone.lengths / (self.n * float(epsilon))
            parts.append(
                Part(where, np.ones(1), Laplace.calibrated(epsilon, scale, np.ones(1), alone, self.max_abs[:1]))
            )
        return Stage(self, tuple(parts))

    # -- one record -------------------------------------------------------------------------------

    def encode(self, batch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of integers (held in floats): records inside the box and the ball, and what was cut of their squares.

        In units of the squared height over CUT, up to one squared height. Functions of each record alone, and total.
        """
        return self._encoded(Block(batch))

    def _encoded(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        weights, short = self.inner.grid.weights, 2.0 ** (SQUARE_BITS - RADIUS_BITS)
        steps = weights * (RADIUS / self.radius), self.pieces, self._roots, self.edges / short, FAR, float(CUT)
        rows, cut = block.kernels.bring_to_pieces(*self.inner.curves(block), self.inner.center, *steps)
        rows *= short
        return np.trunc(rows, out=rows), cut

    @cached_property
    def _roots(self) -> np.ndarray:
        return np.sqrt(np.bincount(self.pieces, self.inner.grid.weights))

    def total(self, batch: np.ndarray) -> np.ndarray:
        """Sums over pieces, what was cut of them, sums of products of pairs: exact integers."""
        return add_up(self.block_totals, batch)

    def block_totals(self, block: Block) -> np.ndarray:
        part, cut = self._encoded(block)
        sums = block.kernels.column_sums
        return np.concatenate([sums(part), sums(cut), products_of_pairs(part)])

    # -- all records ------------------------------------------------------------------------------

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "centre, bound or per-curve options")
        size, totals = self.edges.size, summary.totals
        if totals.shape != (2 * size + size * (size + 1) // 2,) or not are_integers(totals) or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
        if (np.abs(totals.astype(float)) > summary.count * float(EDGE) ** 2).any():
            raise PlanMismatch("This summary holds totals that no clipped records can have; it is damaged.")
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        size, upper = self.edges.size, np.triu_indices(self.edges.size)
        sums, cut, products = np.split(summary.totals.astype(object), (size, 2 * size))
        off = np.zeros((size, size), dtype=object)
        off[upper] = products
        off.T[upper] = products
        off -= summary.count * self.target
        return [self._largest(sums, cut, off) / self.n, self._operator(sums, off) / self.n]

    def _largest(self, sums: np.ndarray, cut: np.ndarray, off: np.ndarray) -> Fraction:
        """The largest entry, in units of the heights, with what was cut; or the largest mean."""
        edges, weight, largest = self.edges.tolist(), self.weights[0], Fraction(0)
        for i, a in enumerate(edges):
            largest = max(largest, weight * Fraction(abs(int(sums[i])), a))
            for j, b in enumerate(edges[: i + 1]):
                whole = 2 * CUT * abs(off[i, j]) + CUT_WEIGHT * (cut[i] + cut[j]) * a * b
                if whole * largest.denominator > largest.numerator * 2 * CUT * a * b:
                    largest = Fraction(int(whole), 2 * CUT * a * b)
        return largest

    def _operator(self, sums: np.ndarray, off: np.ndarray) -> Fraction:
        weight, whole = self.weights[1], np.zeros((sums.size + 1, sums.size + 1), dtype=object)
        whole[1:, 1:] = off * weight.denominator
        whole[0, 1:] = whole[1:, 0] = sums * (EDGE * weight.numerator)
        return Fraction(schatten16(whole), EDGE**2 * weight.denominator)


def schatten16(matrix: np.ndarray) -> int:
    """The sixteenth root of the trace of a symmetric integer matrix's sixteenth power, rounded down.

    >>> schatten16(np.array([[3, 0], [0, -2]], dtype=object))
    3
    """
    power = flint.fmpz_mat(matrix.tolist())
    for _ in range(3):
        power = power * power
    trace = int(sum(entry * entry for entry in power.entries()))
    for _ in range(4):
        trace = isqrt(trace)
    return trace
