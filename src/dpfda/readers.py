"""Data from anywhere as batches of curves: one row a record, one column a grid point.

Readers never clip, average or repair; they only bring numbers in, a batch at a time. Their
errors name rows and columns, never contents.
"""

from __future__ import annotations

import csv
import fnmatch
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .errors import FileError, ParameterError, RecordError

Columns = str | Sequence[str] | None
Progress = Callable[[int, int | None], None]
BATCH_BYTES = 1 << 24
NUMERIC_CURE = "Name the value columns, e.g. columns='hh*', or repair the cell."


def batches(source: Any, columns: Columns = None, lenient: bool = False) -> Iterator[np.ndarray]:
    """Float batches from an array, table, data frame, FDataGrid or file.

    `lenient` turns unusable cells and rows into missing values (for ``invalid="center"``);
    otherwise they are errors.
    """
    if isinstance(source, str | os.PathLike):
        yield from _file(Path(source), columns, lenient)
    elif hasattr(source, "data_matrix") and hasattr(source, "grid_points"):
        yield from _array(_functional(source))
    elif isinstance(source, pa.Table | pa.RecordBatch):
        yield from _table(source, columns)
    elif hasattr(source, "__dataframe__") or hasattr(source, "to_numpy"):
        yield from _frame(source, columns)
    else:
        yield from _array(source)


def width(source: Any, columns: Columns = None) -> int:
    """Number of values per curve, from the source's shape or header."""
    first = next(iter(batches(source, columns, lenient=True)), None)
    if first is None:
        raise RecordError("The data holds no curves", cure="Check the path and the columns.")
    return first.shape[1]


def size_hint(source: Any) -> int | None:
    """Number of records if the source knows it without being read, for progress bars."""
    if isinstance(source, str | os.PathLike) and str(source).endswith((".parquet", ".pq")):
        try:
            return pyarrow.parquet.read_metadata(source).num_rows
        except (OSError, pa.ArrowException):
            return None
    return len(source) if hasattr(source, "__len__") and not isinstance(source, str) else None


