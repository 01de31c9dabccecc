"""Text files of numbers: a quick reader, and a careful one that takes over where it balks.

Both split a physical line at every delimiter and know no quoting across cells, so no record can
change how another is read. At the first line the quick reader cannot take, the careful one goes on
from the same row: it says where the trouble is, or makes the record missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.csv

from .errors import FileError, ParameterError, RecordError
from .labels import MARK
from .places import Place

CURE = "Name the value columns, e.g. columns='hh*', or repair the cell."
#: Characters of a line, and columns: more than any record has.
LONGEST_LINE, MOST_COLUMNS = 1 << 24, 100_000
SPLIT = "Write one row per record."
MISSING = ("", "na", "n/a", "nan", "null")


@dataclass(frozen=True)
class Layout:
    """How a file is laid out: its delimiter, its column names if it has them, its width."""

    delimiter: str
    names: list[str] | None
    width: int


def layout(path: Place, header: bool | None, lenient: bool, width: int | None) -> Layout:
    """The delimiter from the file's ending, names and width from its first line.

    With `header` None the first line must speak for itself: names if no cell is a number, a curve if
    all are (and they do not merely count). Lenient reading must not let a record decide, so it asks,
    and takes the width of a file without names from the plan.
    """
    if header is None and lenient:
        raise ParameterError(
            "with invalid='center' a text file must say whether it begins with names", "no word", "Pass header=True."
        )
    delimiter = "\t" if path.suffix == ".tsv" else ","
    if lenient and not header and width is not None:
        return Layout(delimiter, None, width)
    with path.text() as file:
        line = file.readline(LONGEST_LINE + 1).removeprefix(MARK)
    if len(line) > LONGEST_LINE:
        raise FileError(f"{path.name!r} begins with a line of more than {LONGEST_LINE:,} characters. {SPLIT}")
    if "\x00" in line or "\ufffd" in line:
        raise FileError(f"{path.name!r} does not begin with text in UTF-8. Save it as UTF-8.")
    first = _cells(line, delimiter)
    if not line.strip():
        raise RecordError(
            f"The file {path.name!r} is empty or begins with an empty line", cure="Write one row per record."
        )
    if len(first) > MOST_COLUMNS:
        raise FileError(f"{path.name!r} has more than {MOST_COLUMNS:,} columns. Write curves by their observations.")
    if len(first) == 1 and width != 1:
        raise FileError(
            f"{path.name!r} has one column when split at {'tabs' if delimiter == chr(9) else 'commas'}, and a record "
            f"here has {'several' if width is None else width} values. "
            "Separate them with commas (.csv) or tabs (.tsv), with a point for decimals."
        )
    if header is None:
        header = _looks_like_names(first)
    names = first if header else None
    if names and len(set(names)) < len(names):
        raise FileError("Column names repeat; every column needs its own. Pass header=False if there are none.")
    return Layout(delimiter, names, len(first))


def _looks_like_names(cells: list[str]) -> bool:
    numbers = [_number(cell) for cell in cells]
    known = [x for x in numbers if x is not None and not math.isnan(x)]
    if not known:
        return True
    with np.errstate(all="ignore"):  # infinite ones do not count
        steps = np.diff(known)
        counts = len(known) > 2 and float(steps.min()) > 0 and float(np.ptp(steps)) < 1e-6 * float(steps.max())
    if None in numbers or counts:
        raise ParameterError(
            "a text file must say whether it begins with names",
            "a first line that could be either",
            "Pass header=True.",
        )
    return False


#: A batch: numbers, one row per record, and the columns that were asked for as texts.
Batch = tuple[np.ndarray, list[np.ndarray]]


def rows(
    place: Place, layout: Layout, numbers: list[str] | None, texts: Sequence[str], lenient: bool, batch_bytes: int
) -> Iterator[Batch]:
    """Batches of the chosen columns; every record is read the same way whatever stands around it."""
    done, balked = 0, False
    quick = _quick(place, layout, numbers, texts, batch_bytes)
    while not balked:
        try:
            batch = next(quick)
        except StopIteration:
            return
        except pa.ArrowException:  # its message quotes the cell, so it must not become our error's context
            balked = True
        else:
            yield batch
            done += len(batch[0])
    yield from _careful(place, layout, numbers, texts, lenient, done)


def _quick(
    place: Place, layout: Layout, numbers: list[str] | None, texts: Sequence[str], batch_bytes: int
) -> Iterator[Batch]:
    names = layout.names or [f"f{i}" for i in range(layout.width)]
    wanted = numbers or names
    kinds = {name: pa.float64() for name in wanted} | {name: pa.string() for name in texts}
    with (
        place.open() as opened,
        pyarrow.csv.open_csv(
            opened if place.remote else place.path,
            pyarrow.csv.ReadOptions(
                block_size=batch_bytes, column_names=names, skip_rows=1 if layout.names else 0, use_threads=False
            ),
            pyarrow.csv.ParseOptions(delimiter=layout.delimiter, quote_char=False, ignore_empty_lines=layout.width > 1),
            pyarrow.csv.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                null_values=["", "NA", "N/A", "NaN", "nan", "null", "NULL"],
            ),
        ) as stream,
    ):
        for batch in stream:
            if batch.num_rows:
                columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                yield np.column_stack(columns[: len(wanted)]), columns[len(wanted) :]


def _careful(
    place: Place, layout: Layout, numbers: list[str] | None, texts: Sequence[str], lenient: bool, skip: int
) -> Iterator[Batch]:
    places = [layout.names.index(name) for name in numbers] if layout.names and numbers else list(range(layout.width))
    aside = [(layout.names or []).index(name) for name in texts]
    block: list[list[float]] = []
    words: list[list[str | None]] = []
    with place.text() as file:
        if layout.names:
            file.readline(LONGEST_LINE + 1)
        # In a file of one column an empty line is a record without a value; elsewhere it is nothing.
        whole = _lines(file, layout, lenient)
        lines = (line for line in whole if layout.width == 1 or line.removeprefix(MARK).strip("\r\n"))
        for index, marked in enumerate(lines):
            line = marked.removeprefix(MARK)  # wherever it stands, so that no place is special
            if index < skip:
                continue
            block.append(_record(index, _cells(line, layout.delimiter), places, layout, lenient))
            if aside:
                raw = marked.rstrip("\r\n").split(layout.delimiter)  # as the quick reader sees it
                words.append([_label_cell(raw, p, layout.width) for p in aside])
            if len(block) == 4096:
                yield _batch(block, words, len(aside))
                block, words = [], []
    if block:
        yield _batch(block, words, len(aside))


def _lines(file: IO[str], layout: Layout, lenient: bool) -> Iterator[str]:
    """Line after line; one that is too long to be a record is an error, or one that is unusable, alone."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            if not lenient:
                raise RecordError(f"A line has more than {LONGEST_LINE:,} characters", cure=SPLIT)
            while line and line[-1] not in "\r\n":
                line = file.readline(LONGEST_LINE)
            line = layout.delimiter * layout.width  # one cell too many
        yield line


