"""Numbers as a report writes them: as many decimals as their uncertainty has a use for, and no more."""

from __future__ import annotations

import math
from datetime import datetime

import numpy as np

MINUS = "\u2212"
#: More decimals than that are written with a power of ten.
MOST = 7


def places(width: float) -> int:
    """Decimals that show a width with two digits, or with one that is at least five.

    >>> places(0.12), places(0.07), places(3.4), places(250), places(0.0)
    (2, 2, 1, 0, 3)
    """
    if not (math.isfinite(width) and width > 0):
        return 3
    return min(max(0, -math.floor(math.log10(width / 5))), MOST + 1)


def places_for(lower: np.ndarray, upper: np.ndarray, values: np.ndarray) -> int:
    """The same for values with a band: what shows its typical width, or one more where values differ by less."""
    half = (np.asarray(upper, float) - np.asarray(lower, float)) / 2
    half = half[np.isfinite(half) & (half > 0)]
    spread = spread_places(values)
    width = places(float(np.median(half))) if half.size else spread
    return min(max(width, spread), width + 1)


def spread_places(values: np.ndarray) -> int:
    """Decimals that show how values differ: two digits of a quarter of their spread.

    >>> spread_places(np.array([0.0, 0.9])), spread_places(np.array([40.0, 400.0]))
    (2, 0)
    """
    finite = values[np.isfinite(values)]
    return places(float(np.ptp(finite)) / 4 if finite.size else 0.0)


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals.

    >>> fixed(-0.004, 2), fixed(-1234.5, 1), fixed(float("inf"), 2), fixed(1.5e-9, 8)
    ('0.00', '\u22121,234.5', 'no limit', '1.5e\u22129')
    """
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "no limit"
    if decimals > MOST or abs(value) >= 1e9:
        return short(value)
    text = f"{value:,.{decimals}f}"
    return text.replace("-", MINUS) if any(digit in text for digit in "123456789") else text.removeprefix("-")


def short(value: float, digits: int = 3) -> str:
    """A number with so many digits.

    >>> short(0.12345), short(-2), short(1.5e-9)
    ('0.123', '\u22122', '1.5e\u22129')
    """
    text = f"{value:.{digits}g}"
    head, _, power = text.partition("e")
    return (f"{head}e{int(power)}" if power else head).replace("-", MINUS)


def between(lower: float, upper: float, decimals: int) -> str:
    """A range.

    >>> between(0.2, 0.456, 2)
    '0.20 to 0.46'
    """
    return f"{fixed(lower, decimals)} to {fixed(upper, decimals)}"


def half_widths(lower: np.ndarray, upper: np.ndarray) -> str:
    """How wide a band is, to either side of its middle.

    >>> half_widths(np.array([0.0, 0.0]), np.array([0.2, 0.26])), half_widths(np.zeros(2), np.full(2, 3.0))
    ('± 0.10 to 0.13', '± 1.5')
    """
    half = (upper - lower) / 2
    if not np.isfinite(half).all():
        return "without limit"
    low, high = float(half.min()), float(half.max())
    decimals = places(low if low > 0 else high)
    ends = fixed(low, decimals), fixed(high, decimals)
    return f"± {ends[0]}" if ends[0] == ends[1] else f"± {ends[0]} to {ends[1]}"


def percent(level: float) -> str:
    """A probability in percent.

    >>> percent(0.95)
    '95 %'
    """
    return f"{round(100 * level, 6):g} %"


def moment(created: str) -> str:
    """A time of a release, as people write it.

    >>> moment("2026-11-16T17:34:05Z"), moment(""), moment("some day")
    ('2026-11-16 17:34 UTC', 'at an unknown time', 'some day')
    """
    try:
        return f"{datetime.strptime(created, '%Y-%m-%dT%H:%M:%SZ'):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return created or "at an unknown time"
