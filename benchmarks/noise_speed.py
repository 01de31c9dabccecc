"""How fast noise curves are drawn, against Gaussian-process samplers.

    python benchmarks/noise_speed.py [--long]

All figures are ratios within one run. Set-up is included in every draw: a fresh kernel each time,
so that no decomposition is taken from the cache.
"""

from __future__ import annotations

import argparse
import gc
import itertools
from collections.abc import Callable
from typing import Any

import common
import numpy as np

import dpfda as dp

CURVES = 100
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)


def fresh_scale() -> Callable[[], float]:
    """Length scales that never repeat, so that nothing is cached."""
    counter = itertools.count()
    return lambda: 0.1 + 1e-9 * next(counter)


def cosine_curves(size: int, scale: Callable[[], float], rng: np.random.Generator) -> Callable[[], Any]:
    def draw() -> np.ndarray:
        basis = dp.kernels.Cosine(dp.kernels.Matern(1.5, scale())).basis(dp.Grid.midpoints(0, 1, size))
        return dp.noise.process(basis, CURVES, rng)

    return draw


def nystrom_curves(size: int, scale: Callable[[], float], rng: np.random.Generator) -> Callable[[], Any]:
    grid = dp.Grid.uniform(0, 1, size)
    return lambda: dp.noise.process(dp.kernels.Matern(1.5, scale()).basis(grid), CURVES, rng)


def peers(size: int, scale: Callable[[], float], rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """Gaussian processes with the same Matern 3/2 covariance, as people draw them today."""
    t = np.linspace(0, 1, size)
    found: dict[str, Callable[[], Any]] = {}
    for method in ("eigh", "cholesky"):

        def draw(method: str = method) -> np.ndarray:
            covariance = dp.kernels.Matern(1.5, scale())(t, t) + (1e-8 * np.eye(size) if method == "cholesky" else 0)
            return rng.multivariate_normal(np.zeros(size), covariance, CURVES, method=method, check_valid="ignore")

        found[f"numpy multivariate_normal, {method}"] = draw
    try:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import Matern

        found["scikit-learn sample_y"] = lambda: GaussianProcessRegressor(Matern(scale(), nu=1.5)).sample_y(
            t[:, None], CURVES, random_state=0
        )
    except ImportError:
        print("scikit-learn is not installed: its row is left out.")
    try:
        from skfda.datasets import make_gaussian_process
        from skfda.misc.covariances import Matern as FdaMatern

        found["scikit-fda make_gaussian_process"] = lambda: make_gaussian_process(
            CURVES, n_features=size, cov=FdaMatern(length_scale=scale(), nu=1.5), random_state=0
        )
    except ImportError:
        print("scikit-fda is not installed: its row is left out.")
    return found


def noise_curves(patience: float) -> dict[str, Any]:
    """Seconds for a hundred curves at each size.

    Peers decompose a covariance matrix, so they run where it fits and a cubic forecast from the last
    size stays below `patience` seconds.
    """
    rng, scale = np.random.default_rng(0), fresh_scale()
    seconds: dict[str, dict[int, float]] = {}
    forecasts: dict[str, dict[int, str]] = {}
    for before, size in zip((None, *SIZES), SIZES, strict=False):
        runs: dict[str, Callable[[], Any]] = {
            "rng.laplace, as many variates": lambda size=size: rng.laplace(size=(CURVES, size)),
            "dpfda, cosine basis": cosine_curves(size, scale, rng),
        }
        if size <= 10_000:
            runs |= peers(size, scale, rng)
        if size <= 5_000:
            runs |= {"dpfda, Nystrom basis (any kernel)": nystrom_curves(size, scale, rng)}
        for name, run in runs.items():
            known = seconds.get(name, {}).get(before) if before else None
            forecast = known * (size / before) ** 3 if known and before and "laplace" not in name else 0.0
            if forecast > patience and "cosine" not in name:
                forecasts.setdefault(name, {})[size] = f"not run, about {forecast:.0f} s"
                continue
            gc.collect()
            seconds.setdefault(name, {})[size] = common.best_time(run, seconds=2.0, least=1 if forecast > 5 else 2)
    base = seconds["rng.laplace, as many variates"]
    ratios = {name: {size: took / base[size] for size, took in row.items()} for name, row in seconds.items()}
    rows = [
        [name, *(f"{row[s]:.2f}" if s in row else forecasts.get(name, {}).get(s, "cannot run") for s in SIZES)]
        for name, row in ratios.items()
    ]
    common.show(
        f"{CURVES} noise curves, set-up included: time over rng.laplace for as many variates",
        ["sampler", *(f"K = {s:,}" for s in SIZES)],
        rows,
    )
    worst = max(ratios["dpfda, cosine basis"].values())
    slower = [
        name
        for name, row in ratios.items()
        if not name.startswith(("dpfda", "rng"))
        for size, ratio in row.items()
        if ratio <= ratios["dpfda, cosine basis"][size]
    ]
    print(
        f"  cosine basis: at most {worst:.2f} times rng.laplace, wanted at most 1.5: "
        f"{'reached' if worst <= 1.5 else 'MISSED'}; faster than every peer measured: {not slower}"
    )
    return {"seconds": seconds, "ratio_to_laplace": ratios, "not_run": forecasts, "wanted": 1.5, "worst": worst}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="wait up to ten minutes for each peer")
    options = parser.parse_args()
    common.save("noise_speed", {"noise_curves": noise_curves(600.0 if options.long else 60.0)})


if __name__ == "__main__":
    main()
