"""A density between noisy counts: what averages over bins say of it, under one stated assumption.

Averages over bins are known up to noise and sampling; what a density does within a bin is not. It is assumed to stray
from the line between averages of adjacent bins by no more than twice what these averages stray from such lines
themselves, and to have no features finer than the bins and 1/32 of the domain (derivations: bands of densities).
"""

from __future__ import annotations

import numpy as np

from dpfda.results.bands import check_level, noise_and_sampling, worst_of
from dpfda.results.counts import NoisyCounts, NoisyRound
from dpfda.results.terms import DRAWS, Terms

#: Features of a density that are narrower than this share of the domain are covered only as far as the bins show them.
#: With 1/16, bands of twenty points from a Student's t on twenty times its scale missed its peak in half of the runs.
FINEST = 1 / 32


def limits(counts: NoisyCounts, level: float, points: np.ndarray, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the population's density at points of these atoms, if it bends within bins as between them.

    Every round has its own; where they contradict each other the assumption is wrong, and both count.
    """
    check_level(level)
    rounds = [_Averages(counts, counted) for counted in counts.rounds]
    most = worst_of([(r.scale, r.sampling) for r in rounds], level)
    found = np.array(
        [r.limits(most, points, counted.bin_of(atoms)) for r, counted in zip(rounds, counts.rounds, strict=True)]
    )
    lower, upper = found[:, 0].max(axis=0), found[:, 1].min(axis=0)
    apart = lower > upper
    return np.where(apart, found[:, 0].min(axis=0), lower), np.where(apart, found[:, 1].max(axis=0), upper)


def terms(counts: NoisyCounts, points: np.ndarray, atoms: np.ndarray, shown: np.ndarray, weights: np.ndarray) -> Terms:
    """What a difference of two densities needs, at points of these atoms, from the last round of counts."""
    last = _Averages(counts, counts.rounds[-1])
    heights, nothing = last.p / last.lengths, np.zeros(last.p.size)
    lines = np.array([last.line(points, row, row) for row in np.eye(heights.size)])
    noise = noise_and_sampling(last.scale, nothing, DRAWS, 0) / last.lengths @ lines
    sampling = noise_and_sampling(nothing, last.sampling, DRAWS, 1) / last.lengths @ lines
    high = heights + 3 * np.sqrt(2 * last.scale**2 + last.sampling**2) / last.lengths
    stray = np.maximum(last.bends(), high * (last.wide - 1))
    stray[[0, -1]] = np.maximum(stray[[0, -1]], high[[0, -1]])  # at the ends it may fall to zero
    far, off = np.full(points.size, np.inf), stray[counts.rounds[-1].bin_of(atoms)]
    return Terms(
        heights @ lines, shown, np.arange(points.size), noise, sampling,
        np.sqrt((noise**2).mean(axis=0)), np.sqrt((sampling**2).mean(axis=0)),
        off, -far, far, weights, float(np.sqrt(weights @ off**2)),
    )  # fmt: skip


class _Averages:
    """Average densities of the bins of one round, as its counts tell them, and what they say of a density."""

    def __init__(self, counts: NoisyCounts, counted: NoisyRound):
        self.ends, self.lengths = counts.edges[[0, -1]], counts.lengths(counted)
        self.middles = counts.edges[counted.starts] + self.lengths / 2
        total = 1.0 if counts.known else float(counted.shares.sum())
        #: A noisy number of points within three standard deviations of none tells nothing.
        self.known = counts.known or total > 3 * counted.scale * np.sqrt(2 * counted.bins)
        self.points = counts.n * total if self.known else 1.0
        self.p = np.clip(counted.shares / total, 0.0, 1.0) if self.known else np.full(counted.bins, 1 / counted.bins)
        self.scale = np.full(self.p.shape, counted.scale / total if self.known else 1.0)
        if not counts.known:  # the noise of a share is its count's, less its part of the total's
            self.scale *= np.sqrt((1 - self.p) ** 2 + (counted.bins - 1) * self.p**2)
        self.sampling = np.sqrt(np.maximum(self.p * (1 - self.p), 1 / self.points) / self.points)

    def limits(self, most: float, points: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Limits at points of these bins, if no count strays by more than `most` standard deviations.

        On the line between averages of adjacent bins, up to how much the averages bend; where a bin is wider than the
        finest feature, its mass may also lie in a part of it as wide as that feature. Beyond the domain there is no
        mass, so in the outermost bins the density may fall to zero.
        """
        low, high = (limit / self.lengths for limit in self._probabilities(most))
        bend = self.bends()[bins]
        down = np.minimum(self.line(points, low, high) - bend, (low * (2 - self.wide))[bins])
        down = np.where((bins == 0) | (bins == self.p.size - 1), 0.0, down)
        up = np.maximum(self.line(points, high, low) + bend, (high * self.wide)[bins])
        return np.maximum(down, 0.0), up

    @property
    def wide(self) -> np.ndarray:
        """How many finest features each bin is wide, at least one."""
        values: np.ndarray = np.maximum(self.lengths / (FINEST * np.ptp(self.ends)), 1.0)
        return values

    def _probabilities(self, most: float) -> tuple[np.ndarray, np.ndarray]:
        """All probabilities from which the shares are at most so many standard deviations away (score intervals)."""
        if not self.known:
            return np.zeros(self.p.size), np.ones(self.p.size)
        each, noise = most**2 / self.points, 2 * (most * self.scale) ** 2
        middle = (self.p + each / 2) / (1 + each)
        reach = np.sqrt(np.maximum(middle**2 - (self.p**2 - noise) / (1 + each), 0.0))
        return np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)

    def line(self, points: np.ndarray, values: np.ndarray, others: np.ndarray) -> np.ndarray:
        """At points: linear between the middles of bins, and on beyond the outermost.

        A limit is continued by the line to the opposite limits of the next bin, the `others`.
        """
        x, (first, last) = self.middles, self.ends
        if values.size == 1:
            return np.full(points.size, values[0])
        before = values[0] + (values[0] - others[1]) * (x[0] - first) / (x[1] - x[0])
        after = values[-1] + (values[-1] - others[-2]) * (last - x[-1]) / (x[-1] - x[-2])
        line: np.ndarray = np.interp(points, [first, *x, last], [before, *values, after])
        return line

    def bends(self) -> np.ndarray:
        """Twice as far as an average lies from the line between its neighbours, at most nearby, noise included.

        A jump within a bin strays from the line no further (derivations: bands of densities).
        """
        heights, x = self.p / self.lengths, self.middles
        if x.size < 3:
            return np.full(x.size, np.ptp(heights))
        part = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
        off = np.abs(heights[1:-1] - (1 - part) * heights[:-2] - part * heights[2:])
        first, last = np.abs(np.diff(heights))[[0, -1]]  # at the ends of the domain as if mirrored there
        own = np.concatenate([[first], 2 * off, [last]])
        padded = np.pad(own, 1, mode="edge")
        values: np.ndarray = np.maximum(own, np.maximum(padded[:-2], padded[2:]))
        return values
