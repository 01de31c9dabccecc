"""KNorm: noise that is uniform in direction, half the energy of Laplace on a flat filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from ..noise import Ball
from ..protocol import Part, Problem, Reach
from .base import Method, best_count, check_components, class_risk, within
from .frl import first


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
        size = problem.basis.size - problem.public
        outline = problem.reach.outline()

        def risk(count: int) -> float:
            law = _ball(problem, outline, epsilon, count)
            return class_risk(problem, first(count, problem), problem.public + np.arange(count), law.variance)

        return replace(self, components=within(self.components or best_count(risk, size), size))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        count = self.resolved(problem, epsilon).components
        assert count is not None
        where = problem.public + np.arange(count)
        return (Part(where, np.ones(count), _ball(problem, problem.reach, epsilon, count)),)


def _ball(problem: Problem, reach: Reach, epsilon: Fraction, count: int) -> Ball:
    where = problem.public + np.arange(count)
    return Ball.calibrated(epsilon, reach.restricted(where), problem.extent[where])
