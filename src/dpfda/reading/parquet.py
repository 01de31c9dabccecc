"""Parquet files: names, sizes and batches, with errors that say which file and quote nothing of it.

A small file can claim to hold any number of equal values. What is decoded is bounded by the size of the file, and
texts are decoded once however often they stand there, so that neither time nor memory is at a file's mercy.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from dpfda.core.errors import DpfdaError, FileError
from dpfda.reading.arrow import pa, parquet
from dpfda.reading.footers import stored_values
from dpfda.reading.places import Place

#: Bytes of a batch: it and its copy by rows stay near the processor. Bytes of a row group that is decoded at once.
BATCH_BYTES, GROUP_BYTES = 1 << 23, 10 << 24
#: Read as needed, so that memory does not grow with the size of a file.
PAGE = 1 << 16
#: Bytes of numbers that any file may hold, and how many times its own size a larger one.
FREE_BYTES, MOST_TIMES = 1 << 26, 1000


@contextmanager
def _opened(place: Place, columns: Sequence[str] = ()) -> Iterator[tuple[parquet.ParquetFile, list[int]]]:
    """The file, and how many cells of the `columns` each row group holds; texts come with each spelling once."""
    cells: list[int] = []
    try:
        with place.open() as file:
            source = file if place.remote else place.path
            options = {"buffer_size": PAGE, "pre_buffer": False}
            found = parquet.ParquetFile(source, **options)
            if columns:
                cells = _cells(found, file, columns)
                _check_claims(place, file.seek(0, io.SEEK_END), found, cells)
                kinds = found.schema_arrow  # made anew whenever it is asked for
                if words := [name for name in columns if is_text(kinds.field(name).type)]:
                    known = found.metadata
                    found = parquet.ParquetFile(source, metadata=known, read_dictionary=words, **options)
            yield found, cells
    except DpfdaError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError, MemoryError):
        raise FileError(f"{place.name!r} is not a readable Parquet file, or not all of it. Write it again.") from None


def _check_claims(place: Place, size: int, file: parquet.ParquetFile, cells: Sequence[int]) -> None:
    groups = range(file.num_row_groups)
    claimed = max(8 * sum(cells), sum(file.metadata.row_group(number).total_byte_size for number in groups))
    if claimed > max(FREE_BYTES, MOST_TIMES * size):
        raise FileError(
            f"{place.name!r} claims to hold more than {MOST_TIMES:,} times its own size: it may be made to fill "
            "memory. Write it again without compression if it is not."
        )


def is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return types.is_string(kind) or types.is_binary(kind) or types.is_large_string(kind) or types.is_large_binary(kind)


def _lists(file: parquet.ParquetFile, columns: Sequence[str]) -> list[int]:
    """The numbers of stored columns that hold several values a row, of those chosen."""
    kinds = file.schema_arrow
    nested = [name for name in columns if pa.types.is_nested(kinds.field(name).type)]
    if not nested:
        return []
    paths = [file.schema.column(number).path for number in range(file.metadata.num_columns)]
    return [i for i, path in enumerate(paths) if any(path.startswith(f"{name}.") for name in nested)]


def _cells(file: parquet.ParquetFile, raw: IO[bytes], columns: Sequence[str]) -> list[int]:
    """Values in the chosen columns of each row group, as the footer says."""
    rows = [int(file.metadata.row_group(number).num_rows) for number in range(file.num_row_groups)]
    if not (lists := _lists(file, columns)):
        return [count * len(columns) for count in rows]
    stored = stored_values(raw)
    return [n * len(columns) + sum(group[i] for i in lists) for n, group in zip(rows, stored, strict=True)]


def schema(place: Place) -> pa.Schema:
    """Names and types of the columns."""
    with _opened(place) as (file, _):
        return file.schema_arrow


def names(place: Place) -> list[str]:
    """Names of the columns."""
    return list(schema(place).names)


def count(places: Sequence[Place]) -> int | None:
    """Rows of all files, as their footers say; None where one cannot say."""
    total = 0
    for place in places:
        try:
            with _opened(place) as (file, _):
                total += file.metadata.num_rows
        except FileError:
            return None
    return total


def batches(place: Place, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """The chosen columns, some rows at a time.

    A row group that is not too large is decoded at once: that is quicker, and frees its dictionaries and pages before
    the next one; of larger ones pages are decoded as they are needed.
    """
    with _opened(place, columns) as (file, cells):
        for number, held in enumerate(cells):
            group = file.metadata.row_group(number)
            rows = max(1, BATCH_BYTES * group.num_rows // (8 * max(1, held)))
            if max(group.total_byte_size, 8 * held) <= GROUP_BYTES:
                yield from file.read_row_group(number, columns=columns).to_batches(max_chunksize=rows)
            else:
                yield from file.iter_batches(batch_size=rows, row_groups=[number], columns=columns)
