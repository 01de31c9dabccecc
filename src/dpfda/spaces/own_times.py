"""How a curve at its own times is brought to the plan's grid: along straight lines, or smoothed in the plan's basis.

These are public rules of the plan: what one makes of a curve depends on nothing else (derivations: units).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, shown
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.grid import Grid

#: This many observations of a curve at a time are smoothed, in bounded memory.
CHUNK = 2**12
#: Times this close to the domain, relative to its length, are on its edge.
EDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Align(Fact, ABC):
    """How a curve at its own times reaches the plan's grid. Subclasses say how; this says when it cannot.

    A curve is too sparse if it has fewer than `least` observations at different times, or if a stretch
    of more than `gap` of the domain (its ends included) holds none. Then it is an unusable record.

    Parameters
    ----------
    gap : float, optional
        The longest stretch without an observation, as a share of the domain. Default: 0.25.
    least : int, optional
        The fewest observations at different times. Default: 2.

    Examples
    --------
    >>> isinstance(Interpolate(), Align)
    True
    """

    gap: float = 0.25
    least: int = 2

    def __post_init__(self) -> None:
        if isinstance(self.gap, bool) or not isinstance(self.gap, int | float | np.number) or not 0 < self.gap <= 1:
            raise ParameterError("gap is a share of the domain, above 0 and up to 1", shown(self.gap), "Pass gap=0.25.")
        if isinstance(self.least, bool) or not isinstance(self.least, int | np.integer) or self.least < 1:
            raise ParameterError("least must be a whole number of at least 1", shown(self.least), "Pass least=2.")
        object.__setattr__(self, "gap", float(self.gap))
        object.__setattr__(self, "least", int(self.least))

    @property
    @abstractmethod
    def how(self) -> str:
        """What is done, in words."""

    @property
    def description(self) -> str:
        """The rule as statements spell it."""
        return (
            f"{self.how}; a curve with fewer than {self.least} observations, or none in a stretch of more than "
            f"{self.gap:.3g} of the domain, is unusable"
        )

    def sparse(self, times: np.ndarray, grid: Grid) -> bool:
        """Whether a curve observed at these different times, in order, carries too little.

        Parameters
        ----------
        times : array of float
            When the curve was observed, in increasing order.
        grid : Grid
            Where the plan's curves have their values.
        """
        if times.size < self.least:
            return True
        edges = np.concatenate([[grid.span[0]], times, [grid.span[1]]])
        return bool(np.diff(edges).max() > self.gap * grid.length * (1 + EDGE))

    @abstractmethod
    def bring(self, times: np.ndarray, values: np.ndarray, home: Home) -> np.ndarray:
        """The curve on the grid.

        Parameters
        ----------
        times : array of float
            When the curve was observed, in increasing order.
        values : array of float
            What was observed, one value for each time.
        home : Home
            The plan's grid, with its basis.
        """


@dataclass(frozen=True, eq=False)
class Interpolate(Align):
    """Linear between a curve's observations, constant beyond its first and last one.

    Parameters
    ----------
    gap : float, optional
        The longest stretch without an observation, as a share of the domain. Default: 0.25.
    least : int, optional
        The fewest observations at different times. Default: 2.

    Examples
    --------
    >>> Interpolate(gap=0.1).least
    2
    """

    @property
    def how(self) -> str:
        return "linear interpolation between its own observations, constant beyond the first and the last"

    def bring(self, times: np.ndarray, values: np.ndarray, home: Home) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # what a value does there is nobody's business
            return np.asarray(np.interp(home.grid.points, times, values))


@dataclass(frozen=True, eq=False)
class Smooth(Align):
    """Penalised least squares in the plan's basis, about the mean of the curve's own observations.

    Minimises the mean squared residual plus `penalty` times the sum of squared coefficients, each over its
    eigenvalue relative to the first.

    Parameters
    ----------
    gap : float, optional
        The longest stretch without an observation, as a share of the domain. Default: 0.25.
    least : int, optional
        The fewest observations at different times. Default: 2.
    penalty : float, optional
        Between 1e-12 and 1e6. Default: 1e-3.

    Examples
    --------
    >>> Smooth(penalty=0.01).penalty
    0.01
    """

    penalty: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.penalty, int | float | np.number) or not 1e-12 <= self.penalty <= 1e6:
            raise ParameterError("penalty must be between 1e-12 and 1e6", shown(self.penalty), "Pass penalty=1e-3.")
        object.__setattr__(self, "penalty", float(self.penalty))

    @property
    def how(self) -> str:
        return f"penalised least squares in the plan's basis (penalty {self.penalty:.3g}), about its own mean"

    def bring(self, times: np.ndarray, values: np.ndarray, home: Home) -> np.ndarray:
        with np.errstate(all="ignore"):
            level = values.mean()
            return np.asarray(level + self._smoothed(times, values - level, home.basis))

    def _smoothed(self, times: np.ndarray, values: np.ndarray, basis: Eigenbasis) -> np.ndarray:
        """The normal equations in the basis, so that memory does not grow with the number of observations."""
        if times.size <= CHUNK:
            return np.asarray(_smoother(basis, self.penalty, times.tobytes()) @ values)
        normal, moments = np.diag(np.full(basis.size, self.penalty * times.size)), np.zeros(basis.size)
        for start in range(0, times.size, CHUNK):
            seen = _seen(basis, times[start : start + CHUNK])
            normal += seen.T @ seen
            moments += seen.T @ values[start : start + CHUNK]
        return np.asarray(_seen(basis) @ np.linalg.solve(normal, moments))


def _seen(basis: Eigenbasis, times: np.ndarray | None = None) -> np.ndarray:
    """The functions of a basis at some times (or on the grid), each as large as its penalty allows."""
    values = basis.functions if times is None else basis.evaluate(np.clip(times, *basis.grid.axes[0].span))
    return np.asarray(values * np.sqrt(basis.eigenvalues / basis.eigenvalues[0]))


@lru_cache(maxsize=64)
def _smoother(basis: Eigenbasis, penalty: float, times: bytes) -> np.ndarray:
    """The public matrix from values at these times to the smooth curve on the grid; sensors often share times."""
    seen = _seen(basis, np.frombuffer(times))
    normal = seen.T @ seen
    normal[np.diag_indices_from(normal)] += penalty * len(seen)
    return np.asarray(_seen(basis) @ np.linalg.solve(normal, seen.T))


def as_align(align: Any) -> Align | None:
    """``"linear"`` or ``"smooth"``, or a whole rule."""
    words: dict[str, type[Align]] = {"linear": Interpolate, "smooth": Smooth}
    if align is None or isinstance(align, Align):
        return align
    if not isinstance(align, str) or align not in words:
        raise ParameterError("align is 'linear', 'smooth' or a rule of dp.spaces", shown(align), "Pass align='linear'.")
    return words[align]()


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Curves at their own times, one after another: `starts` has one entry more than there are curves."""

    times: np.ndarray
    values: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        return self.starts.size - 1


@dataclass(frozen=True, eq=False)
class Home:
    """Where curves are brought to: the plan's grid, and its basis."""

    grid: Grid
    basis: Eigenbasis
