"""Plans of regressions by released moments: what a function-on-scalar and a kernel regression share.

One stage releases both moments. Where the rough answer can be trusted to predict (a public rule), three more
stages follow: the size of residuals, and twice the moments of residuals clipped to it. Shares of the budget
add up (derivations: regression).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, shown
from dpfda.engines import Declared, Summary
from dpfda.engines.summarize import NOTHING
from dpfda.engines.task import Labels
from dpfda.plans.accuracy import Accuracy
from dpfda.plans.base import Plan, R
from dpfda.plans.forecast import Forecast
from dpfda.plans.moment_schedule import SECOND, MomentSchedule
from dpfda.problems.design import Design, Response
from dpfda.problems.moments import MomentProblem
from dpfda.reading.curves import Records
from dpfda.release.passes import FromRecords, Passes
from dpfda.spaces.basis import Eigenbasis

#: Shares of the budget with four stages: both moments (one of these), the size of residuals, their moments; the rest
#: is for the moments of what is then left.
FIRSTS = (Fraction(3, 25), Fraction(1, 5), Fraction(3, 10))
#: The size of residuals gets what brings the noise of a cumulative count down to a few percent of the records.
SIZE_NOISE, LEAST_SIZE, MOST_SIZE = 1000.0, Fraction(1, 50), Fraction(1, 5)
#: What the expected risk counts.
RISK = "noise and truncation, under a public guess of the signal"


@dataclass(frozen=True, eq=False)
class Moments(Fact):
    """What was settled before data: functions in each stage, the first moment's share, and the passes over the data."""

    components: int
    refined: int
    split: float
    passes: int
    first: Fraction = Fraction(1)
    size: Fraction = Fraction(0)

    @property
    def last(self) -> Fraction:
        """What is left for the last stage."""
        return 1 - self.first - self.size - SECOND


class MomentAccuracy(Accuracy):
    """Of predictions, as far as public guesses of the signal tell."""

    plan: MomentPlan[Any]

    @property
    def expected_error(self) -> float:
        """Expected squared error of predictions by noise, as far as public guesses tell."""
        chosen = self.plan.chosen
        return self.expected_risk - self.plan.forecast.missed(max(chosen.components, chosen.refined))

    @cached_property
    def expected_risk(self) -> float:
        return self.plan.risk_of(self.plan.chosen)


