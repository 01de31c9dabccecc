"""What a release of a mean should come to, before data: squared errors over a class of curves, stage by stage.

:mod:`dpfda.methods.outlook` holds ways to spend a budget against each other, and a common factor does not matter there.
Here the numbers themselves matter. So curves may be rough, each strays a different way, a private choice falls where
its scores let it fall, and what is clipped is counted. A member of the class needs no simulation: whatever a stage does
follows in closed form (derivations: forecasts).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
import scipy

from dpfda.bounds.bodies import Bound
from dpfda.methods.blockwise import octaves
from dpfda.methods.outlook import LOOSE, Outlook, best_axes, shape_of
from dpfda.plans.rounds import MOST_PRICE, MOST_PRICES, ROOM, TELL_APART, Rounds
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Stage
from dpfda.spaces.basis import Eigenbasis

#: How much the factors by which bounds are too large weigh: their geometric mean is then 2.4, as in eight real sets.
WEIGHTS = dict(zip(LOOSE, (2.0, 2.0, 2.0, 1.0), strict=True))
#: What share of a curve's squared size its mean is. In eight real sets it was from 0.2 to 0.92.
MEAN_SHARES = (0.9, 0.6, 0.3)
#: Means fall as these powers of the kernel's eigenvalues, or have so many functions alike; strayings fall as powers
#: down to noise at every point.
MEAN_POWERS, FUNCTIONS, STRAY_POWERS = (1.0, 0.5), (4, 8, 16), (1.0, 0.5, 0.0)
#: Curves do not all stray as far: standard deviation of the logarithm, 0.35 to 0.53 in seven of the eight sets. Lengths
#: about the public centre vary by half of what is not the mean's (0 to 0.5 in those sets).
STRAY_SD, LENGTH_SD, LEAST_SD = 0.4, 0.5, 0.02


@dataclass(frozen=True, eq=False)
class MeanClass:
    """Public guesses of curves: their size, the mean's share of it, and squared coefficients, a row for each member."""

    sizes: np.ndarray
    shares: np.ndarray
    means: np.ndarray
    strays: np.ndarray
    #: Squared size of each mean about its own level, and what of each mean no function of the basis holds.
    signals: np.ndarray
    beyond: np.ndarray
    #: The public radius that all curves lie within; infinite where a guessed mean lies beyond it.
    limit: float
    #: Squared coefficients of means as shrinkage may know them: by blocks of frequencies, not one by one.
    smoothed: np.ndarray
    #: What each member weighs in what is typical.
    weights: np.ndarray

    @classmethod
    def of(cls, problem: MeanProblem, known: bool) -> MeanClass:
        """For a bound that is right, or several times too large where the scale is not `known`."""
        return _class_within(problem.basis, problem.bound, known)

    @classmethod
    def about(cls, problem: MeanProblem, guess: np.ndarray, spread: float | None = None) -> MeanClass:
        """The same where the mean is publicly guessed, as a curve on the grid, and perhaps a spread about it.

        Of curves about a mean that lies inside the bound, none is taken to lie beyond it.
        """
        grid, away = problem.grid, guess - problem.center
        coefficients = problem.basis.coefficients(away)
        energy, level = float(grid.weights @ away**2), float(grid.weights @ guess) / grid.volume
        signal = float(grid.weights @ (guess - level) ** 2)
        least = 1e-12 * problem.bound.outer**2  # a guess may be the centre itself
        rough = [shape_of(problem.basis.eigenvalues, power) for power in STRAY_POWERS]
        members = list(product(MEAN_SHARES, rough))
        shares, count = np.array([share for share, _ in members]), len(members)
        if spread is not None:
            shares = np.maximum(shares, 1 / (1 + _typical_stray(spread) ** 2 / max(energy, least)))
        outer = problem.bound.outer
        most = outer if energy < outer**2 else np.inf
        sizes = np.minimum(np.sqrt(max(energy, least) / shares), most)
        shares = max(energy, least) / sizes**2
        strays = (sizes**2 * (1 - shares))[:, None] * np.array([stray for _, stray in members])
        beyond = max(0.0, energy - float((coefficients**2).sum()))
        means, starts = np.tile(coefficients**2, (count, 1)), octaves(coefficients.size)
        widths = np.diff((*starts, coefficients.size))
        smoothed = np.repeat(np.add.reduceat(means, starts, axis=1) / widths, widths, axis=1)
        signals, outside = np.full(count, max(signal, least)), np.full(count, beyond)
        return cls(sizes, shares, means, strays, signals, outside, most, smoothed, np.ones(count))

    def straying(self, spread: float) -> MeanClass:
        """The same curves where a public spread is said to hold nearly all of them about their mean.

        The mean takes what they stray less than was guessed.
        """
        most = np.minimum(1.0, (_typical_stray(spread) / self.sizes) ** 2)
        shares = np.maximum(self.shares, 1 - most)
        more, less = shares / self.shares, (1 - shares) / (1 - self.shares)
        return replace(
            self,
            shares=shares,
            means=self.means * more[:, None],
            strays=self.strays * less[:, None],
            signals=self.signals * more,
            beyond=self.beyond * more,
            smoothed=self.smoothed * more[:, None],
        )

    def typical(self, values: np.ndarray) -> float:
        """The weighted geometric mean of one number for each member."""
        return float(np.exp(np.average(np.log(np.maximum(values, 1e-300)), weights=self.weights)))

    @cached_property
    def length_sd(self) -> np.ndarray:
        """Standard deviation of the logarithm of curves' lengths about the centre."""
        found: np.ndarray = np.maximum(LENGTH_SD * (1 - self.shares), LEAST_SD)
        return found

    @cached_property
    def _log_length(self) -> np.ndarray:
        return np.asarray(np.log(self.sizes) - self.length_sd**2)

    def inside(self, radii: np.ndarray) -> np.ndarray:
        """Share of curves within each radius."""
        found = scipy.special.ndtr((np.log(radii) - self._log_length[:, None]) / self.length_sd[:, None])
        return np.where(radii >= self.limit * (1 - 1e-9), 1.0, found)

    def kept(self, radii: np.ndarray) -> np.ndarray:
        """What clipping to each radius leaves of the mean."""
        kept = kept_length(self._log_length[:, None], self.length_sd[:, None], radii)
        if np.isfinite(self.limit):
            kept = kept / kept_length(self._log_length, self.length_sd, self.limit)[:, None]
        return np.asarray(np.minimum(kept, 1.0))


