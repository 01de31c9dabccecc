"""A private choice among methods, then the release by the one that was chosen: from one summary of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.methods import Select
from dpfda.plans.schedule import Schedule
from dpfda.plans.shares import Cost
from dpfda.problems.mean import MeanProblem
from dpfda.problems.scores import ScoreProblem
from dpfda.problems.stage import Stage


@dataclass(frozen=True, eq=False)
class Selected(Schedule):
    """The two stages of a choice; the second reads nothing again, it only needs the first one's totals."""

    problem: MeanProblem
    method: Select
    epsilon: Fraction

    @property
    def passes(self) -> int:
        return 1

    @cached_property
    def candidates(self) -> list[Stage]:
        return [Stage(self.problem, parts) for parts in self.method.parts(self.problem, self.epsilon)]

    @cached_property
    def first(self) -> Stage:
        problem = ScoreProblem(self.problem, tuple(stage.parts for stage in self.candidates))
        return problem.choice(self.epsilon * self.method.share)

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        return self.last(drawn) if len(drawn) == 1 else None

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        return self.candidates[int(np.argmax(drawn[0]))]

    def stages(self, drawn: Sequence[np.ndarray]) -> list[Stage]:
        return [self.first, self.last(drawn)]

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        stage = self.last(drawn)
        return stage.problem.finish(drawn[1], stage.parts)

    @cached_property
    def expected_stage(self) -> Stage:
        """The candidate that should be best before data."""
        return min(self.candidates, key=lambda stage: stage.risk)

    @property
    def risk(self) -> float:
        return self.expected_stage.risk

    def outcome(self, drawn: Sequence[np.ndarray]) -> str:
        """What the choice fell on."""
        return f"The choice fell on {self.method.candidates[int(np.argmax(drawn[0]))]!r}."

    @property
    def numbers_text(self) -> str:
        return f"one of {len(self.candidates)} candidates, then its coefficients"

    def costs(self, target: str) -> list[Cost]:
        choice = self.epsilon * self.method.share
        words = f"the choice among {len(self.candidates)} methods"
        return [Cost(words, 1, choice), Cost(f"the {target}", 1, self.epsilon - choice)]

    def explanation(self) -> str:
        """How the choice is made."""
        return (
            f"The method is chosen privately among {len(self.candidates)} candidates, by permute and flip, for "
            f"{self.method.share} of epsilon; the rest is for the release."
        )
