"""A private choice among candidates: permute and flip, drawn exactly.

Each candidate has a score that one record moves by a bounded amount. Candidates are met in random order; each
is taken with probability ``exp(-epsilon (best score - its score) / range)``. That is never worse than the
exponential mechanism at the same budget (McKenna and Sheldon, 2020), and needs no logarithm: every coin is
decided with random integers (derivations: private choice).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Choice:
    """One of `size` candidates; `range` is how much a neighbour can move one score against another.

    Permute and flip loses at most epsilon then (derivations: private choice). A draw is one at the place of the
    candidate taken and zero elsewhere: scores themselves never leave.
    """

    epsilon: Fraction
    size: int
    range: Fraction
    delta: Fraction = Fraction(0)
    words: ClassVar[str] = "a private choice by permute and flip, drawn exactly"

    @property
    def scales(self) -> np.ndarray:
        """The mean of the exponential noise that would choose alike, added to scores of which the largest is taken."""
        return np.full(self.size, float(self.range / self.epsilon))

    @property
    def variance(self) -> np.ndarray:
        return self.scales**2

    def loss(self, h: np.ndarray) -> float:
        """Only differences between scores count: what moves all of them alike changes nothing."""
        return float(self.epsilon / self.range) * float(np.max(h) - np.min(h))

    def settle(self, values: Sequence[Fraction]) -> list[Fraction]:
        return list(values)

    def real(self, settled: Sequence[Fraction]) -> np.ndarray:
        return np.array([float(x) for x in settled])

    def draw(self, settled: Sequence[Fraction], count: int | None = None) -> np.ndarray:
        if count is not None:
            return np.array([self.draw(settled) for _ in range(count)])
        best, left = max(settled), list(range(self.size))
        while True:
            candidate = left.pop(secrets.randbelow(len(left)))
            if _tossed((best - settled[candidate]) * self.epsilon / self.range):
                return np.eye(self.size)[candidate]

    def simulate(self, size: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_exponential((size, self.size)) * self.scales


def _tossed(gamma: Fraction) -> bool:
    """True with probability ``exp(-gamma)``, for any rational gamma from zero on."""
    while gamma > 1:
        if not _tossed_below_one(Fraction(1)):
            return False
        gamma -= 1
    return _tossed_below_one(gamma)


def _tossed_below_one(gamma: Fraction) -> bool:
    """Von Neumann's coin: the parity of the first failure among coins of ``gamma / 1, gamma / 2, ...``"""
    k = 1
    while secrets.randbelow(gamma.denominator * k) < gamma.numerator:
        k += 1
    return k % 2 == 1
