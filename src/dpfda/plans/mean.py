"""The plan of a mean curve or surface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .. import words
from ..bounds import Bound
from ..errors import ParameterError, shown
from ..grid import Grid, ProductGrid
from ..kernels import Kernel, Matern, as_kernel
from ..methods import KNorm, Method, Minimax
from ..methods.base import one_of
from ..plan import Plan
from ..problems.mean import MeanProblem
from ..protocol import INVALID, NEIGHBORS, as_epsilon
from .checks import check_method, number_of_records, whole

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
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        put("epsilon", as_epsilon(self.epsilon))
        put("n", number_of_records(self.n, "A mean of one curve is that curve; privacy needs company."))
        if not isinstance(self.bound, Bound):
            raise ParameterError(
                "bound must be a public bound on one curve",
                shown(self.bound),
                "Pass bound=dp.L2Ball(radius): there is no default, and it is never read from data.",
            )
        put("grid", _as_grid(self.grid))
        kernel = Matern() if self.kernel is None else as_kernel(self.kernel)
        put("kernel", kernel.on(self.grid))
        check_method(self.method)
        one_of("neighbors", self.neighbors, NEIGHBORS)
        one_of("invalid", self.invalid, INVALID)
        one_of("standardize", self.standardize, (False, True))
        if self.fill is not None:
            put("fill", whole("fill", self.fill, 1, "It is the longest gap, in points, that may be interpolated."))
            if isinstance(self.grid, ProductGrid):
                raise ParameterError("gaps are filled along curves", "a surface", "Fill surfaces beforehand.")
        self.bound.center_on(self.grid.size)
        if self.method is None:
            put("method", min((Minimax(), KNorm()), key=lambda m: replace(self, method=m).expected_risk))
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
        rows = [("bound", words.describe_bound(self.bound, self.grid.volume)), ("grid", repr(self.grid))]
        text = (
            f"Each {noun} is clipped to a public bound before it is used ({rows[0][1]}). The guarantee "
            f"holds whatever the data is; only accuracy depends on the bound being a good one."
        )
        if self.standardize:
            rows.append(("standardize", f"each {noun}: own mean removed, own norm divided out"))
            text += f" Before that, each {noun} has its own mean removed and is divided by its own norm."
        if self.fill is not None:
            rows.append(("fill", f"own gaps of at most {self.fill} points, by linear interpolation"))
            text += f" Gaps of at most {self.fill} points are interpolated within the curve."
        return words.Vocabulary(
            noun=noun,
            release=f"mean {noun}",
            record=noun,
            target="mean",
            assumption=text,
            unusable="counts as the public centre",
            rows=tuple(rows),
            size=self.bound.outer,
            size_name="the bound's radius",
        )


def _as_grid(grid: Any) -> Grid | ProductGrid:
    if isinstance(grid, int | np.integer) and not isinstance(grid, bool):
        return Grid.uniform(0, 1, int(grid))
    if not isinstance(grid, Grid | ProductGrid):
        raise ParameterError(
            "grid must be a Grid (or a product of two) or a number of points",
            shown(grid),
            "Pass grid=dp.Grid.uniform(0, 1, 48), or 48.",
        )
    return grid
