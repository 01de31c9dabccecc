"""Cosines of ranks: the numbers that percentile curves are made of, in one ball of noise.

At each point of the grid a public table gives every cell of the range a level ``u`` between 0 and 1. A record is then a
curve of features ``w_k sqrt(2) cos(pi k u(t))``, and the statistic their mean in the first cosines of time, a number of
its own for each order k. However the table came about (from the range alone, or from what was released before), two
records differ by no more than two levels do (derivations: percentiles).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from dpfda.bounds import exact
from dpfda.bounds.sensitivities import EuclideanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.problems.same_records import SameSummary
from dpfda.problems.summary import Summary
from dpfda.problems.value_cells import ValueCells
from dpfda.spaces.basis import CosineBasis

#: Levels that a rank is snapped to; features of a level in whole numbers of 2^-24, time functions of 2^-40: whatever
#: they are, sensitivities are those of the rounded ones (derivations: percentiles).
LEVELS, FEATURE_BITS, TIME_BITS = 1024, 24, 40
#: Steps towards the centre of the smallest ball that holds all features; a worse centre costs accuracy only.
CENTRE_STEPS = 2000


@lru_cache(maxsize=64)
def features(weights: tuple[float, ...]) -> np.ndarray:
    """``w_k sqrt(2) cos(pi k u)`` at the middle of each level, in whole numbers: one row per level."""
    u = (np.arange(LEVELS) + 0.5) / LEVELS
    orders = np.arange(1, len(weights) + 1)
    found = np.rint(2.0**FEATURE_BITS * np.sqrt(2) * np.array(weights) * np.cos(np.pi * np.outer(u, orders)))
    found = found.astype(np.int64)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=64)
def diameter(weights: tuple[float, ...]) -> float:
    """The largest distance of the features of two levels: all pairs compared, in whole numbers, rounded up."""
    rows = features(weights)
    products = rows @ rows.T
    lengths = np.diag(products)
    return _root(int((lengths[:, None] + lengths - 2 * products).max()))


@lru_cache(maxsize=64)
def centre(weights: tuple[float, ...]) -> tuple[int, ...]:
    """A point close to the features of all levels: about it, one record more or less moves the sum least."""
    rows = features(weights).astype(float)
    middle = (rows.min(axis=0) + rows.max(axis=0)) / 2
    for step in range(1, CENTRE_STEPS + 1):
        farthest = rows[np.argmax(((rows - middle) ** 2).sum(axis=1))]
        middle += (farthest - middle) / (step + 1)
    return tuple(int(x) for x in np.rint(middle))


@lru_cache(maxsize=64)
def radius(weights: tuple[float, ...]) -> float:
    """The largest distance of a level's features from their centre, rounded up."""
    return _root(int(((features(weights) - np.array(centre(weights))) ** 2).sum(axis=1).max()))


def _root(square: int) -> float:
    """The root of a whole number of squared feature units, rounded up."""
    return math.nextafter((math.isqrt(square) + 1) * 2.0**-FEATURE_BITS, math.inf)


@dataclass(frozen=True, eq=False)
class RankMoments(SameSummary):
    """Mean features of the records of `inner` whose cells have the levels `table`, in the cosines of `basis`.

    `functions` says how many cosines of time each order has, `weights` what it is multiplied by. Where n is private,
    features are taken about their centre, and a count is released beside them (`counts`) or was before.
    """

    inner: ValueCells
    table: np.ndarray
    functions: tuple[int, ...]
    weights: tuple[float, ...]
    basis: CosineBasis
    counts: bool = False

    # -- the statistic ----------------------------------------------------------------------

    @property
    def moments(self) -> int:
        """How many features are released."""
        return sum(self.functions)

    @property
    def size(self) -> int:
        return self.moments + self.counts

    @property
    def needs_count(self) -> bool:
        return self.counts

    @cached_property
    def _time(self) -> np.ndarray:
        """The cosines of time on the grid, times the share of each point: whole numbers, one row per function."""
        shares = np.sqrt(self.inner.grid.weights / self.inner.grid.weights.sum())
        most = max(self.functions)
        return np.rint(2.0**TIME_BITS * self.basis.vectors[:, :most].T * shares).astype(np.int64)

    @property
    def centre_features(self) -> np.ndarray:
        """What features are taken about, by order: zero where n is public."""
        middle = np.array(centre(self.weights) if self.count_is_private else (0,) * len(self.weights))
        return middle * 2.0**-FEATURE_BITS

    @property
    def centre_moments(self) -> np.ndarray:
        """The moments of a record whose features are the centre everywhere."""
        level = self._time.sum(axis=1) * 2.0**-TIME_BITS
        return np.concatenate([level[:k] * c for k, c in zip(self.functions, self.centre_features, strict=True)])

    def estimate(self, summary: Summary) -> list[Fraction]:
        counts, rows = self.inner.table(summary), features(self.weights)
        safe = summary.count * self.inner.whole < 2**32  # a feature is below 2^27
        counts = counts if safe else counts.astype(object)
        unit = Fraction(1, 2 ** (FEATURE_BITS + TIME_BITS) * self.n * self.inner.whole)
        middle = centre(self.weights) if self.count_is_private else (0,) * len(self.weights)
        values: list[Fraction] = []
        for k, (functions, about) in enumerate(zip(self.functions, middle, strict=True)):
            column = rows[:, k][self.table]
            totals = (counts * (column if safe else column.astype(object))).sum(axis=1)
            totals = totals - about * summary.count * self.inner.whole
            values += [x * unit for x in exact.product(self._time[:functions], totals)]
        return [*values, Fraction(summary.count, self.n)] if self.counts else values

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """The largest distance of two levels (or of one from the centre), over n (derivations: percentiles).

        Cosines of time are nearly orthonormal (derivations: basis excess) and rounded.
        """
        largest = radius(self.weights) if self.count_is_private else diameter(self.weights)
        points, most = self.inner.grid.size, max(self.functions)
        shares = math.sqrt(1 + points * 2.0**-50)
        stretch = math.sqrt(1 + self.basis.excess) * shares + points * math.sqrt(most) * 2.0 ** -(TIME_BITS + 1)
        return EuclideanSensitivity(np.ones(self.moments), largest * stretch / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        largest = np.array(self.weights) * 2 * np.sqrt(2)
        return np.repeat(largest, self.functions)

    # -- after the noise --------------------------------------------------------------------

    @property
    def prior_energy(self) -> np.ndarray:
        return np.ones(self.basis.size)

    def means(self, noisy: np.ndarray, count: float | None = None) -> list[np.ndarray]:
        """Mean cosines by order, from what was drawn; `count` is the noisy number of records over its guess."""
        values = noisy[: self.moments]
        if self.count_is_private:
            values = values / (noisy[-1] if count is None else count) + self.centre_moments
        parts = np.split(values, np.cumsum(self.functions)[:-1])
        return [part / weight for part, weight in zip(parts, self.weights, strict=True)]
