"""Encode and add up: the only place where records are touched.

Each record is encoded alone and added exactly, so the order of records, the size of batches
and the number of machines cannot change a bit of the result.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from dpfda.core.errors import RecordError
from dpfda.core.labels import Coder, label_text
from dpfda.core.origins import Origin, Stretch
from dpfda.problems.contracts import Encoder
from dpfda.problems.summary import Summary
from dpfda.reading.blocks import (
    Block,
    Order,
    Raw,
    content_of,
    in_order,
    located,
    records,
    shares,
    together,
    usable,
    wrong_width,
)
from dpfda.reading.curves import Curves, Progress
from dpfda.reading.layouts import Long, as_layout
from dpfda.reading.places import expanded, is_path
from dpfda.reading.source import Source
from dpfda.reading.tables import Watch
from dpfda.spaces.components import as_rows
from dpfda.spaces.units import Unit

log = logging.getLogger("dpfda")
#: A column's name, or one label per record.
Labels: TypeAlias = str | Sequence[Any] | None
#: Stands for the group of all records, where there are no groups.
ALL = ""
#: Files of which somebody's rows may lie anywhere are read once for each so many bytes, some people at a time.
BYTES_AT_ONCE = 1 << 28


def empty(problem: Encoder) -> Summary:
    """The summary of no records: merging it changes nothing."""
    return problem.kind(problem.key, 0, problem.total(np.empty((0, problem.width))))


@dataclass(frozen=True, repr=False)
class Partial:
    """What part of a reading came to: a summary for each group, and the stretch in which its labels were found."""

    summaries: Mapping[str, Summary] = field(default_factory=dict)
    found: Stretch | None = None
    cut: frozenset[str] = frozenset()  # groups of which only some records were kept

    def plus(self, other: Partial) -> Partial:
        """Two parts of one reading, which share nobody: in any order, to the same bits."""
        whole = dict(self.summaries)
        for name, summary in other.summaries.items():
            whole[name] = whole[name].plus(summary) if name in whole else summary
        one, two = self.found, other.found
        return Partial(whole, one.joined(two) if one is not None and two is not None else one or two)


def added_up(parts: Iterable[Partial]) -> Partial:
    """Parts of one reading as one."""
    whole = Partial()
    for part in parts:
        whole = whole.plus(part)
    return whole


@dataclass(frozen=True)
class Task:
    """What is added up: a problem, or one per group by its name. Travels to other processes.

    `groups` is the public list of groups; None with `grouped` set opens a group for every label. `max_records` is how
    many records of each group are kept where that number is public and given: the first ones in a fixed random order
    of all that a record can hold (derivations: a public number of records). `between` and `site` are what was declared
    about whose records these are.
    """

    problem: Encoder
    problems: Mapping[str, Encoder] | None = None
    grouped: bool = False
    groups: tuple[str, ...] | None = None
    max_records: Mapping[str, int] | None = None
    between: Stretch | None = None
    site: str = ""

    def source(self, curves: Curves, by: Labels = None, units: Labels = None) -> Source:
        """The records as this task reads them."""
        first = self.problem
        unit: Unit | None = first.alignment.unit if first.alignment is not None else None
        points = None if first.record_grid is None else first.record_grid.points
        named = unit is not None and units is None
        watch = Watch("Keep one record of each to protect whoever has them.")
        if first.record_grid is not None:  # curves: the unit protects whoever has several
            watch = Watch()
        if self.lenient:  # a word about labels that repeat would tell of them
            watch = Watch(repeated="")
        return Source(
            as_rows(None if curves.cluster else curves.data, first.record_grid), curves.columns, curves.header,
            first.invalid == "center", first.width, points,
            by=by, coder=Coder(self.groups) if self.grouped else None, layout=curves.layout,
            unit=unit.name if named and unit else None, order=unit.order if unit else None, units=units, watch=watch,
        )  # fmt: skip

    @property
    def keyed(self) -> bool:
        """Whether some records belong together."""
        return self.problem.alignment is not None and self.problem.alignment.unit is not None

    @property
    def lenient(self) -> bool:
        """Whether nothing that a record holds may stop a run."""
        return self.problem.invalid == "center"

    @property
    def must_ignore_labels(self) -> bool:
        """Whether nothing may be refused because of where labels lie: what a record holds, or how many there are."""
        return self.lenient or self.problem.count_is_private

    @staticmethod
    def long(source: Source) -> bool:
        """Whether rows are observations, not curves."""
        return isinstance(as_layout(source.layout), Long)

    def key(self, name: str) -> str:
        """The key of a group's summaries; nothing for a group that there is not."""
        problem = self.problem if self.problems is None else self.problems.get(name)
        return problem.key if problem is not None and (name == ALL) != self.grouped else ""

    def keyed_in(self, source: Source) -> bool:
        """Whether some rows belong together: curves of a unit, observations of a curve."""
        return self.keyed or self.long(source)

    def orders(self, source: Source, gathered: bool) -> tuple[Order, Order]:
        """What watches over the labels of curves and of units; `gathered` where equal ones are side by side already."""
        layout, alignment = as_layout(source.layout), self.problem.alignment
        unit = alignment.unit.name if alignment is not None and alignment.unit is not None else "unit"
        noted = not self.must_ignore_labels
        ids = Order(layout.id if isinstance(layout, Long) else "curve", gathered, noted and not self.keyed)
        return ids, Order(unit, gathered, noted)

    def read(self, source: Source, raws: Iterable[Raw], *, gather: bool = False, kept: Kept | None = None) -> Partial:
        """The summaries of these rows, or of those that are `kept`.

        Rows that belong together are side by side already, unless told to `gather`.
        """
        ids, units = self.orders(source, gather)
        summaries = self._added(source, self.records(source, raws, gather, (ids, units)), kept)
        return Partial(summaries, units.found if self.keyed else ids.found)

    def records(
        self, source: Source, raws: Iterable[Raw], gather: bool | None = None, orders: tuple[Order, Order] | None = None
    ) -> Iterator[Block]:
        """Blocks of one row per record, ready to be encoded."""
        gather = self.gathers(source) if gather is None else gather
        raws = usable(raws, self.between, self.lenient)
        if gather:
            found = [raw for raw in raws if len(raw)]
            raws = [in_order(together(found))] if found else []
        return records(raws, self.problem.alignment, *(orders or self.orders(source, gather)))

    def gathers(self, source: Source) -> bool:
        """Whether rows that belong together may lie anywhere: in memory, or where no order may be asked for."""
        return self.keyed_in(source) and (source.in_memory or self.must_ignore_labels)

    def _added(self, source: Source, blocks: Iterable[Block], kept: Kept | None) -> dict[str, Summary]:
        found: dict[str, Summary] = {}
        for block in blocks:
            if block.values.shape[1] != self.problem.width:
                raise wrong_width(block.values.shape[1], self.problem.width)
            for name, whole, problem in self.by_group(source, block):
                part = whole if kept is None else kept.of(name, whole)
                try:
                    totals = problem.total(part.values)
                except RecordError as error:
                    raise located(error, part) from None
                summary = problem.kind(problem.key, len(part), totals, ())  # whose they are is said when all are read
                found[name] = found[name].plus(summary) if name in found else summary
        return found

    def by_group(self, source: Source, block: Block) -> Iterator[tuple[str, Block, Encoder]]:
        if not self.grouped:
            yield ALL, block, self.problem
            return
        assert block.groups is not None
        assert source.coder is not None
        lost = np.flatnonzero(np.isnan(block.groups))
        if lost.size and not self.lenient:
            error = RecordError("A label is missing or names no group", lost.tolist(), "Check by= and groups=.")
            raise located(error, block)
        for code in np.unique(block.groups[~np.isnan(block.groups)]).astype(int).tolist():
            name = source.coder.names[code]
            problem = self.problem if self.problems is None else self.problems.get(name)
            if problem is not None:
                yield name, block.take(np.flatnonzero(block.groups == code)), problem

    def finished(self, read: Partial, source: Source) -> dict[str, Summary]:
        """A summary for every group that there is, in the order of their list (or of their names)."""
        found = read.summaries
        if not (self.must_ignore_labels or any(summary.count for summary in found.values())):
            raise RecordError(f"The data holds no {self.problem.record}s", cure="Check the path and the columns.")
        log.info("summarised a source of %ss", self.problem.record)
        files = tuple(place.file for place in expanded(source.data)) if is_path(source.data) else ()
        keyed = self.keyed_in(source)
        whole = Origin(
            files=files, site=self.site, keyed=keyed, labels=source.labels if keyed else ("", ""),
            between=self.between, found=read.found,
        )  # fmt: skip
        most = self.max_records or {}
        kept = {name: most[name] for name in read.cut}
        parts = {
            name: replace(whole, group=label_text(name), kept=kept.get(name), limited=name in most)
            for name in self.filled(found)
        }
        return {name: replace(summary, origins=(parts[name],)) for name, summary in self.filled(found).items()}

    def filled(self, found: Mapping[str, Summary]) -> dict[str, Summary]:
        """A summary for every group that there is, also for one without a record."""
        names = [ALL] if not self.grouped else self.groups if self.groups is not None else sorted(found)
        if self.problems is None:
            problems: Mapping[str, Encoder] = dict.fromkeys(names, self.problem)
        else:  # a later pass may be about some groups only
            problems = {name: self.problems[name] for name in names if name in self.problems}
        return {name: found[name] if name in found else empty(problem) for name, problem in problems.items()}


