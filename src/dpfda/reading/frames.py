"""Pandas frames: numbers by their type, anything else cell by cell. No cell decides how another is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpfda.core.errors import RecordError
from dpfda.core.labels import texts
from dpfda.reading.arrays import AS_THEY_ARE, rows_at_once
from dpfda.reading.blocks import Raw
from dpfda.reading.delimited import CURE
from dpfda.reading.functional import ragged
from dpfda.reading.layouts import Lists, Long, wall_clock, wall_of
from dpfda.reading.roles import Roles
from dpfda.reading.tables import as_cells, as_number, as_record, is_missing, is_number, numeric


def blocks(frame: Any, roles: Roles, values: Sequence[str], aside: Sequence[str], step: int) -> Iterator[Raw]:
    """Some rows at a time; the index is not data."""
    names = [str(name) for name in frame.columns]
    places = [names.index(name) for name in values] if len(set(names)) == len(names) else list(range(len(names)))
    plain = _is_plain(list(frame.dtypes), places, roles)
    step = max(step, rows_at_once(len(places))) if plain and not aside else step
    for start in range(0, len(frame), step):
        part = frame.iloc[start : start + step]
        labels = {name: texts(list(part.iloc[:, names.index(name)])) for name in aside}
        if plain:
            matrix = part.iloc[:, places[0] : places[-1] + 1].to_numpy()  # as it lies there, where it is one array
        else:
            columns = [part.iloc[:, place] for place in places]
            matrix = _columns(columns, [names[p] for p in places], roles, start)
        yield roles.block(matrix, labels, start)


def _is_plain(kinds: list[object], places: list[int], roles: Roles) -> bool:
    """Whether the values are neighbouring columns of one kind of floats."""
    side_by_side = bool(places) and places == list(range(places[0], places[-1] + 1))
    if roles.layout is not None or not side_by_side:
        return False
    chosen = set(kinds[places[0] : places[-1] + 1])
    return len(chosen) == 1 and chosen <= set(AS_THEY_ARE)


def _columns(columns: list[Any], names: list[str], roles: Roles, first: int) -> Any:
    if _holds_lists(columns, roles):
        return _lists(columns, roles, first)
    found = []
    for column, name in zip(columns, names, strict=True):
        if name == roles.stamped:
            found.append(_stamps(column, roles.zone, roles.lenient))
        else:
            found.append(_numbers(column, name, first, roles.lenient))
    return np.column_stack(found) if found else np.empty((0, 0))


def _holds_lists(columns: list[Any], roles: Roles) -> bool:
    """Whether cells are curves: by public facts where there is a plan, else by the first cell."""
    if isinstance(roles.layout, Lists):
        return True
    if len(columns) != 1 or isinstance(roles.layout, Long) or getattr(columns[0].dtype, "kind", "") != "O":
        return False
    if roles.width is not None:
        return roles.width > 1
    return bool(len(columns[0])) and isinstance(columns[0].iloc[0], list | tuple | np.ndarray)


def _lists(columns: list[Any], roles: Roles, first: int) -> Any:
    if len(columns) == 2:
        try:
            return ragged(list(columns[1]), list(columns[0]), roles.lenient)
        except RecordError as error:
            raise error.shifted(first) from None
    cells = list(columns[0])
    width = roles.width if roles.width is not None else max((len(as_cells(cell) or ()) for cell in cells), default=0)
    rows = [as_record(cell, width, roles.lenient) for cell in cells]
    bad = [first + i for i, row in enumerate(rows) if row is None]
    if bad and not roles.lenient:
        raise RecordError(f"A cell does not hold a list of {width} numbers", bad, "Repair it, or give its times.")
    return np.array([np.full(width, np.nan) if row is None else row for row in rows]).reshape(len(rows), width)


def _stamps(column: Any, zone: str, lenient: bool) -> np.ndarray:
    if getattr(column.dtype, "kind", "O") != "M":
        return wall_of(list(column), zone, lenient)
    aware = getattr(column.dtype, "tz", None) is not None
    ticks = (column.dt.tz_convert(None) if aware else column).to_numpy("datetime64[us]")
    known = ~np.isnat(ticks)
    whole = np.where(known, ticks, np.datetime64(0, "us")).astype(np.int64)
    return np.where(known, (wall_clock(whole, zone) if aware else whole).astype(float), np.nan)


def _numbers(column: Any, name: str, first: int, lenient: bool) -> np.ndarray:
    arrow = getattr(column.dtype, "pyarrow_dtype", None)
    if numeric(arrow) if arrow is not None else getattr(column.dtype, "kind", "O") in "fiub":
        with np.errstate(all="ignore"):  # what a value does in a cast is nobody's business
            return column.to_numpy(dtype=float, na_value=np.nan)
    cells = [None] * len(column) if arrow is not None and lenient else list(column)
    if not lenient:
        bad = [first + i for i, cell in enumerate(cells) if not (is_number(cell) or is_missing(cell))]
        if bad:
            raise RecordError("A cell does not hold a number", bad, CURE, column=name)
    return np.array([as_number(cell) for cell in cells], dtype=float)
