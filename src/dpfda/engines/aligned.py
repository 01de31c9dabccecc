"""Records in memory, made ready once for all passes of a release: on the grid, one row for each, by group.

Problems of later passes encode the same records in other ways. As long as the rules by which a record comes about are
the same, what was read is not read again. Nothing of it outlives the release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpfda.core.origins import Stretch
from dpfda.engines.task import Task
from dpfda.reading.arrays import AS_THEY_ARE
from dpfda.reading.blocks import Block
from dpfda.reading.source import Source

#: Bytes of records that are held, at most; where there are more, each pass makes its own.
MOST_BYTES = 1 << 30


@dataclass(frozen=True, eq=False, repr=False)
class Held:
    """All records of a source by group, in the order of reading."""

    rules: tuple[object, ...]
    names: frozenset[str] | None  # groups that were asked for; None: all
    source: Source
    parts: list[tuple[str, Block]]


class Aligned:
    """What the passes of one release share: nothing yet, or records that were made ready."""

    def __init__(self) -> None:
        self.held: Held | None = None
        self.found: Stretch | None = None  # labels of the last reading, whether its records are held or not

    def forget(self) -> None:
        """Let the records go."""
        self.held = self.found = None

    def ready(self, task: Task) -> Held | None:
        """The records, where they were made ready by the rules of this task."""
        held = self.held
        if held is None or held.rules != _rules(task):
            return None
        asked = None if task.problems is None else frozenset(task.problems)
        return held if held.names is None or (asked is not None and asked <= held.names) else None

    def made(self, task: Task, source: Source) -> Iterator[tuple[str, Block]]:
        """The records as they are made ready; when the last one is through, all are held, where they are few enough."""
        gather = task.gathers(source)
        ids, units = task.orders(source, gather)
        parts: list[tuple[str, Block]] = []
        size = 0
        for name, block in task.parts(source, task.records(source, source.blocks(), gather, (ids, units))):
            size += block.values.nbytes
            if size <= MOST_BYTES:
                parts.append((name, block))
            else:
                parts.clear()
            yield name, block
        self.found = units.found if task.keyed else ids.found
        if size <= MOST_BYTES:
            names = None if task.problems is None else frozenset(task.problems)
            self.held = Held(_rules(task), names, source, parts)


def worth_holding(task: Task, source: Source) -> bool:
    """Whether there is something to share: work that a later pass would do again on data that stays where it is."""
    if not source.in_memory or source.held is not None:
        return False
    plain = isinstance(source.data, np.ndarray) and source.data.dtype in AS_THEY_ARE
    return not plain or task.grouped or task.problem.alignment is not None


def _rules(task: Task) -> tuple[object, ...]:
    """All that decides how a record of one and the same data comes about."""
    first, rules = task.problem, task.problem.alignment
    points = None if first.record_grid is None else first.record_grid.points.tobytes()
    own = () if rules is None else rules.rules
    facts = (first.width, first.invalid, first.count_is_private, task.grouped, task.groups, task.between, task.site)
    return (points, *facts, *own)
