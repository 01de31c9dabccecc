"""Tables as blocks of records: columns by their declared type, cell by cell where there is none.

No cell decides how another is read.
"""

from __future__ import annotations

import numbers
import sys
from decimal import Decimal
from typing import Any

import numpy as np

from dpfda.core.errors import RecordError
from dpfda.core.labels import texts
from dpfda.reading.ahead import WAITING
from dpfda.reading.arrow import pa
from dpfda.reading.blocks import Raw
from dpfda.reading.delimited import CURE
from dpfda.reading.layouts import Lists, wall_clock, wall_of
from dpfda.reading.parquet import is_text
from dpfda.reading.roles import Roles
from dpfda.spaces.own_times import Pieces

#: No record has more cells.
MOST_CELLS = 10_000_000
#: What labels of text files are compared as.
TEXT_LABELS = "texts"

#: Batches that may be on their way at once, beside the newest: those that wait, and the one that is added up.
MOST_HELD = WAITING + 1
#: Kinds of columns, in a word each.
NUMBER, WHOLE, TEXT, DATE, TRUTH, UNKNOWN = "number", "whole number", "text", "date", "true or false", "unknown"
LISTED = "list of numbers"


class Room:
    """Memory for one batch after another: taken again as soon as nobody holds what was in it.

    Where an allocator gives memory back at once (as on Dask's workers) new pages cost more than what is done in them.
    """

    def __init__(self) -> None:
        self.bases: list[np.ndarray] = []

    def matrix(self, rows: int, width: int, single: bool = False) -> np.ndarray:
        size, kind = rows * width, np.dtype(np.float32 if single else np.float64)
        for i in range(len(self.bases)):
            fits = self.bases[i].size >= size and self.bases[i].dtype == kind
            if fits and sys.getrefcount(self.bases[i]) == 2:  # no view of it is left
                return self.bases[i][:size].reshape(rows, width)
        self.bases = [*self.bases[-MOST_HELD:], np.empty(size, dtype=kind)]
        return self.bases[-1].reshape(rows, width)


def arrow_block(
    batch: pa.RecordBatch, values: list[str], roles: Roles, first: int, file: str = "", room: Room | None = None
) -> Raw:
    """A batch that holds the columns of values, then those of texts."""
    own = dict(zip(batch.schema.names, batch.columns, strict=True))
    aside = {name: _texts(own[name]) for name in roles.asides}
    columns: Any
    lists = isinstance(roles.layout, Lists) or (len(values) == 1 and _is_list(own[values[0]].type))
    if lists:
        try:
            columns = _lists([own[name] for name in values], roles)
        except RecordError as error:
            raise error.shifted(first) from None
    else:
        single = roles.layout is None and all(pa.types.is_float32(own[name].type) for name in values)
        columns = (Room() if room is None else room).matrix(batch.num_rows, len(values), single)
        for i, name in enumerate(values):
            if name == roles.stamped:
                columns[:, i] = stamps(own[name], roles.zone, roles.lenient)
            else:
                columns[:, i] = _numbers(own[name], name, roles.lenient)
    return roles.block(columns, aside, first, file)


def _numbers(column: pa.Array, name: str, lenient: bool) -> np.ndarray:
    """A column by its declared type; a type that holds no numbers is missing throughout, or an error."""
    if pa.types.is_dictionary(column.type) and numeric(column.type.value_type):
        column = column.dictionary_decode()
    if numeric(column.type):
        if not (pa.types.is_float64(column.type) or pa.types.is_float32(column.type)):
            column = column.cast(pa.float64(), safe=False)
        return column.to_numpy(zero_copy_only=False)
    if not lenient:
        raise RecordError("Cells do not hold numbers", column=name, cure=CURE)
    return np.full(len(column), np.nan)


def _is_list(kind: pa.DataType) -> bool:
    types = pa.types
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def _lists(columns: list[pa.Array], roles: Roles) -> Any:
    """Lists as rows where all have one length, else as curves at their own times."""
    flat = []
    for column in columns:
        if not _is_list(column.type) or not numeric(column.type.value_type):
            raise RecordError("A column of lists must hold numbers", cure="Check its type, or the layout.")
        lengths = np.where(np.array(column.is_valid(), dtype=bool), np.array(column.value_lengths().fill_null(0)), 0)
        flat.append((_numbers(column.flatten(), "", roles.lenient), lengths))
    values, lengths = flat[0]
    if len(columns) == 1:
        return _rectangle(values, lengths, roles)
    times, others = flat[1]
    fits = lengths == others
    if not fits.all():
        if not roles.lenient:
            raise RecordError("A curve has as many times as values", np.flatnonzero(~fits).tolist(), "Repair it.")
        values, times = values[np.repeat(fits, lengths)], times[np.repeat(fits, others)]
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    return Pieces(times, values, np.concatenate([[0], np.cumsum(np.where(fits, lengths, 0))]))


