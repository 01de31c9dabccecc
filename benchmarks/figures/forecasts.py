"""Forecasts before data: risks and verdicts, hypothetical releases, and suggested radii."""

from __future__ import annotations

from math import log
from statistics import mean, median
from typing import Any

from figures.names import called
from figures.saved import Saved
from figures.text import number, percent, span, table

#: A forecast is near within this factor; its square is that of a root mean square.
WIDE = 3.0
GUESSES = {
    "rows": "rows of another sample",
    "spread": "mean and `spread`",
    "mean": "mean alone",
}
#: What is shown of suggested radii where they have not been measured.
MISSING = "Not measured yet."


def figures(saved: Saved) -> dict[str, Any]:
    forecast, page = saved.take("forecast"), saved.take("page", "page-hypothetical")["hypothetical"]
    return {
        "runs": f"{forecast['runs']:,}",
        **_risks(forecast["cells"]),
        **_hypothetical(page),
        **_radii(saved),
    }


def _risks(cells: list[dict[str, Any]]) -> dict[str, Any]:
    rows, off = [], 0
    for tuned, sets in ((True, "eight real sets"), (False, "other sets")):
        for loose, bound in ((1, "right"), (3, "x3")):
            here = [c for c in cells if (c["tuned"], c["loose"]) == (tuned, loose)]
            if not here:
                continue
            over = [c["over_forecast"] for c in here]
            worst = max(here, key=lambda c: abs(log(c["over_forecast"])))
            rows.append([
                f"{sets}, {bound}", median(over), *(percent(mean(abs(log(o)) < power * log(WIDE) for o in over))
                                                    for power in (1, 2)),
                percent(mean(c["in_range"] for c in here)), percent(mean(c["verdict"] == c["realised"] for c in here)),
                percent(mean(c["guessed"] == c["realised"] for c in here)) if "guessed" in here[0] else "-",
                f"{number(worst['over_forecast'])} ({called(worst['set'])}, n {worst['n']:,}, "
                f"epsilon {worst['epsilon']:g})",
            ])  # fmt: skip
    off = sum({c["verdict"], c["realised"]} == {"clear", "mostly noise"} for c in cells)
    head = ["sets, bound", "median", "from 1/3 to 3", "roots from 1/3 to 3", "in `risk_range`", "same word",
            "the same by `verdict_for`", "worst"]  # fmt: skip
    return {"risks": table(head, rows), "cells": f"{len(cells):,}", "two_off": f"{off:,}"}


def _hypothetical(found: dict[str, Any]) -> dict[str, Any]:
    errors, within = found["errors"], found["within"]
    named = [row for row in errors if row["kind"] == "six"]
    rows, limit = [], percent(within)
    for guess, words in GUESSES.items():
        ratios = [row[f"{guess}_ratio"] for row in errors]
        near = sum(abs(ratio - 1) <= within for ratio in ratios)
        worst = max(errors, key=lambda row: abs(log(row[f"{guess}_ratio"])))
        rows.append([
            words, span((row[f"{guess}_ratio"] for row in named), 3), span(ratios, 3), f"{near:,} of {len(ratios):,}",
            f"{worst['setting']}, n {worst['n']:,}",
        ])  # fmt: skip
    head = ["guess", "in those named beforehand", "in all", f"within {limit}", "farthest off"]
    return {
        "hypothetical": table(head, rows),
        "settings": f"{len(errors):,}",
        "named_settings": f"{len(named):,}",
    }


def _radii(saved: Saved) -> dict[str, Any]:
    """A line for each product of n and epsilon, over four shapes of norms."""
    if not saved.there("radius"):
        return {"radii": MISSING}
    found = saved.take("radius")
    cells: dict[float, list[dict[str, Any]]] = {}
    for row in found["rows"]:
        cell = dict(zip(found["head"], row, strict=True))
        cells.setdefault(round(cell["n"] * cell["epsilon"], 6), []).append(cell)
    refused = [both for both, some in cells.items() if all(c["promised: holds"] == "refused" for c in some)]
    rows: list[list[Any]] = [[f"up to {max(refused):g}", "refused, nothing charged", "", "", ""]] if refused else []
    for both in sorted(set(cells) - set(refused)):
        some = [c for c in cells[both] if c["promised: holds"] != "refused"]
        worst = max(some, key=lambda c: float(c["new: worst 5 %"]))
        others = [float(c["new: worst 5 %"]) for c in some if c["shape"] != worst["shape"]]
        rows.append([
            f"{both:,g}", f"{_least(some, 'promised: holds')}, {_most(some, 'promised: times')} times",
            span((float(c["new: median"]) for c in some), 3), span(others) if others else "-",
            f"{number(float(worst['new: worst 5 %']))} ({worst['shape']})",
        ])  # fmt: skip
    head = ["n times epsilon", "promised: holds at least, at most times too large", "off by, median",
            "in the worst runs", "hardest shape"]  # fmt: skip
    return {"radii": table(head, rows)}


def _least(cells: list[dict[str, Any]], name: str) -> str:
    return str(min((c[name] for c in cells), key=float))


def _most(cells: list[dict[str, Any]], name: str) -> str:
    return str(max((c[name] for c in cells), key=float))
