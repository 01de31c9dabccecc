"""Problems that look at curves through another one, and private choices among what they find."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpfda.bounds.sensitivities import BoxSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.errors import PlanMismatch
from dpfda.noise import Choice
from dpfda.problems.mean import MeanProblem
from dpfda.problems.same_records import SameRecords
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary, are_integers
from dpfda.spaces.basis import Eigenbasis

#: Scores are in records; the public price of a candidate is rounded to this fraction of one. Any value is
#: valid: prices are the same for all data.
PRICE = 8
#: A score as a float is off by a few times 2^-53 of its size: an audit of differences of floats stays below epsilon.
FLOATS = 2**48


@dataclass(frozen=True, eq=False)
class DerivedProblem(SameRecords):
    """Records as `inner` reads them."""

    inner: MeanProblem

    @property
    def basis(self) -> Eigenbasis:
        return self.inner.basis

    @property
    def prior_energy(self) -> np.ndarray:
        return self.inner.prior_energy


class Scores(DerivedProblem, ABC):
    """Numbers of which the largest is wanted; they never leave, only the place of one that is nearly the largest."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many candidates there are."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Digest of everything that decides how a record is encoded."""

    @abstractmethod
    def total(self, batch: np.ndarray) -> np.ndarray:
        """What the records of a batch add to the totals."""

    @abstractmethod
    def check(self, summary: Summary) -> None:
        """Refuse a summary that does not belong here."""

    @abstractmethod
    def estimate(self, summary: Summary) -> list[Fraction]:
        """One score for each candidate, exactly."""

    @property
    def nested(self) -> bool:
        """Whether candidates lie inside one another, which halves what a record can do."""
        return False

    @property
    def range(self) -> Fraction:
        """How much one record can move a score against another, where scores count records; with room for floats.

        (derivations: private choice)
        """
        return Fraction(1 if self.nested else 2) + Fraction(1 + self.n, FLOATS)

    def _scores(self, inside: Sequence[int], wanted: Fraction, prices: np.ndarray) -> list[Fraction]:
        """How far each count is from the wanted one, and the public price of the candidate.

        Nested candidates that hold more than wanted are told apart by their prices alone.
        """
        rounded = whole_prices(prices)
        # In units of one over the denominators: integers are as exact as fractions, and faster.
        share, whole = wanted.denominator, wanted.numerator
        missed = [whole - count * share if self.nested else abs(whole - count * share) for count in inside]
        return [Fraction(-max(miss, 0) * PRICE - price * share, share * PRICE)
                for miss, price in zip(missed, rounded, strict=True)]  # fmt: skip

    @property
    def sensitivity(self) -> Sensitivity:
        return BoxSensitivity(np.ones(self.size), float(self.range) / 2)

    @property
    def max_abs(self) -> np.ndarray:
        return np.full(self.size, np.inf)

    def choice(self, epsilon: Fraction) -> Stage:
        """The stage that draws one of the places (derivations: private choice)."""
        part = Part(np.arange(self.size), np.ones(self.size), Choice(epsilon, self.size, self.range))
        return Stage(self, (part,))


def whole_prices(prices: np.ndarray) -> list[int]:
    """Prices as whole numbers, of which `PRICE` make a record."""
    return [round(PRICE * price) for price in prices.tolist()]


def check_totals(summary: Summary, size: int, most: int) -> None:
    """Refuse totals that no records could have made: summaries may come from elsewhere."""
    totals = summary.totals
    if not are_integers(totals) or totals.shape != (size,) or summary.count < 0:
        raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
    if (totals < 0).any() or (totals > summary.count * most).any():
        raise PlanMismatch("This summary holds totals that no records can have; it is damaged.")
