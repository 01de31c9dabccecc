"""Numbers along an axis: every six hours over a day, every ten years of age, else round steps; few of them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

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
#: Round steps, in powers of ten.
ROUND = (1, 2, 2.5, 5, 10)
#: More ticks than that are never needed.
MOST = 7


def counted(name: str, unit: str = "") -> str | None:
    """What an axis counts, by its unit or else by its name; None where that is nothing in particular.

    >>> counted("time", "h"), counted("hour of the day"), counted("time (min)")
    ('hour', 'hour', 'minute')
    >>> counted("dose", "mg") is None
    True
    """
    words, _, bracket = name.partition("(")
    if found := (unit or bracket.strip(" )")).strip(" .").lower():
        return _kind(found, SHORT)
    return next((kind for word in re.findall(r"\w+", words.lower()) if (kind := _kind(word, {}))), None)


def _kind(word: str, short: dict[str, str]) -> str | None:
    found = short.get(word, word.removesuffix("s"))
    return found if found in STEPS else None


def step(kind: str | None, span: float, most: int) -> float | None:
    """The smallest customary step with at most so many intervals; None where no step is customary.

    >>> [step("hour", 24, most) for most in (4, 5, 7)]
    [6, 6, 6]
    """
    steps = STEPS.get(kind or "", ())
    if not steps or span < 2 * steps[0]:
        return None
    return next((each for each in steps if span / each <= most + 1e-9 and span >= each), None)


def nice_ticks(low: float, high: float, most: int = MOST) -> list[float]:
    """Round numbers between two, at most so many.

    >>> nice_ticks(0, 1.13, 6), nice_ticks(-3, 41)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0, 40.0])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    scale = 10.0 ** math.floor(math.log10(span / most))
    for each in (*ROUND, 20, 25):
        if len(found := _multiples(low, high, each * scale)) <= most:
            return found
    return [low, high]


def axis_ticks(low: float, high: float, name: str = "", unit: str = "", most: int = MOST) -> list[float]:
    """Customary numbers where an axis counts something that has them, else round ones.

    >>> axis_ticks(0, 24, "hour", "h"), axis_ticks(18, 90, "age (years)")
    ([0.0, 6.0, 12.0, 18.0, 24.0], [20.0, 40.0, 60.0, 80.0])
    """
    customary = step(counted(name, unit), high - low, most - 1)
    return nice_ticks(low, high, most) if customary is None else _multiples(low, high, customary)


def _multiples(low: float, high: float, by: float) -> list[float]:
    edge = 1e-9 * (high - low)
    first, last = math.ceil((low - edge) / by), math.floor((high + edge) / by)
    return [float(f"{i * by:.12g}") for i in range(first, last + 1)]


def plain(value: float, _: object = None) -> str:
    """A number beside a tick, written out: no common factor stands elsewhere.

    >>> plain(-0.25), plain(2e-05), plain(2e9)
    ('\u22120.25', '2e\u22125', '2e9')
    """
    text = f"{0.0 if abs(value) < 1e-300 else value:.8g}"
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), text).replace("-", "\u2212")


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """The numbers of an axis, all with as many decimals as one of them needs.

    >>> tick_texts([0.0, 0.5, 1.0]), tick_texts([-100.0, 0.0])
    (['0.0', '0.5', '1.0'], ['\u2212100', '0'])
    """
    texts = [plain(tick) for tick in ticks]
    if any("e" in text for text in texts):
        return texts
    decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
    return [f"{tick + 0.0:.{decimals}f}".replace("-", "\u2212") for tick in ticks]
