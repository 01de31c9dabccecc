"""A smooth density fitted to noisy counts: its logarithm is a sum of cosines, as rough as the counts ask for.

For each of many guesses (how far the logarithm reaches, and how short its waves are) the most likely density is found
by a few damped Newton steps. Sums of cosines without a logarithm stand beside them: better for smooth densities of many
points. Guesses are then weighed by how well they explain the counts (derivations: after the noise). Nothing here sees a
record: noisy counts are public, and so is everything that is computed from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: How far the logarithm reaches from its mean (one of them, or nothing), as a standard deviation: from nearly uniform
#: to peaks that hold all mass. Waves are as long as half of the domain, halved down to the length of a bin.
REACHES, LONGEST = (0.3, 1.0, 2.5, 6.0), 0.5
#: Cosines for each bin of the finest round, and in all; and the fewest bins whose length a wave can have.
COSINES_PER_BIN, LEAST_COSINES, MOST_COSINES, LEAST_BINS = 1.6, 12, 96, 12
#: A cosine whose wave is so many times shorter than a guess allows has no part in it: exp(-6^2/2) is 1e-8.
NOTHING = 6.0
#: Densities that are sums of cosines: bumps of these widths and series of these powers, at these sizes.
WIDTHS, POWERS, SIZES = (0.03, 0.06, 0.12, 0.25), (3.0, 4.0, 6.0), (0.03, 0.1, 0.3, 1.0, 3.0)
#: Eigenvalues of a covariance below this share of the largest are rounding.
LEAST = 1e-13
#: Newton steps, the gain below which they stop, and how many numbers are held at once.
STEPS, GAIN, CHUNK = 20, 1e-2, 1 << 21


@dataclass(frozen=True)
class Counted:
    """Noisy shares of the bins that begin at the cells `starts`, and the variance of the noise on each."""

    starts: np.ndarray
    shares: np.ndarray
    variance: float


def fitted(rounds: Sequence[Counted], cells: int, n: float) -> np.ndarray:
    """Probability of each of `cells` equal cells, given noisy shares of `n` points in bins, in one or more rounds."""
    finest = max(LEAST_BINS, *(counted.starts.size for counted in rounds))
    most = min(max(LEAST_COSINES, round(COSINES_PER_BIN * finest)), MOST_COSINES, cells - 1)
    middles, found = (np.arange(cells) + 0.5) / cells, []
    for length in LONGEST * 2.0 ** -np.arange(int(np.ceil(np.log2(finest * LONGEST))) + 1):
        waves = np.arange(1, min(most, int(np.ceil(NOTHING / (np.pi * length)))) + 1)
        functions = np.sqrt(2) * np.cos(np.pi * np.outer(middles, waves))
        shape = np.exp(-0.5 * (np.pi * length * waves) ** 2)
        guesses = np.outer(np.square(REACHES), shape / shape.sum())
        rows = max(1, CHUNK // functions.size)
        found += [_most_likely(rounds, functions, guesses[k : k + rows], n) for k in range(0, len(guesses), rows)]
    found.append(_plain_cosines(rounds, _averaged(found), most, n))
    return _averaged(found)


def _averaged(found: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Masses of all guesses, weighed by how well each explains the counts."""
    fit = np.concatenate([fits for fits, _ in found])
    weights = np.exp(fit - fit.max())
    values: np.ndarray = weights @ np.concatenate([masses for _, masses in found]) / weights.sum()
    return values