@lru_cache(maxsize=8)
def _class_within(basis: Eigenbasis, bound: Bound, known: bool) -> MeanClass:
    """The class of curves within a bound, which plans of other numbers and budgets share."""
    values = basis.eigenvalues
    flat = [np.where(np.arange(values.size) < count, 1.0, 0.0) for count in FUNCTIONS]
    shapes = [*(shape_of(values, power) for power in MEAN_POWERS), *(shape / shape.sum() for shape in flat)]
    rough = [shape_of(values, power) for power in STRAY_POWERS]
    members = list(product((1.0,) if known else LOOSE, MEAN_SHARES, shapes, rough))
    largest = np.minimum(bound.lengths(values.size), bound.outer) ** 2
    sizes = np.array([bound.outer / loose for loose, *_ in members])
    shares = np.array([share for _, share, _, _ in members])
    means = np.minimum((sizes**2 * shares)[:, None] * np.array([mean for *_, mean, _ in members]), largest)
    strays = (sizes**2 * (1 - shares))[:, None] * np.array([stray for *_, stray in members])
    level = basis.coefficients(np.ones(basis.grid.size)) ** 2 / basis.grid.volume
    weights = np.array([WEIGHTS[loose] for loose, *_ in members])
    signals = means @ (1 - np.minimum(level, 1.0))
    for shared in (sizes, shares, means, strays, signals, weights):
        shared.setflags(write=False)
    return MeanClass(sizes, shares, means, strays, signals, np.zeros(len(members)), bound.outer, means, weights)


