"""Against the field: errors, privacy and times of others' methods and ours, task by task."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from figures.saved import Saved
from figures.text import geometric, number, percent, table

PARTS = ("components", "densities", "means", "tasks")
OURS, PURE = "dpfda, default", "pure epsilon"
#: Kinds of privacy that a private method has, as a table says them.
KINDS = {PURE: "pure", "zCDP, rho = epsilon^2 / 2": "zCDP", "(epsilon, 1e-6), by zCDP": "approximate"}
MISSING = "Not measured yet."
#: Noise hides an error of at most so many times the smallest one; from the other factor on it is no estimate.
NEAR, USELESS = 2.0, 1e6
Row = dict[str, Any]


def figures(saved: Saved) -> dict[str, Any]:
    """For each part its headline cells method by method, and over all its cells who does best.

    Nothing is shown before all parts have been run.
    """
    found = saved.take("field", *(f"field-{name}" for name in PARTS)) if saved.there("field") else {"parts": {}}
    parts = found["parts"]
    if not set(PARTS) <= set(parts):
        tables = ("zcdp", "measures", *PARTS, *(f"{name}_all" for name in PARTS))
        counts = ("delta", "cells", "best_pure", "near_pure", *(f"{name}_runs" for name in PARTS))
        return dict.fromkeys(tables, MISSING) | dict.fromkeys(counts, "-")
    shown: dict[str, Any] = {
        "zcdp": table(["epsilon", "rho = epsilon² / 2", "epsilon at that delta"], [
            [epsilon, f"{each['rho']:g}", number(each["epsilon at delta"])]
            for epsilon, each in sorted(found["zcdp"].items(), key=lambda pair: float(pair[0]))]),
        "delta": f"{found['delta']:g}",
    }  # fmt: skip
    for name in PARTS:
        rows = parts[name]["rows"]
        shown |= {name: _headlines(rows), f"{name}_all": _standing(rows), f"{name}_runs": f"{parts[name]['runs']:,}"}
    measures = {row["task"]: row["measure"] for row in parts["tasks"]["rows"]}
    shown["measures"] = table(["task", "what is measured, smaller is better"], measures.items())
    every = [_beside(cell) for name in PARTS for cell in _cells(parts[name]["rows"])]
    shown["cells"] = f"{len(every):,}"
    shown["best_pure"] = f"{sum(cell['best_pure'] for cell in every):,}"
    shown["near_pure"] = f"{sum(cell['near_pure'] for cell in every):,}"
    return shown


def _cells(rows: list[Row]) -> list[list[Row]]:
    return [list(some) for _, some in groupby(rows, lambda r: (r["task"], r["data"], r["n"], r["epsilon"]))]


def _headlines(rows: list[Row]) -> Any:
    """Methods of each headline cell, the smallest private error in bold, and those that noise hides behind it."""
    lines = []
    for cell in _cells([row for row in rows if row["headline"]]):
        first = cell[0]
        where = f"{first['task']}: {first['data']}, n {first['n']:,}, epsilon {first['epsilon']:g}"
        least = min(row["error"] for row in cell if row["tied"])
        for i, row in enumerate(cell):
            error = number(row["error"]) if row["error"] < USELESS * least else "useless"
            if error != "useless" and (row["two_standard_errors"] or 0.0) > 1e-9 * row["error"]:
                error += f" ± {number(row['two_standard_errors'], 1)}"
            bold = row["tied"] and row["error"] <= NEAR * least
            lines.append([
                where if i == 0 else "", row["method"].replace(OURS, f"**{OURS}**"), _privacy(row["privacy"]),
                f"**{error}**" if bold else error, number(row["seconds"]) if row["seconds"] else "-",
            ])  # fmt: skip
    return table(["task", "method", "privacy", "error", "seconds"], lines)


def _privacy(kind: str) -> str:
    return KINDS.get(kind, kind.partition(":")[0])


def _standing(rows: list[Row]) -> Any:
    """By task: in how many cells the default has the smallest error, and what it is over the best peer's."""
    tasks: dict[str, list[Row]] = {}
    for cell in _cells(rows):
        tasks.setdefault(cell[0]["task"], []).append(_beside(cell))
    lines = []
    for task, cells in tasks.items():
        ratios = [cell["over_pure"] for cell in cells if cell["over_pure"]]
        worst = max((cell for cell in cells if cell["over_pure"]), key=lambda cell: cell["over_pure"], default=None)
        lines.append([
            task, len(cells), percent(sum(cell["best_pure"] for cell in cells) / len(cells)),
            percent(sum(cell["near_pure"] for cell in cells) / len(cells)), geometric(ratios) if ratios else "-",
            f"{number(worst['over_pure'])} ({worst['where']}, {worst['peer']})" if worst else "-",
            sum(cell["beaten_by_weaker"] for cell in cells),
        ])  # fmt: skip
    head = ["task", "cells", "best of pure", "or within noise", "typical ratio", "worst ratio",
            "better with weaker privacy"]  # fmt: skip
    return table(head, lines)


def _beside(cell: list[Row]) -> Row:
    """The default beside the best pure peer and the best one of any privacy."""
    ours = next(row for row in cell if row["method"].startswith(OURS))
    pure = [row for row in cell if row["privacy"] == PURE and row is not ours]
    weaker = [row for row in cell if row["privacy"] in KINDS and row["privacy"] != PURE]
    peer = min(pure, key=lambda row: float(row["error"]), default=None)
    noise = sum((row["two_standard_errors"] or 0.0) ** 2 for row in (ours, peer) if row) ** 0.5
    return {
        "where": f"{ours['data']}, epsilon {ours['epsilon']:g}",
        "peer": peer["method"].partition(",")[0] if peer else "",
        "best_pure": peer is None or ours["error"] <= peer["error"],
        "near_pure": peer is None or ours["error"] - peer["error"] <= noise,
        "over_pure": ours["error"] / peer["error"] if peer and peer["error"] > 0 else 0.0,
        "beaten_by_weaker": any(row["error"] < ours["error"] for row in weaker),
    }
