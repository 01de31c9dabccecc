"""Eight real data sets with the bounds an honest practitioner would give: right, three and ten times too large.

    python benchmarks/accuracy.py --real

Every figure goes through a plan as a user makes it who sets nothing: all passes over the data, exact noise, shrinkage.
An error is the squared L2 distance of a release from the sample's own mean, over that of the public centre: above one,
publishing the centre would have been better. The sets are not part of the project.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import common
import numpy as np

import dpfda as dp
from dpfda.methods.blockwise import octaves

EPSILONS, LOOSE = (0.5, 1.0, 4.0), (1, 3, 10)
#: Columns that describe a curve, before its values.
WORDS = ("consumer", "day")
#: Cells below this n epsilon say little: nothing can be released there.
LEAST = 30
#: What the default of before this rule got on the same cells, and its commit.
BEFORE = common.RESULTS / "real_before.json"
WANTED = {1: (0.65, 0.62, 0.45), 3: (0.10, 0.10, 0.14), 10: (0.015, 0.015, 0.02)}


@dataclass(frozen=True)
class RealSet:
    """Curves, and what is publicly said of them."""

    name: str
    curves: np.ndarray
    grid: dp.Grid
    center: float
    radius: float

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.curves.mean(axis=0))

    @property
    def off(self) -> float:
        """Squared distance of the public centre from the mean."""
        return float(self.grid.norm(self.mean - self.center) ** 2)


def read(folder: Path) -> list[RealSet]:
    """The sets of a folder with a `bounds.json`; none where there is no such folder."""
    found = []
    for name, facts in json.loads((folder / "bounds.json").read_text()).items() if folder.exists() else ():
        with (folder / f"{name}.csv").open() as handle:
            head, *rows = csv.reader(handle)
        first = sum(column in WORDS for column in head)
        curves = np.array([[float(x) for x in row[first:]] for row in rows])
        if "consumer" in head:  # one curve a consumer
            owners = np.array([row[head.index("consumer")] for row in rows])
            curves = np.array([curves[owners == owner].mean(axis=0) for owner in np.unique(owners)])
        points = dp.Grid.midpoints if facts["grid_on_0_1"] == "midpoints" else dp.Grid.uniform
        found.append(RealSet(name, curves, points(0, 1, curves.shape[1]), facts["center"], facts["rms_radius"]))
    return found


def plan_for(data: RealSet, epsilon: float, loose: float, **options: Any) -> dp.MeanPlan:
    bound = dp.L2Ball(loose * data.radius, data.center)
    return dp.MeanPlan(n=len(data.curves), epsilon=epsilon, bound=bound, grid=data.grid, **options)


def cell(data: RealSet, runs: int, epsilon: float, loose: float) -> dict[str, Any]:
    """Relative errors of releases of one set."""
    plan, mean = plan_for(data, epsilon, loose), data.mean
    errors = [float(data.grid.norm(plan.release(data.curves).values - mean) ** 2) / data.off for _ in range(runs)]
    return {
        "set": data.name,
        "n": len(data.curves),
        "epsilon": epsilon,
        "loose": loose,
        "error": float(np.mean(errors)),
        "standard_error": float(np.std(errors) / np.sqrt(runs)),
        "chosen": repr(plan.chosen),
    }


def oracle(data: RealSet, epsilon: float) -> float:
    """The least expected error of one ball, with radius, components and shrinkage factors known in hindsight."""
    basis = plan_for(data, epsilon, 1).basis
    away = data.curves - data.center
    coefficients, lengths = basis.coefficients(away), data.grid.norm(away)
    truth, best = coefficients.mean(axis=0), data.off
    for radius in data.radius * 2.0 ** (-np.arange(-2, 13) / 2):
        clipped = (coefficients * np.minimum(1, radius / lengths)[:, None]).mean(axis=0)
        for count in range(1, min(basis.size, 64) + 1):
            noise = (count + 1) * (2 * radius / (len(lengths) * epsilon)) ** 2
            starts = octaves(count)
            sizes = np.diff((*starts, count))
            seen, signal = (np.add.reduceat(x[:count], starts) for x in (clipped**2, truth**2))
            both = np.add.reduceat((clipped * truth)[:count], starts)
            factor = np.clip(both / (seen + sizes * noise), 0, 1)
            inside = signal - 2 * factor * both + factor**2 * (seen + sizes * noise)
            best = min(best, float(inside.sum()) + data.off - float((truth[:count] ** 2).sum()))
    return best / data.off


def figures(folder: Path, runs: int) -> dict[str, Any] | None:
    """All cells, against the default of before, the public centre and the oracle."""
    sets = read(folder / "real")
    if not sets:
        print("Real sets: skipped, there is no folder 'real' in the data folder (pass --data DIR).")
        return None
    found = [cell(data, runs, epsilon, loose) for data in sets for loose in LOOSE for epsilon in EPSILONS]
    before = {(c["set"], c["epsilon"], c["loose"]): c for c in json.loads(BEFORE.read_text())["cells"]}
    best = {(data.name, epsilon): oracle(data, epsilon) for data in sets for epsilon in EPSILONS}
    for c in found:
        c["over_before"] = c["error"] / before[c["set"], c["epsilon"], c["loose"]]["error"]
        c["over_oracle"] = c["error"] / best[c["set"], c["epsilon"]]
    return {"runs": runs, "cells": found, "summary": summary(found)}


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    table, rows = {}, []
    for loose in LOOSE:
        for wanted, epsilon in zip(WANTED[loose], EPSILONS, strict=True):
            here = [c for c in found if c["loose"] == loose and c["epsilon"] == epsilon]
            typical = partial(_geometric, here)
            worst = max(here, key=lambda c: c["error"])
            table[f"x{loose}, eps {epsilon:g}"] = row = {
                "over_before": typical("over_before"),
                "wanted": wanted,
                "error": typical("error"),
                "worst": worst["error"],
                "worst_set": worst["set"],
                "over_oracle": typical("over_oracle"),
            }
            rows.append([f"x{loose}, eps {epsilon:g}", *row.values()])
    common.show(
        "Real sets: error over the former default's, over the public centre's (typical and worst), over the oracle's",
        ["bound", "over before", "wanted", "over centre", "worst", "set", "over oracle"],
        rows,
    )
    told = [c for c in found if c["n"] * c["epsilon"] >= LEAST]
    bad = [c for c in told if c["error"] > 1.1]
    print(f"  worse than 1.1 times the public centre: {len(bad)} of {len(told)} cells with n eps >= {LEAST}")
    print(f"  {len([c for c in found if c['error'] > 1.1])} of all {len(found)}")
    worse = [c for c in found if c["over_before"] > 1.1]
    for c in (*bad, *worse):
        where = f"{c['set']}, eps {c['epsilon']:g}, x{c['loose']}"
        print(f"    {where}: {c['error']:.3g} of the centre's, {c['over_before']:.2f} of before")
    return {"table": table, "above_centre": len(bad), "cells_told": len(told), "worse_than_before": len(worse)}


def _geometric(cells: list[dict[str, Any]], name: str) -> float:
    return float(np.exp(np.mean([np.log(c[name]) for c in cells])))
