"""Simulated hazards that fit noisy counts: what bands and intervals of survival curves are made of.

They begin as draws from the Gaussian law near the most likely hazards, moved to where its mean gradient vanishes, and
take a few elliptical slice steps with the exact law of noise and counts (derivations: survival).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from dpfda.results.bands import fixed_generator
from dpfda.results.event_cells import LEVEL, inverse, summed
from dpfda.results.hazards import Fit, Hazards

#: Simulated hazards, slice steps that each takes, and tries of one step.
DRAWS, STEPS, TRIES = 400, 5, 20
#: Steps to where the mean gradient vanishes, the share of each that is taken, and the largest one.
MOVES, TAKEN, LONGEST = 6, 0.7, 1.0


def simulated(found: Hazards) -> np.ndarray:
    """Survival of the population at the edges of the cells: one row for each draw, the same every time."""
    rng = fixed_generator()
    which = np.repeat(np.arange(len(found.fits)), rng.multinomial(DRAWS, found.weights))
    parts = [_Part(found, fit, int((which == number).sum())) for number, fit in enumerate(found.fits)]
    logs = np.concatenate([part.simulated(rng) for part in parts if part.count])
    values: np.ndarray = np.exp(-summed(found.cells.hazards(logs)[:, : found.events.cells]))
    return rng.permutation(values)


class _Part:
    """The draws under one guess."""

    def __init__(self, found: Hazards, fit: Fit, count: int):
        self.events, self.cells, self.fit, self.count = found.events, found.cells, fit, count
        errors = fit.sampling + np.diag(fit.noise)
        self._errors = inverse(errors)[0]
        values, vectors = np.linalg.eigh(errors)
        self._root = vectors * np.sqrt(np.maximum(values, 0.0))

    def simulated(self, rng: np.random.Generator) -> np.ndarray:
        """Logarithms of all hazards, one row for each draw."""
        now = self._gaussian(rng)
        shift = self._shift(now if self.count > 20 else np.vstack([now, -now]))
        tilt = self.fit.prior.precision @ shift + self.fit.slopes.T @ (self._errors @ (self.fit.slopes @ shift))

        def likelier(rows: np.ndarray) -> np.ndarray:
            """How much likelier rows are than the Gaussian law has it."""
            values: np.ndarray = self._exact(rows + shift) - rows @ tilt
            return values

        likely = likelier(now)
        for _ in range(STEPS):
            now, likely = _sliced(now, self._gaussian(rng), likely, likelier, rng)
        return np.asarray(self.fit.logs + shift + now)

    def _gaussian(self, rng: np.random.Generator) -> np.ndarray:
        """Draws about the most likely logarithms, by the Gaussian law near them."""
        fit = self.fit
        before = rng.standard_normal((self.count, fit.logs.size)) @ fit.prior.root.T
        errors = rng.standard_normal((self.count, fit.noise.size)) @ self._root.T
        values: np.ndarray = before - ((before @ fit.slopes.T + errors) @ fit.precision) @ fit.gain.T
        return values

    def _shift(self, rows: np.ndarray) -> np.ndarray:
        """How far the law has to be moved for the mean gradient of the exact one to vanish."""
        fit, n, matrix = self.fit, self.events.n, self.events.matrix
        slope = fit.prior.precision @ (fit.logs - LEVEL)
        shift = np.zeros(fit.logs.size)
        for _ in range(MOVES):
            logs = fit.logs + shift + rows
            left = self.events.counts - n * (self.cells.probabilities(logs) @ matrix.T)
            gradient = n * self.cells.pulled(logs, (left @ self._errors) @ matrix).mean(axis=0)
            gradient -= slope + fit.prior.precision @ shift
            step = fit.prior.covariance @ gradient
            step -= fit.gain @ (fit.precision @ (fit.slopes @ step))
            shift = shift + TAKEN * step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-9))
        return shift

    def _exact(self, rows: np.ndarray) -> np.ndarray:
        """The logarithm of the exact likelihood minus that of the linear Gaussian one."""
        fit, scale = self.fit, self.events.scale + 1e-6
        shares = self.cells.probabilities(fit.logs + rows) @ self.events.matrix.T
        left = self.events.counts - fit.expected - rows @ fit.slopes.T
        exact = noisy_likelihood(self.events.counts - self.events.n * shares, fit.sampling_variance, scale)
        values: np.ndarray = exact + 0.5 * ((left @ self._errors) * left).sum(axis=1)
        return values


def _sliced(
    now: np.ndarray, other: np.ndarray, likely: np.ndarray, likelier: Callable[[np.ndarray], np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """One elliptical slice step of all rows."""
    level, angle = likely - rng.exponential(size=len(now)), rng.uniform(0, 2 * np.pi, len(now))
    low, high, new, likely = angle - 2 * np.pi, angle.copy(), now.copy(), likely.copy()
    todo = np.arange(len(now))
    for _ in range(TRIES):
        tried = now[todo] * np.cos(angle[todo, None]) + other[todo] * np.sin(angle[todo, None])
        value = likelier(tried)
        good = value >= level[todo]
        new[todo[good]], likely[todo[good]] = tried[good], value[good]
        todo = todo[~good]
        if not todo.size:
            break
        back = angle[todo] < 0
        low[todo[back]], high[todo[~back]] = angle[todo[back]], angle[todo[~back]]
        angle[todo] = rng.uniform(low[todo], high[todo])
    return new, likely


def noisy_likelihood(left: np.ndarray, variance: np.ndarray, scale: float) -> np.ndarray:
    """The logarithm of the density of a Gaussian error plus Laplace noise, summed over the columns."""
    sd, size = np.sqrt(variance), np.abs(left)
    above = -size / scale + scipy.special.log_ndtr(size / sd - sd / scale)
    below = size / scale + scipy.special.log_ndtr(-size / sd - sd / scale)
    values: np.ndarray = (np.logaddexp(above, below) + variance / (2 * scale**2)).sum(axis=-1)
    return values
