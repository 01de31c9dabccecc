"""Times to an event, some of them censored: counts of events and of censorings along a public horizon.

A record is a time and whether the event came then. It falls into one fine public cell: of events, of censorings, or of
those who reached the horizon. A unit's record is the average of its rows', in whole parts that add up to one. Released
are counts of bins that are made of these cells; they cover all of them, so a record is in one bin (a unit in each by
its share), and another record in its place moves all shares together by ``2/n`` at most, however many bins there are
(derivations: survival).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.sensitivities import ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.core.doubles import doubles
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.defaults import DefaultProblem, check_count, check_key
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary, are_integers
from dpfda.spaces.grid import Grid
from dpfda.spaces.hats import PointBasis
from dpfda.spaces.pooling import WHOLE, Shares
from dpfda.spaces.rules import PlainRows
from dpfda.spaces.units import Unit

#: Cells of events along the horizon, and as many of censorings: finer than what noise lets see.
CELLS = 192
#: The public class of survival curves: Weibull shapes, and the share that reaches the horizon. A guess: a bad one costs
#: accuracy of what is expected, never privacy.
SHAPES, REACHED = (0.6, 1.0, 2.0), (0.2, 0.5, 0.8)
#: The hazard of censoring that goes with them, over the whole horizon: about four in ten are censored before its end.
CENSORED = 0.5
#: A private number of records can be larger than its public guess; up to so many times, floats of a statistic are exact
#: enough for audits. No privacy rests on it: totals are exact.
MOST_TIMES = 4.0
#: What is said of a record that cannot be used.
UNUSABLE = "A time is missing, infinite or negative, or an event is neither 0 nor 1"
CURE = "Repair it (events coded 1 and 2: subtract 1), or pass invalid='center' to count it as censored at 0."


@dataclass(frozen=True, eq=False)
class Placed:
    """Where a time and an event fall: cells of events, then of censorings, then one for all who reached the horizon."""

    horizon: float

    @property
    def shape(self) -> tuple[int, int]:
        return 1, 2 * CELLS + 1

    def cells(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each row, and which rows are usable; the others count as censored at 0."""
        times, events = doubles(rows).T  # in single precision the horizon would be rounded
        with np.errstate(all="ignore"):  # what a value does in a comparison is nobody's business
            usable = (times >= 0) & (times < np.inf) & ((events == 0) | (events == 1))
            inside = np.where(usable, np.minimum(times, self.horizon), 0.0)
            place = np.minimum((inside / self.horizon * CELLS).astype(np.int64), CELLS - 1)
        place += np.where(usable & (events == 1), 0, CELLS)
        place[usable & (times >= self.horizon)] = 2 * CELLS
        return place[:, None], usable


