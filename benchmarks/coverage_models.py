"""What the bands of regressions hold: least squares on the same records, and the population's coefficient functions.

    python benchmarks/coverage_models.py [--quick] [--runs 200] [--only smooth,rough] [--sizes 100,1000]

Each cell counts, over independent samples and releases, how often a 95 % band holds all coefficient functions
everywhere: the noise band, `band` and `confidence_band`. Beside it stand the sizes of what makes the error: noise and
bias of the release against least squares, and sampling of least squares against the truth (root mean squares over
functions and the domain), the half-widths of the bands, and those of an oracle that knows the law of the error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import common
import numpy as np

import dpfda as dp
from dpfda.results import bands, coefficient_bands

EPSILONS, SIZES, RUNS = (1.0, 4.0), (100, 1_000, 10_000, 100_000), 200
LEVEL = 0.95
GRID = dp.Grid.uniform(0, 1, 50)
T = GRID.points


@dataclass(frozen=True)
class Population:
    """Where records come from, what is true of them, and which public bounds suit them."""

    draw: Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    truth: np.ndarray
    bound: dp.L2Ball
    covariate_bound: Any
    grid: dp.Grid = GRID
    tuned: bool = False  # whether constants were chosen while looking at it

    def plan(self, n: int, epsilon: float) -> dp.plans.RegressionPlan:
        return dp.plans.RegressionPlan(
            n=n, epsilon=epsilon, bound=self.bound, covariates=len(self.truth) - 1,
            covariate_bound=self.covariate_bound, grid=self.grid,
        )  # fmt: skip


def process(length: float, power: float) -> np.ndarray:
    """A square root of a covariance of unit variance: Gaussian (power 2) or exponential (power 1)."""
    return np.linalg.cholesky(np.exp(-(np.abs(T[:, None] - T) ** power) / length) + 1e-8 * np.eye(T.size)).T


SMOOTH, WALK = process(0.08, 2), process(0.2, 1)
WAVES = np.sqrt(2) * np.array([np.sin(np.pi * T), np.cos(np.pi * T), np.sin(2 * np.pi * T)])
STEPS = np.array([np.where(T < 0.3, 1.0, -0.5), 2 * np.abs((4 * T) % 1 - 0.5), np.where(np.abs(T - 0.6) < 0.1, 1.5, 0)])


def smooth(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=(n, 2))
    return x, WAVES[0] + x @ WAVES[1:] + rng.normal(size=(n, T.size)) @ SMOOTH


def rough(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Steps and a saw; residuals are a random walk and white noise."""
    x = rng.normal(size=(n, 2))
    errors = 0.7 * rng.normal(size=(n, T.size)) @ WALK + 0.7 * rng.normal(size=(n, T.size))
    return x, STEPS[0] + x @ STEPS[1:] + errors


def correlated(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.9], [0.0, np.sqrt(1 - 0.81)]])
    return x, WAVES[0] + x @ WAVES[1:] + rng.normal(size=(n, T.size)) @ WALK


