"""What is wrong with some lines of a text file, or rows of a Parquet file: for the data holder, never for a release.

Only `dpfda check` comes here. What is kept are places and counts, and labels as numbers that tell nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from dpfda.core.errors import FileError
from dpfda.core.labels import owners, texts
from dpfda.reading import cells
from dpfda.reading.arrow import compute, csv, pa
from dpfda.reading.delimited import convert_options, filled_lines, parse_options
from dpfda.reading.tables import cells_of, numeric
from dpfda.reading.text_layout import TextLayout

#: A table of typed columns: what it has, and its rows by the columns that are numbers and those that are labels.
Schema: TypeAlias = "pa.Schema"
Batches: TypeAlias = "Callable[[list[str], list[str]], Iterable[pa.RecordBatch]]"
#: Longer texts are not left to a pattern to call numbers.
LONGEST_NUMBER = 100


@dataclass
class Wanted:
    """What is looked at: columns of values and of labels. Columns that held no number before are read as texts."""

    layout: TextLayout
    values: list[str]
    labels: list[str]  # columns that must have a label in every row
    suspects: set[str] = field(default_factory=set)


@dataclass
class Facts:
    """What some lines are like. Places are lines, or rows, counted from the first of them."""

    lines: int
    records: int = 0
    troubles: dict[str, np.ndarray] = field(default_factory=dict)  # where lines are, by what is wrong with them
    no_number: dict[str, np.ndarray] = field(default_factory=dict)  # where cells are, by column
    infinite: dict[str, np.ndarray] = field(default_factory=dict)
    commas: dict[str, int] = field(default_factory=dict)
    place: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # of rows below
    gaps: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=bool))  # missing cells, in rows with some
    holes: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=bool))  # the same with cells of no number
    labels: dict[str, np.ndarray] = field(default_factory=dict)
    labelled: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # places of labels


@dataclass
class Column:
    """Cells of a column that are not finite numbers: rows, by what they are."""

    missing: np.ndarray
    no_number: np.ndarray
    infinite: np.ndarray
    commas: int = 0

    @property
    def some(self) -> bool:
        return bool(self.missing.size or self.no_number.size or self.infinite.size)


def text_facts(lines: bytes, wanted: Wanted) -> Facts:
    """What some lines are like."""
    facts = Facts(lines.count(b"\n") + (not lines.endswith(b"\n")))
    lines = _as_text(lines, facts)
    parsed = _parsed(lines, wanted)
    filled = np.arange(facts.lines)
    if parsed is None or parsed[0].num_rows + len(parsed[1]) != facts.lines:
        filled = filled_lines(lines, wanted.layout.width)
    joined = parsed is None or parsed[0].num_rows + len(parsed[1]) != filled.size
    if joined or _open_at_end(lines, wanted.layout.delimiter):  # by a quote that is not closed
        lines, facts.troubles["unclosed"] = _without_unclosed(lines, wanted.layout.delimiter)
        parsed = _parsed(lines, wanted)
        filled = filled_lines(lines, wanted.layout.width)
    if parsed is None:
        raise FileError("Some lines cannot be told apart. Check the separator, and quotes.")
    table, wrong = parsed
    unclosed = facts.troubles.get("unclosed", np.empty(0, dtype=np.int64))
    if wanted.layout.width > 1 and filled.size + unclosed.size < facts.lines:
        facts.troubles["empty"] = np.setdiff1d(np.arange(facts.lines), np.union1d(filled, unclosed))
    numbers = np.array([number for number, _ in wrong], dtype=np.int64)
    many = np.array([count > wanted.layout.width for _, count in wrong], dtype=bool)
    if wrong:
        facts.troubles["many"], facts.troubles["few"] = filled[numbers[many]], filled[numbers[~many]]
        filled = np.delete(filled, numbers)
    columns = dict(zip(table.schema.names, table.columns, strict=True))
    found = {name: _text_column(columns[name], wanted.layout) for name in wanted.values}
    _gather(facts, found, filled, table.num_rows)
    facts.labels = {name: owners(texts(map(_text, columns[name].to_pylist()))) for name in wanted.labels}
    return facts


def batch_facts(batch: pa.RecordBatch, values: Sequence[str], labels: Sequence[str]) -> Facts:
    """What some rows of a table are like."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    facts = Facts(batch.num_rows)
    found = {name: _typed_column(columns[name]) for name in values}
    _gather(facts, found, np.arange(batch.num_rows), batch.num_rows)
    facts.labels = {name: owners(texts(cells_of(columns[name]))) for name in labels}
    return facts