def _batch(block: list[list[float]], words: list[list[str | None]], aside: int) -> Batch:
    return np.array(block), [np.array([row[i] for row in words], dtype=object) for i in range(aside)]


def _label_cell(cells: list[str], place: int, width: int) -> str | None:
    """The label of a row, also of one with too many or too few cells where it stands first or last."""
    if len(cells) == width or place == 0:
        return cells[place]
    return cells[-1] if place == width - 1 else None


def _record(index: int, cells: list[str], places: list[int], layout: Layout, lenient: bool) -> list[float]:
    if len(cells) != layout.width:
        if lenient:
            return [math.nan] * len(places)
        raise RecordError(
            f"A row has {len(cells)} cells and the first line has {layout.width}",
            [index],
            "Every record needs the same number of values; cells must not hold the delimiter.",
        )
    values = [_number(cells[place]) for place in places]
    if None in values and not lenient:
        place = places[values.index(None)]
        # By its number: a name may be a cell of a first record that was taken for names.
        raise RecordError("A cell does not hold a number", [index], CURE, column=f"{place + 1} (counted from 1)")
    return [math.nan if value is None else value for value in values]


def _cells(line: str, delimiter: str) -> list[str]:
    """The cells of one physical line, each without its own surrounding quotes and spaces."""
    return [_bare(cell.strip()) for cell in line.rstrip("\r\n").split(delimiter)]


def _bare(cell: str) -> str:
    return cell[1:-1].strip() if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _number(cell: str) -> float | None:
    if cell.lower() in MISSING:
        return math.nan
    if "_" in cell or not cell.isascii():  # Python reads 1_0 as ten, and digits of every script; files do not
        return None
    try:
        return float(cell)
    except ValueError:
        return None