def summarize_local(task: Task, source: Source, progress: Progress | None = None) -> dict[str, Summary]:
    """All records of a source, in this process; no more than are wanted, where that is public."""
    if task.max_records is not None and source.single_use:  # it may have to be read again
        source = replace(source, held=list(source.blocks()))
    reported = (
        None if task.problem.count_is_private or task.keyed_in(source) else progress
    )  # how many rows there are is private there
    file = getattr(progress, "file", None)
    whole = added_up(task.read(source, raws, gather=gather) for raws, gather in _readings(task, source, reported, file))
    found = {name: summary.count for name, summary in whole.summaries.items()}
    surplus = {name: most for name, most in (task.max_records or {}).items() if found.get(name, 0) > most}
    if surplus:
        kept = Kept(task, source, surplus)
        parts = (task.read(source, raws, gather=gather, kept=kept) for raws, gather in _readings(task, source))
        whole = replace(added_up(parts), cut=frozenset(surplus))
    return task.finished(whole, source)


class Kept:
    """Which records of some groups are kept: as many as are wanted, in a fixed random order of what records hold.

    Equal records are told apart by their number among them, so that none of their kind goes with all of it. What is
    kept of two data sets that differ in one record differs in one record at most (derivations: a public number of
    records). Records are asked for in the order in which they are read, which is the same every time.
    """

    def __init__(self, task: Task, source: Source, max_records: Mapping[str, int]):
        contents: dict[str, list[np.ndarray]] = {name: [] for name in max_records}
        for raws, gather in _readings(task, source):
            for block in task.records(source, raws, gather):
                for name, part, _ in task.by_group(source, block):
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
    task: Task, source: Source, progress: Progress | None = None, file: Any = None
) -> Iterator[tuple[Iterable[Raw], bool]]:
    """The rows of a source, and whether they are gathered: all at once, or of some people at a time.

    Where somebody's rows may lie anywhere in files, those of some people at a time must fit into memory.
    """
    gather, times = task.gathers(source), 1
    if gather and is_path(source.data):
        local = [place.path for place in expanded(source.data) if not place.remote]
        times += sum(os.path.getsize(path) for path in local if os.path.exists(path)) // BYTES_AT_ONCE
    for number in range(times):
        raws = source.blocks(file)
        raws = raws if times == 1 else _share(raws, number, times)
        yield (raws if progress is None else _with_progress(raws, progress, source.size_hint())), gather


def _share(raws: Iterable[Raw], number: int, times: int) -> Iterator[Raw]:
    """The rows of one of several parts of all people."""
    for raw in raws:
        yield raw.take(np.flatnonzero(shares(raw.keys[0], times) == number))


def summarize_file(task: Task, part: Source) -> Partial:
    """One file by itself."""
    return task.read(part, part.blocks(), gather=task.gathers(part))


def _with_progress(raws: Iterable[Raw], progress: Progress, hint: int | None) -> Iterator[Raw]:
    """The same, with a word after each batch about how many rows were read."""
    done = 0
    for raw in raws:
        yield raw
        done += len(raw)
        progress(done, hint)
