"""Ticks that fit an axis: every six hours over a day, every ten years of age, few enough to be read at any size."""

from __future__ import annotations

import re

from dpfda.results.pictures import ticker
from dpfda.spaces.grid import Grid

#: Steps that people count in, by what is counted.
STEPS: dict[str, tuple[float, ...]] = {
    "second": (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600),
    "minute": (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440),
    "hour": (1, 2, 3, 6, 12, 24, 48, 72, 168),
    "day": (1, 2, 7, 14, 30, 60, 90, 180, 365),
    "week": (1, 2, 4, 13, 26, 52, 104),
    "month": (1, 2, 3, 6, 12, 24, 60, 120),
    "year": (1, 2, 5, 10, 20, 50, 100),
    "degree": (1, 2, 5, 10, 15, 30, 45, 60, 90, 180, 360),
}
#: How people write them.
SHORT = {
    "s": "second", "sec": "second", "secs": "second", "min": "minute", "mins": "minute", "h": "hour", "hr": "hour",
    "hrs": "hour", "d": "day", "wk": "week", "wks": "week", "mo": "month", "mos": "month", "yr": "year", "yrs": "year",
    "y": "year", "a": "year", "°": "degree", "deg": "degree",
}  # fmt: skip
#: More ticks than that are never needed.
MOST = 7


def counted(axis: Grid) -> str | None:
    """What an axis counts, by its unit or else by its name; None where that is nothing in particular.

    >>> counted(Grid([0, 24], name="time", unit="h")), counted(Grid([0, 24], name="hour of the day"))
    ('hour', 'hour')
    >>> counted(Grid([0, 1], name="dose", unit="mg")) is None
    True
    """
    name, _, unit = axis.name.partition("(")
    if unit := (axis.unit or unit.strip(" )")).strip(" .").lower():
        return _kind(unit, SHORT)
    return next((kind for word in re.findall(r"\w+", name.lower()) if (kind := _kind(word, {}))), None)


def _kind(word: str, short: dict[str, str]) -> str | None:
    found = short.get(word, word.removesuffix("s"))
    return found if found in STEPS else None


def step(axis: Grid, span: float, most: int) -> float | None:
    """The smallest customary step with at most so many intervals; None where no step is customary.

    >>> [step(Grid([0, 24], unit="h"), 24, most) for most in (4, 5, 7)]
    [6, 6, 6]
    """
    steps = STEPS.get(counted(axis) or "", ())
    if not steps or span < 2 * steps[0]:
        return None
    return next((each for each in steps if span / each <= most + 1e-9 and span >= each), None)


def locator(axis: Grid | None, span: float, dense: int, loose: int) -> ticker.Locator:
    """Where the ticks of an axis are: customary steps may stand as densely as they can be read, others loosely."""
    customary = None if axis is None else step(axis, span, max(2, min(dense, MOST)))
    if customary is not None:
        return ticker.MultipleLocator(customary)
    return ticker.MaxNLocator(nbins=max(2, min(loose, MOST)), steps=[1, 2, 2.5, 5, 10])


def plain(value: float, _: object = None) -> str:
    """A number beside a tick, written out: no common factor stands elsewhere.

    >>> plain(-0.25), plain(2e-05), plain(2e9)
    ('\u22120.25', '2e\u22125', '2e9')
    """
    text = f"{0.0 if abs(value) < 1e-300 else value:.8g}"
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), text).replace("-", "\u2212")
