"""What the authors ran, as plain arithmetic, to confirm how the printed numbers came about. None of it is private.

Every bound is the largest norm of the sample, which is a leak. FRL, ICLP-AR and Bernstein then use the
theorem's sensitivity and noise of the right size for it. ICLP-QR does not: it takes the L1 norm for the L2 norm
of the assumption, the largest factor for their sum, and noise of unit variance where Laplace noise of unit
scale is needed, short by the square root of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import comb

import dpfda as dp


@dataclass(frozen=True)
class Sketch:
    """An estimate in an orthonormal basis, and Laplace noise with these scales (at epsilon 1) on some functions."""

    before: np.ndarray
    functions: np.ndarray
    scales: np.ndarray

    def released(self, epsilon: float, draws: int, rng: np.random.Generator) -> np.ndarray:
        noise = dp.noise.laplace((draws, self.scales.size), rng) * (self.scales / epsilon)
        return self.before + noise @ self.functions


@dataclass(frozen=True)
class Authors:
    """Their four mechanisms on a sample, given by its coefficients in an orthonormal basis on a grid."""

    basis: Any
    coefficients: np.ndarray

    @cached_property
    def n(self) -> int:
        return len(self.coefficients)

    @cached_property
    def mean(self) -> np.ndarray:
        return self.coefficients.mean(axis=0)

    @cached_property
    def radius(self) -> float:
        """The largest L2 norm of the sample."""
        return float(np.sqrt((self.coefficients**2).sum(axis=1)).max())

    @cached_property
    def root(self) -> np.ndarray:
        return np.sqrt(self.basis.eigenvalues)

    def frl(self, components: int = 4) -> Sketch:
        scales = np.full(components, 2 * components * self.radius / self.n)
        return self._first(np.where(np.arange(self.mean.size) < components, self.mean, 0.0), scales)

    def ar(self, eta: float = 3.0) -> Sketch:
        """Soft thresholds with ``psi = 2 sqrt(2) tau / n``; noise up to the first component that is surely dead."""
        threshold = np.sqrt(2) * self.radius / self.n / self.basis.eigenvalues ** (eta / 2)
        before = np.sign(self.mean) * np.maximum(np.abs(self.mean) - threshold, 0.0)
        root = self.root[: 1 + int((threshold < self.radius).sum())]
        return self._first(before, root * (2 * self.radius / self.n * (1 / root).sum()))

    def qr(self, factor: float, eta: float = 1.25) -> Sketch:
        """Ridge with ``psi = factor (n / tau)^-eta``: the factor is 1 in their simulations and 2 on real curves."""
        powers = self.basis.eigenvalues**eta
        filter = powers / (powers + factor * (self.n / self.radius) ** -eta)
        largest = float(np.abs(self.coefficients).sum(axis=1).max())
        delta = 2 * largest / self.n * float((filter / self.root).max())
        return self._first(filter * self.mean, self.root / np.sqrt(2) * delta)

    def bernstein(self, lattice: int = 20) -> Sketch:
        """Values at the grid points next to the lattice, the largest value of the sample as bound at each."""
        t, k = self.basis.grid.points, np.arange(lattice + 1)
        polynomials = comb(lattice, k) * t[:, None] ** k * (1 - t[:, None]) ** (lattice - k)
        curves = self.basis.synthesize(self.coefficients)
        nearest = np.abs(t[:, None] - k / lattice).argmin(axis=0)
        functions = self.basis.coefficients(polynomials.T)
        scale = (lattice + 1) * 2 * float(np.abs(curves).max()) / self.n
        return Sketch(curves.mean(axis=0)[nearest] @ functions, functions, np.full(lattice + 1, scale))

    def _first(self, before: np.ndarray, scales: np.ndarray) -> Sketch:
        return Sketch(before, np.eye(scales.size, before.size), scales)
