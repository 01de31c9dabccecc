"""Whether the error bars of covariances hold: bands of the surface, and limits on the angles of eigenfunctions.

    python benchmarks/coverage_covariance.py [--runs 200] [--data DIR] [--only NAME]

Every run draws new records and makes a real release. A cell says how often the 95 % bands hold the sample covariance
and the population's, and how often limits on the angles of two components hold; how wide bands are over those of an
oracle, which knows by how much releases of the cell miss (the 95 % quantile of the largest miss); and what share of
limits says anything (below 90 degrees). Where there is no law to draw from, rows of a real set are drawn with
replacement, and the set is the population. Heavy tails are named so.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import common
import numpy as np
from covariance import SHAPES, invented, rows_of

import dpfda as dp

SIZES, EPSILONS, LEVEL = (100, 1000, 10_000), (1, 4), 0.95
SCENARIOS = {"S-1": 3.5, "S-2": 2.5, "S-3": 2.0, "S-4": 4.0}
MANY = 200_000
HEAVY = ("heavy tails", "Pareto")
Draw = Callable[[int, np.random.Generator], np.ndarray]


def pareto(n: int, rng: np.random.Generator) -> np.ndarray:
    """Curves with skewed scores whose fourth moments do not exist."""
    t, j = (np.arange(48) + 0.5) / 48, np.arange(6)
    cosines = np.where(j == 0, 1.0, np.sqrt(2)) * np.cos(np.pi * np.outer(t, j))
    return np.asarray((rng.pareto(3.0, (n, 6)) - 0.5) @ (cosines / (j + 1.0)).T)


def laws(folder: Path) -> dict[str, tuple[Draw, dp.L2Ball, np.ndarray]]:
    """How records are drawn, their public bound, and the population's covariance."""
    found: dict[str, tuple[Draw, dp.L2Ball, np.ndarray]] = {}

    def add(name: str, draw: Draw, bound: dp.L2Ball | None) -> None:
        many = draw(MANY, np.random.default_rng(0))
        far = 1.2 * float(np.quantile(np.sqrt((many**2).mean(axis=1)), 0.99))
        found[name] = draw, bound or dp.L2Ball(far), np.cov(many.T, bias=True)

    for name, radius in SCENARIOS.items():
        # A scenario's mean is drawn as well: the same one in every run.
        add(name, lambda n, rng, name=name: np.asarray(_scenario(name, n, rng)), dp.L2Ball(radius))
    for shape in SHAPES:
        add(shape, lambda n, rng, shape=shape: invented(shape, n, rng), None)
    add("Pareto", pareto, None)
    try:
        bounds = json.loads((folder / "real" / "bounds.json").read_text())
        sets = {"elec_load": rows_of(folder / "real" / "elec_load.csv", 2)}
        sets["italy_power"] = rows_of(folder / "real" / "italy_power.csv", 0)
    except FileNotFoundError as error:
        print(f"Real curves: skipped, {Path(str(error.filename)).name} is not in the data folder (pass --data DIR).")
        return found
    for name, rows in sets.items():
        ball = dp.L2Ball(float(bounds[name]["rms_radius"]), float(bounds[name]["center"]))
        found[name] = (lambda n, rng, rows=rows: rows[rng.integers(len(rows), size=n)]), ball, np.cov(rows.T, bias=True)
    return found


