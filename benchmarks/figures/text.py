"""How numbers and tables are written on a page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: A table as it is kept: heads and rows, all of them texts.
Table = dict[str, Any]


#: A cell that is a number, with its unit or its error.
NUMERIC = re.compile(r"(\*\*)?[\d.,]+( ?(%|°|MB|s|us|± [\d.e-]+))?(\*\*)?|-?")


def number(value: float, digits: int = 2) -> str:
    """So many significant digits, without a power of ten as long as people read it easily."""
    if value == 0:
        return "0"
    places = max(0, digits - 1 - _exponent(value, digits))
    if places > 7:
        return f"{value:.{digits - 1}g}"
    return f"{round(value, digits - 1 - _exponent(value, digits)):,.{places}f}"


def _exponent(value: float, digits: int) -> int:
    """The power of ten of the first digit, once the number is rounded."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def percent(share: float, digits: int = 0) -> str:
    """A share as per cent."""
    return f"{100 * share:.{digits}f} %"


def span(values: Iterable[float], digits: int = 2) -> str:
    """The least and the greatest of some numbers."""
    found = list(values)
    low, high = number(min(found), digits), number(max(found), digits)
    return low if low == high else f"{low} to {high}"


def held(value: float, limit: float, least: bool = False) -> str:
    """A number that was wanted to be at most so large, or at least: bold where it is not."""
    missed = value < limit if least else value > limit
    return f"**{number(value)}**" if missed else number(value)


def listed(words: Iterable[str]) -> str:
    """One, two and three."""
    *most, last = list(words)
    return f"{', '.join(most)} and {last}" if most else last


def geometric(values: Iterable[float]) -> float:
    """A geometric mean."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table whose cells are texts; numbers among them are written with two digits."""
    return {"head": list(head), "rows": [[_cell(cell) for cell in row] for row in rows]}


def markdown(found: Table) -> str:
    """A table as pages hold it: columns of numbers to the right."""
    columns = list(zip(*found["rows"], strict=True))
    right = [bool(column) and any(column) and all(map(NUMERIC.fullmatch, column)) for column in columns]
    rows = [found["head"], ["---:" if numeric else "---" for numeric in right], *found["rows"]]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(cell: Any) -> str:
    if isinstance(cell, bool) or cell is None:
        return {None: "-", True: "yes", False: "no"}[cell]
    if isinstance(cell, int):
        return f"{cell:,}"
    return (number(cell) if isinstance(cell, float) else str(cell)).replace("|", "\\|")
