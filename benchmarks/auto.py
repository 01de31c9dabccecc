"""How accurate `dp.Auto()` is: the paper's scenarios, real curves, confidence bands, and twenty random classes.

Every figure goes through real releases: all passes over the data, exact noise, shrinkage. `benchmarks/accuracy.py`
runs this and saves it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import numpy as np
from classes import CLASSES

import dpfda as dp

GRID, KERNEL = dp.Grid.uniform(0, 1, 101), dp.kernels.Matern(1.5, 0.1)
RADII = dp.datasets.RADII
#: What was asked of each row of the scenarios, in their order.
WANTED = {
    "no spread": (0.0042, 0.0053, 0.0053, 0.0133),
    "no spread, default kernel": (0.0042, 0.0053, 0.0053, 0.0133),
    "no spread, bound x10": (0.0050, 0.0058, 0.0062, 0.0145),
    "no spread, bound x10, default kernel": (0.0050, 0.0058, 0.0062, 0.0145),
    "spread 1": (0.0040, 0.0042, 0.0051, 0.0088),
}
#: At n = 10,000: at most so many times the error without privacy.
WANTED_OVER_PLAIN = 1.8
FIXED = {
    "FRL": dp.methods.FRL(),
    "AR": dp.methods.AR(),
    "QR": dp.methods.QR(),
    "Minimax": dp.methods.Minimax(),
    "KNorm": dp.methods.KNorm(),
}
SIZES, EPSILONS, LOOSE = (50, 500, 5000, 100_000), (0.1, 1.0, 10.0), (1, 3, 10)


def in_parallel(job: Callable[[Any], Any], tasks: Iterable[Any]) -> list[Any]:
    with ProcessPoolExecutor(2) as workers:
        return list(workers.map(job, tasks))


def moments(values: list[float]) -> dict[str, float]:
    return {"mean": float(np.mean(values)), "standard_error": float(np.std(values) / np.sqrt(len(values)))}


# -- the four scenarios ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One row of the scenarios: the kernel of the paper's errors, or the default."""

    n: int
    runs: int
    error: str = "uniform"
    spread: float | None = None
    loose: float = 1.0
    kernel: dp.kernels.Matern | None = KERNEL

    def plan(self, name: str) -> dp.MeanPlan:
        bound, method = dp.L2Ball(self.loose * RADII[name]), dp.Auto(spread=self.spread)
        return dp.MeanPlan(n=self.n, epsilon=1, bound=bound, grid=GRID, kernel=self.kernel, method=method)


def scenario_job(task: tuple[str, Case]) -> dict[str, Any]:
    """Total squared error of releases of fresh data sets, and that of the plain mean."""
    name, case = task
    plan, errors, plain = case.plan(name), [], []
    for run in range(case.runs):
        rng = np.random.default_rng([*map(ord, name), case.n, run])
        sample = dp.datasets.scenario(name, case.n, rng, error=case.error)
        errors.append(float(GRID.norm(plan.release(sample.curves).values - sample.mean) ** 2))
        plain.append(float(GRID.norm(sample.curves.mean(axis=0) - sample.mean) ** 2))
    return {**moments(errors), "non_private": float(np.mean(plain)), "chosen": repr(plan.chosen)}


def scenarios(runs: int, large_runs: int) -> dict[str, Any]:
    """One configuration for all four: public radii, right and ten times too large, with and without a spread."""
    cases = {
        "no spread": Case(1000, runs),
        "no spread, default kernel": Case(1000, runs, kernel=None),
        "no spread, bound x10": Case(1000, runs, loose=10),
        "no spread, bound x10, default kernel": Case(1000, runs, loose=10, kernel=None),
        "spread 1": Case(1000, runs, spread=1.0),
        "gp errors, spread 2": Case(1000, runs, "gp", 2.0),
        "n = 10,000, spread 1": Case(10_000, large_runs, spread=1.0),
        "n = 10,000, no spread": Case(10_000, large_runs),
    }
    found = iter(in_parallel(scenario_job, [(name, case) for case in cases.values() for name in RADII]))
    table = {label: {name: next(found) for name in RADII} for label in cases}
    rows = []
    for label, row in table.items():
        rows.append([label, *(f"{row[s]['mean']:.4g} ±{row[s]['standard_error']:.1g}" for s in RADII)])
        if label in WANTED:
            rows.append(["  wanted at most", *(f"{x:g}" for x in WANTED[label])])
        if cases[label].n > 1000:
            ratios = [f"{row[s]['mean'] / row[s]['non_private']:.2f}" for s in RADII]
            rows.append([f"  over the error without privacy (wanted {WANTED_OVER_PLAIN})", *ratios])
    rows.append(["without privacy, n = 1,000", *(table["spread 1"][s]["non_private"] for s in RADII)])
    common.show("dp.Auto(), eps = 1, total squared error", ["", *RADII], rows)
    return {"table": table, "wanted": WANTED}


