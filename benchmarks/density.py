"""How accurate and how fast a private density is: the paper's mixtures, mortality, and ten million points.

    python benchmarks/density.py [--runs 200] [--data DIR] [--quick] [--real]

Errors are integrated squared errors, averaged over data sets and noise, to the true density and to the
same method's estimate before noise. Noise is simulated from the plans' own laws; what follows the noise
(shrinkage, projection) is the package's own code. Rows of the paper's methods are taken raw.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import common
import density_real
import numpy as np

import dpfda as dp

SIZES, EPSILON = (500, 2000, 10_000), 1.0
RAW = {"postprocess": False}


def methods(dimension: int, n: int) -> dict[str, dict[str, Any]]:
    """The rows of the table: the paper's methods with its parameters, tight peers, and the default."""
    kernel = dp.kernels.Gaussian() if dimension == 1 else dp.kernels.Exponential()
    etas = (1.25, 1.5) if dimension == 1 else (1.01, 1.05, 1.2)
    lattices = (10, 30, 50) if dimension == 1 else (5, 10)
    rows: dict[str, dict[str, Any]] = {}
    for eta in etas:
        rows[f"QR eta {eta}, kernel noise (paper)"] = {
            "method": dp.methods.QR(eta=eta, noise="kernel"),
            "kernel": kernel,
        } | RAW
    for eta in etas:
        rows[f"QR eta {eta}, matched noise"] = {"method": dp.methods.QR(eta=eta), "kernel": kernel} | RAW
    most = int(n ** (1 / 3) + 1e-9)
    rows["FRL n^(1/3), paper's sensitivity (paper)"] = {"method": dp.methods.FRL(most, sensitivity="paper")} | RAW
    rows["FRL selected, paper's sensitivity"] = {"method": dp.methods.FRL(sensitivity="paper")} | RAW
    rows["FRL, tight"] = {"method": dp.methods.FRL()} | RAW
    for k in lattices:
        rows[f"Bernstein {k} (paper)"] = {"method": dp.methods.Bernstein(k), "kernel": kernel} | RAW
    for k in lattices:
        rows[f"Bernstein {k}, order 5, tight"] = {
            "method": dp.methods.Bernstein(k, order=5, sensitivity="tight"), "kernel": kernel,
        } | RAW  # fmt: skip
    rows["GaussianProcess, delta 0.01 (not pure)"] = {
        "method": dp.methods.GaussianProcess(0.01),
        "kernel": kernel,
    } | RAW
    rows["Minimax"] = {"method": dp.methods.Minimax()}
    rows["default"] = {}
    return rows


def errors(plan: dp.DensityPlan, samples: list[np.ndarray], truth: np.ndarray, rng: np.random.Generator) -> list[float]:
    """Mean integrated squared error to the truth, and to the estimate before noise."""
    weights, found = plan.grid.weights, []
    for points in samples:
        if plan.schedule.keeps_draws:  # several rounds: real releases, and the same rounds without noise
            summary = plan.summarize(points)
            curve, still = plan.release(summary).values.ravel(), plan.schedule.density(exact_draws(plan, summary))
            found.append([weights @ (curve - truth) ** 2, weights @ (curve - still) ** 2])
            continue
        statistic = plan.statistic(plan.summarize(points))
        coefficients = dp.noise.simulate(plan, statistic, 1, rng)[0]
        sealed = plan.release_type(plan=plan, coefficients=coefficients, raw=coefficients)
        curve = plan.postprocessed(sealed).values.ravel()
        still = plan.basis.synthesize(plan.problem.finish(statistic.copy(), plan.stage.parts))
        found.append([weights @ (curve - truth) ** 2, weights @ (curve - still) ** 2])
    return np.mean(found, axis=0).tolist()


def exact_draws(plan: dp.DensityPlan, summary: Any) -> list[np.ndarray]:
    """What every round would give without noise."""
    drawn: list[np.ndarray] = []
    stage = plan.stage
    while stage is not None:
        drawn.append(stage.statistic(summary))
        stage = plan.schedule.next(drawn)
    return drawn


def tuned(samples: list[np.ndarray], plan: dp.DensityPlan, truth: np.ndarray) -> dict[str, float]:
    """The best a non-private estimator can do when its one parameter is chosen by the truth."""
    basis, weights = plan.basis, plan.grid.weights
    exact = basis.coefficients(truth)
    rest = float(weights @ (truth - basis.synthesize(exact)) ** 2)
    raw = []
    for points in samples:
        counts = plan.summarize(points).totals.astype(float)
        raw.append(basis.coefficients(counts / (len(points) * weights)))
    seen = np.array(raw)
    slow = (basis.index**2).sum(axis=1)
    series = [np.where(slow <= r, 1.0, 0.0) for r in np.unique(slow)]
    gaussians = [np.exp(-0.5 * np.pi**2 * slow * h**2) for h in np.geomspace(0.005, 0.5, 120)]

    def best(filters: list[np.ndarray]) -> float:
        return min(float((((a * seen) - exact) ** 2).sum(axis=1).mean()) for a in filters) + rest

    return {"series": best(series), "kernel": best(gaussians)}


