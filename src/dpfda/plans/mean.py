"""The plan of a mean curve or surface."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpfda import results
from dpfda.bounds.bodies import Bound
from dpfda.core.checks import check_choice
from dpfda.core.codec import LATER
from dpfda.methods import Auto, Method, Select, Staged
from dpfda.methods.outlook import shape_of
from dpfda.noise import Ball
from dpfda.plans.base import Plan
from dpfda.plans.curves import alignment_of, check_alignment, check_curves, curve_words, record_noun, with_words
from dpfda.plans.rounds import Rounds
from dpfda.plans.selected import Selected
from dpfda.problems.mean import MeanProblem
from dpfda.results import statements
from dpfda.results.postprocess import Band
from dpfda.spaces.alignment import Align, Unit
from dpfda.spaces.components import ComponentGrid
from dpfda.spaces.grid import Grid, ProductGrid
from dpfda.spaces.kernels import Kernel

#: Components beyond this many never pay at any budget the lattice can hold.
MOST_COMPONENTS = 1024
#: Entries of the matrix from grid to coefficients: half a gigabyte.
MOST_ENTRIES = 2**26


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeanPlan(Plan):
    """The plan of a private mean curve.

    `kernel` None is Matern 3/2 with a tenth of the domain as length scale; `method` None is ``Auto()``. Unless
    `postprocess` is False, ball noise is shrunk after the release by its known law, which cannot make the expected
    error larger.

    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=508, epsilon=1.0, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 48))
    >>> plan.expected_error < plan.expected_risk < 0.02
    True
    >>> dp.MeanPlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "mean"
    one_pass: ClassVar[str] = "plan with method=dp.Auto(passes=1)"
    n: int
    epsilon: Fraction
    bound: Bound
    grid: Grid | ProductGrid
    kernel: Kernel = None  # type: ignore[assignment]
    method: Method = None  # type: ignore[assignment]
    neighbors: str = "replace"
    invalid: str = "raise"
    standardize: bool = False
    fill: int | None = None
    postprocess: bool = True
    unit: Unit | None = field(default=None, metadata=LATER)
    align: Align | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        check_curves(self, Bound, "A mean of one curve is that curve; privacy needs company.")
        check_alignment(self)
        check_choice("postprocess", self.postprocess, (True, False))
        if self.method is None:
            object.__setattr__(self, "method", Auto())
        self.expected_stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

    @cached_property
    def problem(self) -> MeanProblem:
        basis = self.kernel.basis(self.grid)
        problem = MeanProblem(
            basis.first(self.bound.size or min(MOST_COMPONENTS, basis.size, max(1, MOST_ENTRIES // self.grid.size))),
            self.bound,
            self.n,
            self.kernel.decay,
            self.neighbors,
            self.invalid,
            self.standardize,
            self.fill,
            alignment_of(self),
        )
        return self.method.frame(problem)

    @cached_property
    def schedule(self) -> Rounds | Selected | None:  # type: ignore[override]
        """What follows the first stage, if anything does."""
        chosen, epsilon = self.chosen, self.epsilon - self._count_epsilon
        if isinstance(chosen, Select):
            return Selected(self.problem, chosen, epsilon)
        return Rounds(self._calibrated(), chosen, epsilon) if isinstance(chosen, Staged) else None

    def explain(self) -> str:
        text = super().explain()
        if not isinstance(self.method, Auto):
            return text
        return f"{text}\n\n{self.method.explanation(self.problem, self.epsilon - self._count_epsilon, self.chosen)}"

    @cached_property
    def expected_risk(self) -> float:
        if isinstance(self.schedule, Rounds) and not self.postprocess:
            return max(self.expected_stage.error, self.schedule.risk)
        return self.schedule.risk if self.schedule else self.stage.risk

    @property
    def risk_words(self) -> str:  # type: ignore[override]
        """Stages count what shrinkage leaves, for curves that stray a typical way."""
        if not isinstance(self.schedule, Rounds):
            return super().risk_words
        after = " after shrinkage" if self.postprocess else ""
        stray = "" if self.schedule.method.spread else " from which curves stray by some third of the bound"
        return f"noise and bias{after}, for a smooth mean{stray}"

    def variability(self, release: Any) -> tuple[np.ndarray, np.ndarray]:
        """Sampling variances of the released coefficients, and how much more or less curves vary at each grid point."""
        if isinstance(self.schedule, Rounds) and self.schedule.method.confidence:
            return self.schedule.variability(release.drawn)
        # Nothing was spent on it: as much as the bound allows, whatever the (noisy) mean takes of that.
        shape = shape_of(self.basis.eigenvalues[: release.stage.problem.basis.size], 1.0)
        alone = self.grid.count if isinstance(self.grid, ComponentGrid) else 1  # one component may take all of it
        return shape * (self.bound.outer**2 / self.n) * alone, np.ones(self.grid.size)

    def postprocessed(self, release: Any) -> Any:
        ball = all(isinstance(part.law, Ball) for part in release.stage.parts if part.where.max() < self.basis.size)
        return release.shrink("james-stein") if self.postprocess and ball else release

    @property
    def release_type(self) -> Any:
        return results.ComponentRelease if isinstance(self.grid, ComponentGrid) else results.Release

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """Standard deviation of the noise at points `t` (default: the grid); where there are components, a row each."""
        if not isinstance(self.grid, ComponentGrid) or (t is not None and np.ndim(t) == 2):
            return super().pointwise_sd(t)
        return self.grid.apart(super().pointwise_sd(self.grid.rows(t)))

    def band(self, level: float = 0.95) -> Band:
        band = super().band(level)
        if not isinstance(self.grid, ComponentGrid):
            return band
        return Band(self.grid.line.points, self.grid.apart(band.lower), self.grid.apart(band.upper), level)

    @property
    def wording(self) -> statements.Wording:
        noun, more = record_noun(self.grid), with_words(self.grid)
        rows, text = curve_words(self, noun)
        if self.schedule:
            rows, text = (*rows, ("passes", str(self.schedule.passes))), f"{text}\n\n{self.schedule.explanation()}"
        return statements.Wording(
            noun=f"{noun}{more}",
            release=f"mean {noun}{more}",
            record=noun if self.unit is None else self.unit.name,
            piece="" if self.unit is None else noun,
            target="mean",
            assumption=text,
            unusable="counts as the public centre",
            rows=rows,
            size=self.bound.outer,
            size_name="the bound's radius",
            more=more,
        )
