"""Columns of a file without its values: names and kinds, for somebody who chooses among them.

Nothing here returns, raises or logs a cell. A first line that may be a record is not shown as names: whoever calls asks
whether it is, and says so.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from typing import Final

from dpfda.core.errors import FileError, ParameterError
from dpfda.reading import cells, delimited, parquet, text_layout
from dpfda.reading.dialect import Dialect
from dpfda.reading.facts import SourceFacts
from dpfda.reading.lakes import check_alike
from dpfda.reading.places import PARQUET, Place, expanded
from dpfda.reading.tables import DATE, NUMBER, TEXT, TRUTH, UNKNOWN, WHOLE, kind_of_type
from dpfda.reading.text_layout import Beginning, TextLayout

#: Bytes and rows of a text file by which its kinds are judged, and the longest cell that is looked at.
FIRST_BYTES, FIRST_ROWS, LONGEST_CELL = 1 << 16, 500, 64
#: Days as people write them, beyond those of ISO 8601.
DAYS: Final = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T]\d{1,2}:\d{2}(:\d{2})?)?", re.ASCII)
#: Columns of numbers or days that have to speak for names where there are texts too; words that stand for no number.
SURE = 2
MISSING: Final = {
    "na", "nd", "nan", "null", "none", "nil", "unknown", "missing", "refused", "error", "inf", "infinity", "bdl", "bld",
    "lod", "loq", "trace", "positive", "negative", "lost", "withdrawn", "deceased", "censored", "invalid", "pending",
}  # fmt: skip
INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True)
class FileColumns:
    """Names and kinds of the columns of a file, and no value.

    Parameters
    ----------
    header : bool or None
        Whether a text file begins with names; None where its first line could be names or a record: ask, and say it in
        ``columns_of(..., header=True)``. Parquet files have names.
    names : tuple of str or None
        The names as they are spelt, hostile ones too; None where there are none, or where they may be values.
    kinds : tuple of str
        What each column holds, in a word: "number", "whole number", "text", "date", "true or false", "list of numbers"
        or "unknown". Of text files by the first rows.
    folders : tuple of str
        Names of columns that are folders called ``name=value``.
    files : int
        How many files there are: these are the columns of the first.

    Examples
    --------
    >>> FileColumns(True, ("age", "sick"), ("number", "true or false")).kinds[0]
    'number'
    """

    header: bool | None
    names: tuple[str, ...] | None
    kinds: tuple[str, ...]
    folders: tuple[str, ...] = ()
    files: int = 1


def columns_of(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
) -> FileColumns:
    """Names and kinds of the columns of a file, a folder or a pattern, without a value.

    Parameters
    ----------
    path : path, or sequence of paths
        CSV, TSV, text (also .gz and .zst) or Parquet, as :func:`dpfda.read` takes them.
    header : bool, optional
        Whether a text file begins with names. Default: as its first line says, where that is sure.
    separator, decimal, encoding : optional
        How text files are written, as for :func:`dpfda.read`.

    Returns
    -------
    FileColumns
        Whether there are names, the names, and what each column holds.

    Raises
    ------
    dpfda.errors.FileError
        Where there is no such file, or it cannot be read; no error quotes what a file holds.

    Examples
    --------
    >>> import dpfda as dp, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age,town,since\\n41.5,Rome,2019-05-01\\n12,Oslo,2020-01-31\\n")
    ...     found = dp.reading.columns_of(file)
    >>> dict(zip(found.names, found.kinds))
    {'age': 'number', 'town': 'text', 'since': 'date'}
    """
    text = Dialect(separator, decimal, encoding)
    places = expanded(path)
    check_alike([(place.name, place.partition) for place in places])
    first, folders = places[0], tuple(name for name, _ in places[0].partition)
    if first.suffix in PARQUET:
        schema = parquet.schema(first)
        kinds = tuple(kind_of_type(kind) for kind in schema.types)
        return FileColumns(True, tuple(schema.names), kinds, folders, len(places))
    SourceFacts(first.path, header=False).names()  # says what is no text file
    sure, names, kinds = _of_text(first, header, text)
    return FileColumns(sure, names, kinds, folders, len(places))


def _of_text(
    place: Place, header: bool | None, text: Dialect
) -> tuple[bool | None, tuple[str, ...] | None, tuple[str, ...]]:
    """Whether there are names, the names, and kinds."""
    first = text_layout.beginning(place, header, False, None, text)
    assert isinstance(first, Beginning)  # it is a layout only where no record may decide anything
    if not first.closed:
        raise FileError(f"{place.name!r} begins with a line with a quote that is not closed. Close it.")
    text_layout.check_width(place, first.cells)
    begins = header is not False and (header is True or _may_be_names(first.cells, text.decimal))
    names = first.cells if begins else None
    written = TextLayout(first.delimiter, names, len(first.cells), first.returns, text.decimal, first.encoding)
    kinds, words = _kinds(place, written)
    again = any(map(_stands_in, first.cells, words))  # as codes for no value do
    if header is None and begins and (again or not _surely_names(first.cells, kinds, text.decimal)):
        return None, None, kinds
    if names is not None:
        text_layout.check_names(names)
    return begins, None if names is None else tuple(names), kinds


def _may_be_names(first: list[str], decimal: str) -> bool:
    try:
        return text_layout.looks_like_names(first, decimal)
    except ParameterError:
        return True


def _surely_names(first: list[str], kinds: tuple[str, ...], decimal: str) -> bool:
    """Whether a first line is names, as `dpfda check` is sure of it, and the rows below are of another kind.

    Texts over texts may be a record over others; so may a line that has a day where days are below it.
    """
    if not text_layout.surely_names(first, decimal) or len(set(first)) < len(first):
        return False
    typed = [cell for cell, kind in zip(first, kinds, strict=True) if kind not in (TEXT, UNKNOWN)]
    if len(typed) < min(SURE, len(first)):
        return False
    return all(_is_a_name(cell, decimal) for cell in typed)


def _is_a_name(cell: str, decimal: str) -> bool:
    """Whether a cell above numbers or days can only be a name: no number with a sign, a unit or a word for none."""
    bare = cells.bare(cell)
    begins = bool(bare) and (bare[0].isalpha() or bare[0] == "_")
    return begins and bare.casefold() not in MISSING and _kind(cell, decimal) == TEXT


def _stands_in(cell: str, words: set[str]) -> bool:
    return cells.bare(cell).casefold() in words


def _kinds(place: Place, written: TextLayout) -> tuple[tuple[str, ...], list[set[str]]]:
    """What most cells of each column are, by the first rows; and the words that stand in each."""
    found: list[Counter[str]] = [Counter() for _ in range(written.width)]
    words: list[set[str]] = [set() for _ in range(written.width)]
    lines = next((block for block in delimited.line_blocks(place, written, FIRST_BYTES) if block is not None), b"")
    for line in lines.decode("utf-8", "replace").split("\n")[:FIRST_ROWS]:
        row, closed = cells.split(line, written.delimiter)
        if closed and len(row) == written.width:
            for counts, known, cell in zip(found, words, row, strict=True):
                kind = _kind(cell, written.decimal)
                counts[kind] += 1
                if kind == TEXT:
                    known.add(cells.bare(cell).casefold())
    return tuple(map(_most, found)), words


def _most(counts: Counter[str]) -> str:
    """The kind of most cells; whole numbers among others are numbers. Missing cells say nothing."""
    del counts[UNKNOWN]
    if counts[NUMBER]:
        counts[NUMBER] += counts.pop(WHOLE, 0)
    return counts.most_common(1)[0][0] if counts.total() else UNKNOWN


def _kind(cell: str, decimal: str) -> str:
    """What one cell is; nothing is known of a missing one."""
    cell = cells.bare(cell)
    if len(cell) > LONGEST_CELL:
        return TEXT
    number = cells.number(cell, decimal)
    if number is not None:
        return UNKNOWN if isnan(number) else WHOLE if INTEGER.fullmatch(cell) else NUMBER
    if cell.lower() in ("true", "false"):
        return TRUTH
    return DATE if DAYS.fullmatch(cell) or _is_iso(cell) else TEXT


def _is_iso(cell: str) -> bool:
    try:
        datetime.fromisoformat(cell)
    except ValueError:
        return False
    return True
