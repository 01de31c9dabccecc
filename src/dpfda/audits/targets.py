"""What is attacked: one pass over the records, and one record in the company of all others.

Everything runs through the plan's own `summarize` and `statistic`. Data sets too large to hold are summarised by
merging, which is how large data are summarised anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dpfda import engines
from dpfda.audits.people import space_of
from dpfda.core.errors import DpfdaError, RecordError
from dpfda.plans import ClassPlan, GroupPlan
from dpfda.plans.base import Plan
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary
from dpfda.reading.curves import Records

#: Data sets of up to this many numbers are summarised whole at every step.
WHOLE = 200_000

#: One plan, whatever it releases; and what may be audited: that, or several plans under one charge.
OnePlan: TypeAlias = Plan[Any]
Audited: TypeAlias = OnePlan | GroupPlan[Any] | ClassPlan


@dataclass(frozen=True)
class Target:
    """One pass over the records: how it is carried out, what it may cost."""

    name: str
    epsilon: float
    n: int
    problem: Problem
    summarize: Callable[..., Summary]
    statistic: Callable[[Summary], np.ndarray]
    loss: Callable[[np.ndarray], float]
    parts: tuple[Part, ...]
    precision: np.ndarray  # what each number is multiplied by, over its noise: where an attacker looks first

    @property
    def count_is_private(self) -> bool:
        return bool(self.problem.count_is_private)

    @property
    def keyed(self) -> bool:
        """Whether a record is all that one person or household has, in any number of rows."""
        return self.unit is not None

    @property
    def unit(self) -> str | None:
        """The column that says whose a row is, where there is one."""
        alignment = self.problem.alignment
        return None if alignment is None or alignment.unit is None else alignment.unit.name

    def read(self, rows: np.ndarray, people: Sequence[str]) -> Summary:
        """The summary of these rows, each of them somebody's."""
        return self.summarize(rows, units=list(people)) if self.keyed else self.summarize(rows)


def first_target(plan: OnePlan) -> Target:
    """The first pass, through the plan's own methods."""
    name = "the release" if plan.schedule.next([np.zeros(plan.stage.problem.size)]) is None else "draw 1"
    stage = plan.stage
    run = (plan.summarize, plan.statistic, plan.loss)
    return Target(name, float(stage.epsilon), plan.n, stage.problem, *run, stage.parts, _precision(stage))


def _precision(stage: Stage) -> np.ndarray:
    scales = stage.scales
    return np.divide(stage.filter, scales, out=np.zeros(scales.size), where=scales > 0)


def later_target(plan: OnePlan, stage: Stage, number: int) -> Target:
    """A later draw, given what was drawn before."""

    def summarize(records: Records, **reading: Any) -> Summary:
        return engines.summarize(stage.encoder, records, **reading)

    def statistic(summary: Summary) -> np.ndarray:
        stage.check(summary)
        return np.asarray(stage.statistic(summary))

    run = (summarize, statistic, stage.loss)
    return Target(f"draw {number}", float(stage.epsilon), plan.n, stage.problem, *run, stage.parts, _precision(stage))


class Company:
    """All the others: `n - 1` people with these records, some of them alike."""

    def __init__(self, target: Target, others: np.ndarray):
        self.target, self.others = target, others
        small = target.n * others.shape[1] <= WHOLE or target.keyed
        self._rows = self.rows() if small else None
        self._summary = None if small else self._repeated()

    def rows(self) -> np.ndarray:
        """One row for each of the others."""
        return np.resize(self.others, (self.target.n - 1, self.others.shape[1]))

    def _repeated(self) -> Summary:
        """The summary of all others, by merging: as many copies as there are people, doubled and added."""
        times, left = divmod(self.target.n - 1, len(self.others))
        several, found = self.target.summarize(self.others), []
        while times:
            if times & 1:
                found.append(several)
            times >>= 1
            several = several.plus(several) if times else several
        if left:
            found.append(self.target.summarize(self.others[:left]))
        whole = found[0]
        for part in found[1:]:
            whole = whole.plus(part)
        return whole

    def summary(self, record: np.ndarray | None) -> Summary:
        """The summary of the others and one more, who may have several rows."""
        if self._summary is not None:
            return self._summary if record is None else self._summary.plus(self.target.summarize(record))
        assert self._rows is not None
        people = [f"person {i}" for i in range(len(self._rows))] if self.target.keyed else []
        if record is None:
            return self.target.read(self._rows, people)
        return self.target.read(np.vstack([record, self._rows]), ["somebody"] * len(record) + people)

    def loss(self, first: np.ndarray, second: np.ndarray | None) -> float:
        """Privacy loss between the others with `first` and the others with `second` (or alone)."""
        one, two = (self.target.statistic(self.summary(record)) for record in (first, second))
        return self.target.loss(one - two)


def encoded_alone(target: Target, rng: np.random.Generator) -> bool:
    """Whether a summary is the same however records are ordered and split: each is then encoded by itself.

    One of them is far out; it must not change what becomes of the others.
    """
    space = space_of(target.problem)
    records = np.vstack([space.shaped(np.ones(len(space.shapes)), 50.0), space.inside(rng, 11)])
    try:
        target.summarize(records[:1], **({"units": ["0"]} if target.keyed else {}))
    except RecordError:  # a plan that refuses far records
        records = records[1:]

    def read(rows: np.ndarray) -> Summary:
        return target.read(records[rows], [str(i) for i in rows])

    every = np.arange(len(records))
    try:
        whole, turned = read(every), read(rng.permutation(every))
        merged, *parts = [read(rows) for rows in np.split(every, [1, 2, 5])]
        for part in parts:
            merged = merged.plus(part)  # who is in which is known here
    except (DpfdaError, AttributeError):  # no summaries that merge
        return False
    return bool(whole == turned and whole == merged)
