"""Text files of numbers: a quick reader, and a careful one for the lines that it cannot take.

Both split a line alike, and know no quote that runs past its end, so no record can change how another is read. Where
the quick reader balks at some lines, or would join two of them, the careful one reads those: it says where the trouble
is, or makes the record missing.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpfda.core.errors import FileError, ParameterError, RecordError
from dpfda.core.labels import MISSING
from dpfda.reading import cells
from dpfda.reading.arrow import csv, pa
from dpfda.reading.dialect import LONGEST_MARK, SEPARATORS, Dialect
from dpfda.reading.lines import LONGEST_LINE, MARK, Text, blocks, decoded
from dpfda.reading.places import Place

CURE = "Name the value columns, e.g. columns='hh*', or repair the cell."
#: More than any record has.
MOST_COLUMNS = 100_000
SPLIT = "Write one row per record."
#: The same words as the quick reader knows them; in another mix of capitals the careful one takes over.
SPELLINGS = sorted({form for word in MISSING for form in (word, word.upper(), word.capitalize())} | {"NaN", "NaT"})
#: Records that the careful reader hands on at a time.
STEP = 4096


@dataclass(frozen=True)
class Layout:
    """How a file is laid out: what parts its cells, its column names if it has them, its width, its writing."""

    delimiter: str
    names: list[str] | None
    width: int
    returns: bool = False  # lines end in carriage returns alone
    decimal: str = "."
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Beginning:
    """The first line of a file: its cells, and how the file is written."""

    delimiter: str
    cells: list[str]
    closed: bool
    returns: bool
    encoding: str


def layout(place: Place, header: bool | None, lenient: bool, width: int | None, text: Dialect | None = None) -> Layout:
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
    if isinstance(found, Layout):
        return found
    first = found.cells
    if not found.closed:
        raise FileError(f"{place.name!r} begins with a line with a quote that is not closed. Close it.")
    if len(first) > MOST_COLUMNS:
        raise FileError(f"{place.name!r} has more than {MOST_COLUMNS:,} columns. Write curves by their observations.")
    if len(first) == 1 and width != 1:
        raise FileError(
            f"{place.name!r} has one column when split at {SEPARATORS[found.delimiter]}, and a record here has "
            f"{'several' if width is None else width} values. Pass separator=';', say; cells are parted by commas, "
            "semicolons, tabs or bars."
        )
    if header is None:
        header = looks_like_names(first, text.decimal)
    names = first if header else None
    if names and len(set(names)) < len(names):
        raise FileError(
            "Column names repeat; every column needs its own. Pass header=False to dp.read if there are none."
        )
    return Layout(found.delimiter, names, len(first), found.returns, text.decimal, found.encoding)


def beginning(place: Place, header: bool | None, lenient: bool, width: int | None, text: Dialect) -> Beginning | Layout:
    """The first line; or the layout at once, where that line is a record that decides nothing, or there is none."""
    blind = header is False and lenient and width is not None
    with place.unpacked() as file:
        start = file.read(LONGEST_MARK)
        encoding = text.read_in(None if blind else start, place.name)
        line, returns = (b"", False) if blind else Text(file, encoding, start).first_line()
    if header is False and width is not None and not line:
        return Layout(text.parting(place.suffix, None), None, width, decimal=text.decimal, encoding=encoding)
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


#: A batch: numbers, one row per record, and the columns that were asked for as texts.
Batch = tuple[np.ndarray, list[np.ndarray]]


@dataclass(frozen=True)
class Asked:
    """What is read of a file, and how."""

    layout: Layout
    numbers: list[str] | None  # None: all columns
    texts: Sequence[str]
    lenient: bool
    owners: Container[str]  # texts that say whose a row is

    @property
    def names(self) -> list[str]:
        return self.layout.names or [f"f{i}" for i in range(self.layout.width)]


def rows(
    place: Place, layout: Layout, numbers: list[str] | None, texts: Sequence[str], lenient: bool, batch_bytes: int,
    owners: Container[str] = (),
) -> Iterator[Batch]:  # fmt: skip
    """Batches of the chosen columns; every record is read the same way whatever stands around it.

    Texts of `owners` say whose a row is, which nobody can tell of a row with too many or too few cells.
    """
    asked, done = Asked(layout, numbers, texts, lenient, owners), 0
    quick = Quick(asked)
    for lines in line_blocks(place, layout, batch_bytes):
        batch = None if lines is None else quick.batch(lines)
        for values, words in [batch] if batch is not None else _careful(lines, asked, done):
            if len(values):
                yield values, words
                done += len(values)


def line_blocks(place: Place, layout: Layout, size: int) -> Iterator[bytes | None]:
    """Some lines at a time, without the header; None for a line that is too long to be a record."""
    header = layout.names is not None
    with place.unpacked() as file:
        for lines in blocks(Text(file, layout.encoding), layout.returns, size):
            if header and lines is not None:
                end = lines.find(b"\n") + 1
                lines = lines[end:] if end else b""
            header = False
            if lines is None or lines:
                yield lines


class Quick:
    """Arrow's reader."""

    def __init__(self, asked: Asked):
        self.layout, names = asked.layout, asked.names
        wanted = asked.numbers or names
        kinds = {name: pa.float64() for name in wanted} | {name: pa.string() for name in asked.texts}
        self.numbers = len(wanted)
        self.reading = csv.ReadOptions(column_names=names, use_threads=False)
        self.converting = csv.ConvertOptions(
            column_types=kinds, include_columns=list(kinds), null_values=SPELLINGS, decimal_point=self.layout.decimal
        )

    def batch(self, lines: bytes) -> Batch | None:
        """The records of some lines, or None where it cannot take all of them."""
        try:
            table = self.table(lines)
        except pa.ArrowException:  # its message quotes the cell, so it must not become our error's context
            table = None
        if table is None:
            return None
        columns = [column.to_numpy(zero_copy_only=False) for column in table.columns]
        return np.column_stack(columns[: self.numbers]), columns[self.numbers :]

    def table(self, lines: bytes) -> pa.Table | None:
        """The same as a table. Of lines with quotes it takes care that it joined none."""
        layout = self.layout
        quoted = b'"' in lines
        parsing = csv.ParseOptions(
            delimiter=layout.delimiter, quote_char='"' if quoted else False, ignore_empty_lines=layout.width > 1
        )
        if lines.startswith(MARK):  # it would be skipped here, and nowhere else
            return None
        if not quoted:
            return csv.read_csv(pa.BufferReader(lines), self.reading, parsing, self.converting)
        # A record more, which a quote that is open at the end would swallow.
        more = (b"" if lines.endswith(b"\n") else b"\n") + layout.delimiter.encode() * (layout.width - 1) + b"\n"
        table = csv.read_csv(pa.BufferReader(lines + more), self.reading, parsing, self.converting)
        return table.slice(0, table.num_rows - 1) if table.num_rows == 1 + count_lines(lines, layout.width) else None


