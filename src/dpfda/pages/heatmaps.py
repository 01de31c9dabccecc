"""Values over a plane as a picture of a page: colours as a tiny PNG, axes and the bar of colours as SVG.

>>> heat = HeatMap(np.eye(3), x=(0, 24), y=(0, 24), xlabel="hour (h)", label="covariance")
>>> "data:image/png" in heat.svg()
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpfda.pages import png
from dpfda.pages.axes import framed, picture, sides
from dpfda.pages.safe import markup, text
from dpfda.pages.scales import SIGN, Frame, Size, limits, shortened
from dpfda.pages.ticks import nice_ticks, tick_texts

if TYPE_CHECKING:
    from markupsafe import Markup

MAP = Size(360, 300, most_x=5, most_y=6)
#: Cells along a side that a picture of this size can show.
CELLS = 160
#: Pixels: the bar of colours, and the room before it.
BAR, BESIDE = 12, 12


@dataclass(frozen=True)
class HeatMap:
    """Values over a plane.

    Parameters
    ----------
    values : array
        Rows along y, from low to high, columns along x; what is no number stays empty.
    x, y : (low, high)
        Limits of the axes.
    xlabel, ylabel : str, optional
        Words along the axes.
    label : str, optional
        What the colours mean.
    title : str, optional
        Shown above the picture, and its name for screen readers.
    description : str, optional
        What can be seen, for screen readers.
    diverging : bool, optional
        Whether colours part at zero.
    names : tuple of str, optional
        Where values are places in this list (classes), its names: each has a colour of its own.
    top : float, optional
        The value of the last colour, where several maps share one scale.
    cells : int, optional
        How many cells along a side are kept at most: many maps on one page need fewer.

    Examples
    --------
    >>> HeatMap(np.array([[0.0, 1.0]]), (0, 1), (0, 1), title="A density").svg()[:44]
    Markup('<figure class="chart map"><p class="chart-ti')
    """

    values: np.ndarray
    x: tuple[float, float]
    y: tuple[float, float]
    xlabel: str = ""
    ylabel: str = ""
    label: str = ""
    title: str = ""
    description: str = ""
    diverging: bool = False
    names: tuple[str, ...] = ()
    top: float | None = None
    cells: int = CELLS

    def svg(self) -> Markup:
        """The picture with its words, as markup of a page."""
        low, high = self._range()
        numbers = [] if self.names else nice_ticks(low, high, 6)
        wide = SIGN * MAP.letters * max((len(each) for each in tick_texts(numbers)), default=0)
        right = BESIDE + BAR + 6 + wide if numbers else 12.0
        frame = framed(MAP, self.x, self.y, self.xlabel, self.ylabel, right)
        colours = png.ramp(png.DIVERGING if self.diverging else png.SEQUENTIAL)
        if self.names:
            colours = np.vstack([png.ramp((colour,), 1) for colour in png.PALETTE])
        image = self._image(frame.left, frame.top, frame.width, frame.height, self._cells(low, high), colours)
        body = image + sides(frame, MAP, self.xlabel, self.ylabel, None, flat=True) + self._labels(frame)
        if numbers:
            body += self._bar(frame, low, high, numbers, colours)
        head = f'<p class="chart-title">{text(self.title)}</p>' if self.title else ""
        named = self.title or self.label or "Map"
        drawn = picture(MAP, body, named, self.description, "plane")
        return markup(f'<figure class="chart map">{head}{drawn}{self._legend()}</figure>')

    def _range(self) -> tuple[float, float]:
        found = self.values[np.isfinite(self.values)]
        low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
        if self.diverging:
            high = self.top or max(abs(low), abs(high))
            low = -high
        elif self.top is not None:
            low, high = min(low, 0.0), self.top
        return (low, high) if high > low else limits([found])

    def _cells(self, low: float, high: float) -> np.ndarray:
        """Numbers of colours from 1, rows from above, no more of them than can be seen; 0 is no value."""
        chosen = [np.linspace(0, size - 1, min(size, self.cells)).round().astype(int) for size in self.values.shape]
        values = self.values[np.ix_(*chosen)][::-1]
        missing = ~np.isfinite(values)
        filled = np.where(missing, low, values)
        steps = filled % len(png.PALETTE) if self.names else 254 * np.clip((filled - low) / (high - low), 0, 1)
        return np.where(missing, 0, 1 + np.rint(steps))

    @staticmethod
    def _image(x: float, y: float, width: float, height: float, cells: np.ndarray, colours: np.ndarray) -> str:
        return (
            f'<image x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" preserveAspectRatio="none" '
            f'image-rendering="pixelated" href="{png.picture(cells, colours)}"/>'
        )

    def _bar(self, frame: Frame, low: float, high: float, numbers: list[float], colours: np.ndarray) -> str:
        left = frame.left + frame.width + BESIDE
        cells = np.arange(len(colours), 0, -1)[:, None]
        made = [self._image(left, frame.top, BAR, frame.height, cells, colours)]
        for number, words in zip(numbers, tick_texts(numbers), strict=True):
            place = frame.top + frame.height * (high - number) / (high - low)
            made.append(f'<text x="{left + BAR + 5:g}" y="{place + 4.5:.1f}">{words}</text>')
        return "".join(made)

    def _labels(self, frame: Frame) -> str:
        """The name of each region within it, so that colours need not be told apart."""
        made = []
        for i, name in enumerate(self.names):
            cells = np.argwhere(self.values == i)
            if len(cells):
                row, column = cells[((cells - cells.mean(axis=0)) ** 2).sum(axis=1).argmin()]
                x = frame.left + frame.width * (column + 0.5) / self.values.shape[1]
                y = frame.top + frame.height * (1 - (row + 0.5) / self.values.shape[0])
                words = text(shortened(name, 90, MAP.letters))
                made.append(f'<text class="region" x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">{words}</text>')
        return "".join(made)

    def _legend(self) -> str:
        if self.names:
            whole = 'width="30" height="14"'
            sample = f'<svg class="sample" aria-hidden="true" viewBox="0 0 30 14" {whole}><rect '
            entries = "".join(
                f'<li>{sample}fill="{png.PALETTE[i % len(png.PALETTE)]}" {whole}/></svg>{text(name)}</li>'
                for i, name in enumerate(self.names)
            )
            return f'<figcaption><ul class="legend">{entries}</ul></figcaption>'
        return f"<figcaption>Colour: {text(self.label)}</figcaption>" if self.label else ""