def mixtures(runs: int) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for dimension in (1, 2):
        many = runs if dimension == 1 else max(10, runs // 4)
        table: dict[str, Any] = {}
        for n in SIZES:
            rng = np.random.default_rng([3, dimension, n])
            drawn = [dp.datasets.mixture(n, rng, dimension) for _ in range(many)]
            samples, domain = [s.points for s in drawn], drawn[0].domain
            base = dp.DensityPlan(n=n, epsilon=EPSILON, domain=domain)
            truth = drawn[0].density(base.grid.points)
            for name, options in methods(dimension, n).items():
                plan = dp.DensityPlan(n=n, epsilon=EPSILON, domain=domain, **options)
                table.setdefault(name, {})[n] = errors(plan, samples, truth, rng)
            for name, value in tuned(samples, base, truth).items():
                table.setdefault(f"not private, {name} tuned on the truth", {})[n] = [value, 0.0]
        rows = [[name, *(x for n in SIZES for x in row[n])] for name, row in table.items()]
        head = ["method", *(f"{n:,}: {kind}" for n in SIZES for kind in ("truth", "noise"))]
        common.show(f"{dimension}-D mixture, epsilon 1, squared L2 error ({many} data sets)", head, rows)
        ours = table["default"][2000][0]
        ratios = {name: row[2000][0] / ours for name, row in table.items()}
        common.show(
            f"{dimension}-D at n = 2,000: error over the default's",
            ["method", "ratio"],
            [[k, v] for k, v in ratios.items()],
        )
        figures[f"{dimension}d"] = {"errors": table, "ratio_to_default_at_2000": ratios, "data_sets": many}
    return figures


def mortality(folder: Path) -> dict[str, Any] | None:
    """Age at death in 19 regions: how long all of them take, and the error of the noise."""
    path = folder / "wpp2019_deaths_by_age.csv"
    if not path.exists():
        print("mortality: skipped, the file is not there")
        return None
    counts: dict[str, list[int]] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["period"] == "2015-2020":
                counts.setdefault(row["region"], []).append(round(1000 * float(row["deaths_thousands"])))
    options: dict[str, Any] = {"edges": [*range(0, 100, 5), 110], "domain": [(0, 110)], "epsilon": EPSILON}
    start = time.perf_counter()
    releases = dp.density(counts=counts, **options)
    took = time.perf_counter() - start
    peers = {
        "default": {},
        "QR eta 1.01, kernel noise": {"method": dp.methods.QR(eta=1.01, noise="kernel")},
        "QR eta 1.05, kernel noise": {"method": dp.methods.QR(eta=1.05, noise="kernel")},
        "FRL, paper's sensitivity": {"method": dp.methods.FRL(sensitivity="paper")},
        "Bernstein 10": {"method": dp.methods.Bernstein(10)},
        "Bernstein 20": {"method": dp.methods.Bernstein(20)},
    }
    errors_by = {
        name: [dp.DensityPlan(n=sum(table), **options, **extra).expected_error for table in counts.values()]
        for name, extra in peers.items()
    }
    rows = [[name, float(np.min(e)), float(np.median(e)), float(np.max(e))] for name, e in errors_by.items()]
    common.show(
        f"Mortality, {len(releases)} regions in {took:.2f} s: expected squared L2 error of the noise over regions",
        ["method", "smallest", "median", "largest"],
        rows,
    )
    return {"regions": len(releases), "seconds": took, "noise_error": {r[0]: r[1:] for r in rows}}


def many_points(n: int) -> dict[str, Any]:
    """A surface of a million cells from ten million points, against counting alone."""
    points = np.random.default_rng(5).beta(2, 3, (n, 2))
    span = [[0, 1], [0, 1]]
    counting = common.best_time(lambda: np.histogram2d(*points.T, bins=1024, range=span), seconds=5)
    options: dict[str, Any] = {"epsilon": EPSILON, "domain": [(0, 1)] * 2, "cells": 1024}
    whole = common.best_time(lambda: dp.density(points, **options), seconds=10)
    plan = dp.DensityPlan(n=n, **options)
    ours = common.best_time(lambda: plan.summarize(points), seconds=3)
    rows = [
        ["np.histogram2d", counting, 1.0],
        ["plan.summarize (counting)", ours, ours / counting],
        ["dp.density (plan, counting, release)", whole, whole / counting],
    ]
    common.show(f"{n:,} points, 1024 x 1024 cells", ["what", "seconds", "over histogram2d"], rows)
    return {"n": n, "seconds": {r[0]: r[1] for r in rows}, "ratio": whole / counting, "gap": plan.sensitivity_gap}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--data", type=Path, default=common.DATA)
    parser.add_argument("--quick", action="store_true", help="few data sets, a million points")
    parser.add_argument("--real", action="store_true", help="the default against tuned histograms, and nothing else")
    chosen = parser.parse_args()
    if chosen.real:
        common.save("density-real", density_real.study(chosen.data / "real", 60 if chosen.runs == 200 else chosen.runs))
        return
    runs, n = (8, 10**6) if chosen.quick else (chosen.runs, 10**7)
    figures = {"mixtures": mixtures(runs), "mortality": mortality(chosen.data), "many_points": many_points(n)}
    if not chosen.quick:
        common.save("density", figures)


if __name__ == "__main__":
    main()
