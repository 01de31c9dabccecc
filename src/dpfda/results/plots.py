"""Pictures of curves, bands and comparisons on matplotlib axes. Public numbers in, axes out."""

from __future__ import annotations

import base64
import html
import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import cycle
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.core.lazy import lazy
from dpfda.results.bands import Band
from dpfda.spaces.grid import AnyGrid, Grid

if TYPE_CHECKING:
    from matplotlib import colors, figure
    from matplotlib.axes import Axes as Axes
else:
    colors, figure = lazy("matplotlib.colors"), lazy("matplotlib.figure")

LINES = ("-", "--", ":", "-.")
INK, SHADE, ALARM = "#1b4b72", "#9cc3de", "#a02020"
HEAT, SIGNED, KINDS = "Blues", "RdBu_r", ("map", "heatmap", "surface")
COLOURS = ("#1b4b72", "#c4542d", "#3f7d4e", "#8a5a9e", "#b08a1e", "#555555")


def load() -> None:
    """Load what draws pictures: before a charge, where one is wanted after it."""
    for name in ("figure", "colors", "backends.backend_agg"):
        import_module(f"matplotlib.{name}")


class Shown(Protocol):
    """What a heat map needs of a surface."""

    @property
    def grid(self) -> AnyGrid: ...
    @property
    def values(self) -> np.ndarray: ...


def _axes(ax: Axes | None, **options: Any) -> Axes:
    if ax is not None:
        return ax
    axes: Axes = figure.Figure(figsize=(7.2, 4.2), layout="constrained").add_subplot(**options)
    return axes


#: Names are shown as they are spelt: a dollar is a dollar, and begins no formula.
SPELT: dict[str, Any] = {"parse_math": False}


def _legend(ax: Axes, **options: Any) -> None:
    for text in ax.legend(**options).get_texts():
        text.set(**SPELT)


def _entry(name: str) -> str:
    """A name for a legend, which leaves out those that begin with an underscore."""
    return f" {name}" if name.startswith("_") else name


def fine(grid: AnyGrid, points: int = 241) -> np.ndarray:
    """Evenly spread points over the whole domain, enough for a smooth line."""
    low, high = grid.axes[0].span
    return np.linspace(low, high, points)


def band_label(band: Band) -> str:
    """A band for a legend: how sure it is, and of what."""
    return f"{band.level:.0%} band, {band.covers}" if band.covers else f"{band.level:.0%} band"


def curve(
    grid: AnyGrid,
    values: np.ndarray,
    band: Band,
    ax: Axes | None = None,
    title: str = "",
    label: str = "",
) -> Axes:
    """A released curve, at the band's points, with its simultaneous band."""
    ax = _axes(ax)
    (axis,) = grid.axes
    ax.fill_between(
        band.t,
        band.lower,
        band.upper,
        color=SHADE,
        alpha=0.55,
        linewidth=0,
        label=band_label(band),
    )
    ax.plot(band.t, values, color=INK, linewidth=2, label=_entry(label))
    ax.set_xlabel(grid.label, **SPELT)
    ax.set_xlim(*axis.span)
    ax.set_title(title, loc="left", fontsize=11, **SPELT)
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax, frameon=False, fontsize=9, loc="best")
    return ax


def caution(ax: Axes, sentences: Sequence[str]) -> Axes:
    """What a release says against trusting it, in the picture itself."""
    if sentences:
        words = "\n".join(textwrap.fill(sentence, 70) for sentence in sentences)
        box = {"facecolor": "white", "edgecolor": ALARM, "alpha": 0.85, "boxstyle": "round,pad=0.3"}
        ax.text(0.01, 0.02, words, transform=ax.transAxes, color=ALARM, fontsize=8, va="bottom", bbox=box)
    return ax


