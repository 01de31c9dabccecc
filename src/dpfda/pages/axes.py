"""What stands round the data of a picture: numbers, light lines, words along both sides, and its names for readers.

Only classes and attributes of SVG, so that a page with a strict policy shows it; colours are those of the style sheet.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from dpfda.pages.safe import text
from dpfda.pages.scales import SIGN, Frame, Size, shortened, spread
from dpfda.pages.ticks import axis_ticks, nice_ticks, tick_texts

#: Pixels between numbers and the data, and below a line of words.
GAP, LINE = 7, 20


def framed(
    size: Size, x: tuple[float, float], y: tuple[float, float], xlabel: str, ylabel: str, right: float = 0.0
) -> Frame:
    """The place of the data: beside the widest number of its axis, below and above the words."""
    numbers = tick_texts(nice_ticks(*y, size.most_y))
    left = GAP + SIGN * size.letters * max((len(each) for each in numbers), default=1) + 4
    top = LINE + 4 if ylabel else 10
    below = LINE + 2 + (LINE if xlabel else 0)
    right = right or 6 + SIGN * size.letters
    return Frame(round(left), top, size.width - round(left) - right, size.height - top - below, x, y)


def sides(frame: Frame, size: Size, xlabel: str, ylabel: str, xticks: Sequence[float] | None, flat: bool) -> str:
    """Numbers and words of both axes; over a flat map no lines across, and customary numbers on both sides."""
    made = []
    ticks = axis_ticks(*frame.y, ylabel, most=size.most_y) if flat else nice_ticks(*frame.y, size.most_y)
    places = frame.down(np.array(ticks))
    for place, number in zip(places, tick_texts(ticks), strict=True):
        if not flat:
            made.append(f'<path class="grid" d="M{frame.left:g},{place:.1f}h{frame.width:g}"/>')
        made.append(f'<text x="{frame.left - GAP:g}" y="{place + 4.5:.1f}" text-anchor="end">{number}</text>')
    base = frame.top + frame.height
    made.append(f'<path class="axis" d="M{frame.left:g},{base:g}h{frame.width:g}"/>')
    low, high = frame.x
    ticks = axis_ticks(low, high, xlabel, most=size.most_x) if xticks is None else list(xticks)
    ticks = [tick for tick in ticks if low - 1e-9 * (high - low) <= tick <= high + 1e-9 * (high - low)]
    numbers, spots = tick_texts(ticks), frame.across(np.array(ticks)).tolist()
    for i in spread(numbers, spots, size.letters):
        made.append(f'<path class="axis" d="M{spots[i]:.1f},{base:g}v4"/>')
        made.append(f'<text x="{spots[i]:.1f}" y="{base + 18:g}" text-anchor="middle">{numbers[i]}</text>')
    if xlabel:
        words = text(shortened(xlabel, size.width, size.letters))
        middle = frame.left + frame.width / 2
        made.append(f'<text x="{middle:g}" y="{base + 18 + LINE:g}" text-anchor="middle">{words}</text>')
    if ylabel:
        made.append(f'<text x="2" y="14">{text(shortened(ylabel, size.width, size.letters))}</text>')
    return "".join(made)


def picture(size: Size, body: str, title: str, description: str, kind: str) -> str:
    """The SVG, with a title and a description for those who cannot see it."""
    name = f"{kind}-{zlib.crc32((title + description + body).encode()):08x}"
    about = f'<desc id="{name}-d">{text(description)}</desc>' if description else ""
    named = f"{name}-t {name}-d" if description else f"{name}-t"
    return (
        f'<svg class="{kind}" role="img" aria-labelledby="{named}" viewBox="0 0 {size.width} {size.height}" '
        f'font-size="{size.letters}"><title id="{name}-t">{text(title)}</title>{about}{body}</svg>'
    )