def _gather(facts: Facts, found: dict[str, Column], places: np.ndarray, rows: int) -> None:
    """Cells by column as rows by place."""
    facts.records, facts.labelled = rows, places
    if not any(column.some for column in found.values()):
        return
    holes = np.zeros((rows, len(found)), dtype=bool)
    gaps = np.zeros((rows, len(found)), dtype=bool)
    for i, (name, column) in enumerate(found.items()):
        gaps[column.missing, i] = holes[column.missing, i] = True
        holes[column.no_number, i] = True
        for into, which in ((facts.no_number, column.no_number), (facts.infinite, column.infinite)):
            if which.size:
                into[name] = places[which]
        if column.commas:
            facts.commas[name] = column.commas
    some = np.flatnonzero(holes.any(axis=1))
    facts.place, facts.gaps, facts.holes = places[some], gaps[some], holes[some]


# -- lines ----------------------------------------------------------------------------------------------------------


def _as_text(lines: bytes, facts: Facts) -> bytes:
    """The same in UTF-8; lines with bytes that are no text in the file's encoding are noted."""
    if lines.isascii():
        return lines
    text = lines.decode("utf-8", "replace")
    if "\ufffd" in text:
        found = [i for i, line in enumerate(text.split("\n")) if "\ufffd" in line]
        facts.troubles["foreign"] = np.array(found, dtype=np.int64)
        lines = text.encode("utf-8")
    return lines


def _open_at_end(lines: bytes, delimiter: str) -> bool:
    """Whether the last line has a quote that is not closed, which nothing after it shows."""
    last = lines[lines.rfind(b"\n", 0, len(lines) - 1) + 1 :].rstrip(b"\n")
    return b'"' in last and not cells.split(_text(last), delimiter)[1]


def _without_unclosed(lines: bytes, delimiter: str) -> tuple[bytes, np.ndarray]:
    """Lines with those emptied that have a quote that is not closed, and which they are."""
    apart = lines.split(b"\n")
    found = [i for i, line in enumerate(apart) if b'"' in line and not cells.split(_text(line), delimiter)[1]]
    for i in found:
        apart[i] = b""
    return b"\n".join(apart), np.array(found, dtype=np.int64)


Parsed: TypeAlias = "tuple[pa.Table, list[tuple[int, int]]]"


def _parsed(lines: bytes, wanted: Wanted) -> Parsed | None:
    """The columns, as numbers where all cells are, and rows (from 0, their cells counted) of another width."""
    known = wanted.suspects  # as it is now: other lines are looked at meanwhile
    for as_texts in (known, set(wanted.values)):
        try:
            table, wrong = _table(lines, wanted, as_texts)
        except pa.ArrowException:
            continue
        if as_texts is not known:
            doubted = {name for name in wanted.values if _doubtful(table.column(name), wanted.layout.decimal)}
            wanted.suspects = wanted.suspects | doubted
        return table, wrong
    return None


