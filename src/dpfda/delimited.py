"""Text files of numbers: a quick reader, and a careful one that takes over where it balks.

The quick reader treats every cell as a number and knows no quoting, so no record can change how
another is read. At the first cell it cannot read, the careful reader goes on from the same row,
one physical line at a time: it says where the trouble is, or makes the record missing.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from .errors import FileError, ParameterError, RecordError, shown

CURE = "Name the value columns, e.g. columns='hh*', or repair the cell."
MISSING = ("", "na", "n/a", "nan", "null")


@dataclass(frozen=True)
class Layout:
    """How a file is laid out: its delimiter, its column names if it has them, its width."""

    delimiter: str
    names: list[str] | None
    width: int


def layout(path: Path, header: bool | None, lenient: bool) -> Layout:
    """From the first line of the file.

    With `header` None a line of numbers is a curve, unless it merely counts its columns
    (0, 1, 2, ... or 1, 2, 3, ...). Lenient reading must not let a record decide, so it asks.
    """
    if header is None and lenient:
        raise ParameterError(
            "with invalid='center' a text file must say whether it begins with names", "no word", "Pass header=True."
        )
    delimiter = "\t" if path.suffix == ".tsv" else ","
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = _cells(file.readline(), delimiter)
    except UnicodeDecodeError:
        raise FileError(f"{path.name!r} is not a text file in UTF-8.") from None
    if not first:
        raise RecordError(f"The file {path.name!r} is empty", cure="Write one row per curve.")
    if header is None:
        counts = [[str(i + start) for i in range(len(first))] for start in (0, 1)]
        numbers = all(_number(cell) is not None for cell in first)
        header = not numbers or (len(first) > 2 and first in counts)
    names = [name.strip() for name in first] if header else None
    if names and len(set(names)) < len(names):
        raise FileError("Column names repeat; every column needs its own.")
    return Layout(delimiter, names, len(first))


def rows(path: Path, layout: Layout, chosen: list[str] | None, lenient: bool, batch_bytes: int) -> Iterator[np.ndarray]:
    """Batches of the chosen columns; every record is read the same way whatever stands around it."""
    done, balked = 0, False
    quick = _quick(path, layout, chosen, batch_bytes)
    while not balked:
        try:
            batch = next(quick)
        except StopIteration:
            return
        except pa.ArrowException:  # its message quotes the cell, so it must not become our error's context
            balked = True
        else:
            yield batch
            done += len(batch)
    yield from _careful(path, layout, chosen, lenient, skip=done)


def _quick(path: Path, layout: Layout, chosen: list[str] | None, batch_bytes: int) -> Iterator[np.ndarray]:
    names = layout.names or [f"f{i}" for i in range(layout.width)]
    wanted = chosen or names
    stream = pyarrow.csv.open_csv(
        path,
        pyarrow.csv.ReadOptions(
            block_size=batch_bytes, column_names=names, skip_rows=1 if layout.names else 0, use_threads=False
        ),
        pyarrow.csv.ParseOptions(delimiter=layout.delimiter, quote_char=False),
        pyarrow.csv.ConvertOptions(
            column_types={name: pa.float64() for name in wanted},
            include_columns=wanted,
            null_values=["", "NA", "N/A", "NaN", "nan", "null", "NULL"],
        ),
    )
    with stream:
        for batch in stream:
            if batch.num_rows:
                yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])


def _careful(path: Path, layout: Layout, chosen: list[str] | None, lenient: bool, skip: int) -> Iterator[np.ndarray]:
    places = [layout.names.index(name) for name in chosen] if layout.names and chosen else list(range(layout.width))
    block: list[list[float]] = []
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        if layout.names:
            file.readline()
        lines = (line for line in file if line.strip("\r\n"))
        for index, line in enumerate(lines):
            if index < skip:
                continue
            block.append(_record(index, _cells(line, layout.delimiter), places, layout, lenient))
            if len(block) == 4096:
                yield np.array(block)
                block = []
    if block:
        yield np.array(block)


def _record(index: int, cells: list[str], places: list[int], layout: Layout, lenient: bool) -> list[float]:
    if len(cells) != layout.width:
        if lenient:
            return [math.nan] * len(places)
        raise RecordError(
            f"A row has {len(cells)} cells and the file has {layout.width} columns",
            [index],
            "Every curve needs one value per grid point.",
        )
    values = [_number(cells[place]) for place in places]
    if None in values and not lenient:
        place = places[values.index(None)]
        column = shown(layout.names[place]) if layout.names else str(place + 1)
        raise RecordError("A cell does not hold a number", [index], CURE, column=column)
    return [math.nan if value is None else value for value in values]


def _cells(line: str, delimiter: str) -> list[str]:
    """The cells of one physical line; a line that cannot be split is one unusable cell."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return ["?"]


def _number(cell: str) -> float | None:
    text = cell.strip()
    if text.lower() in MISSING:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return None
