"""Pictures of curves, bands and comparisons on matplotlib axes. Public numbers in, axes out.

Functions here draw and note what is said about the axes; :func:`fit` then sets it, once all is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError, shown
from dpfda.results.bands import Band
from dpfda.results.fitting import Panel, fit, panel_of, title_of
from dpfda.results.legends import FAINT, entry
from dpfda.results.looks import Look
from dpfda.results.pictures import inline, load, new_figure, picture, png
from dpfda.spaces.grid import AnyGrid, Grid

if TYPE_CHECKING:
    from dpfda.results.pictures import Axes as Axes
    from dpfda.results.pictures import ColorType
    from dpfda.results.pictures import Places as Places

__all__ = ["Look", "caution", "comparison", "curve", "curves", "fine", "fit", "inline", "load", "marked", "multiples",
           "overlay", "percent", "picture", "png", "ratios", "together", "zero"]  # fmt: skip

LINES = ("-", "--", ":", "-.")
INK, SHADE, GREY, MARK = "#1b4b72", "#9cc3de", "#888888", "#222222"
COLOURS = (INK, "#c4542d", "#3f7d4e", "#8a5a9e", "#b08a1e", "#555555")
#: Inches of one of several small pictures, and of the words around all of them.
SMALL, AROUND = (2.4, 1.75), 0.75
NONE = Look()


def one_axes(ax: Places, projection: str | None = None) -> Axes:
    """The axes to draw in: those that were given, or new ones."""
    if ax is None:
        made: Axes = new_figure().add_subplot(projection=projection)
        return made
    if not hasattr(ax, "get_figure") or not hasattr(ax, "transAxes"):
        raise ParameterError(
            "ax must be axes of matplotlib", shown(ax), "Pass ax=plt.subplots()[1], or leave it out for a new picture."
        )
    return cast("Axes", ax)


def several_axes(ax: Places, count: int, instead: str) -> list[Axes]:
    """As many axes as were given, one for each of several pictures."""
    if hasattr(ax, "transAxes") or not hasattr(ax, "__len__"):
        raise ParameterError(
            f"this is {count} pictures side by side", "one ax", f"Pass ax=[{count} axes], or {instead}."
        )
    found = [one_axes(each) for each in np.asarray(ax, dtype=object).ravel()]
    if len(found) < count:
        raise ParameterError(f"this is {count} pictures side by side", f"{len(found)} axes", f"Pass {count} of them.")
    return found[:count]


def fine(grid: AnyGrid, points: int = 241) -> np.ndarray:
    """Evenly spread points over the whole domain, enough for a smooth line."""
    low, high = grid.axes[0].span
    return np.linspace(low, high, points)


def percent(level: float) -> str:
    """A level in words.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * level, 6):g} %"


def band_label(band: Band) -> str:
    """A band for a legend: how sure it is, and of what."""
    return f"{percent(band.level)} band, {band.covers}" if band.covers else f"{percent(band.level)} band"


def noted(
    ax: Axes, look: Look, title: str, xlabel: str, ylabel: str, along: Grid | None, up: Grid | None = None
) -> Panel:
    """What is said about axes: the user's words, or else ours. Several titles of ours stand beside each other."""
    panel = panel_of(ax)
    panel.own |= look.own
    panel.titles |= {title: None} if title else {}
    panel.say("title", "; ".join(panel.titles), look.title)
    panel.say("xlabel", xlabel, look.xlabel)
    panel.say("ylabel", ylabel, look.ylabel)
    panel.legend, panel.along, panel.up = look.legend, along, up
    return panel


def begun(ax: Axes, look: Look, title: str, axis: Grid, ylabel: str) -> Panel:
    """The same for curves along an axis."""
    panel = noted(ax, look, title, axis.label, ylabel, axis)
    ends = np.array([axis.span, *([ax.get_xlim()] if panel.lines else [])])
    ax.set_xlim(float(ends[:, 0].min()), float(ends[:, 1].max()))
    ax.spines[["top", "right"]].set_visible(False)
    return panel


