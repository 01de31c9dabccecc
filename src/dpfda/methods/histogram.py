"""Histogram: counts in a few bins, then in bins where the mass is; a smooth density is fitted to all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from dpfda.core.codec import exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.base import Method, P
from dpfda.noise import Laplace
from dpfda.problems.contracts import Problem
from dpfda.problems.density import DensityProblem
from dpfda.problems.stage import Part

#: Below this many points times epsilon a first look costs more than it tells: one round, of about the root of that
#: number of bins. Above, two: the first has a share of the budget that falls as points become many. The roots balance
#: noise, which grows with the bins, and what bins cannot tell. Tuned; errors change by a tenth between rates of 1.2 and
#: 2.5, .35 and .7, and shares of .2 and .3 (docs/derivations/densities.md says on which data).
TWO_ROUNDS, FIRST_SHARE, SHARE_FALLS = 45, Fraction(3, 10), 6.0
FIRST_BINS, FIRST_RATE, LAST_BINS, LAST_RATE = 8, 1.5, 5, 0.5
#: Bins of one round, at most: more would be finer than what is fitted.
MOST_BINS, MOST_ROUNDS = 64, 4


@dataclass(frozen=True, eq=False)
class Histogram(Method):
    """Noisy counts in bins, in one or more rounds, and a smooth density fitted to all of them. For one dimension.

    Bins of the first round are equally long; those of later ones hold about equal mass of what was fitted so far, so
    that the budget is spent where the points are. However many bins there are, a point moves two counts by one
    (derivations: counts in bins). The points are read once.

    Parameters
    ----------
    bins : sequence of int, optional
        The number of bins in each round. Default: chosen from n and epsilon.
    shares : sequence of Fraction, str or float, optional
        The share of epsilon of each round; they add up to one.

    Examples
    --------
    >>> Histogram(bins=(8, 12), shares=("1/4", "3/4")).shares
    (Fraction(1, 4), Fraction(3, 4))
    """

    composite: ClassVar[bool] = True
    count_share: ClassVar[Fraction | None] = Fraction(0)  # the counts add up to the number of points

    bins: tuple[int, ...] | None = None
    shares: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        cure = "Pass dp.methods.Histogram(bins=(8, 12), shares=('1/4', '3/4')), or leave both out."
        if (self.bins is None) != (self.shares is None):
            raise ParameterError("bins and shares are given together", "one of them", cure)
        if self.bins is None:
            return
        asked, given = _listed(self.bins), _listed(self.shares)
        bins = [int(b) for b in asked if isinstance(b, int | np.integer) and _is_count(b)]
        if not 1 <= len(asked) <= MOST_ROUNDS or len(bins) != len(asked):
            raise ParameterError(f"bins are one to {MOST_ROUNDS} numbers from 2 to {MOST_BINS}", shown(self.bins), cure)
        shares = [share for share in map(exact_fraction, given) if share is not None and share > 0]
        if len(shares) != len(bins) or len(given) != len(bins) or sum(shares) != 1:
            raise ParameterError("shares are positive, one for each round, and add up to 1", shown(self.shares), cure)
        object.__setattr__(self, "bins", tuple(bins))
        object.__setattr__(self, "shares", tuple(shares))

    def frame(self, problem: P) -> P:
        if not isinstance(problem, DensityProblem) or problem.width > 1:
            raise ParameterError(
                "histograms are for densities in one dimension", "another target", "Use method=dp.methods.KNorm()."
            )
        return problem

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        if self.bins is not None:
            return self
        # Where a point is added or removed, noise is half as large: as for twice as many points.
        many = problem.n * float(epsilon) * (2 if problem.count_is_private else 1)
        if many < TWO_ROUNDS:
            return replace(self, bins=(_between(math.sqrt(many), 2),), shares=(Fraction(1),))
        percent = round(100 * min(float(FIRST_SHARE), SHARE_FALLS / math.sqrt(many)))
        share = Fraction(max(1, percent), 100)
        first = _between(FIRST_RATE * math.sqrt(float(share) * many), FIRST_BINS)
        last = _between(LAST_RATE * math.sqrt(many), LAST_BINS)
        return replace(self, bins=(first, last), shares=(share, 1 - share))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        """One round: every count with the same noise.

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
        return "every count"


def _between(bins: float, least: int) -> int:
    return int(min(max(round(bins), least), MOST_BINS))


def _listed(given: object) -> list[object]:
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []


def _is_count(value: int | np.integer) -> bool:
    return not isinstance(value, bool) and bool(2 <= value <= MOST_BINS)