def _array(values: Any) -> Iterator[np.ndarray]:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):
        raise RecordError("Curves must all have the same number of values", cure="Bring them to one grid.") from None
    if array.dtype == object:
        array = _from_objects(array)
    if array.dtype.kind not in "fiub":
        raise RecordError("Curves must be numbers", cure=f"The array holds {array.dtype.kind!r} data; convert it.")
    if array.ndim != 2:
        raise RecordError(
            f"Curves must form a table of two dimensions, not {array.ndim}",
            cure="Pass one row per curve and one column per grid point.",
        )
    rows = max(1, BATCH_BYTES // (8 * max(1, array.shape[1])))
    for start in range(0, len(array), rows):
        yield np.asarray(array[start : start + rows], dtype=float)


def _from_objects(array: np.ndarray) -> np.ndarray:
    try:
        return array.astype(float)
    except (ValueError, TypeError):
        raise RecordError(
            "Curves must be rows of numbers, all of one length", cure="Convert text and ragged rows first."
        ) from None


def _functional(data: Any) -> np.ndarray:
    matrix = np.asarray(data.data_matrix)
    if matrix.ndim != 3 or matrix.shape[2] != 1:
        raise RecordError("Functional data must be curves with one component", cure="Select one component first.")
    return matrix[:, :, 0]


def _frame(frame: Any, columns: Columns) -> Iterator[np.ndarray]:
    names = [str(name) for name in getattr(frame, "columns", [])]
    chosen = pick(names, columns) if names else []
    table = frame[[frame.columns[names.index(name)] for name in chosen]] if columns is not None else frame
    for name, kind in zip(chosen, getattr(table, "dtypes", []), strict=False):
        if getattr(kind, "kind", "f") not in "fiub":
            raise RecordError("A column does not hold numbers", column=name, cure=NUMERIC_CURE)
    yield from _array(table.to_numpy())


def _table(table: Any, columns: Columns) -> Iterator[np.ndarray]:
    chosen = pick(table.schema.names, columns)
    parts = table.select(chosen).to_batches() if isinstance(table, pa.Table) else [table.select(chosen)]
    for batch in parts:
        yield _matrix(batch)


def _matrix(batch: Any) -> np.ndarray:
    out = np.empty((batch.num_rows, batch.num_columns))
    for i, (field, column) in enumerate(zip(batch.schema, batch.columns, strict=True)):
        kind = field.type
        if not (
            pa.types.is_floating(kind)
            or pa.types.is_integer(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_null(kind)
            or pa.types.is_decimal(kind)
        ):
            raise RecordError("A column does not hold numbers", column=field.name, cure=NUMERIC_CURE)
        out[:, i] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return out


def pick(names: Sequence[str], columns: Columns) -> list[str]:
    """Column names chosen by a list, or by a pattern such as ``hh*``; None takes all."""
    if columns is None:
        return list(names)
    if isinstance(columns, str):
        chosen = [name for name in names if fnmatch.fnmatchcase(name, columns)]
    else:
        chosen = [str(name) for name in columns]
        if missing := [name for name in chosen if name not in names]:
            raise ParameterError("columns must name columns of the data", repr(missing[0])[:60], _offer(names))
    if not chosen:
        raise ParameterError("columns must match at least one column", repr(columns)[:60], _offer(names))
    return chosen


def _offer(names: Sequence[str]) -> str:
    return f"The data has {len(names)} columns, the first being {', '.join(repr(n)[:30] for n in names[:3])}."


def _file(path: Path, columns: Columns, lenient: bool) -> Iterator[np.ndarray]:
    if not path.is_file():
        raise FileError(f"There is no file {path.name!r} to read. Check the path.")
    if path.suffix in (".parquet", ".pq"):
        yield from _parquet(path, columns)
    elif path.suffix in (".csv", ".tsv", ".txt"):
        yield from _delimited(path, columns, lenient)
    else:
        raise FileError(f"Files must end in .csv, .tsv, .txt, .parquet or .pq, and {path.name!r} does not.")


def _parquet(path: Path, columns: Columns) -> Iterator[np.ndarray]:
    try:
        file = pyarrow.parquet.ParquetFile(path)
        names = pick(file.schema_arrow.names, columns)
        rows = max(1, BATCH_BYTES // (8 * len(names)))
        for batch in file.iter_batches(batch_size=rows, columns=names):
            yield _matrix(batch)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path.name!r} is not a readable Parquet file. Write it again.") from None


def _delimited(path: Path, columns: Columns, lenient: bool) -> Iterator[np.ndarray]:
    """The quick reader first; where it balks, the careful one goes on from the same row."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    header = _header(path, delimiter)
    chosen = pick(header, columns) if header else None
    if header is None and columns is not None:
        raise ParameterError("columns need a header line", repr(columns)[:60], "Add one, or pass columns=None.")
    done = 0
    try:
        for batch in _quick(path, delimiter, header, chosen):
            yield batch
            done += len(batch)
    except pa.ArrowException:
        yield from _careful(path, delimiter, header, chosen, lenient, skip=done)


def _header(path: Path, delimiter: str) -> list[str] | None:
    """Names from the first line, or None if it is a curve.

    A line of numbers is a curve, unless it merely counts its columns (0, 1, 2, ... or 1, 2, 3, ...).
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = next(csv.reader(file, delimiter=delimiter), None)
    except (UnicodeDecodeError, csv.Error):
        raise FileError(f"{path.name!r} is not a text file in UTF-8.") from None
    if not first:
        raise RecordError(f"The file {path.name!r} is empty", cure="Write one row per curve.")
    counts = [[str(i + start) for i in range(len(first))] for start in (0, 1)]
    if all(_number(cell) is not None for cell in first) and (len(first) < 3 or first not in counts):
        return None
    return [name.strip() for name in first]


def _quick(path: Path, delimiter: str, header: list[str] | None, chosen: list[str] | None) -> Iterator[np.ndarray]:
    names = header or []
    convert = pyarrow.csv.ConvertOptions(
        column_types={name: pa.float64() for name in chosen or []}, include_columns=chosen or []
    )
    read = pyarrow.csv.ReadOptions(
        block_size=BATCH_BYTES,
        column_names=names,
        skip_rows=1 if header else 0,
        autogenerate_column_names=header is None,
        use_threads=False,
    )
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter)
    if len(set(names)) < len(names):
        raise FileError("Column names repeat; every column needs its own.")
    with pyarrow.csv.open_csv(path, read_options=read, parse_options=parse, convert_options=convert) as stream:
        for batch in stream:
            if batch.num_rows:
                if any(pa.types.is_string(field.type) for field in batch.schema):
                    raise pa.ArrowInvalid("text")
                yield _matrix(batch)


def _careful(
    path: Path, delimiter: str, header: list[str] | None, chosen: list[str] | None, lenient: bool, skip: int
) -> Iterator[np.ndarray]:
    """Row by row with the standard library: says where a bad cell is, or makes it missing."""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        lines = csv.reader(file, delimiter=delimiter)
        if header:
            next(lines)
        places = [header.index(name) for name in chosen] if header and chosen else None
        expected = len(header) if header else None
        rows: list[list[float]] = []
        for index, cells in enumerate(row for row in lines if row):
            expected = expected or len(cells)
            if index < skip:
                continue
            rows.append(_careful_row(index, cells, expected, places, header, lenient))
            if len(rows) == 4096:
                yield np.array(rows, dtype=float)
                rows = []
        if rows:
            yield np.array(rows, dtype=float)


def _careful_row(
    index: int, cells: list[str], expected: int, places: list[int] | None, header: list[str] | None, lenient: bool
) -> list[float]:
    wanted = places if places is not None else list(range(expected))
    if len(cells) != expected:
        if lenient:
            return [math.nan] * len(wanted)
        raise RecordError(
            f"A row has {len(cells)} cells and the file has {expected} columns",
            [index],
            "Every curve needs one value per grid point.",
        )
    values = []
    for place in wanted:
        value = _number(cells[place])
        if value is None and not lenient:
            raise RecordError(
                "A cell does not hold a number",
                [index],
                NUMERIC_CURE,
                column=repr(header[place])[:40] if header else str(place + 1),
            )
        values.append(math.nan if value is None else value)
    return values


def _number(cell: str) -> float | None:
    text = cell.strip()
    if text.lower() in ("", "na", "n/a", "nan", "null"):
        return math.nan
    try:
        return float(text)
    except ValueError:
        return None
