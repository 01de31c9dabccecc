"""Errors of percentile and survival curves beside peers whose parameters are tuned on the truth."""

from __future__ import annotations

from typing import Any

from figures.saved import Saved
from figures.text import number, table

#: Beyond so many times the better peer a cell is named.
FAR = {"percentiles": 1.2, "survival": 1.3}
PARTS = ("errors", "shapes", "survival", "lives", "times")


def figures(saved: Saved) -> dict[str, Any]:
    found = saved.take("curves", *(f"curves-{part}" for part in PARTS))
    part = {name: [dict(zip(found[name]["head"], row, strict=True)) for row in found[name]["rows"]] for name in PARTS}
    errors = [
        [
            row["population"],
            row["n"],
            row["epsilon"],
            row["sampling"],
            f"{number(row['dpfda'])} ± {number(row['+-'], 1)}",
            row["exponential, tuned"],
            row["histogram, tuned"],
        ]
        for row in part["errors"]
    ]
    real = [[row["data"], row["n"], row["epsilon"], row["sampling"], row["dpfda"], row["histogram, tuned"]]
            for row in part["survival"]]  # fmt: skip
    times = [[row["n"], f"{row['np.quantile']:.2g}", row["dp.percentiles"], row["ratio"]] for row in part["times"]]
    shapes, lives = part["shapes"], part["lives"]
    return {
        "errors": table(["population", "n", "epsilon", "sampling", "dpfda", "exponential, tuned", "histogram, tuned"],
                        errors),
        **_near("shapes", shapes, FAR["percentiles"]),
        "shape_names": f"{len({row['population'] for row in shapes}):,}",
        "unseen_names": f"{len({row['population'] for row in shapes if row[''] == 'unseen'}):,}",
        "below_half": f"{sum(row['ratio'] < 0.5 for row in shapes):,}",
        "far_shapes": table(["shape", "n", "sampling", "dpfda", "best peer, tuned", "ratio"], [
            [row["population"], row["n"], row["sampling"], row["dpfda"], row["best peer, tuned"], row["ratio"]]
            for row in _far(shapes, FAR["percentiles"])]),
        "survival": table(["data", "n", "epsilon", "sampling", "dpfda", "histogram, tuned"], real),
        "survival_runs": f"{min(row['runs'] for row in part['survival']):,}",
        **_near("lives", lives, FAR["survival"]),
        "life_names": f"{len({row['lives'] for row in lives}):,}",
        "far_lives": table(["lives", "n", "epsilon", "dpfda", "histogram, tuned", "ratio"], [
            [row[key] for key in ("lives", "n", "epsilon", "dpfda", "histogram, tuned", "ratio")]
            for row in _far(lives, FAR["survival"])]),
        "times": table(["n", "`np.quantile`, seconds", "`dp.percentiles`, seconds", "times"], times),
    }  # fmt: skip


def _near(name: str, rows: list[dict[str, Any]], far: float) -> dict[str, str]:
    """How many cells are near the better peer."""
    return {f"{name}_cells": f"{len(rows):,}", f"{name}_near": f"{sum(row['ratio'] <= far for row in rows):,}"}


def _far(rows: list[dict[str, Any]], far: float) -> list[dict[str, Any]]:
    return sorted((row for row in rows if row["ratio"] > far), key=lambda row: -row["ratio"])
