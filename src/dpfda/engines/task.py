"""Encode and add up: the only place where records are touched.

Each record is encoded alone and added exactly, so the order of records, the size of batches
and the number of machines cannot change a bit of the result.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from dpfda.core.doubles import doubles
from dpfda.core.errors import RecordError
from dpfda.core.labels import Coder, label_text
from dpfda.core.origins import Origin, Stretch
from dpfda.engines.gathering import in_any_order, limited
from dpfda.problems.contracts import Encoder
from dpfda.problems.summary import Summary
from dpfda.reading.blocks import (
    Block,
    Order,
    Raw,
    in_order,
    located,
    together,
    usable,
    wrong_width,
)
from dpfda.reading.contributions import records
from dpfda.reading.curves import Curves
from dpfda.reading.layouts import Long
from dpfda.reading.places import expanded, is_path
from dpfda.reading.source import Source
from dpfda.spaces.components import as_rows
from dpfda.spaces.units import Unit

log = logging.getLogger("dpfda")
#: A column's name, or one label per record.
Labels: TypeAlias = str | Sequence[Any] | None
#: Stands for the group of all records, where there are no groups.
ALL = ""


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


class Kept(Protocol):
    """Which records are kept, asked for in the order in which they are read."""

    def of(self, name: str, block: Block) -> Block:
        """The records of the next block of a group that are kept."""


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
        return Source(
            as_rows(None if curves.cluster else curves.data, first.record_grid), curves.columns, curves.header,
            first.invalid == "center", first.width if first.alignment is None else first.alignment.width, points,
            by=by, coder=Coder(self.groups) if self.grouped else None, layout=curves.layout,
            unit=unit.name if named and unit else None, order=unit.order if unit else None, units=units,
            ignore=curves.ignore, text=curves.text,
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
        return isinstance(source.layout, Long)

    def key(self, name: str) -> str:
        """The key of a group's summaries; nothing for a group that there is not."""
        problem = self.problem_of(name)
        return problem.key if problem is not None and (name == ALL) != self.grouped else ""

    def keyed_in(self, source: Source) -> bool:
        """Whether some rows belong together: curves of a unit, observations of a curve."""
        return self.keyed or self.long(source)

    def orders(self, source: Source, gathered: bool) -> tuple[Order, Order]:
        """What watches over the labels of curves and of units; `gathered` where equal ones are side by side already."""
        layout, alignment = source.layout, self.problem.alignment
        unit = alignment.unit.name if alignment is not None and alignment.unit is not None else "unit"
        noted = not self.must_ignore_labels
        ids = Order(layout.id if isinstance(layout, Long) else "curve", gathered, noted and not self.keyed)
        return ids, Order(unit, gathered, noted)

    def read(self, source: Source, raws: Iterable[Raw], *, gather: bool = False, kept: Kept | None = None) -> Partial:
        """The summaries of these rows, or of those that are `kept`.

        Rows that belong together are side by side already, unless told to `gather`.
        """
        ids, units = self.orders(source, gather)
        parts = self.parts(source, self.records(source, raws, gather, (ids, units)))
        return Partial(self.added(parts, kept), units.found if self.keyed else ids.found)

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

    def parts(self, source: Source, blocks: Iterable[Block]) -> Iterator[tuple[str, Block]]:
        """Records of the right width by the name of their group, where it has a problem."""
        for block in blocks:
            if block.values.shape[1] != self.problem.width:
                raise wrong_width(block.values.shape[1], self.problem.width)
            yield from self._by_group(source, block) if self.grouped else [(ALL, block)]

    def _by_group(self, source: Source, block: Block) -> Iterator[tuple[str, Block]]:
        assert block.groups is not None
        assert source.coder is not None
        lost = np.flatnonzero(np.isnan(block.groups))
        if lost.size and not self.lenient:
            error = RecordError("A label is missing or names no group", lost.tolist(), "Check by= and groups=.")
            raise located(error, block)
        for code in np.unique(block.groups[~np.isnan(block.groups)]).astype(int).tolist():
            name = source.coder.names[code]
            if self.problem_of(name) is not None:
                yield name, block.take(np.flatnonzero(block.groups == code))

    def problem_of(self, name: str) -> Encoder | None:
        """The problem of a group, if this task is about it."""
        return self.problem if self.problems is None else self.problems.get(name)

    def added(self, parts: Iterable[tuple[str, Block]], kept: Kept | None = None) -> dict[str, Summary]:
        """The summaries of these records, or of those that are `kept`."""
        found: dict[str, Summary] = {}
        for name, whole in parts:
            problem = self.problem_of(name)
            if problem is None:
                continue
            part = whole if kept is None else kept.of(name, whole)
            values = part.values  # of curves, single precision is as good: problems widen it, which is exact
            if problem.record_grid is None:
                values = doubles(values)
            try:
                totals = problem.total(values)
            except RecordError as error:
                raise located(error, part) from None
            summary = problem.kind(problem.key, len(part), totals, ())  # whose they are is said when all are read
            found[name] = found[name].plus(summary) if name in found else summary
        return found

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


def summarize_file(task: Task, part: Source) -> Partial:
    """One file by itself."""
    always = task.gathers(part)

    def found(gather: bool) -> Partial:
        raws = part.blocks(read_ahead=True)
        return task.read(part, limited(raws) if gather and not always else raws, gather=gather)

    return in_any_order(found, part, always)
