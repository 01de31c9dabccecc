"""Parquet files: names, sizes and batches, with errors that say which file and quote nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet

from .errors import FileError
from .places import Place

#: Bytes of a batch: it and its copy by rows stay near the processor. Bytes of a row group that is decoded at once.
BATCH_BYTES, GROUP_BYTES = 1 << 22, 10 << 24
#: Read as needed, so that memory does not grow with the size of a file.
PAGE = 1 << 16


@contextmanager
def _opened(place: Place) -> Iterator[pyarrow.parquet.ParquetFile]:
    try:
        with place.open() as file:
            source = file if place.remote else place.path
            yield pyarrow.parquet.ParquetFile(source, buffer_size=PAGE, pre_buffer=False)
    except FileError:
        raise
    except (pa.ArrowException, OSError):
        raise FileError(f"{place.name!r} is not a readable Parquet file, or not all of it. Write it again.") from None


def schema(place: Place) -> pa.Schema:
    """Names and types of the columns."""
    with _opened(place) as file:
        return file.schema_arrow


def names(place: Place) -> list[str]:
    """Names of the columns."""
    return list(schema(place).names)


def count(places: Sequence[Place]) -> int | None:
    """Rows of all files, as their footers say; None where one cannot say."""
    total = 0
    for place in places:
        try:
            with _opened(place) as file:
                total += file.metadata.num_rows
        except FileError:
            return None
    return total


def batches(place: Place, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """The chosen columns, some rows at a time.

    A row group that is not too large is decoded at once: that is quicker, and frees its dictionaries and pages before
    the next one; of larger ones pages are decoded as they are needed.
    """
    rows = max(1, BATCH_BYTES // (8 * max(1, len(columns))))
    with _opened(place) as file:
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            if max(group.total_byte_size, 8 * group.num_rows * len(columns)) <= GROUP_BYTES:
                yield from file.read_row_group(number, columns=columns).to_batches(max_chunksize=rows)
            else:
                yield from file.iter_batches(batch_size=rows, row_groups=[number], columns=columns)
