"""Blocks: ball noise in octaves of components, between independent Laplace noise and one ball."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from ..noise import Ball
from ..protocol import Part, Problem, Reach
from .base import Method, best_count, check_components, class_risk, within
from .frl import first

#: Components in the first block; each further one is as long as all before it.
FIRST = 4


@dataclass(frozen=True, eq=False)
class Blocks(Method):
    """The first `components` coefficients, ball noise in octaves of them (derivations: blocks).

    Nearly as little noise as one ball, and each octave can be shrunk by what its own noise is known to be.

    >>> Blocks(components=32)
    Blocks(components=32)
    """

    components: int | None = None

    def __post_init__(self) -> None:
        check_components(self.components)

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        size = problem.basis.size - problem.public
        outline = problem.reach.outline()

        def risk(count: int) -> float:
            law = block_law(problem, outline, epsilon, count)
            return class_risk(problem, first(count, problem), problem.public + np.arange(count), law.variance)

        return replace(self, components=within(self.components or best_count(risk, size), size))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        count = self.resolved(problem, epsilon).components
        assert count is not None
        where = problem.public + np.arange(count)
        return (Part(where, np.ones(count), block_law(problem, problem.reach, epsilon, count)),)


def octaves(size: int) -> tuple[int, ...]:
    """Where blocks of `size` components begin: four, four, eight, sixteen, and so on.

    >>> octaves(20)
    (0, 4, 8, 16)
    """
    starts = [0]
    edge = FIRST
    while edge < size:
        starts.append(edge)
        edge *= 2
    return tuple(starts)


def block_law(problem: Problem, reach: Reach, epsilon: Fraction, count: int) -> Ball:
    """Ball noise in octaves of the first `count` coefficients that are not public."""
    where = problem.public + np.arange(count)
    return Ball.calibrated(epsilon, reach.restricted(where), problem.extent[where], octaves(count))
