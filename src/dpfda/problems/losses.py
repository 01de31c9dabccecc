"""Convex losses of a prediction, and the regularised problem that a fitted function solves.

Every loss here is smooth with a bounded slope: the hinge is rounded at its corner by a public
width. The minimiser of ``sum w L + psi ||u||^2`` over plain coordinates `u` is found to a public
tolerance that every data set reaches (derivations: regularised risk).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy

from dpfda.core.codec import Fact

#: The corner of the hinge is rounded over this width: within 0.035 of the hinge itself (derivations: regularised risk).
CORNER = 0.05
#: Newton steps before the slow but certain method takes over; any number is valid, both stop at the same tolerance.
NEWTON = 200
#: Rows whose products are summed at a time: the rounding of a gradient is then below 1e-12 of its terms.
BLOCK = 4096


class Loss(Fact, ABC):
    """``L(y, f)``, convex in `f`."""

    @property
    @abstractmethod
    def slope(self) -> float:
        """Largest slope: what one record can pull with."""

    @property
    @abstractmethod
    def curvature(self) -> float:
        """Largest curvature."""

    @property
    def easier(self) -> tuple[Loss, ...]:
        """Losses whose minimisers lead to this one's, the easiest first."""
        return ()

    @abstractmethod
    def values(self, y: np.ndarray, f: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivatives in `f`."""


@dataclass(frozen=True, eq=False)
class Logistic(Loss):
    """``log(1 + exp(-y f))`` for labels -1 and 1.

    >>> round(float(Logistic().values(np.array([1.0]), np.array([0.0]))[0]), 6)
    0.693147
    """

    slope = 1.0
    curvature = 0.25

    def values(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = scipy.special.expit(-y * f)
        return -y * p, p * (1 - p)


@dataclass(frozen=True, eq=False)
class Hinge(Loss):
    """``max(0, 1 - y f)`` with its corner rounded: within ``width log 2`` of it everywhere.

    >>> float(Hinge().values(np.array([1.0]), np.array([-1.0]))[0])
    2.0
    """

    width: float = CORNER
    slope = 1.0

    @property
    def curvature(self) -> float:
        return 0.25 / self.width

    @property
    def easier(self) -> tuple[Loss, ...]:
        return tuple(Hinge(self.width * 2.0**k) for k in (4, 3, 2, 1))

    def values(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self.width * np.logaddexp(0.0, (1 - y * f) / self.width)

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = scipy.special.expit((1 - y * f) / self.width)
        return -y * p, p * (1 - p) / self.width


@dataclass(frozen=True, eq=False)
class Huber(Loss):
    """``r^2/2`` up to a residual of `threshold`, then a line: one record pulls with that slope at most.

    >>> Huber(0.5).values(np.array([0.0]), np.array([2.0])).tolist()
    [0.875]
    """

    threshold: float
    curvature = 1.0

    @property
    def slope(self) -> float:
        return self.threshold

    def values(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        r = np.abs(f - y)
        return np.where(r <= self.threshold, 0.5 * r * r, self.threshold * (r - 0.5 * self.threshold))

    def derivatives(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r = f - y
        return np.clip(r, -self.threshold, self.threshold), (np.abs(r) <= self.threshold).astype(float)


def minimize(
    loss: Loss, features: np.ndarray, y: np.ndarray, weights: np.ndarray, psi: float, kappa: float, tolerance: float
) -> np.ndarray:
    """A point `u` where the gradient of ``sum_i w_i L(y_i, x_i u) + psi ||u||^2`` is at most `tolerance` long.

    Weights are non-negative; rows of `features` have norms up to `kappa`. Newton steps come first, through easier
    losses to this one. Where rounding or a kink stops them, accelerated gradient steps go on: their contraction is
    proven, so every data set gets there.
    """
    u = np.zeros(features.shape[1])
    for easier in loss.easier:
        u = _newton(easier, features, y, weights, psi, 1e3 * tolerance, u)[0]
    u, reached = _newton(loss, features, y, weights, psi, tolerance, u)
    return u if reached else _accelerated(loss, features, y, weights, psi, kappa, tolerance, u)


def _newton(
    loss: Loss, features: np.ndarray, y: np.ndarray, weights: np.ndarray, psi: float, tolerance: float, u: np.ndarray
) -> tuple[np.ndarray, bool]:
    """Newton steps, each as long as shortens the gradient; and whether the tolerance was reached."""
    gradient, curvature = _evaluated(loss, features, y, weights, psi, u)
    for _ in range(NEWTON):
        size = float(np.linalg.norm(gradient))
        if size <= tolerance:
            return u, True
        hessian = (features * (weights * curvature)[:, None]).T @ features
        hessian[np.diag_indices_from(hessian)] += 2 * psi
        try:
            step = scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian, check_finite=False), gradient)
        except scipy.linalg.LinAlgError:  # too flat for floats
            return u, False
        length = 1.0
        while length > 1e-6:
            turned, bent = _evaluated(loss, features, y, weights, psi, u - length * step)
            if np.linalg.norm(turned) < (1 - 0.1 * length) * size:
                break
            length *= 0.5
        else:
            return u, False
        u, gradient, curvature = u - length * step, turned, bent
    return u, False


def _evaluated(
    loss: Loss, features: np.ndarray, y: np.ndarray, weights: np.ndarray, psi: float, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient, and second derivatives row by row; sums run over blocks, so that rounding stays below the tolerance."""
    first, second = loss.derivatives(y, features @ u)
    pull = weights * first
    gradient = 2 * psi * u
    for start in range(0, len(pull), BLOCK):
        gradient += features[start : start + BLOCK].T @ pull[start : start + BLOCK]
    return gradient, second


def _accelerated(
    loss: Loss, features: np.ndarray, y: np.ndarray, weights: np.ndarray, psi: float, kappa: float, tolerance: float,
    u: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Nesterov's method for a strongly convex function: each round takes off a fixed share of the distance.

    So the number of rounds that reach the tolerance is known beforehand. (Twice as many are allowed; nothing
    but rounding could keep the gradient above it until then, and the tolerance is far above rounding.)
    """
    steep = loss.curvature * kappa**2 * float(weights.sum()) + 2 * psi
    ratio = np.sqrt(2 * psi / steep)
    momentum = (1 - ratio) / (1 + ratio)
    start = float(np.linalg.norm(_evaluated(loss, features, y, weights, psi, u)[0]))
    # The distance falls like (1 - ratio)^(k/2) from at most start/(2 psi), times the root of 2 steep/(2 psi).
    rounds = int(np.ceil(4 / ratio * np.log(2 + 2 * start * steep**1.5 / (tolerance * (2 * psi) ** 1.5))))
    ahead = u
    for _ in range(rounds):
        gradient = _evaluated(loss, features, y, weights, psi, ahead)[0]
        if np.linalg.norm(gradient) <= tolerance:
            break
        moved = ahead - gradient / steep
        ahead, u = moved + momentum * (moved - u), moved
    return ahead
