"""The stages of a release: which comes first, which follows from what was drawn, and what all of it comes to.

Most plans have one stage. Others read the records again (:class:`Rounds`, :class:`Centring`, a regression), or choose
first and release then (:class:`Selected`). Everything here is public: stages follow from draws, never from data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.plans.shares import COUNT, Cost
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Stage


class Schedule(ABC):
    """What a plan does, stage by stage. Subclasses say what comes first, what follows, and what it comes to."""

    #: Whether a release keeps what each stage drew: what a later stage was follows from that.
    keeps_draws: ClassVar[bool] = True

    #: How to plan for records that can be read only once.
    in_one_pass: ClassVar[str] = "plan with method=dp.Auto(passes=1)"

    @property
    @abstractmethod
    def first(self) -> Stage:
        """The first pass over the records."""

    @property
    def passes(self) -> int:
        """How often the records are read."""
        return 1

    def check_passes(self, single_pass_reason: str) -> None:
        """Refuse, before any charge, what can be read only once where it is read several times."""
        if single_pass_reason and self.passes > 1:
            raise ParameterError(
                f"this plan reads the records {self.passes} times",
                single_pass_reason,
                f"Pass them whole, or {self.in_one_pass}.",
            )

    @abstractmethod
    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        """The stage that follows what was drawn so far; None if that was all."""

    @abstractmethod
    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients from what all stages have drawn: post-processing, public."""

    def extra_fields(self, drawn: Sequence[np.ndarray]) -> dict[str, tuple[np.ndarray, ...]]:
        """What a release keeps of the draws beyond its coefficients."""
        return {"drawn": tuple(drawn)} if self.keeps_draws else {}

    def stages(self, drawn: Sequence[np.ndarray]) -> Sequence[Stage]:
        """The stages whose noise a statement speaks of."""
        return [self.first]

    @property
    def decisive(self) -> int | None:
        """How many stages what is published follows from, if later ones only tell how far it can be trusted."""
        return None

    def rehearse(self) -> None:
        """Calibrate every stage now, for draws at both ends: what could not be drawn after a charge is refused."""
        for place in (0, -1):
            drawn: list[np.ndarray] = []
            stage: Stage | None = self.first
            while stage is not None:
                for part in stage.parts:
                    part.law.to_lattice([Fraction(0)] * part.where.size)
                draw = np.zeros(stage.problem.size)
                draw[place] = 1.0  # a choice of the first or the last candidate
                drawn.append(draw)
                stage = self.next(drawn)

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        """The stage whose noise the released coefficients carry."""
        return self.first

    def target(self, drawn: Sequence[np.ndarray]) -> Problem | None:
        """The plan's problem as draws have changed it (a smaller bound), if they have."""
        return None

    @property
    def bound_doubt(self) -> float:
        """How much likelier a signal is at half the energy, for all that is known of its bound."""
        return 0.0

    @property
    def expected_stage(self) -> Stage:
        """The same before data: what noise and bands are expected to be."""
        return self.first

    @property
    def risk(self) -> float:
        """Expected squared error before data."""
        return self.expected_stage.risk

    @property
    def risks(self) -> np.ndarray:
        """The same for each member of the public class."""
        return self.expected_stage.risks

    @property
    def numbers_text(self) -> str:
        """How many numbers leave."""
        return f"{sum(part.where.size for part in self.first.parts)} of {self.first.problem.size}"

    @abstractmethod
    def costs(self, target: str) -> list[Cost]:
        """What each step costs, in order; `target` is what the release estimates."""

    def explanation(self) -> str:
        """What is done in each pass, for which share of the budget; nothing where there is one."""
        return ""

    def outcome(self, drawn: Sequence[np.ndarray]) -> str:
        """What private choices fell on, if there were any."""
        return ""


class OneStage(Schedule):
    """One stage, and its numbers are the release."""

    keeps_draws: ClassVar[bool] = False

    def __init__(self, stage: Stage):
        self.stage = stage

    @property
    def first(self) -> Stage:
        return self.stage

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        return None

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.stage.problem.finish(drawn[0], self.stage.parts)

    def costs(self, target: str) -> list[Cost]:
        """The release itself; a private count is its last part."""
        count = self.stage.parts[-1].law.epsilon if self.stage.problem.needs_count else Fraction(0)
        return [Cost(f"the {target}", 1, self.stage.epsilon - count), Cost(COUNT, 1, count)]
