"""Data from anywhere as batches of curves: one row a record, one column a grid point.

Readers never clip, average or repair; they only bring numbers in, a batch at a time. Their
errors name rows and columns, never contents. With `lenient` set (for ``invalid="center"``) what a
record becomes depends on that record alone: an unusable one becomes missing values.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from . import delimited
from .errors import FileError, ParameterError, RecordError, shown

Columns = str | Sequence[str] | None
Progress = Callable[[int, int | None], None]
BATCH_BYTES = 1 << 24
NUMERIC_CURE = "Name the value columns, e.g. columns='hh*', or repair the cell."


@dataclass(frozen=True, repr=False)
class Source:
    """Where curves come from and how to read them: all public.

    `columns` picks value columns of tables and files; `header` says whether a text file begins
    with names (None looks at the first line, which `lenient` reading must not do); `width` is the
    number of values a usable record has.
    """

    data: Any
    columns: Columns = None
    header: bool | None = None
    lenient: bool = False
    width: int | None = None

    def batches(self) -> Iterator[np.ndarray]:
        """Float batches, one row per record."""
        data = self.data
        if isinstance(data, str | os.PathLike):
            yield from self._file(Path(data))
        elif hasattr(data, "data_matrix") and hasattr(data, "grid_points"):
            yield from self._array(_functional(data))
        elif isinstance(data, pa.Table | pa.RecordBatch):
            yield from self._table(data)
        elif hasattr(data, "__dataframe__") or hasattr(data, "iloc"):
            yield from self._frame(data)
        else:
            yield from self._array(data)

    def values_per_curve(self) -> int:
        """Number of values per curve, from the source's shape or header."""
        first = next(iter(self.batches()), None)
        if first is None:
            raise RecordError("The data holds no curves", cure="Check the path and the columns.")
        return first.shape[1]

    def size_hint(self) -> int | None:
        """Number of records if the source knows it without being read, for progress bars."""
        data = self.data
        if isinstance(data, str | os.PathLike):
            if not str(data).endswith((".parquet", ".pq")):
                return None
            try:
                return pyarrow.parquet.read_metadata(data).num_rows
            except (OSError, pa.ArrowException):
                return None
        return len(data) if hasattr(data, "__len__") else None

    # -- in memory ------------------------------------------------------------------------

    def _array(self, values: Any) -> Iterator[np.ndarray]:
        array = _as_array(values)
        if array is None or array.dtype.kind not in "fiub":
            array = self._by_rows(values)
        if array.ndim != 2:
            raise RecordError(
                f"Curves must form a table of two dimensions, not {array.ndim}",
                cure="Pass one row per curve and one column per grid point.",
            )
        rows = _rows_per_batch(array.shape[1])
        for start in range(0, len(array), rows):
            yield np.asarray(array[start : start + rows], dtype=float)

    def _by_rows(self, values: Any) -> np.ndarray:
        """Rows that do not form an array of numbers: an error, or missing values row by row."""
        records = list(values)
        width = self.width if self.width is not None else len(records[0]) if hasattr(records[0], "__len__") else 0
        rows = [_as_record(record, width) for record in records]
        bad = [i for i, row in enumerate(rows) if row is None]
        if bad and not self.lenient:
            raise RecordError("Curves must be rows of numbers, all of one length", bad, "Convert or repair them.")
        return np.array([np.full(width, np.nan) if row is None else row for row in rows]).reshape(len(rows), width)

    def _frame(self, frame: Any) -> Iterator[np.ndarray]:
        names = [str(name) for name in frame.columns]
        chosen = pick(names, self.columns)
        table = frame if self.columns is None else frame[[frame.columns[names.index(name)] for name in chosen]]
        arrow = pa.table(table) if hasattr(table, "__arrow_c_stream__") else None
        if arrow is None:
            yield from self._array(table.to_numpy())
        else:
            yield from self._table(arrow.rename_columns(chosen), all_columns=True)

    def _table(self, table: Any, all_columns: bool = False) -> Iterator[np.ndarray]:
        chosen = list(table.schema.names) if all_columns else pick(table.schema.names, self.columns)
        table = table.select(chosen)
        whole = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
        for batch in whole.to_batches(max_chunksize=_rows_per_batch(len(chosen))):
            yield self._matrix(batch)

    def _matrix(self, batch: Any) -> np.ndarray:
        out = np.empty((batch.num_rows, batch.num_columns))
        for i, (field, column) in enumerate(zip(batch.schema, batch.columns, strict=True)):
            kind = field.type
            if (
                pa.types.is_floating(kind)
                or pa.types.is_integer(kind)
                or pa.types.is_boolean(kind)
                or pa.types.is_null(kind)
                or pa.types.is_decimal(kind)
            ):
                out[:, i] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            elif self.lenient:
                out[:, i] = [_as_number(value) for value in column.to_pylist()]
            else:
                raise RecordError("A column does not hold numbers", column=field.name, cure=NUMERIC_CURE)
        return out

    # -- files ----------------------------------------------------------------------------

    def _file(self, path: Path) -> Iterator[np.ndarray]:
        if not path.is_file():
            raise FileError(f"There is no file {path.name!r} to read. Check the path.")
        if path.suffix in (".parquet", ".pq"):
            yield from self._parquet(path)
        elif path.suffix in (".csv", ".tsv", ".txt"):
            layout = delimited.layout(path, self.header, self.lenient)
            chosen = pick(layout.names, self.columns) if layout.names else None
            if layout.names is None and self.columns is not None:
                raise ParameterError(
                    "columns need a header line", shown(self.columns), "Add one, or pass columns=None."
                )
            yield from delimited.rows(path, layout, chosen, self.lenient, BATCH_BYTES)
        else:
            raise FileError(f"Files must end in .csv, .tsv, .txt, .parquet or .pq, and {path.name!r} does not.")

    def _parquet(self, path: Path) -> Iterator[np.ndarray]:
        try:
            file = pyarrow.parquet.ParquetFile(path)
            names = pick(file.schema_arrow.names, self.columns)
            for batch in file.iter_batches(batch_size=_rows_per_batch(len(names)), columns=names):
                yield self._matrix(batch)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path.name!r} is not a readable Parquet file. Write it again.") from None


