"""Data from anywhere as batches of records: one row each, one column a value (a grid point, a coordinate).

Readers never clip, average or repair; they only bring numbers in, a batch at a time. Their
errors name rows and columns, never contents. With `lenient` set (for ``invalid="center"``) what a
record becomes depends on that record alone: an unusable one becomes missing values.
"""

from __future__ import annotations

import fnmatch
import numbers
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from . import delimited
from .errors import FileError, ParameterError, RecordError, shown
from .labels import Coder

Columns = str | Sequence[str] | None
Progress = Callable[[int, int | None], None]
BATCH_BYTES = 1 << 24
NUMERIC_CURE = delimited.CURE
PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".txt")


@dataclass(frozen=True, repr=False)
class Source:
    """Where curves come from and how to read them: all public.

    `columns` picks value columns of tables and files; `header` says whether a text file begins
    with names (None looks at the first line, which `lenient` reading must not do); `width` is the
    number of values a usable record has, `points` the grid they must live on. `by` is a column of
    public labels, or one label per record; `coder` numbers them.
    """

    data: Any
    columns: Columns = None
    header: bool | None = None
    lenient: bool = False
    width: int | None = None
    points: np.ndarray | None = None
    by: Any = None
    coder: Coder | None = None

    def labelled(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Batches of values, and the number of each record's group."""
        assert self.coder is not None
        if isinstance(self.by, str):
            if isinstance(self.data, np.ndarray | list | tuple):
                raise ParameterError(
                    "by must be one label per record here", shown(self.by), "A name needs data with named columns."
                )
            for batch in self.batches():
                yield batch[:, :-1], batch[:, -1]
            return
        labels = list(self.by)
        done = 0
        for batch in replace(self, by=None).batches():
            codes = self.coder.column(labels[done : done + len(batch)])
            done += len(batch)
            if done > len(labels):
                raise RecordError("There must be one label per record", cure="There are fewer.")
            yield batch, codes
        if done != len(labels):
            raise RecordError("There must be one label per record", cure="There are more.")

    def batches(self) -> Iterator[np.ndarray]:
        """Float batches, one row per record; with a label column, its numbers come last."""
        data = self.data
        if isinstance(data, str | os.PathLike):
            yield from self._file(Path(data))
        elif hasattr(data, "data_matrix") and hasattr(data, "grid_points"):
            yield from self._array(_functional(data, self.points))
        elif hasattr(data, "iloc") and hasattr(data, "columns"):
            yield from self._pandas(data)
        elif hasattr(data, "to_numpy") and hasattr(data, "dtype") and self.columns is None:  # one column
            yield from self._array(data.to_numpy())
        elif hasattr(data, "__arrow_c_stream__") or isinstance(data, pa.RecordBatch):
            yield from self._arrow(data)
        elif self.columns is not None:
            raise ParameterError("columns need data with names", shown(self.columns), "Select them from the array.")
        else:
            yield from self._array(data)

    def column_names(self) -> list[str]:
        """Names of the columns of a file."""
        path = Path(self.data)
        if not path.is_file():
            raise FileError(f"There is no file {path.name or str(path)!r} to read. Check the path.")
        if path.suffix.lower() in PARQUET:
            try:
                return list(pyarrow.parquet.read_schema(path).names)
            except (pa.ArrowException, OSError):
                raise FileError(f"{path.name!r} is not a readable Parquet file. Write it again.") from None
        names = delimited.layout(path, self.header, self.lenient, None).names
        if names is None:
            raise ParameterError("columns need a header line", "a file without names", "Add one.")
        return names

    @property
    def by_records(self) -> bool:
        """Whether only the records themselves say how many values they have (no shape, no schema)."""
        if isinstance(self.data, str | os.PathLike):
            return Path(self.data).suffix.lower() not in PARQUET
        return isinstance(self.data, list | tuple)

    @property
    def spends_itself(self) -> bool:
        """Whether reading once uses the data up."""
        stream = hasattr(self.data, "__arrow_c_stream__") and not hasattr(self.data, "__len__")
        return stream or hasattr(self.data, "__next__")

    def values_per_curve(self) -> int:
        """Number of values per curve: from the shape or the schema, else from the first records."""
        names = getattr(self.data, "columns", None)
        if names is not None and not callable(names) and not isinstance(self.data, pa.Table):
            return len(pick([str(name) for name in names], self.columns))
        if isinstance(self.data, np.ndarray) and self.data.ndim == 2:
            return self.data.shape[1]
        first = next(iter(self.batches()), None)
        if first is None:
            raise RecordError("The data holds no records", cure="Check the path and the columns.")
        return first.shape[1]

    def size_hint(self) -> int | None:
        """Number of records if the source knows it without being read, for progress bars."""
        data = self.data
        if isinstance(data, str | os.PathLike):
            if not str(data).lower().endswith(PARQUET):
                return None
            try:
                return pyarrow.parquet.read_metadata(data).num_rows
            except (OSError, pa.ArrowException):
                return None
        return None if getattr(data, "ndim", 1) == 0 or not hasattr(data, "__len__") else len(data)

    # -- in memory ------------------------------------------------------------------------

    def _array(self, values: Any) -> Iterator[np.ndarray]:
        if isinstance(values, np.ma.MaskedArray):
            numeric = values.dtype.kind in "fiub"
            values = np.ma.filled(values.astype(float if numeric else object), np.nan if numeric else None)
        elif hasattr(values, "__array__") and not isinstance(values, np.ndarray):
            values = _as_array(values)
        # Whether a list forms an array depends on all of its records; lenient reading judges each alone.
        array = None if self.lenient and not isinstance(values, np.ndarray) else _as_array(values)
        if array is None or array.dtype.kind not in "fiub":
            array = self._by_rows(values)
        if self.width is not None and array.ndim == 1 and (self.width == 1 or not array.size):
            array = array.reshape(-1, self.width)
        if array.ndim != 2:
            raise RecordError(
                f"Records must form a table of two dimensions, not {array.ndim}",
                cure="Pass one row per record and one column per value.",
            )
        rows = _rows_per_batch(array.shape[1])
        for start in range(0, len(array), rows):
            with np.errstate(all="ignore"):  # what a value does in a cast is nobody's business
                batch = np.asarray(array[start : start + rows], dtype=float)
            yield batch

    def _by_rows(self, values: Any) -> np.ndarray:
        """Records that do not form an array of numbers: an error, or missing values cell by cell."""
        try:
            records = list(values)
        except TypeError:
            raise RecordError(
                "Records must come as an array, a table or a path", cure=f"Got {type(values).__name__}."
            ) from None
        width = self.width if self.width is not None else _length(records[0]) if records else 0
        if width == 1:
            records = [record if _as_cells(record) is not None else [record] for record in records]
        rows = [_as_record(record, width, self.lenient) for record in records]
        bad = [i for i, row in enumerate(rows) if row is None]
        if bad and not self.lenient:
            raise RecordError("Records must be rows of numbers, all of one length", bad, "Convert or repair them.")
        return np.array([np.full(width, np.nan) if row is None else row for row in rows]).reshape(len(rows), width)

    def _pandas(self, frame: Any) -> Iterator[np.ndarray]:
        """A pandas frame, some rows at a time; its index is not data."""
        names = [str(name) for name in frame.columns]
        if self.columns is None and self.by is None:
            places = list(range(len(names)))
        else:
            places = [names.index(n) for n in self._values(names)]
        step = _rows_per_batch(len(places))
        for start in range(0, len(frame), step):
            part = frame.iloc[start : start + step]
            columns = [self._pandas_column(part.iloc[:, p], names[p], start) for p in places]
            if self.by is not None:
                columns.append(self.coder.column(part.iloc[:, names.index(self.by)]))  # type: ignore[union-attr]
            yield np.column_stack(columns)

    def _values(self, names: Sequence[str]) -> list[str]:
        """The value columns: those asked for, or all but the labels."""
        if self.by is not None and self.by not in names:
            raise ParameterError("by must name a column of the data", shown(self.by), "Check the spelling.")
        return pick([name for name in names if name != self.by], self.columns)

    def _pandas_column(self, column: Any, name: str, first: int) -> np.ndarray:
        """Numbers by their type, anything else cell by cell: no cell decides how another is read."""
        arrow = getattr(column.dtype, "pyarrow_dtype", None)
        if _numeric(arrow) if arrow is not None else getattr(column.dtype, "kind", "O") in "fiub":
            return column.to_numpy(dtype=float, na_value=np.nan)
        cells = [None] * len(column) if arrow is not None and self.lenient else list(column)
        if not self.lenient:
            bad = [first + i for i, cell in enumerate(cells) if not (_is_number(cell) or _is_missing(cell))]
            if bad:
                raise RecordError("A cell does not hold a number", bad, NUMERIC_CURE, column=name)
        return np.array([_as_number(cell) for cell in cells], dtype=float)

    def _arrow(self, data: Any) -> Iterator[np.ndarray]:
        """Anything that speaks Arrow; a polars frame gives only its chosen columns away."""
        try:
            if hasattr(data, "get_columns") and (self.columns is not None or self.by is not None):
                data = data.select(self._chosen(list(data.columns)))
            table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else pa.table(data)
        except pa.ArrowException:
            table = None
        if table is None:
            raise FileError("The table holds a type of column that cannot be read. Choose numeric columns.")
        yield from self._table(table)

    def _table(self, table: pa.Table) -> Iterator[np.ndarray]:
        names = table.schema.names
        if self.columns is not None and len(set(names)) < len(names):
            raise FileError("Column names repeat; every column needs its own.")
        if self.columns is not None or self.by is not None:
            table = table.select(self._chosen(names))
        for batch in table.to_batches(max_chunksize=_rows_per_batch(table.num_columns)):
            yield self._matrix(batch)

    def _matrix(self, batch: pa.RecordBatch) -> np.ndarray:
        """Columns by their declared type; a type that holds no numbers is missing throughout, or an error."""
        out = np.full((batch.num_rows, batch.num_columns), np.nan)
        for i, (field, column) in enumerate(zip(batch.schema, batch.columns, strict=True)):
            if field.name == self.by:
                out[:, i] = self.coder.column(_labels(column))  # type: ignore[union-attr]
                continue
            if pa.types.is_dictionary(field.type) and _numeric(field.type.value_type):
                column = column.dictionary_decode()
            if _numeric(column.type):
                out[:, i] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            elif not self.lenient:
                raise RecordError("A column does not hold numbers", column=field.name, cure=NUMERIC_CURE)
        return out

    def _chosen(self, names: Sequence[str]) -> list[str]:
        """Value columns, and the labels last."""
        return [*self._values(names), *([] if self.by is None else [self.by])]

    # -- files ----------------------------------------------------------------------------

    def _file(self, path: Path) -> Iterator[np.ndarray]:
        if not path.is_file():
            raise FileError(f"There is no file {path.name or str(path)!r} to read. Check the path.")
        if path.suffix.lower() in PARQUET:
            yield from self._parquet(path)
        elif path.suffix.lower() in TEXT:
            layout = delimited.layout(path, self.header, self.lenient, self.width)
            chosen = self._chosen(layout.names) if layout.names else None
            if layout.names is None and (self.columns is not None or self.by is not None):
                raise ParameterError(
                    "columns need a header line", shown(self.columns or self.by), "Add one, or leave them out."
                )
            labels = None if self.by is None or self.coder is None else (self.by, self.coder)
            yield from delimited.rows(path, layout, chosen, self.lenient, BATCH_BYTES, labels)
        else:
            raise FileError(f"Files must end in .csv, .tsv, .txt, .parquet or .pq, and {path.name!r} does not.")

    def _parquet(self, path: Path) -> Iterator[np.ndarray]:
        try:
            file = pyarrow.parquet.ParquetFile(path)
            names = self._chosen(file.schema_arrow.names)
            for batch in file.iter_batches(batch_size=_rows_per_batch(len(names)), columns=names):
                yield self._matrix(batch)
        except FileError:
            raise
        except (pa.ArrowException, OSError):
            raise FileError(f"{path.name!r} is not a readable Parquet file. Write it again.") from None


def pick(names: Sequence[str], columns: Columns) -> list[str]:
    """Column names chosen by a list, or by a pattern such as ``hh*``; None takes all."""
    if columns is None:
        return list(names)
    # Names may be a first record that was taken for names: they are counted, never shown.
    offer = f"The data has {len(names)} columns; check the spelling, and header=False if there are no names."
    if isinstance(columns, str):
        chosen = [name for name in names if fnmatch.fnmatchcase(name, columns)]
    else:
        chosen = [str(name) for name in columns]
        if missing := [name for name in chosen if name not in names]:
            raise ParameterError("columns must name columns of the data", shown(missing[0]), offer)
    if not chosen:
        raise ParameterError("columns must match at least one column", shown(columns), offer)
    return chosen


def _rows_per_batch(width: int) -> int:
    return max(1, BATCH_BYTES // (8 * max(1, width)))


def _numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return (
        types.is_floating(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
        or types.is_decimal(kind)
    )


def _labels(column: pa.Array) -> list[Any]:
    """Labels of an Arrow column; a cell that cannot be read is missing, alone."""
    try:
        return column.to_pylist()
    except Exception:  # of one cell; then each is read by itself
        return [_label(cell) for cell in column]


def _label(cell: Any) -> Any:
    try:
        return cell.as_py()
    except Exception:  # a cell that cannot be read is missing, alone
        return None


def _functional(data: Any, points: np.ndarray | None) -> np.ndarray:
    matrix = np.asarray(data.data_matrix)
    if matrix.ndim != 3 or matrix.shape[2] != 1:
        raise RecordError("Functional data must be curves with one component", cure="Select one component first.")
    own = np.asarray(data.grid_points[0], dtype=float)
    if points is not None and own.size == points.size and not np.allclose(own, points, rtol=1e-9, atol=1e-12):
        raise RecordError(
            "Functional data must live on the plan's grid", cure="Build the plan on its grid_points, or resample it."
        )
    return matrix[:, :, 0]


def _as_array(values: Any) -> np.ndarray | None:
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        return None


def _length(record: Any) -> int:
    cells = _as_cells(record)
    return 0 if cells is None else len(cells)


def _as_cells(record: Any) -> list[Any] | None:
    """The cells of one record, or None if it has none to give."""
    if isinstance(record, str | bytes | bytearray | dict):
        return None
    try:
        return list(record)
    except Exception:  # whatever a record does when it is read, it does alone
        return None


def _as_record(record: Any, width: int, lenient: bool) -> np.ndarray | None:
    """One record as numbers, or None; its cells are judged one by one, whatever stands around it."""
    cells = _as_cells(record)
    if cells is None or len(cells) != width:
        return None
    if not lenient and not all(_is_number(cell) or _is_missing(cell) for cell in cells):
        return None
    return np.array([_as_number(cell) for cell in cells], dtype=float)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, numbers.Real | Decimal | np.bool_)


def _is_missing(cell: Any) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _as_number(cell: Any) -> float:
    """A cell as a float; missing for anything that is not a number or does not fit one."""
    try:
        return float(cell) if _is_number(cell) else float("nan")
    except Exception:  # whatever a cell does when it is read, it does alone
        return float("nan")
