"""Summaries: exact integer totals of encoded records, which add up in any order to the same bits.

However many records there are, no total overflows and no sum is refused: where the number of records is private, a
refusal would tell it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpfda.core.errors import PlanMismatch
from dpfda.core.origins import Origin, check_apart


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """Exact integer totals of encoded records. Confidential: its repr shows no value and no count.

    Plans make it with `summarize`, and release it.

    Parameters
    ----------
    key : str
        A digest of how records were encoded: summaries of one key add up.
    count : int
        The number of records.
    totals : array of int
        Their totals.
    origins : tuple, optional
        Where the records come from, so that :meth:`merge` can tell that nobody is in two of them. Default: one place
        of its own.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=5, epsilon=1, bound=dp.L2Ball(1.0), grid=4, method=dp.methods.KNorm(2))
    >>> north, south = (plan.summarize(np.zeros((n, 4)), site=site) for n, site in ((3, "north"), (2, "south")))
    >>> north.merge(south).count
    5
    """

    key: str
    count: int
    totals: np.ndarray
    origins: tuple[Origin, ...] = field(default_factory=lambda: (Origin(),))

    def merge(self, other: Summary) -> Summary:
        """The summary of both sets of records: associative and commutative, bit for bit.

        Refused where it cannot be shown that nobody is in both (derivations: parts).

        Parameters
        ----------
        other : Summary
            The summary of other records, by the same plan.
        """
        whole = self.plus(other)
        check_apart(self.origins, other.origins)
        return whole

    def plus(self, other: Summary) -> Summary:
        """Both added up, by whoever knows that no record is in both.

        Parameters
        ----------
        other : Summary
            The summary of other records, by the same plan.
        """
        if self.key != other.key:
            raise PlanMismatch(
                "These summaries were made with different plans (grid, bound or per-curve options); "
                "summarise both parts with the same plan."
            )
        origins = tuple(dict.fromkeys((*self.origins, *other.origins)))
        return replace(self, count=self.count + other.count, totals=self._joined(other), origins=origins)

    def times(self, count: int) -> Summary:
        """So many records like these: multiplied where that is exact, else doubled and added.

        Parameters
        ----------
        count : int
            How many times, from 0.
        """
        if self.totals.dtype == np.int64 and self.totals.ndim == 1 and self.totals.size:
            largest = max(int(self.totals.max()), -int(self.totals.min()))
            if largest * count < 2**63:
                return replace(self, count=self.count * count, totals=self.totals * count)
        nothing = self.totals[:0] if self.totals.ndim > 1 else 0 * self.totals
        found, several = replace(self, count=0, totals=nothing), self
        while count:
            found = found.plus(several) if count & 1 else found
            several, count = several.plus(several), count >> 1
        return found

    def _joined(self, other: Summary) -> np.ndarray:
        return exact_sum(self.totals, other.totals)

    def __eq__(self, other: object) -> bool:  # and with it no hash
        if not isinstance(other, Summary):
            return NotImplemented
        return (
            self.key == other.key
            and self.count == other.count
            and self.totals.dtype == other.totals.dtype
            and np.array_equal(self.totals, other.totals)
        )

    def __repr__(self) -> str:
        return f"Summary(confidential, {self.totals.size} totals, plan {self.key[:12]})"


def exact_sum(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Totals added without rounding or overflow, however many records there are: beyond 63 bits as Python integers.

    >>> exact_sum(np.array([2**62]), np.array([2**62])).tolist() == [2**63]
    True
    """
    if one.dtype != np.int64 or two.dtype != np.int64:
        return np.asarray(one + two)
    with np.errstate(over="ignore"):
        total = one + two
    if (((one ^ total) & (two ^ total)) < 0).any():  # a sign that neither of the two has
        return one.astype(object) + two.astype(object)
    return total


def exact_totals(numbers: Sequence[int]) -> np.ndarray:
    """Integers of any size as totals."""
    fits = all(-(2**63) <= number < 2**63 for number in numbers)
    return np.array(numbers, dtype=np.int64 if fits else object)


def are_integers(totals: np.ndarray) -> bool:
    """Whether these are totals: integers, of whatever size."""
    return totals.dtype == np.int64 or (totals.dtype == object and all(type(x) is int for x in totals.ravel()))