# -- real curves ------------------------------------------------------------------------------------


def real_curves(folder: Path) -> dict[str, np.ndarray]:
    """Adelaide's Mondays, and the 382 tract profiles with their gaps (filled in the plan, curve by curve)."""
    found = {}
    for name, file, width in (("Adelaide Mondays", "adelaide_monday_demand.csv", 48), ("DTI", "dti_cca.csv", 93)):
        path = folder / file
        if not path.exists():
            print(f"{name}: skipped, {path.name} is not in the data folder (pass --data DIR).")
            continue
        with path.open() as handle:
            rows = list(csv.reader(handle))[1:]
        found[name] = np.array([[float(x) if x not in ("", "NA") else np.nan for x in row[-width:]] for row in rows])
    return found


def real(folder: Path, runs: int) -> dict[str, Any]:
    """Squared distance of releases from the sample's own mean: standardised curves, tau = 1, eps = 1."""
    wanted, table = {"Adelaide Mondays": 0.0060, "DTI": 0.0081}, {}
    for name, curves in real_curves(folder).items():
        grid = dp.Grid.uniform(0, 1, curves.shape[1])
        facts: dict[str, Any] = {
            "n": len(curves),
            "epsilon": 1,
            "bound": dp.L2Ball(1.0),
            "grid": grid,
            "kernel": KERNEL,
        }
        facts |= {"standardize": True, "fill": grid.size}
        plan, plain = dp.MeanPlan(**facts), dp.MeanPlan(method=dp.methods.KNorm(grid.size), **facts)
        target = plain.statistic(plain.summarize(curves))
        mean = plain.basis.synthesize(target)
        errors = [float(grid.norm(plan.release(curves).values - mean) ** 2) for _ in range(runs)]
        table[name] = {**moments(errors), "wanted": wanted[name], "chosen": repr(plan.chosen), "n": len(curves)}
        found, limit = table[name], wanted[name]
        verdict = "reached" if found["mean"] <= limit else "MISSED"
        print(f"  {name}: {found['mean']:.4f} ±{found['standard_error']:.1g}, wanted at most {limit}: {verdict}")
    return table


# -- confidence bands ---------------------------------------------------------------------------------


def coverage_job(task: tuple[str, int, float, int, int]) -> list[bool]:
    name, n, epsilon, start, runs = task
    plan = dp.MeanPlan(
        n=n, epsilon=epsilon, bound=dp.L2Ball(RADII[name]), grid=GRID, kernel=KERNEL, method=dp.Auto(spread=1.0)
    )
    inside = []
    for run in range(start, start + runs):
        sample = dp.datasets.scenario(name, n, np.random.default_rng([*map(ord, name), 7, run]))
        band = plan.release(sample.curves).confidence_band(0.95)
        inside.append(bool(((band.lower <= sample.mean) & (sample.mean <= band.upper)).all()))
    return inside