def _line(
    ax: Axes, panel: Panel, t: np.ndarray, values: np.ndarray, label: str, color: ColorType | None = None,
    steps: bool = False,
) -> ColorType:  # fmt: skip
    """One more line, in a colour and a dash of its own; returns the colour."""
    number, panel.lines = panel.lines, panel.lines + 1
    chosen: ColorType = COLOURS[number % len(COLOURS)] if color is None else color
    dash = LINES[number // len(COLOURS) % len(LINES)] if color is None else "-"
    how = "steps-post" if steps else "default"
    ax.plot(t, values, color=chosen, linestyle=dash, linewidth=1.8, drawstyle=how, label=entry(label) or None)
    return chosen


def _shade(ax: Axes, band: Band, color: ColorType, steps: bool = False) -> None:
    words = band_label(band)
    ax.fill_between(
        band.t, band.lower, band.upper, color=color, alpha=FAINT, linewidth=0, step="post" if steps else None,
        label=words,
    )  # fmt: skip


def curve(
    grid: AnyGrid,
    values: np.ndarray,
    band: Band,
    ax: Places = None,
    look: Look = NONE,
    title: str = "",
    label: str = "",
    ylabel: str = "",
    steps: bool = False,
) -> Axes:
    """A released curve, at the band's points, with its simultaneous band; as `steps` where that is wanted."""
    name, color = look.one(label)
    ax = one_axes(ax)
    panel = begun(ax, look, title, grid.axes[-1], ylabel)
    _shade(ax, band, _line(ax, panel, band.t, values, name, color, steps), steps)
    return ax


def zero(ax: Axes, label: str = "") -> Axes:
    """The line at zero, named where it means something."""
    ax.axhline(0.0, color=GREY, linewidth=0.8, linestyle="--" if label else "-", zorder=1, label=entry(label) or None)
    return ax


def from_zero(ax: Axes) -> None:
    """Let the values begin at zero, or below where some are."""
    panel_of(ax).floor = 0.0


def within(ax: Axes, ends: tuple[float, float]) -> Axes:
    """Show no values beyond these, which cannot be."""
    panel = panel_of(ax)
    before = ends if panel.within is None else panel.within
    panel.within = (min(ends[0], before[0]), max(ends[1], before[1]))
    return ax


def at_risk(ax: Axes, numbers: Sequence[Callable[[ArrayLike], np.ndarray]], names: Sequence[str]) -> Axes:
    """Have numbers stand below the axes: functions of what is along, for the curves that were drawn last."""
    panel = panel_of(ax)
    colours = [line.get_color() for line in ax.get_lines()][-len(numbers) :] if numbers else []
    panel.rows |= {name: (colour, each) for name, colour, each in zip(names, colours, numbers, strict=True)}
    return ax


def marked(ax: Axes, t: np.ndarray, label: str) -> None:
    """Points of the axis at which something is so, at its foot."""
    foot = ax.get_xaxis_transform()
    ax.plot(t, np.full(t.size, 0.015), "s", color=MARK, markersize=2.5, label=label, transform=foot)


def caution(ax: Axes, sentences: Sequence[str]) -> Axes:
    """What a release says against trusting it, in the picture itself."""
    panel = panel_of(ax)
    panel.cautions = tuple(dict.fromkeys((*panel.cautions, *sentences)))
    return ax


def curves(
    grid: Grid,
    values: np.ndarray,
    band: Band,
    names: Sequence[str],
    ax: Places = None,
    look: Look = NONE,
    title: str = "",
    ylabels: Sequence[str] = (),
) -> Axes:
    """Several released curves side by side, each with its part of one simultaneous band. Returns the first axes."""
    labels, colours = look.several(names)
    across = min(len(names), 3)
    places = places_for(ax, len(names), across, (3.1 if across > 2 else 3.6, 2.6), "", look, title)
    for i, (place, name) in enumerate(zip(places, names, strict=True)):
        ylabel = look.ylabel if look.ylabel is not None else ylabels[i] if ylabels else None
        part = Look("", colours.get(name, INK), look.xlabel, ylabel, labels.get(name, name), False)
        limits = Band(band.t, band.lower[i], band.upper[i], band.level, band.covers)
        zero(curve(grid, values[i], limits, place, part))
        panel_of(place).own = look.own
    return _headed(places, ax, look)


def multiples(
    parts: Mapping[str, tuple[np.ndarray, Band]], grid: Grid, look: Look, title: str, ylabel: str, steps: bool = False
) -> Axes:
    """Curves of several groups side by side on the same scales, each with its band. Returns the first axes."""
    names = list(parts)
    labels, colours = look.several(names)
    across = 4 if len(names) > 9 or len(names) in (7, 8) else 3
    places = places_for(None, len(names), across, SMALL, "all", look, title)
    xlabel, ylabel = grid.label if look.xlabel is None else look.xlabel, ylabel if look.ylabel is None else look.ylabel
    for i, (place, (name, (values, band))) in enumerate(zip(places, parts.items(), strict=True)):
        below, left = i + across >= len(names), i % across == 0
        part = Look(
            "", colours.get(name, INK), xlabel if below else "", ylabel if left else "", labels.get(name, name), False
        )
        curve(grid, values, band, place, part, steps=steps)
        place.tick_params(labelbottom=below)
        panel_of(place).own = look.own
    return _headed(places, None, look)


def places_for(
    ax: Places, count: int, across: int, size: tuple[float, float], shared: str, look: Look, title: str
) -> list[Axes]:
    """Axes for several pictures side by side: those that were given, or those of a new figure with a title."""
    if ax is not None:
        return several_axes(ax, count, "leave it out")
    down = -(-count // across)
    whole = new_figure((size[0] * across, size[1] * down + AROUND))
    said = title if look.title is None else look.title
    title_of(whole, said, look.own)
    found = whole.subplots(down, across, squeeze=False, sharex=bool(shared), sharey=bool(shared)).ravel()
    for place in found[count:]:
        place.remove()
    return list(found[:count])


def _headed(places: Sequence[Axes], ax: Places, look: Look) -> Axes:
    """The band named once: below all pictures, or in the first of those that were given."""
    first = places[0]
    panel_of(first).legend = look.legend and ax is not None
    if look.legend and ax is None:
        handle = next(shape for shape in first.collections if shape.get_label())
        whole: Any = first.get_figure(root=True)
        whole.legend([handle], [handle.get_label()], loc="outside lower left", frameon=False, fontsize=9)
    return first


def together(
    grid: Grid,
    values: np.ndarray,
    band: Band | None,
    names: Sequence[str],
    ax: Places = None,
    look: Look = NONE,
    title: str = "",
    ylabel: str = "",
) -> Axes:
    """Released components of one curve on the same axes, each with its part of one simultaneous band."""
    labels, colours = look.several(names)
    ax = one_axes(ax)
    panel = begun(ax, look, title, grid, ylabel)
    t = grid.points if band is None else band.t
    drawn = [_line(ax, panel, t, values[i], labels.get(n, n), colours.get(n)) for i, n in enumerate(names)]
    for i, color in enumerate(drawn):
        if band is not None and np.isfinite(band.lower[i]).any():
            _shade(ax, Band(band.t, band.lower[i], band.upper[i], band.level, band.covers), color)
    return ax


def overlay(
    grid: AnyGrid,
    curves: Mapping[str, np.ndarray],
    ax: Places = None,
    title: str = "",
    bands: Sequence[Band] = (),
    look: Look = NONE,
    ylabel: str = "",
    t: np.ndarray | None = None,
    steps: bool = False,
) -> Axes:
    """Several curves on one grid (or on its line, where they are components), named, with bands if there are any.

    They are drawn at points `t`, where those are not the grid's, and as `steps` where that is wanted.
    """
    labels, colours = look.several(list(curves)) if curves else ({}, {})
    ax, line = one_axes(ax), grid.axes[-1]
    panel = begun(ax, look, title, line, ylabel)
    at = line.points if t is None else t
    drawn = [_line(ax, panel, at, values, labels.get(n, n), colours.get(n), steps) for n, values in curves.items()]
    for band, color in zip(bands, drawn, strict=False):
        _shade(ax, band, color, steps)
    return ax


def comparison(
    epsilons: Sequence[float], risks: Mapping[str, Sequence[float]], ax: Places = None, title: str = ""
) -> Axes:
    """Expected risk of each method against epsilon, both logarithmic."""
    ax = one_axes(ax)
    for colour, mark, (name, values) in zip(cycle(COLOURS), cycle("osD^vP"), risks.items(), strict=False):
        ax.plot(epsilons, values, color=colour, marker=mark, markersize=4, label=name, alpha=0.85)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(list(epsilons), [f"{e:g}" for e in epsilons])
    ax.spines[["top", "right"]].set_visible(False)
    noted(ax, NONE, title, "epsilon", "expected risk (squared L2)", None)
    return fit(ax)


def ratios(found: np.ndarray, tolerance: float, ax: Places = None) -> Axes:
    """Sizes of noise against those stated, coordinate by coordinate, and how far off would have been noticed."""
    ax = new_figure((7.5, 2.6)).add_subplot() if ax is None else one_axes(ax)
    ax.axhspan(1 - tolerance, 1 + tolerance, color=SHADE, alpha=0.55, linewidth=0, label="a defect this small may hide")
    ax.axhline(1.0, color=INK, linewidth=0.8)
    ax.plot(np.arange(found.size), found, "o", color=INK, markersize=3.5, label="size of the noise / size stated")
    ax.set_ylim(*(1 + 1.3 * np.array([-1, 1]) * max(tolerance, np.abs(found - 1).max(initial=0.0))), auto=True)
    ax.spines[["top", "right"]].set_visible(False)
    noted(ax, NONE, "", "number that leaves", "", None)
    return fit(ax)
