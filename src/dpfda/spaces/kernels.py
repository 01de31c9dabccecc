"""Covariance kernels: public assumptions about how smooth the answer is.

A kernel never touches a record; it fixes the basis in which the release lives and how fast
noise should fall along it. Kernels add and multiply; any function of two arrays works too.
`kernel.basis(grid)` gives the eigenfunctions, computed once per content.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpfda.core.codec import Fact, frozen_array
from dpfda.core.errors import ParameterError, shown
from dpfda.spaces.basis import Eigenbasis, NystromBasis
from dpfda.spaces.components import ComponentBasis
from dpfda.spaces.grid import AnyGrid

#: Decomposing a kernel on this many points takes about a minute.
MOST_NYSTROM = 5_000
#: Sums and products within one another.
MOST_TERMS = 100


class Kernel(Fact, ABC):
    """A symmetric positive semi-definite function of two points.

    Kernels add and multiply with kernels and with positive numbers.

    Examples
    --------
    >>> import dpfda as dp
    >>> kernel = dp.kernels.Matern(nu=2.5, length_scale=0.2) + 0.5
    >>> kernel.basis(dp.Grid.uniform(0, 1, 20), size=3).size
    3
    """

    #: Exponent of the polynomial decay of the eigenvalues in one dimension; None if there is none.
    decay: float | None = None

    @abstractmethod
    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The matrix ``k(s_i, t_j)``."""

    def settled(self, grid: AnyGrid) -> Kernel:
        """This kernel with open length scales filled in.

        Parameters
        ----------
        grid : Grid, or a product of grids
            Where the curves have their values.
        """
        return self

    def on(self, grid: AnyGrid) -> Kernel:
        """Settled, and tabulated if it holds a function: a form that can be written down for `grid`.

        Parameters
        ----------
        grid : Grid, or a product of grids
            Where the curves have their values.
        """
        return self.settled(grid)

    def basis(self, grid: AnyGrid, size: int | None = None, normalize: bool = False) -> Eigenbasis:
        """Eigenfunctions of the kernel on `grid`, the largest eigenvalue first.

        Parameters
        ----------
        grid : Grid, or a product of grids
            Where the curves have their values.
        size : int, optional
            How many of them. Default: as many as the kernel has on this grid.
        normalize : bool
            Whether eigenvalues are scaled to sum to one. Default: False.

        Examples
        --------
        >>> import dpfda as dp
        >>> dp.kernels.Matern(nu=1.5, length_scale=0.1).basis(dp.Grid.uniform(0, 1, 50), size=4).size
        4
        """
        basis = _cached_basis(self.settled(grid), grid, size)
        return basis.scaled(1 / float(basis.eigenvalues.sum())) if normalize else basis

    def _basis(self, grid: AnyGrid, size: int | None) -> Eigenbasis:
        if grid.size > MOST_NYSTROM:
            raise ParameterError(
                f"a kernel is decomposed on at most {MOST_NYSTROM:,} points",
                grid.size,
                "Use Cosine(kernel) on Grid.midpoints, which needs no decomposition, or a coarser grid.",
            )
        return NystromBasis.decompose(grid, _checked_matrix(self(grid.points, grid.points)), self, size)

    def __add__(self, other: Kernel | float) -> Kernel:
        return Sum(self, as_kernel(other))

    def __mul__(self, other: Kernel | float) -> Kernel:
        return Product(self, as_kernel(other))

    __radd__, __rmul__ = __add__, __mul__


@lru_cache(maxsize=32)
def _cached_basis(kernel: Kernel, grid: AnyGrid, size: int | None) -> Eigenbasis:
    if grid.count > 1:
        whole = ComponentBasis(grid, _cached_basis(kernel, grid.domain, None))
        return whole if size is None else whole.first(size)
    return kernel._basis(grid, size)


def _checked_matrix(matrix: np.ndarray) -> np.ndarray:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ParameterError(
            "a kernel must return a finite square matrix on the grid",
            f"shape {matrix.shape}",
            "It is called with two arrays s and t and must return k(s_i, t_j).",
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12 * np.abs(matrix).max()):
        raise ParameterError("a kernel must be symmetric", "k(s, t) different from k(t, s)", "Symmetrise it.")
    if not matrix.diagonal().max() > 0:
        raise ParameterError("a kernel must be positive somewhere", "a zero or negative diagonal", "Scale it.")
    return matrix


def check_number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 1e-60 < value < 1e60:
        raise ParameterError(
            f"{name} must be positive and finite (1e-60 to 1e60)",
            value,
            f"Pass {name}={1.5 if name == 'nu' else 0.1}, say.",
        )
    return float(value)


