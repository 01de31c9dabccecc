"""The plan of a covariance surface."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dpfda import results
from dpfda.bounds.bodies import L2Ball
from dpfda.core.checks import check_choice
from dpfda.core.codec import LATER
from dpfda.core.errors import ParameterError
from dpfda.methods import Auto, Centred, KNorm, Method, Minimax
from dpfda.methods.staged import LARGEST, SMALLEST
from dpfda.plans.base import Plan
from dpfda.plans.centring import Centring
from dpfda.plans.curves import alignment_of, check_alignment, check_curves, choose_method, curve_words, only_curves
from dpfda.problems.covariance import MOST_SQUARES, CovarianceProblem
from dpfda.results import statements
from dpfda.spaces.alignment import Align, Unit
from dpfda.spaces.grid import Grid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.symmetric import SymmetricBasis

if TYPE_CHECKING:
    from dpfda.results import CovarianceRelease

#: Functions of one variable that a covariance is expanded in: 2,080 free numbers.
MOST_FUNCTIONS = 64


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CovariancePlan(Plan):
    """The plan of a private covariance surface.

    `bound` is an L2 ball about a public centre; `kernel` None is as for a mean, `method` None about a private centre
    where that pays. Noise lies
    on the K(K+1)/2 free numbers of a symmetric matrix. `postprocess` shrinks by the known noise law
    and projects onto covariances, so that no direction has a negative variance.

    >>> import dpfda as dp
    >>> plan = dp.CovariancePlan(n=5000, epsilon=1.0, bound=dp.L2Ball(1.0), grid=48)
    >>> plan.expected_error < plan.expected_risk < 0.05
    True
    >>> dp.CovariancePlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "covariance"
    one_pass: ClassVar[str] = "plan with method=dp.Auto(passes=1)"
    risk_words: ClassVar[str] = "noise and bias, as left by shrinkage, over a public class of covariances"
    n: int
    epsilon: Fraction
    bound: L2Ball
    grid: Grid
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
        check_curves(self, L2Ball, "A single curve does not vary; privacy needs company.")
        check_alignment(self)
        only_curves(self.grid, "a covariance")
        check_choice("postprocess", self.postprocess, (True, False))
        if self.n > MOST_SQUARES:
            raise ParameterError(f"n must be at most {MOST_SQUARES}", self.n, "Release several groups instead.")
        if self.method is None or isinstance(self.method, Auto):
            self._choose_method(Auto() if self.method is None else self.method)
        self.expected_stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

    @cached_property
    def problem(self) -> CovarianceProblem:
        line = self.kernel.basis(self.grid)
        basis = SymmetricBasis(line.first(min(MOST_FUNCTIONS, line.size)))
        problem = CovarianceProblem.of(
            basis, self.bound, self.n, self.kernel.decay, neighbors=self.neighbors, invalid=self.invalid,
            standardize=self.standardize, fill=self.fill, shrinks=self.postprocess,
            alignment=alignment_of(self),
        )  # fmt: skip
        return self.method.frame(problem)

    def _choose_method(self, auto: Auto) -> None:
        """About a private centre where that pays, typically; else whichever of two has the smaller expected risk."""
        if auto.spread is not None:
            raise ParameterError("the spread is for means", repr(auto), "Pass method=dp.Auto().")
        put = lambda method: object.__setattr__(self, "method", method)  # noqa: E731
        enough = auto.passes is None or auto.passes >= len(Centred.steps)
        if enough and SMALLEST < self.bound.radius < LARGEST:
            about = [replace(self, method=Centred(m)) for m in (Minimax(), KNorm())]
            best = min(about, key=lambda plan: plan.expected_risk)
            if best.schedule is not None and best.schedule.gain > 1:
                put(best.method)
                return
        choose_method(self)

    @cached_property
    def schedule(self) -> Centring | None:  # type: ignore[override]
        if not isinstance(self.chosen, Centred):
            return None
        return Centring(self.problem, self.bound, self.chosen, self.epsilon)

    @property
    def release_type(self) -> type[CovarianceRelease]:
        return results.CovarianceRelease

    def postprocessed(self, release: Any) -> Any:
        return release.shrink() if self.postprocess else release

    @property
    def wording(self) -> statements.Wording:
        rows, text = curve_words(self, "curve")
        if self.schedule:
            rows, text = (*rows, ("passes", str(self.schedule.passes))), f"{text}\n\n{self.schedule.explanation()}"
        return statements.Wording(
            noun="surface",
            release="covariance surface",
            record="curve" if self.unit is None else self.unit.name,
            piece="" if self.unit is None else "curve",
            target="covariance",
            assumption=text,
            unusable="counts as the public centre",
            rows=rows,
            size=self.bound.outer**2,
            size_name="the bound's radius squared",
        )
