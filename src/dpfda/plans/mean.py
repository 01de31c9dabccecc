"""The plan of a mean curve or surface."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from .. import words
from ..bounds import Bound
from ..grid import Grid, ProductGrid
from ..kernels import Kernel
from ..methods import Method
from ..plan import Plan
from ..problems.mean import MeanProblem
from .curves import choose_method, curve_words, settle_curves

#: Components beyond this many never pay at any budget the lattice can hold.
MOST_COMPONENTS = 1024
#: Entries of the matrix from grid to coefficients: half a gigabyte.
MOST_ENTRIES = 2**26


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeanPlan(Plan):
    """The plan of a private mean curve.

    `kernel` None is Matern 3/2 with a tenth of the domain as length scale; `method` None is
    whichever of Minimax and KNorm has the smaller expected risk.

    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=508, epsilon=1.0, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 48))
    >>> plan.expected_error < plan.expected_risk < 0.02
    True
    >>> dp.MeanPlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "mean"
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

    def __post_init__(self) -> None:
        settle_curves(self, Bound, "A mean of one curve is that curve; privacy needs company.")
        if self.method is None:
            choose_method(self)
        self.stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

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
        )
        return self.method.frame(problem)

    @property
    def vocabulary(self) -> words.Vocabulary:
        noun = "surface" if isinstance(self.grid, ProductGrid) else "curve"
        rows, text = curve_words(self, noun)
        return words.Vocabulary(
            noun=noun,
            release=f"mean {noun}",
            record=noun,
            target="mean",
            assumption=text,
            unusable="counts as the public centre",
            rows=rows,
            size=self.bound.outer,
            size_name="the bound's radius",
        )
