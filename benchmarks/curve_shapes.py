"""Populations of curves and of survival times for benchmarks/curves.py: invented, of every kind that people publish.

Some of them the constants of the percentile fit were chosen on (`TUNED`); the others it never saw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

POINTS = 48
HOURS = (np.arange(POINTS) + 0.5) / 2
SHARE = (np.arange(POINTS) + 0.5) / POINTS
WAVE = np.sin(2 * np.pi * SHARE)
LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
#: Curves by which a population's percentiles are known.
MANY, AT_ONCE = 800_000, 100_000
Rng = np.random.Generator


@dataclass(frozen=True)
class Population:
    """Curves on 48 half hours, and the public range of their values."""

    name: str
    draw: Callable[[int, Rng], np.ndarray]
    range: tuple[float, float]
    tuned: bool = False

    def sample(self, n: int, rng: Rng) -> np.ndarray:
        return np.clip(self.draw(n, rng), *self.range)

    @cached_property
    def percentiles(self) -> np.ndarray:
        """Of the population, one row per level: of very many curves, a few points of the grid at a time."""
        rng = np.random.default_rng(99)
        parts = [self.sample(AT_ONCE, rng).astype(np.float32) for _ in range(MANY // AT_ONCE)]
        columns = [np.concatenate([part[:, t] for part in parts]) for t in range(POINTS)]
        return np.array([np.quantile(column, LEVELS) for column in columns], dtype=float).T


def glucose(n: int, rng: Rng) -> np.ndarray:
    """Three meals on a level of one's own."""
    level, sizes = np.exp(rng.normal(0, 0.18, (n, 1))), np.exp(rng.normal(0, 0.5, (n, 3)))
    curves = 110 * level + rng.normal(size=(n, POINTS)).cumsum(axis=1) * 2
    for size, height, hour, width in zip(sizes.T, (25, 30, 35), (8.5, 13.5, 19.5), (2, 3, 3), strict=True):
        curves += height * size[:, None] * np.exp(-((HOURS - hour) ** 2) / width)
    return curves


def bimodal(n: int, rng: Rng) -> np.ndarray:
    return glucose(n, rng) + np.where(rng.random((n, 1)) < 0.5, 80.0, 0.0)


def third_raised(n: int, rng: Rng) -> np.ndarray:
    return glucose(n, rng) + np.where(rng.random((n, 1)) < 0.35, 90.0, 0.0) * (0.6 + 0.4 * WAVE)


def heavy(n: int, rng: Rng) -> np.ndarray:
    return glucose(n, rng) + 8 * rng.standard_t(2.0, (n, 1))


def growth(n: int, rng: Rng) -> np.ndarray:
    """Rises, and spreads as it does."""
    own = rng.normal(size=(n, 3))
    return 50 + 60 * SHARE + 8 * own[:, :1] + 20 * SHARE * own[:, 1:2] + 12 * SHARE**2 * np.abs(own[:, 2:])


def counts(n: int, rng: Rng) -> np.ndarray:
    return rng.poisson(np.exp(rng.normal(0, 0.4, (n, 1))) * (6 + 4 * WAVE)).astype(float)


def rounded(n: int, rng: Rng) -> np.ndarray:
    return np.round(glucose(n, rng) / 20) * 20


def latencies(n: int, rng: Rng) -> np.ndarray:
    busy = 80 + 40 * np.exp(-((HOURS - 14) ** 2) / 8)
    return np.exp(rng.normal(0, 0.5, (n, 1)) + rng.normal(0, 0.4, (n, POINTS))) * busy


def three_modes(n: int, rng: Rng) -> np.ndarray:
    modes = np.array([20.0, 50.0, 90.0])[rng.choice(3, (n, 1), p=[0.35, 0.45, 0.2])]
    return modes + 5 * WAVE + 3 * rng.normal(size=(n, POINTS))


def mixed_homes(n: int, rng: Rng) -> np.ndarray:
    """Loads: empty homes at nearly nothing, plain ones, and a tenth with a night heater."""
    kind = rng.random((n, 1))
    plain = (0.4 + 0.5 * np.exp(-((HOURS - 19) ** 2) / 6)) * np.exp(rng.normal(0, 0.5, (n, 1)))
    night = 2.0 * np.exp(-((HOURS - 2) ** 2) / 4)
    curves = np.where(kind < 0.15, 0.05, plain + np.where(kind > 0.9, night, 0.0))
    return curves * np.exp(rng.normal(0, 0.25, (n, POINTS)))


def very_heavy(n: int, rng: Rng) -> np.ndarray:
    return 50 + 20 * WAVE + 3 * rng.standard_t(1.5, (n, 1)) + 2 * rng.standard_t(1.5, (n, POINTS))


def two_heights(n: int, rng: Rng) -> np.ndarray:
    """Heights of girls and boys from 4 to 18 years, whose spurts come at different ages."""
    ages, boy = 4 + 14 * SHARE, rng.random((n, 1)) < 0.5
    spurt = np.where(boy, 13.5, 11.5) + rng.normal(0, 0.9, (n, 1))
    final = np.where(boy, 16.0, 9.0)
    height = 100 + 5.2 * (ages - 4) + final / (1 + np.exp(-(ages - spurt) / 0.6)) - 1.2 * np.maximum(ages - 15, 0)
    return height + rng.normal(0, 1, (n, 1)) * (4 + 0.15 * (ages - 4))


