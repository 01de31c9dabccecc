"""The exact posterior mean under the noise of this library: what shrinks a release towards its public centre.

Ball noise of L coordinates, with density proportional to ``exp(-|x| / b)``, is a mixture of Gaussian noise: ``N(0, s
b^2)`` with ``s`` chi-squared of L + 1 degrees of freedom (derivations: posterior mean). Independent Laplace noise is
that of blocks of one. So for a mixture of Gaussian guesses of the signal, of many sizes and shapes, the posterior mean
is a sum over both mixtures: no search, nothing to tune, and post-processing, which costs no privacy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
import scipy

#: Nodes by which the mixture of a noise law is summed. Against 200 nodes posterior means moved by less than 1 % of what
#: was seen in 240 trials (for one number the most, for blocks of 12 and more less than 0.2 %).
NODES = 12
#: Sizes of the signal go down from the largest by halves of its energy.
HALVES = 2.0


@dataclass(frozen=True)
class Seen:
    """A block of noisy coefficients: where they are, their values, and the noise's scale at each."""

    where: np.ndarray
    values: np.ndarray
    scales: np.ndarray
    gaussian: bool = False


@dataclass(frozen=True)
class Prior:
    """A mixture of Gaussian guesses: a row of variances each, and the logarithm of its weight."""

    variances: np.ndarray
    log_weights: np.ndarray


@dataclass(frozen=True)
class Posterior:
    """What is known of coefficients after they were seen: mean and variance of each, and the guesses' weights."""

    mean: np.ndarray
    variance: np.ndarray
    weights: np.ndarray


@lru_cache(maxsize=256)
def mixture(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and log weights of chi-squared with ``length + 1`` degrees of freedom, by Gauss and Laguerre.

    >>> nodes, log_weights = mixture(8)
    >>> round(float(nodes @ np.exp(log_weights)), 9)
    9.0
    """
    k, alpha = np.arange(NODES), (length - 1) / 2
    found, vectors = scipy.linalg.eigh_tridiagonal(2 * k + alpha + 1, np.sqrt(k[1:] * (k[1:] + alpha)))
    return 2 * found, 2 * np.log(np.maximum(np.abs(vectors[0]), 1e-150))


def sizes_and_shapes(shapes: np.ndarray, largest: float, smallest: float, nothing: float, tilt: float = 0.0) -> Prior:
    """A prior of every size: each shape (rows that add up to one) at energies from `largest` down to `smallest`.

    `nothing` is the weight of no signal at all; the rest is spread evenly, or grows by ``2^tilt`` with each halving.
    """
    count = max(2, int(np.ceil(np.log(max(largest / smallest, 1.0)) / np.log(HALVES))) + 1)
    halvings = np.arange(count, dtype=float)
    rows = (largest * (HALVES**-halvings)[:, None, None] * shapes).reshape(-1, shapes.shape[1])
    weights = np.repeat(np.exp2(tilt * (halvings - count)), len(shapes))
    weights = np.append((1 - nothing) * weights / weights.sum(), nothing)
    return Prior(np.vstack([rows, np.zeros(shapes.shape[1])]), np.log(weights))


def posterior(blocks: Iterable[Seen], prior: Prior) -> Posterior:
    """Mean and variance of each coefficient, given noisy blocks of them.

    Coefficients in no block stay at the prior's mean, zero.
    """
    guesses, size = prior.variances.shape
    fit = prior.log_weights.copy()
    mean, square = np.zeros((guesses, size)), prior.variances.copy()
    order = sorted(blocks, key=lambda seen: (seen.gaussian, seen.values.size))
    for (gaussian, length), group in groupby(order, key=lambda seen: (seen.gaussian, seen.values.size)):
        same: Sequence[Seen] = list(group)
        where = np.array([seen.where for seen in same])  # one row per block, all of one length
        values, scales = np.array([seen.values for seen in same]), np.array([seen.scales for seen in same])
        nodes, log_weights = (np.ones(1), np.zeros(1)) if gaussian else mixture(length)
        noise = nodes[:, None, None] * scales**2  # nodes x blocks x coordinates
        variance = prior.variances[:, where][:, None]  # guesses x 1 x blocks x coordinates
        total = variance + noise
        log = log_weights[:, None] - 0.5 * (np.log(total) + values**2 / total).sum(axis=-1)
        top = log.max(axis=1, keepdims=True)
        weight = np.exp(log - top)
        mass = weight.sum(axis=1)
        fit += (top[:, 0] + np.log(mass)).sum(axis=1)
        weight /= mass[:, None]
        kept = variance / total
        mean[:, where] = np.einsum("gkb,gkbc->gbc", weight, kept) * values
        square[:, where] = np.einsum("gkb,gkbc->gbc", weight, kept * noise + (kept * values) ** 2)
    weights = np.exp(fit - fit.max())
    weights /= weights.sum()
    middle = weights @ mean
    return Posterior(middle, np.maximum(weights @ square - middle**2, 0.0), weights)
