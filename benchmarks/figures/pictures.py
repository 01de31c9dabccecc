"""Two pictures of the evidence: errors of means by method, and how many cells of each band hold how often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from figures.accuracy import SCENARIOS
from figures.saved import Saved

BLUE, GREY, RED = "#1b4b72", "#6b7780", "#a33b2a"
#: What is drawn of the scenarios: where it stands in the results, its name, mark and colour.
METHODS: tuple[tuple[str, str, str, str], ...] = (
    ("non-private", "without privacy", "|", GREY),
    ("spread 1", "Auto, with a spread", "o", BLUE),
    ("no spread", "Auto, no spread", "D", BLUE),
    ("KNorm", "KNorm", "s", GREY),
    ("Minimax", "Minimax", "^", GREY),
    ("authors' code (not eps-DP)", "authors' code (not private)", "x", RED),
    ("paper's theorem, valid noise", "paper's theorem", "P", RED),
)
BANDS = (
    ("confidence_band", "confidence band, of the population's mean", BLUE, "-"),
    ("band", "band, of the curves' mean", BLUE, "--"),
    ("noise_band", "noise alone, of the curves' mean", RED, ":"),
)
STYLE = {"font.size": 9, "font.family": "DejaVu Sans", "axes.spines.top": False, "axes.spines.right": False}


def write(results: Path, folder: Path) -> None:
    """Both pictures, of what is saved: the same bytes from the same results and the same libraries."""
    saved = Saved(results, "", {})
    with mpl.rc_context(STYLE):
        for name, figure in (("evidence-means", means(saved)), ("evidence-bands", bands(saved))):
            figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})


def means(saved: Saved) -> Figure:
    found = saved.history("accuracy")
    rows = found["scenarios"]["public_radii"] | found["auto"]["scenarios"]["table"]
    figure = Figure(figsize=(6.6, 2.9), layout="constrained")
    axes = figure.subplots()
    for name, words, mark, colour in METHODS:
        errors = [rows[name][scenario]["mean"] for scenario in SCENARIOS]
        filled = colour if mark != "D" else "white"
        options: dict[str, Any] = {"marker": mark, "color": colour, "markerfacecolor": filled, "linestyle": "none"}
        axes.plot(errors, range(len(SCENARIOS)), label=words, markersize=7, **options)
    axes.set(xscale="log", xlabel="squared error of the mean, n = 1,000, epsilon 1", ylim=(3.5, -0.5))
    axes.set_yticks(range(len(SCENARIOS)), SCENARIOS)
    axes.grid(axis="x", color="#d5dade", linewidth=0.6)
    figure.legend(loc="outside right center", frameon=False)
    return figure


def bands(saved: Saved) -> Figure:
    cells = [c for c in saved.history("coverage")["cells"].values() if "population" in c and not c["named"]]
    figure = Figure(figsize=(6.6, 2.9), layout="constrained")
    axes = figure.subplots()
    for band, words, colour, line in BANDS:
        shares = sorted((c[band]["coverage"] for c in cells if c[band] is not None), reverse=True)
        places = [100 * (i + 1) / len(shares) for i in range(len(shares))]
        axes.step(places, [100 * share for share in shares], where="pre", color=colour, linestyle=line, label=words)
    axes.axhline(95, color=GREY, linewidth=0.6)
    axes.annotate("promised: 95 %", (62, 92), va="top", color=GREY)
    axes.set(xlabel="cells, the best first (%)", ylabel="releases that held (%)", xlim=(0, 100), ylim=(-2, 102))
    figure.legend(loc="outside upper left", ncols=1, frameon=False)
    return figure
