"""Kernels of the distance between two points, and cosines with their spectra."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import factorial
from typing import Self

import numpy as np
import scipy

from dpfda.core.errors import ParameterError, shown
from dpfda.spaces.basis import NEGLIGIBLE, CosineBasis, Eigenbasis
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.kernels import Kernel, check_number


def _distance(s: np.ndarray, t: np.ndarray) -> np.ndarray:
    s, t = np.asarray(s, dtype=float), np.asarray(t, dtype=float)
    if s.ndim == 1:
        return np.abs(s[:, None] - t[None, :])
    return np.sqrt(((s[:, None, :] - t[None, :, :]) ** 2).sum(axis=-1))


class Stationary(Kernel):
    """A kernel of distance over a length scale; None is a tenth of the domain it is used on."""

    length_scale: float | None

    @abstractmethod
    def spectrum(self, frequency: np.ndarray) -> np.ndarray:
        """Spectral density at angular frequencies, one at zero.

        Parameters
        ----------
        frequency : array of float
            Angular frequencies.
        """

    def _check_length(self) -> None:
        if self.length_scale is not None:
            object.__setattr__(self, "length_scale", check_number("length_scale", self.length_scale))

    def settled(self, grid: AnyGrid) -> Self:
        return self if self.length_scale is not None else replace(self, length_scale=grid.length / 10)

    @property
    def _length(self) -> float:
        if self.length_scale is None:
            raise ParameterError(
                "a kernel is called with a length scale", None, "Pass length_scale=0.1, or use .basis."
            )
        return self.length_scale


@dataclass(frozen=True, eq=False)
class Matern(Stationary):
    """Matern kernel with unit variance.

    Parameters
    ----------
    nu : float, optional
        Smoothness, above 0 and up to 50. Default: 1.5.
    length_scale : float, optional
        The unit of distance, in the grid's own. Default: a tenth of the domain that the kernel is used on.

    Examples
    --------
    >>> round(float(Matern(nu=0.5, length_scale=2.0)(np.array([0.0]), np.array([2.0]))[0, 0]), 6)
    0.367879
    """

    nu: float = 1.5
    length_scale: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "nu", check_number("nu", self.nu))
        self._check_length()
        if self.nu > 50:
            raise ParameterError("nu must be at most 50", self.nu, "Use Gaussian(length_scale), its limit.")

    @property
    def decay(self) -> float:  # type: ignore[override]
        """The rate at which eigenvalues fall, as a power of their number: twice the smoothness plus one."""
        return 2 * self.nu + 1

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        r = np.sqrt(2 * self.nu) * _distance(s, t) / self._length
        order = self.nu - 0.5
        if order == int(order):
            return _half_integer_matern(int(order), r)
        safe = np.where(r == 0, 1.0, r)
        values = 2 ** (1 - self.nu) / scipy.special.gamma(self.nu) * safe**self.nu * scipy.special.kv(self.nu, safe)
        return np.where(r == 0, 1.0, np.nan_to_num(values, nan=0.0))

    def spectrum(self, frequency: np.ndarray) -> np.ndarray:
        return (1 + (self._length * frequency) ** 2 / (2 * self.nu)) ** -(self.nu + 0.5)


def _half_integer_matern(order: int, r: np.ndarray) -> np.ndarray:
    ratio = factorial(order) / factorial(2 * order)
    polynomial = np.zeros_like(r)
    for i in range(order + 1):  # Horner, highest power of 2r first
        polynomial = polynomial * (2 * r) + ratio * factorial(order + i) / (factorial(i) * factorial(order - i))
    return polynomial * np.exp(-r)


@dataclass(frozen=True, eq=False)
class Exponential(Stationary):
    """``exp(-|s - t| / length_scale)``: continuous, nowhere smooth.

    Parameters
    ----------
    length_scale : float, optional
        The unit of distance, in the grid's own. Default: a tenth of the domain that the kernel is used on.

    Examples
    --------
    >>> Exponential(0.2).decay
    2.0
    """

    length_scale: float | None = None
    decay = 2.0

    def __post_init__(self) -> None:
        self._check_length()

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.exp(-_distance(s, t) / self._length)

    def spectrum(self, frequency: np.ndarray) -> np.ndarray:
        return 1 / (1 + (self._length * frequency) ** 2)


@dataclass(frozen=True, eq=False)
class Gaussian(Stationary):
    """``exp(-(s - t)^2 / (2 length_scale^2))``: infinitely smooth.

    Parameters
    ----------
    length_scale : float, optional
        The unit of distance, in the grid's own. Default: a tenth of the domain that the kernel is used on.

    Examples
    --------
    >>> Gaussian(0.2).decay is None
    True
    """

    length_scale: float | None = None

    def __post_init__(self) -> None:
        self._check_length()

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * (_distance(s, t) / self._length) ** 2)

    def spectrum(self, frequency: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * (self._length * frequency) ** 2)


@dataclass(frozen=True, eq=False)
class Cosine(Kernel):
    """The cosine (Neumann) basis with the spectrum of a stationary kernel.

    Eigenfunctions are cosines, eigenvalues the kernel's spectral density at their frequencies:
    no decomposition, fast transforms at :meth:`Grid.midpoints`, reflecting ends. On one line only; it is known through
    its basis and cannot be called.

    Parameters
    ----------
    kernel : Matern, Exponential or Gaussian
        The kernel whose spectrum is taken.

    Examples
    --------
    >>> Cosine(Matern(1.5, 0.1)).basis(Grid.midpoints(0, 1, 64)).size
    64
    """

    kernel: Stationary

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Stationary):
            raise ParameterError(
                "Cosine wraps one plain stationary kernel", shown(self.kernel), "Pass Cosine(Matern(...)), say."
            )

    def settled(self, grid: AnyGrid) -> Kernel:
        return replace(self, kernel=self.kernel.settled(grid))

    @property
    def decay(self) -> float | None:  # type: ignore[override]
        """The rate at which eigenvalues fall, as a power of their number: that of the kernel."""
        return self.kernel.decay

    def __call__(self, s: np.ndarray, t: np.ndarray) -> np.ndarray:
        raise ParameterError(
            "a cosine kernel is known through its basis only", "a call", "Use .basis(grid), or the wrapped kernel."
        )

    def _basis(self, grid: AnyGrid, size: int | None) -> Eigenbasis:
        if not isinstance(grid, Grid):
            raise ParameterError("the cosine basis is one-dimensional here", "a product grid", "Use one axis.")
        values = self.kernel.spectrum(np.arange(grid.size) * (np.pi / grid.length))
        return CosineBasis.on(grid, values[values > NEGLIGIBLE * values[0]], size)
