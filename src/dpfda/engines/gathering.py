"""Rows of a unit that do not lie side by side: gathered in memory where they are few, else refused with the cure.

Whoever reads a stream in order needs little memory. Where it turns out not to be in order (which is an error about
records, outside of any guarantee; where no such error may be, rows are gathered from the start) it is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

from dpfda.reading.blocks import Raw, Unsorted
from dpfda.reading.places import Place, expanded, is_path
from dpfda.reading.scans import Scan
from dpfda.reading.source import Source

#: Bytes of files whose rows are gathered, at most, and bytes of rows.
SMALL_FILES, MOST_BYTES = 1 << 28, 1 << 30
#: What a label takes, about.
LABEL_BYTES = 80
T = TypeVar("T")


def in_any_order(read: Callable[[bool], T], source: Source, gather: bool) -> T:
    """What `read` comes to; told to gather where rows that belong together do not lie side by side, and are few."""
    try:
        return read(gather)
    except Unsorted as error:
        problem = error.problem
    if _readable_again(source):
        try:
            return read(True)
        except Unsorted:  # there are too many
            pass
    raise Unsorted(problem, (), _cure(source, source.key_name))


def limited(raws: Iterable[Raw]) -> Generator[Raw, None, None]:
    """The same rows, as long as they can be gathered."""
    size = 0
    for raw in raws:
        size += raw.values.nbytes + LABEL_BYTES * len(raw) * len(raw.keys)
        if size > MOST_BYTES:
            raise Unsorted("Rows are too many")
        yield raw


def are_few(places: Sequence[Place]) -> bool:
    """Whether files are small enough, together, for their rows to be gathered."""
    return sum(place.size for place in places) <= SMALL_FILES


def _readable_again(source: Source) -> bool:
    if is_path(source.data):
        return are_few(expanded(source.data))
    return isinstance(source.data, Scan)


def _cure(source: Source, key: str) -> str:
    if is_path(source.data):
        return (
            f"So much is read as a stream, which must be sorted by {key} (as text or as numbers, over all files), so "
            f"that none counts twice; files of {SMALL_FILES >> 20} MB together need no order. Sort them, or read them "
            "with dp.read(..., engine='dask') or dp.read(..., engine='spark'), which need no order."
        )
    if isinstance(source.data, Scan):
        cure = source.data.sort_cure.format(key=key)
        return f"Rows of more than {MOST_BYTES >> 30} GB must come in its order, so that none counts twice: {cure}."
    return f"A stream must be sorted by {key}, so that none counts twice: sort it, or pass it as one table."