def _table(lines: bytes, wanted: Wanted, as_texts: set[str]) -> Parsed:
    wrong: list[tuple[int, int]] = []

    def skip(row: csv.InvalidRow) -> str:
        wrong.append((int(row.number) - 1, int(row.actual_columns)))
        return "skip"

    layout = wanted.layout
    kinds = {name: pa.float64() for name in wanted.values if name not in as_texts}
    kinds |= {name: pa.binary() for name in [*wanted.values, *wanted.labels] if name not in kinds}
    parsing = parse_options(layout, b'"' in lines, skip)
    whole = {"block_size": len(lines) + 1} if b'"' in lines else {}  # it closes quotes where its own blocks end
    reading = csv.ReadOptions(column_names=wanted.layout.columns, use_threads=False, **whole)
    return csv.read_csv(pa.BufferReader(lines), reading, parsing, convert_options(layout, kinds)), wrong


# -- cells -----------------------------------------------------------------------------------------------------------


def _pattern(decimal: str) -> str:
    mark = re.escape(decimal)
    return rf"^[ \t]*[+-]?([0-9]+{mark}?[0-9]*|{mark}[0-9]+)([eE][+-]?[0-9][0-9]?)?[ \t]*$"


def _numbers(column: pa.ChunkedArray, decimal: str) -> np.ndarray:
    """Which cells a pattern takes for finite numbers."""
    short = compute.less(compute.binary_length(column), LONGEST_NUMBER)
    return np.asarray(compute.and_(compute.match_substring_regex(column, _pattern(decimal)), short), dtype=bool)


def _doubtful(column: pa.ChunkedArray, decimal: str) -> bool:
    left = compute.unique(column.filter(pa.array(~_numbers(column, decimal))))
    return any(cells.number(_text(cell), decimal) is None for cell in left.to_pylist())


def _text(cell: bytes) -> str:
    return cell.decode("utf-8", "replace")


def _text_column(column: pa.ChunkedArray, layout: TextLayout) -> Column:
    if pa.types.is_float64(column.type):
        return _float_column(column)
    commas = np.zeros(len(column), dtype=bool)
    doubt = ~_numbers(column, layout.decimal)
    if layout.decimal == "." and layout.delimiter != ",":
        commas = doubt & np.asarray(
            compute.match_substring_regex(column, r"^[ \t]*[+-]?[0-9]*,[0-9]+[ \t]*$"), dtype=bool
        )
    rows = np.flatnonzero(doubt & ~commas)
    coded = column.take(pa.array(rows)).combine_chunks().dictionary_encode()
    kinds = np.array([_kind(cells.number(_text(cell), layout.decimal)) for cell in coded.dictionary.to_pylist()])
    found = kinds[coded.indices.to_numpy()] if rows.size else np.empty(0, dtype=int)
    bad = np.sort(np.concatenate([rows[found == 2], np.flatnonzero(commas)]))
    return Column(rows[found == 1], bad, rows[found == 3], int(commas.sum()))


def _kind(value: float | None) -> int:
    """What a cell is: a number, missing, no number, or infinite."""
    return 2 if value is None else 1 if math.isnan(value) else 3 if math.isinf(value) else 0


def _float_column(column: pa.ChunkedArray | pa.Array) -> Column:
    none = np.empty(0, dtype=np.int64)
    if not column.null_count and math.isfinite(compute.sum(column).as_py() or 0.0):
        return Column(none, none, none)
    values = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    return Column(np.flatnonzero(np.isnan(values)), none, np.flatnonzero(np.isinf(values)))


def _typed_column(column: pa.Array) -> Column:
    if pa.types.is_dictionary(column.type) and numeric(column.type.value_type):
        column = column.dictionary_decode()
    none = np.empty(0, dtype=np.int64)
    if not numeric(column.type):
        return Column(none, np.arange(len(column)), none)
    return _float_column(column if pa.types.is_float64(column.type) else column.cast(pa.float64(), safe=False))


def holds_numbers(kind: pa.DataType) -> bool:
    """Whether a type is one of numbers, of lists of numbers, or of numbers that are spelt once each."""
    return numeric(getattr(kind, "value_type", kind))