def _plain_cosines(rounds: Sequence[Counted], about: np.ndarray, most: int, n: float) -> tuple[np.ndarray, np.ndarray]:
    """The same for densities that are sums of cosines themselves: exact posterior means, cut at zero.

    Counts vary by sampling as if the masses were `about`.
    """
    waves, cells = np.arange(1, most + 1), about.size
    functions = np.sqrt(2) * np.cos(np.pi * np.outer((np.arange(cells) + 0.5) / cells, waves))
    seen = np.concatenate([counted.shares for counted in rounds])
    noise = np.concatenate([np.full(counted.shares.size, counted.variance) for counted in rounds])

    def summed(values: np.ndarray) -> np.ndarray:
        return np.concatenate([np.add.reduceat(values, counted.starts, axis=0) for counted in rounds]) / cells

    design, left = summed(functions), seen - summed(np.ones(cells))
    spread = np.diag(noise + np.maximum(summed(about * cells), 0.0) / n)
    shapes = [np.exp(-((np.pi * waves * width) ** 2)) for width in WIDTHS] + [waves**-power for power in POWERS]
    fits, found = [], []
    for variances in (size * shape for shape in shapes for size in SIZES):
        # By eigenvalues, none of which rounding may push below what is left of the largest: this never fails.
        sizes, vectors = np.linalg.eigh(spread + (design * variances) @ design.T)
        sizes = np.maximum(sizes, LEAST * sizes[-1])
        white = (vectors.T @ left) / sizes
        fits.append(-0.5 * float((vectors.T @ left) @ white) - 0.5 * float(np.log(sizes).sum()))
        values = np.maximum(1 + functions @ (variances * (design.T @ (vectors @ white))), 0.0)
        found.append(values / values.sum())
    return np.array(fits), np.array(found)


def _most_likely(
    rounds: Sequence[Counted], functions: np.ndarray, guesses: np.ndarray, n: float
) -> tuple[np.ndarray, np.ndarray]:
    """Log evidence (Laplace's approximation) and the most likely masses for each guess."""
    seen = np.concatenate([counted.shares for counted in rounds])
    noise = np.concatenate([np.full(counted.shares.size, counted.variance) for counted in rounds])
    unit = np.eye(functions.shape[1])

    def summed(masses: np.ndarray) -> np.ndarray:
        return np.concatenate([np.add.reduceat(masses, counted.starts, axis=1) for counted in rounds], axis=1)

    def density(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log = at @ functions.T
        masses = np.exp(log - log.max(axis=1, keepdims=True))
        masses /= masses.sum(axis=1, keepdims=True)
        return masses, summed(masses)

    def cost(at: np.ndarray, shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
        values: np.ndarray = 0.5 * (weights * (seen - shares) ** 2).sum(axis=1) + 0.5 * (at**2 / guesses).sum(axis=1)
        return values

    at, damping = np.zeros_like(guesses), np.full(len(guesses), 1e-2)
    masses, shares = density(at)
    weights = 1 / (noise + shares / n)  # counts vary by sampling, too
    now = cost(at, shares, weights)
    for _ in range(STEPS):
        weighed = masses[:, :, None] * functions
        slopes = summed(weighed) - shares[:, :, None] * weighed.sum(axis=1)[:, None, :]
        pulled = (slopes * weights[:, :, None]).transpose(0, 2, 1)
        curvature = pulled @ slopes + (1 / guesses)[:, :, None] * unit
        gradient = (pulled @ (shares - seen)[:, :, None])[:, :, 0] + at / guesses
        held = (damping[:, None] * np.einsum("gjj->gj", curvature))[:, :, None] * unit
        tried = at - np.linalg.solve(curvature + held, gradient[:, :, None])[:, :, 0]
        new_masses, new_shares = density(tried)
        gain = now - cost(tried, new_shares, weights)
        better = gain >= 0
        at, masses = np.where(better[:, None], tried, at), np.where(better[:, None], new_masses, masses)
        shares = np.where(better[:, None], new_shares, shares)
        damping = np.where(better, np.maximum(damping / 10, 1e-7), damping * 10)
        weights = 1 / (noise + shares / n)
        now = cost(at, shares, weights)
        if better.all() and gain.max() < GAIN:
            break
    _, volume = np.linalg.slogdet(curvature)
    return -now - 0.5 * volume - 0.5 * np.log(guesses).sum(axis=1) + 0.5 * np.log(weights).sum(axis=1), masses
