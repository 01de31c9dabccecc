"""Whole releases, many times: the same two neighbours through the real exit, each charged to a real ledger."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..ledger import Ledger
from .outcomes import Bound, likelihood, lower_bound, side_of
from .targets import Target, later_target

#: Releases that one ledger pays for: a delta of up to 1/64 then fits as well.
PER_LEDGER = 32
#: The largest budget of a ledger.
LARGEST = 10_000


@dataclass(frozen=True)
class Whole:
    """What whole releases have shown."""

    releases: int
    charged: Fraction
    owed: Fraction
    repeated: int
    bound: Bound

    @property
    def paid(self) -> bool:
        return self.charged == self.owed


@dataclass(frozen=True, eq=False)
class Data:
    """One of two neighbouring data sets: all rows, and whose each is (where rows belong to people)."""

    rows: np.ndarray
    people: list[str] | None = None

    @property
    def reading(self) -> dict[str, Any]:
        return {} if self.people is None else {"units": self.people}


def whole_releases(
    plan: Any, sides: tuple[Data, Data], count: int, false_alarm: float, told: Callable[[int], None]
) -> Whole:
    """`count` releases, half of them of each side, and what their outcomes tell about the side."""
    charged = Fraction(0)
    outcomes: tuple[list[Any], list[Any]] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        most = max(1, min(PER_LEDGER, int(LARGEST / plan.epsilon)))
        for start in range(0, count, most):
            size = min(most, count - start)
            path = Path(folder) / f"{start}.ledger"
            book = Ledger.create(path, epsilon=plan.epsilon * size, study="audit", delta=plan.delta * size)
            for i in range(start, start + size):
                data = sides[i % 2]
                outcomes[i % 2].append(plan.release(data.rows, book, **data.reading))
                told(1)
            charged += book.spent
    every = [np.asarray(release.raw) for side in outcomes for release in side]
    several = {raw.tobytes() for raw in every if raw.size > 1}  # a single number may be a choice among few
    first, second = _ratios(plan, sides, outcomes)
    bound = lower_bound(first, second, float(plan.delta), false_alarm)
    return Whole(count, charged, plan.epsilon * count, sum(raw.size > 1 for raw in every) - len(several), bound)


def _ratios(plan: Any, sides: tuple[Data, Data], outcomes: tuple[list[Any], list[Any]]) -> list[np.ndarray]:
    """A number for every release that tells its side as well as possible."""
    known = _Known(plan, sides)
    found = [[known.ratio(release) for release in side] for side in outcomes]
    if all(ratio is not None for side in found for ratio in side):
        return [np.array(side) for side in found]
    # Nothing is known of how outcomes came about: the direction in which the first halves differ.
    raw = [np.array([np.asarray(release.raw, dtype=float) for release in side]) for side in outcomes]
    means = [side[: len(side) // 2].mean(axis=0) for side in raw]
    return [side @ (means[0] - means[1]) for side in raw]


class _Known:
    """Likelihood ratios of releases, from the statistics of both sides at every stage."""

    def __init__(self, plan: Any, sides: tuple[Data, Data]):
        self.plan, self.sides = plan, sides
        self.first = self._sides_of(plan.stage, plan.summarize)

    def _sides_of(self, stage: Any, summarize: Callable[..., Any]) -> tuple[Any, Any]:
        one, two = (side_of(stage, summarize(data.rows, **data.reading)) for data in self.sides)
        return one, two

    def ratio(self, release: Any) -> float | None:
        """The sum over stages, given what was drawn before; None where draws cannot be told from a release."""
        drawn = getattr(release, "drawn", ())
        if drawn:
            total = 0.0
            for number, outcome in enumerate(drawn):
                stage = self.plan.next(drawn[:number]) if number else self.plan.stage
                sides = (
                    self.first if number == 0 else self._sides_of(stage, later_target(self.plan, stage, 0).summarize)
                )
                total += self._at(stage, outcome, sides)
            return total
        stage = self.plan.stage
        raw = np.asarray(release.raw, dtype=float)
        if raw.shape != (stage.problem.basis.size,):
            return None
        outcome = np.asarray(stage.problem.typical(raw))
        return self._at(stage, outcome, self.first) if outcome.shape == (stage.problem.size,) else None

    @staticmethod
    def _at(stage: Any, outcome: np.ndarray, sides: tuple[Any, Any]) -> float:
        return sum(
            float(likelihood(part, outcome[part.where], sides[0].real[i], sides[1].real[i]))
            for i, part in enumerate(stage.parts)
        )


def data_of(target: Target, rows: np.ndarray, somebody: int) -> Data:
    """Rows of which the first few are one person's."""
    if not target.keyed:
        return Data(rows)
    return Data(rows, ["somebody"] * somebody + [f"person {i}" for i in range(len(rows) - somebody)])
