"""Ways of diffprivlib and of OpenDP's PCA, run as published, in an environment of their own.

    python elsewhere_ways.py FOLDER

`elsewhere.py` calls this: diffprivlib 0.6.6 cannot run beside the scikit-learn of the other rows, and OpenDP's PCA
needs randomgen. FOLDER holds `jobs.json`, a list of ways with their options, epsilon and files of arrays; answers and
the shortest time of a call come back as files.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diffprivlib as ibm
import numpy as np
import opendp.prelude as op
from diffprivlib.models import PCA, GaussianNB, LinearRegression, LogisticRegression
from opendp.extras.sklearn.decomposition import PCA as OpenPCA

Arrays = dict[str, np.ndarray]
op.enable_features("contrib", "idealized-numerics", "honest-but-curious")


def mean(data: Arrays, epsilon: float, low: float, high: float) -> np.ndarray:
    """diffprivlib shares epsilon out over the points of a curve."""
    return np.asarray(ibm.tools.mean(data["X"], epsilon=epsilon, bounds=(low, high), axis=0))


def histogram(data: Arrays, epsilon: float, bins: int, low: float, high: float) -> np.ndarray:
    """Heights of a density, zero where noise made a count negative.

    diffprivlib counts with a sensitivity of one, that of adding or removing a point: when one is replaced, as elsewhere
    here, it loses up to twice its epsilon. So it gets half.
    """
    counts = np.maximum(ibm.tools.histogram(data["X"], epsilon=epsilon / 2, bins=bins, range=(low, high))[0], 0)
    return counts / max(counts.sum(), 1) * bins / (high - low)


def quantile(data: Arrays, epsilon: float, levels: list[float], places: list[int], low: float, high: float) -> Any:
    """Levels by places; each has an even part of epsilon, and at each place they are sorted."""
    own = epsilon / (len(levels) * len(places))
    found = [
        [ibm.tools.quantile(data["X"][:, place], level, epsilon=own, bounds=(low, high)) for place in places]
        for level in levels
    ]
    return np.sort(np.array(found), axis=0)


def components(data: Arrays, epsilon: float, norm: float, bound: float) -> np.ndarray:
    """diffprivlib's two components of rows shortened to `norm`, after a mean of features in plus or minus `bound`."""
    limits = (np.full(data["X"].shape[1], -bound), np.full(data["X"].shape[1], bound))
    return PCA(2, epsilon=epsilon, data_norm=norm, bounds=limits).fit(data["X"]).components_


def open_components(data: Arrays, epsilon: float, norm: float) -> np.ndarray:
    """OpenDP's two components of rows shortened to `norm`, for neighbours that replace a row."""
    n, size = data["X"].shape
    model = OpenPCA(epsilon=epsilon, row_norm=norm, n_samples=n, n_features=size, n_components=2)
    return np.asarray(model.fit(data["X"]).components_[:2])


def predictions(kind: Any) -> Callable[..., np.ndarray]:
    """The way of a model of diffprivlib: fitted, then asked for fresh points."""

    def run(data: Arrays, epsilon: float, **options: Any) -> np.ndarray:
        public = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        return np.asarray(kind(epsilon=epsilon, **public).fit(data["X"], data["y"]).predict(data["X_test"]))

    return run


WAYS: dict[str, Callable[..., np.ndarray]] = {
    "mean": mean,
    "histogram": histogram,
    "quantile": quantile,
    "pca": components,
    "open_pca": open_components,
    "linear": predictions(LinearRegression),
    "logistic": predictions(LogisticRegression),
    "naive": predictions(GaussianNB),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    # A peer that is not given a bound reads it off the data and warns: here it must stop.
    warnings.filterwarnings("error", message=".*privacy leakage.*")
    shortest = []
    for number, job in enumerate(json.loads((folder / "jobs.json").read_text(encoding="utf-8"))):
        found, best = [], float("inf")
        for name in job["data"]:
            with np.load(folder / name) as file:
                data = dict(file)
            start = time.perf_counter()
            found.append(WAYS[job["way"]](data, job["epsilon"], **job["options"]))
            best = min(best, time.perf_counter() - start)
        np.save(folder / f"answer{number}.npy", np.array(found))
        shortest.append(best)
    (folder / "seconds.json").write_text(json.dumps(shortest), encoding="utf-8")


if __name__ == "__main__":
    main()
