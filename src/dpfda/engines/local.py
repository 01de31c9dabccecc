"""All records of a source in this process: as they stream by, or as an earlier pass made them ready."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias, TypeVar

import numpy as np

from dpfda.core import watching
from dpfda.core.watching import OnFile
from dpfda.engines.aligned import Aligned, worth_holding
from dpfda.engines.gathering import in_any_order, limited
from dpfda.engines.task import ALL, Partial, Task, added_up
from dpfda.problems.summary import Summary
from dpfda.reading.blocks import Block, Raw
from dpfda.reading.curves import Progress
from dpfda.reading.places import expanded, is_path
from dpfda.reading.scans import Scan
from dpfda.reading.shares import content_of, shares
from dpfda.reading.source import Source

#: Files of which somebody's rows may lie anywhere are read once for each so many bytes, some people at a time.
BYTES_AT_ONCE = 1 << 28
T = TypeVar("T")
Reading: TypeAlias = Generator[Raw, None, None]


def summarize_local(
    task: Task, source: Source, progress: Progress | None = None, aligned: Aligned | None = None
) -> dict[str, Summary]:
    """All records of a source, in this process; no more than are wanted, where that is public."""
    if task.max_records is not None and source.single_use:  # it may have to be read again
        source = replace(source, held=list(source.blocks()))
    # How many rows there are is private under some relations, and where somebody has several.
    private = task.problem.count_is_private or task.keyed_in(source)
    reported = watching.on_rows(private, progress)
    reading: _Streaming | _Sharing
    if aligned is not None and worth_holding(task, source):
        reading = _Sharing(task, source, aligned)
    else:
        reading = _Streaming(task, source, watching.on_file(lambda: _sizes(source), getattr(progress, "file", None)))
    whole = reading.summaries(reported)
    found = {name: summary.count for name, summary in whole.summaries.items()}
    surplus = {name: most for name, most in (task.max_records or {}).items() if found.get(name, 0) > most}
    if surplus and isinstance(source.data, Scan):  # what is chosen and what is kept must be of one reading
        reading = _Streaming(task, replace(source, held=list(source.blocks())))
    if surplus:
        again = watching.on_rows(True)  # which says no more than that it goes on
        whole = replace(reading.summaries(again, Kept(reading.parts(), surplus)), cut=frozenset(surplus))
    return task.finished(whole, reading.source)


def count_local(task: Task, source: Source, aligned: Aligned) -> dict[str, int] | None:
    """How many records there are in each group, where no file must be read and nothing encoded to know it."""
    if task.problem.count_is_private:
        return None
    if not (task.grouped or task.keyed_in(source) or source.labels_beside):
        rows = source.record_count()
        if rows is not None:
            return {ALL: rows} if rows else None
    if not worth_holding(task, source):
        return None
    found: dict[str, int] = {}
    for name, block in _Sharing(task, source, aligned).parts():
        found[name] = found.get(name, 0) + len(block)
    if not any(found.values()):
        return None
    names = [ALL] if not task.grouped else task.groups if task.groups is not None else sorted(found)
    return {name: found.get(name, 0) for name in names}


class _Streaming:
    """Records that are read anew each time."""

    def __init__(self, task: Task, source: Source, file: OnFile | None = None):
        self.task, self.source, self.file = task, source, file

    def summaries(self, progress: Progress | None, kept: Kept | None = None) -> Partial:
        task, source, always = self.task, self.source, self.task.gathers(self.source)

        def found(gather: bool) -> Partial:
            if gather and not always:  # after all: it was not in order
                raws = limited(source.blocks(read_ahead=True))
                return read(raws if progress is None else _with_progress(raws, progress, None, len), True)
            readings = _readings(task, source, progress, None if kept is not None else self.file)
            return added_up(read(raws, gather) for raws in readings)

        def read(raws: Reading, gather: bool) -> Partial:
            with closing(raws):  # whatever happens, nobody reads ahead any more
                return task.read(source, raws, gather=gather, kept=kept)

        return in_any_order(found, source, always)

    def parts(self) -> Iterator[tuple[str, Block]]:
        for raws in _readings(self.task, self.source):
            yield from self.task.parts(self.source, self.task.records(self.source, raws))


class _Sharing:
    """Records that are made ready by whoever reads them first."""

    def __init__(self, task: Task, source: Source, aligned: Aligned):
        self.task, self.aligned = task, aligned
        held = aligned.ready(task)
        self.source = source if held is None else held.source  # whose groups are numbered

    def summaries(self, progress: Progress | None, kept: Kept | None = None) -> Partial:
        parts = self.parts()
        if progress is not None:
            parts = _with_progress(parts, progress, self.source.size_hint(), lambda part: len(part[1]))
        summaries = self.task.added(parts, kept)
        return Partial(summaries, self.aligned.found)

    def parts(self) -> Iterator[tuple[str, Block]]:
        held = self.aligned.ready(self.task)
        return self.aligned.made(self.task, self.source) if held is None else iter(held.parts)


class Kept:
    """Which records of some groups are kept: as many as are wanted, in a fixed random order of what records hold.

    Equal records are told apart by their number among them, so that none of their kind goes with all of it. What is
    kept of two data sets that differ in one record differs in one record at most (derivations: a public number of
    records). Records are asked for in the order in which they are read, which is the same every time.
    """

    def __init__(self, parts: Iterable[tuple[str, Block]], max_records: Mapping[str, int]):
        contents: dict[str, list[np.ndarray]] = {name: [] for name in max_records}
        for name, part in parts:
            if name in contents:
                contents[name].append(content_of(part.values))
        self.masks = {name: first_of(np.concatenate(contents[name]), count) for name, count in max_records.items()}
        self.done = dict.fromkeys(max_records, 0)

    def of(self, name: str, block: Block) -> Block:
        """The records of the next block of a group that are kept."""
        if name not in self.masks:
            return block
        start, self.done[name] = self.done[name], self.done[name] + len(block)
        return block.take(np.flatnonzero(self.masks[name][start : self.done[name]]))


def first_of(contents: np.ndarray, count: int) -> np.ndarray:
    """Which records come first, in an order of their contents and of their number among equal ones.

    >>> first_of(np.array([5, 5, 5, 5, 9], dtype=np.uint64), 3).sum()
    np.int64(3)
    """
    order = np.argsort(contents, kind="stable")
    new = np.append(True, contents[order][1:] != contents[order][:-1])
    starts = np.flatnonzero(new)
    number = np.empty(contents.size, dtype=np.uint64)
    number[order] = np.arange(contents.size) - np.repeat(starts, np.diff(np.append(starts, contents.size)))
    with np.errstate(over="ignore"):  # mixed as whole numbers of 64 bits are
        mixed = (contents ^ (number * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    mask = np.zeros(contents.size, dtype=bool)
    mask[np.lexsort((number, contents, mixed))[:count]] = True
    return mask


def _readings(
    task: Task, source: Source, progress: Progress | None = None, file: OnFile | None = None
) -> Iterator[Reading]:
    """The rows of a source: all at once, or (where they are gathered) of some people at a time.

    Where somebody's rows may lie anywhere in files, those of some people at a time must fit into memory.
    """
    times = 1
    if task.gathers(source) and is_path(source.data):
        times += sum(place.size for place in expanded(source.data)) // BYTES_AT_ONCE
    for number in range(times):
        raws = source.blocks(file, read_ahead=True)
        raws = raws if times == 1 else _share(raws, number, times)
        yield raws if progress is None else _with_progress(raws, progress, source.size_hint(), len)


def _sizes(source: Source) -> list[int]:
    """Bytes of each file."""
    return [place.size for place in expanded(source.data)] if is_path(source.data) else []


def _share(raws: Iterable[Raw], number: int, times: int) -> Reading:
    """The rows of one of several parts of all people."""
    for raw in raws:
        yield raw.take(np.flatnonzero(shares(raw.keys[0], times) == number))


def _with_progress(
    items: Iterable[T], progress: Progress, hint: int | None, size: Callable[[T], int]
) -> Generator[T, None, None]:
    """The same, with a word after each batch about how many rows were read."""
    done = 0
    for item in items:
        yield item
        done += size(item)
        progress(done, hint)
