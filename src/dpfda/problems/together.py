"""Several problems over the same records, read in one pass.

What a stage needs of a record may be known before an earlier stage is drawn: the mean of curves clipped to a body, how
much they vary about its centre, and what of them lies outside it. One pass then adds up for all of them, and each
stage takes its own totals from one summary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpfda.bounds.loops import Block, add_up
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch
from dpfda.problems.contracts import BlockProblem
from dpfda.problems.summary import Summary
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.rules import Rules


@dataclass(frozen=True, eq=False)
class Together:
    """An encoder whose totals are those of some problems, one after another. All of them read records alike."""

    problems: tuple[BlockProblem, ...]
    #: After the first problem come choices of so many problems each, one of which it makes; 0 where all are needed.
    problems_per_choice: int = 0
    #: The key of summaries that an earlier version made in the same way, if it did.
    earlier_key: str = ""

    kind: ClassVar[type[Summary]] = Summary

    @cached_property
    def key(self) -> str:
        return self.earlier_key or codec.digest(["together", *(problem.key for problem in self.problems)])

    @property
    def width(self) -> int:
        return self.problems[0].width

    @property
    def record(self) -> str:
        return self.problems[0].record

    @property
    def record_grid(self) -> AnyGrid | None:
        return self.problems[0].record_grid

    @property
    def alignment(self) -> Rules | None:
        return self.problems[0].alignment

    @property
    def invalid(self) -> str:
        return self.problems[0].invalid

    @property
    def count_is_private(self) -> bool:
        return self.problems[0].count_is_private

    def total(self, batch: np.ndarray) -> np.ndarray:
        return add_up(self.block_totals, batch)

    def block_totals(self, block: Block) -> np.ndarray:
        """What a block adds to the totals of each; what several of them ask of a record is worked out once."""
        return np.concatenate([problem.block_totals(block) for problem in self.problems])

    @cached_property
    def _starts(self) -> list[int]:
        nobody = np.empty((0, self.width))
        return [0, *np.cumsum([problem.total(nobody).size for problem in self.problems]).tolist()]

    def needed_with(self, place: int) -> tuple[Together | None, int]:
        """What is needed with the problem at this place, and its place there, if records can be read again later."""
        if self.problems_per_choice == 0:
            return self, place
        if place == 0 or self.problems_per_choice == 1:
            return None, 0
        choice, within = divmod(place - 1, self.problems_per_choice)
        start = 1 + choice * self.problems_per_choice
        return Together(self.problems[start : start + self.problems_per_choice]), within

    def own(self, summary: Summary, place: int) -> Summary:
        """The summary of one of the problems."""
        totals = summary.totals[self._starts[place] : self._starts[place + 1]]
        return replace(summary, key=self.problems[place].key, totals=totals)

    def check(self, summary: Summary) -> None:
        """Refuse a summary that does not belong here, in any of its parts."""
        whole = type(summary.count) is int and summary.totals.shape == (self._starts[-1],)
        if summary.key != self.key or not whole:
            raise PlanMismatch(f"This summary was made with another plan; summarise the {self.record}s with this plan.")
        for place, problem in enumerate(self.problems):
            problem.check(self.own(summary, place))
