"""What noisy counts in bins say for sure: limits of the distribution function, and of the points' histogram.

The noise on every count is known, and between two edges of bins a distribution function only rises. So its limits rest
on no smoothness at all (derivations: bands of densities). Public numbers in, public numbers out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpfda.results.bands import check_level, sure_quantile, worst_walks

#: What share of the missing probability noise may have, where sampling has the rest: the one with the narrowest limits.
SPLITS = np.linspace(0.05, 0.95, 19)


@dataclass(frozen=True, eq=False)
class NoisyRound:
    """Counts of one round over the (guessed) number of points: bins begin at the atoms `starts`; Laplace of `scale`."""

    starts: np.ndarray
    shares: np.ndarray
    scale: float

    @property
    def bins(self) -> int:
        return int(self.shares.size)

    def bin_of(self, atoms: np.ndarray) -> np.ndarray:
        """The bin that each of some atoms is in."""
        return np.searchsorted(self.starts, atoms, side="right") - 1


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """All rounds of noisy counts of `n` points in atoms (cells, or bins of a table) between `edges`.

    `known` says whether n is the number of points; else it is a public guess of it.
    """

    rounds: tuple[NoisyRound, ...]
    edges: np.ndarray
    n: int
    known: bool

    # -- the distribution function --------------------------------------------------------

    def distribution(self, level: float, sampled: bool) -> tuple[np.ndarray, np.ndarray]:
        """Limits of the share below every edge of atoms, all of them at once: of the points, or where they are from.

        The share below an edge of bins is a sum of counts; below any other it lies between those of the edges around.
        """
        check_level(level)
        noise, stray = self._split(level) if sampled else (level, 0.0)
        most = sure_quantile(self._walks, noise)
        size = self.edges.size
        lower, upper = np.zeros(size), np.ones(size)
        lower[-1], upper[0] = 1.0, 0.0
        for counted in self.rounds:
            low, high = self._below(counted, most)
            inner = counted.starts[1:]
            lower[inner], upper[inner] = np.maximum(lower[inner], low), np.minimum(upper[inner], high)
        if sampled:
            points = self._least_points(most)
            reach = stray / np.sqrt(points) if points > 0 else 1.0
            lower[1:-1], upper[1:-1] = lower[1:-1] - reach, upper[1:-1] + reach
        lower, upper = np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]
        return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)

    @cached_property
    def _walks(self) -> np.ndarray:
        return worst_walks(tuple(counted.bins for counted in self.rounds), self.known)

    def _split(self, level: float) -> tuple[float, float]:
        """The level of the noise, and how far sampling strays times the root of the number of points.

        By Massart's inequality an empirical distribution function strays by more than ``x / sqrt(n)`` anywhere with
        probability ``2 exp(-2 x^2)`` at most. Noise and sampling are independent, so their levels multiply.
        """
        last = self.rounds[-1]
        noise = 1 - (1 - level) * SPLITS
        reach = np.sqrt(np.log(2 / (1 - level / noise)) / 2)
        middle = last.scale * np.sqrt(last.bins / 2)  # standard deviation of the noise halfway
        widths = [
            middle * sure_quantile(self._walks, a) + b / np.sqrt(self.n) for a, b in zip(noise, reach, strict=True)
        ]
        best = int(np.argmin(widths))
        return float(noise[best]), float(reach[best])

    def _below(self, counted: NoisyRound, most: float) -> tuple[np.ndarray, np.ndarray]:
        """Limits of the points' share below each inner edge of bins, if no sum of noise has more than `most` sds."""
        shares, bins = counted.shares, counted.bins
        k = np.arange(1, bins)
        if self.known:  # all shares add up to one, so what the noise adds in all is known and taken off
            below = np.cumsum(shares - (shares.sum() - 1) / bins)[:-1]
            width = most * counted.scale * np.sqrt(2 * k * (bins - k) / bins)
            return below - width, below + width
        sides = []
        for sums, terms in ((np.cumsum(shares)[:-1], k), (np.cumsum(shares[::-1])[:-1][::-1], bins - k)):
            width = most * counted.scale * np.sqrt(2 * terms)
            sides.append((np.maximum(sums - width, 0.0), np.maximum(sums + width, 0.0)))
        (low, high), (low_above, high_above) = sides
        return low / np.maximum(low + high_above, 1e-300), _over(high, high + low_above)

    def _least_points(self, most: float) -> float:
        """The number of points, or the smallest one that the counts allow."""
        return float(self.n) if self.known else self.n * max(limits[0] for limits in self._totals(most))

    def _totals(self, most: float) -> list[tuple[float, float]]:
        """Limits of all points together over their guessed number, by each round."""
        found = []
        for counted in self.rounds:
            total, width = float(counted.shares.sum()), most * counted.scale * np.sqrt(2 * counted.bins)
            found.append((max(total - width, 0.0), max(total + width, 0.0)))
        return found

    # -- the histogram --------------------------------------------------------------------

    def histogram(self, level: float, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Limits of the points' share over the length, all at once, of bins of the last round: those of these atoms."""
        check_level(level)
        last, missing = self.rounds[-1], (1 - level) / (1 if self.known else 2)
        most = -last.scale * np.log1p(-((1 - missing) ** (1 / last.bins)))  # of so many draws none is larger
        low, high = np.maximum(last.shares - most, 0.0), np.maximum(last.shares + most, 0.0)
        if not self.known:
            least, largest = self._totals(sure_quantile(self._walks, 1 - missing))[-1]
            low, high = low / max(largest, 1e-300), _over(high, np.full(high.shape, least))
        bins, lengths = last.bin_of(atoms), self.lengths(last)
        return (np.minimum(low, 1.0) / lengths)[bins], (np.minimum(high, 1.0) / lengths)[bins]

    def lengths(self, counted: NoisyRound) -> np.ndarray:
        """Of the bins of a round."""
        return np.diff(np.append(self.edges[counted.starts], self.edges[-1]))


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """A share, one where the whole may be nothing."""
    values: np.ndarray = np.where(whole > part, part / np.maximum(whole, 1e-300), 1.0)
    return values
