"""Honest bands of a mean: noise, what was left out, and sampling.

The error of a released mean has three parts. Noise has a public law. What the release leaves out (functions that it
does not have, curves that were clipped) has a size that a share of the budget paid for, or the public bound. Sampling
is how far the curves' mean is from that of their population; how much curves vary was paid for as well. A band adds
the three, about the curve as it was drawn (derivations: honest bands).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy

from dpfda.bounds.units import Range
from dpfda.noise import simulate
from dpfda.noise.studies import laplace
from dpfda.results.bands import fixed_generator
from dpfda.results.terms import DRAWS, Terms
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from dpfda.results.mean import MeanRelease

#: The points of a grid at which the quantile of simulated errors is taken at most.
MOST_POINTS = 1024
#: A part that was left out is at most this many times as high as its root mean square, inside the domain, or as the
#: highest of half as many independent values as the grid has points, by a factor; near its ends, and at the very ends
#: (the first year of life, say), up to so many times the root of the number of functions; and where all functions are
#: released this many times, as a clip leaves out whole curves.
PEAK, PEAK_OF_NOISE, PEAK_NEAR_ENDS, PEAK_AT_ENDS, PEAK_OF_ALL = 3.0, 1.25, 1.5, 3.0, 4.0
#: Near an end is within the width of a function, falling off over the last of it; at the end is within this share.
FALLING, AT_END = 0.4, 0.15
#: Functions of which the smooth part of a sampling error is made: the kernel has next to nothing beyond.
SMOOTHEST = 64
#: Where no size was paid for: functions beyond so many leave out nothing to speak of, and with fewer at most half of a
#: curve's energy.
SMOOTH, MOST_LEFT = 16, 0.5
#: A length that was drawn may be too small by its own noise: so much of a scale is added, and it counts as so much of
#: one at least; with many functions as less. Rough daily curves of 365 points decided (derivations: honest bands): with
#: a quarter added, and a lower peak, they were held in 0.87 to 0.98 of the releases of one or several rounds.
ABOVE, LEAST, LEAST_OF_MANY = 0.5, 0.75, 0.5
#: Features finer than the released ones may be so large a share of those; a smaller one where there are many functions.
DETAILS, DETAILS_OF_MANY = 0.5, 0.25
#: A length of this share of the cap says that nearly all curves were cut, and nearly the same way: how much was left
#: out is anybody's guess then. A length counts as seen where noise alone would draw it once in a hundred times.
ALL_CUT, SEEN = 0.8, float(np.log(50))
#: Where a radius among the smallest was chosen, so many scales of its noise are held against a length. By the law of
#: that noise, with n epsilon of 100 and all curves beyond the bound, four bands of a hundred are too narrow. How often
#: a bound that is ten times too large is taken for one that is too small was not measured.
DOUBT = 2.0
#: Functions up to so many are too few to tell a size that was left out from one that was not looked at.
FEW, SOME = 4, 8
#: Bands end at so many times the public bound, as a height.
FURTHEST = 3.0


@dataclass(frozen=True)
class Length:
    """A noisy length: as it was drawn, the scale of its noise, and the length that each curve's part was cut to."""

    drawn: float
    scale: float
    cap: float

    @property
    def saturated(self) -> bool:
        """Whether so much was left out that curves were cut: it may be more."""
        return self.drawn > self.cap / 2


@dataclass(frozen=True)
class Evidence:
    """What bands of a mean rest on, all of it public.

    `kept` are the functions that leave. `variance` is how much curves vary at each grid point about the curve `about`
    (None: the public centre), told for so many `pieces` of the domain, and `left` the length that was left out, where a
    share of the budget went to these. `smallest` says that the private radius is among the smallest on offer: curves
    are tiny beside the bound, or all of them are beyond it, so that no radius held any.
    """

    kept: np.ndarray
    variance: np.ndarray | None = None
    left: Length | None = None
    about: np.ndarray | None = None
    pieces: int = 1
    smallest: bool = False
    #: Whether there was a private choice of the radius.
    chosen: bool = False
    #: How much of the length up to which variation is measured curves have, as a mean square: one where all were cut.
    #: With the standard deviation of its noise.
    filled: tuple[float, float] | None = None
    #: What the noise of a private count is of that count, where later rounds were divided by it.
    count_noise: float = 0.0

    @property
    def lost(self) -> bool:
        """Whether curves may be anywhere, for all that was measured: nearly all were cut, up to the noise of that."""
        if self.left is None:
            return self.smallest
        doubt = DOUBT if self.smallest else 1.0
        return self.left.drawn + doubt * self.left.scale > ALL_CUT * self.left.cap


