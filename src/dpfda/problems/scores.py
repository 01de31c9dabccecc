"""Scores of candidate methods on the data's own mean: how large an error each would make."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.problems.derived import Scores
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary

#: Scores are computed in floating point from exact totals; this covers its rounding, relative to the squared radius.
FLOATS = 2.0**-40


@dataclass(frozen=True, eq=False)
class ScoreProblem(Scores):
    """Minus the expected squared error of each candidate's parts, from the same totals as the mean itself."""

    candidates: tuple[tuple[Part, ...], ...]

    @property
    def key(self) -> str:
        """The mean's own: nothing is read again."""
        return self.inner.key

    @property
    def size(self) -> int:
        return len(self.candidates)

    @cached_property
    def range(self) -> Fraction:
        """How much one record can move a score against another.

        Biases are sums of squares ``w_j m_j^2`` with weights (or slopes) from 0 to 1, so two of them change against
        each other by at most ``sum |m_j^2 - m'_j^2| <= ||m - m'|| ||m + m'||``, a product of public lengths
        (derivations: private choice).
        """
        step = self.inner.sensitivity.radius(np.ones(self.inner.basis.size))
        longest = step * self.inner.n / 2
        return Fraction(step * 2 * longest * (1 + 2.0**-30)) + Fraction(FLOATS * longest**2)

    def total(self, batch: np.ndarray) -> np.ndarray:
        return self.inner.total(batch)

    def check(self, summary: Summary) -> None:
        self.inner.check(summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        squares = np.array([float(x) for x in self.inner.estimate(summary)]) ** 2
        return [-self._error(parts, squares) for parts in self.candidates]

    @staticmethod
    def _error(parts: tuple[Part, ...], squares: np.ndarray) -> Fraction:
        """Noise is public and may be huge: added exactly, it rounds nothing of what the records say."""
        missed, noise = squares.copy(), Fraction(0)
        for part in parts:
            missed[part.where] = part.bias(squares)
            noise += Fraction(float(part.law.variance.sum()))
        return noise + Fraction(float(missed.sum()))