class MomentPlan(Plan[R]):
    """A regression by moments. Subclasses say what design, response and basis are."""

    split: float | None
    passes: int | None
    neighbors: str
    invalid: str

    # -- said by subclasses -------------------------------------------------------------------

    @cached_property
    @abstractmethod
    def design(self) -> Design: ...

    @cached_property
    @abstractmethod
    def response(self) -> Response: ...

    @cached_property
    @abstractmethod
    def released_basis(self) -> Eigenbasis:
        """Where the released coefficients live: one row of the response's functions per entry of the design."""

    @property
    @abstractmethod
    def smoothness(self) -> np.ndarray:
        """How the signal's squared size is spread over the response's functions: a public guess, summing to one."""

    def _check_stages(self) -> None:
        if self.split is not None and (isinstance(self.split, bool) or not _between(self.split, 0, 1)):
            raise ParameterError(
                "split must lie strictly between 0 and 1", shown(self.split), "It is the first moment's share."
            )
        if self.passes is not None and (isinstance(self.passes, bool) or self.passes not in (1, 4)):
            raise ParameterError("passes must be 1 or 4", shown(self.passes), "Leave it out to have it chosen.")

    # -- what was settled -----------------------------------------------------------------------

    @cached_property
    def problem(self) -> MomentProblem:
        return MomentProblem(self.released_basis, self.design, self.response, self.n, self.neighbors, self.invalid)

    @cached_property
    def forecast(self) -> Forecast:
        return Forecast(self.problem, self.smoothness, float(self.epsilon))

    @cached_property
    def chosen(self) -> Any:
        """One pass or four, whichever should predict better."""
        one = self._settled()
        wanted = Fraction(ceil(100 * SIZE_NOISE / (self.n * float(self.epsilon))), 100)
        size = min(MOST_SIZE, max(LEAST_SIZE, wanted))
        four = min((self._settled(first, size) for first in FIRSTS), key=self.risk_of)
        better = four if self.risk_of(four) < self.risk_of(one) else one
        return {None: better, 1: one, 4: four}[self.passes]

    def _settled(self, first: Fraction = Fraction(1), size: Fraction = Fraction(0)) -> Moments:
        """Components and split for these shares of the first two stages; without shares, for a single pass."""
        share = float(first)
        split = self.forecast.split(share) if self.split is None else float(self.split)
        count = self.forecast.components(share * split, share * (1 - split))
        if first == 1:
            return Moments(count, 0, split, 1)
        rough = self.forecast.rough(count, share * split, share * (1 - split))
        last = float(1 - first - size - SECOND)
        return Moments(count, self.forecast.refined_components(last, rough, share * split), split, 4, first, size)

    def risk_of(self, settled: Moments) -> float:
        """Expected squared error of predictions, if this is settled."""
        first = float(settled.first) * settled.split
        rough = self.forecast.rough(settled.components, first, float(settled.first) - first)
        if settled.passes == 1:
            return rough
        return self.forecast.refined(settled.refined, float(settled.last), rough, first)

    def _passes_of_release(self, records: Records, units: Labels, declared: Declared) -> Passes:
        """As for any plan; an array in memory is encoded once for all passes."""
        data = super()._passes_of_release(records, units, declared)
        if not isinstance(data, FromRecords) or data.units is not None or data.declared != NOTHING:
            return data
        rows, width = data.curves.data, self.problem.width
        if not (type(rows) is np.ndarray and rows.ndim == 2 and rows.dtype.kind == "f" and rows.shape[1] == width):
            return data
        return FromCodedRecords(data.curves, code=self.problem.code)

    @cached_property
    def accuracy(self) -> Accuracy:
        return MomentAccuracy(self)

    @property
    def delta(self) -> Fraction:
        return Fraction(0)

    @cached_property
    def shares(self) -> tuple[Fraction, Fraction]:
        """Budgets of the two moments in the first stage."""
        whole = self.epsilon * self.chosen.first
        first = whole * Fraction(str(self.chosen.split))
        return first, whole - first

    @cached_property
    def schedule(self) -> MomentSchedule:
        return MomentSchedule(self)

    def restored(self, internal: np.ndarray) -> np.ndarray:
        """Coefficients of the user's own inputs, curve after curve."""
        whole = self.design.restoring @ internal
        values: np.ndarray = whole.reshape(*whole.shape[:-2], -1)
        return values


@dataclass(frozen=True, eq=False)
class FromCodedRecords(FromRecords):
    """Records of an array in memory, encoded once for all passes, when the first of them reads."""

    code: Callable[[np.ndarray], np.ndarray] = field(kw_only=True)

    @cached_property
    def _coded(self) -> FromRecords:
        with np.errstate(all="ignore"):  # warnings of a cast would tell of values
            coded = self.code(np.asarray(self.curves.data, dtype=float))
        return FromRecords(replace(self.curves, data=coded))

    def read(self, problems: Mapping[str, Any], max_records: Mapping[str, int]) -> Mapping[str, Summary]:
        coded = {name: replace(problem, coded=True) for name, problem in problems.items()}
        return self._coded.read(coded, max_records)


def _between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float | np.number) and low < float(value) < high


def stage_words(plan: MomentPlan[Any]) -> str:
    """How often the data is read, and for what share of the budget each time."""
    if plan.chosen.passes == 1:
        return "The data is read once, for two moments."
    return (
        f"The data is read four times: for two moments ({plan.chosen.first} of epsilon), the size of residuals "
        f"({plan.chosen.size}), and twice the moments of clipped residuals ({SECOND} and {plan.chosen.last}); these "
        f"shares add up to epsilon."
    )