def mean_terms(release: MeanRelease) -> Terms:
    """The parts of the bands of a released mean."""
    return _Mean(release).terms


class _Mean:
    """A released mean as its bands see it."""

    def __init__(self, release: MeanRelease):
        self.release, self.plan = release, release.plan
        self.evidence = self.plan.accuracy.evidence(release)
        self.grid: AnyGrid = release.grid
        self.length = float(self.grid.weights.sum()) / self.grid.count
        self.radius = float(self.plan.bound.outer)
        self.full = self.evidence.kept.size >= self.plan.basis.size

    @cached_property
    def per_axis(self) -> float:
        """Functions along one axis of the domain."""
        each: float = self.evidence.kept.size / self.grid.count
        return float(max(1.0, each ** (1 / len(self.grid.domain.axes))))

    @cached_property
    def undone(self) -> np.ndarray:
        """What undoes the filter: its bias has no place in a band."""
        stage = self.release.stage
        filter = stage.filter[: stage.problem.basis.size]
        return np.where(filter > 0, 1 / np.maximum(filter, 1e-300), 1.0)

    @cached_property
    def about(self) -> np.ndarray:
        """Coefficients as drawn, without the filter, about the public centre."""
        found = self.release.raw - self.plan.problem.center_coefficients
        found[: self.undone.size] *= self.undone
        return np.asarray(found)

    @property
    def terms(self) -> Terms:
        rng = fixed_generator()
        stage, basis = self.release.stage, self.plan.basis
        size = stage.problem.basis.size
        functions = basis.functions[:, :size]
        some, center = np.arange(self.grid.size), self.plan.problem.center
        if some.size > MOST_POINTS:
            some = np.sort(rng.choice(some.size, MOST_POINTS, replace=False))
        statistic = stage.problem.typical(self.release.raw[:size])
        still = stage.problem.finish(statistic.copy(), stage.parts)
        noise = ((simulate(stage, statistic, DRAWS, rng) - still)[:, :size] * self.undone) @ functions[some].T
        variance = stage.problem.finish_variance(stage.variance)[:size] * self.undone**2
        middle = center + basis.synthesize(self.about)
        counted = np.zeros(self.grid.size)
        if self.evidence.count_noise and self.evidence.about is not None:  # distances from a centre over a noisy count
            counted = (middle - self.evidence.about) * self.evidence.count_noise
            noise += laplace((DRAWS, 1), rng) * counted[some]
        sampling_sd = np.sqrt(self.variance / self.plan.n)
        lowest, highest = self._ends
        return Terms(
            middle,
            self.release.values.ravel(),
            some,
            noise,
            self.process(some, rng) * sampling_sd[some],
            np.sqrt(functions**2 @ variance + 2 * counted**2),
            sampling_sd,
            self.bias,
            lowest,
            highest,
            self.grid.weights,
            self.surely_left_out,
        )

    @property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Where bands end: the range of a function of the curves, which holds every mean of it, or far outside."""
        center, far = self.plan.problem.center, FURTHEST * self.radius / np.sqrt(self.length)
        own = None if self.plan.of is None else self.plan.of.bound
        if isinstance(own, Range):
            return np.full(self.grid.size, own.low), np.full(self.grid.size, own.high)
        return center - far, center + far

    def process(self, some: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """How a mean of curves may stray, in units of its size at each point: partly smooth, partly at random."""
        eigenvalues = self.plan.basis.eigenvalues[:SMOOTHEST]
        functions = self.plan.basis.functions[some, : eigenvalues.size]
        smooth = (rng.standard_normal((DRAWS, eigenvalues.size)) * np.sqrt(eigenvalues)) @ functions.T
        smooth /= np.sqrt(functions**2 @ eigenvalues)
        found: np.ndarray = (rng.standard_normal((DRAWS, some.size)) + np.sqrt(3) * smooth) / 2
        return found

    # -- how much curves vary -------------------------------------------------------------------

    @cached_property
    def variance(self) -> np.ndarray:
        """Of the curves at each grid point; the public bound where nothing is known of it."""
        found, public = self.evidence.variance, self.radius**2 / self.length * self.grid.count
        if found is None:
            return np.full(self.grid.size, public)
        if self.evidence.about is not None:
            return found
        distance = (self.release.values.ravel() - self.plan.problem.center) ** 2
        pieces = self.evidence.pieces
        return np.asarray(np.maximum(found - distance, 0.1 * found) * (1.5 if pieces < 4 else 1.0))

    # -- what was left out ------------------------------------------------------------------------

    @cached_property
    def left_out(self) -> float:
        """The length of what was left out, at most."""
        kept, left, full = self.evidence.kept.size, self.evidence.left, self.full
        public = 0.0 if full else self.radius * np.sqrt(max(0.0, MOST_LEFT * (1 - kept / SMOOTH)))
        if self.evidence.lost:
            return self.radius
        if left is None:
            return self.radius if self.evidence.variance is None or kept > FEW else float(public)
        least = LEAST if kept <= SMOOTH else LEAST_OF_MANY
        size = max(left.drawn + ABOVE * left.scale, least * left.scale)
        if kept <= SOME and not full:
            if left.saturated:
                return float(max(public, min(left.drawn, self.radius)))
            return float(min(public, max(left.drawn, 0.0) + left.scale * np.log(10)))
        return float(min(max(2 * size, public) if left.saturated else size, self.radius))

    @property
    def surely_left_out(self) -> float:
        """The same without any help from how high it may be: but for once in a hundred times it is not longer."""
        left = self.evidence.left
        if left is None or left.saturated or self.evidence.lost:
            return self.radius
        return min(max(left.drawn, 0.0) + SEEN * left.scale, self.radius)

    @cached_property
    def bias(self) -> np.ndarray:
        """How far off the curve may be, point by point, for what was left out."""
        height = self.left_out / np.sqrt(self.length)
        if self.full:
            return np.full(self.grid.size, PEAK_OF_ALL * height)
        inside = max(PEAK, PEAK_OF_NOISE * np.sqrt(2 * np.log(max(self.grid.size / 2, 1.0))))
        ends = max(inside, PEAK_NEAR_ENDS * np.sqrt(self.per_axis))
        away = self._from_ends * self.per_axis  # in widths of a function
        peak = inside + (ends - inside) * np.clip((1 - away) / FALLING, 0.0, 1.0)
        peak = np.where(away < AT_END, np.maximum(peak, PEAK_AT_ENDS * np.sqrt(self.per_axis)), peak)
        share = DETAILS if self.evidence.kept.size <= SMOOTH else DETAILS_OF_MANY
        return np.asarray(share * self._details + peak * height)

    @property
    def _from_ends(self) -> np.ndarray:
        """The distance of each grid point from the ends of the domain, as a share of it."""
        apart = []
        for axis in self.grid.axes[len(self.grid.axes) - len(self.grid.domain.axes) :]:
            place = np.cumsum(axis.weights) - axis.weights / 2
            place = (place - place[0]) / max(float(axis.weights.sum()), 1e-300)
            apart.append(np.minimum(place, place[-1] - place))
        nearest = np.min(np.meshgrid(*apart, indexing="ij"), axis=0).ravel()
        return np.asarray(np.tile(nearest, self.grid.count))

    @property
    def _details(self) -> np.ndarray:
        """How large the finest released features are nearby: finer ones that are missing may be as large."""
        kept = self.evidence.kept
        if kept.size <= FEW:
            return np.zeros(self.grid.size)
        last = kept[kept.size // 2 :]
        fine = np.abs(self.plan.basis.functions[:, last] @ self.about[last]).reshape(self.grid.shape)
        window = [max(1, round(size / self.per_axis) | 1) for size in fine.shape]
        if self.grid.count > 1:
            window[0] = 1
        return np.asarray(scipy.ndimage.maximum_filter(fine, window, mode="nearest").ravel())