def skewed(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Covariates and residuals that are exponential, about their means."""
    x = rng.exponential(size=(n, 2)) - 1
    errors = (rng.exponential(size=(n, 1)) - 1) * (1 + T) + 0.5 * rng.normal(size=(n, T.size)) @ SMOOTH
    return x, WAVES[0] + x @ WAVES[1:] + errors


def uneven(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Residuals grow with the first covariate, and in the middle of the domain."""
    x = rng.normal(size=(n, 2))
    size = (0.3 + np.abs(x[:, :1])) * (0.3 + 1.5 * np.exp(-(((T - 0.5) / 0.1) ** 2)))
    return x, WAVES[0] + x @ WAVES[1:] + size * (rng.normal(size=(n, T.size)) @ WALK)


DAY = dp.Grid.midpoints(0, 24, 48)
MEALS = [(8.5, 2.0, 25.0), (13.5, 3.0, 30.0), (19.5, 3.0, 35.0)]
HOURS = np.array([height * np.exp(-((DAY.points - at) ** 2) / width) for at, width, height in MEALS])
TREATED = -8 - 0.4 * HOURS.sum(axis=0)  # a treatment lowers the level, and meals by two fifths
AGED = np.full(DAY.size, 0.3)  # a year of age raises it
LEVELS = 110 * np.exp(0.18**2 / 2) + np.exp(0.5**2 / 2) * HOURS.sum(axis=0)


def day(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Days of glucose: a level, three meals and a random walk; a treatment and age as covariates with ranges."""
    x = np.column_stack([rng.integers(0, 2, n), rng.uniform(20, 80, n)])
    level, meals = 110 * np.exp(0.18 * rng.normal(size=(n, 1))), np.exp(0.5 * rng.normal(size=(n, 3))) @ HOURS
    walk = np.cumsum(2 * rng.normal(size=(n, DAY.size)), axis=1)
    return x, level + meals + walk + x @ np.array([TREATED, AGED])


POPULATIONS = {
    "smooth": Population(smooth, WAVES, dp.L2Ball(5.0), 4.0, tuned=True),
    "rough": Population(rough, STEPS, dp.L2Ball(5.0), 4.0),
    "correlated": Population(correlated, WAVES, dp.L2Ball(6.0), 5.0),
    "skewed": Population(skewed, WAVES, dp.L2Ball(15.0), 10.0),
    "uneven": Population(uneven, WAVES, dp.L2Ball(8.0), 4.0),
    "day": Population(
        day, np.array([LEVELS, TREATED, AGED]), dp.L2Ball(600.0, 150.0), [(0, 1), (18, 90)], DAY
    ),
}  # fmt: skip


def least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rows = np.column_stack([np.ones(len(x)), x])
    found: np.ndarray = np.linalg.lstsq(rows.T @ rows, rows.T @ y, rcond=None)[0]
    return found


def holds(band: Any, curves: np.ndarray) -> bool:
    return bool(((curves >= band.lower) & (curves <= band.upper)).all())


def size(curves: np.ndarray) -> np.ndarray:
    """Root mean square of each function."""
    values: np.ndarray = np.sqrt((curves**2).mean(axis=-1))
    return values


def cell(population: Population, n: int, runs: int, seed: int) -> dict[float, dict[str, Any]]:
    """Coverage and sizes by epsilon; the same samples for all of them."""
    rows: dict[float, list[dict[str, Any]]] = {epsilon: [] for epsilon in EPSILONS}
    plans = {epsilon: population.plan(n, epsilon) for epsilon in EPSILONS}
    for run in range(runs):
        x, y = population.draw(n, np.random.default_rng([seed, n, run]))
        fitted = least_squares(x, y)
        records = np.column_stack([x, y])
        for epsilon, plan in plans.items():
            release = plan.release(records)
            three = {"noise": release.noise_band(LEVEL), "band": release.band(LEVEL)}
            three["confidence"] = release.confidence_band(LEVEL)
            found = {f"{name}: sample": holds(band, fitted) for name, band in three.items()}
            found |= {f"{name}: population": holds(band, population.truth) for name, band in three.items()}
            found |= {f"width of {name}": band.half_width.mean(axis=1) for name, band in three.items()}
            found["error"] = release.values - population.truth
            found["release to sample"] = size(release.values - fitted)
            found["sampling"] = size(fitted - population.truth)
            rows[epsilon].append(found)
    return {epsilon: summed_up(found, plans[epsilon]) for epsilon, found in rows.items()}


def summed_up(rows: list[dict[str, Any]], plan: dp.plans.RegressionPlan) -> dict[str, Any]:
    names = [name for name in rows[0] if ":" in name]
    found: dict[str, Any] = {"runs": len(rows), "way": plan.chosen.way}
    found |= {name: float(np.mean([row[name] for row in rows])) for name in names}
    errors = np.array([row["error"] for row in rows])
    bias, spread = errors.mean(axis=0), errors.std(axis=0) + 1e-12
    # An oracle knows the law of the error: its simultaneous quantile, about the release less its bias.
    oracle = np.quantile(np.abs((errors - bias) / spread).reshape(len(rows), -1).max(axis=1), LEVEL) * spread
    found["bias"] = size(bias).tolist()
    found["spread"] = size(spread).tolist()
    for name in ("release to sample", "sampling"):
        found[name] = np.sqrt(np.mean([row[name] ** 2 for row in rows], axis=0)).tolist()
    for name in ("noise", "band", "confidence"):
        found[f"width of {name}"] = np.median([row[f"width of {name}"] for row in rows], axis=0).tolist()
    found["oracle"] = oracle.mean(axis=1).tolist()
    moving = oracle.mean(axis=1) > 1e-9  # slopes that are not looked for are always zero
    ratios = np.array(found["width of confidence"])[moving] / oracle.mean(axis=1)[moving]
    found["confidence over oracle"] = float(np.median(ratios))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few runs of the small sizes; nothing is saved")
    parser.add_argument("--runs", type=int, default=RUNS, help="samples of each cell")
    parser.add_argument("--most", type=int, default=None, help="at most so many at the largest size")
    parser.add_argument("--only", default=",".join(POPULATIONS), help="names of populations")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of records")
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--draws", type=int, default=bands.DRAWS, help="simulated draws of a band: fewer are quicker")
    chosen = parser.parse_args()
    bands.DRAWS = coefficient_bands.DRAWS = chosen.draws
    sizes = [100, 1_000] if chosen.quick else [int(n) for n in chosen.sizes.split(",")]
    figures: dict[str, Any] = {"level": LEVEL, "draws": chosen.draws, "cells": {}}
    head = ["population, n, epsilon", "way", "runs", "noise: sample", "noise: population", "band: sample",
            "confidence: population", "confidence over oracle"]  # fmt: skip
    table = []
    for name in chosen.only.split(","):
        for n in sizes:
            runs = min(chosen.runs, chosen.most or chosen.runs) if n == max(SIZES) else chosen.runs
            for epsilon, found in cell(POPULATIONS[name], n, 5 if chosen.quick else runs, chosen.seed).items():
                figures["cells"][f"{name}, {n}, {epsilon:g}"] = found | {"tuned": POPULATIONS[name].tuned}
                table.append([f"{name}, {n:,}, {epsilon:g}", *(found[key] for key in head[1:])])
                print(*table[-1], flush=True)
    common.show("Coverage of 95 % bands of coefficient functions", head, table)
    if not chosen.quick:
        common.save("coverage_models", figures)


if __name__ == "__main__":
    main()
