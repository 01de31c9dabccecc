"""What releases could look like: every stage of a plan, shrinkage included, over a public guess with simulated noise.

The records are invented or public, the noise comes from a seed, and nothing is charged: what comes out is arrays, never
a release. It has no statement, no seal and cannot be saved; the rooms that make releases do not know this one
(import-linter holds it).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from dpfda.core.checks import check_integer, check_positive
from dpfda.core.codec import frozen_array
from dpfda.core.errors import ParameterError
from dpfda.plans.bound_fit import Guess
from dpfda.plans.guesses import AnyPlan, Guessed
from dpfda.plans.invented import Invented, simulated, statistic
from dpfda.results.bands import Band
from dpfda.results.verdict import word_for
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from dpfda.results.base import Release

#: Simulated releases that the typical width of a band is taken from.
FEW = 2
#: Simulated releases at most.
MOST = 100_000
#: Where the records of a population are drawn, among the stages of a release: after all of them.
SAMPLING = 1 << 16
#: What would be said of the making of a release.
NOTHING_MADE = {"query": "simulated: not a release", "created": ""}


class Course:
    """The stages of a plan over public records, one simulated release after another; what leaves it is arrays."""

    def __init__(self, plan: AnyPlan, guessed: Guessed, seed: int):
        self.plan, self.guessed, self.source = plan, guessed, seed
        self._begun: dict[int, list[np.ndarray]] = {}

    def values(self, number: int | None) -> np.ndarray:
        """A simulated release on the grid; without a number, what one without noise would be."""
        return self.plan._values_of(self._drawn(number, self.plan.schedule.decisive))

    def band(self, number: int, level: float) -> Band:
        """The band that a simulated release would be shown with, about zero: its distances to either side."""
        release: Release = self.plan._release_of(self._drawn(number, None), NOTHING_MADE)
        band = release.shown_band(level)
        below, above = (np.minimum(band.lower - release.values, 0.0), np.maximum(band.upper - release.values, 0.0))
        return Band(band.t, below, above, level, band.covers)

    def _drawn(self, number: int | None, most: int | None) -> list[np.ndarray]:
        """What the stages of one release draw, the first `most` of them."""
        schedule, records, found = self.plan.schedule, self._records(number), list[np.ndarray]()
        if number is not None and number < FEW:  # the band of this one goes on from its values
            found = self._begun.setdefault(number, found)
        while most is None or len(found) < most:
            stage = schedule.next(found) if found else schedule.first
            if stage is None:
                break
            same = not found and records is self.guessed.records
            exact = self._first_exact if same else statistic(stage, records)
            found.append(simulated(stage, exact, None if number is None else (self.source, number, len(found))))
        return found[:most]

    def _records(self, number: int | None) -> Invented:
        guessed = self.guessed
        if number is None or not guessed.sampled:
            return guessed.records
        return guessed.records.sample(self.plan.n, (self.source, number, SAMPLING))

    @cached_property
    def _first_exact(self) -> np.ndarray:
        return statistic(self.plan.schedule.first, self.guessed.records)


@dataclass(frozen=True, eq=False, repr=False)
class Hypothetical:
    """Simulated releases of a plan over a public guess: arrays to look at, never a release.

    :meth:`MeanPlan.hypothetical` and its like make it.

    Parameters
    ----------
    plan : plan
        The plan that was simulated.
    truth : array
        What the releases are about: the guess itself, or what the guessed records have without noise.
    values : array
        One simulated release per row, on the grid of the plan.
    signal : float
        What errors are compared with, as a root mean square: for a mean how much it varies about its level, else what
        ``plan.accuracy.signal_name`` says, of the guess.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> plan = dp.MeanPlan(n=1000, epsilon=1.0, bound=dp.Range(-2, 2), grid=48)
    >>> found = plan.hypothetical(np.sin(6 * plan.grid.points), size=5, seed=1)
    >>> found.values.shape, found.word
    ((5, 48), 'clear')
    >>> hasattr(found, "save"), hasattr(found, "statement")
    (False, False)
    """

    plan: AnyPlan
    truth: np.ndarray
    values: np.ndarray
    signal: float
    _course: Course

    @property
    def size(self) -> int:
        """How many releases were simulated."""
        return len(self.values)

    @cached_property
    def errors(self) -> np.ndarray:
        """Root mean squared error of each simulated release over the grid."""
        return root_mean_square(self.plan, self.values - self.truth)

    @property
    def error(self) -> float:
        """Root mean squared error of all of them together."""
        return float(np.sqrt((self.errors**2).mean()))

    @property
    def ratio(self) -> float:
        """The error over the signal; infinite where there is none, but for rounding."""
        return self.error / self.signal if self.signal > 1e-12 * np.abs(self.truth).max() else float("inf")

    @property
    def word(self) -> str:
        """What such a release would be: "clear", "coarse" or "mostly noise"."""
        return word_for(self.ratio)

    def band(self, level: float = 0.95) -> Band:
        """The honest band of such releases, drawn about the truth: typical distances to either side of a release.

        Parameters
        ----------
        level : float
            The probability with which such a band would hold what it covers, everywhere at once.

        Returns
        -------
        Band
            Of the same kind as pictures of a release show.
        """
        found = [self._course.band(number, level) for number in range(min(FEW, self.size))]
        below, above = (np.mean([getattr(band, side) for band in found], axis=0) for side in ("lower", "upper"))
        return Band(found[0].t, self.truth + below, self.truth + above, level, found[0].covers)

    def __repr__(self) -> str:
        share = f"{self.ratio:.0%} of the signal" if np.isfinite(self.ratio) else "and nothing to see"
        what = f"{self.size} of {self.plan.query}, simulated: not a release"
        return f"Hypothetical({what}; error {self.error:.3g}, {share}: {self.word})"


def root_mean_square(plan: AnyPlan, values: np.ndarray) -> np.ndarray:
    """Of each row of values on the plan's grid, weighed as the grid weighs; several curves count alike."""
    grids: list[AnyGrid] = [plan.problem.grid, getattr(plan, "grid", plan.problem.grid)]
    count = int(np.prod(values.shape[1:]))
    weights = next(grid.weights for grid in grids if count % grid.size == 0)
    squares = values.reshape(len(values), -1, weights.size) ** 2
    return np.asarray(np.sqrt((squares @ (weights / weights.sum())).mean(axis=1)))


