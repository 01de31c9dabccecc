"""Pictures of curves, bands and comparisons on matplotlib axes. Public numbers in, axes out."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
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


def curve(
    grid: Grid, values: np.ndarray, band: Band, ax: Any = None, epsilon: float | None = None, derivative: bool = False
) -> Any:
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
    ax.plot(band.t, values, color=INK, linewidth=2, label="private derivative" if derivative else "private mean")
    ax.set_xlabel(grid.label)
    ax.set_xlim(*grid.span)
    if epsilon is not None:
        ax.set_title(
            f"{'Derivative of the mean' if derivative else 'Mean'} curve, {epsilon:g}-differentially private",
            loc="left",
            fontsize=11,
        )
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
    return ax


def comparison(epsilons: Sequence[float], risks: Mapping[str, Sequence[float]], ax: Any = None) -> Any:
    """Expected risk of each method against epsilon, both logarithmic."""
    ax = _axes(ax)
    for colour, (name, values) in zip(COLOURS, risks.items(), strict=False):
        ax.plot(epsilons, values, color=colour, marker="o", markersize=4, label=name)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(list(epsilons), [f"{e:g}" for e in epsilons])
    ax.set_xlabel("epsilon")
    ax.set_ylabel("expected risk (squared L2)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
    return ax


def save(ax: Any, path: Any) -> None:
    """PNG with no metadata beyond the picture."""
    ax.figure.savefig(path, dpi=150, metadata={"Software": None})


def inline(plot: Callable[[], Any]) -> str:
    """The picture as an HTML image, for notebooks."""
    buffer = io.BytesIO()
    plot().figure.savefig(buffer, format="png", dpi=96, metadata={"Software": None})
    return f"<img src='data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}'/>"
