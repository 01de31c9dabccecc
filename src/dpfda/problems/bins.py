"""Counts of points in bins that are made of a density's own cells: what a histogram releases.

Records are read as for the density itself, so one summary serves every division into bins. A point is in one bin, or
(if it is unusable) in each by its share of the domain: in either case its shares add up to one, so another point in its
place moves all shares together by ``2/n`` at most, however many bins there are (derivations: counts in bins).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from dpfda.bounds.sensitivities import ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.problems.density import DensityProblem, spread
from dpfda.problems.same_records import SameSummary
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary
from dpfda.spaces.grid import Grid
from dpfda.spaces.steps import StepBasis

#: A private number of points can be larger than its public guess; up to so many times, floats of a statistic are exact
#: enough for audits. No privacy rests on it: totals are exact.
MOST_TIMES = 4.0


@dataclass(frozen=True, eq=False)
class BinProblem(SameSummary):
    """The share of points in each of several bins of a line, which begin at the atoms `starts` of `inner`."""

    inner: DensityProblem
    starts: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.starts)

    def estimate(self, summary: Summary) -> list[Fraction]:
        ends = (*self.starts[1:], summary.totals.size)
        counts = [sum(summary.totals[a:b].tolist()) for a, b in zip(self.starts, ends, strict=True)]
        nowhere = summary.count - sum(counts)  # unusable points count as spread evenly
        cells = self.basis.cells.tolist()
        whole = sum(cells)
        return [(count + Fraction(nowhere * c, whole)) / self.n for count, c in zip(counts, cells, strict=True)]

    @property
    def sensitivity(self) -> Sensitivity:
        """Shares of two points differ by two in all, those of one add up to one (derivations: counts in bins)."""
        return ManhattanSensitivity(np.ones(self.size), (1 if self.count_is_private else 2) / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        return np.full(self.size, MOST_TIMES if self.count_is_private else 1.0)

    @cached_property
    def basis(self) -> StepBasis:
        axis = self.inner.grid.axes[0]
        before = np.append(0, np.cumsum(atom_sizes(self.inner)))
        return StepBasis(axis, before[list(self.starts)])

    @property
    def prior_energy(self) -> np.ndarray:
        return self.typical() ** 2

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        if not self.count_is_private:
            return noisy.copy()
        values: np.ndarray = noisy / np.maximum(noisy.sum(axis=-1, keepdims=True), 1 / self.n)
        return values

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        """The uniform density's shares: noise does not depend on what it is added to."""
        values: np.ndarray = self.basis.cells / self.basis.grid.size
        return values


def atom_sizes(problem: DensityProblem) -> np.ndarray:
    """How many cells each atom (a cell, or a bin of a table) of a line has."""
    axis: Grid = problem.grid.axes[0]
    if problem.edges is None:
        return np.ones(axis.size, dtype=np.int64)
    return (spread(axis, problem.edges[0]) > 0).sum(axis=1)


def equal_parts(masses: np.ndarray, count: int) -> tuple[int, ...]:
    """Where `count` bins of about equal mass begin (fewer where there are fewer atoms): each has an atom at least.

    >>> equal_parts(np.array([1.0, 1.0, 1.0, 1.0, 4.0, 4.0]), 3)
    (0, 4, 5)
    """
    count = min(count, masses.size)
    below = np.append(0.0, np.cumsum(masses))
    below = np.round(below / below[-1], 9)  # so that another machine's last digits decide nothing
    starts = [0]
    for k in range(1, count):
        place = int(np.searchsorted(below, k / count))
        if place > 0 and k / count - below[place - 1] <= below[place] - k / count:
            place -= 1
        starts.append(min(max(place, starts[-1] + 1), masses.size - count + k))
    assert all(a < b for a, b in pairwise(starts))
    return tuple(starts)
