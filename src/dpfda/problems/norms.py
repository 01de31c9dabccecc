"""How long curves are: counts of their norms between public radii, for a private choice of one of them.

A suggested radius and the radius that a mean finds for itself are the same choice: the smallest of a public ladder of
radii that holds a wanted share of the curves. Balls about one centre are nested, so one record moves all scores the
same way, and the choice needs no factor two (derivations: private choice).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.loops import Block, add_up
from dpfda.bounds.plain import MARGIN
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.defaults import check_count, check_key
from dpfda.problems.derived import PRICE, Scores, check_totals, whole_prices
from dpfda.problems.summary import Summary

#: Radii that hold all curves are told apart by their octave, which costs this many records over epsilon: the choice is
#: wrong by one octave with a probability of ``exp(-12)``, where records suffice for that.
TELL_APART = 12.0
#: Below this a square may be lost, and a quick sum is right no more.
TINY = 2.0**-900


def octave_price(n: int, epsilon: Fraction, octaves: float, held: float, most: float) -> float:
    """What an octave more costs, as a share of the `n` records; a ladder of them at most the share `most` of `held`.

    So a radius that holds nobody is worse than the largest one by what is left: ``(1 - most) held n`` records.
    """
    return min(most * held / octaves, TELL_APART / (n * float(epsilon)))


@dataclass(frozen=True, eq=False)
class NormProblem(Scores):
    """How many curves are within some of the `radii` of the centre of `inner`, as scores for the quantile `held`.

    `places` says which radii are candidates, `price` what an octave more costs, as a share of the records.
    """

    radii: np.ndarray
    places: np.ndarray
    held: Fraction
    price: float

    @property
    def nested(self) -> bool:
        return True

    @property
    def size(self) -> int:
        return self.places.size

    @cached_property
    def key(self) -> str:
        return codec.digest(["norms", self.inner.key, self.radii.tolist()])

    def total(self, batch: np.ndarray) -> np.ndarray:
        """Curves by the smallest radius that holds them; the last place is for those that none holds."""
        return add_up(self.block_totals, batch, light=self.inner.takes_rows)

    def block_totals(self, block: Block) -> np.ndarray:
        """A quick sum of squares tells where a curve is, unless it is too close to a radius."""
        inner, squares = self.inner, self.radii**2
        curves, usable = (block.rows, True) if inner.takes_rows else inner.curves(block)
        quick = np.where(usable, block.kernels.squared_norms(curves, inner.center, inner.grid.weights), 0.0)
        places = np.searchsorted(squares * (1 - MARGIN), quick)
        with np.errstate(invalid="ignore"):
            clear = (places == np.searchsorted(squares * (1 + MARGIN), quick)) & (quick > TINY) & (quick < np.inf)
        if not clear.all():
            close = np.flatnonzero(~clear)
            try:
                places[close] = np.searchsorted(self.radii, self._norms(block.take(close)))
            except RecordError as error:
                raise RecordError(error.problem, close[list(error.rows)].tolist(), error.cure) from None
        return np.bincount(places, minlength=self.radii.size + 1)

    def _norms(self, block: Block) -> np.ndarray:
        """Norms, in a fixed order and scaled by each curve's own largest value: functions of one record each."""
        distances = self.inner.distances(block)
        largest = np.abs(distances).max(axis=1, initial=0.0)
        scale = np.where((largest > 0) & (largest < np.inf), largest, 1.0)
        total = np.zeros(len(distances))
        with np.errstate(over="ignore", invalid="ignore"):
            for column, weight in zip((distances / scale[:, None]).T, self.inner.grid.weights.tolist(), strict=True):
                total += weight * column**2
            return np.asarray(scale * np.sqrt(total))

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "grid, radii or per-curve options")
        check_totals(summary, self.radii.size + 1, 1)
        if int(summary.totals.sum()) != summary.count:
            raise PlanMismatch("This summary holds totals that no records can have; it is damaged.")
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        """A record moves no score against another by more than one (derivations: private choice)."""
        inside = np.cumsum(summary.totals)[self.places].tolist()
        return self._scores(inside, self.held * summary.count, self._prices)

    @property
    def _prices(self) -> np.ndarray:
        radii = self.radii[self.places]
        return np.asarray(self.price * self.n * np.log2(radii / radii.min()))

    @property
    def prices(self) -> np.ndarray:
        """What each candidate costs, in records, as scores count it."""
        return np.array(whole_prices(self._prices)) / PRICE
