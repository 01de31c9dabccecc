"""Minimax: the filter and noise that are best together for a public guess of the target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from ..protocol import Part, Problem
from .base import LaplaceMethod, check_positive


@dataclass(frozen=True, eq=False)
class Minimax(LaplaceMethod):
    """Minimise ``sum (1-a_j)^2 m_j`` plus noise energy over all filters (derivations: minimax filter).

    The guess ``m_j`` is proportional to ``lambda_j^power``; `power` None is the problem's own
    (``1 + 1/beta``), the paper's smoothness assumption on the mean.

    >>> Minimax().power is None
    True
    """

    power: float | None = None
    noise: str = "matched"
    sensitivity: str = "tight"

    def __post_init__(self) -> None:
        check_positive("power", self.power)
        self._check_options()

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        return self if self.power else replace(self, power=1 + 1 / problem.decay if problem.decay else 1.0)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        eigenvalues = problem.basis.eigenvalues
        shape = (eigenvalues / eigenvalues[0]) ** self.resolved(problem, epsilon).power
        guess = shape * (problem.guess.sum() / shape.sum())
        precision = self._reach(problem).scaled(1 / float(epsilon)).balance(guess)
        signal = guess * precision**2
        return (self._part(problem, epsilon, signal / (2 + signal)),)
