"""The plan of a survival curve: times to an event, some of them censored, up to a public horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpfda.bounds.loops import one_blas_thread
from dpfda.core.checks import (
    INVALID,
    NEIGHBORS,
    Epsilon,
    Invalid,
    Neighbors,
    as_epsilon,
    check_choice,
    check_name,
    number_of_records,
)
from dpfda.core.codec import BESIDE
from dpfda.core.errors import ParameterError, shown
from dpfda.core.nouns import Nouns, a, check_record
from dpfda.methods import Auto, EventCounts, Method
from dpfda.plans.accuracy import Accuracy, SurvivalAccuracy
from dpfda.plans.base import Plan
from dpfda.plans.checks import CHOSEN, check_method
from dpfda.plans.guessed_kinds import SurvivalGuesses
from dpfda.plans.schedule import OneStage
from dpfda.plans.shares import Cost
from dpfda.plans.walks import recall
from dpfda.problems.stage import Stage
from dpfda.problems.survival import CELLS, SurvivalProblem
from dpfda.results.event_cells import NoisyEvents
from dpfda.results.hazards import Hazards, expected_variances, fitted
from dpfda.results.survival import SurvivalRelease
from dpfda.results.wording import AccuracyWords, Wording
from dpfda.spaces.grid import Grid
from dpfda.spaces.units import Unit, as_unit

#: Horizons that can be told from zero and from infinity in any unit of time.
SHORTEST, LONGEST = 1e-60, 1e60
#: What the expected risk counts.
RISK = "noise, sampling and what bins cannot tell, over a public class of survival curves"


class EventSchedule(OneStage):
    """One stage of noisy counts, which the release keeps: hazards are fitted to them."""

    keeps_draws: ClassVar[bool] = True

    def __init__(self, stage: Stage, method: EventCounts):
        super().__init__(stage)
        self.method = method
        self._fits: dict[bytes, Hazards] = {}

    @property
    def problem(self) -> SurvivalProblem:
        assert isinstance(self.stage.problem, SurvivalProblem)
        return self.stage.problem

    def noisy_events(self, drawn: Sequence[np.ndarray]) -> NoisyEvents:
        """What was drawn, as counts of records."""
        problem, counts = self.problem, drawn[0] * self.problem.n
        n = max(float(counts.sum()), 1.0) if problem.count_is_private else float(problem.n)
        scale = float(self.stage.parts[0].law.scales[0]) * problem.n
        return NoisyEvents(CELLS, np.array(problem.starts), counts, scale, n).coarser(self.method.cells)

    def hazards(self, drawn: Sequence[np.ndarray]) -> Hazards:
        """What is fitted to these draws: post-processing, public."""
        return recall(self._fits, drawn[0].tobytes(), lambda: self._fitted(drawn))

    def _fitted(self, drawn: Sequence[np.ndarray]) -> Hazards:
        with one_blas_thread():
            return fitted(self.noisy_events(drawn))

    @property
    def risk(self) -> float:
        """What is left of the class of survival curves, on average."""
        return float(self.risks.mean())

    @cached_property
    def risks(self) -> np.ndarray:
        """The same for each of them, after the fit."""
        problem, cells = self.problem, self.method.cells
        events = self.noisy_events([problem.typical()])
        joined = np.append(np.arange(0, 2 * CELLS, CELLS // cells), 2 * CELLS)
        variances = expected_variances(events, np.add.reduceat(problem.guesses, joined, axis=1))
        ends = np.linspace(0, 1, cells + 1)
        spread = np.array([np.interp(np.linspace(0, 1, CELLS + 1), ends, row) for row in variances])
        return np.asarray(np.minimum(spread, 0.25) @ problem.basis.energies)

    def costs(self, target: str) -> list[Cost]:
        """All of it goes to the counts."""
        return [Cost("counts of events and censorings", 1, self.stage.epsilon)]

    def explanation(self) -> str:
        """What is counted."""
        events, censored = (edges.size - 1 for edges in self.problem.bins)
        early = " (shorter ones at its start)" if self.method.early else ""
        return (
            f"The records are read once. Events are counted in {events} bins of the horizon{early}, censorings in "
            f"{censored}, and those who reached the horizon in one, with all of epsilon; smooth hazards are fitted to "
            f"the noisy counts."
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SurvivalPlan(Plan[SurvivalRelease]):
    """The plan of a private survival curve.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one. With a unit: how many units.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    horizon : float
        Up to when the curve is released: a public time, never read from data. Who is still there has reached it.
    method : Method, optional
        `EventCounts`, with the number of bins. Default: chosen from n and epsilon.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as censored at 0.
    unit : str or Unit, optional
        The column that says whose a record is: the guarantee is about all that one has, and they are averaged.
    axis : str, optional
        What time is called, with its unit in brackets: "time (days)".
    record : str, optional
        What one record is called, such as "home", or "person/people" for a plural of its own: a word for statements,
        kept in files and outside the digest.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or the plan could not be carried out.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.SurvivalPlan(n=2000, epsilon=1.0, horizon=900, axis="time (days)")
    >>> plan.verdict.word, dp.SurvivalPlan.from_json(plan.to_json()) == plan
    ('clear', True)
    """

    query: ClassVar[str] = "survival"
    _accuracy_kind: ClassVar[type[Accuracy]] = SurvivalAccuracy
    _guesses: ClassVar[SurvivalGuesses] = SurvivalGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            horizon: float,
            method: Method | None = None,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            unit: str | Unit | None = None,
            axis: str = "time",
            record: str | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    horizon: float
    method: Method = CHOSEN
    neighbors: str = "replace"
    invalid: str = "raise"
    unit: Unit | None = None
    axis: str = field(default="time")
    record: str | None = field(default=None, compare=False, metadata=BESIDE)

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        check_record(self.record)
        put("epsilon", as_epsilon(self.epsilon))
        put("n", number_of_records(self.n, "The survival of one person is that person's; privacy needs company."))
        put("horizon", as_horizon(self.horizon))
        put("unit", as_unit(self.unit))
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        check_choice("invalid", self.invalid, INVALID)
        check_name("names of axes", self.axis)
        check_method(self.method)
        if isinstance(self.method, Auto):
            self.method.check_plain("a survival curve")
            put("method", None)
        if self.method is None:
            put("method", EventCounts())
        if not isinstance(self.method, EventCounts):
            raise ParameterError(
                "a survival curve is made of counts of events", shown(self.method), "Leave method out."
            )
        self.stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

    @property
    def release_type(self) -> type[SurvivalRelease]:
        return SurvivalRelease

    @cached_property
    def grid(self) -> Grid:
        """Edges of the cells."""
        name, _, unit = self.axis.partition("(")
        return Grid.uniform(0.0, self.horizon, CELLS + 1, name=name.strip() or "time", unit=unit.strip(" )"))

    @cached_property
    def chosen(self) -> EventCounts:
        """The method with its numbers of bins."""
        assert isinstance(self.method, EventCounts)
        return self.method.resolved(self._problem((0,)), self.epsilon)

    @cached_property
    def problem(self) -> SurvivalProblem:
        return self._problem(self.chosen.starts)

    def _problem(self, starts: tuple[int, ...]) -> SurvivalProblem:
        return SurvivalProblem(self.grid, self.n, starts, self.neighbors, self.invalid, self.unit)

    @cached_property
    def schedule(self) -> EventSchedule:
        return EventSchedule(self._calibrated(), self.chosen)

    def postprocessed(self, release: SurvivalRelease) -> SurvivalRelease:
        return release.fitted()

    @property
    def wording(self) -> Wording:
        nouns = Nouns.of("record", self.record, None if self.unit is None else self.unit.name, "time")
        unit = () if self.unit is None else (("unit", self._unit_words(nouns.record)),)
        return Wording(
            noun="curve",
            release="survival curve",
            nouns=nouns,
            target="survival curve",
            assumption=(
                f"Each record is a time and whether the event came then. It is placed in one of {2 * CELLS + 1} public "
                f"cells before it is used: of events, of censorings, or of those who reached the horizon "
                f"({self.horizon:g}); a later time has reached it. The guarantee holds whatever the data is; only "
                f"accuracy depends on the horizon being a good one."
                + (
                    ""
                    if self.unit is None
                    else f" {a(nouns.record, opening=True)} contributes once: {self._unit_words(nouns.record)}."
                )
            ),
            unusable="counts as censored at 0",
            rows=(
                ("horizon", f"[0, {self.horizon:g}], {self.axis}"),
                ("sensitivity", "exact: a record is in one bin"),
                *unit,
            ),
            method=repr(self.chosen),
            numbers=f"{self.problem.size} counts",
            accuracy=AccuracyWords(self, float(np.sqrt(self.horizon)), "a probability of one throughout", RISK),
            passes=self.schedule.explanation(),
        )

    def _unit_words(self, noun: str) -> str:
        assert self.unit is not None
        return (
            self.unit.described(noun).replace("curves", "times").replace("averaged into one", "counted by their shares")
        )


def as_horizon(horizon: object) -> float:
    """A public time up to which a curve is released."""
    cure = "Pass horizon=900, say, in the unit of the times: it is public, and never read from the data."
    if horizon is None:
        raise ParameterError("a survival curve needs a public horizon", "none", cure)
    if isinstance(horizon, bool) or not isinstance(horizon, int | float | np.integer | np.floating):
        raise ParameterError("horizon must be a positive finite time", shown(horizon), cure)
    if not SHORTEST <= float(horizon) <= LONGEST:
        raise ParameterError("horizon must be a positive finite time", shown(horizon), cure)
    return float(horizon)
