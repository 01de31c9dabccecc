"""Auto: rounds, noise, components and shrinkage picked by the exact risk over a robust class, before data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpfda.core.checks import check_positive
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.base import Method
from dpfda.methods.blockwise import Blocks
from dpfda.methods.frl import FRL
from dpfda.methods.knorm import KNorm
from dpfda.methods.minimax import Minimax
from dpfda.methods.outlook import Outlook
from dpfda.methods.staged import LARGEST, SMALLEST, Staged
from dpfda.problems.contracts import Problem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part

#: Shares of the first round and, where there are three, of the second, among which the expected risk decides
#: (derivations: choosing before data). Any are valid.
FIRSTS = (Fraction(1, 10), Fraction(1, 5), Fraction(3, 10))
SECONDS = (Fraction(3, 20), Fraction(1, 4))


@dataclass(frozen=True, eq=False)
class Auto(Method):
    """The default for means: whatever should be most accurate for n, epsilon, the bound, the spread and the kernel.

    Parameters
    ----------
    spread : float, optional
        A public radius that holds (nearly) every curve about their mean, if you know one. Default: chosen privately
        where that pays.
    passes : int, optional
        How often the data may be read: 1 for sources that can be read only once and for saved summaries. Default: as
        often as the best choice asks for.

    Examples
    --------
    >>> Auto(passes=1)
    Auto(spread=None, passes=1)
    """

    composite: ClassVar[bool] = True

    spread: float | None = None
    passes: int | None = None

    def __post_init__(self) -> None:
        check_positive("spread", self.spread)
        object.__setattr__(self, "spread", None if self.spread is None else float(self.spread))
        if self.passes is not None and (
            isinstance(self.passes, bool) or not isinstance(self.passes, int | np.integer) or self.passes < 1
        ):
            raise ParameterError(
                "passes must be a whole number from 1", shown(self.passes), "Pass 1, or leave passes out."
            )

    def check_plain(self, what: str) -> None:
        """Where the method is chosen in another way, options for means would be ignored: refuse them."""
        if self.spread is not None or (self.passes or 1) > 1:
            raise ParameterError(f"{what} is read once and has no spread", repr(self), "Pass method=dp.Auto().")

    def resolved(self, problem: Problem, epsilon: Fraction) -> Method:
        """The chosen method itself, of one round or in stages."""
        outlook = self.outlook(problem, epsilon)
        return min(self.candidates(outlook), key=outlook.typical)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        return self.resolved(problem, epsilon).calibrate(problem, epsilon)

    def explanation(self, problem: Problem, epsilon: Fraction, chosen: Method) -> str:
        """Why the choice fell as it did, in words and numbers."""
        outlook = self.outlook(problem, epsilon)
        found = self.candidates(outlook)
        rounds = {True: "stages", False: "one round"}
        other = min(
            (m for m in found if isinstance(m, Staged) != isinstance(chosen, Staged)), key=outlook.typical, default=None
        )
        return (
            f"Auto compared {len(found)} ways to spend the budget over smooth and rough means, before data, and chose "
            f"{_risks(outlook, chosen)}."
            + (f" The best with {rounds[isinstance(other, Staged)]} was {_risks(outlook, other)}." if other else "")
        )

    def outlook(self, problem: Problem, epsilon: Fraction) -> Outlook:
        """The risks among which the choice is made."""
        if not isinstance(problem, MeanProblem):
            raise ParameterError("Auto chooses among ways to release a mean", "another problem", "Leave method out.")
        return Outlook(problem, epsilon, self.spread)

    def candidates(self, outlook: Outlook) -> list[Method]:
        """One round of independent Laplace noise, a ball or blocks; or one of the latter and rounds about it."""
        schedules = [(a, 1 - a) for a in FIRSTS] + [(a, b, 1 - a - b) for a in FIRSTS for b in SECONDS]
        found: list[Method] = [Minimax().resolved(outlook.problem, outlook.epsilon)]
        for count in outlook.counts:
            balls: list[Method] = [KNorm(count), Blocks(count)]
            found += [FRL(count), *balls]
            if self.passes == 1 or not SMALLEST < outlook.problem.bound.outer < LARGEST:
                continue
            first = min(balls, key=outlook.noise)
            stages = [Staged(first, self.spread, shares) for shares in schedules]
            found += [staged for staged in stages if self.passes is None or len(staged.steps) <= self.passes]
        return found


def _risks(outlook: Outlook, method: Method) -> str:
    risks = np.exp(np.log(outlook.risks(method)).mean(axis=0))
    return (
        f"{method!r}: expected squared error {risks[0]:.3g} for a smooth mean, up to {risks[1:].max():.3g} for rough "
        f"ones, {outlook.typical(method):.3g} as a geometric mean over all"
    )
