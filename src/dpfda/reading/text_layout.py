"""How a text file is laid out, by its first line: what parts its cells, whether they are names, how many there are.

Where that line may be a record, and no record may decide anything, it is not looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpfda.core.errors import FileError, ParameterError, RecordError
from dpfda.reading import cells
from dpfda.reading.dialect import LONGEST_MARK, SEPARATORS, Dialect
from dpfda.reading.lines import LONGEST_LINE, MARK, Text, decoded
from dpfda.reading.places import Place

#: More than any record has.
MOST_COLUMNS = 100_000
SPLIT = "Write one row per record."


@dataclass(frozen=True)
class TextLayout:
    """How a file is laid out: what parts its cells, its column names if it has them, its width, its writing."""

    delimiter: str
    names: list[str] | None
    width: int
    returns: bool = False  # lines end in carriage returns alone
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def columns(self) -> list[str]:
        """Names of the columns, by their numbers where they have none."""
        return self.names or [f"f{i}" for i in range(self.width)]


@dataclass(frozen=True)
class Beginning:
    """The first line of a file: its cells, and how the file is written."""

    delimiter: str
    cells: list[str]
    closed: bool
    returns: bool
    encoding: str


def layout(
    place: Place, header: bool | None, lenient: bool, width: int | None, text: Dialect | None = None
) -> TextLayout:
    """The separator from the header line or the file's ending, names and width from its first line.

    With `header` None the first line must speak for itself: names if no cell is a number, a curve if
    all are (and they do not merely count). Lenient reading must not let a record decide, so it asks,
    and takes the width of a file without names from the plan.
    """
    text = Dialect() if text is None else text
    if header is None and lenient:
        raise ParameterError(
            "with invalid='center' a text file must say whether it begins with names",
            "no word",
            "Pass header=True to dp.read.",
        )
    found = beginning(place, header, lenient, width, text)
    if isinstance(found, TextLayout):
        return found
    first = found.cells
    if not found.closed:
        raise FileError(f"{place.name!r} begins with a line with a quote that is not closed. Close it.")
    check_width(place, first)
    if len(first) == 1 and width != 1:
        raise FileError(
            f"{place.name!r} has one column when split at {SEPARATORS[found.delimiter]}, and a record here has "
            f"{'several' if width is None else width} values. Pass separator=';', say; cells are parted by commas, "
            "semicolons, tabs or bars."
        )
    if header is None:
        header = looks_like_names(first, text.decimal)
    names = first if header else None
    if names:
        check_names(names)
    return TextLayout(found.delimiter, names, len(first), found.returns, text.decimal, found.encoding)


def check_width(place: Place, first: list[str]) -> None:
    """Refuse more columns than any record has."""
    if len(first) > MOST_COLUMNS:
        raise FileError(f"{place.name!r} has more than {MOST_COLUMNS:,} columns. Write curves by their observations.")


def check_names(names: list[str]) -> None:
    """Refuse names that repeat."""
    if len(set(names)) < len(names):
        raise FileError(
            "Column names repeat; every column needs its own. Pass header=False to dp.read if there are none."
        )


def beginning(
    place: Place, header: bool | None, lenient: bool, width: int | None, text: Dialect
) -> Beginning | TextLayout:
    """The first line; or the layout at once, where that line is a record that decides nothing, or there is none."""
    blind = header is False and lenient and width is not None
    with place.unpacked() as file:
        start = file.read(LONGEST_MARK)
        encoding = text.read_in(None if blind else start, place.name)
        line, returns = (b"", False) if blind else Text(file, encoding, start).first_line()
    if header is False and width is not None and not line:
        return TextLayout(text.parting(place.suffix, None), None, width, decimal=text.decimal, encoding=encoding)
    words = _header(place, line, encoding, text)
    delimiter = text.parting(place.suffix, None if lenient and header is False else words)
    return Beginning(delimiter, *cells.names(words, delimiter), returns, encoding)


def _header(place: Place, line: bytes, encoding: str, text: Dialect) -> str:
    """The first line as text, if it is some."""
    if len(line) > LONGEST_LINE:
        raise FileError(f"{place.name!r} begins with a line of more than {LONGEST_LINE:,} characters. {SPLIT}")
    found = decoded(line, encoding)
    if "\x00" in found or "\ufffd" in found:
        cure = "Save it as UTF-8, or pass encoding='cp1252', say." if text.encoding is None else "Check encoding."
        raise FileError(f"{place.name!r} does not begin with text in {encoding.upper()}. {cure}")
    if not found.removeprefix(MARK.decode()).strip():
        raise RecordError(f"The file {place.name!r} is empty or begins with an empty line", cure=SPLIT)
    return found


def looks_like_names(first: list[str], decimal: str) -> bool:
    numbers = [cells.number(cell, decimal) for cell in first]
    known = [x for x in numbers if x is not None and not math.isnan(x)]
    if not known:
        return True
    with np.errstate(all="ignore"):  # infinite ones do not count
        steps = np.diff(known)
        rises = len(known) > 2 and float(steps.min()) > 0
        counts = rises and (len(known) > 5 or float(np.ptp(steps)) < 1e-6 * float(steps.max()))
    if None in numbers or counts:
        raise ParameterError(
            "a text file must say whether it begins with names",
            "a first line that could be either",
            "Pass header=True to dp.read.",
        )
    return False


def surely_names(first: list[str], decimal: str) -> bool:
    """Whether a first line of which nobody said that it is names is several cells without a number or a gap, but for
    an index that has no name."""
    numbers = [cells.number(cell, decimal) for cell in first]
    return len(first) > 1 and None in numbers and all(found is None for found in numbers[not first[0] :])
