"""The mean curve or surface at lattice points: what the Bernstein mechanism releases.

With a bound on the curve itself, a lattice value is a public average of neighbouring grid values;
with a bound on coefficients, it is a public combination of those. Either way the statistic is an
exact linear image of the totals, and so are the differences that a neighbour can make.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.sensitivities import EuclideanSensitivity, ImageSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.errors import ParameterError
from dpfda.problems.mean import MATRIX_BITS, MeanProblem
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.bernstein import BernsteinBasis
from dpfda.spaces.grid import Grid


@dataclass(frozen=True, eq=False)
class LatticeMean(MeanProblem):
    """A mean seen through `basis`, whose functions are Bernstein polynomials; records are coded in `code`."""

    code: Eigenbasis = field(kw_only=True)

    @classmethod
    def of(cls, problem: MeanProblem, lattice: int, order: int) -> LatticeMean:
        facts = {f.name: getattr(problem, f.name) for f in fields(problem) if f.name != "basis"}
        return cls(basis=BernsteinBasis(problem.grid, lattice, order), code=problem.basis, **facts)

    @property
    def code_basis(self) -> Eigenbasis:
        return self.code

    @property
    def _lattice(self) -> BernsteinBasis:
        assert isinstance(self.basis, BernsteinBasis)
        return self.basis

    @cached_property
    def _sight(self) -> np.ndarray:
        """From encoded coordinates (grid values times root weights, or coefficients) to lattice values."""
        if not self.bound.on_grid:
            return self.code.evaluate(self._lattice.lattice_points).T
        averages = np.ones((1, 1))
        for axis, points in zip(self.grid.axes, self._lattice.lines, strict=True):
            averages = np.kron(averages, _linear(axis, points))
        return averages / np.sqrt(self.grid.weights)[:, None]

    @cached_property
    def sensitivity(self) -> Sensitivity:
        return self._image(self._diameter)  # type: ignore[return-value]  # what Bernstein's noise asks, and no more

    @property
    def _diameter(self) -> float:
        return (1.0 if self.count_is_private else 2.0) / self.n

    def _image(self, diameter: float) -> ImageSensitivity:
        """Differences through the matrix in fixed point, which is the one that is applied (derivations: bernstein)."""
        body = (
            EuclideanSensitivity(np.full(self.grid.size, self.lengths.max()), diameter)
            if self.bound.on_grid
            else self.bound.sensitivity(self.lengths, diameter)
        )
        return ImageSensitivity(body, self._exact_matrix.T * (self._height / 2.0**MATRIX_BITS))

    @cached_property
    def max_abs(self) -> np.ndarray:
        return self._image(1.0).lengths

    # -- public guesses, at lattice points ------------------------------------------------

    @cached_property
    def _prior(self) -> np.ndarray:
        exponent = 1 + 1 / self.decay if self.decay else 1.0
        shape = (self.code.eigenvalues / self.code.eigenvalues[0]) ** exponent
        return shape * (self.bound.outer**2 / shape.sum())

    @cached_property
    def prior_energy(self) -> np.ndarray:
        return self.code.evaluate(self._lattice.lattice_points) ** 2 @ self._prior

    @cached_property
    def irreducible_error(self) -> np.ndarray:
        """What Bernstein polynomials miss of the guess, which no noise level mends."""
        functions = self.code.functions
        seen = self.basis.synthesize(self.code.evaluate(self._lattice.lattice_points).T).T
        return np.array([float((self.grid.weights @ (seen - functions) ** 2) @ self._prior)])

    @cached_property
    def center_coefficients(self) -> np.ndarray:
        return np.zeros(self.basis.size)

    @property
    def offset(self) -> np.ndarray:
        """The whole centre: polynomials carry the difference from it."""
        return self.center

    # -- exactly --------------------------------------------------------------------------

    @cached_property
    def _height(self) -> float:
        if not self._sight.any():
            raise ParameterError(
                "the lattice must see the curve", "a basis that vanishes at every point of it", "Change the lattice."
            )
        return float(2.0 ** np.ceil(np.log2(np.abs(self._sight).max())))

    @cached_property
    def _exact_matrix(self) -> np.ndarray:
        return np.rint(self._sight.T * (2.0**MATRIX_BITS / self._height)).astype(np.int64)

    def _values(self, totals: np.ndarray, share: Fraction) -> list[Fraction]:
        height = Fraction(self._height)
        if self.bound.on_grid:
            return [x * height for x in super()._values(totals, share)]
        coded = self._coefficient_values(totals, share)
        rows = self._exact_matrix.tolist()
        unit = height / 2**MATRIX_BITS
        return [unit * sum((a * c for a, c in zip(row, coded, strict=True)), Fraction(0)) for row in rows]


def _linear(axis: Grid, points: np.ndarray) -> np.ndarray:
    """Weights of linear interpolation from grid points to `points`, one column each; constant beyond the ends."""
    return np.stack([np.interp(points, axis.points, row) for row in np.eye(axis.size)])