def _typical_stray(spread: float) -> float:
    """How far a curve strays typically, where nearly all stray less: two standard deviations below."""
    return float(spread * np.exp(-2 * STRAY_SD))


def kept_length(log_median: np.ndarray, sd: np.ndarray | float, radius: np.ndarray | float) -> np.ndarray:
    """Mean length after clipping to a radius, over that before, where logarithms of lengths are normal."""
    far = (np.log(radius) - log_median) / sd
    ndtr = scipy.special.ndtr
    return np.asarray(ndtr(far - sd) + radius * np.exp(-log_median - np.square(sd) / 2) * ndtr(-far))


def likely(scores: np.ndarray, scale: float) -> np.ndarray:
    """Probabilities of a private choice by these scores, row by row, nearly: exponential in their distances."""
    found = np.exp((scores - scores.max(axis=1, keepdims=True)) / scale)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def left_over(
    signal: np.ndarray, smoothed: np.ndarray, noise: np.ndarray, kept: np.ndarray | float = 1.0
) -> np.ndarray:
    """What shrinkage leaves of squared coefficients of which a share was `kept`; all of them without a number."""
    seen = np.square(kept) * smoothed
    factor = np.divide(
        seen, seen + noise, out=np.zeros(np.broadcast_shapes(seen.shape, noise.shape)), where=np.isfinite(noise)
    )
    return np.asarray(signal * (1 - factor * kept) ** 2 + factor**2 * np.where(np.isfinite(noise), noise, 0.0))


def stage_errors(stage: Stage, members: MeanClass, shrinks: bool) -> np.ndarray:
    """Squared errors of a release of one stage within the plan's own bound, member by member."""
    problem = stage.problem
    assert isinstance(problem, MeanProblem)
    size = problem.basis.size
    filter, noise = stage.filter[:size], problem.finish_variance(stage.variance)[:size]
    kept = members.kept(np.array([problem.bound.outer]))
    if shrinks:
        noise = np.divide(noise, filter**2, out=np.full(size, np.inf), where=filter > 0)
        left = left_over(members.means, members.smoothed, noise, kept).sum(axis=1)
    else:
        missed = np.array([stage.bias(mean) for mean in members.means])
        left = missed + noise.sum() + (1 - kept[:, 0]) ** 2 * (members.means @ filter**2)
    return np.asarray(left + members.beyond)


def _count_error(stage: Stage, divided: np.ndarray) -> np.ndarray:
    """What the noise of a private count adds to squared sizes that are divided by it."""
    count = stage.variance[-1] if stage.problem.count_is_private else 0.0
    return np.asarray(min(float(count), 1.0) * divided)


def round_errors(rounds: Rounds, members: MeanClass, shrinks: bool) -> np.ndarray:
    """Squared errors of a release in rounds, member by member."""
    method, home, size = rounds.method, rounds.home, rounds.size
    opening = rounds.opening(home)
    noise = np.full(size, np.inf)
    for part in opening.parts:
        if part.where.max() < size:
            noise[part.where] = part.law.variance / part.filter**2
    radii, chances = _radii(rounds, members)
    means = members.means[:, :size]
    found = (radii[:, None] / home.bound.outer) ** 2 * noise
    kept = members.kept(radii)
    if shrinks or rounds.passes > 1:  # centres of later rounds are always shrunk
        left = left_over(means[:, None], members.smoothed[:, None, :size], found[None], kept[..., None])
    else:
        left = np.where(np.isfinite(found), found + ((1 - kept) ** 2)[..., None] * means[:, None], means[:, None])
    left = (chances[..., None] * left).sum(axis=1)
    bias = np.zeros(len(means))
    top = np.minimum(chances @ radii, method.spread or np.inf)
    last = [number for number, step in enumerate(method.steps) if step == "refine"]
    divided = means.sum(axis=1)
    for number in last:
        divided = left.sum(axis=1)  # later rounds divide distances from the centre
        left, bias = _refined(rounds, members, np.minimum(left, means), top, number, shrinks or number < last[-1])
    missed = members.means[:, size:].sum(axis=1) + members.beyond
    return np.asarray(left.sum(axis=1) + bias + missed + _count_error(opening, divided))


