"""Pictures of percentile curves in the manner of a glucose profile: a median line, and shades between percentiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfda.results.bands import Band
from dpfda.results.fitting import panel_of
from dpfda.results.legends import entries, entry
from dpfda.results.looks import Look
from dpfda.results.plots import COLOURS, INK, begun, one_axes, percent, places_for
from dpfda.results.plots import within as plots_within
from dpfda.spaces.grid import Grid

if TYPE_CHECKING:
    from dpfda.results.pictures import Axes, ColorType, Places

#: How dark shades are, from the outermost pair of percentiles to the innermost.
PALE, DARK = 0.16, 0.36
#: One of several profiles, in inches.
SMALL = (3.4, 2.6)


def pairs_of(levels: Sequence[float]) -> tuple[list[tuple[int, int]], list[int]]:
    """Places of levels that lie alike on both sides of the median, outermost first, and of all others.

    >>> pairs_of((0.05, 0.25, 0.5, 0.75, 0.95)), pairs_of((0.1, 0.5))
    (([(0, 4), (1, 3)], [2]), ([], [0, 1]))
    """
    found = {round(level, 9): place for place, level in enumerate(levels)}
    pairs = [(place, found[round(1 - x, 9)]) for x, place in found.items() if x < 0.5 and round(1 - x, 9) in found]
    paired = {place for pair in pairs for place in pair}
    return pairs, [place for place in range(len(levels)) if place not in paired]


def profile(
    grid: Grid,
    levels: Sequence[float],
    values: np.ndarray,
    band: Band | None,
    ax: Places = None,
    look: Look | None = None,
    title: str = "",
    ylabel: str = "",
    within: tuple[float, float] | None = None,
) -> Axes:
    """Percentile curves of one population; thin lines about the median are its part of the band.

    Bands of all curves would hide them. The values shown are those of what is drawn, and none beyond `within`.
    """
    look = Look() if look is None else look
    name, color = look.one("")
    ax = one_axes(ax)
    panel = begun(ax, look, title, grid, ylabel)
    number, panel.lines = panel.lines, panel.lines + 1
    chosen: ColorType = COLOURS[number % len(COLOURS)] if color is None else color
    _draw(ax, grid.points, levels, values, band, chosen, name)
    return ax if within is None else plots_within(ax, within)


def _draw(
    ax: Axes, t: np.ndarray, levels: Sequence[float], values: np.ndarray, band: Band | None, color: ColorType, name: str
) -> None:
    pairs, others = pairs_of(levels)
    shades = np.linspace(PALE, DARK, len(pairs)) if len(pairs) > 1 else [(PALE + DARK) / 2]
    lead = f"{name}, " if name else ""
    middle = [place for place in others if abs(levels[place] - 0.5) < 1e-9]
    for place in middle:
        ax.plot(t, values[place], color=color, linewidth=2.0, label=entry(f"{lead}median"))
    for place in (place for place in others if place not in middle):
        dash = "--" if levels[place] < 0.5 else "-."
        label = entry(f"{lead}{100 * levels[place]:g} %")
        ax.plot(t, values[place], color=color, linewidth=1.2, linestyle=dash, label=label)
    for (low, high), alpha in zip(reversed(pairs), reversed(list(shades)), strict=False):
        label = entry(f"{lead}{100 * levels[low]:g} to {100 * levels[high]:g} %")
        ax.fill_between(t, values[low], values[high], color=color, alpha=alpha, linewidth=0, label=label)
    if band is None:
        return
    about = middle or others or list(pairs[-1])
    for place in about:
        for number, side in enumerate((band.lower[place], band.upper[place])):
            named = f"{lead}{_band_name(band, bool(middle))}" if place == about[0] and number == 0 else ""
            ax.plot(t, side, color=color, linewidth=0.8, linestyle=(0, (4, 2)), label=entry(named) or None)


def _band_name(band: Band, of_median: bool) -> str:
    """The band for a legend. It holds for all percentiles at once, and the picture shows a part of it."""
    return f"{percent(band.level)} band of the {'median' if of_median else 'innermost lines'}"


def groups(
    parts: Mapping[str, tuple[np.ndarray, Band]],
    grid: Grid,
    levels: Sequence[float],
    ax: Places,
    look: Look,
    title: str,
    ylabel: str,
    within: tuple[float, float] | None = None,
) -> Axes:
    """Percentile curves of several groups: side by side on the same scales, or the innermost ones in given axes.

    Returns the first axes.
    """
    names = list(parts)
    labels, colours = look.several(names)
    if ax is not None and hasattr(ax, "transAxes"):
        shown, place = innermost(levels), one_axes(ax)
        for name, (values, _) in parts.items():
            part = Look(labels[name], colours.get(name), look.xlabel, look.ylabel, look.title, look.legend)
            profile(grid, [levels[i] for i in shown], values[shown], None, place, part, title, ylabel, within)
            panel_of(place).own = look.own
        return place
    across = min(len(names), 3)
    places = places_for(ax, len(names), across, SMALL, "all", look, title)
    xlabel, ylabel = grid.label if look.xlabel is None else look.xlabel, ylabel if look.ylabel is None else look.ylabel
    for i, (place, (name, (values, band))) in enumerate(zip(places, parts.items(), strict=True)):
        below, left = i + across >= len(names), i % across == 0
        part = Look("", colours.get(name, INK), xlabel if below else "", ylabel if left else "", labels[name], False)
        profile(grid, levels, values, band, place, part, within=within)
        place.tick_params(labelbottom=below)
        panel_of(place).own = look.own
    first = places[0]
    panel_of(first).legend = look.legend and ax is not None
    if look.legend and ax is None:
        whole: Any = first.get_figure(root=True)
        whole.legend(*entries(first), loc="outside lower left", frameon=False, fontsize=9, ncols=4)
    return first


def innermost(levels: Sequence[float]) -> list[int]:
    """Places of the median and of the pair next to it; of all levels, where there is neither.

    >>> innermost((0.05, 0.25, 0.5, 0.75, 0.95)), innermost((0.1, 0.2))
    ([1, 2, 3], [0, 1])
    """
    pairs, others = pairs_of(levels)
    middle = [place for place in others if abs(levels[place] - 0.5) < 1e-9]
    found = sorted([*middle, *(pairs[-1] if pairs else ())])
    return found or list(range(len(levels)))
