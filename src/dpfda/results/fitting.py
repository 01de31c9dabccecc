"""Pictures of any size: letters, titles, labels, ticks and cautions that fit the axes they belong to.

What was said about axes is kept on the axes (`Panel`) and set into them here, as often as something is drawn into their
figure: letters by the room there is, lines of text broken where the axes end, and above the axes, from below, what
must not cover anything: a legend of a map, cautions, the title.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.pages.ticks import plain
from dpfda.results import legends, risk_tables
from dpfda.results.pictures import ticker
from dpfda.results.texts import dots_per_inch, spell
from dpfda.results.ticks import locator
from dpfda.spaces.grid import Grid

if TYPE_CHECKING:
    from dpfda.results.pictures import Axes, Figure

ALARM = "#a02020"
#: Where axes keep their panel, and a figure its title.
PANEL, TITLE = "dpfda_panel", "dpfda_title"
#: Points of the letters beside ticks: smallest and largest. At 3.3 inches they are 7.3, at 6.4 and more nearly 10.
SMALLEST, LARGEST = 6.5, 10.0
#: Lines of a title, of the label of an axis and of a bar of colours, and of cautions.
OF_TITLE, OF_LABEL, OF_BAR, OF_CAUTION = 4, 2, 3, 12
#: Layouts settle in so many turns: letters need room, and axes that give it are smaller.
TURNS = 4
#: Dots by which axes may move once their words are set.
SETTLED = 1.5


@dataclass
class Panel:
    """What was said about axes, as it was said."""

    title: str = ""
    titles: dict[str, None] = field(default_factory=dict)  # ours, in order
    xlabel: str = ""
    ylabel: str = ""
    along: Grid | None = None
    up: Grid | None = None
    cautions: tuple[str, ...] = ()
    legend: bool = True
    #: Whether the legend stands above the axes: a map has no free corner.
    above: bool = False
    #: What the lower end of the values is at most.
    floor: float | None = None
    #: What values can be at all: no others are shown, and a legend without a free corner stands above the axes.
    within: tuple[float, float] | None = None
    #: How many lines were drawn, what the user wrote, and which words ("title", "xlabel", "ylabel") are the user's.
    lines: int = 0
    own: frozenset[str] = frozenset()
    settled: set[str] = field(default_factory=set)
    note: Any = None
    bar: Any = None
    bar_label: str = ""
    #: Of a surface in space: the words beside its height, and how near it is.
    zlabel: str = ""
    zoom: float = 1.0
    #: Rows of numbers below the axes, each with its colour, as functions of what is along; and what is written there.
    rows: dict[str, tuple[Any, Callable[[ArrayLike], np.ndarray]]] = field(default_factory=dict)
    cells: list[Any] = field(default_factory=list)
    #: What was set last, by which a change of the user's shows.
    shown: dict[str, str | bool] = field(default_factory=dict)
    locators: dict[str, Any] = field(default_factory=dict)

    def say(self, name: str, ours: str, theirs: str | None) -> None:
        """Take a word: the user's, else ours, unless the user has spoken before."""
        if theirs is not None:
            self.settled.add(name)
            setattr(self, name, theirs)
        elif name not in self.settled:
            setattr(self, name, ours)

    def take_changes(self, ax: Axes) -> None:
        """What the user has changed on the axes since, stays."""
        now = _now(ax)
        for name in ("title", "xlabel", "ylabel"):
            if name in self.shown and now[name] != self.shown[name]:
                self.say(name, "", str(now[name]))
                self.own |= {str(now[name])}
        if self.shown.get("legend") and not now["legend"]:
            self.legend = False
        self.shown |= now if self.shown else {}


def _now(ax: Axes) -> dict[str, str | bool]:
    words = {"title": ax.get_title(loc="left"), "xlabel": ax.get_xlabel(), "ylabel": ax.get_ylabel()}
    return {**words, "legend": ax.get_legend() is not None}


def panel_of(ax: Axes) -> Panel:
    """What was said about these axes so far."""
    if not hasattr(ax, PANEL):
        setattr(ax, PANEL, Panel())
    found: Panel = getattr(ax, PANEL)
    found.take_changes(ax)
    return found