def _radii(rounds: Rounds, members: MeanClass) -> tuple[np.ndarray, np.ndarray]:
    """Radii of the first round, and how likely each is, member by member."""
    share = rounds.method.radius
    if share is None:
        return np.array([rounds.home.bound.outer]), np.ones((len(members.sizes), 1))
    ladder = rounds.radii
    missed = np.maximum(float(ladder.held) - members.inside(ladder.radii), 0.0)
    scores = -missed - ladder.price * np.log2(ladder.radii / ladder.radii[0])
    return ladder.radii, likely(scores, 1 / (rounds.home.n * float(rounds.epsilon * share)))


def _refined(
    rounds: Rounds, members: MeanClass, error: np.ndarray, top: np.ndarray, number: int, shrinks: bool
) -> tuple[np.ndarray, np.ndarray]:
    """What a later round leaves of the error of the centre before it, and what its clipping costs."""
    method, home, size = rounds.method, rounds.home, rounds.size
    widths, n = rounds.sizes.astype(float), home.n
    centre = np.add.reduceat(error, rounds.starts, axis=1)
    about = np.add.reduceat(members.strays[:, :size], rounds.starts, axis=1) + centre
    if method.steps[number - 1] == "choose":
        offered = (top[:, None, None, None] * rounds.ladder[:, None]) ** 2 * np.array(rounds.shapes)[:, None]
        energies = (offered + ROOM * centre[:, None, None]).reshape(len(top), -1, widths.size)
    else:
        energies = (top[:, None] ** 2 * rounds.shapes[0] + ROOM * centre)[:, None]
    axes = best_axes(energies, widths)
    # The logarithm of how far curves are out, in units of an ellipsoid: typically, and at most.
    typical = np.log((about[:, None] / axes**2).sum(axis=2)) / 2
    far, most = typical - STRAY_SD**2, typical + np.log(members.limit / np.sqrt(about.sum(axis=1)))[:, None]
    inside = np.where(most <= 1e-9, 1.0, scipy.special.ndtr(-far / STRAY_SD))
    octaves = np.log2((axes * np.sqrt(widths * (widths + 1))).sum(axis=2))
    octaves -= octaves.min(axis=1, keepdims=True)
    epsilon = rounds.epsilon * method.selection
    if axes.shape[1] > 1:
        price = min(MOST_PRICE, TELL_APART / (n * float(epsilon)))
        prices = np.minimum(price, MOST_PRICES / np.maximum(octaves.max(axis=1), 1e-9))[:, None]
        outside = rounds._terms(epsilon, 1.0)[0]
        scores = -np.abs(1 - outside - inside) - prices * octaves
        chances = likely(scores, 2 / (n * float(epsilon)))
    else:
        chances = np.ones((len(top), 1))
    outlook = Outlook(home, rounds.epsilon * method.share(number))
    noise = (chances[..., None] * outlook.noise_within(axes, widths)).sum(axis=1)
    kept = kept_length(far, STRAY_SD, 1.0)
    if np.isfinite(members.limit):
        kept = np.minimum(kept / kept_length(far, STRAY_SD, np.exp(most)), 1.0)
    lost = 1 - (chances * kept).sum(axis=1)
    spread = np.repeat(noise, rounds.sizes, axis=1)
    left = np.broadcast_to(spread, error.shape)
    if shrinks:
        left = left_over(members.means[:, :size], members.smoothed[:, :size], spread)
    return left, lost**2 * about.sum(axis=1)
