"""Which problems can be seen on a lattice, and how."""

from __future__ import annotations

from typing import TypeVar, cast

from dpfda.core.errors import ParameterError
from dpfda.problems.bernstein_density import LatticeDensity
from dpfda.problems.bernstein_mean import LatticeMean
from dpfda.problems.contracts import Problem
from dpfda.problems.density import DensityProblem
from dpfda.problems.mean import MeanProblem

#: A mean or a density; on a lattice it is one still.
P = TypeVar("P", bound=Problem)


def on_lattice(problem: P, lattice: int, order: int) -> P:
    """The same target at lattice points, joined by Bernstein polynomials."""
    if problem.grid.count > 1:
        raise ParameterError(
            "Bernstein polynomials are for curves and surfaces with one component",
            problem.grid.description,
            "Choose another method.",
        )
    if isinstance(problem, MeanProblem):
        return cast(P, LatticeMean.of(problem, lattice, order))
    if isinstance(problem, DensityProblem):
        return cast(P, LatticeDensity.of(problem, lattice, order))
    raise ParameterError(
        "Bernstein polynomials are for means and densities", type(problem).__name__, "Choose another method."
    )
