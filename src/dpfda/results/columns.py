"""The columns of a release's table: their names, and their text as CSV, which no spreadsheet runs as a formula."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpfda.core.errors import printable
from dpfda.spaces.grid import AnyGrid

#: Columns of every table of a release; an axis of such a name gets a number.
COLUMNS = ("value", "lower", "upper", "group", "component", "coefficient", "at_risk")
#: What separates cells or ends lines anywhere, and what makes a formula of a cell, also in its wide form.
SEPARATORS, FORMULAS = str.maketrans(',;|"\t\r\n', "   '   "), tuple("=+-@%＝＋－＠")


def csv_of(columns: Mapping[str, np.ndarray]) -> str:
    """Columns as CSV text."""
    lines = [",".join(plain_cell(name) for name in columns)]
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return "\n".join(lines + [",".join(map(_cell, row)) for row in rows]) + "\n"


def _cell(value: object) -> str:
    return plain_cell(value) if isinstance(value, str) else repr(value)


def axis_names(grid: AnyGrid) -> list[str]:
    """Names of the axes as columns of a table, all different."""
    found: list[str] = []
    for axis in grid.axes:
        name, number = axis.name, 2
        while name in COLUMNS or name in found:
            name, number = f"{axis.name} {number}", number + 1
        found.append(name)
    return found


def plain_cell(text: str) -> str:
    """A name that no spreadsheet will run as a formula, or split in two.

    >>> plain_cell("=1+1"), plain_cell(' "-2'), plain_cell("north, south")
    ("'=1+1", "' '-2", 'north  south')
    """
    return no_formula(printable(text.translate(SEPARATORS)))


def no_formula(text: str) -> str:
    """A text that no spreadsheet will run as a formula; commas and quotes stay."""
    return f"'{text}" if text.lstrip(" '\"\u00a0\u3000\t\r\n")[:1] in FORMULAS else text
