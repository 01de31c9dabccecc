"""Bernstein: values on a lattice with equal noise, joined by polynomials (a peer mechanism)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfda.core.checks import check_choice
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.base import SENSITIVITIES, Method
from dpfda.noise import Laplace
from dpfda.problems.base import Part, Problem
from dpfda.problems.lattices import on_lattice

MOST_ORDER = 100


@dataclass(frozen=True, eq=False)
class Bernstein(Method):
    """Values at ``(lattice + 1)^d`` points, Laplace noise on each, Bernstein polynomials between them.

    `order` h evaluates the iterated operator ``I - (I - B)^h``: no more noise, much less bias.
    `sensitivity` "paper" charges the largest change at one point for every point, as in the original
    mechanism; "tight" the largest change of all points together.

    >>> Bernstein(20, order=4).sensitivity
    'paper'
    """

    lattice: int
    order: int = 1
    sensitivity: str = "paper"

    def __post_init__(self) -> None:
        for name, most in (("lattice", 4095), ("order", MOST_ORDER)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
                raise ParameterError(
                    f"{name} must be a whole number from 1 to {most:,}", shown(value), f"Pass {name}=10, say."
                )
            object.__setattr__(self, name, int(value))
        check_choice("sensitivity", self.sensitivity, SENSITIVITIES)

    def frame(self, problem: Any) -> Any:
        return on_lattice(problem, self.lattice, self.order)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        size = problem.basis.size
        sensitivity = problem.sensitivity.loosened() if self.sensitivity == "paper" else problem.sensitivity
        even = np.ones(size)
        scales = even * (sensitivity.support(even) / float(epsilon))
        law = Laplace.calibrated(epsilon, scales, even, sensitivity, problem.max_abs[:size])
        return (Part(np.arange(size), even, law),)
