"""What may be done after the noise, for free: bands from the public law, and shrinkage.

Nothing here sees a record. A release is public; so are its noise law and everything computed
from the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .codec import frozen_array
from .errors import ParameterError, shown
from .noise import simulate
from .protocol import Stage

DRAWS, SEED = 10_000, 20240501
SHRINKAGE = ("bayes", "james-stein")


@dataclass(frozen=True, eq=False)
class Band:
    """A simultaneous band: with probability `level` over the noise, the whole curve lies inside.

    >>> lower, upper = Band(np.zeros(2), np.array([0.0, 1.0]), np.array([2.0, 2.0]), 0.95)
    >>> upper.tolist()
    [2.0, 2.0]
    """

    t: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: float

    def __iter__(self) -> Iterator[np.ndarray]:
        """Unpacks as ``lower, upper``."""
        return iter((self.lower, self.upper))

    @property
    def half_width(self) -> np.ndarray:
        """Half the distance between the two curves."""
        return (self.upper - self.lower) / 2


def band_half_width(stage: Stage, level: float, functions: np.ndarray, statistic: np.ndarray) -> np.ndarray:
    """Half-widths proportional to the pointwise noise, by simulation of the public law.

    `functions` holds the basis at the wanted points, one row each. The quantile is an order
    statistic rounded up, so that Monte-Carlo error never makes the band too narrow on average.
    """
    check_level(level)
    rng = np.random.default_rng(SEED)
    problem = stage.problem
    middle = problem.finish(statistic.copy(), stage.parts)
    spread = np.sqrt(functions**2 @ problem.finish_variance(stage.variance)) + 1e-300
    chunk = max(1, min(DRAWS, (1 << 21) // max(functions.shape)))  # bounded memory on any grid
    worst = []
    for start in range(0, DRAWS, chunk):
        noise = simulate(stage, statistic, min(chunk, DRAWS - start), rng) - middle
        worst.append(np.abs((noise @ functions.T) / spread).max(axis=1))
    order = np.sort(np.concatenate(worst))
    return order[min(DRAWS - 1, int(np.ceil(level * (DRAWS + 1))) - 1)] * spread


def check_level(level: float) -> None:
    """Refuse a coverage level that is not a probability strictly between 0 and 1."""
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError("level must lie strictly between 0 and 1", shown(level), "Pass level=0.95.")


def shrink(release: Any, method: str = "bayes") -> Any:
    """A release pulled towards the public centre by what the known noise law says is noise.

    The step is recorded on the release; its raw coefficients stay.
    """
    coefficients = frozen_array(shrunk(release.raw, release.plan.stage, method))
    return replace(release, coefficients=coefficients, steps=(f"shrinkage by {method}",))


def shrunk(coefficients: np.ndarray, stage: Stage, method: str = "bayes") -> np.ndarray:
    """Coefficients after shrinkage.

    `bayes` is empirical Bayes: target coefficients have variances proportional to the public
    guess, with the one unknown factor estimated from the noisy coefficients by weighted least
    squares. `james-stein` needs no guess: dyadic
    blocks of coefficients are multiplied by the positive part of ``1 - (1 - 2/L) noise energy /
    observed energy``, L the length of the block.
    """
    if method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", shown(method), "Pass method='bayes'.")
    problem = stage.problem
    variance = problem.finish_variance(stage.variance)
    filter = stage.filter[: variance.size]
    about = problem.typical(coefficients)[: variance.size]
    noised = (filter > 0) & (variance > 0)
    rule = _empirical_bayes if method == "bayes" else _block_james_stein
    kept = about.copy()
    kept[noised] *= rule(about[noised], variance[noised], filter[noised], problem.guess[noised])
    return coefficients - about + kept


def _empirical_bayes(seen: np.ndarray, noise: np.ndarray, filter: np.ndarray, guess: np.ndarray) -> np.ndarray:
    # seen = filter * target + noise; least squares of its excess energy on the guess, reweighted.
    signal = filter**2 * guess
    factor = 1.0
    for _ in range(20):
        weight = 1 / (factor * signal + noise) ** 2
        excess = float((weight * signal * (seen**2 - noise)).sum() / (weight * signal**2).sum())
        factor = min(1.0, max(0.0, excess))  # the guess carries the whole bound: no mean has more energy
    return np.minimum(1.0, factor * filter * guess / (factor * signal + noise))  # shrink, never amplify noise


def _block_james_stein(seen: np.ndarray, noise: np.ndarray, filter: np.ndarray, guess: np.ndarray) -> np.ndarray:
    factors = np.ones(seen.size)
    edges = np.unique(np.r_[0, 4 * 2 ** np.arange(9), seen.size].clip(max=seen.size))
    for start, stop in pairwise(edges):
        block = slice(start, stop)
        energy = float((seen[block] ** 2).sum())
        if energy > 0:
            factors[block] = max(0.0, 1 - max(0.0, 1 - 2 / (stop - start)) * float(noise[block].sum()) / energy)
    return factors
