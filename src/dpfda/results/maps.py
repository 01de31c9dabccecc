"""Pictures over two dimensions: heat maps, surfaces in space, and where each of several classes is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.results.fitting import panel_of, slot, title_of
from dpfda.results.legends import entry
from dpfda.results.looks import Look
from dpfda.results.pictures import colors, new_figure
from dpfda.results.plots import COLOURS, NONE, noted, one_axes, several_axes
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from dpfda.results.pictures import Axes, Places

HEAT, SIGNED, KINDS = "Blues", "RdBu_r", ("map", "heatmap", "surface")
#: Inches of a bar of colours, and between it and its map.
BAR, BESIDE = 0.11, 0.06


class Shown(Protocol):
    """What a heat map needs of a surface."""

    @property
    def grid(self) -> AnyGrid: ...
    @property
    def values(self) -> np.ndarray: ...


def surface(
    grid: AnyGrid,
    values: np.ndarray,
    ax: Places = None,
    look: Look = NONE,
    title: str = "",
    kind: str = "map",
    signed: bool = False,
    top: float | None = None,
    label: str = "",
    square: bool = False,
) -> Axes:
    """A released surface over two dimensions: a heat map (`signed`: about zero), or a surface in space.

    `top` is the end of the colour scale where several maps share one; `label` stands beside the colours.
    """
    if kind not in KINDS:
        raise ParameterError(f"kind must be one of {', '.join(KINDS)}", shown(kind), "Pass kind='map'.")
    label, chosen = look.of_map(label)
    first, second = grid.axes
    end = float(np.abs(values).max()) if top is None else top
    scale: dict[str, Any] = {"cmap": SIGNED, "vmin": -end, "vmax": end} if signed else {"cmap": HEAT, "vmax": top}
    scale |= {} if chosen is None else {"cmap": chosen}
    if kind == "surface":
        return _in_space(grid, values, ax, look, title, label, scale)
    ax = one_axes(ax)
    panel = noted(ax, look, title, first.label, second.label, first, second)
    panel.above = True
    image = ax.imshow(
        values.T,
        origin="lower",
        extent=(*first.span, *second.span),
        aspect="equal" if square else "auto",
        interpolation="nearest",
        **scale,
    )
    if look.legend:
        wide, _ = slot(ax)
        beside, thick = BESIDE / (0.6 * wide), BAR / (0.6 * wide)
        panel.bar = ax.figure.colorbar(image, cax=ax.inset_axes((1 + beside, 0.0, thick, 1.0)))
        panel.bar.outline.set_visible(False)
        panel.bar_label = label
    return ax


def _in_space(
    grid: AnyGrid, values: np.ndarray, ax: Places, look: Look, title: str, label: str, scale: dict[str, object]
) -> Axes:
    """The surface seen from above at an angle."""
    space: Any = one_axes(ax, "3d")
    if not hasattr(space, "plot_surface"):
        raise ParameterError(
            "a surface in space needs axes in space", "flat ones", "Pass ax=figure.add_subplot(projection='3d')."
        )
    first, second = grid.axes
    x, y = np.meshgrid(first.points, second.points, indexing="ij")
    space.plot_surface(x, y, values, linewidth=0, antialiased=True, rcount=80, ccount=80, **scale)
    noted(space, look, title, first.label, second.label, first, second)
    panel_of(space).zlabel = label
    found: Axes = space
    return found


def boundary(grid: AnyGrid, values: np.ndarray, ax: Axes) -> None:
    """The line where a decision function changes sign, and its name."""
    first, second = grid.axes
    if values.min() < 0 < values.max():
        ax.contour(first.points, second.points, values.T, levels=[0.0], colors="black", linewidths=1.2)
        ax.plot([], [], color="black", linewidth=1.2, label="boundary between the classes")


def regions(
    grid: AnyGrid, best: np.ndarray, names: Sequence[str], ax: Places = None, look: Look = NONE, title: str = ""
) -> Axes:
    """Where each of several classes is predicted, over two inputs."""
    labels, chosen = look.several(names)
    ax = one_axes(ax)
    first, second = grid.axes
    colours = [chosen.get(name, COLOURS[i % len(COLOURS)]) for i, name in enumerate(names)]
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
        ax.fill_between([], [], color=colour, alpha=0.6, linewidth=0, label=entry(labels.get(name, name)))
    noted(ax, look, title, first.label, second.label, first, second).above = True
    return ax


def panels(
    parts: Sequence[Shown],
    ax: Places = None,
    look: Look = NONE,
    title: str = "",
    names: Sequence[str] | None = None,
    signed: bool = False,
    label: str = "",
    square: bool = False,
) -> Axes:
    """Heat maps side by side: two-dimensional parts of something larger. Returns the first axes."""
    if ax is None:
        across = min(len(parts), 4)
        down = -(-len(parts) // across)
        whole = new_figure((3.4 * across, 3.0 * down + 0.4))
        title_of(whole, title if look.title is None else look.title, look.own)
        places = list(whole.subplots(down, across, squeeze=False).ravel())
    else:
        places = several_axes(ax, len(parts), "plot one of them at a time")
    top = max(float(np.abs(part.values).max()) for part in parts) if names else None
    for place, part, name in zip(places, parts, names or [""] * len(parts), strict=False):
        one = Look(look.label, look.color, look.xlabel, look.ylabel, name, look.legend)
        surface(part.grid, part.values, place, one, top=top, signed=signed, label=label, square=square)
        panel_of(place).own = look.own
    for place in places[len(parts) :]:
        place.remove()
    first: Axes = places[0]
    return first
