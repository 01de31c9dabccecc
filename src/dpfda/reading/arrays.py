"""Rows of numbers from arrays and lists in memory; cells that are none are an error, or missing, alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpfda.core.errors import RecordError
from dpfda.reading.tables import as_cells, as_record

#: Values of an array in memory that are handed on at a time, and rows at least and at most: they are not copied.
AT_ONCE, FEWEST, MOST = 1 << 24, 1 << 16, 1 << 21
#: Numbers that are taken as they are; all others become the second of these.
AS_THEY_ARE = (np.dtype(np.float32), np.dtype(np.float64))


def rows_at_once(width: int) -> int:
    """Rows of so many values that are handed on at a time, where this costs no memory."""
    return max(FEWEST, min(MOST, AT_ONCE // max(1, width)))


def rows_of(values: object, width: int | None, lenient: bool) -> np.ndarray:
    """One row per record. In lenient reading no record decides how another is read."""
    if isinstance(values, np.ma.MaskedArray):
        values = unmasked(values)
    elif hasattr(values, "__array__") and not isinstance(values, np.ndarray):
        values = _as_array(values)
    # Whether a list forms an array depends on all of its records; lenient reading judges each alone.
    array = None if lenient and not isinstance(values, np.ndarray) else _as_array(values)
    if array is None or array.dtype.kind not in "fiub":
        array = _by_rows(values, width, lenient)
    if width is not None and array.ndim == 1 and (width == 1 or not array.size):
        array = array.reshape(-1, width)
    if array.ndim != 2:
        raise RecordError(
            f"Records must form a table of two dimensions, not {array.ndim}",
            cure="Pass one row per record and one column per value.",
        )
    return array


def unmasked(values: np.ndarray) -> np.ndarray:
    """The values of a masked array, missing where they are masked."""
    numeric = values.dtype.kind in "fiub"
    with np.errstate(all="ignore"):  # what a value does in a cast is nobody's business
        return np.ma.filled(values.astype(float if numeric else object), np.nan if numeric else None)


def _by_rows(values: Any, width: int | None, lenient: bool) -> np.ndarray:
    """Records that do not form an array of numbers: an error, or missing values cell by cell."""
    if isinstance(values, np.ndarray) and values.ndim and len(values) and not values.nbytes:
        # It takes no space, however many records it claims to be.
        raise RecordError("Records must be rows of numbers", cure="This array holds nothing.")
    if isinstance(values, Mapping):
        raise RecordError(
            "Records come as an array, a table or a path, not as a dict",
            cure="Pass pandas.DataFrame(data) if it holds columns, np.array(list(data.values())) if it holds rows.",
        )
    try:
        records = list(values)
    except TypeError:
        raise RecordError(
            f"Records come as an array, a table or a path, not as {type(values).__name__}",
            cure="Pass np.array(data), a DataFrame, or 'curves.csv'.",
        ) from None
    if width is None:
        width = len(as_cells(records[0]) or ()) if records else 0
    if width == 1:
        records = [record if as_cells(record) is not None else [record] for record in records]
    rows = [as_record(record, width, lenient) for record in records]
    bad = [i for i, row in enumerate(rows) if row is None]
    if bad and not lenient:
        raise RecordError("Records must be rows of numbers, all of one length", bad, "Convert or repair them.")
    return np.array([np.full(width, np.nan) if row is None else row for row in rows]).reshape(len(rows), width)


def _as_array(values: object) -> np.ndarray | None:
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        return None