class Imagining:
    """What plans can show before data: releases as they could be, over a public guess."""

    def hypothetical(self, guess: Guess, size: int = 10, seed: int = 0, *, spread: float | None = None) -> Hypothetical:
        """What releases could look like: simulated over a public guess, with every stage and all that follows noise.

        Parameters
        ----------
        guess : array, float or Range
            Public rows as `release` takes them (an earlier study's records, or invented ones), which stand for all n
            records. Or a curve, one value for each grid point, about which records are invented: of a mean the mean
            itself (also its level, or the range that curves lie in), of a covariance the mean of its curves, of
            percentiles the median; a density and a survival curve are taken as they are. Never the data.
        size : int
            How many releases to simulate.
        seed : int
            Where the simulated noise comes from: the same seed gives the same releases, and nearly the same where n or
            epsilon change a little.
        spread : float, optional
            How far one record typically lies from the curve that is guessed, in its own units (a root mean square over
            the domain): errors depend on it. Default: a quarter of the bound's radius, which may be twice too much or
            too little; of percentiles a twelfth of the range.

        Returns
        -------
        Hypothetical
            Arrays: no release, nothing is charged, nothing can be saved.

        Raises
        ------
        dpfda.errors.ParameterError
            Where a guess has another shape, or holds what is not finite.

        Examples
        --------
        >>> import numpy as np, dpfda as dp
        >>> plan = dp.MeanPlan(n=300, epsilon=0.1, bound=dp.Range(-2, 2), grid=48)
        >>> found = plan.hypothetical(np.sin(6 * plan.grid.points))
        >>> found.word
        'mostly noise'
        >>> lower, upper = found.band(0.95)
        >>> bool((lower < found.truth).all())
        True
        """
        plan = cast(AnyPlan, self)
        size = check_integer("size", size, 1, "It is how many releases are simulated.")
        if size > MOST:
            raise ParameterError(f"size must be at most {MOST:,}", size, "Pass size=100, say.")
        seed = check_integer("seed", seed, 0, "Any whole number will do.")
        check_positive("spread", spread)
        guessed = plan._guesses.take(plan, guess, seed, spread)
        course = Course(plan, guessed, seed)
        values = frozen_array([course.values(number) for number in range(size)])
        truth = frozen_array(course.values(None) if guessed.truth is None else guessed.truth)
        signal = guessed.signal
        if signal is None:
            signal = float(root_mean_square(plan, plan._guesses.contrast(plan, truth)[None])[0])
        return Hypothetical(plan, truth, values, signal, course)
