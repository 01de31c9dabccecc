"""Which problems can be seen on a lattice, and how."""

from __future__ import annotations

from typing import Any

from dpfda.core.errors import ParameterError
from dpfda.problems.density import DensityProblem
from dpfda.problems.lattice_density import LatticeDensity
from dpfda.problems.lattice_mean import LatticeMean
from dpfda.problems.mean import MeanProblem
from dpfda.spaces.components import ComponentGrid


def on_lattice(problem: Any, lattice: int, order: int) -> Any:
    """The same target at lattice points, joined by Bernstein polynomials."""
    if isinstance(problem.grid, ComponentGrid):
        raise ParameterError(
            "Bernstein polynomials are for curves and surfaces with one component",
            problem.grid.description,
            "Choose another method.",
        )
    if isinstance(problem, MeanProblem):
        return LatticeMean.of(problem, lattice, order)
    if isinstance(problem, DensityProblem):
        return LatticeDensity.of(problem, lattice, order)
    raise ParameterError(
        "Bernstein polynomials are for means and densities", type(problem).__name__, "Choose another method."
    )
