"""Private kernel density sketches by locality-sensitive quantisation, written from the paper.

T. Wagner, Y. Naamad, N. Mishra: Fast Private Kernel Density Estimation via Locality Sensitive Quantization, ICML 2023.
A kernel k(x, y) is written, nearly, as an inner product of f(x), which is bounded, and g(y); the mean of f over the
points is released with Laplace noise, and the answer to any query y is its inner product with g(y). `Fourier` takes
random Fourier features (LSQ-RFF), `Hermite` the expansion of the fast Gauss transform about the middles of boxes
(LSQ-FGT). The kernel is exp(-|x - y|^2 / (2 h^2)), so that estimates lie between 0 and 1. Pure epsilon-differential
privacy.

What we chose, in the peer's favour:

- Neighbours replace a point, as in all tables here, and n is public: noise is twice that for adding or removing one.
- The paper adds noise of one scale to all coordinates of f. A coordinate may be scaled up as long as g is scaled down,
  and `Hermite` does so by `shares`, which make the noise at a query small.
- Estimates are clipped to [0, 1]. Numbers of features, boxes and terms are the caller's, who tries several.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from math import factorial

import numpy as np


@dataclass(frozen=True)
class Fourier:
    """Random Fourier features: f = sqrt(2) cos(w.x + b) for each of them, and g is f over their number."""

    frequencies: np.ndarray
    phases: np.ndarray

    @classmethod
    def drawn(cls, features: int, bandwidth: float, dimension: int, rng: np.random.Generator) -> Fourier:
        """Public randomness: it does not depend on points."""
        return cls(rng.standard_normal((dimension, features)) / bandwidth, rng.uniform(0, 2 * np.pi, features))

    def encoded(self, points: np.ndarray) -> np.ndarray:
        return np.sqrt(2) * np.cos(points @ self.frequencies + self.phases)

    @property
    def sensitivity(self) -> float:
        """Of the sum over points, in L1, when one is replaced: each feature moves by at most 2 sqrt(2)."""
        return 2 * np.sqrt(2) * self.phases.size

    def sketch(self, points: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
        noise = rng.laplace(0, self.sensitivity / epsilon, self.phases.size)
        return (self.encoded(points).sum(axis=0) + noise) / len(points)

    def answers(self, sketch: np.ndarray, queries: np.ndarray) -> np.ndarray:
        return np.clip(self.encoded(queries) @ sketch / sketch.size, 0, 1)


@dataclass(frozen=True)
class Hermite:
    """The fast Gauss transform: `terms` powers along each axis about the middle of one of `boxes` boxes along each."""

    low: np.ndarray
    high: np.ndarray
    boxes: int
    terms: int
    bandwidth: float

    @cached_property
    def sides(self) -> np.ndarray:
        return (self.high - self.low) / self.boxes

    def shares(self, axis: int) -> np.ndarray:
        """How large f's coordinate of each power may be; their sum is one.

        With noise of one scale, the noise at a query has a variance that grows with the sum of (g / share)^2, smallest
        where shares are as g^(2/3). For g stands a bound on it up to a factor: (sqrt(2) half)^a / sqrt(a!).
        """
        half, powers = self.sides[axis] / 2 / (np.sqrt(2) * self.bandwidth), np.arange(self.terms)
        sizes = np.array([(np.sqrt(2) * half) ** a / np.sqrt(factorial(a)) for a in powers]) ** (2 / 3)
        return sizes / sizes.sum()

    @property
    def sensitivity(self) -> float:
        """Of the sum over points, in L1: a point's coordinates have sizes of at most the shares, whose sum is one."""
        return 2.0

    def _line(self, x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """Along an axis: the box of each point, and coordinates of f in it. Points outside count as on the limits."""
        box = np.clip(((x - self.low[axis]) / self.sides[axis]).astype(int), 0, self.boxes - 1)
        place = np.clip((x - self.low[axis]) / self.sides[axis] - box - 0.5, -0.5, 0.5) * 2
        return box, place[:, None] ** np.arange(self.terms) * self.shares(axis)

    def totals(self, points: np.ndarray) -> np.ndarray:
        """The sum of f over the points: one row per box, one column per combination of powers."""
        dimension = points.shape[1]
        lines = [self._line(points[:, axis], axis) for axis in range(dimension)]
        cell = np.ravel_multi_index(tuple(box for box, _ in lines), (self.boxes,) * dimension)
        value = reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), [part for _, part in lines])
        counts = [np.bincount(cell, column, self.boxes**dimension) for column in value.T]
        return np.stack(counts, axis=1)

    def sketch(self, points: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
        exact = self.totals(points)
        return (exact + rng.laplace(0, self.sensitivity / epsilon, exact.shape)) / len(points)

    def _reach(self, y: np.ndarray, axis: int) -> np.ndarray:
        """g along an axis: queries by boxes by powers."""
        scale = np.sqrt(2) * self.bandwidth
        middles = self.low[axis] + (np.arange(self.boxes) + 0.5) * self.sides[axis]
        apart, half = (y[:, None] - middles) / scale, self.sides[axis] / 2 / scale
        bell = np.exp(-(apart**2))
        found = np.stack(
            [np.polynomial.hermite.hermval(apart, np.eye(self.terms)[a]) * bell * half**a / factorial(a)
             for a in range(self.terms)], axis=2,
        )  # fmt: skip
        return found / self.shares(axis)

    def answers(self, sketch: np.ndarray, queries: np.ndarray) -> np.ndarray:
        dimension = queries.shape[1]
        left = sketch.reshape((self.boxes,) * dimension + (self.terms,) * dimension)
        reach = [self._reach(queries[:, axis], axis) for axis in range(dimension)]
        subscripts = {1: "qbt,bt->q", 2: "qbt,qcu,bctu->q", 3: "qbt,qcu,qdv,bcdtuv->q"}[dimension]
        return np.clip(np.einsum(subscripts, *reach, left, optimize=True), 0, 1)


def exact(points: np.ndarray, queries: np.ndarray, bandwidth: float) -> np.ndarray:
    """The kernel density estimate without privacy, in blocks of queries."""
    found = np.empty(len(queries))
    for start in range(0, len(queries), 100):
        block = queries[start : start + 100]
        squared = ((block[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
        found[start : start + 100] = np.exp(-squared / (2 * bandwidth**2)).mean(axis=1)
    return found
