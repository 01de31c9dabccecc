"""Text files of numbers: a quick reader, and a careful one for the lines that it cannot take.

Both split a line alike, and know no quote that runs past its end, so no record can change how another is read. Where
the quick reader balks at some lines, or would join two of them, the careful one reads those: it says where the trouble
is, or makes the record missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpfda.core.errors import RecordError
from dpfda.core.labels import MISSING
from dpfda.reading import cells
from dpfda.reading.arrow import csv, pa
from dpfda.reading.lines import LONGEST_LINE, MARK, Text, blocks
from dpfda.reading.places import Place
from dpfda.reading.text_layout import SPLIT, TextLayout

CURE = "Name the value columns, e.g. columns='hh*', or repair the cell: 'dpfda check' lists all that are wrong."
#: Words for what is missing, as the quick reader knows them; in another mix of capitals the careful one takes over.
MISSING_WORDS = sorted({form for word in MISSING for form in (word, word.upper(), word.capitalize())} | {"NaN", "NaT"})
#: Records that the careful reader hands on at a time.
STEP = 4096


#: A batch: numbers, one row per record, and the columns that were asked for as texts.
Batch = tuple[np.ndarray, list[np.ndarray]]


@dataclass(frozen=True)
class Asked:
    """What is read of a file, and how."""

    layout: TextLayout
    numbers: list[str] | None  # None: all columns
    texts: Sequence[str]
    lenient: bool
    owners: Container[str]  # texts that say whose a row is


def rows(
    place: Place, layout: TextLayout, numbers: list[str] | None, texts: Sequence[str], lenient: bool, batch_bytes: int,
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


def line_blocks(place: Place, layout: TextLayout, size: int) -> Iterator[bytes | None]:
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


def parse_options(
    layout: TextLayout, quoted: bool, on_wrong: Callable[[csv.InvalidRow], str] | None = None
) -> csv.ParseOptions:
    """Lines as cells, for Arrow's reader; `on_wrong` is asked about lines with too many or too few."""
    return csv.ParseOptions(
        delimiter=layout.delimiter, quote_char='"' if quoted else False, ignore_empty_lines=layout.width > 1,
        invalid_row_handler=on_wrong,
    )  # fmt: skip


def convert_options(layout: TextLayout, kinds: dict[str, pa.DataType]) -> csv.ConvertOptions:
    """Cells of these columns as these types, for Arrow's reader."""
    return csv.ConvertOptions(
        column_types=kinds, include_columns=list(kinds), null_values=MISSING_WORDS, decimal_point=layout.decimal
    )


class Quick:
    """Arrow's reader."""

    def __init__(self, asked: Asked):
        self.layout, names = asked.layout, asked.layout.columns
        wanted = asked.numbers or names
        kinds = {name: pa.float64() for name in wanted} | {name: pa.string() for name in asked.texts}
        self.numbers = len(wanted)
        self.names = names
        self.converting = convert_options(self.layout, kinds)

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

    def reading(self, **more: int) -> csv.ReadOptions:
        return csv.ReadOptions(column_names=self.names, use_threads=False, **more)

    def table(self, lines: bytes) -> pa.Table | None:
        """The same as a table. Of lines with quotes it takes care that it joined none."""
        layout = self.layout
        quoted = b'"' in lines
        parsing = parse_options(layout, quoted)
        if lines.startswith(MARK):  # it would be skipped here, and nowhere else
            return None
        if not quoted:
            return csv.read_csv(pa.BufferReader(lines), self.reading(), parsing, self.converting)
        # A record more, which a quote that is open at the end would swallow.
        more = (b"" if lines.endswith(b"\n") else b"\n") + layout.delimiter.encode() * (layout.width - 1) + b"\n"
        whole = lines + more
        reading = self.reading(block_size=len(whole) + 1)  # or it would close quotes where its own blocks end
        table = csv.read_csv(pa.BufferReader(whole), reading, parsing, self.converting)
        records = filled_lines(lines, layout.width).size
        return table.slice(0, records) if table.num_rows == 1 + records else None


def filled_lines(lines: bytes, width: int) -> np.ndarray:
    """Which lines are records: in a file of one column an empty one is a record without a value."""
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == 10)
    edges = np.concatenate([[-1], ends, [] if lines.endswith(b"\n") else [len(lines)]])
    return np.arange(edges.size - 1) if width == 1 else np.flatnonzero(np.diff(edges) > 1)


def _careful(lines: bytes | None, asked: Asked, first: int) -> Iterator[Batch]:
    """The records of some lines, one by one; None is one that is too long, and unusable."""
    layout = asked.layout
    names = layout.columns
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


def _record(
    index: int, row: list[str], closed: bool, places: list[int], layout: TextLayout, lenient: bool
) -> list[float]:
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
            cure = f"Pass decimal=',' for decimal commas. {CURE}"
        # By its number: a name may be a cell of a first record that was taken for names.
        raise RecordError("A cell does not hold a number", [index], cure, column=str(place + 1))
    return [math.nan if value is None else value for value in values]
