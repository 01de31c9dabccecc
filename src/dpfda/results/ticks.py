"""Ticks that fit an axis of matplotlib: customary steps where there are some, few enough to be read at any size."""

from __future__ import annotations

from dpfda.pages.ticks import MOST, counted, step
from dpfda.results.pictures import ticker
from dpfda.spaces.grid import Grid


def locator(axis: Grid | None, span: float, dense: int, loose: int) -> ticker.Locator:
    """Where the ticks of an axis are: customary steps may stand as densely as they can be read, others loosely."""
    kind = None if axis is None else counted(axis.name, axis.unit)
    customary = step(kind, span, max(2, min(dense, MOST)))
    if customary is not None:
        return ticker.MultipleLocator(customary)
    return ticker.MaxNLocator(nbins=max(2, min(loose, MOST)), steps=[1, 2, 2.5, 5, 10])
