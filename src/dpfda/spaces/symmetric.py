"""Symmetric surfaces: products of two functions of one basis, each unordered pair counted once.

A covariance ``sum S_jk psi_j(s) psi_k(t)`` has K(K+1)/2 free numbers. Written as the diagonal and
sqrt(2) times the upper triangle, their Euclidean norm is the surface's own (derivations: covariance).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.basis import Eigenbasis, _sealed
from dpfda.spaces.grid import Grid, ProductGrid

ROOT2 = float(np.sqrt(2.0))


class SymmetricBasis(Eigenbasis):
    """``psi_j psi_j`` and ``(psi_j psi_k + psi_k psi_j) / sqrt(2)``, by decreasing product of eigenvalues."""

    def __init__(self, line: Eigenbasis, index: np.ndarray | None = None, eigenvalues: np.ndarray | None = None):
        self.line = line
        (axis,) = line.grid.axes
        again = Grid(axis.points, axis.weights, f"{axis.name}'", axis.unit, axis.span)
        self.grid = ProductGrid((axis, again))
        if index is None or eigenvalues is None:
            first, second = np.triu_indices(line.size)
            products = line.eigenvalues[first] * line.eigenvalues[second]
            order = np.lexsort((second, first, -products))
            index, eigenvalues = np.stack([first, second], axis=1)[order], products[order]
        self.index, self.eigenvalues = _sealed(index), _sealed(eigenvalues)

    def _changed(self, eigenvalues: np.ndarray) -> SymmetricBasis:
        return SymmetricBasis(self.line, self.index[: eigenvalues.size], eigenvalues)

    @cached_property
    def heights(self) -> np.ndarray:
        """What one entry of the matrix is multiplied by to become a coefficient: one, or sqrt(2) off the diagonal."""
        return np.where(self.index[:, 0] == self.index[:, 1], 1.0, ROOT2)

    def matrix(self, coefficients: ArrayLike) -> np.ndarray:
        """The symmetric matrices ``S`` in the basis of the line that these coefficients stand for."""
        c = np.asarray(coefficients, dtype=float)
        whole = np.zeros((*c.shape[:-1], self.line.size, self.line.size))
        entries = c / self.heights
        whole[..., self.index[:, 0], self.index[:, 1]] = entries
        whole[..., self.index[:, 1], self.index[:, 0]] = entries
        return whole

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        """The coefficients of a symmetric matrix in the basis of the line."""
        return matrix[..., self.index[:, 0], self.index[:, 1]] * self.heights

    @property
    def functions(self) -> np.ndarray:
        return self.evaluate(self.grid.points)

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        if derivative:
            raise ParameterError("derivatives are for curves", "a surface", "Difference it on the grid.")
        points = self.points(t)
        left, right = self.line.evaluate(points[:, 0]), self.line.evaluate(points[:, 1])
        j, k = self.index.T
        return (left[:, j] * right[:, k] + left[:, k] * right[:, j]) * (self.heights / 2)

    def synthesize(self, coefficients: ArrayLike) -> np.ndarray:
        lines = self.line.functions
        surfaces = lines @ self.matrix(coefficients) @ lines.T
        return surfaces.reshape(*surfaces.shape[:-2], self.grid.size)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        v = np.asarray(values, dtype=float)
        surfaces = v.reshape(*v.shape[:-1], *self.grid.shape)
        weighted = self.line.grid.weights[:, None] * self.line.functions
        return self.from_matrix(weighted.T @ surfaces @ weighted)

    def nearest_positive(self, coefficients: np.ndarray) -> np.ndarray:
        """The coefficients of the nearest covariance: negative variances become zero."""
        values, vectors = np.linalg.eigh(self.matrix(coefficients))
        return self.from_matrix((vectors * np.maximum(values, 0.0)) @ vectors.T)
