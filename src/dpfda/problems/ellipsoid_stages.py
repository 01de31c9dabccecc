"""What is asked of curves about a released centre, beside their mean: which ellipsoid holds them, how they vary.

Both look at each record alone, through the same coefficients as the mean, and add up integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from dpfda.bounds.lattice import RADIUS
from dpfda.bounds.loops import Block, add_up
from dpfda.bounds.plain import MARGIN
from dpfda.bounds.sensitivities import ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.problems.defaults import check_count, check_key
from dpfda.problems.derived import DerivedProblem, Scores, check_totals
from dpfda.problems.summary import Summary

#: Energies are rounded down to this fraction of the body's: any value is valid, since they still add up to one at most.
ENERGY = 2**20


@dataclass(frozen=True, eq=False)
class InsideProblem(Scores):
    """How many records lie inside each of several ellipsoids, as scores for a private choice of one.

    `candidates` holds their semi-axes in units of `inner`'s body, a row each, a column per block. The best one holds
    the share `held` of the records; `prices`, in records, tell candidates that hold as many apart by their noise.
    """

    starts: tuple[int, ...]
    candidates: np.ndarray
    held: Fraction
    prices: np.ndarray
    nested: bool = False

    @property
    def size(self) -> int:
        return len(self.candidates)

    @cached_property
    def key(self) -> str:
        return codec.digest(["inside", self.inner.key, list(self.starts), self.candidates.tolist()])

    @cached_property
    def _weights(self) -> np.ndarray:
        return self.candidates.T**-2.0

    def total(self, batch: np.ndarray) -> np.ndarray:
        return add_up(self.block_totals, batch)

    def block_totals(self, block: Block) -> np.ndarray:
        """A quick sum of squares tells what a record is inside of, unless it is too close to a surface."""
        steps = *self.inner.to_coefficients(block), self._starts, self._quick_weights, MARGIN
        counts, close = block.kernels.count_inside(*steps)
        return np.asarray(counts + self._inside(close) if close.size else counts)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.array(self.starts, dtype=np.int64)

    @cached_property
    def _quick_weights(self) -> np.ndarray:
        return self._weights / self.inner.inner_radius**2

    def _inside(self, found: np.ndarray) -> np.ndarray:
        """The same in a fixed order of sums: functions of one record each."""
        far = np.zeros((len(found), self.size))
        with np.errstate(over="ignore"):
            for energy, weight in zip(
                block_energies(found / self.inner.inner_radius, self.starts), self._weights, strict=True
            ):
                far += energy[:, None] * weight
        return np.asarray((far <= 1.0).sum(axis=0))

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "centre, bound or per-curve options")
        check_totals(summary, self.size, 1)
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        """One record moves a score by at most one, under both relations (derivations: private choice)."""
        return self._scores(summary.totals.tolist(), self.held * summary.count, self.prices)


@dataclass(frozen=True, eq=False)
class VaryProblem(DerivedProblem):
    """Mean squared sizes of records about the centre: by block of frequencies (if any), then by piece of the domain.

    Either kind adds up to one at most for each record: blocks in units of `inner`'s body, pieces in units of
    `reference`, a distance from the centre. `cuts` says into how many pieces each axis of the domain is cut.
    """

    starts: tuple[int, ...]
    reference: float
    cuts: tuple[int, ...]

    @property
    def windows(self) -> int:
        return int(np.prod(self.cuts))

    @property
    def size(self) -> int:
        return len(self.starts) + self.windows

    @cached_property
    def key(self) -> str:
        return codec.digest(["vary", self.inner.key, list(self.starts), list(self.cuts), self.reference])

    @property
    def sensitivity(self) -> Sensitivity:
        """Of either kind alone: sizes that add up to one at most (derivations: stages)."""
        return ManhattanSensitivity(np.ones(self.size), (1.0 if self.count_is_private else 2.0) / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        return np.ones(self.size)

    @cached_property
    def pieces(self) -> np.ndarray:
        """The piece of the domain that each grid point belongs to."""
        sizes = [axis.size for axis in self.inner.grid.axes]
        cuts = [np.arange(size) * cut // size for size, cut in zip(sizes, self.cuts, strict=True)]
        return np.ravel_multi_index(np.meshgrid(*cuts, indexing="ij"), self.cuts).ravel()

    def total(self, batch: np.ndarray) -> np.ndarray:
        return add_up(self.block_totals, batch)

    def block_totals(self, block: Block) -> np.ndarray:
        curves, usable = self.inner.curves(block)
        roots = np.sqrt(self.inner.grid.weights) / self.reference
        places = block.kernels.sum_pieces(
            curves, usable, self.inner.center, roots, self.pieces, self.windows, float(ENERGY)
        )
        if not self.starts:
            return np.asarray(places)
        frequencies = block_energies(self.inner.encoded(block) / RADIUS, self.starts)
        return np.append([np.floor(e * ENERGY).sum() for e in frequencies], places).astype(np.int64)

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "centre, bound or per-curve options")
        check_totals(summary, self.size, ENERGY)
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        return [Fraction(int(t), ENERGY * self.n) for t in summary.totals]


def block_energies(rows: np.ndarray, starts: tuple[int, ...]) -> list[np.ndarray]:
    """Squared norms of blocks of columns, added in a fixed order: functions of each row alone."""
    with np.errstate(over="ignore"):
        return [_added(rows.T[a:b] ** 2) for a, b in pairwise((*starts, rows.shape[1]))]


def _added(columns: np.ndarray) -> np.ndarray:
    total = np.zeros(columns.shape[1])
    for column in columns:
        total += column
    return total
