"""Fit diffprivlib's models to the benchmark's data, in an environment of their own.

    python diffprivlib_peers.py FOLDER

`models.py` calls this: diffprivlib 0.6.6 cannot run beside the scikit-learn of the other rows, so data and predictions
travel as files. FOLDER holds `jobs.json`, one entry per fit, and the arrays that its entries name.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression

MODELS = {"linear": LinearRegression, "logistic": LogisticRegression}


def public(options: dict[str, Any]) -> dict[str, Any]:
    """JSON has no tuples, and diffprivlib takes bounds as a tuple (lowest, highest)."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}


def predictions(job: dict[str, Any], data: dict[str, np.ndarray]) -> np.ndarray:
    """What the model of each epsilon says about the held-out inputs."""
    found = []
    for epsilon in job["epsilons"]:
        model = MODELS[job["model"]](epsilon=epsilon, random_state=job["seed"], **public(job["options"]))
        found.append(model.fit(data["X"], data["y"]).predict(data["X_test"]))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    # Bounds read from the data would leak: the peers must stop rather than warn.
    warnings.filterwarnings("error", message=".*privacy leakage.*")
    for number, job in enumerate(json.loads((folder / "jobs.json").read_text(encoding="utf-8"))):
        with np.load(folder / job["data"]) as data:
            np.save(folder / f"answer{number}.npy", predictions(job, dict(data)))


if __name__ == "__main__":
    main()