def _scenario(name: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Curves of a scenario about its mean of seed 7."""
    fixed = dp.datasets.scenario(name, 1, np.random.default_rng(7), size=48)
    fresh = dp.datasets.scenario(name, n, rng, size=48)
    return np.asarray(fresh.curves - fresh.mean + fixed.mean)


def angles(surface: np.ndarray, true: np.ndarray, k: int) -> np.ndarray:
    """Angles between the first components of two surfaces, and of their planes, in degrees."""
    one, other = (np.linalg.eigh(s)[1][:, : -k - 1 : -1] for s in (surface, true))
    cosines = [*np.abs((one * other).sum(axis=0)), np.linalg.svd(one.T @ other, compute_uv=False).min()]
    return np.degrees(np.arccos(np.minimum(cosines, 1.0)))


def cell(draw: Draw, bound: dp.L2Ball, population: np.ndarray, n: int, epsilon: float, runs: int) -> dict[str, float]:
    rng = np.random.default_rng([n, epsilon])
    grid = dp.Grid.midpoints(0, 1, len(population))
    plan = dp.CovariancePlan(n=n, epsilon=epsilon, bound=bound, grid=grid)
    size = float(np.trace(population)) / len(population)  # widths and misses in units of the mean variance
    rows = []
    for _ in range(runs):
        curves = draw(n, rng)
        release = plan.release(curves)
        sample = np.cov(curves.T, bias=True)
        k = min(2, release.rank)
        row: dict[str, float] = {}
        for name, true, band in (
            ("sample", sample, release.band(LEVEL)),
            ("population", population, release.confidence_band(LEVEL)),
        ):
            row[f"{name} held"] = bool(((band.lower <= true) & (true <= band.upper)).all())
            row[f"{name} width"] = float(np.mean(band.half_width) / size)
            row[f"{name} miss"] = float(np.abs(release.values - true).max() / size)
            for i in range(2):
                row[f"{name} angle {i + 1} held"], row[f"{name} angle {i + 1} told"] = True, False
            row[f"{name} plane held"] = True
            if not k:
                continue
            limits = [*release.eigenfunction_angles(k, LEVEL, of=name), release.plane_angle(k, LEVEL, of=name)]
            found = angles(release.values, true, k)
            for i in range(k):
                row[f"{name} angle {i + 1} held"] = bool(found[i] <= limits[i] + 1e-6)
                row[f"{name} angle {i + 1} told"] = bool(limits[i] < 90)
            row[f"{name} plane held"] = bool(found[-1] <= limits[-1] + 1e-6)
            bars = release.eigenfunction_band(k, LEVEL, of=name)
            functions = np.linalg.eigh(true)[1][:, : -k - 1 : -1].T * np.sqrt(len(true))
            functions *= np.sign((functions * release.eigenfunctions(k)).sum(axis=1, keepdims=True))
            held = (bars.lower <= functions + 1e-9) & (functions <= bars.upper + 1e-9)
            row[f"{name} functions held"] = bool(held.all())
        rows.append(row)
    names = sorted({name for row in rows for name in row})
    found_means = {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}
    for name in ("sample", "population"):
        oracle = float(np.quantile([row[f"{name} miss"] for row in rows], LEVEL))
        found_means[f"{name} width over oracle"] = found_means[f"{name} width"] / oracle
    return {"functions": plan.chosen.method.functions, **found_means}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="releases per cell")
    parser.add_argument("--data", type=Path, default=common.DATA, help="folder with the real data sets")
    parser.add_argument("--only", default="", help="this set only; figures of the others stay as they were saved")
    options = parser.parse_args()
    saved = common.RESULTS / "coverage_covariance.json"
    cells = json.loads(saved.read_text())["cells"] if options.only and saved.exists() else []
    for name, (draw, bound, population) in laws(options.data).items():
        if options.only not in ("", name):
            continue
        cells = [c for c in cells if c["set"] != name]
        for n in SIZES:
            for epsilon in EPSILONS:
                found = cell(draw, bound, population, n, epsilon, options.runs)
                cells.append({"set": name, "n": n, "epsilon": epsilon, "runs": options.runs, **found})
    wanted = ("sample held", "population held", "sample width over oracle", "population width over oracle",
              "sample angle 1 held", "sample angle 1 told", "sample angle 2 held", "sample angle 2 told",
              "population angle 1 held", "population functions held")  # fmt: skip
    rows = [
        [c["set"], c["n"], c["epsilon"], c["functions"], *(f"{c.get(w, np.nan):.2f}" for w in wanted)] for c in cells
    ]
    common.show("95 % bands of covariances", ["curves", "n", "eps", "K", *wanted], rows)
    for name in ("sample", "population"):
        ordinary = [c for c in cells if c["set"] not in HEAVY]
        worst = min(ordinary, key=lambda c: c[f"{name} held"])
        low = sum(c[f"{name} held"] < 0.93 for c in cells)
        print(
            f"  {name}: {low} of {len(cells)} cells below .93; worst outside heavy tails {worst['set']}, n = "
            f"{worst['n']}, eps {worst['epsilon']}: {worst[f'{name} held']:.2f}"
        )
    common.save("coverage_covariance", {"level": LEVEL, "heavy": list(HEAVY), "cells": cells})


if __name__ == "__main__":
    main()
