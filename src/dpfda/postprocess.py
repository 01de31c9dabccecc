"""What may be done after the noise, for free: bands from the public law, and shrinkage.

Nothing here sees a record. A release is public; so are its noise law and everything computed
from the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import ParameterError
from .noise import simulate
from .protocol import Stage

DRAWS, SEED = 10_000, 20240501
SHRINKAGE = ("bayes", "james-stein")


@dataclass(frozen=True, eq=False)
class Band:
    """A simultaneous band: with probability `level` over the noise, the whole curve lies inside."""

    t: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: float

    @property
    def half_width(self) -> np.ndarray:
        return (self.upper - self.lower) / 2


def band_half_width(stage: Stage, level: float, functions: np.ndarray, statistic: np.ndarray) -> np.ndarray:
    """Half-widths proportional to the pointwise noise, by simulation of the public law.

    `functions` holds the basis at the wanted points, one row each. The quantile is an order
    statistic rounded up, so that Monte-Carlo error never makes the band too narrow on average.
    """
    check_level(level)
    rng = np.random.default_rng(SEED)
    middle = stage.problem.finish(statistic.copy(), stage.parts)
    curves = (simulate(_Simulated(stage), statistic, DRAWS, rng) - middle) @ functions.T
    spread = np.sqrt((curves**2).mean(axis=0)) + 1e-300
    worst = np.sort(np.abs(curves / spread).max(axis=1))
    return worst[min(DRAWS - 1, int(np.ceil(level * (DRAWS + 1))) - 1)] * spread


@dataclass(frozen=True)
class _Simulated:
    stage: Stage


def check_level(level: float) -> None:
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError("level must lie strictly between 0 and 1", repr(level)[:60], "Pass level=0.95.")


def shrink(coefficients: np.ndarray, stage: Stage, method: str = "bayes") -> np.ndarray:
    """Coefficients pulled towards the public centre by what the known noise law says is noise.

    `bayes` is empirical Bayes: target coefficients have variances proportional to the public
    guess, with the one unknown factor estimated from the noisy coefficients by weighted least
    squares. `james-stein` works on dyadic blocks and keeps the positive part of
    ``1 - noise energy / observed energy`` in each, with no guess at all.
    """
    if method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", repr(method)[:60],
                             "Pass method='bayes'.")
    problem = stage.problem
    variance = problem.finish_variance(stage.variance)
    filter = stage.filter[: variance.size]
    about = problem.typical(coefficients)[: variance.size]
    noised = (filter > 0) & (variance > 0)
    signal, noise = about[noised] / filter[noised], variance[noised] / filter[noised] ** 2
    rule = _empirical_bayes if method == "bayes" else _block_james_stein
    shrunk = about.copy()
    shrunk[noised] = rule(signal, noise, problem.guess[noised]) * signal
    return coefficients - about + shrunk


def _empirical_bayes(signal: np.ndarray, noise: np.ndarray, guess: np.ndarray) -> np.ndarray:
    # Weighted least squares of signal^2 - noise on guess, reweighted once by the fitted variance.
    factor = 1.0
    for _ in range(20):
        weight = 1 / (factor * guess + noise) ** 2
        factor = max(0.0, float((weight * guess * (signal**2 - noise)).sum() / (weight * guess**2).sum()))
    return factor * guess / (factor * guess + noise)


def _block_james_stein(signal: np.ndarray, noise: np.ndarray, guess: np.ndarray) -> np.ndarray:
    factors = np.empty(signal.size)
    edges = np.unique(np.r_[0, 3 * 2 ** np.arange(12), signal.size].clip(max=signal.size))
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        block = slice(start, stop)
        energy = float((signal[block] ** 2).sum())
        factors[block] = max(0.0, 1 - float(noise[block].sum()) / energy) if energy > 0 else 0.0
    return factors
