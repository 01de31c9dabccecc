"""Pictures of curves, bands and comparisons on matplotlib axes. Public numbers in, axes out."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .grid import Grid
from .postprocess import Band

INK, SHADE = "#1b4b72", "#9cc3de"
COLOURS = ("#1b4b72", "#c4542d", "#3f7d4e", "#8a5a9e", "#b08a1e", "#555555")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return Figure(figsize=(7.2, 4.2), layout="constrained").add_subplot()


def fine(grid: Grid, points: int = 241) -> np.ndarray:
    """Evenly spread points over the whole domain, enough for a smooth line."""
    low, high = grid.span
    return np.linspace(low, high, points)


def curve(grid: Grid, values: np.ndarray, band: Band, ax: Any = None, title: str = "", label: str = "") -> Any:
    """A released curve, at the band's points, with its simultaneous noise band."""
    ax = _axes(ax)
    ax.fill_between(
        band.t,
        band.lower,
        band.upper,
        color=SHADE,
        alpha=0.55,
        linewidth=0,
        label=f"{band.level:.0%} simultaneous noise band",
    )
    ax.plot(band.t, values, color=INK, linewidth=2, label=label)
    ax.set_xlabel(grid.label)
    ax.set_xlim(*grid.span)
    ax.set_title(title, loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9, loc="best")
    return ax


def comparison(epsilons: Sequence[float], risks: Mapping[str, Sequence[float]], ax: Any = None) -> Any:
    """Expected risk of each method against epsilon, both logarithmic."""
    ax = _axes(ax)
    for colour, mark, (name, values) in zip(cycle(COLOURS), cycle("osD^vP"), risks.items(), strict=False):
        ax.plot(epsilons, values, color=colour, marker=mark, markersize=5, label=name, alpha=0.85)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(list(epsilons), [f"{e:g}" for e in epsilons])
    ax.set_xlabel("epsilon")
    ax.set_ylabel("expected risk (squared L2)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
    return ax


def png(ax: Any, dpi: int = 150) -> bytes:
    """The picture as PNG, with no metadata beyond it."""
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def inline(plot: Callable[[], Any]) -> str:
    """The picture as an HTML image, for notebooks."""
    return f"<img src='data:image/png;base64,{base64.b64encode(png(plot(), dpi=96)).decode()}'/>"