def pick(names: Sequence[str], columns: Columns) -> list[str]:
    """Column names chosen by a list, or by a pattern such as ``hh*``; None takes all."""
    if columns is None:
        return list(names)
    if isinstance(columns, str):
        chosen = [name for name in names if fnmatch.fnmatchcase(name, columns)]
    else:
        chosen = [str(name) for name in columns]
        if missing := [name for name in chosen if name not in names]:
            raise ParameterError("columns must name columns of the data", shown(missing[0]), _offer(names))
    if not chosen:
        raise ParameterError("columns must match at least one column", shown(columns), _offer(names))
    return chosen


def _offer(names: Sequence[str]) -> str:
    return f"The data has {len(names)} columns, the first being {', '.join(shown(n) for n in names[:3])}."


def _rows_per_batch(width: int) -> int:
    return max(1, BATCH_BYTES // (8 * max(1, width)))


def _functional(data: Any) -> np.ndarray:
    matrix = np.asarray(data.data_matrix)
    if matrix.ndim != 3 or matrix.shape[2] != 1:
        raise RecordError("Functional data must be curves with one component", cure="Select one component first.")
    return matrix[:, :, 0]


def _as_array(values: Any) -> np.ndarray | None:
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        return None


def _as_record(record: Any, width: int) -> np.ndarray | None:
    """One record as numbers, or None: every failure looks the same and says nothing of the content."""
    try:
        row = np.array([_as_number(value) for value in record], dtype=float)
    except (ValueError, TypeError, OverflowError):
        return None
    usable = row.size == width and not any(isinstance(value, str | bytes | list | tuple | dict) for value in record)
    return row if usable else None


def _as_number(value: Any) -> float:
    """A cell as a float; missing for anything that is not a number."""
    try:
        return float(value) if isinstance(value, int | float | np.number) else float("nan")
    except (ValueError, TypeError, OverflowError):
        return float("nan")
