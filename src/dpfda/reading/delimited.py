"""Text files of numbers: a quick reader, and a careful one that takes over where it balks.

Both split a physical line at every delimiter and know no quoting across cells, so no record can
change how another is read. At the first line the quick reader cannot take, the careful one goes on
from the same row: it says where the trouble is, or makes the record missing.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from dpfda.core.errors import FileError, ParameterError, RecordError
from dpfda.core.labels import MARK, MISSING
from dpfda.reading.arrow import csv, pa
from dpfda.reading.places import Place

CURE = "Name the value columns, e.g. columns='hh*', or repair the cell."
#: Characters of a line, and columns: more than any record has.
LONGEST_LINE, MOST_COLUMNS = 1 << 24, 100_000
SPLIT = "Write one row per record."
#: The same words as the quick reader knows them; in another mix of capitals the careful one takes over.
SPELLINGS = sorted({form for word in MISSING for form in (word, word.upper(), word.capitalize())} | {"NaN", "NaT"})
#: Files in other encodings begin with one of these.
FOREIGN_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Layout:
    """How a file is laid out: its delimiter, its column names if it has them, its width, and how lines end."""

    delimiter: str
    names: list[str] | None
    width: int
    returns: bool = False  # in carriage returns alone


def layout(path: Place, header: bool | None, lenient: bool, width: int | None) -> Layout:
    """The delimiter from the file's ending, names and width from its first line.

    With `header` None the first line must speak for itself: names if no cell is a number, a curve if
    all are (and they do not merely count). Lenient reading must not let a record decide, so it asks,
    and takes the width of a file without names from the plan.
    """
    if header is None and lenient:
        raise ParameterError(
            "with invalid='center' a text file must say whether it begins with names",
            "no word",
            "Pass header=True to dp.read.",
        )
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with path.open() as file:
        line, returns = _first_line(file)
    if header is False and width is not None and (lenient or not line):  # a record, which decides nothing
        return Layout(delimiter, None, width)
    if len(line) > LONGEST_LINE:
        raise FileError(f"{path.name!r} begins with a line of more than {LONGEST_LINE:,} characters. {SPLIT}")
    text = line.decode("utf-8", "replace").removeprefix(MARK)
    if line.startswith(FOREIGN_MARKS) or "\x00" in text or "\ufffd" in text:
        raise FileError(f"{path.name!r} does not begin with text in UTF-8. Save it as UTF-8.")
    first = _cells(text, delimiter)
    if not text.strip():
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
        raise FileError(
            "Column names repeat; every column needs its own. Pass header=False to dp.read if there are none."
        )
    return Layout(delimiter, names, len(first), returns)


def _first_line(file: IO[bytes]) -> tuple[bytes, bool]:
    """The first line, and whether lines end in carriage returns alone, as old ones do."""
    line = file.readline(LONGEST_LINE + 1)
    whole = line.rstrip(b"\r\n")
    return (whole.split(b"\r")[0], True) if b"\r" in whole else (whole, False)


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
            "Pass header=True to dp.read.",
        )
    return False


#: A batch: numbers, one row per record, and the columns that were asked for as texts.
Batch = tuple[np.ndarray, list[np.ndarray]]


def rows(
    place: Place, layout: Layout, numbers: list[str] | None, texts: Sequence[str], lenient: bool, batch_bytes: int,
    owners: Container[str] = (),
) -> Iterator[Batch]:  # fmt: skip
    """Batches of the chosen columns; every record is read the same way whatever stands around it.

    Texts of `owners` say whose a row is, which nobody can tell of a row with too many or too few cells.
    """
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
    yield from _careful(place, layout, numbers, texts, lenient, done, owners)


def _quick(
    place: Place, layout: Layout, numbers: list[str] | None, texts: Sequence[str], batch_bytes: int
) -> Iterator[Batch]:
    names = layout.names or [f"f{i}" for i in range(layout.width)]
    wanted = numbers or names
    kinds = {name: pa.float64() for name in wanted} | {name: pa.string() for name in texts}
    parsing = csv.ParseOptions(delimiter=layout.delimiter, quote_char=False, ignore_empty_lines=layout.width > 1)
    converting = csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=SPELLINGS)
    reading = csv.ReadOptions(column_names=names, use_threads=False)
    with place.open() as opened:
        for number, lines in enumerate(whole_lines(opened, layout.returns, batch_bytes)):
            if number == 0 and layout.names:
                lines = lines[lines.find(b"\n") + 1 :]
            if not lines:
                continue
            table = csv.read_csv(pa.BufferReader(lines), reading, parsing, converting)
            if table.num_rows:
                columns = [column.to_numpy(zero_copy_only=False) for column in table.columns]
                yield np.column_stack(columns[: len(wanted)]), columns[len(wanted) :]


def whole_lines(file: IO[bytes], returns: bool, size: int) -> Iterator[bytes]:
    """Some lines at a time, each ended by a line feed.

    Only a line feed ends a line: a carriage return before it belongs to it, others are spaces. (With `returns` it is
    the other way round, as in old files.) So a record is one line, whatever it holds, and counts once. At a line that
    is too long to be a record the careful reader takes over.
    """
    end, rest, more = b"\r" if returns else b"\n", b"", True
    while more:
        fresh = file.read(size)
        more = bool(fresh)
        text = rest + fresh
        first, last = text.find(end), text.rfind(end)
        if (len(text) if first < 0 else first) > LONGEST_LINE:
            raise pa.ArrowInvalid("a long line")
        lines, rest = (text[: last + 1], text[last + 1 :]) if more else (text, b"")
        if returns:
            lines = lines.replace(b"\n", b" ").replace(b"\r", b"\n")
        elif b"\r" in lines:
            lines = lines.replace(b"\r\n", b"\n").replace(b"\r", b" ")
        if lines:
            yield lines


def _careful(
    place: Place, layout: Layout, numbers: list[str] | None, texts: Sequence[str], lenient: bool, skip: int,
    owners: Container[str],
) -> Iterator[Batch]:  # fmt: skip
    places = [layout.names.index(name) for name in numbers] if layout.names and numbers else list(range(layout.width))
    aside = [((layout.names or []).index(name), name in owners) for name in texts]
    block: list[list[float]] = []
    words: list[list[str | None]] = []
    with place.text("\r" if layout.returns else "\n") as file:
        if layout.names:
            file.readline(LONGEST_LINE + 1)
        # In a file of one column an empty line is a record without a value; elsewhere it is nothing.
        whole = _lines(file, layout, lenient)
        lines = (line for line in whole if layout.width == 1 or line.removeprefix(MARK).strip("\r\n"))
        for index, marked in enumerate(lines):
            marked = marked.rstrip("\r\n").replace("\r", " ").replace("\n", " ")
            line = marked.removeprefix(MARK)  # wherever it stands, so that no place is special
            if index < skip:
                continue
            block.append(_record(index, _cells(line, layout.delimiter), places, layout, lenient))
            if aside:
                raw = marked.split(layout.delimiter)  # as the quick reader sees it
                words.append([_label_cell(raw, p, layout.width, owner) for p, owner in aside])
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
            while line and line[-1] != ("\r" if layout.returns else "\n"):
                line = file.readline(LONGEST_LINE)
            line = layout.delimiter * layout.width  # one cell too many
        yield line


def _batch(block: list[list[float]], words: list[list[str | None]], aside: int) -> Batch:
    return np.array(block), [np.array([row[i] for row in words], dtype=object) for i in range(aside)]


def _label_cell(cells: list[str], place: int, width: int, owner: bool) -> str | None:
    """The label of a row; the group also of one with too many or too few cells, where it stands first or last."""
    if len(cells) == width or (place == 0 and not owner):
        return cells[place]
    return cells[-1] if place == width - 1 and not owner else None


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