def many_zeros(n: int, rng: Rng) -> np.ndarray:
    """Rain or steps: mostly nothing at night, skewed by day."""
    awake = 0.15 + 0.6 * np.exp(-((HOURS - 15) ** 2) / 20)
    amount = rng.gamma(1.2, 12.0, (n, POINTS)) * np.exp(rng.normal(0, 0.4, (n, 1)))
    return np.where(rng.random((n, POINTS)) < awake, amount, 0.0)


def peaks(n: int, rng: Rng) -> np.ndarray:
    """Three meals of two hours each."""
    curves = 110 * np.exp(rng.normal(0, 0.15, (n, 1))) + rng.normal(0, 5, (n, POINTS))
    for hour, height in ((7.5, 50), (12.5, 60), (18.5, 70)):
        curves += height * np.exp(rng.normal(0, 0.4, (n, 1))) * np.exp(-(((HOURS - hour) / 1.2) ** 2))
    return curves


def steps(n: int, rng: Rng) -> np.ndarray:
    """A jump in the middle of the day, of one's own height."""
    return 20 + 40 * (HOURS > 12) * (1 + 0.3 * rng.normal(size=(n, 1))) + 4 * rng.normal(size=(n, POINTS))


def uniform(n: int, rng: Rng) -> np.ndarray:
    """Edges that no smooth density has."""
    return 20 + 10 * WAVE + 60 * rng.random((n, 1)) + np.zeros(POINTS)


def temperatures(n: int, rng: Rng) -> np.ndarray:
    """A year at many stations."""
    return 10 - 12 * np.cos(2 * np.pi * SHARE) + 5 * rng.normal(size=(n, 1)) + 3 * rng.normal(size=(n, POINTS))


def heart_rates(n: int, rng: Rng) -> np.ndarray:
    """Higher by day, and much higher in one of twenty."""
    day = 60 + 18 * np.exp(-((HOURS - 15) ** 2) / 18)
    fast = np.where(rng.random((n, 1)) < 0.05, 40.0, 0.0)
    return day * np.exp(rng.normal(0, 0.12, (n, 1))) + fast + 4 * rng.normal(size=(n, POINTS))


def traffic(n: int, rng: Rng) -> np.ndarray:
    """Two rush hours on roads of all sizes."""
    rush = np.exp(-((HOURS - 8) ** 2) / 2) + 0.8 * np.exp(-((HOURS - 17.5) ** 2) / 4)
    return rng.gamma(4.0, 50.0, (n, 1)) * (0.3 + rush) * rng.gamma(20.0, 1 / 20, (n, POINTS))


def prices(n: int, rng: Rng) -> np.ndarray:
    """Of power: pointed about a daily course, sometimes below zero."""
    course = 60 + 25 * np.sin(4 * np.pi * (SHARE - 0.2))
    return course + rng.laplace(0, 15, (n, 1)) + rng.laplace(0, 8, (n, POINTS))


POPULATIONS = [
    Population("glucose", glucose, (40, 400), True),
    Population("bimodal", bimodal, (40, 400), True),
    Population("a third raised", third_raised, (40, 400), True),
    Population("heavy tails", heavy, (40, 400), True),
    Population("growth", growth, (0, 200), True),
    Population("counts", counts, (0, 60), True),
    Population("rounded to 20", rounded, (40, 400), True),
    Population("latencies", latencies, (0, 1000), True),
    Population("three modes", three_modes, (0, 120)),
    Population("mixed homes", mixed_homes, (0, 8)),
    Population("very heavy tails", very_heavy, (0, 150)),
    Population("two heights", two_heights, (80, 220)),
    Population("many zeros", many_zeros, (0, 150)),
    Population("a jump", steps, (0, 120)),
    Population("meal peaks", peaks, (40, 400)),
    Population("uniform", uniform, (0, 100), True),
    Population("temperatures", temperatures, (-40, 50)),
    Population("heart rates", heart_rates, (30, 220)),
    Population("traffic", traffic, (0, 2000)),
    Population("prices", prices, (-50, 300)),
]


# -- survival -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lives:
    """Times to an event and to the end of observation, up to a public horizon."""

    name: str
    event: Callable[[int, Rng], np.ndarray]
    end: Callable[[int, Rng], np.ndarray]
    horizon: float = 1.0

    def sample(self, n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        event, end = self.event(n, rng), self.end(n, rng)
        return np.minimum(event, end), (event <= end).astype(float)


def never(n: int, rng: Rng) -> np.ndarray:
    return np.full(n, 2.0)


def some(n: int, rng: Rng) -> np.ndarray:
    return rng.exponential(1.5, n)


def in_months(times: np.ndarray) -> np.ndarray:
    return np.ceil(12 * times) / 12


LIVES = [
    Lives("exponential", lambda n, r: r.exponential(0.8, n), some),
    Lives("falling hazard", lambda n, r: r.weibull(0.6, n) * 0.8, some),
    Lives("rising hazard", lambda n, r: r.weibull(3.0, n) * 0.8, some),
    Lives("late onset", lambda n, r: 0.35 + r.exponential(0.4, n), some),
    Lives("some are cured", lambda n, r: np.where(r.random(n) < 0.5, 9.0, r.weibull(1.5, n) * 0.3), some),
    Lives("heavily censored", lambda n, r: r.exponential(0.8, n), lambda n, r: r.exponential(0.25, n)),
    Lives(
        "round times", lambda n, r: np.ceil(12 * r.exponential(0.8, n)) / 12, lambda n, r: np.ceil(12 * some(n, r)) / 12
    ),
    Lives("hardly any events", lambda n, r: r.exponential(20.0, n), some),
    Lives("early events", lambda n, r: r.exponential(0.04, n), some),
    Lives("all to the end", lambda n, r: r.exponential(3.0, n), never),
]
