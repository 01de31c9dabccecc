"""Public guesses to look at a plan with: shapes of curves, of distributions, of survival. All of it is invented."""

from __future__ import annotations

import numpy as np

#: Shapes of curves over [0, 1], between 0 and 1, by what people call them.
CURVES = {
    "peaks": "Morning and evening peaks",
    "peak": "One peak in the middle",
    "wave": "A slow wave",
    "rising": "Rising",
    "falling": "Falling",
    "level": "Two levels",
    "own": "A public curve (numbers below)",
}
DENSITIES = {
    "hump": "One hump",
    "low": "Most at the low end",
    "high": "Most at the high end",
    "two": "Two humps",
    "flat": "Nearly flat",
}
SURVIVALS = {"steady": "A steady risk", "early": "Most events early", "late": "Most events late"}


def _bump(t: np.ndarray, center: float, width: float) -> np.ndarray:
    return np.asarray(np.exp(-0.5 * ((t - center) / width) ** 2))


def curve(shape: str, t: np.ndarray) -> np.ndarray:
    """A shape at places in [0, 1].

    >>> curve("rising", np.array([0.0, 1.0])).round(2).tolist()
    [0.01, 0.99]
    """
    found = {
        "peaks": lambda: 0.5 * _bump(t, 0.32, 0.07) + _bump(t, 0.78, 0.09),
        "peak": lambda: _bump(t, 0.5, 0.14),
        "wave": lambda: 0.5 - 0.5 * np.cos(2 * np.pi * t),
        "rising": lambda: 1 / (1 + np.exp(-9 * (t - 0.5))),
        "falling": lambda: 1 / (1 + np.exp(9 * (t - 0.5))),
        "level": lambda: 0.15 + 0.7 / (1 + np.exp(-60 * (t - 0.35))),
    }[shape]()
    return np.asarray(found)


def density(shape: str, t: np.ndarray) -> np.ndarray:
    """A density over [0, 1], up to a factor."""
    found = {
        "hump": lambda: _bump(t, 0.5, 0.15),
        "low": lambda: t * np.exp(-t / 0.12),
        "high": lambda: (1 - t) * np.exp(-(1 - t) / 0.12),
        "two": lambda: _bump(t, 0.3, 0.09) + 0.7 * _bump(t, 0.72, 0.08),
        "flat": lambda: 1 + 0.25 * np.sin(2 * np.pi * t),
    }[shape]()
    return np.asarray(found) + 0.01


def survival(shape: str, t: np.ndarray, left: float) -> np.ndarray:
    """The share that is left at places in [0, 1], of which `left` reach the end."""
    power = {"steady": 1.0, "early": 0.5, "late": 2.5}[shape]
    return np.asarray(left ** (t**power))


def model_rows(ranges: list[tuple[float, float]], low: float, high: float) -> np.ndarray:
    """Rows of inputs and a response that rises along the first input and waves along the others."""
    rng_free = _spread(600, len(ranges))
    signal = rng_free[:, 0] + sum(0.3 * np.sin(2 * np.pi * rng_free[:, i]) for i in range(1, len(ranges)))
    signal = low + (high - low) * (0.2 + 0.6 * (signal - signal.min()) / max(float(np.ptp(signal)), 1e-9))
    return np.column_stack([_scaled(rng_free, ranges), signal])


def class_rows(ranges: list[tuple[float, float]], classes: int) -> np.ndarray:
    """Rows of inputs and the place of a class: stripes along the first input, with soft edges."""
    places = _spread(900, len(ranges) + 1)
    inputs, luck = places[:, :-1], places[:, -1]
    bent = inputs[:, 0] + (0.15 * np.sin(2 * np.pi * inputs[:, 1]) if len(ranges) > 1 else 0.0)
    codes = np.clip(np.floor((bent + 0.25 * (luck - 0.5)) * classes), 0, classes - 1)
    return np.column_stack([_scaled(inputs, ranges), codes])


def regression_rows(ranges: list[tuple[float, float]], mean: np.ndarray, size: float) -> np.ndarray:
    """Rows of covariates and a curve: the guess as the intercept, and a wave for each covariate."""
    inputs, t = _spread(400, len(ranges)), np.linspace(0, 1, mean.size)
    effects = np.array([size * np.cos(np.pi * (i + 1) * t) for i in range(len(ranges))])
    straying = size * np.sin(2 * np.pi * (np.arange(400)[:, None] / 7.3 + t))
    return np.column_stack([_scaled(inputs, ranges), mean + (inputs - 0.5) @ effects + 0.5 * straying])


def _spread(count: int, dimensions: int) -> np.ndarray:
    """Places that fill a box evenly, the same each time: additive recurrences."""
    steps = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0])[:dimensions]
    return np.asarray((np.arange(1, count + 1)[:, None] * steps) % 1.0)


def _scaled(places: np.ndarray, ranges: list[tuple[float, float]]) -> np.ndarray:
    low, high = np.array(ranges).T
    return np.asarray(low + places * (high - low))
