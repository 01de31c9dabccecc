"""Leading: a covariance in its first functions, every product of two of them, with ball noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, cast

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.methods.base import Method, P, check_components, within
from dpfda.noise import Ball
from dpfda.problems.contracts import Problem
from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.stage import Part

#: How many functions, K, of n epsilon = x. In units of the radius to the fourth, noise on K(K+1)/2 numbers has the
#: energy ``4 K^4 / x^2``, and a strong direction with the share s of the squared radius, of energies ``j^-(p+1)``,
#: misses about ``s^2 K^-p``: the least sum has K as a power ``2 / (4 + p)`` of x, 2/5 for rough curves (p = 1) to 2/7
#: for smooth ones (p = 3). This is p = 2 with s = .3, the factor .459 rounded down (derivations: covariance).
GROWTH, POWER = 0.455, 1 / 3
#: Two principal components that differ from each other and from a level need some functions even in much noise.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class Leading(Method):
    """All products of two of the first `functions` functions, with ball noise (derivations: covariance).

    The release is shrunk by the exact posterior mean over covariances of every size, smooth and rough.

    Parameters
    ----------
    functions : int, optional
        How many functions of one variable, K: K(K+1)/2 numbers leave. Default: what n and epsilon can carry, 5 at
        least.

    Examples
    --------
    >>> Leading(functions=6)
    Leading(functions=6)
    """

    functions: int | None = None

    def __post_init__(self) -> None:
        check_components(self.functions)

    def frame(self, problem: P) -> P:
        if not isinstance(problem, CovarianceProblem):
            raise ParameterError("Leading is for covariances", "another problem", "Use method=dp.methods.KNorm() here.")
        return replace(problem, by_power=True)

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        most = cast(CovarianceProblem, problem).basis.line.size
        if self.functions is not None:
            return replace(self, functions=within(self.functions, most))
        strength = cast(CovarianceProblem, problem).n * float(epsilon)
        return replace(self, functions=min(max(FEWEST, round(GROWTH * strength**POWER)), most))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        count = self.resolved(problem, epsilon).functions
        where = np.flatnonzero((cast(CovarianceProblem, problem).basis.index < count).all(axis=1))
        law = Ball.calibrated(epsilon, problem.sensitivity.restricted(where), problem.max_abs[where])
        return (Part(where, np.ones(where.size), law),)

    def describe(self, basis: str) -> str:
        assert self.functions is not None
        count = self.functions * (self.functions + 1) // 2
        return f"the {count} coefficients of the first {self.functions} functions, in {basis}"
