"""One line of a text file as cells, and a cell as a number.

A quote counts at the beginning of a cell only: what it holds is one cell, separators and doubled quotes included, to
the quote that closes it. None runs past the end of its line.
"""

from __future__ import annotations

import math
import re

from dpfda.core.labels import MARK, MISSING

#: How the quick reader lets a number say that it is none.
NO_NUMBER = re.compile(r"[+-]?nan\(\w*\)", re.ASCII | re.IGNORECASE)


def split(line: str, separator: str) -> tuple[list[str], bool]:
    """The cells of a line, without the quotes around them, and whether every quote is closed."""
    if '"' not in line:
        return line.split(separator), True
    found: list[str] = []
    at, closed = 0, True
    while at <= len(line):
        text = ""
        if line.startswith('"', at):
            at, closed = at + 1, False
            while (end := line.find('"', at)) >= 0:
                text += line[at:end]
                at = end + 1
                if not line.startswith('"', at):
                    closed = True
                    break
                text, at = text + '"', at + 1
            if not closed:
                return [*found, text + line[at:]], False
        end = line.find(separator, at)
        end = len(line) if end < 0 else end
        found.append(text + line[at:end])
        at = end + 1
    return found, True


def names(line: str, separator: str) -> tuple[list[str], bool]:
    """The names in a header line, without what surrounds them, and whether every quote is closed."""
    found, closed = split(line.removeprefix(MARK), separator)
    return [bare(name) for name in found], closed


def bare(cell: str) -> str:
    """A cell without its own surrounding quotes and spaces."""
    cell = cell.strip()
    return cell[1:-1].strip() if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def number(cell: str, decimal: str = ".") -> float | None:
    """A cell as a number, missing where it says so; None where it holds none."""
    cell = bare(cell)
    if cell.lower() in MISSING:
        return math.nan
    if "_" in cell or not cell.isascii():  # Python reads 1_0 as ten, and digits of every script; files do not
        return None
    if decimal == ",":
        if "." in cell:
            return None
        cell = cell.replace(",", ".")
    try:
        return float(cell)
    except ValueError:
        return math.nan if NO_NUMBER.fullmatch(cell) else None
