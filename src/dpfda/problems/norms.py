"""How long curves are: counts of their norms between public radii, for a private choice of one of them.

A suggested radius and the radius that a mean finds for itself are the same choice: the smallest of a public ladder of
radii that holds a wanted share of the curves. Balls about one centre are nested, so one record moves all scores the
same way, and the choice needs no factor two (derivations: private choice).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.bodies import L2Ball
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.defaults import check_count, check_key
from dpfda.problems.derived import Scores, check_totals
from dpfda.problems.mean import CHUNK, MeanProblem
from dpfda.problems.summary import Summary

#: Radii that hold all curves are told apart by their octave, which costs this many records over epsilon: the choice is
#: wrong by one octave with a probability of ``exp(-12)``, where records suffice for that.
TELL_APART = 12.0


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
        totals = np.zeros(self.radii.size + 1, dtype=np.int64)
        for start in range(0, len(batch), CHUNK):
            try:
                norms = self._norms(batch[start : start + CHUNK])
            except RecordError as error:
                raise error.shifted(start) from None
            totals += np.bincount(np.searchsorted(self.radii, norms), minlength=self.radii.size + 1)
        return totals

    def _norms(self, batch: np.ndarray) -> np.ndarray:
        """Norms, in a fixed order and scaled by each curve's own largest value: functions of one record each."""
        distances = self.inner.distances(batch)
        largest = np.abs(distances).max(axis=1, initial=0.0)
        scale = np.where((largest > 0) & (largest < np.inf), largest, 1.0)
        total = np.zeros(len(batch))
        for column, weight in zip((distances / scale[:, None]).T, self.inner.grid.weights.tolist(), strict=True):
            total += weight * column**2
        with np.errstate(over="ignore"):
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
        prices = self.price * self.n * np.log2(self.radii[self.places] / self.radii[self.places].min())
        return self._scores(inside, self.held * summary.count, prices)


@dataclass(frozen=True, eq=False)
class LadderProblem(NormProblem):
    """The same, and the sums of curves clipped to each of the radii: a choice and a mean from one pass."""

    @cached_property
    def rungs(self) -> list[MeanProblem]:
        """The mean of curves clipped to each radius."""
        return [replace(self.inner, bound=L2Ball(radius, self.inner.bound.center)) for radius in self.radii.tolist()]

    @cached_property
    def key(self) -> str:
        return codec.digest(["ladder", self.inner.key, self.radii.tolist()])

    def total(self, batch: np.ndarray) -> np.ndarray:
        return np.concatenate([super().total(batch), *(rung.total(batch) for rung in self.rungs)])

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "grid, radii or per-curve options")
        check_ladder(summary, self.radii.size, self.width)
        super().check(self._counts(summary))
        for place, rung in enumerate(self.rungs):
            rung.check(self.on_rung(summary, place))

    def estimate(self, summary: Summary) -> list[Fraction]:
        return super().estimate(self._counts(summary))

    def _counts(self, summary: Summary) -> Summary:
        return replace(summary, totals=summary.totals[: self.radii.size + 1])

    def on_rung(self, summary: Summary, place: int) -> Summary:
        """The summary of curves clipped to one radius."""
        start = self.radii.size + 1 + place * self.width
        return replace(summary, key=self.rungs[place].key, totals=summary.totals[start : start + self.width])

    def rung(self, place: int) -> RungProblem:
        """The mean of curves clipped to one radius, from a summary of them all."""
        inner = self.rungs[place]
        fields = {name: getattr(inner, name) for name in MeanProblem.__dataclass_fields__}
        return RungProblem(**fields, ladder=self, place=place)


@dataclass(frozen=True, eq=False, kw_only=True)
class RungProblem(MeanProblem):
    """The mean of curves clipped to one radius of a ladder, which was read as a whole."""

    ladder: LadderProblem
    place: int

    @property
    def key(self) -> str:
        return self.ladder.key

    def total(self, batch: np.ndarray) -> np.ndarray:
        return self.ladder.total(batch)

    def check(self, summary: Summary) -> None:
        self.ladder.check(summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        return super().estimate(self.ladder.on_rung(summary, self.place))


def check_ladder(summary: Summary, radii: int, width: int) -> None:
    """Refuse a summary that is not of these radii."""
    if summary.totals.shape != (radii + 1 + radii * width,):
        raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
