"""KNorm: noise that is uniform in direction, half the energy of Laplace on a flat filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from ..noise import Ball
from ..protocol import Part, Problem
from .base import Method, best_count, check_components, within


@dataclass(frozen=True, eq=False)
class KNorm(Method):
    """The first `components` coefficients with ball noise (derivations: ball noise).

    >>> KNorm(components=12)
    KNorm(components=12)
    """

    components: int | None = None

    def __post_init__(self) -> None:
        check_components(self.components)

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        size = problem.basis.size

        def risk(count: int) -> float:
            return float(problem.guess[count:].sum() + _ball(problem, epsilon, count).variance.sum())

        return replace(self, components=within(self.components or best_count(risk, size), size))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        count = self.resolved(problem, epsilon).components
        assert count is not None
        return (Part(np.arange(count), np.ones(count), _ball(problem, epsilon, count)),)


def _ball(problem: Problem, epsilon: Fraction, count: int) -> Ball:
    where = np.arange(count)
    return Ball.calibrated(epsilon, problem.reach.restricted(where), problem.extent[where])