def _rectangle(values: np.ndarray, lengths: np.ndarray, roles: Roles) -> np.ndarray:
    """Lists as a matrix; one of another length than the plan's (or, without a plan, than the longest) is unusable."""
    width = int(lengths.max(initial=0)) if roles.width is None else roles.width
    fits = lengths == width
    if fits.all():
        return values.reshape(len(lengths), width)
    if not roles.lenient:
        bad = np.flatnonzero(~fits).tolist()
        raise RecordError(
            f"A list has another length than the {width} of the grid", bad, "Repair it, or give its times."
        )
    rows = np.full((len(lengths), width), np.nan, dtype=values.dtype)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    for i in np.flatnonzero(fits).tolist():
        rows[i] = values[starts[i] : starts[i + 1]]
    return rows


def stamps(column: pa.Array, zone: str, lenient: bool) -> np.ndarray:
    """Timestamps as microseconds of the clock on the wall, missing where there is none."""
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        return wall_of(cells_of(column), zone, lenient)
    aware = pa.types.is_timestamp(column.type) and column.type.tz is not None
    whole = column.cast(pa.timestamp("us", column.type.tz if aware else None), safe=False).cast(pa.int64())
    known = np.array(whole.is_valid(), dtype=bool)
    ticks = whole.fill_null(0).to_numpy(zero_copy_only=False)
    wall = wall_clock(ticks, zone) if aware else ticks
    return np.where(known, wall.astype(float), np.nan)


def numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return (
        types.is_floating(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
        or types.is_decimal(kind)
    )


def kind_of_type(kind: pa.DataType) -> str:
    """What a typed column holds, in a word."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return LISTED if numeric(kind.value_type) else UNKNOWN
    if types.is_boolean(kind):
        return TRUTH
    if types.is_integer(kind):
        return WHOLE
    if types.is_floating(kind) or types.is_decimal(kind):
        return NUMBER
    if types.is_timestamp(kind) or types.is_date(kind):
        return DATE
    return TEXT if types.is_string(kind) or types.is_large_string(kind) else UNKNOWN


def label_kind(kind: pa.DataType) -> str:
    """What labels of a typed column are compared as; columns of different kinds are not joined."""
    types = pa.types
    if types.is_dictionary(kind):
        return label_kind(kind.value_type)
    if types.is_integer(kind):
        return "whole numbers"
    if types.is_floating(kind):
        return "numbers"
    return TEXT_LABELS if types.is_null(kind) or is_text(kind) else str(kind)


def _texts(column: pa.Array) -> np.ndarray:
    """Labels as texts; whole numbers are spelt once each, however often they stand there."""
    if not pa.types.is_integer(column.type):
        return texts(cells_of(column))
    coded = column.dictionary_encode()
    known = texts([*coded.dictionary.to_pylist(), None])  # the last is for cells that are missing
    places = coded.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(known[places])


def cells_of(column: pa.Array) -> list[Any]:
    """Cells of an Arrow column; one that cannot be read is missing, alone."""
    if pa.types.is_dictionary(column.type):  # each spelling is read once
        known = cells_of(column.dictionary)
        return [None if place is None else known[place] for place in column.indices.to_pylist()]
    try:
        return column.to_pylist()
    except Exception:  # of one cell; then each is read by itself
        return [_label(cell) for cell in column]


def _label(cell: Any) -> Any:
    try:
        return cell.as_py()
    except Exception:  # a cell that cannot be read is missing, alone
        return None


# -- cells -----------------------------------------------------------------------------


def as_cells(record: Any) -> list[Any] | None:
    """The cells of one record, or None if it has none to give."""
    try:
        if isinstance(record, str | bytes | bytearray | dict) or hasattr(record, "__next__"):  # nothing that is used up
            return None
        return None if len(record) > MOST_CELLS else list(record)
    except Exception:  # whatever a record does when it is read, it does alone
        return None


def as_record(record: object, width: int, lenient: bool) -> np.ndarray | None:
    """One record as numbers, or None; its cells are judged one by one, whatever stands around it."""
    cells = as_cells(record)
    if cells is None or len(cells) != width:
        return None
    if not lenient and not all(is_number(cell) or is_missing(cell) for cell in cells):
        return None
    return np.array([as_number(cell) for cell in cells], dtype=float)


def is_number(cell: object) -> bool:
    return isinstance(cell, numbers.Real | Decimal | np.bool_)


def is_missing(cell: object) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def as_number(cell: Any) -> float:
    """A cell as a float; missing for anything that is not a number or does not fit one."""
    try:
        return float(cell) if is_number(cell) else float("nan")
    except Exception:  # whatever a cell does when it is read, it does alone
        return float("nan")
