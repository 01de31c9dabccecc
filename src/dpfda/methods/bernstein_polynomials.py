"""Bernstein: values on a lattice with equal noise, joined by polynomials (a peer mechanism)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpfda.core.checks import check_choice
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.base import SENSITIVITIES, Method, P
from dpfda.noise import Laplace
from dpfda.problems.bernstein_points import on_lattice
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part

#: A limit on what is asked for, by no proof: any order is valid, and costs no more noise.
MOST_ORDER = 100


@dataclass(frozen=True, eq=False)
class Bernstein(Method):
    """Values at ``(lattice + 1)^d`` points, Laplace noise on each, Bernstein polynomials between them.

    Parameters
    ----------
    lattice : int
        Steps of the lattice along each axis, from 1 to 4,095.
    order : int, optional
        Order h, from 1 (default) to 100, of the iterated operator ``I - (I - B)^h``: no more noise, much less bias.
    sensitivity : str, optional
        "paper" (default) charges the largest change at one point for every point, as in the original mechanism;
        "tight" the largest change of all points together.

    Examples
    --------
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

    def frame(self, problem: P) -> P:
        return on_lattice(problem, self.lattice, self.order)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        size = problem.basis.size
        sensitivity = problem.sensitivity.loosened() if self.sensitivity == "paper" else problem.sensitivity
        even = np.ones(size)
        scales = even * (sensitivity.support(even) / float(epsilon))
        law = Laplace.calibrated(epsilon, scales, even, sensitivity, problem.max_abs[:size])
        return (Part(np.arange(size), even, law),)

    def describe(self, basis: str) -> str:
        often = f" (iterated, of order {self.order})" if self.order > 1 else ""
        lattice = f"the values on a lattice of {self.lattice + 1} points along each axis"
        return f"{lattice}, between which Bernstein polynomials{often} run (Aldà and Rubinstein, 2017)"
