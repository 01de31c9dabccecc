"""How accurate a mean will be: risks over its class of curves, their range, and the verdict that follows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.methods import Auto, Staged
from dpfda.plans.accuracy import Accuracy, inner_range
from dpfda.plans.forecasts import MeanClass, round_errors, stage_errors
from dpfda.plans.rounds import Rounds
from dpfda.plans.verdict import Rate, verdict
from dpfda.problems.mean import MeanProblem
from dpfda.results.verdict import Verdict

if TYPE_CHECKING:
    from dpfda.plans.mean import MeanPlan

#: Where Auto takes at most so many components, a release is mostly noise whatever is guessed of the signal.
FEW_COMPONENTS = 4


class ForecastAccuracy(Accuracy):
    """Of a mean of curves, over a class of them: smooth and rough, with bounds that are right or too large."""

    plan: MeanPlan
    signal_name = "the mean's own variation about its level (root mean squares)"

    @cached_property
    def members(self) -> MeanClass | None:
        """The class of curves that risks are told over; None where a method has a problem of its own."""
        problem = self.plan.problem
        return MeanClass.of(problem, self.scale_is_known) if type(problem) is MeanProblem else None

    def risks_over(self, members: MeanClass) -> np.ndarray:
        """Squared errors of this plan for each member of a class: noise, bias, what is clipped and what is left out."""
        schedule, shrinks = self.plan.schedule, self.plan._shrinks
        if isinstance(schedule, Rounds):
            return round_errors(schedule, members, shrinks)
        return stage_errors(schedule.expected_stage, members, shrinks)

    @cached_property
    def _risks(self) -> np.ndarray:
        return self.plan.schedule.risks if self.members is None else self.risks_over(self.members)

    @cached_property
    def expected_risk(self) -> float:
        """Noise and bias as they are left after the last stage, typically over the class."""
        return self.plan.schedule.risk if self.members is None else self.members.typical(self._risks)

    @cached_property
    def risk_range(self) -> tuple[float, float]:
        return inner_range(self._risks)

    @cached_property
    def signal(self) -> float:
        return super().signal if self.members is None else float(np.sqrt(self.members.typical(self.members.signals)))

    @property
    def rated(self) -> tuple[float, str]:
        return super().rated[0], self.few_components

    def rated_over(self, members: MeanClass) -> tuple[float, str]:
        """The same for other members than the plan's own."""
        typical = members.typical(self.risks_over(members)) / members.typical(members.signals)
        return float(np.sqrt(typical)), self.few_components

    @cached_property
    def verdict(self) -> Verdict:
        members = self.members
        bound = None if members is None or self.finds_scale else self._rate_over(members)
        return verdict(self.plan, self.rated, self.signal_name, self.rate, bound)

    def verdict_for(self, guess: ArrayLike) -> Verdict:
        """The verdict for a mean that is publicly guessed: a curve on the grid."""
        if self.members is None:
            raise ParameterError("a guess is judged where curves are", repr(self.plan.method), "Leave method out.")
        values = np.asarray(guess, dtype=float).ravel()
        if values.shape != (self.plan.grid.size,) or not np.isfinite(values).all():
            raise ParameterError(
                f"a guess has one finite value for each of {self.plan.grid.size} grid points",
                f"shape {np.shape(guess)}",
                "Evaluate it on plan.grid.points.",
            )
        members = MeanClass.about(self.plan.problem, values)
        rate = self._rate_over(members)
        return verdict(self.plan, self.rated_over(members), self.signal_name, rate, None if self.finds_scale else rate)

    def _rate_over(self, members: MeanClass) -> Rate:
        """Rates the plan with other facts, for these curves."""
        return lambda **facts: self.plan._varied(**facts).accuracy.rated_over(members)

    # -- what the plan knows ---------------------------------------------------------------

    @property
    def scale_is_known(self) -> bool:
        """Whether curves are about as large as the bound: a spread is given, or they are standardised."""
        return self.plan.standardize or getattr(self.plan.chosen, "spread", None) is not None

    @property
    def finds_scale(self) -> bool:
        """Whether a private radius is found first, so that a loose bound costs little."""
        return isinstance(self.plan.chosen, Staged) and self.plan.chosen.radius is not None

    @property
    def few_components(self) -> str:
        """Where Auto itself takes hardly any components: so few that a release shows nothing but noise."""
        plan, schedule = self.plan, self.plan.schedule
        stage, size = (
            schedule.opening(plan.problem) if isinstance(schedule, Rounds) else schedule.first,
            plan.basis.size,
        )
        count = sum(part.where.size for part in stage.parts if part.where.max() < size)
        if not isinstance(plan.method, Auto) or count > FEW_COMPONENTS or count >= size:
            return ""
        return f"{count} components are all that Auto can release"
