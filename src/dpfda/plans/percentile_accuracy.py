"""How accurate percentile curves will be, before data: by the noise that is known, for curves that are imagined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.loops import one_blas_thread
from dpfda.core.errors import ParameterError
from dpfda.plans.accuracy import Accuracy, geometric_mean
from dpfda.problems.stage import typical
from dpfda.results.bands import Band
from dpfda.results.percentile_bands import expected_errors
from dpfda.results.quantile_fit import first_table, imagined
from dpfda.results.quantile_model import Observed
from dpfda.results.wording import AccuracyWords, Rows, number

if TYPE_CHECKING:
    from dpfda.plans.percentiles import PercentilePlan

#: Curves that are imagined: about this share of the range, with these standard deviations of it, most ranges being
#: several times as wide as what they hold.
LOCATION, SPREADS = 0.4, (0.04, 0.08, 0.16)
#: Cells of the range that suffice for it.
CELLS = 64
#: The mean absolute size of a normal error, over its standard deviation.
ABSOLUTE = math.sqrt(2 / math.pi)
#: What the expected risk counts.
RISK = "noise, sampling and smoothing, over curves that spread over a tenth to a half of the range"


class PercentileAccuracy(Accuracy):
    """Of percentile curves: squared errors are integrated over time and averaged over the levels that are shown."""

    plan: PercentilePlan
    signal_name = "how much curves spread (their standard deviation)"

    @cached_property
    def _errors(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Squared errors at all levels and times in units of the curves, and of the noise alone: for each spread."""
        plan, schedule = self.plan, self.plan.schedule
        width = plan.range.high - plan.range.low
        stages = schedule.waves
        tables = [first_table(plan.grid.size, CELLS)]
        found = []
        for spread in SPREADS:
            seen: list[Observed] = []
            for stage in stages:
                table = (
                    imagined(seen, schedule.time, schedule.shares, LOCATION, spread).next_table(CELLS)
                    if seen
                    else tables[0]
                )
                quiet = schedule.observed(stage, np.zeros(stage.problem.size))
                seen.append(Observed(table, quiet.functions, quiet.means, quiet.variance))
            surface = imagined(seen, schedule.time, schedule.shares, LOCATION, spread)
            with one_blas_thread():
                whole, noise = expected_errors(surface, np.array(plan.levels), plan.n)
            found.append((width**2 * whole, width**2 * noise))
        return found

    def _integrated(self, errors: np.ndarray) -> float:
        return float(errors.mean(axis=0) @ self.plan.grid.weights)

    @cached_property
    def risks(self) -> np.ndarray:
        """Expected squared L2 error for each of the imagined spreads."""
        return np.array([self._integrated(whole) for whole, _ in self._errors])

    @cached_property
    def expected_error(self) -> float:
        """Expected squared L2 error that the noise alone makes, averaged over levels."""
        return typical(np.array([self._integrated(noise) for _, noise in self._errors]), self._sizes)

    @cached_property
    def expected_risk(self) -> float:
        """Expected squared L2 error in all, averaged over levels."""
        return typical(self.risks, self._sizes)

    @cached_property
    def risk_range(self) -> tuple[float, float]:
        return float(self.risks.min()), float(self.risks.max())

    @property
    def _sizes(self) -> np.ndarray:
        """Squared L2 sizes of how much the imagined curves spread."""
        width = self.plan.range.high - self.plan.range.low
        return np.asarray((width * np.array(SPREADS)) ** 2 * self.plan.grid.weights.sum())

    @cached_property
    def signal(self) -> float:
        return float(np.sqrt(geometric_mean(self._sizes)))

    @cached_property
    def typical_error(self) -> float:
        """Expected absolute error at a typical level and time, in the units of the curves."""
        return ABSOLUTE * math.sqrt(self.expected_risk / float(self.plan.grid.weights.sum()))

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """Standard deviations that the noise alone makes, one row per level, at points `t` (default: the grid)."""
        sd = np.sqrt(np.exp(np.mean([np.log(np.maximum(noise, 1e-300)) for _, noise in self._errors], axis=0)))
        if t is None:
            return np.asarray(sd)
        points = self.plan.basis.points(t)
        return np.array([np.interp(points, self.plan.grid.points, row) for row in sd])

    @cached_property
    def typical_sd(self) -> float:
        return float(np.median(self.pointwise_sd()))

    def noise_band(self, level: float = 0.95) -> Band:
        """Percentiles are fitted: what noise does to them is in the band of a release."""
        raise ParameterError("percentiles are fitted to noisy numbers", "a band of noise", "Use pointwise_sd().")


@dataclass(frozen=True)
class PercentileWords(AccuracyWords):
    """How accurate percentile curves will be, in the units of the curves."""

    plan: Any
    risk: str = RISK

    @property
    def rows(self) -> Rows:
        plan = self.plan
        low, high = (self._absolute(risk) for risk in plan.risk_range)
        between = f"from {number(low)} to {number(high)}"
        return (
            ("expected error", f"{number(plan.expected_error)} (noise only, squared L2, on average over levels)"),
            ("expected risk", f"{number(plan.expected_risk)} ({self.risk})"),
            ("typical error", f"{number(plan.accuracy.typical_error)} in the units of the curves, mostly {between}"),
            ("verdict", plan.verdict.told),
        )

    @property
    def brief_risk(self) -> str:
        return f"{super().brief_risk} ({self._typical})"

    @property
    def brief_error(self) -> str:
        return self._typical

    @property
    def _typical(self) -> str:
        return f"typical error {number(self.plan.accuracy.typical_error)} in the units of the curves"

    def _absolute(self, risk: float) -> float:
        return ABSOLUTE * math.sqrt(risk / float(self.plan.grid.weights.sum()))

    @property
    def sentence(self) -> str:
        plan = self.plan
        low, high = (self._absolute(risk) for risk in plan.risk_range)
        return (
            f"A percentile is expected to be off by {number(plan.accuracy.typical_error)} in the units of the curves, "
            f"on average over levels and times ({self.risk}): from {number(low)} where curves lie close together to "
            f"{number(high)} where they spread widely. {plan.verdict.told} These figures depend on no data."
        )
