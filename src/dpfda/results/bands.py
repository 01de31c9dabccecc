"""Bands: curves between which something lies everywhere at once, and what that is.

A noise band follows from the public law of the noise alone. Nothing here sees a record (derivations: after the noise).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError, shown
from dpfda.noise import laplace, simulate
from dpfda.problems.stage import Stage
from dpfda.spaces.basis import Eigenbasis

if TYPE_CHECKING:
    from dpfda.plans.moments import MomentPlan

DRAWS, SEED, CHUNK = 10_000, 20240501, 4096
#: Values of simulated errors that are looked at in one go: few enough to stay near the processor.
VALUES = 1 << 20
#: What a noise band covers.
NOISE_ONLY = "noise only"


@dataclass(frozen=True, eq=False)
class Band:
    """A simultaneous band: with probability `level` the whole of what it covers lies inside.

    Parameters
    ----------
    t : array
        Points of the grid.
    lower, upper : array
        The two curves, which the band unpacks as.
    level : float
        The probability.
    covers : str, optional
        What lies inside, in a few words: "mean of the population", say.

    Examples
    --------
    >>> lower, upper = Band(np.zeros(2), np.array([0.0, 1.0]), np.array([2.0, 2.0]), 0.95)
    >>> upper.tolist()
    [2.0, 2.0]
    """

    t: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: float
    covers: str = ""

    def __iter__(self) -> Iterator[np.ndarray]:
        """Unpacks as ``lower, upper``."""
        return iter((self.lower, self.upper))

    @property
    def half_width(self) -> np.ndarray:
        """Half the distance between the two curves."""
        values: np.ndarray = (self.upper - self.lower) / 2
        return values


def pointwise_sd(stage: Stage, t: ArrayLike, order: int = 0) -> np.ndarray:
    """Standard deviation of the noise at any points."""
    basis, variance = _noised(stage)
    points = np.asarray(t, dtype=float)
    if points.ndim and len(points) > CHUNK:
        chunks = range(0, len(points), CHUNK)
        return np.concatenate([pointwise_sd(stage, points[i : i + CHUNK], order) for i in chunks])
    values: np.ndarray = np.sqrt(basis.evaluate(points, order) ** 2 @ variance)
    return values


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
    noised = [_noised(stage) for stage, _ in terms]
    functions = [basis.evaluate(chosen, order) for basis, _ in noised]
    sds = [np.sqrt(values**2 @ variance) for values, (_, variance) in zip(functions, noised, strict=True)]
    spread = np.sqrt(sum(sd**2 for sd in sds))
    scaled = [(values / (spread[:, None] + 1e-300)).T for values in functions]
    widest = max(len(chosen), *(stage.problem.size for stage, _ in terms))
    chunk = max(1, min(DRAWS, (1 << 21) // widest))  # bounded memory on any grid
    worst, rows = [], max(1, VALUES // len(chosen))
    for start in range(0, DRAWS, chunk):
        size = min(chunk, DRAWS - start)
        errors = []
        for (stage, statistic), values in zip(terms, scaled, strict=True):
            middle = stage.problem.finish(statistic.copy(), stage.parts)
            noise = simulate(stage, statistic, size, rng)
            noise -= middle
            errors.append((noise[:, : len(values)], values))
        worst += [_largest(errors, slice(row, row + rows)) for row in range(0, size, rows)]
    if chosen is not points:
        spread = np.sqrt(sum(pointwise_sd(stage, points, order) ** 2 for stage, _ in terms))
    return quantile(np.concatenate(worst), level) * np.asarray(spread)


def _largest(errors: Sequence[tuple[np.ndarray, np.ndarray]], rows: slice) -> np.ndarray:
    """The largest size of each simulated error, for some rows of coefficients, and of functions that they belong to."""
    total, *others = (noise[rows] @ values for noise, values in errors)
    for other in others:
        total += other
    return np.asarray(np.abs(total, out=total).max(axis=1))


def quantile(worst: np.ndarray, level: float) -> float:
    """An order statistic, rounded up."""
    return float(np.sort(worst)[min(worst.size - 1, int(np.ceil(level * (worst.size + 1))) - 1)])


def sure_quantile(ordered: np.ndarray, level: float) -> float:
    """An order statistic of sorted draws, three standard errors up: simulation makes no band too narrow."""
    rank = level * ordered.size + 3 * np.sqrt(level * (1 - level) * ordered.size)
    return float(ordered[min(ordered.size - 1, int(np.ceil(rank)))])


@lru_cache(maxsize=32)
def worst_walks(bins: tuple[int, ...], known: bool) -> np.ndarray:
    """The largest sum of Laplace noise up to an edge of bins, in its own standard deviations, of all rounds: sorted.

    With a `known` number of points, what the noise of a round adds in all is known and taken off evenly; else sums run
    from either end, over all bins too.
    """
    rng, worst = np.random.default_rng(SEED), np.zeros(DRAWS)
    for count in bins:
        noise, k = laplace((DRAWS, count), rng), np.arange(1, count + 1)
        if known:
            sums = np.cumsum(noise - noise.mean(axis=1, keepdims=True), axis=1)[:, :-1]
            ratios = np.abs(sums) / np.sqrt(2 * k * (count - k) / count)[:-1]
            worst = np.maximum(worst, ratios.max(axis=1, initial=0.0))
            continue
        for ends in (noise, noise[:, ::-1]):
            worst = np.maximum(worst, (np.abs(np.cumsum(ends, axis=1)) / np.sqrt(2 * k)).max(axis=1))
    worst.sort()
    worst.setflags(write=False)
    return worst


def worst_of(errors: Sequence[tuple[np.ndarray, np.ndarray]], level: float) -> float:
    """How many standard deviations all errors stay within at once: Laplace noise of a scale and a Gaussian of an sd."""
    worst = np.zeros(DRAWS // 4)  # it depends on the release, so each band has draws of its own
    for number, (scale, sd) in enumerate(errors):
        drawn = noise_and_sampling(scale, sd, worst.size, number)
        worst = np.maximum(worst, (np.abs(drawn) / np.sqrt(2 * scale**2 + sd**2)).max(axis=1))
    return sure_quantile(np.sort(worst), level)


def noise_and_sampling(scale: np.ndarray, sd: np.ndarray, size: int, number: int) -> np.ndarray:
    """Simulated Laplace noise of these scales plus Gaussian errors of these sds, one row per draw, the same each time.

    Other numbers give other draws.
    """
    rng = np.random.default_rng([SEED, number])
    values: np.ndarray = laplace((size, scale.size), rng) * scale + rng.standard_normal((size, sd.size)) * sd
    return values


def fixed_generator() -> np.random.Generator:
    """The generator of public simulations: bands of one release are the same every time."""
    return np.random.default_rng(SEED)


def simulated_errors(plan: MomentPlan[Any], drawn: Sequence[np.ndarray]) -> np.ndarray:
    """Errors of a regression's coefficients by simulated noise, one row per draw, in bounded memory."""
    rng = np.random.default_rng(SEED)
    chunk = max(1, min(DRAWS, (1 << 22) // plan.problem.size))
    return np.concatenate([plan.schedule.errors(drawn, min(chunk, DRAWS - i), rng) for i in range(0, DRAWS, chunk)])


def simultaneous(errors: np.ndarray, level: float) -> np.ndarray:
    """Half-widths, proportional to each column's own size, that hold all columns of a row at once."""
    check_level(level)
    spread = np.sqrt((errors**2).mean(axis=0)) + 1e-300
    values: np.ndarray = quantile(np.abs(errors / spread).max(axis=1), level) * spread
    return values


def sampled_operators(values: np.ndarray, n: float, chance: float) -> float:
    """How far the covariance of n Gaussian curves is from its population's as an operator, but for this chance.

    `values` are the population's variances, largest first; the first eight decide.
    """
    roots, rng = np.sqrt(values[:8]), np.random.default_rng(SEED)
    worst = []
    for _ in range(4):
        normal = rng.standard_normal((DRAWS // 10, roots.size, roots.size))
        errors = (normal + normal.transpose(0, 2, 1)) * np.sqrt(0.5 / n) * np.multiply.outer(roots, roots)
        worst.append(np.abs(np.linalg.eigvalsh(errors)).max(axis=1))
    return quantile(np.concatenate(worst), 1 - chance)


def check_level(level: float) -> None:
    """Refuse a coverage level that is not a probability strictly between 0 and 1."""
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError("level must lie strictly between 0 and 1", shown(level), "Pass level=0.95.")
