"""A kernel density estimate at lattice points: what the Bernstein mechanism releases.

A point adds the kernel's value, seen from each lattice point: once more a finite set of feature
vectors, so the sensitivity of the whole lattice is a diameter like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.problems.density import FEATURE_BITS, DensityProblem, spread
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary
from dpfda.spaces.bernstein import BernsteinBasis
from dpfda.spaces.tensor import ProductBasis


@dataclass(frozen=True, eq=False)
class LatticeDensity(DensityProblem):
    """A density seen through `basis`, whose functions are Bernstein polynomials; `cosines` span the kernel.

    Its features are the kernel's values at lattice points (derivations: bernstein).
    """

    cosines: ProductBasis = field(kw_only=True)

    @classmethod
    def of(cls, problem: DensityProblem, lattice: int, order: int) -> LatticeDensity:
        facts = {f.name: getattr(problem, f.name) for f in fields(problem) if f.name not in ("basis", "shrinks")}
        return cls(shrinks=False, basis=BernsteinBasis(problem.grid, lattice, order), cosines=problem.basis, **facts)

    @property
    def n_public(self) -> int:
        return 0

    @property
    def _lattice(self) -> BernsteinBasis:
        assert isinstance(self.basis, BernsteinBasis)
        return self.basis

    @cached_property
    def _features(self) -> tuple[np.ndarray, ...]:
        """The kernel estimate of one point at the lattice points, along each axis of the unit box."""
        lines = []
        for a, axis in enumerate(self.grid.axes):
            cells = _unit_cosines((axis.points - axis.span[0]) / axis.length, self.spectra[a].size)
            seen = _unit_cosines(np.linspace(0, 1, self._lattice.lattice + 1), self.spectra[a].size)
            line = cells * self.spectra[a] ** (self.eta or 1.0) @ seen.T
            if self.edges is not None:
                line = spread(axis, self.edges[a]) @ line
            lines.append(np.rint(line * 2.0**FEATURE_BITS).astype(np.int64))
        return tuple(lines)

    @property
    def _height(self) -> float:
        """Values of a density, not coefficients: the uniform one is one over the volume."""
        return 1 / self.grid.volume

    @property
    def _rest(self) -> np.ndarray:
        """A point without a place: the uniform density, the same at all lattice points."""
        return np.full(self.basis.size, self._height)

    def estimate(self, summary: Summary) -> list[Fraction]:
        placed = super().estimate(summary)
        rest = Fraction(self._height) * Fraction(summary.count - int(summary.totals.sum()), self.n)
        return [x + rest if k < self.basis.size else x for k, x in enumerate(placed)]

    # -- public guesses, at lattice points ------------------------------------------------

    @cached_property
    def _target(self) -> DensityProblem:
        """The same density in cosines, for what is known about it."""
        facts = {f.name: getattr(self, f.name) for f in fields(DensityProblem) if f.name != "basis"}
        return DensityProblem(basis=self.cosines, **facts)

    @property
    def _class(self) -> np.ndarray:
        return self._target.prior_energies

    @property
    def class_norms(self) -> np.ndarray:
        return self._target.class_norms

    @cached_property
    def _estimated(self) -> np.ndarray:
        """What the kernel does to each cosine."""
        powers = np.ones(self.cosines.size)
        for a, spectrum in enumerate(self.spectra):
            powers *= spectrum[self.cosines.index[:, a]] ** (self.eta or 1.0)
        return powers

    @cached_property
    def _at_lattice(self) -> np.ndarray:
        """Every cosine after the kernel, at the lattice points: one column each."""
        return self.cosines.evaluate(self._lattice.lattice_points) * self._estimated

    @cached_property
    def prior_energies(self) -> np.ndarray:
        return self._class @ (self._at_lattice**2).T

    @cached_property
    def irreducible_error(self) -> np.ndarray:
        """What kernel and polynomials miss of each member of the class, and the estimate's own variance."""
        missed, carried = np.zeros(self.cosines.size), np.zeros(self.cosines.size)
        for j, unit in enumerate(np.eye(self.cosines.size)):
            curve = self.basis.synthesize(self._at_lattice[:, j])
            missed[j] = self.grid.weights @ (curve - self.cosines.synthesize(unit)) ** 2
            carried[j] = self.grid.weights @ curve**2
        return self._class @ missed + float(carried[1:].sum()) / (self.n * self.grid.volume)

    @property
    def sampling(self) -> np.ndarray:
        return np.zeros(self.basis.size)  # lattice values move together: it is part of the floor

    # -- after the noise ------------------------------------------------------------------

    @cached_property
    def center_coefficients(self) -> np.ndarray:
        return np.zeros(self.basis.size)

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        """Polynomials reproduce constants, so one constant brings the integral to one."""
        values = noisy[..., : self.basis.size].copy()
        if self.count_is_private:
            values /= np.maximum(noisy[..., -1:], 1 / self.n)
        integral = values @ self._integrals
        return values + ((1 - integral) / self.grid.volume)[..., None]

    @cached_property
    def _integrals(self) -> np.ndarray:
        return self.grid.weights @ self.basis.functions


def _unit_cosines(x: np.ndarray, count: int) -> np.ndarray:
    values = np.sqrt(2) * np.cos(np.pi * np.multiply.outer(x, np.arange(count)))
    values[:, 0] = 1.0
    return values
