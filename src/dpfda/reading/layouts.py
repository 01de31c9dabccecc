"""How curves lie in a table: one row each (wide), one cell each (lists), or one row per observation (long).

A layout names columns; it is public and says nothing about what is in them. Timestamps become
hours by the clock on the wall, day by day.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from dpfda.core.errors import ParameterError, RecordError, shown

HOUR = 3_600_000_000
DAY = 24 * HOUR
#: Clocks change at multiples of this, so that one look-up serves all times within it.
QUARTER = HOUR // 4


@dataclass(frozen=True)
class Lists:
    """One curve per row, its values in one cell: a column of lists, all of the grid's length.

    Parameters
    ----------
    values : str
        The column of the values.
    times : str, optional
        A column of lists as long: each curve has its own times. Default: all are on the grid.

    Examples
    --------
    >>> Lists("load").values
    'load'
    """

    values: str
    times: str | None = None

    def __post_init__(self) -> None:
        names = (self.values, *(() if self.times is None else (self.times,)))
        if not all(isinstance(name, str) and name for name in names):
            raise ParameterError(
                "a layout of lists names columns", shown(names), "Pass layout=dp.Lists(values='curve')."
            )


@dataclass(frozen=True)
class Long:
    """One row per observation: the columns that say whose curve, when, and what.

    With `day`, every calendar day of a time zone is a curve of its own over the hours 0 to 24 as the clock on the wall
    shows them: on the day that clocks go forward the missing hour is bridged by the plan's rule for gaps, on the day
    that they go back values that fall on the same time of the clock are averaged. Stamps without a zone are taken
    as that clock's own. A stamp of midnight belongs to the day that it begins.

    Parameters
    ----------
    id, time, value : str, optional
        The three columns. Default: these names. Times are numbers in the unit of the grid, or timestamps with `day`.
    day : str, optional
        The name of a time zone. Default: no days; an id is one curve.

    Raises
    ------
    dpfda.errors.ParameterError
        Where names are empty or the same, or the zone is unknown.

    Examples
    --------
    >>> Long("meter", "stamp", "kwh", day="Europe/Dublin").id
    'meter'
    """

    id: str = "id"
    time: str = "time"
    value: str = "value"
    day: str | None = None

    def __post_init__(self) -> None:
        names = (self.id, self.time, self.value)
        if not all(isinstance(name, str) and name for name in names) or len(set(names)) < 3:
            cure = "Pass layout=dp.Long(id='id', time='time', value='value')."
            raise ParameterError("a long layout names three different columns", shown(names), cure)
        if self.day is not None:
            zone_of(self.day)


Layout = Lists | Long | None


def as_layout(layout: object) -> Layout:
    """``"long"`` with the names id, time and value, or a whole layout."""
    if layout is None or isinstance(layout, Lists | Long):
        return layout
    if isinstance(layout, str) and layout in ("wide", "long"):
        return Long() if layout == "long" else None
    raise ParameterError(
        "layout is 'wide', 'long' or a layout with names",
        shown(layout),
        "Pass layout=dp.Long(id='id', time='time', value='value'), or layout=dp.Lists(values='curve').",
    )


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError):
        raise ParameterError(
            "day is the name of a time zone", shown(name), "Pass day='Australia/Adelaide', or day='UTC'."
        ) from None


def wall_clock(stamps: np.ndarray, zone: str) -> np.ndarray:
    """Microseconds of UTC as microseconds of the clock on the wall in a zone.

    >>> wall_clock(np.array([0]), "Etc/GMT-2").tolist() == [2 * HOUR]
    True
    """
    rules = zone_of(zone)
    quarters, where = np.unique(stamps // QUARTER, return_inverse=True)
    offsets = np.array([_offset(q, rules) for q in quarters.tolist()], dtype=np.int64)
    return stamps + offsets[where.reshape(-1)] if stamps.size else stamps


def _offset(quarter: int, rules: ZoneInfo) -> int:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=quarter * QUARTER)
        offset = moment.astimezone(rules).utcoffset()
    except (OverflowError, ValueError):  # a year that calendars do not have
        offset = None
    return 0 if offset is None else round(offset.total_seconds() * 1_000_000)


def days_and_hours(wall: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of the day, and hours since its midnight."""
    days = wall // DAY
    return days, (wall - days * DAY) / HOUR


def wall_of(cells: Iterable[Any], zone: str, lenient: bool) -> np.ndarray:
    """Stamps of any kind (texts of ISO 8601, datetimes), each read alone, as microseconds of the clock on the wall.

    >>> (wall_of(["1970-01-01 02:00", "1970-01-01T00:00Z", None], "Etc/GMT-2", False) / HOUR).tolist()
    [2.0, 2.0, nan]
    """
    known: dict[Any, float] = {}
    found = []
    for cell in cells:
        key = cell if isinstance(cell, str) else None
        if key is None or key not in known:
            ticks = _ticks(cell, zone)
            if key is not None:
                known[key] = ticks
        else:
            ticks = known[key]
        found.append(ticks)
    wall = np.array(found, dtype=float)
    bad = np.flatnonzero(np.isinf(wall))
    if bad.size and not lenient:
        raise RecordError(
            "A cell does not hold a timestamp", bad.tolist(), "Write them as 2026-04-05T01:30:00+10:30, say."
        )
    return np.where(np.isinf(wall), np.nan, wall)


def _ticks(cell: Any, zone: str) -> float:
    """Not a number where there is no stamp, infinite where there is something else."""
    try:
        if isinstance(cell, np.datetime64):
            cell = cell.astype("datetime64[us]").item()
        if cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell == "":
            return np.nan
        moment = datetime.fromisoformat(cell.strip()) if isinstance(cell, str) else cell
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        if moment.tzinfo is not None:
            moment = moment.astimezone(zone_of(zone)).replace(tzinfo=None)
        return float((moment - datetime(1970, 1, 1)) // timedelta(microseconds=1))
    except Exception:  # whatever a cell does when it is read, it does alone
        return np.inf
