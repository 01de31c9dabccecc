"""Hazards fitted to noisy counts of events and censorings: survival that never rises, as rough as the counts ask for.

Logarithms of both hazards are Gaussian processes (a level, a trend in the logarithm of time, cosines, and small effects
of each cell). For each of several guesses of how rough they are, the most likely ones are found by a few Gauss-Newton
steps, with the known law of the noise and the sampling variance of counts; guesses are weighed by how well they explain
the counts (derivations: survival). Nothing here sees a record: noisy counts are public, and so is everything that is
computed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dpfda.results.event_cells import LEVEL, Cells, NoisyEvents, Prior, cells_of, inverse, summed

#: How rough hazards are: of events, and of censorings. The first fit of all is a smooth one.
EVENTS = tuple((waves, cell) for waves in (0.15, 0.6, 2.0) for cell in (0.05, 0.35, 1.0))
CENSORED = ((0.3, 0.2), (1.5, 0.7))
SMOOTH, TYPICAL = (0.6, 0.05), (0.6, 0.35)
#: Gauss-Newton steps of the first fit and of others, the largest one, and the step below which they stop.
FIRST_STEPS, STEPS, LONGEST, SETTLED = 25, 12, 2.0, 1e-2
#: Guesses that explain the counts so many times less well than the best one have no part in anything.
LEAST = 0.01
#: Counts beyond these, in numbers of records, are noise whatever they are; and the least expected count of a cell, over
#: the number of cells.
FARTHEST, FEWEST = 1e3, 0.1
#: Effects of cells of this size are lumps: times that are rounded to months, say.
LUMPY = 1.0


@dataclass(frozen=True, eq=False)
class Fit:
    """What counts say under one guess: the most likely logarithms of hazards, and what is near them, to first order."""

    prior: Prior
    logs: np.ndarray
    probabilities: np.ndarray
    expected: np.ndarray  # counts
    slopes: np.ndarray  # of the expected counts
    gain: np.ndarray  # the prior's covariance times the slopes
    precision: np.ndarray  # of counts about what the prior lets expect
    pull: np.ndarray  # the precision times what counts differ
    sampling: np.ndarray  # the covariance of exact counts
    sampling_variance: np.ndarray
    noise: np.ndarray  # variances that stand for the noise
    evidence: float


@dataclass(frozen=True, eq=False)
class Hazards:
    """What noisy counts say under all guesses together."""

    events: NoisyEvents
    fits: tuple[Fit, ...]
    weights: np.ndarray
    #: Whether counts are explained best by events that come in lumps.
    in_lumps: bool

    @property
    def cells(self) -> Cells:
        return cells_of(self.events.cells)

    def _counts(self, fit: Fit) -> np.ndarray:
        """Expected numbers of records in the cells: those of the records, which stray from the hazards."""
        pull = fit.pull @ self.events.matrix
        found = self.events.n * fit.probabilities * (1 + pull - fit.probabilities @ pull)
        return np.asarray(np.maximum(found, 0.0))

    def _mixed(self, hazards: Callable[[Fit], np.ndarray]) -> np.ndarray:
        """Survival at the edges of the cells, over all guesses."""
        each = [np.exp(-summed(hazards(fit))) for fit in self.fits]
        found = self.weights @ np.array(each)
        return np.asarray(np.maximum(found / found[0], 1e-12))  # exactly one at time 0

    @cached_property
    def survival(self) -> np.ndarray:
        """At the edges of the cells, as the records themselves have it."""
        return self._mixed(lambda fit: actuarial(self._counts(fit)))

    @cached_property
    def population(self) -> np.ndarray:
        """The same for the population."""
        return self._mixed(lambda fit: self.cells.hazards(fit.logs)[: self.events.cells])

    @cached_property
    def at_risk(self) -> np.ndarray:
        """Expected numbers of records with neither an event nor a censoring before the edges of the cells."""
        counts, size = self.weights @ np.array([self._counts(fit) for fit in self.fits]), self.events.cells
        return np.clip(self.events.n - summed(counts[:size] + counts[size:-1]), 0.0, self.events.n)


class Fitting(Protocol):
    """A schedule that draws noisy counts of events and fits hazards to them."""

    def hazards(self, drawn: Sequence[np.ndarray]) -> Hazards:
        """What is fitted to these draws."""


def actuarial(counts: np.ndarray) -> np.ndarray:
    """Hazards of events from counts in cells."""
    size = counts.shape[-1] // 2
    events, gone = counts[..., :size], counts[..., :size] + counts[..., size:-1]
    at_risk = counts[..., -1:] + np.cumsum(gone[..., ::-1], axis=-1)[..., ::-1]
    share = np.clip(gone / np.maximum(at_risk, 1e-9), 0.0, 1 - 1e-6)
    values: np.ndarray = -np.log1p(-share) * events / np.maximum(gone, 1e-12)
    return values


def fitted(events: NoisyEvents) -> Hazards:
    """Hazards under each guess, and the weights of the guesses."""
    farthest = FARTHEST * events.n + 1e6
    counts, cells = np.clip(events.counts, -farthest, farthest), cells_of(events.cells)
    least = np.full(2 * events.cells + 1, FEWEST / events.n / events.cells)
    logs = np.full(2 * events.cells, LEVEL)
    first = _most_likely(events, counts, cells.prior(SMOOTH, CENSORED[0]), logs, least, FIRST_STEPS)
    logs, least, fits = first.logs, np.maximum(least, first.probabilities), []
    for rough in EVENTS:
        for other in CENSORED:
            fits.append(_most_likely(events, counts, cells.prior(rough, other), logs, least, STEPS))
            logs = fits[-1].logs
    evidence = np.array([fit.evidence for fit in fits])
    weights = np.exp(evidence - evidence.max())
    weights[weights <= LEAST] = 0.0
    weights /= weights.sum()
    kept = tuple(fit for fit, weight in zip(fits, weights, strict=True) if weight)
    lumpy = np.repeat([cell >= LUMPY for _, cell in EVENTS], len(CENSORED))
    return Hazards(events, kept, weights[weights > 0], bool(weights[lumpy].sum() > 0.5))


def expected_variances(events: NoisyEvents, probabilities: np.ndarray) -> np.ndarray:
    """Variances of the population's survival at the edges of the cells before data, for rows of probabilities of cells.

    The hazards of these probabilities stand for what counts will say; roughness is a typical guess.
    """
    cells, size, found = cells_of(events.cells), events.cells, []
    prior, least = cells.prior(TYPICAL, CENSORED[0]), np.full(2 * size + 1, FEWEST / events.n / size)
    for shares in probabilities:
        gone = shares[:size] + shares[size:-1]
        both = -np.diff(np.log(1 - np.append(0.0, np.cumsum(gone)))) / gone
        logs = np.log(np.concatenate([both * shares[:size], both * shares[size:-1]]) * size)
        noise = np.full(events.starts.size, 2 * events.scale**2)
        fit = _step(events, events.n * events.matrix @ shares, prior, logs, least, noise)
        own = cells.hazards(logs)[:size]
        lever = -np.exp(-np.cumsum(own))[:, None] * np.tril(np.ones((size, size))) * own
        gain = fit.gain[:size]
        covariance = prior.covariance[:size, :size] - gain @ fit.precision @ gain.T
        found.append(np.append(0.0, ((lever @ covariance) * lever).sum(axis=1)))
    return np.array(found)


def _most_likely(
    events: NoisyEvents, counts: np.ndarray, prior: Prior, logs: np.ndarray, least: np.ndarray, steps: int
) -> Fit:
    """Gauss-Newton steps; Laplace noise is Gaussian noise of a variance that follows what seems to be noise."""
    scale = events.scale + 1e-6
    noise = np.full(counts.size, 2 * scale**2)
    for _ in range(steps):
        fit = _step(events, counts, prior, logs, least, noise)
        noise = scale * np.sqrt(np.maximum((noise * fit.pull) ** 2 + noise - noise**2 * np.diag(fit.precision), 1e-12))
        step = LEVEL + fit.gain @ fit.pull - logs
        longest = float(np.abs(step).max())
        if longest < SETTLED:
            break
        logs = logs + step * min(1.0, LONGEST / longest)
    return fit


def _step(
    events: NoisyEvents, counts: np.ndarray, prior: Prior, logs: np.ndarray, least: np.ndarray, noise: np.ndarray
) -> Fit:
    """What counts say about the hazards, to first order about these logarithms."""
    cells, matrix, n = cells_of(events.cells), events.matrix, events.n
    probabilities = cells.probabilities(logs)
    shares, slopes = matrix @ probabilities, n * matrix @ cells.slopes(logs)
    kept = matrix @ np.maximum(probabilities, least)  # so that empty bins vary by sampling, too
    sampling = n * (np.diag(kept) - np.multiply.outer(shares, shares))
    gain = prior.covariance @ slopes.T
    precision, half = inverse(slopes @ gain + sampling + np.diag(noise))
    left = counts - n * shares + slopes @ (logs - LEVEL)
    pull = precision @ left
    return Fit(
        prior, logs, probabilities, n * shares, slopes, gain, precision, pull, sampling, n * kept, noise,
        -0.5 * float(left @ pull) - half,
    )  # fmt: skip
