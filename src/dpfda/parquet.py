"""Parquet files: names, sizes and batches, with errors that say which file and quote nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet

from .errors import FileError
from .places import Place

#: Bytes of a batch: it and its copy by rows stay near the processor.
BATCH_BYTES = 1 << 22


@contextmanager
def _opened(place: Place) -> Iterator[pyarrow.parquet.ParquetFile]:
    try:
        with place.open() as file:
            yield pyarrow.parquet.ParquetFile(file if place.remote else place.path)
    except FileError:
        raise
    except (pa.ArrowException, OSError):
        raise FileError(f"{place.name!r} is not a readable Parquet file, or not all of it. Write it again.") from None


def names(place: Place) -> list[str]:
    """Names of the columns."""
    with _opened(place) as file:
        return list(file.schema_arrow.names)


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
    """The chosen columns, some rows at a time."""
    rows = max(1, BATCH_BYTES // (8 * max(1, len(columns))))
    with _opened(place) as file:
        yield from file.iter_batches(batch_size=rows, columns=columns)