def fit(ax: Axes) -> Axes:
    """Set all that was said into the axes of this figure."""
    whole: Any = ax.get_figure(root=True)
    if whole.get_layout_engine() is None and ax.get_subplotspec() is not None:
        # Else labels leave a small figure. The first bears with all that users do later, and knows no parts of figures.
        whole.set_layout_engine("tight" if ax.figure is whole else "constrained")
    panels = [(each, panel_of(each)) for each in whole.axes if hasattr(each, PANEL)]
    for each, panel in panels:
        _begin(each, panel)
    space, before = any(each.name == "3d" for each, _ in panels), np.zeros((len(panels), 4))
    for turn in range(TURNS + 3 * space):
        _set_title_of(whole)
        for each, panel in panels:
            _set(each, panel, estimated=turn == 0)
        if space:
            whole.draw_without_rendering()
        elif (engine := whole.get_layout_engine()) is not None:
            engine.execute(whole)
        now = np.array([each.get_window_extent().extents for each, _ in panels])
        if np.abs(now - before).max() < SETTLED and not space:
            break
        before = now
    for each, panel in panels:
        panel.shown |= _now(each)
    return ax


# -- sizes ----------------------------------------------------------------------------------


def slot(ax: Axes) -> tuple[float, float]:
    """Inches that a figure has for axes and what is around them."""
    parent: Any = ax.figure
    dpi = dots_per_inch(ax)
    width, height = parent.bbox.width / dpi, parent.bbox.height / dpi
    spec = ax.get_subplotspec()
    if spec is None:
        box = ax.get_position(original=True)
        return min(1.0, 1.3 * box.width) * width, min(1.0, 1.3 * box.height) * height
    for part in {id(s): s for s in (spec, spec.get_topmost_subplotspec())}.values():
        grid: Any = part.get_gridspec()
        wide, high = grid.get_width_ratios(), grid.get_height_ratios()
        width *= sum(wide[i] for i in part.colspan) / sum(wide)
        height *= sum(high[i] for i in part.rowspan) / sum(high)
    return width, height


def letters(ax: Axes) -> float:
    """Points of the letters beside ticks."""
    width, height = slot(ax)
    return max(SMALLEST, min(LARGEST, 4.6 + 0.82 * min(width, 1.5 * height)))


# -- setting --------------------------------------------------------------------------------


def _begin(ax: Axes, panel: Panel) -> None:
    """Letters, and the range of the values before anything makes room in it."""
    size = letters(ax)
    ax.tick_params(labelsize=size, length=0.4 * size, pad=0.35 * size)
    if ax.name == "3d":
        return
    if not panel.above and ax.get_autoscaley_on():
        ax.autoscale_view(scalex=False)
        if panel.floor is not None:
            ax.set_ylim(bottom=min(panel.floor, ax.get_ylim()[0]), auto=True)
        if panel.within is not None:
            (low, high), (least, most) = ax.get_ylim(), panel.within
            ax.set_ylim(max(low, least), min(high, most), auto=True)


def _set(ax: Axes, panel: Panel, estimated: bool) -> None:
    """Everything, for the size that the axes have now, or will have by the look of their figure."""
    dpi, size, box = dots_per_inch(ax), letters(ax), ax.get_window_extent()
    width, height = box.width, box.height
    if estimated:
        width, height = (share * side * dpi for share, side in zip((0.72, 0.6), slot(ax), strict=True))
    labels = [(ax.xaxis.label, panel.xlabel, 1.06 * width), (ax.yaxis.label, panel.ylabel, 1.06 * height)]
    for text, said, limit in labels:
        text.set_fontsize(size)
        spell(text, said, limit, OF_LABEL, panel.own)
    ax.xaxis.labelpad = ax.yaxis.labelpad = 0.35 * size
    if ax.name == "3d":
        _set_space(ax, panel, size, estimated)
    else:
        _set_ticks(ax, panel, width * 72 / dpi, height * 72 / dpi, size)
    if panel.bar is not None:
        _set_bar(panel, size, height)
    beside = 0.0 if panel.bar is None or estimated else panel.bar.ax.get_tightbbox().x1 - box.x1
    for text in panel.cells:
        text.remove()
    panel.cells = risk_tables.place(ax, panel.rows, size)
    _set_above(ax, panel, size, width + beside)