def coverage(runs: int) -> dict[str, Any]:
    """How often a simultaneous 95 % band for the population's mean holds all of it."""
    table = {}
    for n, epsilon, half in ((1000, 1.0, runs // 2), (5000, 10.0, runs // 8)):
        tasks = [(name, n, epsilon, start, half) for name in RADII for start in (0, half)]
        found = in_parallel(coverage_job, tasks)
        table[f"n = {n:,}, eps = {epsilon:g}"] = {
            name: float(np.mean(found[2 * i] + found[2 * i + 1])) for i, name in enumerate(RADII)
        }
    common.show(
        "Simultaneous 95 % confidence bands: how often the population's mean lies inside (wanted 93 % to 99 %)",
        ["", *RADII],
        [[label, *(f"{row[s]:.1%}" for s in RADII)] for label, row in table.items()],
    )
    return table


# -- twenty random classes ----------------------------------------------------------------------------


def class_job(task: tuple[int, int, float, int, int]) -> dict[str, list[float]]:
    """Total squared errors, in units of the class's scale, of every method on the same data sets."""
    number, n, epsilon, loose, runs = task
    kind = CLASSES[number]
    facts: dict[str, Any] = {"n": n, "epsilon": epsilon, "bound": dp.L2Ball(loose * kind.radius), "grid": kind.grid}
    plans = {name: dp.MeanPlan(method=method, **facts) for name, method in FIXED.items()}
    auto = dp.MeanPlan(**facts)
    errors: dict[str, list[float]] = {name: [] for name in ("Auto", *plans, "non-private")}
    for run in range(runs):
        curves, mean = kind.sample(n, np.random.default_rng([number, n, round(10 * epsilon), run]))

        def error(values: np.ndarray) -> float:
            return float(kind.grid.norm(values - mean) ** 2) / kind.scale**2  # noqa: B023

        errors["non-private"].append(error(curves.mean(axis=0)))
        summary = plans["KNorm"].summarize(curves)
        draws = 3 if n <= 5000 else 1
        for name, plan in plans.items():
            errors[name].append(float(np.mean([error(plan.release(summary).values) for _ in range(draws)])))
        errors["Auto"].append(float(np.mean([error(auto.release(curves).values) for _ in range(draws)])))
    return errors


def classes(runs: int, large_runs: int) -> dict[str, Any]:
    """`Auto` without a spread against the best fixed method of each cell, every one at its own defaults."""
    return {f"bound x{loose}": _classes(loose, runs, large_runs) for loose in LOOSE}


def _classes(loose: int, runs: int, large_runs: int) -> dict[str, Any]:
    tasks = [
        (number, n, epsilon, loose, large_runs if n > 5000 else runs)
        for n in reversed(SIZES)
        for number in range(len(CLASSES))
        for epsilon in EPSILONS
    ]
    cells = []
    for (number, n, epsilon, _, _), errors in zip(tasks, in_parallel(class_job, tasks), strict=True):
        found = {name: moments(values) for name, values in errors.items()}
        best = min(FIXED, key=lambda name: found[name]["mean"])
        ratio = found["Auto"]["mean"] / found[best]["mean"]
        slack = 2 * (found["Auto"]["standard_error"] + 1.5 * found[best]["standard_error"])
        cell = {"class": CLASSES[number].name, "n": n, "epsilon": epsilon, "best_fixed": best, "ratio": ratio}
        within = found["Auto"]["mean"] <= 1.5 * found[best]["mean"] + slack
        cells.append({**cell, "within": bool(within), "errors": found})
    overall = {
        name: float(np.exp(np.mean([np.log(c["errors"][name]["mean"] / c["errors"]["Auto"]["mean"]) for c in cells])))
        for name in FIXED
    }
    common.show(
        f"Twenty random classes, bound x{loose}, n 50 to 100,000, eps .1 to 10: error over Auto's, geometric mean",
        list(overall),
        [list(overall.values())],
    )
    rows = []
    for n in SIZES:
        for epsilon in EPSILONS:
            ratios = [c["ratio"] for c in cells if c["n"] == n and c["epsilon"] == epsilon]
            rows.append(
                [f"n = {n:,}, eps = {epsilon:g}", float(np.exp(np.mean(np.log(ratios)))), min(ratios), max(ratios)]
            )
    common.show("Auto over the best fixed method of the cell", ["", "typical", "best", "worst"], rows)
    outside = [c for c in cells if not c["within"]]
    print(f"  beyond 1.5 times the best (and two standard errors): {len(outside)} of {len(cells)} cells")
    for cell in [*outside, *sorted(cells, key=lambda cell: -cell["ratio"])[:5]]:
        where = f"{cell['class']}, n = {cell['n']:,}, eps = {cell['epsilon']:g}"
        print(f"    {where}: {cell['ratio']:.2f} times {cell['best_fixed']}")
    return {"cells": cells, "error_over_auto": overall, "beyond": len(outside)}


def figures(folder: Path, long: bool) -> dict[str, Any]:
    """Everything, quickly or in full."""
    return {
        "long": long,
        "scenarios": scenarios(200 if long else 40, 50 if long else 10),
        "real": real(folder, 300 if long else 50),
        "coverage": coverage(2000 if long else 200),
        "classes": classes(16 if long else 4, 4 if long else 1),
    }
