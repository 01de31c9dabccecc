"""How accurate a release will be: known before data, because noise, filters and priors are public."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.checks import check_choice
from dpfda.core.errors import ParameterError, shown
from dpfda.methods import KNorm, Minimax
from dpfda.plans.density_problem import sketch_of
from dpfda.plans.solving import Errors, smallest
from dpfda.plans.verdict import OtherFacts, verdict
from dpfda.problems.stage import Stage, shrunk_errors, typical
from dpfda.results.bands import NOISE_ONLY, Band, band_half_width, pointwise_sd, some_points
from dpfda.results.verdict import Verdict

if TYPE_CHECKING:
    from dpfda.plans.base import Plan
    from dpfda.plans.covariance import CovariancePlan
    from dpfda.plans.density import DensityPlan
    from dpfda.plans.kernel import KernelPlan
    from dpfda.plans.survival import SurvivalPlan


class Accuracy:
    """How accurate the release of a plan will be. It depends on no data.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=508, epsilon=1.0, bound=dp.L2Ball(1.0), grid=48)
    >>> 0 < plan.accuracy.expected_risk < 0.02
    True
    """

    def __init__(self, plan: Plan[Any]):
        self.plan = plan

    @property
    def expected_error(self) -> float:
        """Expected squared L2 error of the noise alone."""
        return self.plan.schedule.expected_stage.error

    @cached_property
    def expected_risk(self) -> float:
        """Noise plus the filter's bias under the public guess (and the records' own variability where it is public)."""
        return self.plan.schedule.risk

    @cached_property
    def risk_range(self) -> tuple[float, float]:
        """From the 10 to the 90 % point of the risk over the plan's class: where an error should lie, mostly."""
        return inner_range(self.plan.schedule.risks)

    #: What an error is measured against by a verdict.
    signal_name = "the size of what is estimated"

    @cached_property
    def signal(self) -> float:
        """Root of the squared L2 size of what is to be seen (without what is public), typically over the class."""
        return float(np.sqrt(geometric_mean(self.plan.schedule.expected_stage.problem.class_norms)))

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the release will be clear, coarse or mostly noise, and what would make it better."""
        return verdict(self.plan, self.rated, self.signal_name, self.rate)

    def rate(self, **facts: Unpack[OtherFacts]) -> tuple[float, str]:
        """What the same plan with other facts would be rated."""
        return self.plan._varied(**facts).accuracy.rated

    @property
    def rated(self) -> tuple[float, str]:
        """Root mean squared error over the signal, and why a release is mostly noise all the same, if it is."""
        return float(np.sqrt(self.expected_risk)) / self.signal, ""

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """Standard deviation of the noise at points `t` (default: the grid)."""
        return pointwise_sd(self.plan.schedule.expected_stage, self.plan.problem.grid.points if t is None else t)

    @cached_property
    def typical_sd(self) -> float:
        """The noise's standard deviation at a typical point."""
        return float(np.median(self.pointwise_sd(some_points(self.plan.problem.grid.points))))

    def noise_band(self, level: float = 0.95) -> Band:
        """Simultaneous noise band about zero, before any data: what the noise alone will do."""
        points, stage = self.plan.problem.grid.points, self.plan.schedule.expected_stage
        width = band_half_width(stage, level, points, stage.problem.typical())
        return Band(points, -width, width, level, NOISE_ONLY)

    def solve(
        self, target: float, vary: Literal["epsilon", "n"] = "epsilon", measure: Literal["risk", "error"] = "risk"
    ) -> float | int:
        """The smallest epsilon (or n) from which on the expected `measure` stays at or below `target`.

        `measure` is "risk" (noise plus prior bias) or "error" (noise alone). The method stays;
        its parameters that were left to selection are selected again at every step.
        """
        check_choice("vary", vary, ("epsilon", "n"))
        check_choice("measure", measure, ("risk", "error"))
        if not (isinstance(target, int | float | np.number) and 0 < target < np.inf):
            raise ParameterError("target must be a positive squared error", shown(target), "Pass target=0.01.")

        def error(value: float) -> float:
            changed: Any = value if vary == "epsilon" else round(value)
            return float(getattr(replace(self.plan, **{vary: changed}).accuracy, f"expected_{measure}"))

        own = float(getattr(self.plan, vary)), float(getattr(self, f"expected_{measure}"))
        return smallest(error, float(target), vary, own, self._rough_errors(vary, measure), measure == "error")

    def _rough_errors(self, vary: str, measure: str) -> Errors | None:
        """What errors nearly are at another epsilon or n, where plans take long to make."""
        return None


