"""KNorm: noise that is uniform in direction, half the energy of Laplace on a flat filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self
from weakref import WeakKeyDictionary

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
        """Where blocks of `size` coefficients begin.

        Parameters
        ----------
        size : int
            The number of coefficients.
        """
        return (0,)

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        size = problem.basis.size - problem.n_public
        laws = _laws_of(problem, outlined=True)

        def risk(count: int) -> float:
            law = laws.law(epsilon, count, self.starts(count))
            return class_risk(problem, first(count, problem), problem.n_public + np.arange(count), law.variance)

        return replace(self, components=within(self.components or best_count(risk, size), size))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        count = self.resolved(problem, epsilon).components
        assert count is not None
        law = _laws_of(problem, outlined=False).law(epsilon, count, self.starts(count))
        return (Part(problem.n_public + np.arange(count), np.ones(count), law),)

    def describe(self, basis: str) -> str:
        return f"the first {self.components} coefficients in {basis}"


class _Laws:
    """Ball noise on the first coefficients of a problem: but for its epsilon it is the same at every budget."""

    def __init__(self, problem: Problem, outlined: bool):
        self._first, self._max_abs = problem.n_public, problem.max_abs
        self._sensitivity: Sensitivity = problem.sensitivity.outline() if outlined else problem.sensitivity
        self._found: dict[tuple[int, tuple[int, ...]], Ball] = {}

    def law(self, epsilon: Fraction, count: int, starts: tuple[int, ...]) -> Ball:
        """Of so many coefficients, in blocks."""
        if (count, starts) not in self._found:
            where = self._first + np.arange(count)
            within = self._sensitivity.restricted(where)
            self._found[count, starts] = Ball.calibrated(epsilon, within, self._max_abs[where], starts)
        return replace(self._found[count, starts], epsilon=epsilon)


#: The laws of each problem, as long as plans have it.
_LAWS: WeakKeyDictionary[Problem, dict[bool, _Laws]] = WeakKeyDictionary()


def _laws_of(problem: Problem, outlined: bool) -> _Laws:
    known = _LAWS.setdefault(problem, {})
    if outlined not in known:
        known[outlined] = _Laws(problem, outlined)
    return known[outlined]


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
