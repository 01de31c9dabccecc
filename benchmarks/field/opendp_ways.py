"""OpenDP's building blocks put together for curves, as well as each task lets them be: pure differential privacy.

OpenDP (0.16) has no curves. What it offers is noise for a vector of known sensitivity, and private quantiles; the
sensitivities here are derived by hand, for neighbours that replace one record among a public number n.

- Mean, point by point: values clamped to a public range, so that the mean of a curve of m points moves by at most
  m (high - low) / n in L1. Even budgets per point are the same noise.
- Mean in cosines: curves shortened to a public ball, K coefficients of the leading cosines, which move by at most
  2 radius / n in L2 and so sqrt(K) times that in L1. With Gaussian noise it is rho-zCDP, a weaker guarantee.
- Histogram of points in equal public bins: counts move by at most 2 in L1.
- Percentiles: a private quantile at each time and level, each with an even part of epsilon, from public candidates.

Numbers of cosines, bins and candidates are the caller's, who tries several.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import opendp.prelude as op

op.enable_features("contrib", "honest-but-curious")


@cache
def _floats() -> Any:
    return op.vector_domain(op.atom_domain(T=float, nan=False))


def noised(values: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """A vector with Laplace noise, of an L1 sensitivity."""
    mechanism = op.m.make_laplace(_floats(), op.l1_distance(T=float), sensitivity / epsilon)
    return np.array(mechanism(values.ravel().tolist())).reshape(values.shape)


def noised_gaussian(values: np.ndarray, sensitivity: float, rho: float) -> np.ndarray:
    """A vector with Gaussian noise, of an L2 sensitivity: rho-zCDP."""
    mechanism = op.m.make_gaussian(_floats(), op.l2_distance(T=float), sensitivity / float(np.sqrt(2 * rho)))
    return np.array(mechanism(values.ravel().tolist())).reshape(values.shape)


def mean_of_points(curves: np.ndarray, low: float, high: float, epsilon: float) -> np.ndarray:
    n, m = curves.shape
    return noised(np.clip(curves, low, high).mean(axis=0), m * (high - low) / n, epsilon)


def cosines(m: int, count: int) -> np.ndarray:
    """The leading cosines at the middles of m cells, one row each, orthonormal under the mean over the cells."""
    t, j = (np.arange(m) + 0.5) / m, np.arange(count)
    return np.where(j == 0, 1.0, np.sqrt(2))[:, None] * np.cos(np.pi * np.outer(j, t))


def in_ball(curves: np.ndarray, center: float, radius: float) -> np.ndarray:
    """Curves about a public centre, shortened to a ball in root mean square."""
    rows = curves - center
    return rows * np.minimum(1.0, radius / np.maximum(np.sqrt((rows**2).mean(axis=1)), 1e-300))[:, None]


def mean_in_cosines(
    curves: np.ndarray, center: float, radius: float, count: int, epsilon: float, gaussian: bool = False
) -> np.ndarray:
    """With `gaussian`, the budget is the rho that epsilon implies, epsilon^2 / 2."""
    n, m = curves.shape
    basis = cosines(m, count)
    values = in_ball(curves, center, radius).mean(axis=0) @ basis.T / m
    if gaussian:
        return center + noised_gaussian(values, 2 * radius / n, epsilon**2 / 2) @ basis
    return center + noised(values, 2 * radius * np.sqrt(count) / n, epsilon) @ basis


def histogram(points: np.ndarray, domain: tuple[tuple[float, float], ...], bins: int, epsilon: float) -> np.ndarray:
    """Heights of a noisy histogram that is a density: clipped at zero, integral one."""
    rows = points.reshape(len(points), -1)
    counts = np.histogramdd(rows, bins=bins, range=domain)[0].astype(int)
    mechanism = op.m.make_laplace(op.vector_domain(op.atom_domain(T=int)), op.l1_distance(T=int), 2 / epsilon)
    kept = np.maximum(np.array(mechanism(counts.ravel().tolist())).reshape(counts.shape), 0).astype(float)
    volume = np.prod([high - low for low, high in domain])
    return (kept / kept.sum() if kept.sum() else np.full(kept.shape, 1 / kept.size)) * kept.size / volume


@cache
def _quantile(n: int, candidates: tuple[float, ...], level: float, epsilon: float) -> Any:
    domain = op.vector_domain(op.atom_domain(T=float, nan=False), size=n)

    def build(scale: float) -> Any:
        return op.m.make_private_quantile(
            domain, op.symmetric_distance(), op.max_divergence(), list(candidates), level, scale
        )

    # One record replaced is a symmetric distance of two.
    return op.binary_search_chain(build, d_in=2, d_out=epsilon, T=float)


def percentiles(
    curves: np.ndarray, levels: np.ndarray, low: float, high: float, count: int, epsilon: float
) -> np.ndarray:
    """Levels by times; at each time what was drawn is sorted, so that percentiles do not cross."""
    n, m = curves.shape
    candidates = tuple(np.linspace(low, high, count).tolist())
    own = epsilon / (m * len(levels))
    ways = [_quantile(n, candidates, float(level), own) for level in levels]
    columns = np.clip(curves, low, high).T.tolist()
    return np.sort(np.array([[way(column) for column in columns] for way in ways]), axis=0)