def _set_ticks(ax: Axes, panel: Panel, width: float, height: float, size: float) -> None:
    sides = (("x", ax.xaxis, panel.along, ax.get_xlim(), width), ("y", ax.yaxis, panel.up, ax.get_ylim(), height))
    for name, axis, grid, (low, high), room in sides:
        now = axis.get_major_locator()
        if axis.get_scale() != "linear" or not (type(now) is ticker.AutoLocator or now is panel.locators.get(name)):
            continue  # the user's own
        each = 0.9  # a line of numbers below the other
        if axis is ax.xaxis:
            each = 0.62 * min(5, max(len(plain(round(end, 3))) for end in (low, high)))
        dense, loose = (int(room / ((each + gap) * size)) for gap in (0.45, 1.2))
        panel.locators[name] = locator(grid, high - low, dense, loose)
        axis.set_major_locator(panel.locators[name])
        axis.set_major_formatter(ticker.FuncFormatter(plain))


def _set_bar(panel: Panel, size: float, height: float) -> None:
    """The colours of a map: numbers and words beside them."""
    bar = panel.bar
    bar.ax.tick_params(labelsize=size, length=0.3 * size, pad=0.3 * size)
    if bar.ax.yaxis.get_scale() == "linear" and not isinstance(bar.locator, ticker.FixedLocator):
        dots = dots_per_inch(bar.ax)
        bar.locator = locator(None, 1.0, 0, min(5, int(height * 72 / dots / (2.2 * size))))
        bar.formatter = ticker.FuncFormatter(plain)
        bar.update_ticks()
    label = bar.ax.yaxis.label
    label.set_fontsize(size)
    bar.ax.yaxis.labelpad = 0.4 * size
    spell(label, panel.bar_label, 1.06 * height, OF_BAR, panel.own)


def _set_space(flat: Axes, panel: Panel, size: float, estimated: bool) -> None:
    """A surface in space: as near as its axes and their words stay within the picture."""
    ax: Any = flat
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_in_layout(False)  # they are brought within the axes below
        axis.set_major_locator(ticker.MaxNLocator(4))
        axis.set_major_formatter(ticker.FuncFormatter(plain))
        upright = 3.0 if axis is ax.zaxis else 0.0
        axis.labelpad = 0.9 * size - 7.0 + 2 * upright  # from a distance that suits large letters
        axis.set_tick_params(pad=0.5 * size - 5.0 + upright)
    ax.zaxis.label.set_fontsize(size)
    spell(ax.zaxis.label, panel.zlabel, ax.bbox.height, 1, panel.own)
    if not estimated:
        drawn = [axis.get_tightbbox() for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
        room, half = ax.bbox, 0.48 * slot(ax)[0] * dots_per_inch(ax)  # a square, with space beside it
        middle = (room.x0 + room.x1) / 2
        sides = [max(middle - half - box.x0, box.x1 - middle - half) / room.width for box in drawn]
        sides += [max(room.y0 - box.y0, box.y1 - room.y1) / room.height for box in drawn]
        panel.zoom -= max(-0.1, 1.6 * max(sides)) if max(sides) > 0 or panel.zoom < 1 else 0.0
        panel.zoom = min(1.2, max(0.4, panel.zoom))
    ax.set_box_aspect(None, zoom=panel.zoom)


def _set_above(ax: Axes, panel: Panel, size: float, whole: float) -> None:
    """The legend, cautions and the title: what stands above the axes does so one above the other."""
    dots = dots_per_inch(ax) / 72
    up = legends.place(ax, panel.legend, panel.above, max(6.0, size - 0.5), panel.own, whole, panel.within is None)
    if panel.cautions:
        if panel.note is None:
            panel.note = ax.annotate(
                "", (0.0, 1.0), (0.0, 0.0), xycoords="axes fraction", textcoords="offset points", color=ALARM,
                va="bottom", annotation_clip=False,
            )  # fmt: skip
        panel.note.set_fontsize(max(6.0, size - 1.0))
        panel.note.set_position((0.0, up + 3.0))
        spell(panel.note, "\n".join(panel.cautions), whole, OF_CAUTION)
        up += panel.note.get_window_extent().height / dots + 3.0
    title = ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=1.08 * size, pad=up + 0.5 * size)
    spell(title, panel.title, whole, OF_TITLE, panel.own)


def title_of(whole: Figure, said: str, own: frozenset[str]) -> None:
    """The title of a figure of several axes."""
    setattr(whole, TITLE, (said, own))


def _set_title_of(whole: Figure) -> None:
    said, own = getattr(whole, TITLE, ("", frozenset()))
    if said:
        size = 11.0 if whole.bbox.width > 4.5 * whole.dpi else 8.0
        text = whole.suptitle(said, x=0.01, ha="left", fontsize=size)
        spell(text, said, 0.97 * whole.bbox.width, OF_TITLE, own)
