"""KNorm: noise that is uniform in direction, half the energy of Laplace on a flat filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.methods.base import best_count, check_components, class_risk, within
from dpfda.methods.checked import Checked
from dpfda.methods.frl import first
from dpfda.noise import Ball
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part


@dataclass(frozen=True, eq=False, repr=False)
class BallMethod(Checked):
    """The first `components` coefficients with ball noise, in one ball or in blocks."""

    components: int | None = None

    def __post_init__(self) -> None:
        check_components(self.components)

    @staticmethod
    def starts(size: int) -> tuple[int, ...]:
        """Where blocks of `size` coefficients begin."""
        return (0,)

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        size = problem.basis.size - problem.n_public
        outline = problem.sensitivity.outline()

        def risk(count: int) -> float:
            law = self._law(problem, outline, epsilon, count)
            return class_risk(problem, first(count, problem), problem.n_public + np.arange(count), law.variance)

        return replace(self, components=within(self.components or best_count(risk, size), size))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        count = self.resolved(problem, epsilon).components
        assert count is not None
        where = problem.n_public + np.arange(count)
        return (Part(where, np.ones(count), self._law(problem, problem.sensitivity, epsilon, count)),)

    def _law(self, problem: Problem, sensitivity: Sensitivity, epsilon: Fraction, count: int) -> Ball:
        where = problem.n_public + np.arange(count)
        return Ball.calibrated(epsilon, sensitivity.restricted(where), problem.max_abs[where], self.starts(count))


@dataclass(frozen=True, eq=False, repr=False)
class KNorm(BallMethod):
    """The first `components` coefficients with ball noise (derivations: ball noise).

    Parameters
    ----------
    components : int, optional
        How many coefficients are released. Default: the number with the least expected risk, from public things.
    check : bool, optional
        Whether a few per cent of epsilon go to what a mean leaves out, so that its bands cover that. Default: no.

    Examples
    --------
    >>> KNorm(components=12)
    KNorm(components=12)
    """
