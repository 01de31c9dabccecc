"""Curves and bands as a picture of a page: SVG that fits a wide page and a telephone, and words below it.

A chart is plain data. Its letters keep their size because there are two drawings of it, and the style sheet shows the
one that fits. Lines differ by their dashes, not by colour alone.

>>> hours = [0, 6, 12, 18, 24]
>>> chart = Chart((Line("the released mean", hours, [1, 2, 1, 3, 1]),), xlabel="hour (h)", ylabel="kW")
>>> chart.svg().count("<svg"), "the released mean" in chart.svg()
(3, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpfda.pages.axes import framed, picture, sides
from dpfda.pages.heatmaps import HeatMap
from dpfda.pages.safe import markup, text
from dpfda.pages.scales import NARROW, SMALL, WIDE, Frame, Size, dots, kept, limits, points, runs, span, stairs
from dpfda.pages.ticks import nice_ticks

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Chart", "HeatMap", "Line", "Numbers", "Shade", "nice_ticks"]

#: Anything that holds numbers in order.
Numbers: TypeAlias = Sequence[float] | np.ndarray
#: Colours of the style sheet, and as many dashes.
COLOURS = 8


@dataclass(frozen=True)
class Line:
    """A curve of a chart.

    Parameters
    ----------
    label : str
        What it is, below the picture; lines of the same label are named once, and an empty one is not named.
    x, y : sequence of float
        Its points; where y is no number, the line has a gap.
    look : "main", "guess" (dashed), "thin" (one of many), "muted" or "points" (not joined)
        How it is drawn.
    colour : int
        Which colour and dashes, for groups and levels.
    steps : bool
        Whether it jumps at its points.

    Examples
    --------
    >>> Line("your guess", [0, 1], [2, 3], look="guess").label
    'your guess'
    """

    label: str
    x: Numbers
    y: Numbers
    look: str = "main"
    colour: int = 0
    steps: bool = False

    @property
    def css(self) -> str:
        return f"line {self.look} c{self.colour % COLOURS}"

    def path(self, frame: Frame) -> str:
        x, y = np.asarray(self.x, float), np.asarray(self.y, float)
        chosen = kept(y, y)
        x, y = x[chosen], y[chosen]
        if self.look == "points":
            return f'<path class="{self.css}" d="{dots(frame.across(x), frame.down(y))}"/>'
        found = []
        for run in runs(np.isfinite(x) & np.isfinite(y)):
            across, down = stairs(x[run], y[run]) if self.steps else (x[run], y[run])
            found.append("M" + points(frame.across(across), frame.down(down)))
        return f'<path class="{self.css}" d="{"".join(found)}"/>' if found else ""

    def sample(self) -> str:
        return f'<path class="{self.css}" d="{"M15,7h.01" if self.look == "points" else "M1,7h28"}"/>'


@dataclass(frozen=True)
class Shade:
    """A band of a chart.

    Parameters
    ----------
    label : str
        What it holds, below the picture.
    x, lower, upper : sequence of float
        Its edges.
    look : "band" (dark) or "wide" (light)
        How it is drawn.
    colour : int
        Which colour.
    steps : bool
        Whether its edges jump at their points.

    Examples
    --------
    >>> Shade("95 % of releases", [0, 1], [1, 2], [3, 4]).look
    'band'
    """

    label: str
    x: Numbers
    lower: Numbers
    upper: Numbers
    look: str = "band"
    colour: int = 0
    steps: bool = False

    @property
    def css(self) -> str:
        return f"shade {self.look} c{self.colour % COLOURS}"

    def path(self, frame: Frame) -> str:
        x, lower, upper = (np.asarray(each, float) for each in (self.x, self.lower, self.upper))
        chosen = kept(lower, upper)
        x, lower, upper = x[chosen], lower[chosen], upper[chosen]
        found = []
        for run in runs(~(np.isnan(lower) | np.isnan(upper)) & np.isfinite(x)):
            there, low, high = x[run], lower[run], upper[run]
            if self.steps:
                (there, low), (_, high) = stairs(there, low), stairs(there, high)
            across = frame.across(there)
            edge = points(
                np.concatenate([across, across[::-1]]), np.concatenate([frame.down(high), frame.down(low)[::-1]])
            )
            found.append(f"M{edge}Z")
        return f'<path class="{self.css}" d="{"".join(found)}"/>' if found else ""

    def sample(self) -> str:
        return f'<path class="{self.css}" d="M1,1h28v12h-28Z"/>'


@dataclass(frozen=True)
class Chart:
    """Curves and bands over one axis.

    Parameters
    ----------
    lines : tuple of Line
        Drawn in order, over the shades.
    shades : tuple of Shade, optional
        Drawn in order: the wide ones first.
    xlabel, ylabel : str, optional
        Words along the axes; the numbers of an axis of hours, days, years stand where people count them.
    title : str, optional
        Shown above the picture, and its name for screen readers.
    description : str, optional
        What can be seen, for screen readers.
    xticks : sequence of float, optional
        Numbers along the axis. Default: customary or round ones.
    span : (low, high), optional
        What of the axis is shown. Default: all of it.
    height : (low, high), optional
        What of the values is shown, where several pictures are compared. Default: all that is drawn.
    zero : bool, optional
        Whether a line is drawn at zero.
    marks : tuple of (low, high), optional
        Stretches of the axis that are marked.
    marked : str, optional
        What the marks say, below the picture.
    legend : bool, optional
        Whether the words are written below the picture.
    small : bool, optional
        One of many side by side.

    Examples
    --------
    >>> line = Line("the released mean", [0, 12, 24], [1.0, 2.0, 1.0])
    >>> Chart((line,), xlabel="hour (h)", title="<Mean>").svg()[:44]
    Markup('<figure class="chart"><p class="chart-title"')
    """

    lines: tuple[Line, ...]
    shades: tuple[Shade, ...] = ()
    xlabel: str = ""
    ylabel: str = ""
    title: str = ""
    description: str = ""
    xticks: Sequence[float] | None = None
    span: tuple[float, float] | None = None
    height: tuple[float, float] | None = None
    zero: bool = False
    marks: tuple[tuple[float, float], ...] = ()
    marked: str = ""
    legend: bool = True
    small: bool = False

    @property
    def drawn(self) -> list[Line | Shade]:
        """All that is drawn, from the back to the front."""
        return [*self.shades, *self.lines]

    def svg(self) -> Markup:
        """The picture with its words, as markup of a page."""
        sizes = {"small": SMALL} if self.small else {"wide": WIDE, "narrow": NARROW}
        drawn = "".join(self._drawn(size, name) for name, size in sizes.items())
        head = f'<p class="chart-title">{text(self.title)}</p>' if self.title else ""
        key = self.key() if self.legend else ""
        below = f"<figcaption>{key}</figcaption>" if key else ""
        return markup(f'<figure class="chart">{head}{drawn}{below}</figure>')

    def _drawn(self, size: Size, name: str) -> str:
        x = self.span or span([np.asarray(each.x, float) for each in self.drawn])
        y = self.height or limits([*self._seen(x)], self.zero)
        frame = framed(size, x, y, self.xlabel, self.ylabel)
        around = sides(frame, size, self.xlabel, self.ylabel, self.xticks, flat=False)
        inside = "".join(each.path(frame) for each in self.drawn)
        body = around + self._zero(frame) + self._marks(frame) + self._window(frame, inside)
        named = self.title or " along ".join(each for each in (self.ylabel, self.xlabel) if each) or "Chart"
        return picture(size, body, named, self.description, name)

    def _seen(self, x: tuple[float, float]) -> list[np.ndarray]:
        """The values that decide how high the picture is: those on the part of the axis that is shown."""
        found = []
        for each in self.drawn:
            there = np.asarray(each.x, float)
            shown = (there >= x[0]) & (there <= x[1]) if self.span else np.ones(len(there), bool)
            edges = (each.y,) if isinstance(each, Line) else (each.lower, each.upper)
            found += [np.asarray(edge, float)[shown] for edge in edges]
        return found

    def _window(self, frame: Frame, inside: str) -> str:
        """What is beyond the limits is cut off, which only a picture of a part needs."""
        infinite = any(
            not np.isfinite(np.asarray(edge, float)).all() for s in self.shades for edge in (s.lower, s.upper)
        )
        if self.span is None and self.height is None and not infinite:
            return inside
        place = f"{frame.left:g} {frame.top:g} {frame.width:g} {frame.height:g}"
        x, y, width, height = place.split()
        return f'<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{place}">{inside}</svg>'

    def _zero(self, frame: Frame) -> str:
        if not self.zero:
            return ""
        place = float(frame.down(np.zeros(1))[0])
        return f'<path class="zero" d="M{frame.left:g},{place:.1f}h{frame.width:g}"/>'

    def _marks(self, frame: Frame) -> str:
        made = []
        for low, high in self.marks:
            left, right = frame.across(np.clip([low, high], *frame.x)).tolist()
            base, wide = frame.top + frame.height, max(right - left, 2.0)
            made.append(
                f'<rect class="marked" x="{left:.1f}" y="{frame.top:g}" width="{wide:.1f}" height="{frame.height:g}"/>'
                f'<rect class="mark" x="{left:.1f}" y="{base - 5:g}" width="{wide:.1f}" height="5"/>'
            )
        return "".join(made)

    def key(self) -> Markup:
        """The words below the picture alone: each label once, with a sample of its line or shade."""
        samples: dict[str, str] = {}
        named: list[Line | Shade] = [*self.lines, *self.shades]
        for each in named:
            samples.setdefault(each.label, each.sample())
        if self.marks:
            samples.setdefault(self.marked, '<path class="mark" d="M1,4h28v5h-28Z"/>')
        samples.pop("", None)
        if not samples:
            return markup("")
        entries = "".join(
            f'<li><svg class="sample" aria-hidden="true" viewBox="0 0 30 14" width="30" height="14">{sample}</svg>'
            f"{text(label)}</li>"
            for label, sample in samples.items()
        )
        return markup(f'<ul class="legend">{entries}</ul>')
