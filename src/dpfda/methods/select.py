"""Select: a private choice among methods, by what each would make of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from dpfda.core.codec import exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.base import Method, P, check_pure
from dpfda.problems.contracts import Prior, Problem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part

#: A choice among more tells them apart no better.
MOST_CANDIDATES = 1000


@dataclass(frozen=True, eq=False)
class Select(Method):
    """The best of several candidates (components, smoothness, filters, whole methods), chosen privately from the data.

    A share of epsilon goes to the choice, the rest to the release. A candidate's score is its expected squared error on
    the clipped data: its public noise, and what its filter misses of the data's mean; one curve moves scores
    by a proven bound (derivations: private choice). Never cross-validation, which is not private.

    Parameters
    ----------
    candidates : sequence of Method
        Two to 1,000 methods of one round, for means in a kernel's basis.
    share : Fraction, str or float, optional
        Share of epsilon for the choice, strictly between 0 and 1. Default: 1/10.

    Examples
    --------
    >>> from dpfda.methods import KNorm
    >>> Select([KNorm(4), KNorm(12)]).share
    Fraction(1, 10)
    """

    composite: ClassVar[bool] = True

    candidates: tuple[Method, ...]
    share: Fraction = Fraction(1, 10)

    def __post_init__(self) -> None:
        cure = "Pass dp.methods.Select([dp.methods.KNorm(8), dp.methods.KNorm(32)]), say."
        given = self.candidates
        found = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
        if not 2 <= len(found) <= MOST_CANDIDATES or not all(isinstance(method, Method) for method in found):
            raise ParameterError(f"candidates are two to {MOST_CANDIDATES} methods", shown(given), cure)
        if any(method.composite for method in found):
            raise ParameterError("candidates are methods of one round", "stages or choices among them", cure)
        share = exact_fraction(self.share)
        if share is None or not 0 < share < 1:
            raise ParameterError("share lies strictly between 0 and 1", shown(self.share), "Pass share='1/10'.")
        object.__setattr__(self, "candidates", found)
        object.__setattr__(self, "share", share)

    def frame(self, problem: P) -> P:
        framed = any(method.frame(problem) is not problem for method in self.candidates)
        if framed or not isinstance(problem, MeanProblem):
            raise ParameterError(
                "candidates release the mean of curves in a kernel's basis",
                repr(self),
                "Leave others out: Bernstein, and other targets than means.",
            )
        if problem.count_is_private:
            raise ParameterError(
                "a choice by the data's mean needs a public number of curves", "add-remove", "Use neighbors='replace'."
            )
        return problem

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        left = epsilon * (1 - self.share)
        return replace(self, candidates=tuple(method.resolved(problem, left) for method in self.candidates))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        """Parts of the candidate that should be best before data: what a plan expects.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget of the choice and the release together.
        """
        return min(self.parts(problem, epsilon), key=lambda parts: _risk(problem, parts))

    def describe(self, basis: str) -> str:
        return f"the coefficients in {basis} that the method of choice keeps"

    def parts(self, problem: Problem, epsilon: Fraction) -> list[tuple[Part, ...]]:
        """What each candidate would release with.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget of the choice and the release together.
        """
        found = [method.calibrate(problem, epsilon * (1 - self.share)) for method in self.candidates]
        for parts in found:
            check_pure(parts)
        return found


def _risk(problem: Prior, parts: tuple[Part, ...]) -> float:
    noise = sum(float(part.law.variance.sum()) for part in parts)
    missed = problem.prior_energy.copy()
    for part in parts:
        missed[part.where] = part.bias(problem.prior_energy)
    return noise + float(missed.sum())
