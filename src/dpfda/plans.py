"""Plans of each kind of release, settled before any file is opened: which facts, which problem.

What all plans can do once they know these is in :mod:`dpfda.plan`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .bounds import Bound
from .errors import ParameterError, shown
from .grid import Grid
from .kernels import Kernel, Matern, as_kernel
from .methods import KNorm, Method, Minimax
from .methods.base import one_of
from .plan import Plan
from .problems.count import count_part, count_share
from .problems.mean import MeanProblem
from .protocol import INVALID, MOST_RECORDS, NEIGHBORS, Stage, as_epsilon

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
    grid: Grid
    kernel: Kernel = None  # type: ignore[assignment]
    method: Method = None  # type: ignore[assignment]
    neighbors: str = "replace"
    invalid: str = "raise"
    standardize: bool = False
    fill: int | None = None

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        put("epsilon", as_epsilon(self.epsilon))
        put("n", _whole("n", self.n, 2, "A mean of one curve is that curve; privacy needs company."))
        if self.n > MOST_RECORDS:
            raise ParameterError(f"n must be at most {MOST_RECORDS}", self.n, "Release several groups instead.")
        if not isinstance(self.bound, Bound):
            raise ParameterError(
                "bound must be a public bound on one curve",
                shown(self.bound),
                "Pass bound=dp.L2Ball(radius): there is no default, and it is never read from data.",
            )
        put("grid", _as_grid(self.grid))
        kernel = Matern() if self.kernel is None else as_kernel(self.kernel)
        put("kernel", kernel.on(self.grid))
        if self.method is not None and not isinstance(self.method, Method):
            raise ParameterError(
                "method must be a dpfda method",
                shown(self.method),
                "Pass method=dp.Minimax(), dp.QR(), dp.FRL(), dp.AR() or dp.KNorm().",
            )
        one_of("neighbors", self.neighbors, NEIGHBORS)
        one_of("invalid", self.invalid, INVALID)
        one_of("standardize", self.standardize, (False, True))
        if self.fill is not None:
            put("fill", _whole("fill", self.fill, 1, "It is the longest gap, in points, that may be interpolated."))
        self.bound.center_on(self.grid.size)
        if self.method is None:
            put("method", min((Minimax(), KNorm()), key=lambda m: replace(self, method=m).expected_risk))
        self.stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

    @cached_property
    def problem(self) -> MeanProblem:
        whole = self.kernel.basis(self.grid)
        return MeanProblem(
            whole.first(self.bound.size or min(MOST_COMPONENTS, whole.size, max(1, MOST_ENTRIES // self.grid.size))),
            self.bound,
            self.n,
            self.kernel.decay,
            self.neighbors,
            self.invalid,
            self.standardize,
            self.fill,
        )

    @cached_property
    def _count_epsilon(self) -> Fraction:
        """What a private count costs: the share that serves the quotient best, nothing if n is public."""
        if not self.problem.adds:
            return Fraction(0)
        parts = self.method.calibrate(self.problem, self.epsilon)
        alone = sum(float(part.law.variance.sum()) for part in parts)
        return self.epsilon * count_share(self.epsilon, alone, float(self.problem.guess.sum()), self.n)

    @cached_property
    def chosen(self) -> Method:
        return self.method.resolved(self.problem, self.epsilon - self._count_epsilon)

    @cached_property
    def stage(self) -> Stage:
        parts = self.chosen.calibrate(self.problem, self.epsilon - self._count_epsilon)
        if self.problem.adds:
            parts = (*parts, count_part(self.basis.size, self.n, self._count_epsilon))
        return Stage(self.problem, parts)


def _whole(name: str, value: Any, least: int, why: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}", shown(value), why)
    return int(value)


def _as_grid(grid: Any) -> Grid:
    if isinstance(grid, int | np.integer) and not isinstance(grid, bool):
        return Grid.uniform(0, 1, int(grid))
    if not isinstance(grid, Grid):
        raise ParameterError(
            "grid must be a Grid or a number of points", shown(grid), "Pass grid=dp.Grid.uniform(0, 1, 48), or 48."
        )
    return grid
