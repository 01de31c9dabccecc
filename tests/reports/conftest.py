"""Releases of the kinds that no saved file holds, made once."""

from __future__ import annotations

import numpy as np
import pytest

import dpfda as dp

ARMS = ["<b>old</b>", 'new "&" more']


def _made() -> dict[str, object]:
    rng = np.random.default_rng(0)
    days = dp.datasets.glucose(600, rng)
    sides = np.repeat(ARMS, 300)
    facts = {"epsilon": 1, "grid": days.grid, "value": "glucose (mg/dL)"}
    times, ends = rng.exponential(np.where(sides == ARMS[0], 90, 400), 600), rng.uniform(100, 500, 600)
    events = (np.minimum(times, ends), times <= ends)
    found: dict[str, object] = {
        "mean": dp.mean(days.curves, bound=dp.Range(40, 400), **facts),
        "groups of means": dp.mean(days.curves, bound=dp.Range(40, 400), by=sides, groups=ARMS, **facts),
        "percentiles": dp.percentiles(days.curves, range=(40, 400), **facts),
        "groups of percentiles": dp.percentiles(days.curves, range=(40, 400), by=sides, groups=ARMS, **facts),
        "survival": dp.survival(*events, epsilon=1, horizon=300),
        "groups of survival": dp.survival(*events, by=sides, groups=ARMS, epsilon=1, horizon=300),
        "function": dp.mean(days.curves, epsilon=1, grid=days.grid, of=dp.Above(180)),
        "density of three": dp.density(rng.uniform(0, 1, (600, 3)), epsilon=1, domain=[(0, 1)] * 3),
        "radius": dp.suggest_radius(days.curves, epsilon=1, bound=dp.Range(0, 900)),
        "covariance": dp.covariance(days.curves, bound=dp.Range(40, 400), **facts),
    }
    found["slope"] = found["mean"].derivative()
    for kind in ("means", "percentiles", "survival"):
        found[f"difference of {kind}"] = found[f"groups of {kind}"].difference(*ARMS)
    return found


@pytest.fixture(scope="session")
def made() -> dict[str, object]:
    return _made()
