"""Orthonormal functions on a grid: the coordinates in which curves are released.

Every basis satisfies ``Phi' Q Phi = I`` in its grid's inner product. :attr:`Eigenbasis.excess`
measures and asserts it before any plan can use the basis; it bounds what floating point leaves
over, and sensitivities carry that factor (derivations: inner product). Coefficients go in,
functions come out, on the grid or anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.points import as_points, interpolated

ORTHONORMAL = 1e-8
#: Eigenvalues at or below this share of the largest are rounding noise of the
#: decomposition; the public rule is that they, and negative ones, are dropped.
NEGLIGIBLE = 1e-10
#: A cosine whose part outside the span of slower ones is fainter than this cannot be told apart on the grid.
DISTINCT = 0.1
#: Cosines that are orthonormalised, at most: beyond this the work outgrows its use.
MOST_MIXED = 1024


class Eigenbasis(ABC):
    """Eigenvalues in decreasing order and their functions, orthonormal on `grid`."""

    grid: AnyGrid
    eigenvalues: np.ndarray

    @property
    def size(self) -> int:
        return self.eigenvalues.size

    @property
    @abstractmethod
    def functions(self) -> np.ndarray:
        """Values at the grid points, one column per function."""

    @abstractmethod
    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        """Values (or first derivatives) at any points of the domain, one column per function."""

    def synthesize(self, coefficients: ArrayLike) -> np.ndarray:
        """The functions with these coefficients, at the grid points."""
        return np.asarray(coefficients, dtype=float) @ self.functions.T

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        """Inner products of functions, given at the grid points, with the basis."""
        return np.asarray(values, dtype=float) @ (self.grid.weights[:, None] * self.functions)

    def first(self, size: int) -> Eigenbasis:
        """The first `size` functions, without decomposing again."""
        return self if wanted(size, self.size) == self.size else self._changed(self.eigenvalues[:size])

    def scaled(self, factor: float) -> Eigenbasis:
        """The same functions with eigenvalues times `factor`."""
        return self._changed(self.eigenvalues * factor)

    @abstractmethod
    def _changed(self, eigenvalues: np.ndarray) -> Eigenbasis:
        """The first functions with these eigenvalues."""

    @cached_property
    def vectors(self) -> np.ndarray:
        """``Q^(1/2) Phi``: orthonormal columns in plain Euclidean space."""
        vectors = np.sqrt(self.grid.weights)[:, None] * self.functions
        vectors.setflags(write=False)
        return vectors

    @cached_property
    def excess(self) -> float:
        """A bound on the largest eigenvalue of ``Phi' Q Phi``, minus one.

        Gershgorin on the computed Gram matrix plus the worst rounding of each of its entries (derivations: basis
        excess).
        """
        gram = np.abs(self.vectors.T @ self.vectors - np.eye(self.size))
        rounding = self.size * (self.grid.size + 2) * 2.0**-52
        excess = float(gram.sum(axis=1).max()) + rounding
        if not excess < ORTHONORMAL:
            raise ParameterError(
                "basis functions must be orthonormal on the grid",
                f"a Gram matrix off by {excess:.1e}",
                "Use fewer functions or another grid.",
            )
        return excess

    @property
    def energies(self) -> np.ndarray:
        """Squared norm of each function."""
        return np.ones(self.size)

    def points(self, t: ArrayLike) -> np.ndarray:
        """Points of the domain, checked."""
        return as_points(t, self.grid)


class NystromBasis(Eigenbasis):
    """Eigenfunctions of a kernel's integral operator, by the weighted Nystrom method.

    Eigenvectors of ``Q^(1/2) K Q^(1/2)`` divided by ``Q^(1/2)``: orthonormal by construction,
    with the operator's eigenvalues rather than the matrix's. `kernel(s, t)` extends them off
    the grid; without it (a kernel known only as a table) they are interpolated linearly.
    """

    def __init__(
        self,
        grid: AnyGrid,
        eigenvalues: np.ndarray,
        functions: np.ndarray,
        kernel: Callable[[np.ndarray, np.ndarray], np.ndarray] | None,
        weight: float = 1.0,
    ):
        self.grid = grid
        self.eigenvalues, self._functions = _sealed(eigenvalues), _sealed(functions)
        self.kernel, self.weight = kernel, weight
        self.excess  # noqa: B018  (asserts orthonormality)

    @classmethod
    def decompose(
        cls,
        grid: AnyGrid,
        matrix: np.ndarray,
        kernel: Callable[[np.ndarray, np.ndarray], np.ndarray] | None,
        size: int | None,
    ) -> NystromBasis:
        """Eigenvalues and functions of the operator with this kernel matrix on the grid."""
        root = np.sqrt(grid.weights)
        values, vectors = scipy.linalg.eigh(root[:, None] * matrix * root)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = wanted(size, int(np.sum(values > NEGLIGIBLE * max(values[0], 0.0))))
        functions = vectors[:, :kept] / root[:, None]
        return cls(grid, values[:kept], functions * _signs(functions), kernel)

    @property
    def functions(self) -> np.ndarray:
        return self._functions

    def _changed(self, eigenvalues: np.ndarray) -> NystromBasis:
        weight = self.weight * float(eigenvalues[0] / self.eigenvalues[0])
        return NystromBasis(self.grid, eigenvalues, self.functions[:, : eigenvalues.size], self.kernel, weight)

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        points = self.points(t)
        if self.kernel is None:
            return self._interpolate(points, derivative)
        spread = (self.grid.weights[:, None] * self.functions) * (self.weight / self.eigenvalues)
        if derivative == 0:
            return self.kernel(points, self.grid.points) @ spread
        _first_only(derivative)
        step = 1e-5 * self.grid.length
        slope = self.kernel(points + step, self.grid.points) - self.kernel(points - step, self.grid.points)
        return (slope / (2 * step)) @ spread

    def _interpolate(self, points: np.ndarray, derivative: int) -> np.ndarray:
        x, values = self.grid.points, self.functions
        if derivative:
            _first_only(derivative)
            values = np.gradient(values, x, axis=0)
        return np.stack([interpolated(self.grid, column, points) for column in values.T], axis=-1)


class CosineBasis(Eigenbasis):
    """``1, sqrt(2) cos(pi j x), ...`` scaled to the domain, with given eigenvalues.

    At midpoints with equal weights these are orthonormal as they are and transforms are fast
    (DCT). On any other grid they are orthonormalised in order (a triangular mix), so the first
    j functions still span the first j cosines.
    """

    grid: Grid

    def __init__(self, grid: Grid, eigenvalues: np.ndarray, mix: np.ndarray | None = None):
        self.grid = grid
        self.eigenvalues = _sealed(eigenvalues)
        self.mix = mix

    @classmethod
    def on(cls, grid: Grid, eigenvalues: np.ndarray, size: int | None) -> CosineBasis:
        """As many cosines as the grid can tell apart (or `size` of them), orthonormalised where needed."""
        if grid.is_midpoints:
            return cls(grid, eigenvalues[: wanted(size, eigenvalues.size)])
        eigenvalues = eigenvalues[: min(grid.size, MOST_MIXED)]
        raw = np.sqrt(grid.weights)[:, None] * cls(grid, eigenvalues)._cosines(grid.points, 0)
        upper = scipy.linalg.qr(raw, mode="r")[0][: eigenvalues.size]
        heights = np.abs(np.diag(upper))
        faint = np.flatnonzero(heights < DISTINCT * heights.max())
        kept = wanted(size, int(faint[0]) if faint.size else eigenvalues.size)
        upper = upper[:kept, :kept] * np.sign(np.diag(upper))[:kept, None]
        basis = cls(grid, eigenvalues[:kept], scipy.linalg.solve_triangular(upper, np.eye(kept)))
        basis.excess  # noqa: B018  (asserts orthonormality)
        return basis

    def _changed(self, eigenvalues: np.ndarray) -> CosineBasis:
        size = eigenvalues.size
        return CosineBasis(self.grid, eigenvalues, None if self.mix is None else self.mix[:size, :size])

    def _cosines(self, points: np.ndarray, derivative: int) -> np.ndarray:
        _first_only(derivative)
        frequency = np.pi * np.arange(self.size) / self.grid.length
        angle = np.multiply.outer(points - self.grid.span[0], frequency)
        height = np.full(self.size, np.sqrt(2 / self.grid.length))
        height[0] = np.sqrt(1 / self.grid.length)
        return -height * frequency * np.sin(angle) if derivative else height * np.cos(angle)

    @cached_property
    def functions(self) -> np.ndarray:
        return _sealed(self.evaluate(self.grid.points))

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        raw = self._cosines(self.points(t), derivative)
        return raw if self.mix is None else raw @ self.mix

    def synthesize(self, coefficients: ArrayLike) -> np.ndarray:
        if self.mix is not None:
            return super().synthesize(coefficients)
        stretch = np.sqrt(self.grid.size / self.grid.length)
        curves = scipy.fft.idct(np.asarray(coefficients, dtype=float), n=self.grid.size, norm="ortho", axis=-1)
        return np.multiply(curves, stretch, out=curves)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        if self.mix is not None:
            return super().coefficients(values)
        shrink = np.sqrt(self.grid.length / self.grid.size)
        return shrink * scipy.fft.dct(np.asarray(values, dtype=float), norm="ortho", axis=-1)[..., : self.size]


def _sealed(array: np.ndarray) -> np.ndarray:
    """Read-only: bases are shared by everything that uses them."""
    sealed = array.view()
    sealed.setflags(write=False)
    return sealed


def wanted(size: int | None, available: int) -> int:
    """How many functions to keep: all that the rule allows, or exactly what was asked for."""
    if size is None:
        return available
    if not 1 <= size <= available:
        raise ParameterError(
            f"a basis here has between 1 and {available} functions",
            size,
            "Ask for fewer, refine the grid, or use a rougher kernel.",
        )
    return int(size)


def _signs(functions: np.ndarray) -> np.ndarray:
    """+-1 per function so that its first value of any size is positive: eigenvectors have no sign."""
    sizeable = np.abs(functions) > 1e-6 * np.abs(functions).max(axis=0)
    first = functions[sizeable.argmax(axis=0), np.arange(functions.shape[1])]
    return np.where(first < 0, -1.0, 1.0)


def _first_only(derivative: int) -> None:
    if derivative not in (0, 1):
        raise ParameterError("only the curve and its first derivative can be evaluated", derivative, "Pass 0 or 1.")