@dataclass(frozen=True, eq=False)
class SurvivalProblem(DefaultProblem):
    """The survival curve of `n` records up to the end of `axis`; bins begin at the cells `starts`."""

    axis: Grid
    n: int
    starts: tuple[int, ...]
    neighbors: str = "replace"
    invalid: str = "raise"
    unit: Unit | None = None

    # -- one record -----------------------------------------------------------------------

    @cached_property
    def key(self) -> str:
        rules = None if self.alignment is None else self.alignment.facts
        return codec.digest(["survival", self.horizon, CELLS, rules, self.invalid])

    @property
    def horizon(self) -> float:
        return self.axis.span[1]

    @cached_property
    def placed(self) -> Placed:
        return Placed(self.horizon)

    @property
    def width(self) -> int:
        return 2 if self.alignment is None else self.alignment.record_width

    @property
    def record(self) -> str:
        return "record" if self.unit is None else self.unit.name

    @cached_property
    def alignment(self) -> PlainRows | None:
        if self.unit is None:
            return None
        return PlainRows(2, Shares(self.invalid == "center", self.unit, self.placed, UNUSABLE, CURE))

    @property
    def whole(self) -> int:
        """What one record adds to all cells together."""
        return 1 if self.unit is None else WHOLE

    def total(self, batch: np.ndarray) -> np.ndarray:
        """What falls into each cell, in whole parts of a record: exact integers.

        A record that cannot be placed is an error, or (``invalid="center"``) counts as censored at 0.
        """
        if self.unit is None:
            cells, usable = self.placed.cells(batch)
            counts = np.bincount(cells[:, 0], minlength=2 * CELLS + 1)
        else:
            parts = np.where((batch >= 0) & (batch <= WHOLE), batch, np.nan)  # a unit that is missing is all missing
            usable = (parts == np.floor(parts)).all(axis=1) & (parts.sum(axis=1) == WHOLE)
            counts = parts[usable].astype(np.int64).sum(axis=0)
            counts[CELLS] += WHOLE * int((~usable).sum())
        if self.invalid == "raise" and not usable.all():
            raise RecordError(UNUSABLE, np.flatnonzero(~usable).tolist(), CURE)
        return counts.astype(np.int64)

    # -- all records ----------------------------------------------------------------------

    @property
    def size(self) -> int:
        return len(self.starts)

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "horizon, unit or options")
        totals = summary.totals
        if totals.shape != (2 * CELLS + 1,) or not are_integers(totals) or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
        if (totals < 0).any() or sum(totals.tolist()) != self.whole * summary.count:
            raise PlanMismatch("This summary holds counts that no records can have; it is damaged.")
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        ends = (*self.starts[1:], summary.totals.size)
        counts = [sum(summary.totals[a:b].tolist()) for a, b in zip(self.starts, ends, strict=True)]
        return [Fraction(count, self.whole * self.n) for count in counts]

    @property
    def sensitivity(self) -> Sensitivity:
        """Shares of two records differ by two in all, those of one add up to one (derivations: survival)."""
        return ManhattanSensitivity(np.ones(self.size), (1 if self.count_is_private else 2) / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        return np.full(self.size, MOST_TIMES if self.count_is_private else 1.0)

    # -- public guesses -------------------------------------------------------------------

    @cached_property
    def guesses(self) -> np.ndarray:
        """Probabilities of all cells for each survival curve of the public class, one row each."""
        return np.array([cell_probabilities(curve, CENSORED) for curve in self._curves])

    @cached_property
    def _curves(self) -> np.ndarray:
        """Survival at the edges of the cells, for each member of the class."""
        t = np.linspace(0, 1, CELLS + 1)
        return np.array([reached ** (t**shape) for shape in SHAPES for reached in REACHED])

    @property
    def prior_energies(self) -> np.ndarray:
        """Of how each survival curve of the class differs from their average: what is to be seen."""
        values: np.ndarray = (self._curves - self._curves.mean(axis=0)) ** 2 + 1e-12
        return values

    @property
    def class_norms(self) -> np.ndarray:
        return self.prior_energies @ self.basis.energies

    @property
    def prior_energy(self) -> np.ndarray:
        return self.prior_energies.mean(axis=0)

    # -- after the noise ------------------------------------------------------------------

    @cached_property
    def basis(self) -> PointBasis:
        return PointBasis(self.axis)

    @property
    def bins(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges of the bins of events and of censorings, in cells."""
        starts = np.array(self.starts)
        censored = starts[(starts >= CELLS) & (starts < 2 * CELLS)] - CELLS
        return np.append(starts[starts < CELLS], CELLS), np.append(censored, CELLS)

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        """The actuarial estimate of noisy shares at the edges of the cells: a hazard for each bin of events.

        Censorings are spread evenly over their bins. Under add-remove shares add up to the number of records.
        """
        events, censored = self.bins
        count = events.size - 1
        total = np.ones(noisy.shape[:-1]) if not self.count_is_private else np.maximum(noisy.sum(axis=-1), 1 / self.n)
        lost = np.apply_along_axis(np.cumsum, -1, np.maximum(noisy[..., count:-1], 0.0))
        before = np.concatenate([np.zeros((*lost.shape[:-1], 1)), lost], axis=-1)
        place = np.searchsorted(censored, events, side="right") - 1
        place = np.minimum(place, censored.size - 2)
        part = (events - censored[place]) / np.diff(censored)[place]
        gone = before[..., place] + part * (before[..., place + 1] - before[..., place])
        fallen = np.maximum(noisy[..., :count], 0.0)
        had = np.concatenate([np.zeros((*fallen.shape[:-1], 1)), np.cumsum(fallen, axis=-1)[..., :-1]], axis=-1)
        at_risk = total[..., None] - had - (gone[..., :-1] + gone[..., 1:]) / 2
        share = np.clip(fallen / np.maximum(at_risk, 1 / self.n), 0.0, 1 - 1 / (2 * self.n))
        hazard = np.cumsum(-np.log1p(-share), axis=-1)
        hazard = np.concatenate([np.zeros((*hazard.shape[:-1], 1)), hazard], axis=-1)
        place = np.minimum(np.searchsorted(events, np.arange(CELLS + 1), side="right") - 1, count - 1)
        part = (np.arange(CELLS + 1) - events[place]) / np.diff(events)[place]
        values: np.ndarray = np.exp(-(hazard[..., place] + part * (hazard[..., place + 1] - hazard[..., place])))
        return values

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        """To first order, about the middle of the class."""
        middle = self.typical()
        step = 1e-4 * np.eye(self.size)
        slopes = (self.finish(middle + step, ()) - self.finish(middle - step, ())) / 2e-4
        values: np.ndarray = variance @ slopes**2
        return values

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        """Shares of all bins in the middle of the class: noise does not depend on what it is added to."""
        return np.add.reduceat(self.guesses[len(self.guesses) // 2], self.starts)


def cell_probabilities(survival: np.ndarray, censored: float) -> np.ndarray:
    """Probabilities of the cells, for survival at their edges and a constant hazard of censoring over the horizon."""
    hazard = -np.diff(np.log(np.maximum(survival, 1e-12)))
    lost = censored / hazard.size
    left = survival * np.exp(-lost * np.arange(survival.size))
    gone = -np.diff(left)
    share = hazard / (hazard + lost)
    return np.concatenate([gone * share, gone * (1 - share), left[-1:]])
