"""What two records can differ by: three shapes, and the best noise for each.

A sensitivity is a stretched unit ball of the Euclidean, absolute or largest-coordinate norm. Its
support function is the privacy loss of Laplace noise; the noise of least energy for a filter,
and the best filter for a guess of the target, follow in closed form or by one bisection
(derivations: matched noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity


@dataclass(frozen=True)
class _AxisSensitivity:
    """``diameter * lengths_j * (unit ball of some norm)_j``: shared by the three shapes."""

    lengths: np.ndarray
    diameter: float

    def scaled(self, factor: float) -> Self:
        return type(self)(self.lengths, self.diameter * factor)

    def restricted(self, where: np.ndarray) -> Self:
        return type(self)(self.lengths[where], self.diameter)

    def loosened(self) -> Sensitivity:
        return BoxSensitivity(np.full(self.lengths.size, self.outer), self.diameter)

    def outline(self) -> Self:
        return self

    @property
    def outer(self) -> float:
        return float(self.lengths.max())


@dataclass(frozen=True)
class EuclideanSensitivity(_AxisSensitivity):
    """Differences inside an ellipsoid (derivations: bounded records)."""

    def support(self, weights: np.ndarray) -> float:
        return float(self.diameter * np.sqrt(((weights * self.lengths) ** 2).sum()))

    def radius(self, axes: np.ndarray) -> float:
        return float(self.diameter * (self.lengths / axes).max())

    def matched(self, filter: np.ndarray) -> np.ndarray:
        v = filter * self.lengths
        return self.diameter * np.sqrt(v * v.sum())

    def balance(self, prior_energy: np.ndarray) -> np.ndarray:
        # Minimise sum 2m/(2 + m w) over w = u^2 with sum (D s)^2 w = 1: water-filling,
        # w_j = max(0, level / (D s_j) - 2 / m_j), level by exact search over the active set.
        s = self.diameter * self.lengths
        order = np.argsort(s / prior_energy)
        height, cost = s[order], 2 * s[order] ** 2 / prior_energy[order]
        level = (1 + np.cumsum(cost)) / np.cumsum(height)
        active = int(np.sum(level * height > cost)) or 1
        w = np.zeros(s.size)
        chosen = order[:active]
        w[chosen] = np.maximum(0.0, level[active - 1] / s[chosen] - 2 / prior_energy[chosen])
        return np.sqrt(w)

    def axes(self) -> np.ndarray:
        return self.lengths

    def together(self, alone: np.ndarray) -> float:
        return float(np.sqrt((alone**2).sum()))  # Cauchy-Schwarz: blocks share one length (derivations: blocks)


@dataclass(frozen=True)
class ManhattanSensitivity(_AxisSensitivity):
    """Differences inside a cross-polytope (derivations: bounded records)."""

    def support(self, weights: np.ndarray) -> float:
        return float(self.diameter * (weights * self.lengths).max())

    def radius(self, axes: np.ndarray) -> float:
        return float(self.diameter * (self.lengths / axes).max())

    def matched(self, filter: np.ndarray) -> np.ndarray:
        return self.diameter * filter * self.lengths

    def balance(self, prior_energy: np.ndarray) -> np.ndarray:
        return 1 / (self.diameter * self.lengths)

    def axes(self) -> np.ndarray:
        return self.lengths

    def together(self, alone: np.ndarray) -> float:
        return float(alone.max())


@dataclass(frozen=True)
class BoxSensitivity(_AxisSensitivity):
    """Differences inside a box: every coordinate at its worst at once (derivations: bounded records)."""

    def support(self, weights: np.ndarray) -> float:
        return float(self.diameter * (weights * self.lengths).sum())

    def radius(self, axes: np.ndarray) -> float:
        return float(self.diameter * np.sqrt(((self.lengths / axes) ** 2).sum()))

    def matched(self, filter: np.ndarray) -> np.ndarray:
        v = filter * self.lengths
        return self.diameter * np.cbrt(v) * (np.cbrt(v) ** 2).sum()

    def balance(self, prior_energy: np.ndarray) -> np.ndarray:
        # Minimise sum 2m/(2 + m u^2) + price * s u. Each term is best at zero or on the convex
        # branch beyond sqrt(2/(3m)); bisect the price until the budget sum s u = 1 is spent.
        s = self.diameter * self.lengths
        low, high = 0.0, float((np.sqrt(prior_energy) * prior_energy / s).max()) + 1e-300
        for _ in range(60):
            price = 0.5 * (low + high)
            low, high = (price, high) if (s * _best_response(prior_energy, price * s)).sum() > 1 else (low, price)
        u = _best_response(prior_energy, high * s)
        if not u.any():
            u[int(np.argmax(prior_energy / s**2))] = 1.0
        return u / (s * u).sum()

    def axes(self) -> np.ndarray:
        return np.sqrt(self.lengths)

    def together(self, alone: np.ndarray) -> float:
        return float(alone.sum())

    @property
    def outer(self) -> float:
        return float(np.sqrt((self.lengths**2).sum()))


@dataclass(frozen=True)
class ImageSensitivity:
    """Differences seen through a public matrix: coordinate k is ``sum_j matrix[j, k] h_j``.

    Its support is at most that of `inner` with weights ``|matrix| u``, and exactly that where the
    matrix has no negative entry or a single coordinate is asked for (derivations: bernstein).
    """

    inner: Sensitivity
    matrix: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """What each coordinate can change by on its own."""
        return np.array([self.inner.support(column) for column in np.abs(self.matrix).T])

    def support(self, weights: np.ndarray) -> float:
        return self.inner.support(np.abs(self.matrix) @ weights)

    def loosened(self) -> Sensitivity:
        return BoxSensitivity(np.full(self.matrix.shape[1], self.lengths.max()), 1.0)

    def scaled(self, factor: float) -> ImageSensitivity:
        return ImageSensitivity(self.inner.scaled(factor), self.matrix)


def _best_response(prior_energy: np.ndarray, price: np.ndarray) -> np.ndarray:
    """``argmin_u 2m/(2 + m u^2) + price u`` coordinate by coordinate (zero, or the convex branch)."""
    low = np.sqrt(2 / (3 * prior_energy))
    high = np.maximum(low, np.cbrt(4 / np.maximum(price, 1e-300)))  # slope there is below the price
    for _ in range(50):
        u = 0.5 * (low + high)
        steep = 4 * prior_energy**2 * u / (2 + prior_energy * u * u) ** 2 > price
        low, high = np.where(steep, u, low), np.where(steep, high, u)
    u = 0.5 * (low + high)
    return np.where(2 * prior_energy / (2 + prior_energy * u * u) + price * u < prior_energy, u, 0.0)
