"""EventCounts: events and censorings counted in bins of a public horizon; hazards are fitted to the noisy counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.methods.base import Method, P
from dpfda.noise import Laplace
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part
from dpfda.problems.survival import CELLS, SurvivalProblem

#: Bins of events to choose from, by n times epsilon and, where little noise lets more be seen, by the root of n: the
#: nearest to ``max(POWERED (n eps)^POWER, min(ROOTED eps sqrt(n), n / FEWEST))``, and half as many of censorings.
#: Measured over nine shapes of survival curves, judged on others (docs/derivations/survival.md).
BINS = (4, 6, 8, 12, 16, 24, 32, 48, 96)
POWERED, POWER, ROOTED, FEWEST = 0.8, 0.4, 0.2, 8
#: Many events may come early, all in the first bin: it is halved so many times, once where there are up to this many.
HALVED, FEW_BINS = 2, 6
#: Bins of either kind, at most, and how often the first may be halved; and the cells that hazards are fitted in: so
#: many for fewer bins than this.
MOST_BINS = 96
MOST_EARLY = 4
FITTED_CELLS = ((24, 48), (96, 96), (MOST_BINS + 1, CELLS))


@dataclass(frozen=True, eq=False)
class EventCounts(Method):
    """Noisy counts of events and of censorings in bins, and of who reached the horizon. For survival curves.

    However many bins there are, a record moves two counts by one (derivations: survival). The records are read once.

    Parameters
    ----------
    events : int, optional
        Equal bins of events. Default: chosen from n and epsilon.
    censored : int, optional
        Equal bins of censorings.
    early : int, optional
        How many times the first bin of events is halved, from the end towards time 0. Default: 0 where bins are given,
        else chosen.

    Examples
    --------
    >>> EventCounts(events=24, censored=12).title
    'EventCounts'
    """

    count_share: ClassVar[Fraction | None] = Fraction(0)  # the counts add up to the number of records

    events: int | None = None
    censored: int | None = None
    early: int = 0

    def __post_init__(self) -> None:
        cure = "Pass dp.methods.EventCounts(events=24, censored=12), or leave both out."
        if (self.events is None) != (self.censored is None):
            raise ParameterError("events and censored are given together", "one of them", cure)
        for name in ("events", "censored"):
            bins = getattr(self, name)
            if bins is not None and not _is_count(bins):
                raise ParameterError(f"{name} is a number of bins from 1 to {MOST_BINS}", shown(bins), cure)
            object.__setattr__(self, name, None if bins is None else int(bins))
        if not _is_count(self.early, 0, MOST_EARLY):
            raise ParameterError(f"early is a number from 0 to {MOST_EARLY}", shown(self.early), "Leave it out.")
        object.__setattr__(self, "early", int(self.early))

    def frame(self, problem: P) -> P:
        if not isinstance(problem, SurvivalProblem):
            raise ParameterError(
                "event counts are for survival curves", "another target", "Use method=dp.methods.KNorm()."
            )
        return problem

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        if self.events is not None:
            return self
        # Where a record is added or removed, noise is half as large: as for twice the budget.
        n, budget = problem.n, float(epsilon) * (2 if problem.count_is_private else 1)
        wanted = max(POWERED * (n * budget) ** POWER, min(ROOTED * budget * math.sqrt(n), n / FEWEST), 1.0)
        events = min(BINS, key=lambda bins: abs(math.log(bins / wanted)))
        early = 1 if events <= FEW_BINS else HALVED
        return replace(self, events=events, censored=max(2, events // 2), early=early)

    @property
    def cells(self) -> int:
        """Cells that hazards are fitted in."""
        assert self.events is not None
        assert self.censored is not None
        return next(cells for bins, cells in FITTED_CELLS if max(self.events, self.censored) < bins)

    @property
    def starts(self) -> tuple[int, ...]:
        """The cells at which bins begin: of events, of censorings, and of who reached the horizon."""
        assert self.events is not None
        assert self.censored is not None
        times = CELLS // self.cells
        of_events, of_censored = (
            [times * round(k * self.cells / bins) for k in range(bins)] for bins in (self.events, self.censored)
        )
        first = of_events[1] if self.events > 1 else CELLS
        parts = {first // 2**k // times * times for k in range(1, self.early + 1)}
        return (*sorted(parts.union(of_events)), *(CELLS + start for start in of_censored), 2 * CELLS)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        """Every count with the same noise.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget that the parts share.
        """
        ones, where = np.ones(problem.size), np.arange(problem.size)
        scales = ones * (problem.sensitivity.support(ones) / float(epsilon))
        law = Laplace.calibrated(epsilon, scales, ones, problem.sensitivity, problem.max_abs)
        return (Part(where, ones, law),)

    def describe(self, basis: str) -> str:
        return "every count of events, of censorings and of those who reached the horizon"


def _is_count(value: object, least: int = 1, most: int = MOST_BINS) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(least <= value <= most)
