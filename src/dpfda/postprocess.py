"""What may be done after the noise, for free: bands from the public law, and shrinkage.

Nothing here sees a record. A release is public; so are its noise law and everything computed
from the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .basis import Eigenbasis
from .codec import frozen_array
from .errors import ParameterError, shown
from .noise import simulate
from .protocol import Stage

DRAWS, SEED, CHUNK = 10_000, 20240501, 4096
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


def pointwise_sd(stage: Stage, t: ArrayLike, order: int = 0) -> np.ndarray:
    """Standard deviation of the noise at any points."""
    basis, variance = _noised(stage)
    points = np.asarray(t, dtype=float)
    if points.ndim and len(points) > CHUNK:
        chunks = range(0, len(points), CHUNK)
        return np.concatenate([pointwise_sd(stage, points[i : i + CHUNK], order) for i in chunks])
    return np.sqrt(basis.evaluate(points, order) ** 2 @ variance)


def _noised(stage: Stage) -> tuple[Eigenbasis, np.ndarray]:
    """The first functions of the basis, up to the last one that carries noise, and their variances."""
    variance = stage.problem.finish_variance(stage.variance)
    last = int(np.flatnonzero(variance > 0)[-1]) + 1
    return stage.problem.basis.first(last), variance[:last]


def some_points(points: np.ndarray) -> np.ndarray:
    """All points of a grid, or a fixed random choice of them where there are very many."""
    if len(points) <= CHUNK:
        return points
    return points[np.random.default_rng(SEED).choice(len(points), CHUNK, replace=False)]


def band_half_width(
    stage: Stage, level: float, points: np.ndarray, statistic: np.ndarray, order: int = 0
) -> np.ndarray:
    """Half-widths proportional to the pointwise noise, by simulation of the public law.

    The quantile is an order statistic rounded up, so that Monte-Carlo error never makes the band too
    narrow on average. On grids of more than 4,096 points it is taken over that many of them.
    """
    return band_of([(stage, statistic)], level, points, order)


def band_of(terms: Sequence[tuple[Stage, np.ndarray]], level: float, points: np.ndarray, order: int = 0) -> np.ndarray:
    """As :func:`band_half_width`, for a sum or difference of independent releases."""
    check_level(level)
    rng = np.random.default_rng(SEED)
    chosen = some_points(points)
    bases = [_noised(stage)[0] for stage, _ in terms]
    functions = [basis.evaluate(chosen, order) for basis in bases]
    spread = np.sqrt(sum(pointwise_sd(stage, chosen, order) ** 2 for stage, _ in terms)) + 1e-300
    widest = max(len(chosen), *(stage.problem.size for stage, _ in terms))
    chunk = max(1, min(DRAWS, (1 << 21) // widest))  # bounded memory on any grid
    worst = []
    for start in range(0, DRAWS, chunk):
        total = np.zeros((min(chunk, DRAWS - start), len(chosen)))
        for (stage, statistic), basis, values in zip(terms, bases, functions, strict=True):
            middle = stage.problem.finish(statistic.copy(), stage.parts)
            noise = simulate(stage, statistic, len(total), rng) - middle
            total += noise[:, : basis.size] @ values.T
        worst.append(np.abs(total / spread).max(axis=1))
    return _quantile(np.concatenate(worst), level) * np.sqrt(
        sum(pointwise_sd(stage, points, order) ** 2 for stage, _ in terms)
    )


def _quantile(worst: np.ndarray, level: float) -> float:
    """An order statistic, rounded up."""
    return float(np.sort(worst)[min(worst.size - 1, int(np.ceil(level * (worst.size + 1))) - 1)])


def simulated_errors(plan: Any, drawn: Sequence[np.ndarray]) -> np.ndarray:
    """Errors of a regression's coefficients by simulated noise, one row per draw, in bounded memory."""
    rng = np.random.default_rng(SEED)
    chunk = max(1, min(DRAWS, (1 << 22) // plan.problem.size))
    return np.concatenate([plan.errors(drawn, min(chunk, DRAWS - i), rng) for i in range(0, DRAWS, chunk)])


def simultaneous(errors: np.ndarray, level: float) -> np.ndarray:
    """Half-widths, proportional to each column's own size, that hold all columns of a row at once."""
    check_level(level)
    spread = np.sqrt((errors**2).mean(axis=0)) + 1e-300
    return _quantile(np.abs(errors / spread).max(axis=1), level) * spread


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


def project(release: Any) -> Any:
    """The nearest density in L2 to a released one: nowhere negative, integral one. The raw release stays with it."""
    return release.project()


def shrunk(coefficients: np.ndarray, stage: Stage, method: str = "bayes") -> np.ndarray:
    """Coefficients after shrinkage.

    `bayes` is empirical Bayes: target coefficients have variances proportional to a member of the
    public class of guesses, with the one unknown factor estimated from the noisy coefficients by
    weighted least squares, and members weighed by how well they then explain them. `james-stein` needs no guess: dyadic
    blocks of coefficients are multiplied by the positive part of ``1 - (1 - 2/L) noise energy /
    observed energy``, L the length of the block.
    """
    if method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", shown(method), "Pass method='bayes'.")
    problem = stage.problem
    if not np.array_equal(problem.basis.energies, np.ones(problem.basis.size)):
        raise ParameterError(
            "shrinkage works on orthonormal coefficients", type(problem.basis).__name__, "Leave it out here."
        )
    filter = stage.filter[: problem.basis.size]
    variance = problem.finish_variance(stage.variance) + filter**2 * problem.sampling
    about = problem.typical(coefficients)[: variance.size]
    noised = (filter > 0) & (variance > 0)
    rule = _empirical_bayes if method == "bayes" else _block_james_stein
    kept = about.copy()
    kept[noised] *= rule(about[noised], variance[noised], filter[noised], problem.classes[:, noised])
    return coefficients - about + kept


def _empirical_bayes(seen: np.ndarray, noise: np.ndarray, filter: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Each member of the class at the size that fits it best, weighed by how well it explains the numbers."""
    # seen = filter * target + noise; least squares of its excess energy on each guess, reweighted.
    signal, size = filter**2 * classes, np.ones((len(classes), 1))
    for _ in range(20):
        weight = 1 / (size * signal + noise) ** 2
        excess = (weight * signal * (seen**2 - noise)).sum(axis=1) / (weight * signal**2).sum(axis=1)
        size = np.clip(excess, 0.0, 1.0)[:, None]  # a guess carries all that the bound allows: no target has more
    total = size * signal + noise
    fit = -0.5 * (np.log(total) + seen**2 / total).sum(axis=1)
    weight = np.exp(fit - fit.max())
    factors = np.minimum(1.0, size * filter * classes / total)  # shrink, never amplify noise
    return weight @ factors / weight.sum()


def _block_james_stein(seen: np.ndarray, noise: np.ndarray, filter: np.ndarray, classes: np.ndarray) -> np.ndarray:
    factors = np.ones(seen.size)
    edges = np.unique(np.r_[0, 4 * 2 ** np.arange(9), seen.size].clip(max=seen.size))
    for start, stop in pairwise(edges):
        block = slice(start, stop)
        energy = float((seen[block] ** 2).sum())
        if energy > 0:
            factors[block] = max(0.0, 1 - max(0.0, 1 - 2 / (stop - start)) * float(noise[block].sum()) / energy)
    return factors