@dataclass(frozen=True, eq=False)
class Constant(Kernel):
    """The same value everywhere: a scale factor, or room for a shift of level.

    Parameters
    ----------
    value : float, optional
        Positive. Default: 1.

    Examples
    --------
    >>> Constant(2.0)(np.zeros(1), np.zeros(3)).tolist()
    [[2.0, 2.0, 2.0]]
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check_number("value", self.value))

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.full((len(s), len(t)), self.value)


@dataclass(frozen=True, eq=False)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.left, Kernel) or not isinstance(self.right, Kernel):
            raise ParameterError("kernels add and multiply with kernels", "something else", "Pass two kernels.")
        if self.depth > MOST_TERMS:
            raise ParameterError(f"a kernel has at most {MOST_TERMS} terms, one within the other", "more", "Use fewer.")

    @cached_property
    def depth(self) -> int:
        """How many sums and products lie within one another."""
        return 1 + max(getattr(self.left, "depth", 0), getattr(self.right, "depth", 0))

    @property
    def decay(self) -> float | None:  # type: ignore[override]
        """That of the rougher one, which dominates in the end."""
        decays = [self.left.decay, self.right.decay]
        return min((decay for decay in decays if decay is not None), default=None)

    def settled(self, grid: AnyGrid) -> Kernel:
        return replace(self, left=self.left.settled(grid), right=self.right.settled(grid))

    def on(self, grid: AnyGrid) -> Kernel:
        pair = self.settled(grid)
        parts = self.left.on(grid), self.right.on(grid)
        return _tabulate(pair, grid) if any(isinstance(p, Tabulated) for p in parts) else pair


@dataclass(frozen=True, eq=False)
class Sum(_Pair):
    """``left + right``; write ``a + b``.

    Parameters
    ----------
    left, right : Kernel
        What is added.

    Examples
    --------
    >>> import dpfda as dp
    >>> dp.kernels.Gaussian(0.1) + dp.kernels.Constant(2.0)
    Sum(left=Gaussian(length_scale=0.1), right=Constant(value=2.0))
    """

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        return self.left(s, t) + self.right(s, t)


@dataclass(frozen=True, eq=False)
class Product(_Pair):
    """``left x right``; write ``a * b``.

    Parameters
    ----------
    left, right : Kernel
        What is multiplied.

    Examples
    --------
    >>> import dpfda as dp
    >>> 2.0 * dp.kernels.Gaussian(0.1)
    Product(left=Gaussian(length_scale=0.1), right=Constant(value=2.0))
    """

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        return self.left(s, t) * self.right(s, t)


@dataclass(frozen=True, eq=False)
class Custom(Kernel):
    """Any function ``k(s, t)`` of two arrays that returns the matrix of values.

    Parameters
    ----------
    function : callable
        Called with two arrays of points, returns ``k(s_i, t_j)``: finite, symmetric, positive semi-definite.

    Examples
    --------
    >>> import dpfda as dp
    >>> brownian = Custom(lambda s, t: np.minimum.outer(s, t))
    >>> first = brownian.basis(dp.Grid.uniform(0, 1, 400), size=1).eigenvalues[0]
    >>> abs(first - (np.pi / 2) ** -2) < 1e-5
    np.True_
    """

    function: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(s, t), dtype=float)

    def on(self, grid: AnyGrid) -> Kernel:
        return _tabulate(self, grid)


@dataclass(frozen=True, eq=False, repr=False)
class Tabulated(Kernel):
    """A kernel known by its values on one grid: how a custom function is written to a file.

    In the process that made it the function still extends the basis off the grid; read from a
    file, the basis is interpolated linearly.
    """

    points: np.ndarray
    matrix: np.ndarray
    function: Kernel | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", frozen_array(self.points))
        object.__setattr__(self, "matrix", frozen_array(self.matrix))
        _checked_matrix(self.matrix)

    def __repr__(self) -> str:
        return f"Tabulated(a custom kernel on {self.points.size} points)"

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        if np.array_equal(s, self.points) and np.array_equal(t, self.points):
            return self.matrix
        raise ParameterError("a tabulated kernel is known on its own grid only", "other points", "Use its grid.")

    def _basis(self, grid: AnyGrid, size: int | None) -> Eigenbasis:
        return NystromBasis.decompose(grid, self(grid.points, grid.points), self.function, size)


def _tabulate(kernel: Kernel, grid: AnyGrid) -> Tabulated:
    points = grid.domain.points
    return Tabulated(points, _checked_matrix(kernel(points, points)), kernel)


def as_kernel(value: Any) -> Kernel:
    """A kernel, a function of two arrays, or a positive number, as a kernel."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Constant(value)
    if callable(value):
        return Custom(value)
    raise ParameterError(
        "kernel must be a dpfda kernel or a function k(s, t)",
        shown(value),
        "Pass kernel=dp.kernels.Matern(nu=1.5, length_scale=0.1).",
    )
