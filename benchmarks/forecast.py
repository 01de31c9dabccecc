"""Forecasts held against what happens: realised squared errors over `plan.expected_risk`, ranges and verdicts.

    python benchmarks/forecast.py --runs 10

Real sets whose curves were looked at (`tuned`), and others that judge: Adelaide, DTI, S-1 to S-4, invented glucose
curves. Each with the n of the set and resampled at 100, 500 and 3,000, epsilon 0.1, 1 and 4, the stated bound as it is
and three times as large. Every release goes through a plan as a user makes it who sets nothing, with exact noise; an
error is the squared L2 distance from the sample's own mean. A verdict is right if realised root mean squares of error
and signal lead to the same word; so is that of a guess, where the sample's mean is the guess.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import numpy as np
import real

import dpfda as dp
from dpfda.results.verdict import WORDS, word_for

SIZES, EPSILONS, LOOSE = (100, 500, 3000), (0.1, 1.0, 4.0), (1, 3)
WIDE = 3.0


@dataclass(frozen=True)
class Source:
    """Curves to draw from, and what is publicly said of them."""

    name: str
    draw: Callable[[int, np.random.Generator], np.ndarray]
    grid: dp.Grid
    center: float
    radius: float
    size: int
    tuned: bool = False


def glucose(n: int, rng: np.random.Generator) -> np.ndarray:
    """Days of glucose, every half hour."""
    t, meals = np.arange(48) / 2 + 0.25, np.exp(rng.normal(0, 0.5, (n, 3)))
    humps = [
        25 * np.exp(-((t - 8.5) ** 2) / 2),
        30 * np.exp(-((t - 13.5) ** 2) / 3),
        35 * np.exp(-((t - 19.5) ** 2) / 3),
    ]
    level = 110 * np.exp(rng.normal(0, 0.18, (n, 1)))
    return np.clip(level + meals @ np.array(humps) + np.cumsum(rng.normal(0, 2, (n, 48)), axis=1), 40, 400)


def sources(folder: Path) -> list[Source]:
    """All sets that there are."""
    found = [
        Source(d.name, _resampled(d.curves), d.grid, d.center, d.radius, len(d.curves), True)
        for d in real.read(folder / "real")
    ]
    for name, start, grid, center, radius in (
        ("adelaide_monday_demand", "hh", dp.Grid.midpoints(0, 1, 48), 1500.0, 1000.0),
        ("dti_cca", "cca", dp.Grid.uniform(0, 1, 93), 0.5, 0.3),
    ):
        if (folder / f"{name}.csv").exists():
            curves = _columns(folder / f"{name}.csv", start)
            found.append(Source(name, _resampled(curves), grid, center, radius, len(curves)))
    for name, radius in dp.datasets.RADII.items():
        found.append(Source(name, _scenario(name), dp.Grid.uniform(0, 1, 101), 0.0, radius, 300))
    return [*found, Source("glucose", glucose, dp.Grid.midpoints(0, 1, 48), 220.0, 180.0, 300)]


def _resampled(curves: np.ndarray) -> Callable[[int, np.random.Generator], np.ndarray]:
    return lambda n, rng: curves if n == len(curves) else curves[rng.integers(0, len(curves), n)]


def _scenario(name: str) -> Callable[[int, np.random.Generator], np.ndarray]:
    return lambda n, rng: dp.datasets.scenario(name, n, rng).curves


def _columns(path: Path, start: str) -> np.ndarray:
    """Complete rows of the columns whose names begin so."""
    with path.open() as handle:
        head, *rows = csv.reader(handle)
    places = [i for i, name in enumerate(head) if name.startswith(start)]
    return np.array([[float(row[i]) for i in places] for row in rows if all(row[i] for i in places)])


def cells(source: Source, runs: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """One row per n, epsilon and bound."""
    found, grid = [], source.grid
    for n in dict.fromkeys((source.size, *SIZES)):
        curves = source.draw(n, rng)
        mean = curves.mean(axis=0)
        signal = float(grid.norm(mean - float(grid.weights @ mean) / grid.length) ** 2)
        for epsilon in EPSILONS:
            for loose in LOOSE:
                bound = dp.L2Ball(loose * source.radius, source.center)
                plan = dp.MeanPlan(n=n, epsilon=epsilon, bound=bound, grid=grid)
                error = float(np.mean([grid.norm(plan.release(curves).values - mean) ** 2 for _ in range(runs)]))
                low, high = plan.risk_range
                found.append({
                    "set": source.name, "tuned": source.tuned, "n": n, "epsilon": epsilon, "loose": loose,
                    "over_forecast": error / plan.expected_risk, "in_range": low <= error <= high,
                    "verdict": plan.verdict.word, "realised": word_for(float(np.sqrt(error / signal))),
                    "guessed": plan.verdict_for(mean).word, "ratio": plan.verdict.ratio,
                    "realised_ratio": float(np.sqrt(error / signal)),
                })  # fmt: skip
    return found


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    table, rows = {}, []
    for tuned in (True, False):
        for loose in LOOSE:
            here = [c for c in found if c["tuned"] == tuned and c["loose"] == loose]
            if not here:
                continue
            over = np.array([c["over_forecast"] for c in here])
            worst = max(here, key=lambda c: abs(np.log(c["over_forecast"])))
            name = f"{'tuning' if tuned else 'judging'} sets, x{loose}"
            table[name] = row = {
                "cells": len(here),
                "median": float(np.median(over)),
                "within_3": float(np.mean((over > 1 / WIDE) & (over < WIDE))),
                "root_within_3": float(np.mean((over > WIDE**-2) & (over < WIDE**2))),
                "in_range": float(np.mean([c["in_range"] for c in here])),
                "verdict_right": float(np.mean([c["verdict"] == c["realised"] for c in here])),
                "guess_right": float(np.mean([c["guessed"] == c["realised"] for c in here])),
                "two_off": sum(abs(WORDS.index(c["verdict"]) - WORDS.index(c["realised"])) > 1 for c in here),
                "worst": float(worst["over_forecast"]),
                "worst_cell": f"{worst['set']}, n {worst['n']}, eps {worst['epsilon']:g}",
            }
            rows.append([name, *row.values()])
    head = ["sets", "cells", "median", "within 3", "root within 3", "in range", "verdict right", "guess right",
            "two off", "worst", ""]  # fmt: skip
    common.show("Realised squared error over forecast", head, rows)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="releases a cell")
    parser.add_argument("--data", type=Path, default=common.DATA, help="folder with the real sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore", dp.errors.NoiseWarning)
    rng = np.random.default_rng(5)
    found = [cell for source in sources(options.data) for cell in cells(source, options.runs, rng)]
    common.save("forecast", {"runs": options.runs, "summary": summary(found), "cells": found})


if __name__ == "__main__":
    main()
