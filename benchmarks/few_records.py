"""Curves on covariates with a hundred records at epsilon 1: never much worse than zero coefficients.

Invented designs (one, two and five covariates of several kinds; signals of every size and smoothness), each with the
bound right, three and ten times too large. Errors are those of the coefficient functions, and of predictions, over
those of publishing the public centre and no slopes.
"""

from __future__ import annotations

from typing import Any

import common
import numpy as np

import dpfda as dp

RECORDS, LOOSE, LIMIT = 100, (1, 3, 10), 1.05
GRID = dp.Grid.midpoints(0, 1, 40)
#: Sizes of slopes and of the mean, where errors about them have size one half.
SIGNALS = {
    "slopes": (0.3, 0.0),
    "mean": (0.0, 0.7),
    "both": (0.3, 0.7),
    "strong slopes": (1.0, 0.3),
    "strong mean": (0.1, 1.0),
}


def covariates(kind: str, count: int, rng: np.random.Generator) -> tuple[np.ndarray, Any]:
    """Inputs and their public bound."""
    if kind == "binary":
        return (rng.random((RECORDS, count)) < 0.4).astype(float), [(0.0, 1.0)] * count
    if kind == "normal":
        return rng.normal(size=(RECORDS, count)), 4.0 if count < 5 else 5.0
    if kind == "uniform":
        return rng.uniform(-1, 1, (RECORDS, count)), [(-1.0, 1.0)] * count
    # Badly scaled: a hundred in the middle of 0 to 200, and from hardly any to some spread about it.
    return 100 + rng.normal(size=(RECORDS, count)) * np.geomspace(0.3, 30, count), [(0.0, 200.0)] * count


def functions(count: int, fall: float, rng: np.random.Generator) -> np.ndarray:
    """Curves of norm one whose coefficients fall with this power of the frequency."""
    orders = np.arange(24)
    waves = np.cos(np.pi * np.outer(orders, GRID.points)) * np.where(orders == 0, 1.0, np.sqrt(2))[:, None]
    drawn = rng.normal(size=(count, orders.size)) * (1.0 + orders) ** -fall
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True) @ waves


def one(kind: str, count: int, signal: str, loose: int, run: int) -> tuple[float, ...]:
    """Squared errors of coefficients and predictions: ours, and those of zero coefficients."""
    rng = np.random.default_rng([17, run, count, loose])
    slopes, mean = SIGNALS[signal]
    X, bound = covariates(kind, count, rng)
    fall = (0.5, 1.5, 2.5)[run % 3]
    each = slopes * functions(count, fall, rng) / X.std(axis=0)[:, None] / np.sqrt(count)
    level = mean * functions(1, fall, rng)[0] - X.mean(axis=0) @ each
    errors = functions(RECORDS, 1.0, rng)
    Y = level + X @ each + 0.5 * errors
    radius = 1.15 * float(np.quantile(GRID.norm(Y), 0.97)) * loose
    model = dp.FunctionOnScalarRegression(epsilon=1.0, bound=dp.L2Ball(radius), covariate_bound=bound, grid=GRID)
    found, truth = model.fit(X, Y).release_.values, np.vstack([level, each])
    inputs = np.column_stack([np.ones(len(X)), X])
    wrong = [found - truth, -truth]
    coefficients = [float((GRID.norm(w) ** 2).sum()) for w in wrong]
    predictions = [float((GRID.norm(inputs @ w) ** 2).mean()) for w in wrong]
    return coefficients[0], predictions[0], coefficients[1], predictions[1]


def cells(runs: int) -> list[dict[str, Any]]:
    """One row per design, signal and bound."""
    found = []
    for kind in ("binary", "normal", "uniform", "badly scaled"):
        for count in (1, 2, 5):
            for signal in SIGNALS:
                for loose in LOOSE:
                    sums = np.sum([one(kind, count, signal, loose, run) for run in range(runs)], axis=0)
                    ratios = {"coefficients": float(sums[0] / sums[2]), "predictions": float(sums[1] / sums[3])}
                    found.append({"design": kind, "covariates": count, "signal": signal, "bound": loose} | ratios)
    return found


def study(quick: bool) -> dict[str, Any]:
    """The table: for each signal and bound the geometric mean over designs, and the worst of them."""
    runs = 1 if quick else 6
    found = cells(runs)
    rows = []
    for signal in SIGNALS:
        for loose in LOOSE:
            some = [cell for cell in found if (cell["signal"], cell["bound"]) == (signal, loose)]
            row: list[Any] = [signal, f"x{loose}"]
            for measure in ("coefficients", "predictions"):
                values = np.array([cell[measure] for cell in some])
                row += [float(np.exp(np.log(values).mean())), float(values.max())]
            rows.append(row)
    head = ["signal", "bound", "coefficients", "worst", "predictions", "worst"]
    common.show(f"Curves on covariates, n = {RECORDS}, epsilon 1: errors over those of zero coefficients", head, rows)
    worst = {m: max(cell[m] for cell in found) for m in ("coefficients", "predictions")}
    over = sum(cell[m] > LIMIT for cell in found for m in worst)
    print(f"{over} of {2 * len(found)} figures above {LIMIT}; the worst: {worst}")
    return {"cells": found, "worst": worst, "above limit": over, "limit": LIMIT, "runs": runs}
