"""Columns that are named by numbers: the ages, hours or wavelengths at which curves were measured.

A header is public. Its numbers become the grid where that is asked for (``grid="header"``), and are not passed over
where an equally spaced grid would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.reading.cells import number
from dpfda.spaces.grid import AnyGrid, Grid

HEADER = "header"
ASKED = "Pass grid='header' to make them the grid."


@dataclass(frozen=True)
class FromHeader:
    """The names of the value columns are the points of the grid, on an axis of this name and unit."""

    name: str = "t"
    unit: str = ""


def from_header(text: str) -> FromHeader:
    """What ``grid="header"`` asks for; no other word is a grid."""
    if text != HEADER:
        raise ParameterError(
            "grid must be a Grid, a number of points, or 'header'",
            shown(text),
            "Pass grid=dp.Grid.uniform(0, 1, 48), or grid=48, or grid='header'.",
        )
    return FromHeader()


def rising(names: Sequence[str], decimal: str = ".") -> np.ndarray | None:
    """The numbers that names are, if they all are and each is larger than the one before."""
    found = [number(name, decimal) for name in names]
    if None in found or len(found) < 2:
        return None
    points = np.array(found, dtype=float)
    return points if np.isfinite(points).all() and (points[1:] > points[:-1]).all() else None


def evenly(points: np.ndarray) -> bool:
    """Whether points are equally spaced, as far as names spell it."""
    with np.errstate(all="ignore"):
        steps = np.diff(points)
        return bool(np.ptp(steps) < 1e-6 * steps.max())


def header_grid(names: Sequence[str] | None, decimal: str, axis: FromHeader) -> Grid:
    """The grid that names of value columns are."""
    points = None if names is None else rising(names, decimal)
    if points is None:
        raise ParameterError(
            "grid='header' needs value columns that are named by increasing numbers",
            "others" if names else "none",
            "Choose them with columns=..., or pass grid=dp.Grid(times).",
        )
    return Grid(points, name=axis.name, unit=axis.unit)


def check_unsaid(names: Sequence[str] | None, decimal: str) -> None:
    """Refuse to read as equally spaced what the header says is not. Its numbers are not shown: it may be a record."""
    points = None if names is None else rising(names, decimal)
    if points is not None and not evenly(points):
        raise ParameterError(
            "value columns that are named by increasing numbers, not equally spaced, need a grid",
            "none",
            f"{ASKED} Pass grid=dp.Grid.uniform(0, 1, {len(points)}) to read them as equally spaced all the same.",
        )


def same_points(grid: AnyGrid | None, names: Sequence[str] | None, decimal: str) -> bool:
    """Whether a grid has the numbers that stand in a header, among other names."""
    points = rising([name for name in names or () if number(name, decimal) is not None], decimal)
    return grid is not None and points is not None and np.array_equal(grid.points, points)