class HasAccuracy:
    """What plans say before data about how accurate their release will be."""

    #: What knows how accurate a release will be.
    _accuracy_kind: ClassVar[type[Accuracy]] = Accuracy

    @cached_property
    def accuracy(self) -> Accuracy:
        """How accurate the release will be: errors, bands, and what it would take to do better."""
        return self._accuracy_kind(cast("Plan[Any]", self))

    @property
    def expected_error(self) -> float:
        """Expected squared L2 error of the noise alone."""
        return self.accuracy.expected_error

    @property
    def expected_risk(self) -> float:
        """Expected squared error: noise, and the bias that the public guess lets expect."""
        return self.accuracy.expected_risk

    @property
    def risk_range(self) -> tuple[float, float]:
        """Where the squared error should lie, mostly: from the 10 to the 90 % point over the plan's class."""
        return self.accuracy.risk_range

    @property
    def verdict(self) -> Verdict:
        """Whether the release will be clear, coarse or mostly noise, and which n, epsilon or bound would do better."""
        return self.accuracy.verdict

    def solve(
        self, target: float, vary: Literal["epsilon", "n"] = "epsilon", measure: Literal["risk", "error"] = "risk"
    ) -> float | int:
        """The smallest epsilon (or n) from which on the expected error stays at or below `target`.

        Parameters
        ----------
        target : float
            The squared error to reach.
        vary : {"epsilon", "n"}
            What may change. Default: "epsilon".
        measure : {"risk", "error"}
            What is meant by error: noise and prior bias, or noise alone. Default: "risk".
        """
        return self.accuracy.solve(target, vary, measure)


class DensityAccuracy(Accuracy):
    """Of a density: what is to be seen is how it differs from the uniform one."""

    plan: DensityPlan
    signal_name = "the density's difference from the uniform one (root mean squares)"

    @cached_property
    def signal(self) -> float:
        return float(np.sqrt(geometric_mean(self.plan.problem.class_norms - 1 / self.plan.grid.volume)))

    def rate(self, **facts: Unpack[OtherFacts]) -> tuple[float, str]:
        """In the plane and in space nearly, by ball noise: to certify sensitivities anew would take too long."""
        if not self._takes_long:
            return super().rate(**facts)
        plan = self.plan
        records = facts.get("n", plan.n) / plan.n
        times = records * float(facts.get("epsilon", plan.epsilon) / plan.epsilon)
        return float(np.sqrt(self._sketched(records, times)[0])) / self.signal, ""

    def _rough_errors(self, vary: str, measure: str) -> Errors | None:
        if not self._takes_long:
            return None
        own, which = float(getattr(self.plan, vary)), ("risk", "error").index(measure)
        return lambda x: self._sketched(x / own if vary == "n" else 1.0, x / own)[which]

    @property
    def _takes_long(self) -> bool:
        return self.plan.dimension > 1 and isinstance(self.plan.method, KNorm | Minimax)

    def _sketched(self, records: float, times: float) -> tuple[float, float]:
        """The risk with so many times the records and n epsilon, by the best of the sketches, and its noise alone."""
        found = []
        for stage in self._sketches:
            problem, filter = stage.problem, stage.filter[: self.plan.basis.size]
            noise = problem.finish_variance(stage.variance) / times**2
            variance = noise + filter**2 * problem.sampling / records
            risk = typical(shrunk_errors(problem.prior_energies, filter, variance), problem.class_norms)
            found.append((risk, float(noise.sum())))
        return min(found)

    @cached_property
    def _sketches(self) -> list[Stage]:
        """Ball noise on 1, 2, 4, ... components, nearly."""
        problem = sketch_of(self.plan.problem)
        most = problem.basis.size - problem.n_public
        methods = [KNorm(2**k) for k in range(most.bit_length())]
        return [Stage(problem, method.calibrate(problem, self.plan.epsilon)) for method in methods]


class SurvivalAccuracy(Accuracy):
    """Of a survival curve: what is to be seen is how it differs from those that are publicly guessed."""

    plan: SurvivalPlan
    signal_name = "how survival curves of a public class differ from their average (root mean squares)"

    @cached_property
    def signal(self) -> float:
        return float(np.sqrt(self.plan.problem.class_norms.mean()))


class KernelAccuracy(Accuracy):
    """Of a fitted function, as far as public guesses of it tell."""

    plan: KernelPlan
    signal_name = "the function itself, as it is publicly guessed (root mean squares)"

    @property
    def rated(self) -> tuple[float, str]:
        """Where a loss is minimised, at a typical point, with what the penalty takes away."""
        plan = self.plan
        if plan.way is not None:  # differences of densities are shrunk
            stage, size = plan.stage, plan.basis.size
            guess = stage.problem.prior_energy[:size]
            left = shrunk_errors(guess[None], stage.filter[:size], stage.variance[:size])
            return float(np.sqrt(left[0] / guess.sum())), ""
        return float(np.sqrt(plan.risk_at_a_point / plan.guessed_signal)), ""


class CovarianceAccuracy(Accuracy):
    """Of a covariance, over the public class of covariances."""

    plan: CovariancePlan
    signal_name = "the covariance itself (root mean squares)"


#: The range of risks that is told, as points of the class.
INNER = (0.1, 0.9)


def inner_range(risks: np.ndarray) -> tuple[float, float]:
    """From the 10 to the 90 % point."""
    low, high = np.quantile(risks, INNER)
    return float(low), float(high)


def geometric_mean(values: np.ndarray) -> float:
    """What is typical of positive numbers of all sizes.

    >>> round(geometric_mean(np.array([0.01, 1.0])), 9)
    0.1
    """
    return float(np.exp(np.log(np.maximum(values, 1e-300)).mean()))
