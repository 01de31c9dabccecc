"""Where the summaries of a release come from: data that is read in passes, or summaries that were made before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpfda import engines
from dpfda.core.errors import ParameterError, PlanMismatch
from dpfda.core.labels import as_groups
from dpfda.engines import Declared, Summary
from dpfda.engines.aligned import Aligned
from dpfda.engines.owners import warn_of_owners
from dpfda.engines.summarize import NOTHING, count
from dpfda.engines.task import Labels, Task
from dpfda.problems.contracts import Encoder

if TYPE_CHECKING:
    from dpfda.reading.curves import Curves


class Passes(Protocol):
    """Records as a release reads them: one pass for several problems, each by its name."""

    @property
    def single_pass_reason(self) -> str:
        """Why there can be no second pass, if so."""

    @property
    def rereadable(self) -> bool:
        """Whether records are easily read again, because they are in memory."""

    def warn_of_owners(self, problem: Encoder) -> None:
        """Say, by names alone, that somebody may have several records."""

    def read(self, problems: Mapping[str, Encoder], max_records: Mapping[str, int]) -> Mapping[str, Summary]:
        """One summary for each problem; of records whose number is public and given, no more than `max_records`."""

    def summarize_all(self, problem: Encoder) -> Mapping[str, Summary]:
        """All records through one problem, for whichever groups there are: how many there are is public."""

    def count(self, problem: Encoder) -> Mapping[str, int] | None:
        """How many records there are, for whichever groups, where that is public and known without encoding them."""

    def forget(self) -> None:
        """Let go of whatever passes shared: the release is done."""


def listed(labels: Labels) -> Labels:
    """Labels that a later pass can read again."""
    return list(labels) if isinstance(labels, Iterator) else labels


@dataclass(frozen=True, eq=False)
class FromRecords:
    """Records of any kind for one plan."""

    curves: Curves
    units: Labels = None
    declared: Declared = NOTHING
    aligned: Aligned = field(default_factory=Aligned, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", listed(self.units))

    @property
    def single_pass_reason(self) -> str:
        return "a checkpoint" if self.declared.checkpoint is not None else self.curves.single_pass_reason

    @property
    def rereadable(self) -> bool:
        here = self.curves.cluster is None and not isinstance(self.curves.data, np.memmap)
        return here and not self.single_pass_reason and self.curves.source().in_memory

    def warn_of_owners(self, problem: Encoder) -> None:
        self._warn_of_owners(Task(problem), None)

    def _warn_of_owners(self, task: Task, by: Labels) -> None:
        source = task.source(self.curves, by, self.units)
        has_units = task.problem.record_grid is not None or hasattr(task.problem, "unit")
        warn_of_owners(replace(source, data=self.curves.data), has_units)

    def read(self, problems: Mapping[str, Encoder], max_records: Mapping[str, int]) -> Mapping[str, Summary]:
        kept = max_records if self.declared.checkpoint is None else {}  # a checkpoint keeps all: more may follow
        return {
            name: engines.summarize(
                problem,
                self.curves,
                max_records=kept.get(name),
                units=self.units,
                declared=self.declared,
                aligned=self.aligned,
            )
            for name, problem in problems.items()
        }

    def summarize_all(self, problem: Encoder) -> Mapping[str, Summary]:
        return self.read({"": problem}, {})

    def count(self, problem: Encoder) -> Mapping[str, int] | None:
        return self._count(Task(problem), None)

    def _count(self, task: Task, by: Labels) -> Mapping[str, int] | None:
        if self.single_pass_reason:
            return None
        return count(task, self.curves, by, self.units, self.declared, self.aligned)

    def forget(self) -> None:
        self.aligned.forget()


@dataclass(frozen=True, eq=False)
class FromGroupedRecords(FromRecords):
    """Records with a public label each: `by` is their column, or one label per record."""

    by: Labels = None
    groups: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", listed(self.by))
        if self.by is None:
            raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per record>.")

    def warn_of_owners(self, problem: Encoder) -> None:
        self._warn_of_owners(Task(problem, grouped=True, groups=as_groups(self.groups)), self.by)

    def read(self, problems: Mapping[str, Encoder], max_records: Mapping[str, int]) -> Mapping[str, Summary]:
        return self._summarize(problems, max_records)

    def summarize_all(self, problem: Encoder) -> Mapping[str, Summary]:
        return self._summarize(problem, {})

    def count(self, problem: Encoder) -> Mapping[str, int] | None:
        return self._count(Task(problem, grouped=True, groups=as_groups(self.groups)), self.by)

    def _summarize(
        self, problems: Encoder | Mapping[str, Encoder], max_records: Mapping[str, int]
    ) -> Mapping[str, Summary]:
        kept = max_records if self.declared.checkpoint is None else {}
        return engines.summarize_groups(
            problems,
            self.curves,
            self.by,
            self.groups,
            max_records=kept or None,
            units=self.units,
            declared=self.declared,
            aligned=self.aligned,
        )


@dataclass(frozen=True, eq=False)
class FromSharedRecords(FromRecords):
    """Records that all problems read alike, so that one summary serves them all."""

    def read(self, problems: Mapping[str, Encoder], max_records: Mapping[str, int]) -> Mapping[str, Summary]:
        name, problem = next(iter(problems.items()))
        return dict.fromkeys(problems, super().read({name: problem}, max_records)[name])


@dataclass(frozen=True, eq=False)
class FromSummaries:
    """Summaries that were made before, by the names of what they are for."""

    summaries: Mapping[str, Summary]

    @property
    def single_pass_reason(self) -> str:
        return "a summary" if set(self.summaries) == {""} else "summaries"

    @property
    def rereadable(self) -> bool:
        return False

    def warn_of_owners(self, problem: Encoder) -> None:
        """Whose they are was said when they were made."""

    def read(self, problems: Mapping[str, Encoder], max_records: Mapping[str, int]) -> Mapping[str, Summary]:
        if set(problems) != set(self.summaries):
            raise PlanMismatch("There must be one summary per group of the plan.")
        return self.summaries

    def summarize_all(self, problem: Encoder) -> Mapping[str, Summary]:
        return self.summaries

    def count(self, problem: Encoder) -> Mapping[str, int] | None:
        return None

    def forget(self) -> None:
        """Nothing was shared."""
