"""Numbers at risk below survival curves: one row for each curve, at the ticks of time, as clinical papers show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpfda.results.texts import dots_per_inch

if TYPE_CHECKING:
    from dpfda.results.pictures import Annotation, Axes, ColorType

    #: By the name of each curve: its colour, and how many are at risk at some times.
    Rows: TypeAlias = Mapping[str, tuple[ColorType, Callable[[ArrayLike], np.ndarray]]]

#: The head of the table, and letters of a name beside its row.
HEAD, LONGEST = "about so many at risk", 18
#: Rows at most: more of them are no picture.
MOST = 6


def place(ax: Axes, rows: Rows, size: float) -> list[Annotation]:
    """Write the table below the words of the time axis, in letters of nearly this size; returns what was written."""
    if not rows or len(rows) > MOST:
        return []
    written: list[Annotation] = []
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low - 1e-9 <= tick <= high + 1e-9 * abs(high)]
    dots = dots_per_inch(ax) / 72
    words = ax.xaxis.get_tightbbox()
    down = (ax.get_window_extent().y0 - (words.y0 if words is not None else 0.0)) / dots + 0.4 * size
    small, line = max(6.0, size - 1.0), 1.35 * size

    def write(text: str, x: float, across: str, row: float, beside: float, align: str, colour: ColorType) -> None:
        written.append(
            ax.annotate(
                text, (x, 0.0), (beside, -down - row * line), xycoords=(across, "axes fraction"),
                textcoords="offset points", ha=align, va="top", fontsize=small, color=colour, annotation_clip=False,
            )
        )  # fmt: skip

    write(HEAD, 0.0, "axes fraction", 0, -0.6 * size, "left", "#444444")
    for row, (name, (colour, numbers)) in enumerate(rows.items(), 1):
        for tick, number in zip(ticks, np.atleast_1d(numbers(np.clip(ticks, low, high))), strict=True):
            write(f"{max(round(float(number)), 0):,}", float(tick), "data", row, 0.0, "center", colour)
        if len(rows) > 1:
            write(name[:LONGEST].replace("$", r"\$"), 0.0, "axes fraction", row, -2.2 * size, "right", colour)
    return written
