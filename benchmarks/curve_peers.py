"""What people do today for private percentile and survival curves, each re-implemented from its description.

Percentiles at some times of day, in between linearly: recursive exponential mechanisms (Kaplan and others 2022), or
Laplace histograms. Survival: Laplace counts in equal bins and the actuarial estimate. Their parameters are tuned on the
truth, which no user could do: `best` tells the best of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.optimize import isotonic_regression

TIMES = (4, 8, 12, 24, 48)
BINS = (12, 24, 48, 96)
LIFE_BINS = (3, 4, 6, 8, 12, 16, 24, 48)
Rng = np.random.Generator


def best(error: Callable[..., float], settings: Iterable[tuple[int, ...]]) -> tuple[float, tuple[int, ...]]:
    """The smallest error over all settings, and the setting."""
    return min((error(*setting), setting) for setting in settings)


def _places(points: int, times: int) -> np.ndarray:
    step = points // times
    return np.arange(times) * step + step // 2


def _between(found: np.ndarray, places: np.ndarray, points: int) -> np.ndarray:
    """Percentiles at some places, one row per level, as curves."""
    return np.array([np.interp(np.arange(points), places, row) for row in found])


def exponential_quantiles(
    curves: np.ndarray, range: tuple[float, float], levels: np.ndarray, epsilon: float, times: int, rng: Rng
) -> np.ndarray:
    """At each of `times` places, the levels by halves: the middle one first, then those below and above it."""
    places = _places(curves.shape[1], times)
    depth = int(np.ceil(np.log2(len(levels) + 1)))
    share = epsilon / times / depth
    found = [_by_halves(np.sort(curves[:, place]), list(levels), share, *range, rng) for place in places]
    return _between(np.sort(np.array(found).T, axis=0), places, curves.shape[1])


def _by_halves(
    values: np.ndarray, levels: Sequence[float], epsilon: float, low: float, high: float, rng: Rng
) -> list[float]:
    if not levels:
        return []
    half = len(levels) // 2
    middle = levels[half]
    found = _exponential(values, middle, epsilon, low, high, rng)
    place = int(np.searchsorted(values, found))
    below = [level / middle for level in levels[:half]]
    above = [(level - middle) / (1 - middle) for level in levels[half + 1 :]]
    return [
        *_by_halves(values[:place], below, epsilon, low, found, rng),
        found,
        *_by_halves(values[place:], above, epsilon, found, high, rng),
    ]


def _exponential(values: np.ndarray, level: float, epsilon: float, low: float, high: float, rng: Rng) -> float:
    """The exponential mechanism for one quantile: a gap between values, then a place within it."""
    edges = np.concatenate([[low], values, [high]])
    gaps = np.diff(edges)
    scores = -np.abs(np.arange(gaps.size) - level * values.size) * epsilon / 2 + np.log(np.maximum(gaps, 1e-300))
    chosen = int(np.argmax(scores + rng.gumbel(size=gaps.size)))
    return float(edges[chosen] + gaps[chosen] * rng.random())


def histogram_quantiles(
    curves: np.ndarray, range: tuple[float, float], levels: np.ndarray, epsilon: float, times: int, bins: int, rng: Rng
) -> np.ndarray:
    """At each of `times` places a Laplace histogram, made monotone."""
    places, edges, found = _places(curves.shape[1], times), np.linspace(*range, bins + 1), []
    for place in places:
        noisy = np.histogram(curves[:, place], edges)[0] + rng.laplace(0, 2 * times / epsilon, bins)
        below = np.clip(np.cumsum(noisy) / max(noisy.sum(), 1.0), 0, 1)
        below = isotonic_regression(np.concatenate([[0.0], below])).x
        below[0], below[-1] = 0.0, 1.0
        found.append(np.interp(levels, below + np.arange(bins + 1) * 1e-9, edges))
    return _between(np.array(found).T, places, curves.shape[1])


def kaplan_meier(times: np.ndarray, events: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Without privacy: the share that outlives each time."""
    order = np.argsort(times, kind="stable")
    times, events = times[order], events[order]
    different, first = np.unique(times, return_index=True)
    deaths = np.add.reduceat(events, first)
    alive = np.cumprod(1 - deaths / (times.size - first))
    return np.concatenate([[1.0], alive])[np.searchsorted(different, at, side="right")]


def laplace_survival(
    times: np.ndarray, events: np.ndarray, horizon: float, epsilon: float, bins: int, at: np.ndarray, rng: Rng
) -> np.ndarray:
    """Laplace counts of events and censorings in equal bins, and the actuarial estimate from them."""
    n, edges, early = times.size, np.linspace(0, horizon, bins + 1), times < horizon
    noisy = [
        np.maximum(np.histogram(times[early & (events == kind)], edges)[0] + rng.laplace(0, 2 / epsilon, bins), 0.0)
        for kind in (1, 0)
    ]
    deaths, ends = noisy
    at_risk = n - np.concatenate([[0.0], np.cumsum(deaths + ends)[:-1]])
    hazard = np.where(at_risk < 1, 0.0, np.clip(deaths / np.maximum(at_risk - ends / 2, 1), 0, 1))
    alive = np.concatenate([[1.0], np.cumprod(1 - hazard)])
    return np.exp(np.interp(at, edges, np.log(np.maximum(alive, 1e-3))))
