"""A private choice among candidates: permute and flip, drawn exactly.

Each candidate has a score that one record moves by a bounded amount. Candidates are met in random order; each
is taken with probability ``exp(-epsilon (best score - its score) / range)``. That is never worse than the
exponential mechanism at the same budget (McKenna and Sheldon, 2020). How many coins are tossed in turn would tell of
the scores to whoever holds a watch, so the same law is drawn in one go: the largest of scores plus exponential noise
(derivations: private choice).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpfda.noise.rounding import PLACES, Deviates, Placed
from dpfda.noise.samplers import flint


@dataclass(frozen=True)
class Choice:
    """One of `size` candidates, chosen privately by their scores.

    A draw is one at the place of the candidate taken and zero elsewhere: scores themselves never leave
    (derivations: private choice).

    Parameters
    ----------
    epsilon : Fraction
        What one draw costs.
    size : int
        The number of candidates.
    range : Fraction
        How much a neighbour can move one score against another.
    delta : Fraction, optional
        Default: 0, pure differential privacy.

    Examples
    --------
    >>> law = Choice(Fraction(1), 3, Fraction(1, 1000))
    >>> law.draw([Fraction(0), Fraction(5), Fraction(0)]).tolist()
    [0.0, 1.0, 0.0]
    """

    epsilon: Fraction
    size: int
    range: Fraction
    delta: Fraction = Fraction(0)
    description: ClassVar[str] = "a private choice by permute and flip, drawn exactly"

    @property
    def scales(self) -> np.ndarray:
        """The mean of the exponential noise that would choose alike, added to scores of which the largest is taken."""
        return np.full(self.size, float(self.range / self.epsilon))

    @property
    def variance(self) -> np.ndarray:
        """The variance of each coordinate."""
        return self.scales**2

    def loss(self, h: np.ndarray) -> float:
        """Privacy loss of a difference `h`: at most epsilon for neighbours.

        Only differences between scores count: what moves all of them alike changes nothing.

        Parameters
        ----------
        h : array of float
            A difference of two statistics, one number for each coordinate.
        """
        return float(self.epsilon / self.range) * float(np.max(h) - np.min(h))

    def to_lattice(self, values: Sequence[Fraction]) -> list[Placed]:
        """Exact values as :meth:`draw` takes them. Confidential.

        Parameters
        ----------
        values : sequence of Fraction
            The exact statistic, one number for each coordinate. Confidential.
        """
        return [Placed.of(x, self.range / self.epsilon) for x in values]

    def real(self, on_lattice: Sequence[Fraction]) -> np.ndarray:
        """The same as floats. Confidential, for audits.

        Parameters
        ----------
        on_lattice : sequence
            What :meth:`to_lattice` gave. Confidential.
        """
        return np.array([float(x) for x in on_lattice])

    def draw(self, on_lattice: Sequence[Fraction], count: int | None = None) -> np.ndarray:
        """The largest of scores plus exponential noise: all of it drawn first, and the sums compared exactly.

        Parameters
        ----------
        on_lattice : sequence
            What :meth:`to_lattice` gave. Confidential.
        count : int, optional
            How many outcomes are drawn, a row for each. Default: one, as a vector.
        """
        if count is not None:
            return np.array([self.draw(on_lattice) for _ in range(count)])
        scores, noise, places = self.to_lattice(on_lattice), Deviates(self.size, _exponential), PLACES
        while True:
            sums = [x + s.floor(places) for x, s in zip(noise.floors(places), scores, strict=True)]
            best = max(sums)
            near = [i for i, k in enumerate(sums) if best - k <= 1]  # each is less than two more than it says
            if len(near) == 1:
                return np.eye(self.size)[near[0]]
            places += PLACES

    def simulate(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Noise alone, `size` rows of it, fast and from a seed: for studies and bands, never for a release.

        Parameters
        ----------
        size : int
            How many rows of noise.
        rng : numpy.random.Generator
            Where the numbers come from.
        """
        return rng.standard_exponential((size, self.size)) * self.scales


def chances(gaps: np.ndarray) -> np.ndarray:
    """How likely permute and flip is to take each candidate, by how far its score is below the best, over the noise's.

    A candidate wins at noise ``x`` above the best score, all others below it: an integral over ``u = exp(-x)`` of a
    polynomial, which Gauss' rule gives exactly (derivations: private choice).

    >>> chances(np.array([0.0, 0.0])).tolist(), chances(np.array([0.0, 0.7, 2.0])).round(3).tolist()
    ([0.5, 0.5], [0.706, 0.237, 0.056])
    """
    nodes, weights = np.polynomial.legendre.leggauss(gaps.size // 2 + 1)
    coins = np.exp(-np.asarray(gaps, dtype=float))
    below = 1 - np.outer((nodes + 1) / 2, coins)
    others = np.array([np.delete(below, i, axis=1).prod(axis=1) for i in range(gaps.size)])
    return np.asarray(coins * (others @ weights) / 2)


def _exponential(uniforms: list[flint.arb]) -> list[flint.arb]:
    return [-u.log() for u in uniforms]
