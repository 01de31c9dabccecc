"""Errors of models and of principal components."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from figures.names import called
from figures.saved import Saved
from figures.text import geometric, held, number, percent, table

SIZES = ("1000", "10000", "100000")
#: Rows of the tasks at epsilon 1: the measure, whether more is better, and what the page calls the private rows.
TASKS: dict[str, tuple[str, bool, dict[str, str]]] = {
    "Two moons": ("accuracy %", True, {
        "KernelClassifier, hinge": "`KernelClassifier`, hinge",
        "KernelClassifier, logistic": "`KernelClassifier`, logistic",
        "KernelClassifier, default kernel": "`KernelClassifier`, default kernel",
        "diffprivlib LogisticRegression": "diffprivlib `LogisticRegression`",
        "diffprivlib on random Fourier features": "the same on random features",
    }),
    "A smooth function of one input": ("RMSE", False, {
        "KernelRegressor, squared": "`KernelRegressor`, squared",
        "KernelRegressor, huber": "`KernelRegressor`, Huber",
        "KernelRegressor, default kernel": "`KernelRegressor`, default kernel",
        "diffprivlib LinearRegression": "diffprivlib `LinearRegression`",
    }),
    "A smooth function of two inputs": ("RMSE", False, {
        "KernelRegressor, squared": "`KernelRegressor`, squared",
        "KernelRegressor, huber": "`KernelRegressor`, Huber",
        "KernelRegressor, default kernel": "`KernelRegressor`, default kernel",
        "diffprivlib LinearRegression": "diffprivlib `LinearRegression`",
    }),
    "Curves on two covariates": ("squared L2 error", False, {
        "FunctionOnScalarRegression": "`FunctionOnScalarRegression`",
        "diffprivlib LinearRegression, 50 outputs": "diffprivlib `LinearRegression`, point by point",
    }),
    "Two leading eigenfunctions": ("degrees to PCA", False, {"covariance": "`dp.covariance`"}),
}  # fmt: skip
#: An error so much larger than that without privacy says nothing any more.
USELESS = 1e4
WAYS = ("five cosines", "five cosines, centred")


def figures(saved: Saved) -> dict[str, Any]:
    models, covariance = saved.take("models"), saved.take("covariance")
    few = models["regression at n = 100"]
    return {
        "errors": table(["", *(f"n = {int(n):,}" for n in SIZES)], _errors(models["errors"])),
        "targets": table(["task", "model", "what", "reached", "wanted", "fit time over the rival's", "wanted"],
                         _targets(models["targets"])),
        "diffprivlib": models["diffprivlib"],
        "few_figures": f"{2 * len(few['cells']):,}",
        "few_worst": number(max(few["worst"].values()), 3),
        "few_limit": f"{few['limit']:g}",
        "few_above": f"{few['above limit']:,}",
        **_components(covariance),
    }  # fmt: skip


def _errors(errors: dict[str, Any]) -> Iterable[list[str]]:
    """For each task the best model without privacy, then the private ones at epsilon 1."""
    for task, (measure, more, rows) in TASKS.items():
        found = errors[task]
        plain = [name for name in found if "epsilon" not in name]
        best = {n: _best([found[name][n]["mean"][measure] for name in plain if n in found[name]], more) for n in SIZES}
        if best[SIZES[0]]:  # an angle to what privacy would not change is zero without it
            yield [f"**{task}**, without privacy", *(_shown(best[n], measure) for n in SIZES)]
        for name, words in rows.items():
            row = found[f"{name}, epsilon 1"]
            cells = [row[n].get("mean") for n in SIZES]
            yield [words if best[SIZES[0]] else f"**{task}**, {words}",
                   *("not measured" if cell is None else _shown(cell[measure], measure, best[n])
                     for cell, n in zip(cells, SIZES, strict=True))]  # fmt: skip


def _targets(targets: list[dict[str, Any]]) -> Iterable[list[str]]:
    """A line a model: its loss and its fit time, each with what was wanted at most."""
    models: dict[tuple[str, str], dict[bool, dict[str, Any]]] = {}
    for target in targets:
        both = models.setdefault((target["task"], target["model"]), {})
        both[target["target"].startswith("fit time")] = target
    for (task, model), both in models.items():
        loss, fit = both[False], both[True]
        yield [task, f"`{model}`", loss["target"], held(loss["measured"], loss["limit"]), f"{loss['limit']:g}",
               held(fit["measured"], fit["limit"]), f"{fit['limit']:g}"]  # fmt: skip


def _best(values: list[float], more: bool) -> float:
    return max(values) if more else min(values)


def _shown(value: float, measure: str, best: float = 0.0) -> str:
    if best and value > USELESS * best:
        return "useless"
    if measure.endswith("%"):
        return f"{value:.1f} %"
    return f"{number(value)}°" if measure.startswith("degrees") else number(value, 3 if measure == "RMSE" else 2)


def _components(covariance: dict[str, Any]) -> dict[str, Any]:
    rows, wanted = [], covariance["wanted"]
    for name, cells in (("real curves", covariance["real"]), ("invented curves", covariance["invented"])):
        ratios = [_ratio(c["angles"]) for c in cells or []]
        if not ratios:
            continue
        worst = max(cells, key=lambda c: _ratio(c["angles"]))
        bound = "right" if worst["bound"] == 1 else "three times too large"
        rows.append([
            name, len(cells), geometric(ratios), percent(sum(r < 1 for r in ratios) / len(ratios)),
            number(max(ratios), 3), f"{wanted:g}" if name == "real curves" else "-",
            f"{called(worst['set'])}, bound {bound}, epsilon {worst['epsilon']:g}",
        ])  # fmt: skip
    head = ["sets", "cells", "typical ratio", "better in", "worst ratio", "wanted", "where"]
    return {"components": table(head, rows), "component_runs": f"{covariance['runs']:,}"}


def _ratio(angles: dict[str, dict[str, float]]) -> float:
    """The default's angle over that of the better of two plain releases."""
    return angles["default"]["plane"] / min(angles[way]["plane"] for way in WAYS)
