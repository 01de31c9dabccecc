"""Encode and add up: the only place where records are touched.

Each record is encoded alone and added exactly, so the order of records, the size of batches
and the number of machines cannot change a bit of the result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import readers
from .blocks import Block, Order, Raw, Span, in_order, located, records, together
from .components import as_rows
from .errors import RecordError
from .intake import Unit
from .labels import Coder
from .layouts import Long, as_layout
from .protocol import Problem, Summary
from .readers import Source
from .tables import Watch

log = logging.getLogger("dpfda")
#: Stands for the group of all records, where there are no groups.
ALL = ""


def empty(problem: Problem) -> Summary:
    """The summary of no records: merging it changes nothing."""
    return problem.kind(problem.key, 0, problem.total(np.empty((0, problem.width))))


def reads_once(records: Any) -> str:
    """Why records can be read only once, if so: a summary, or a source that is used up by reading it."""
    if isinstance(records, Summary):
        return "a summary"
    return "a source that can be read once" if Source(records).spends_itself else ""


@dataclass(frozen=True)
class Task:
    """What is added up: a problem, or one per group by its name. Travels to other processes.

    `groups` is the public list of groups; None with `grouped` set opens a group for every label.
    """

    problem: Problem
    problems: Mapping[str, Problem] | None = None
    grouped: bool = False
    groups: tuple[str, ...] | None = None

    def source(self, records: Any, by: Any = None, **reading: Any) -> Source:
        """The records as this task reads them."""
        first = self.problem
        unit: Unit | None = first.intake.unit if first.intake is not None else None
        points = None if first.record_grid is None else first.record_grid.points
        named = unit is not None and reading.get("units") is None
        curves = first.record_grid is not None
        watch = Watch() if curves else Watch("Keep one record of each to protect whoever has them.")
        return Source(
            as_rows(records, first.record_grid), lenient=first.invalid == "center", width=first.width, points=points,
            by=by, coder=Coder(self.groups) if self.grouped else None,
            unit=unit.name if named and unit else None, order=unit.order if unit else None, watch=watch, **reading,
        )  # fmt: skip

    @property
    def keyed(self) -> bool:
        """Whether some records belong together."""
        return self.problem.intake is not None and self.problem.intake.unit is not None

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

    def orders(self, source: Source, anywhere: bool) -> tuple[Order, Order]:
        """What watches over the labels of curves and of units; `anywhere` where equal ones are side by side already."""
        layout, intake = as_layout(source.layout), self.problem.intake
        unit = intake.unit.name if intake is not None and intake.unit is not None else "unit"
        return Order(layout.id if isinstance(layout, Long) else "curve", anywhere), Order(unit, anywhere)

    def records(self, source: Source, raws: Iterable[Raw]) -> Iterator[Block]:
        """Blocks of one row per record; where all rows are at hand, they may come in any order."""
        if not (self.keyed_in(source) and source.in_memory):
            return records(raws, self.problem.intake, *self.orders(source, False))
        return self.gathered(source, raws)

    def gathered(self, source: Source, raws: Iterable[Raw]) -> Iterator[Block]:
        """The same from rows in any order, which are all put in order at once."""
        found = [raw for raw in raws if len(raw)]
        sorted_rows = [in_order(together(found))] if found else []
        return records(sorted_rows, self.problem.intake, *self.orders(source, True))

    def added(self, source: Source, blocks: Iterable[Block]) -> dict[str, Summary]:
        """The summaries of these records, by group."""
        found: dict[str, Summary] = {}
        for block in blocks:
            if block.values.shape[1] != self.problem.width:
                raise RecordError(
                    f"A record has {block.values.shape[1]} values and the plan expects {self.problem.width}",
                    cure="Choose the value columns with columns=..., or build the plan on the data's grid or domain.",
                )
            for name, part, problem in self._by_group(source, block):
                try:
                    totals = problem.total(part.values)
                except RecordError as error:
                    raise located(error, part) from None
                summary = problem.kind(problem.key, len(part), totals)
                found[name] = found[name].merge(summary) if name in found else summary
        return found

    def _by_group(self, source: Source, block: Block) -> Iterator[tuple[str, Block, Problem]]:
        if not self.grouped:
            yield ALL, block, self.problem
            return
        assert block.groups is not None
        assert source.coder is not None
        lost = np.flatnonzero(np.isnan(block.groups))
        if lost.size and (self.problem.invalid == "raise" or not self.problem.adds):
            # Where n is public so are labels, and a record without one would change a published n.
            error = RecordError("A label is missing or names no group", lost.tolist(), "Check by= and groups=.")
            raise located(error, block)
        for code in np.unique(block.groups[~np.isnan(block.groups)]).astype(int).tolist():
            name = source.coder.names[code]
            problem = self.problem if self.problems is None else self.problems.get(name)
            if problem is not None:
                yield name, block.take(np.flatnonzero(block.groups == code)), problem

    def one(self, part: Source) -> tuple[dict[str, Summary], Span | None]:
        """One file by itself, and the labels between which it lies, where rows belong together."""
        ids, units = self.orders(part, False)
        found = self.added(part, records(part.blocks(), self.problem.intake, ids, units))
        return found, units.span if self.keyed else ids.span

    def merged(self, parts: Iterable[Mapping[str, Summary]]) -> dict[str, Summary]:
        """Partial summaries as one: in any order, to the same bits."""
        whole: dict[str, Summary] = {}
        for part in parts:
            for name, summary in part.items():
                whole[name] = whole[name].merge(summary) if name in whole else summary
        return whole

    def finished(self, found: Mapping[str, Summary]) -> dict[str, Summary]:
        """A summary for every group that there is, in the order of their list (or of their names)."""
        if not any(summary.count for summary in found.values()) and not self.problem.adds:
            raise RecordError(f"The data holds no {self.problem.record}s", cure="Check the path and the columns.")
        names = [ALL] if not self.grouped else self.groups if self.groups is not None else sorted(found)
        if self.problems is None:
            problems: Mapping[str, Problem] = dict.fromkeys(names, self.problem)
        else:  # a later pass may be about some groups only
            problems = {name: self.problems[name] for name in names if name in self.problems}
        log.info("summarised a source of %ss", self.problem.record)
        return {name: found[name] if name in found else empty(problem) for name, problem in problems.items()}


def here(task: Task, source: Source, progress: readers.Progress | None = None) -> dict[str, Summary]:
    """All records of a source, in this process."""
    raws = source.blocks(getattr(progress, "file", None))
    if progress is not None and not (task.problem.adds or task.keyed_in(source)):  # the number of rows is private there
        raws = _told(raws, progress, source.size_hint())
    return task.finished(task.added(source, task.records(source, raws)))


def _told(raws: Iterable[Raw], progress: readers.Progress, hint: int | None) -> Iterator[Raw]:
    """The same, with a word after each batch about how many rows were read."""
    done = 0
    for raw in raws:
        yield raw
        done += len(raw)
        progress(done, hint)


def summarize(
    problem: Problem, records: Any, *, progress: Callable[[int, int | None], None] | None = None, **reading: Any
) -> Summary:
    """Exact totals of all records of a source. Confidential.

    `progress(done, total)` is called after each batch; `total` is None where the source cannot say.
    """
    task = Task(problem)
    return here(task, task.source(records, **reading), progress)[ALL]


def summarize_groups(problem: Problem, records: Any, by: Any, coder: Coder, **reading: Any) -> dict[str, Summary]:
    """Exact totals of each group's records, by the name of the group. Confidential.

    A record whose label is on no list is an error; under add-remove with ``invalid="center"`` it belongs
    to no group.
    """
    task = Task(problem, grouped=True, groups=coder.groups)
    progress = reading.pop("progress", None)
    return here(task, task.source(records, by, **reading), progress)