def count_lines(lines: bytes, width: int) -> int:
    """How many records some lines are: in a file of one column an empty line is one without a value."""
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == 10)
    edges = np.concatenate([[-1], ends, [] if lines.endswith(b"\n") else [len(lines)]])
    return edges.size - 1 if width == 1 else int((np.diff(edges) > 1).sum())


def _careful(lines: bytes | None, asked: Asked, first: int) -> Iterator[Batch]:
    """The records of some lines, one by one; None is one that is too long, and unusable."""
    layout = asked.layout
    names = asked.names
    places = [names.index(name) for name in asked.numbers or names]
    aside = [(names.index(name), name in asked.owners) for name in asked.texts]
    block: list[list[float]] = []
    words: list[list[str | None]] = []
    if lines is None:
        if not asked.lenient:
            raise RecordError(f"A line has more than {LONGEST_LINE:,} characters", [first], SPLIT)
        yield _batch([[math.nan] * len(places)], [[None] * len(aside)], len(aside))
        return
    for raw in lines.removesuffix(b"\n").split(b"\n"):
        if not raw and layout.width > 1:  # nothing
            continue
        row, closed = cells.split(raw.decode("utf-8", "replace"), layout.delimiter)
        block.append(_record(first, row, closed, places, layout, asked.lenient))
        words.append([_label_cell(row, closed, place, layout.width, owner) for place, owner in aside])
        first += 1
        if len(block) == STEP:
            yield _batch(block, words, len(aside))
            block, words = [], []
    yield _batch(block, words, len(aside))


def _batch(block: list[list[float]], words: list[list[str | None]], aside: int) -> Batch:
    return np.array(block), [np.array([row[i] for row in words], dtype=object) for i in range(aside)]


def _label_cell(row: list[str], closed: bool, place: int, width: int, owner: bool) -> str | None:
    """The label of a row; the group also of one with too many or too few cells, where it stands first or last."""
    if closed and len(row) == width:
        return row[place]
    if owner or not closed:
        return None
    return row[0] if place == 0 else row[-1] if place == width - 1 else None


def _record(index: int, row: list[str], closed: bool, places: list[int], layout: Layout, lenient: bool) -> list[float]:
    if not closed or len(row) != layout.width:
        if lenient:
            return [math.nan] * len(places)
        if not closed:
            raise RecordError("A quote is not closed on its line", [index], "Close it: one line is one record.")
        raise RecordError(
            f"A row has {len(row)} cells and the first line has {layout.width}",
            [index],
            "Every record needs the same number of values; cells that hold the separator need quotes.",
        )
    values = [cells.number(row[place], layout.decimal) for place in places]
    if None in values and not lenient:
        place = places[values.index(None)]
        cure = CURE
        if layout.decimal == "." and layout.delimiter != ",":
            cure = f"{CURE[:-1]}; pass decimal=',' for decimal commas."
        # By its number: a name may be a cell of a first record that was taken for names.
        raise RecordError("A cell does not hold a number", [index], cure, column=str(place + 1))
    return [math.nan if value is None else value for value in values]
