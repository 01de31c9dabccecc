"""Data we generate ourselves: the paper's scenarios and mixtures, load curves of households, glucose, a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from dpfda.core.errors import ParameterError, shown
from dpfda.spaces.grid import Grid
from dpfda.spaces.stationary import Gaussian, Matern

__all__ = [
    "Points",
    "Sample",
    "glucose",
    "homes",
    "lifetimes",
    "load_curves",
    "mixture",
    "scenario",
    "survival",
]

#: Public radii of the scenarios in every study.
RADII = {"S-1": 3.5, "S-2": 2.5, "S-3": 2.0, "S-4": 4.0}
ERRORS = ("uniform", "gp", "t")


@dataclass(frozen=True)
class Sample:
    """Curves and the mean they scatter about (unpacks as those two), and their grid.

    Parameters
    ----------
    curves : array
        One row per curve.
    mean : array
        Their mean on the grid: the true one of a scenario, that of the curves themselves for load curves.
    grid : Grid
        Where the values are.

    Examples
    --------
    >>> curves, mean = scenario("S-1", 10, np.random.default_rng(0))
    >>> curves.shape, mean.shape
    ((10, 101), (101,))
    """

    curves: np.ndarray
    mean: np.ndarray
    grid: Grid

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.curves, self.mean))


def scenario(name: str, n: int, rng: np.random.Generator, error: str = "uniform", size: int = 101) -> Sample:
    """`n` curves of one of the paper's scenarios on `size` points of [0, 1].

    Parameters
    ----------
    name : str
        "S-1", "S-2", "S-3" or "S-4".
    n : int
        The number of curves.
    rng : numpy.random.Generator
        Where the numbers come from.
    error : str, optional
        "uniform" (default) is ``sum U(-1,1) sqrt(lambda_j) phi_j`` on the Matern 3/2 basis with length
        scale 0.1 (the authors' simulation); "gp" a Gaussian process with squared exponential
        covariance of the same length scale (the paper's text); "t" the expansion with t(5)
        coefficients over 100 functions, weighted by ``sqrt(lambda_j)`` so that curves have finite norm.
    size : int, optional
        The number of grid points. Default: 101.

    Returns
    -------
    Sample
        The curves, their true mean and their grid.

    Raises
    ------
    dpfda.errors.ParameterError
        Where the name or the error is none of these.

    Examples
    --------
    >>> scenario("S-1", 10, np.random.default_rng(0)).curves.shape
    (10, 101)
    """
    if name not in RADII:
        raise ParameterError(f"scenario must be one of {', '.join(RADII)}", shown(name), "Pass 'S-1'.")
    if error not in ERRORS:
        raise ParameterError(f"error must be one of {', '.join(ERRORS)}", shown(error), "Pass 'uniform'.")
    grid = Grid.uniform(0, 1, size)
    mean = _mean(name, grid, rng)
    return Sample(mean + _errors(error, n, grid, rng), mean, grid)


def _mean(name: str, grid: Grid, rng: np.random.Generator) -> np.ndarray:
    t = grid.points

    def bump(at: float, width: float) -> np.ndarray:
        return np.exp(-0.5 * ((t - at) / width) ** 2) / (width * np.sqrt(2 * np.pi))

    if name == "S-1":
        return 10 * t * np.exp(-t)
    if name == "S-2":
        return 0.3 * bump(0.3, 0.05) + 0.7 * bump(0.8, 0.05)
    if name == "S-3":
        return 0.2 * (bump(0, 0.03) + bump(0.2, 0.05) + bump(0.5, 0.05) - bump(0.75, 0.03) + bump(1, 0.03))
    return Matern(1.5, 0.1).basis(grid, 25).synthesize(rng.uniform(-1, 1, 25))


def _errors(error: str, n: int, grid: Grid, rng: np.random.Generator) -> np.ndarray:
    if error == "gp":
        basis = Gaussian(0.1).basis(grid)
        return basis.synthesize(rng.standard_normal((n, basis.size)) * np.sqrt(basis.eigenvalues))
    basis = Matern(1.5, 0.1).basis(grid, None if error == "uniform" else min(100, grid.size))
    draws = rng.uniform(-1, 1, (n, basis.size)) if error == "uniform" else rng.standard_t(5, (n, basis.size))
    return basis.synthesize(draws * np.sqrt(basis.eigenvalues))


def load_curves(n: int, rng: np.random.Generator, size: int = 48) -> Sample:
    """`n` invented household load curves in kilowatt over a day: a base, a morning and an evening peak.

    Parameters
    ----------
    n : int
        The number of curves.
    rng : numpy.random.Generator
        Where the numbers come from.
    size : int, optional
        The number of grid points. Default: 48.

    Returns
    -------
    Sample
        The curves, their mean and their grid.

    Examples
    --------
    >>> sample = load_curves(100, np.random.default_rng(1))
    >>> sample.curves.shape, sample.grid.unit
    ((100, 48), 'h')
    """
    grid = Grid.midpoints(0, 24, size, name="hour", unit="h")
    hours = grid.points

    def peak(at: np.ndarray, width: np.ndarray) -> np.ndarray:
        apart = np.abs(hours - at[:, None])
        return np.exp(-0.5 * (np.minimum(apart, 24 - apart) / width[:, None]) ** 2)

    base = rng.gamma(9.0, 0.025, n)
    morning = rng.gamma(4.0, 0.12, n)[:, None] * peak(rng.normal(7.3, 0.7, n), rng.uniform(0.9, 1.6, n))
    evening = rng.gamma(5.0, 0.18, n)[:, None] * peak(rng.normal(18.8, 0.9, n), rng.uniform(1.6, 2.8, n))
    wobble = 0.12 * Matern(1.5, 1.2).basis(grid).synthesize(
        rng.standard_normal((n, size)) * np.sqrt(Matern(1.5, 1.2).basis(grid).eigenvalues)
    )
    curves = np.maximum(0.02, base[:, None] + morning + evening + wobble)
    return Sample(curves, curves.mean(axis=0), grid)


def glucose(n: int, rng: np.random.Generator) -> Sample:
    """`n` invented glucose curves in mg/dL, every half hour of a day: a level of one's own, and three meals.

    Parameters
    ----------
    n : int
        The number of curves.
    rng : numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    Sample
        Its mean is that of the population.

    Examples
    --------
    >>> sample = glucose(100, np.random.default_rng(1))
    >>> sample.curves.shape, sample.grid.unit
    ((100, 48), 'h')
    """
    grid = Grid.midpoints(0, 24, 48, name="hour", unit="h")
    meals = ((25, 8.5, 2), (30, 13.5, 3), (35, 19.5, 3))
    rises = np.array([size * np.exp(-((grid.points - at) ** 2) / width) for size, at, width in meals])
    level, amount = 0.18, 0.5  # spreads of logarithms
    own = 110 * np.exp(rng.normal(0, level, (n, 1))) + np.exp(rng.normal(0, amount, (n, 3))) @ rises
    mean = 110 * np.exp(level**2 / 2) + np.exp(amount**2 / 2) * rises.sum(axis=0)
    return Sample(own + 2 * rng.normal(size=(n, 48)).cumsum(axis=1), mean, grid)


def homes(n: int, rng: np.random.Generator, size: int = 48) -> tuple[np.ndarray, np.ndarray, Grid]:
    """`n` invented homes: people living there and whether it is heated by electricity, and its load curve over a day.

    People add to the evening, electric heating to the night and the early morning.

    Parameters
    ----------
    n : int
        The number of homes.
    rng : numpy.random.Generator
        Where the numbers come from.
    size : int, optional
        The number of grid points. Default: 48.

    Returns
    -------
    covariates : numpy.ndarray
        People, and 1 or 0 for electric heating: one row per home.
    curves : numpy.ndarray
        One row per home.
    grid : Grid
        Hours of the day.

    Examples
    --------
    >>> covariates, curves, grid = homes(200, np.random.default_rng(0))
    >>> covariates.shape, curves.shape
    ((200, 2), (200, 48))
    """
    sample = load_curves(n, rng, size)
    hours = sample.grid.points
    people, heating = rng.integers(1, 6, n), rng.random(n) < 0.3
    evening = 0.12 * np.exp(-0.5 * ((hours - 19) / 2.2) ** 2)
    night = 0.5 * np.exp(-0.5 * (np.minimum(np.abs(hours - 4), 24 - np.abs(hours - 4)) / 3.0) ** 2)
    curves = 0.6 * sample.curves + people[:, None] * evening + heating[:, None] * night
    return np.column_stack([people, heating]).astype(float), curves, sample.grid


def lifetimes(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """`n` invented ages at death in years, and "f" or "m" for each: few die early, most late, women later.

    Parameters
    ----------
    n : int
        The number of lives.
    rng : numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    ages : numpy.ndarray
        From 0 to 110, to a tenth of a year.
    sex : numpy.ndarray
        "f" or "m".

    Examples
    --------
    >>> ages, sex = lifetimes(1000, np.random.default_rng(0))
    >>> bool(0 <= ages.min() and ages.max() <= 110), sorted(set(sex.tolist()))
    (True, ['f', 'm'])
    """
    sex = np.where(rng.random(n) < 0.5, "f", "m")
    late = np.where(sex == "f", 88.0, 83.0) - rng.gumbel(0.0, np.where(sex == "f", 8.5, 9.5))
    early = rng.exponential(1.5, n)
    accident = rng.gamma(4.0, 8.0, n)
    kind = rng.random(n)
    ages = np.where(kind < 0.02, early, np.where(kind < np.where(sex == "f", 0.05, 0.1), accident, late))
    return ages.clip(0.0, 110.0).round(1), sex


def survival(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`n` invented patients of a trial of two arms who are followed for up to three years, some of them not so long.

    Parameters
    ----------
    n : int
        The number of patients.
    rng : numpy.random.Generator
        What they are drawn with.

    Returns
    -------
    tuple
        Days to the event or to the end of observation; whether it was the event; and the arm, "old" or "new", in which
        events come later.

    Examples
    --------
    >>> days, died, arms = survival(1000, np.random.default_rng(0))
    >>> bool(0.4 < died.mean() < 0.8 and days.max() <= 1095), sorted(set(arms.tolist()))
    (True, ['new', 'old'])
    """
    arms = np.where(np.arange(n) % 2, "new", "old")
    event = np.where(arms == "new", 1000.0, 700.0) * rng.weibull(1.2, n)
    end = np.minimum(rng.uniform(365.0, 1460.0, n), 1095.0)  # who came late is followed for less
    gone = rng.exponential(4000.0, n)
    times = np.minimum(np.minimum(event, end), gone)
    return np.ceil(times).clip(1, 1095), event <= np.minimum(end, gone), arms


@dataclass(frozen=True)
class Points:
    """Points and the density they were drawn from (unpacks as those two), and its domain.

    Parameters
    ----------
    points : array
        One number or one row per point.
    density : callable
        The true density, of such points.
    domain : tuple of pairs of float
        The ends of each axis.

    Examples
    --------
    >>> points, density = mixture(100, np.random.default_rng(0))
    >>> density(points[:3]).shape
    (3,)
    """

    points: np.ndarray
    density: Callable[[np.ndarray], np.ndarray]
    domain: tuple[tuple[float, float], ...]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.points, self.density))


