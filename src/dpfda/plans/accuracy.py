"""How accurate a release will be: known before data, because noise, filters and priors are public."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.checks import check_choice
from dpfda.core.errors import ParameterError, shown
from dpfda.results.postprocess import Band, band_half_width, pointwise_sd, some_points

if TYPE_CHECKING:
    from dpfda.plans.base import Plan


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

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """Standard deviation of the noise at points `t` (default: the grid)."""
        return pointwise_sd(self.plan.schedule.expected_stage, self.plan.problem.grid.points if t is None else t)

    @cached_property
    def typical_sd(self) -> float:
        """The noise's standard deviation at a typical point."""
        return float(np.median(self.pointwise_sd(some_points(self.plan.problem.grid.points))))

    def band(self, level: float = 0.95) -> Band:
        """Simultaneous noise band about zero, before any data: how wide the released band will be."""
        points, stage = self.plan.problem.grid.points, self.plan.schedule.expected_stage
        width = band_half_width(stage, level, points, stage.problem.typical())
        return Band(points, -width, width, level)

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

        def meets(value: float) -> bool:
            changed: Any = value if vary == "epsilon" else round(value)
            varied = replace(self.plan, **{vary: changed})
            return float(getattr(varied.accuracy, f"expected_{measure}")) <= float(target)

        return _smallest(meets, float(target), vary)


def _smallest(meets: Callable[[float], bool], target: float, vary: str) -> float | int:
    ladder = np.geomspace(1e-4, 1e4, 65) if vary == "epsilon" else np.geomspace(2, 1e9, 70)
    rung = len(ladder) - 1
    while rung >= 0 and meets(float(ladder[rung])):
        rung -= 1
    if rung == len(ladder) - 1:
        raise ParameterError(
            f"target must be reachable by some {vary} up to {ladder[-1]:g}",
            target,
            "What noise does not decide (bias, sampling) may exceed it: raise the target, or measure='error'.",
        )
    if rung < 0:
        return float(ladder[0]) if vary == "epsilon" else 2
    low, high = float(ladder[rung]), float(ladder[rung + 1])
    while high / low > 1 + 1e-6 and (vary == "epsilon" or round(high) - round(low) > 1):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high if vary == "epsilon" else round(high)
