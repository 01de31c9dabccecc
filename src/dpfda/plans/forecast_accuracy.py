"""How accurate a mean will be: risks over its class of curves, their range, and the verdict that follows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpfda.bounds.bodies import L2Ball
from dpfda.bounds.units import root_length
from dpfda.core.errors import ParameterError
from dpfda.methods import Auto, Staged
from dpfda.plans.accuracy import Accuracy, inner_range
from dpfda.plans.bound_fit import BoundFit, Guess, GuessedCurves, bound_fit
from dpfda.plans.forecasts import MeanClass, round_errors, stage_errors
from dpfda.plans.rounds import Rounds
from dpfda.plans.verdict import Rate, verdict
from dpfda.problems.mean import MeanProblem
from dpfda.results.verdict import Verdict

if TYPE_CHECKING:
    from dpfda.plans.mean import MeanPlan

#: Where Auto takes at most so many components, a release is mostly noise whatever is guessed of the signal.
FEW_COMPONENTS = 4
#: A ball of this many times the size of guessed curves holds nearly all of them.
HELD = 1.5


class ForecastAccuracy(Accuracy):
    """Of a mean of curves, over a class of them: smooth and rough, with bounds that are right or too large."""

    plan: MeanPlan
    signal_name = "a typical mean's variation about its level (root mean squares)"

    @cached_property
    def members(self) -> MeanClass | None:
        """The class of curves that risks are told over; None where a method has a problem of its own."""
        problem = self.plan.problem
        if type(problem) is not MeanProblem:
            return None
        members = MeanClass.of(problem, self.scale_is_known)
        return members if self._spread is None else members.straying(self._spread)

    @property
    def _spread(self) -> float | None:
        """The public radius that holds curves about their mean, where one is given."""
        method = self.plan.method
        return method.spread if isinstance(method, Auto | Staged) else None

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

    def rated_over(self, members: MeanClass, size: float | None = None) -> tuple[float, str]:
        """The same for other members than the plan's own; where errors are compared with a size, by that."""
        signal = members.typical(members.signals) if size is None else size**2
        return float(np.sqrt(members.typical(self.risks_over(members)) / signal)), self.few_components

    @cached_property
    def verdict(self) -> Verdict:
        members = self.members
        fixed = self.finds_scale or self.plan.of is not None  # another bound would not help, or cannot be had
        bound = None if members is None or fixed else self._rate_over(members)
        return verdict(self.plan, self.rated, self.signal_name, self.rate, bound)

    def verdict_for(self, guess: Guess) -> Verdict:
        """The verdict for curves that are publicly guessed: their mean, their level or their range."""
        if self.members is None:
            raise ParameterError("a guess is judged where curves are", repr(self.plan.method), "Leave method out.")
        curves = GuessedCurves.of(guess, self.plan.bound, self.plan.grid)
        a_curve = not curves.size_name
        values = np.asarray(guess, dtype=float).ravel() if a_curve else curves.center + curves.size_about
        members = MeanClass.about(self.plan.problem, values, self._spread)
        size = None if a_curve else curves.size * root_length(self.plan.grid)
        rate, name = self._rate_over(members, size), curves.size_name or self.signal_name
        fit, rated = self.bound_fit(guess, members), self.rated_over(members, size)
        fixed = self.finds_scale or self.plan.of is not None
        return verdict(self.plan, rated, name, rate, None if fixed else rate, fit.sentence if fit else "")

    def bound_fit(self, guess: Guess, members: MeanClass) -> BoundFit | None:
        """Whether the bound suits the guess, and what a loose one costs; None where curves are bounded otherwise."""
        plan = self.plan
        if type(plan.bound) is not L2Ball or plan.standardize or plan.of is not None:
            return None

        def cost_over(ball: L2Ball) -> float:
            ball = L2Ball(max(ball.radius, HELD * float(members.sizes.max())), ball.center)
            fitting = members.typical(plan._varied(bound=ball).accuracy.risks_over(members))
            return float(np.sqrt(members.typical(self.risks_over(members)) / fitting))

        return bound_fit(guess, plan.bound, plan.grid, cost_over)

    def _rate_over(self, members: MeanClass, size: float | None = None) -> Rate:
        """Rates the plan with other facts, for these curves."""
        return lambda **facts: self.plan._varied(**facts).accuracy.rated_over(members, size)

    # -- what the plan knows ---------------------------------------------------------------

    @property
    def scale_is_known(self) -> bool:
        """Whether curves are about as large as the bound: a spread is given, or it is that of what is made of them."""
        public = self.plan.standardize or self.plan.of is not None
        return public or getattr(self.plan.chosen, "spread", None) is not None

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