def mixture(n: int, rng: np.random.Generator, dimension: int = 1) -> Points:
    """`n` points of the paper's mixtures of two truncated normals (weights 0.6 and 0.4).

    On [0, 1] about 0.3 and 0.7 with standard deviation 0.1; on [-5, 5]^2 about (-3, -3) and (3, 2)
    with unit variances and correlation 0.5.

    Parameters
    ----------
    n : int
        The number of points.
    rng : numpy.random.Generator
        Where the numbers come from.
    dimension : int, optional
        1 (default) or 2.

    Returns
    -------
    Points
        The points and their domain.

    Raises
    ------
    dpfda.errors.ParameterError
        For other dimensions.

    Examples
    --------
    >>> mixture(100, np.random.default_rng(0), dimension=2).points.shape
    (100, 2)
    """
    if dimension not in (1, 2):
        raise ParameterError("the mixtures have one or two dimensions", shown(dimension), "Pass dimension=1.")
    domain: tuple[tuple[float, float], ...] = ((0.0, 1.0),) if dimension == 1 else ((-5.0, 5.0),) * 2
    means = [[0.3], [0.7]] if dimension == 1 else [[-3.0, -3.0], [3.0, 2.0]]
    covariance = np.array([[0.01]]) if dimension == 1 else np.array([[1.0, 0.5], [0.5, 1.0]])
    low, high = np.array(domain).T
    laws = [scipy.stats.multivariate_normal(mean, covariance) for mean in means]
    inside = [_mass(law, low, high) for law in laws]

    def density(points: np.ndarray) -> np.ndarray:
        rows = np.asarray(points, dtype=float).reshape(-1, dimension)
        return sum(w * law.pdf(rows) / m for w, law, m in zip((0.6, 0.4), laws, inside, strict=True))

    which = (rng.random(n) >= 0.6).astype(int)
    points = np.empty((n, dimension))
    for k, mean in enumerate(means):
        wanted = np.flatnonzero(which == k)
        drawn = np.empty((0, dimension))
        while len(drawn) < wanted.size:
            more = rng.multivariate_normal(mean, covariance, 2 * wanted.size + 10)
            drawn = np.vstack([drawn, more[((more >= low) & (more <= high)).all(axis=1)]])
        points[wanted] = drawn[: wanted.size]
    return Points(points[:, 0] if dimension == 1 else points, density, domain)


def _mass(law: Any, low: np.ndarray, high: np.ndarray) -> float:
    return float(law.cdf(high, lower_limit=low))
