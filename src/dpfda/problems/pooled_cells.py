"""Shares of the cells of a range over all times together: what tells where values lie on a lattice, or on a point.

At each time a record is in one cell (a unit in several, by shares), so over all times, by the shares of these, it has
one in all. Another record in its place moves the shares together by ``2/n`` at most (derivations: pooled cells).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds import exact
from dpfda.bounds.sensitivities import ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.problems.bins import MOST_TIMES
from dpfda.problems.same_records import SameSummary
from dpfda.problems.summary import Summary
from dpfda.problems.value_cells import ValueCells
from dpfda.spaces.basis import CosineBasis

#: Shares of times are whole numbers of 2^-40 of one, over their own sum: they add up to one exactly.
TIME_BITS = 40


@dataclass(frozen=True, eq=False)
class PooledCells(SameSummary):
    """The share of each cell among all values of the records of `inner`, over all times by their weights."""

    inner: ValueCells
    basis: CosineBasis

    # -- the statistic ----------------------------------------------------------------------

    @property
    def size(self) -> int:
        return self.inner.cells.count

    @cached_property
    def _times(self) -> np.ndarray:
        """What each time counts, in whole numbers."""
        weights = self.inner.grid.weights
        return np.maximum(np.rint(2.0**TIME_BITS * weights / weights.sum()), 1.0).astype(np.int64)

    def estimate(self, summary: Summary) -> list[Fraction]:
        counts, times = self.inner.table(summary), self._times
        if summary.count * self.inner.whole >= 2**52:
            counts, times = counts.astype(object), times.astype(object)
        unit = Fraction(1, int(self._times.sum()) * self.n * self.inner.whole)
        return [x * unit for x in exact.product(counts.T, times)]

    @property
    def sensitivity(self) -> Sensitivity:
        """Shares of two records differ by two in all, those of one add up to one (derivations: pooled cells)."""
        return ManhattanSensitivity(np.ones(self.size), (1 if self.count_is_private else 2) / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        return np.full(self.size, MOST_TIMES if self.count_is_private else 1.0)

    @property
    def prior_energy(self) -> np.ndarray:
        return np.ones(self.basis.size)
