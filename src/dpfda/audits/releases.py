"""Whole releases, many times: the same two neighbours through the real exit, each charged to a real ledger."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np

from dpfda.audits.laws import Finding, Tally
from dpfda.audits.outcomes import Bound, Side, likelihood, lower_bound, side_of
from dpfda.audits.targets import Audited, OnePlan, Target, later_target
from dpfda.ledger import Ledger
from dpfda.noise import Choice
from dpfda.problems.stage import Stage
from dpfda.problems.summary import Summary

#: Releases that one ledger pays for: a delta of up to 1/64 then fits as well.
PER_LEDGER = 32
#: The largest budget of a ledger.
LARGEST = 10_000


@dataclass(frozen=True)
class Whole:
    """What whole releases have shown."""

    releases: int
    charged: tuple[Fraction, Fraction]
    owed: tuple[Fraction, Fraction]
    repeated: int
    findings: list[Finding]
    bound: Bound

    @property
    def paid(self) -> bool:
        return self.charged == self.owed


@dataclass(frozen=True, eq=False)
class Data:
    """One of two neighbouring data sets: all rows, and whatever else a release is told about them."""

    rows: Any
    reading: dict[str, Any] = field(default_factory=dict)


def whole_releases(
    plan: OnePlan, sides: tuple[Data, Data], count: int, false_alarm: float, report_progress: Callable[[int], None]
) -> Whole:
    """`count` releases, half of them of each side: what was charged, and what their outcomes tell."""
    charged = [Fraction(0), Fraction(0)]
    outcomes: tuple[list[Any], list[Any]] = ([], [])
    most = affordable(plan)
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, count, most):
            size = min(most, count - start)
            book = book_for(plan, Path(folder) / f"{start}.ledger", size)
            for i in range(start, start + size):
                data = sides[i % 2]
                outcomes[i % 2].append(plan.release(data.rows, book, **data.reading))
                report_progress(1)
            charged = [charged[0] + book.spent, charged[1] + book.delta_spent]
    every = [np.asarray(release.raw) for side in outcomes for release in side]
    several = {raw.tobytes() for raw in every if raw.size > 1}  # a single number may be a choice among few
    known = _Known(plan, sides)
    first, second = known.ratios(outcomes)
    bound = lower_bound(first, second, float(plan.delta), false_alarm)
    repeated = sum(raw.size > 1 for raw in every) - len(several)
    owed = plan.epsilon * count, plan.delta * count
    return Whole(count, (charged[0], charged[1]), owed, repeated, known.findings(), bound)


def affordable(plan: OnePlan) -> int:
    """How many releases one ledger can pay for."""
    by_delta = int((1 - Fraction(1, 10**9)) / plan.delta) if plan.delta else PER_LEDGER
    return max(1, min(PER_LEDGER, int(LARGEST / plan.epsilon), by_delta))


def book_for(plan: Audited, path: Path, times: int) -> Ledger:
    """A ledger that pays for so many releases and no more."""
    return Ledger.create(path, epsilon=plan.epsilon * times, study="audit", delta=plan.delta * times)


class _Known:
    """What is known of releases: the statistics of both sides at every stage, hence noise and likelihood ratios."""

    def __init__(self, plan: OnePlan, sides: tuple[Data, Data]):
        self.plan, self.sides = plan, sides
        self.first = self._sides_of(plan.stage, plan.summarize)
        self.tallies: dict[Any, tuple[np.ndarray, Tally, list[np.ndarray]]] = {}
        self.sees_noise = _gives_draws_back(plan.stage)

    def _sides_of(self, stage: Stage, summarize: Callable[..., Summary]) -> tuple[Side, Side]:
        one, two = (side_of(stage, summarize(data.rows, **data.reading)) for data in self.sides)
        return one, two

    def ratios(self, outcomes: tuple[list[Any], list[Any]]) -> list[np.ndarray]:
        """A number for every release that tells its side as well as possible."""
        found = [[self.ratio(release, side) for release in outcomes[side]] for side in (0, 1)]
        if all(ratio is not None for side in found for ratio in side):
            return [np.array(side) for side in found]
        # Nothing is known of how outcomes came about: the direction in which the first halves differ.
        raw = [np.array([np.asarray(release.raw, dtype=float) for release in side]) for side in outcomes]
        means = [side[: len(side) // 2].mean(axis=0) for side in raw]
        return [side @ (means[0] - means[1]) for side in raw]

    def ratio(self, release: Any, side: int) -> float | None:
        """The sum over stages, given what was drawn before; None where draws cannot be told from a release."""
        drawn = getattr(release, "drawn", ())
        if drawn:
            total = 0.0
            for number, outcome in enumerate(drawn):
                stage = cast(Stage, self.plan.schedule.next(drawn[:number])) if number else self.plan.stage
                reread = later_target(self.plan, stage, 0).summarize
                sides = self.first if number == 0 else self._sides_of(stage, reread)
                total += self._at(stage, outcome, sides)
                self._take(number, stage, outcome, sides[side])
            return total
        stage = self.plan.stage
        raw = np.asarray(release.raw, dtype=float)
        if raw.shape != (stage.problem.basis.size,):
            return None
        outcome = np.asarray(stage.problem.typical(raw))
        if outcome.shape != (stage.problem.size,):
            return None
        if self.sees_noise:
            self._take(0, stage, outcome, self.first[side])
        return self._at(stage, outcome, self.first)

    @staticmethod
    def _at(stage: Stage, outcome: np.ndarray, sides: tuple[Side, Side]) -> float:
        return sum(
            float(likelihood(part, outcome[part.where], sides[0].real[i], sides[1].real[i]))
            for i, part in enumerate(stage.parts)
        )

    def _take(self, number: int, stage: Stage, outcome: np.ndarray, mine: Side) -> None:
        """The noise of one release, in units of the stated scales."""
        for i, part in enumerate(stage.parts):
            if not isinstance(part.law, Choice):
                kind = (number, i, type(part.law), part.where.size, getattr(part.law, "starts", ()))
                kept = self.tallies.setdefault(kind, (part.where, Tally(part.law, mine.real[i]), []))
                kept[2].append((outcome[part.where] - mine.real[i]) / part.law.scales)

    def findings(self) -> list[Finding]:
        """Whether the noise that left is the noise that was stated."""
        found = []
        for where, tally, noise in self.tallies.values():
            tally.take(np.array(noise))
            found += tally.findings(where)
        return found


def _gives_draws_back(stage: Stage) -> bool:
    """Whether what was drawn can be told from a release: noise of a known size there and back."""
    problem = stage.problem
    if problem.count_is_private:  # only a quotient leaves
        return False
    drawn = stage.scales * (1 + np.arange(problem.size) % 3)
    try:
        back = np.asarray(problem.typical(problem.finish(drawn, stage.parts)))
    except (IndexError, ValueError):
        return False
    return back.shape == drawn.shape and bool((np.abs(back - drawn) <= 1e-6 * stage.scales).all())


def data_of(target: Target, rows: np.ndarray, somebody: int) -> Data:
    """Rows of which the first few are one person's."""
    if not target.keyed:
        return Data(rows)
    people = ["somebody"] * somebody + [f"person {i}" for i in range(len(rows) - somebody)]
    return Data(rows, {"units": people})