def curves(grid: Grid, values: np.ndarray, band: Band, names: Sequence[str], title: str = "") -> Axes:
    """Several released curves side by side, each with its part of one simultaneous band. Returns the first axes."""
    across = min(len(names), 3)
    down = -(-len(names) // across)
    whole = figure.Figure(figsize=(4.4 * across, 3.4 * down + 0.3), layout="constrained")
    whole.suptitle(title, fontsize=11, x=0.01, ha="left", **SPELT)
    places = whole.subplots(down, across, squeeze=False).ravel()
    for i, (place, name) in enumerate(zip(places, names, strict=False)):
        part = Band(band.t, band.lower[i], band.upper[i], band.level, band.covers)
        curve(grid, values[i], part, ax=place, title=name, label="private")
        place.axhline(0.0, color="#888888", linewidth=0.6)
        if i:
            place.get_legend().remove()
    for place in places[len(names) :]:
        place.set_visible(False)
    first: Axes = places[0]
    return first


def together(
    grid: Grid,
    values: np.ndarray,
    band: Band,
    names: Sequence[str],
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Released components of one curve on the same axes, each with its part of one simultaneous band."""
    ax = _axes(ax)
    for i, name in enumerate(names):
        colour, line = COLOURS[i % len(COLOURS)], LINES[i // len(COLOURS) % len(LINES)]
        ax.fill_between(band.t, band.lower[i], band.upper[i], color=colour, alpha=0.22, linewidth=0)
        ax.plot(band.t, values[i], color=colour, linestyle=line, linewidth=2, label=_entry(name))
    ax.fill_between([], [], color="#555555", alpha=0.22, linewidth=0, label=band_label(band))
    ax.set_xlabel(grid.label, **SPELT)
    ax.set_xlim(*grid.span)
    ax.set_title(title, loc="left", fontsize=11, **SPELT)
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax, frameon=False, fontsize=9, loc="best", ncols=1 + len(names) // 10)
    return ax


def surface(
    grid: AnyGrid,
    values: np.ndarray,
    ax: Axes | None = None,
    title: str = "",
    kind: str = "map",
    signed: bool = False,
    top: float | None = None,
) -> Axes:
    """A released surface over two dimensions: a heat map (`signed`: about zero), or a surface in space.

    `top` is the end of the colour scale where several maps share one.
    """
    if kind not in KINDS:
        raise ParameterError(f"kind must be one of {', '.join(KINDS)}", shown(kind), "Pass kind='map'.")
    first, second = grid.axes
    if kind != "surface":
        ax = _axes(ax)
        end = float(np.abs(values).max()) if top is None else top
        scale: dict[str, Any] = {"cmap": SIGNED, "vmin": -end, "vmax": end} if signed else {"cmap": HEAT, "vmax": top}
        image = ax.imshow(
            values.T,
            origin="lower",
            extent=(*first.span, *second.span),
            aspect="auto",
            interpolation="nearest",
            **scale,
        )
        ax.figure.colorbar(image, ax=ax, shrink=0.9)
    else:
        space: Any = _axes(ax, projection="3d")
        x, y = np.meshgrid(first.points, second.points, indexing="ij")
        space.set_zlabel("value")
        space.plot_surface(x, y, values, cmap=HEAT, linewidth=0, antialiased=True, rcount=80, ccount=80)
        ax = space
    ax.set_xlabel(first.label, **SPELT)
    ax.set_ylabel(second.label, **SPELT)
    ax.set_title(title, loc="left", fontsize=11, **SPELT)
    return ax


def boundary(grid: AnyGrid, values: np.ndarray, ax: Axes) -> None:
    """The line where a decision function changes sign."""
    first, second = grid.axes
    if values.min() < 0 < values.max():
        ax.contour(first.points, second.points, values.T, levels=[0.0], colors="black", linewidths=1.2)


def regions(grid: AnyGrid, best: np.ndarray, names: Sequence[str], ax: Axes | None = None, title: str = "") -> Axes:
    """Where each of several classes is predicted, over two inputs."""
    ax = _axes(ax)
    first, second = grid.axes
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    edges = np.arange(len(names) + 1) - 0.5
    ax.imshow(
        best.T,
        origin="lower",
        extent=(*first.span, *second.span),
        aspect="auto",
        interpolation="nearest",
        cmap=colors.ListedColormap(colours),
        norm=colors.BoundaryNorm(edges, len(names)),
        alpha=0.6,
    )
    for colour, name in zip(colours, names, strict=True):
        ax.fill_between([], [], color=colour, alpha=0.6, label=_entry(name))
    _legend(ax, fontsize=9, loc="best")
    ax.set_xlabel(first.label, **SPELT)
    ax.set_ylabel(second.label, **SPELT)
    ax.set_title(title, loc="left", fontsize=11, **SPELT)
    return ax


def panels(parts: Sequence[Shown], title: str = "", names: Sequence[str] | None = None) -> Axes:
    """Heat maps side by side: two-dimensional parts of something larger. Returns the first axes."""
    across = min(len(parts), 4)
    down = -(-len(parts) // across)
    whole = figure.Figure(figsize=(4.2 * across, 3.8 * down + 0.3), layout="constrained")
    whole.suptitle(title, fontsize=11, x=0.01, ha="left", **SPELT)
    places = whole.subplots(down, across, squeeze=False).ravel()
    top = max(float(part.values.max()) for part in parts) if names else None
    for place, part, name in zip(places, parts, names or [""] * len(parts), strict=False):
        surface(part.grid, part.values, ax=place, title=name, top=top)
    for place in places[len(parts) :]:
        place.set_visible(False)
    first: Axes = places[0]
    return first


def overlay(
    grid: AnyGrid,
    curves: Mapping[str, np.ndarray],
    ax: Axes | None = None,
    title: str = "",
    bands: Sequence[Band] = (),
) -> Axes:
    """Several curves on one grid (or on its line, where they are components), named, with bands if there are any."""
    ax, grid = _axes(ax), grid.axes[-1]
    for i, band in enumerate(bands):
        ax.fill_between(band.t, band.lower, band.upper, color=COLOURS[i % len(COLOURS)], alpha=0.2, linewidth=0)
    for i, (name, values) in enumerate(curves.items()):
        colour, line = COLOURS[i % len(COLOURS)], LINES[i // len(COLOURS) % len(LINES)]
        ax.plot(grid.points, values, color=colour, linestyle=line, linewidth=1.8, label=_entry(name), alpha=0.9)
    ax.set_xlabel(grid.label, **SPELT)
    ax.set_xlim(*grid.span)
    ax.set_title(title, loc="left", fontsize=11, **SPELT)
    ax.spines[["top", "right"]].set_visible(False)
    if bands:
        ax.fill_between([], [], color="#555555", alpha=0.2, linewidth=0, label=f"each with its {band_label(bands[0])}")
    if curves:
        _legend(ax, frameon=False, fontsize=8, ncols=1 + len(curves) // 10)
    return ax


def comparison(epsilons: Sequence[float], risks: Mapping[str, Sequence[float]], ax: Axes | None = None) -> Axes:
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
    _legend(ax, frameon=False, fontsize=9)
    return ax


def ratios(found: np.ndarray, tolerance: float, ax: Axes | None = None) -> Axes:
    """Sizes of noise against those stated, coordinate by coordinate, and how far off would have been noticed."""
    ax = figure.Figure(figsize=(7.5, 2.6), layout="constrained").add_subplot() if ax is None else ax
    ax.axhspan(1 - tolerance, 1 + tolerance, color=SHADE, alpha=0.55, linewidth=0, label="a defect this small may hide")
    ax.axhline(1.0, color=INK, linewidth=0.8)
    ax.plot(np.arange(found.size), found, "o", color=INK, markersize=3.5, label="size of the noise / size stated")
    ax.set_xlabel("number that leaves")
    ax.set_ylim(*(1 + 1.3 * np.array([-1, 1]) * max(tolerance, np.abs(found - 1).max(initial=0.0))))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9, loc="upper right")
    return ax


def png(ax: Axes, dpi: int = 150) -> bytes:
    """The picture as PNG, with no metadata beyond it."""
    buffer = io.BytesIO()
    figure: Any = ax.figure  # a part of a figure has no savefig
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def inline(plot: Callable[[], Axes], title: str) -> str:
    """The picture as an HTML image, for notebooks; `title` is for those who cannot see it."""
    data = base64.b64encode(png(plot(), dpi=96)).decode()
    return f"<img alt='{html.escape(title)}' src='data:image/png;base64,{data}'/>"
