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

from dpfda.core.codec import frozen_array
from dpfda.core.errors import ParameterError, shown
from dpfda.engines import Declared, Summary
from dpfda.engines.summarize import NOTHING
from dpfda.engines.task import Labels
from dpfda.plans import guided
from dpfda.plans.accuracy import Accuracy
from dpfda.plans.base import Plan, R
from dpfda.plans.forecast import Forecast
from dpfda.plans.guided_schedule import GuidedSchedule
from dpfda.plans.moment_schedule import MomentSchedule
from dpfda.plans.settled import SECOND, Guided, Moments
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


class MomentAccuracy(Accuracy):
    """Of predictions, as far as public guesses of the signal tell."""

    plan: MomentPlan[Any]
    signal_name = "what predictions should differ by from the public centre (root mean squares)"

    @cached_property
    def signal(self) -> float:
        return float(np.sqrt(self.plan.forecast.signal))

    @cached_property
    def risk_range(self) -> tuple[float, float]:
        """There is one guess: the risk itself, twice."""
        return self.expected_risk, self.expected_risk

    @property
    def expected_error(self) -> float:
        """Expected squared error of predictions by noise, as far as public guesses tell."""
        chosen = self.plan.chosen
        if isinstance(chosen, Guided):
            chosen = chosen if chosen.moments is None else chosen.moments
        return self.expected_risk - self.plan.forecast.missed(max(chosen.components, chosen.refined))

    @cached_property
    def expected_risk(self) -> float:
        return self.moment_risk()

    def moment_risk(self) -> float:
        """Of the moments, by the way that was chosen."""
        chosen = self.plan.chosen
        return guided.expected_risk(self.plan, chosen) if isinstance(chosen, Guided) else self.plan.risk_of(chosen)


class MomentPlan(Plan[R]):
    """A regression by moments. Subclasses say what design, response and basis are."""

    split: float | None
    passes: int | None
    rule: int | None
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

    @abstractmethod
    def way(self, records: float) -> str:
        """How to go about it with so many records times epsilon: see :class:`Guided`."""

    @property
    def radius_is_public(self) -> bool:
        """Whether all responses have the same length by construction, so that there is no radius to be found."""
        return False

    @property
    def check_share(self) -> Fraction:
        """Share of the check for bands, of what the radius leaves; none where bands are of the noise only."""
        return Fraction(0)

    def _check_stages(self) -> None:
        if self.split is not None and (isinstance(self.split, bool) or not _between(self.split, 0, 1)):
            raise ParameterError(
                "split must lie strictly between 0 and 1", shown(self.split), "It is the first moment's share."
            )
        whole = isinstance(self.passes, int | np.integer) and not isinstance(self.passes, bool)
        if self.passes is not None and not (whole and self.passes in (1, 4)):
            raise ParameterError("passes must be 1 or 4", shown(self.passes), "Leave it out to have it chosen.")

    # -- what was settled -----------------------------------------------------------------------

    @cached_property
    def problem(self) -> MomentProblem:
        return MomentProblem(self.released_basis, self.design, self.response, self.n, self.neighbors, self.invalid)

    @cached_property
    def forecast(self) -> Forecast:
        """Expected errors, with the whole budget."""
        return self._forecast_for(Fraction(1))

    def _forecast_for(self, left: Fraction) -> Forecast:
        """For this share of epsilon, and responses up to the bound."""
        return Forecast(self.problem, self.smoothness, float(self.epsilon * left))

    @property
    def is_guided(self) -> bool:
        """Whether the radius of responses is found first: by default, unless passes or split are given."""
        return self.rule is not None and self.passes is None and self.split is None

    @cached_property
    def chosen(self) -> Any:
        """What was settled: by default as :mod:`dpfda.plans.guided` says, else one pass or four, as asked for."""
        return guided.settle(self) if self.is_guided else self.moments_for(Fraction(1))

    def moments_for(self, left: Fraction, passes: int | None = None) -> Moments:
        """One pass or four for this share of epsilon: as asked for, or whichever should predict better.

        Parameters
        ----------
        left : Fraction
            The share of epsilon that there is to spend.
        passes : int, optional
            1 or 4 readings of the data, where the plan does not say. Default: what predicts better.
        """
        one = self._settled(left)
        wanted = Fraction(ceil(100 * SIZE_NOISE / (self.n * float(self.epsilon * left))), 100)
        size = min(MOST_SIZE, max(LEAST_SIZE, wanted))
        four = min((self._settled(left, first, size) for first in FIRSTS), key=lambda s: self.risk_of(s, left))
        better = four if self.risk_of(four, left) < self.risk_of(one, left) else one
        return {None: better, 1: one, 4: four}[self.passes or passes]

    def _settled(self, left: Fraction, first: Fraction = Fraction(1), size: Fraction = Fraction(0)) -> Moments:
        """Components and split for these shares of the first two stages; without shares, for a single pass."""
        share, forecast = float(first), self._forecast_for(left)
        split = forecast.split(share) if self.split is None else float(self.split)
        count = forecast.components(share * split, share * (1 - split))
        if first == 1:
            return Moments(count, 0, split, 1)
        rough = forecast.rough(count, share * split, share * (1 - split))
        last = float(1 - first - size - SECOND)
        return Moments(count, forecast.refined_components(last, rough, share * split), split, 4, first, size)

    def risk_of(self, settled: Moments, left: Fraction = Fraction(1)) -> float:
        """Expected squared error of predictions, if this is settled for this share of epsilon.

        Parameters
        ----------
        settled : Moments
            Components, shares and number of passes.
        left : Fraction
            The share of epsilon that there is to spend. Default: all of it.
        """
        first, forecast = float(settled.first) * settled.split, self._forecast_for(left)
        rough = forecast.rough(settled.components, first, float(settled.first) - first)
        if settled.passes == 1:
            return rough
        return forecast.refined(settled.refined, float(settled.last), rough, first)

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
    def schedule(self) -> MomentSchedule | GuidedSchedule:
        chosen = self.chosen
        return GuidedSchedule(self, chosen) if isinstance(chosen, Guided) else MomentSchedule(self, chosen)

    def postprocessed(self, release: R) -> R:
        """Shrunk by Bayes, where that is how the plan goes about it.

        Parameters
        ----------
        release : Release
            A release of this plan.
        """
        if not isinstance(self.schedule, GuidedSchedule) or self.chosen.moments is not None:
            return release
        drawn: Any = release
        found = frozen_array(self.schedule.shrunk(drawn.drawn))
        done: R = replace(drawn, coefficients=found, steps=("posterior mean",))
        return done

    def restored(self, internal: np.ndarray) -> np.ndarray:
        """Coefficients of the user's own inputs, curve after curve.

        Parameters
        ----------
        internal : array
            Coefficients of the inputs as the plan scales them, in the last two axes.
        """
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
    chosen, how, check = plan.chosen, "", ""
    if isinstance(chosen, Guided):
        how = f"{guided.words(chosen)} The data is read {chosen.passes} times."
        if chosen.moments is None:
            return how
        check = f" {guided.check_words(chosen)}" if chosen.check else ""
        chosen = chosen.moments
        of = "of what is left"
    else:
        of = "of epsilon"
    if chosen.passes == 1:
        return (
            f"{how} Then two moments are released, with what is left."
            if how
            else "The data is read once, for two moments."
        )
    start = f"{how} Then it is read" if how else "The data is read four times:"
    return (
        f"{start} for two moments ({chosen.first} {of}), the size of residuals ({chosen.size}), and twice the moments "
        f"of clipped residuals ({SECOND} and {chosen.last}).{check} These shares add up to epsilon."
    )
