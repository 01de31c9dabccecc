"""Errors of densities: the paper's mixtures, real samples and invented ones against tuned histograms."""

from __future__ import annotations

from typing import Any

from figures.names import called
from figures.saved import Saved
from figures.text import geometric, number, table

SIZES = ("500", "2000", "10000")
#: Rows of the table by dimension: what is there, and what the page calls it.
ROWS = {
    "1d": {
        "not private, series tuned on the truth": "without privacy, series tuned on the truth",
        "not private, kernel tuned on the truth": "without privacy, kernel tuned on the truth",
        "QR eta 1.25, kernel noise (paper)": "paper's QR, kernel noise (eta 1.25)",
        "Bernstein 50 (paper)": "Bernstein (lattice 50)",
        "Bernstein 50, order 5, tight": "the same iterated (order 5), tight",
        "FRL n^(1/3), paper's sensitivity (paper)": "`FRL`, paper's sensitivity, `n^(1/3)` components",
        "FRL selected, paper's sensitivity": "`FRL`, paper's sensitivity, our choice of components",
        "FRL, tight": "`FRL`, our sensitivity and choice",
        "Minimax": "`Minimax()`",
        "default": "**`dp.density`, every parameter at its default**",
    },
    "2d": {
        "not private, series tuned on the truth": "without privacy, series tuned on the truth",
        "not private, kernel tuned on the truth": "without privacy, kernel tuned on the truth",
        "QR eta 1.01, kernel noise (paper)": "paper's QR, kernel noise (eta 1.01)",
        "Bernstein 10 (paper)": "Bernstein (lattice 10)",
        "Bernstein 10, order 5, tight": "the same iterated (order 5), tight",
        "FRL n^(1/3), paper's sensitivity (paper)": "`FRL`, paper's sensitivity, `n^(1/3)` components",
        "FRL selected, paper's sensitivity": "`FRL`, paper's sensitivity, our choice of components",
        "FRL, tight": "`FRL`, our sensitivity and choice",
        "Minimax": "`Minimax()`",
        "default": "**`dp.density`, every parameter at its default**",
    },
}
#: The two measures of a real or invented sample.
MEASURES = ("density", "distribution function")
FAR = 1.1
PLACES = {"1d": "line", "2d": "plane"}


def figures(saved: Saved) -> dict[str, Any]:
    density, real = saved.take("density"), saved.take("density-real")
    groups = {name: found["cells"] for name, found in real.items() if isinstance(found, dict) and "cells" in found}
    many, deaths = density["many_points"], density["mortality"]
    return {
        **{PLACES[size]: _mixture(density["mixtures"][size], rows) for size, rows in ROWS.items()},
        **{f"{PLACES[size]}_sets": f"{density['mixtures'][size]['data_sets']:,}" for size in ROWS},
        "samples": table(["sample", "cells", *(f"{m}, {what}" for m in MEASURES for what in ("typical", "above 1.1"))],
                         [_group(name, cells) for name, cells in groups.items()]),
        "farthest": table(["sample", *(f"{measure}, worst cell" for measure in MEASURES)],
                          [_worst(name, cells) for name, cells in groups.items()]),
        "cosines": table(["sample", *MEASURES], [_cosines(name, cells) for name, cells in groups.items()]),
        "deaths_regions": f"{deaths['regions']:,}" if deaths else "no",
        "deaths_seconds": number(deaths["seconds"]) if deaths else "-",
        "points_ratio": number(many["ratio"]),
    }  # fmt: skip


def _mixture(found: dict[str, Any], rows: dict[str, str]) -> dict[str, Any]:
    errors = [[words, *(found["errors"][name][n][0] for n in SIZES)] for name, words in rows.items()]
    return table(["", *(f"n = {int(n):,}" for n in SIZES)], errors)


def _group(name: str, cells: dict[str, Any]) -> list[Any]:
    row: list[Any] = [name, len(cells)]
    for measure in range(len(MEASURES)):
        ratios = [cell["ratio"][measure] for cell in cells.values()]
        row += [geometric(ratios), sum(ratio > FAR for ratio in ratios)]
    return row


def _worst(name: str, cells: dict[str, Any]) -> list[str]:
    row = [name]
    for measure in range(len(MEASURES)):
        worst = max(cells, key=lambda cell: cells[cell]["ratio"][measure])
        row.append(f"{number(cells[worst]['ratio'][measure])} ({called(worst)})")
    return row


def _cosines(name: str, cells: dict[str, Any]) -> list[Any]:
    """The former default, cosines, over the histogram."""
    return [name, *(geometric(c["knorm"][m] / c["tuned"][m] for c in cells.values()) for m in range(len(MEASURES)))]
