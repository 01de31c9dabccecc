"""What is asked of inputs and responses before and beside their moments: how long they are, and where their middle is.

Both look at each record alone, through the same codes as the moments (derivations: regression).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.lattice import RADIUS
from dpfda.bounds.sensitivities import BoxSensitivity, EuclideanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.noise import Choice
from dpfda.problems.derived import FLOATS, PRICE
from dpfda.problems.design import energy
from dpfda.problems.gram import Encoded
from dpfda.problems.moments import PairProblem, ResidualProblem
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary


@dataclass(frozen=True, eq=False)
class LengthsProblem(PairProblem):
    """How many records are within each of the public `radii`, the smallest first, as scores for a choice of one.

    The best radius leaves the share `outside` of the records out; `price`, in records, is what an octave more costs.
    One record moves no score against another by more than one: balls lie inside one another
    (derivations: private choice).
    """

    radii: np.ndarray
    outside: Fraction
    price: float

    @abstractmethod
    def _lengths(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        """How long each record is, a function of it alone."""

    @property
    def size(self) -> int:
        return self.radii.size

    @property
    def range(self) -> Fraction:
        """How much one record can move a score against another, with room for floats."""
        return 1 + Fraction(1 + self.n, FLOATS)

    @property
    def sensitivity(self) -> Sensitivity:
        return BoxSensitivity(np.ones(self.size), float(self.range) / 2)

    @property
    def max_abs(self) -> np.ndarray:
        return np.full(self.size, np.inf)

    def _products(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        return np.bincount(np.searchsorted(self.radii, self._lengths(x, y)), minlength=self.size + 1)

    def estimate(self, summary: Summary) -> list[Fraction]:
        """Too few records inside count against a radius, more than enough do not."""
        wanted = (1 - self.outside) * summary.count
        prices = [Fraction(round(PRICE * self.price * float(octave)), PRICE)
                  for octave in np.log2(self.radii / self.radii[0])]  # fmt: skip
        inside = np.cumsum(summary.totals)[: self.size].tolist()
        return [-max(wanted - count, Fraction(0)) - price for count, price in zip(inside, prices, strict=True)]

    def choice(self, epsilon: Fraction) -> Stage:
        """The stage that draws one of the radii (derivations: private choice)."""
        return Stage(self, (Part(np.arange(self.size), np.ones(self.size), Choice(epsilon, self.size, self.range)),))

    def chosen(self, drawn: np.ndarray) -> float:
        """The radius that was drawn."""
        return float(self.radii[int(np.argmax(drawn))])


@dataclass(frozen=True, eq=False)
class ResponseLengths(LengthsProblem):
    """Lengths of responses, from their public centre."""

    @cached_property
    def key(self) -> str:
        facts = [self.design.facts, self.response.facts, self.invalid]
        return codec.digest(["lengths of responses", facts, self.radii.tolist()])

    def _lengths(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        lengths: np.ndarray = np.sqrt(energy(y)) * self.response.unit
        return lengths


@dataclass(frozen=True, eq=False)
class ResidualLengths(LengthsProblem):
    """Lengths of inputs times residuals about a rough fit, in units of the residuals' axes."""

    residuals: ResidualProblem

    @cached_property
    def key(self) -> str:
        return codec.digest(["lengths of residuals", self.residuals.key, self.radii.tolist()])

    def _lengths(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        lengths: np.ndarray = np.sqrt(energy(self.residuals.normalised(x, y)[1]))
        return lengths


@dataclass(frozen=True, eq=False)
class CentreProblem(PairProblem):
    """The first moment of inputs (its first number is public), then the mean of responses in their first functions.

    Where the number of records is private it follows, over the public guess. Two responses differ by at most twice the
    largest (derivations: regression).
    """

    components: int

    @property
    def first_size(self) -> int:
        return self.design.gram.size

    @property
    def size(self) -> int:
        return self.first_size + self.components + self.count_is_private

    @property
    def n_public(self) -> int:
        """The constant's own moment, where the number of records is public."""
        return 0 if self.count_is_private else 1

    @property
    def center_coefficients(self) -> np.ndarray:
        return np.append(self.design.gram.first, np.zeros(self.size - 1))

    @property
    def _response_radius(self) -> float:
        """Largest norm of an encoded response, which lies within the lattice ball."""
        return float(RADIUS * self.response.unit * (1 + 2.0**-48))

    @cached_property
    def first_sensitivity(self) -> Sensitivity:
        return self.design.gram.sensitivity(self.n, self.count_is_private)

    @cached_property
    def mean_sensitivity(self) -> Sensitivity:
        return EuclideanSensitivity(np.full(self.components, self._response_radius), self.diameter)

    @property
    def sensitivity(self) -> Sensitivity:
        return self.mean_sensitivity

    @property
    def max_abs(self) -> np.ndarray:
        first = np.full(self.first_size, self.design.gram.length)
        return np.append(first, np.full(self.size - self.first_size, self._response_radius))

    @cached_property
    def key(self) -> str:
        return codec.digest(["centre", self.design.facts, self.response.facts, self.invalid, self.components])

    def _products(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        middle = y[:, : self.components].astype(np.int64).sum(axis=0)
        return np.append(self.design.gram.totals(x), middle)

    def estimate(self, summary: Summary) -> list[Fraction]:
        totals = summary.totals.tolist()
        unit = Fraction(self.response.unit) / self.n
        firsts = zip(totals[: self.first_size], self.design.gram.units, strict=True)
        found = [t * u / self.n for t, u in firsts] + [t * unit for t in totals[self.first_size :]]
        return [*found, Fraction(summary.count, self.n)] if self.count_is_private else found
