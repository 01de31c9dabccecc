"""Arrow data of other programs, before anything is made of it: what cannot be read is refused in our words.

The errors of other packages may quote a cell, so none of their texts gets through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpfda.core.errors import DpfdaError, FileError
from dpfda.reading.arrow import compute, pa
from dpfda.reading.lazy_frames import is_lazy


def check_kinds(data: object) -> None:
    """Columns of Python objects, which polars cannot give away: it would end the process."""
    kinds = data.collect_schema().values() if is_lazy(data) else getattr(data, "dtypes", ())
    if any(str(kind) == "Object" for kind in kinds):
        raise FileError("The table holds columns of objects, which cannot be read. Choose numeric columns.")


def quietly(
    batches: Iterable[pa.RecordBatch],
    problem: str = "The stream of records breaks off: what comes next cannot be read",
    cure: str = "Check how it was opened.",
) -> Iterator[pa.RecordBatch]:
    """Batches as they come. What a reader of another package says when it balks may quote a cell, and stays unsaid."""
    stream, balked = iter(batches), False
    while not balked:
        try:
            batch = next(stream)
        except (StopIteration, DpfdaError) as end:
            if isinstance(end, DpfdaError):
                raise
            return
        except Exception:
            balked = True
        else:
            yield batch
    raise FileError(f"{problem}. {cure}")


def check_whole(batch: pa.RecordBatch) -> None:
    """Refuse a batch whose lists, texts or codes point outside of it, before anything follows them there."""
    try:
        for column in batch.columns:
            _validate(column)
    except pa.ArrowException:  # its text may quote data
        damaged = True
    else:
        damaged = False
    if damaged:
        raise FileError("The table is damaged: some column points outside of its own values. Write it again.")


def _validate(column: pa.Array) -> None:
    """Places only: a text that cannot be decoded is missing, alone."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        _validate(column.dictionary)
        places = compute.min_max(column.indices).as_py()
        if places["max"] is not None and not 0 <= places["min"] <= places["max"] < len(column.dictionary):
            raise pa.ArrowInvalid("codes")
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column.view(pa.binary() if pa.types.is_string(kind) else pa.large_binary()).validate(full=True)
    elif pa.types.is_string_view(kind):
        column.view(pa.binary_view()).validate(full=True)
    elif pa.types.is_primitive(kind) or pa.types.is_decimal(kind):  # values point nowhere, whatever they are
        column.validate()
    else:
        column.validate(full=True)
