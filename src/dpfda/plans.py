"""Plans: everything about a release that is public, settled before any file is opened.

A plan is frozen, comparable, hashable and travels as JSON. It knows its filter, its noise, its
expected error and its bands, because none of these depends on the data. The data rooms are
entered only by :meth:`MeanPlan.summarize` and :meth:`MeanPlan.release`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import codec, words
from . import release as exit
from . import summaries as data
from .basis import Eigenbasis
from .bounds import Bound
from .codec import Fact
from .errors import FileError, ParameterError, shown
from .grid import Grid
from .kernels import Kernel, Matern, as_kernel
from .methods import KNorm, Method, Minimax
from .methods.base import one_of
from .postprocess import Band, band_half_width
from .problems.count import count_part, count_share
from .problems.mean import MeanProblem
from .protocol import INVALID, MOST_RECORDS, NEIGHBORS, Part, Stage, Summary, as_epsilon

if TYPE_CHECKING:
    from .ledger import Ledger
    from .release import Release

VERSION = 1
#: Components beyond this many never pay at any budget the lattice can hold.
MOST_COMPONENTS = 1024


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeanPlan(Fact):
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
        if not isinstance(self.bound, Bound):
            raise ParameterError(
                "bound must be a public bound on one curve",
                shown(self.bound),
                "Pass bound=dp.L2Ball(radius): there is no default, and it is never read from data.",
            )
        put("grid", _as_grid(self.grid))
        kernel = Matern(1.5, self.grid.length / 10) if self.kernel is None else as_kernel(self.kernel)
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

    # -- what leaves, and through which noise ---------------------------------------------

    @cached_property
    def basis(self) -> Eigenbasis:
        size = self.bound.size or min(MOST_COMPONENTS, self.grid.size)
        whole = self.kernel.basis(self.grid)
        if self.bound.size is None:
            size = min(size, whole.size)
        return whole if size == whole.size else self.kernel.basis(self.grid, size)

    @cached_property
    def problem(self) -> MeanProblem:
        return MeanProblem(
            self.basis, self.bound, self.n, self.kernel.decay, self.neighbors, self.invalid, self.standardize, self.fill
        )

    @cached_property
    def stage(self) -> Stage:
        problem = self.problem
        if not problem.adds:
            return Stage(problem, self._calibrate(self.epsilon))
        alone = sum(float(part.law.variance.sum()) for part in self._calibrate(self.epsilon))
        share = count_share(self.epsilon, alone, float(problem.guess.sum()), self.n)
        parts = self._calibrate(self.epsilon * (1 - share))
        return Stage(problem, (*parts, count_part(self.basis.size, self.n, self.epsilon * share)))

    def _calibrate(self, epsilon: Fraction) -> tuple[Part, ...]:
        return self.method.calibrate(self.problem, epsilon)

    @property
    def filter(self) -> np.ndarray:
        """What each coefficient is multiplied by; zero means it stays at the public centre."""
        return self.stage.filter

    @property
    def scales(self) -> np.ndarray:
        """The noise scale of each number that leaves; zero where nothing leaves."""
        return self.stage.scales

    def loss(self, h: ArrayLike) -> float:
        """Privacy loss for a difference `h` of two statistics: at most epsilon for neighbours."""
        return self.stage.loss(np.asarray(h, dtype=float))

    # -- how accurate it will be ----------------------------------------------------------

    @cached_property
    def _variance(self) -> np.ndarray:
        return self.problem.finish_variance(self.stage.variance)

    @property
    def expected_error(self) -> float:
        """Expected squared L2 error of the noise alone."""
        return float(self._variance.sum())

    @property
    def expected_risk(self) -> float:
        """Noise plus the filter's bias under the public guess of the mean."""
        return self.expected_error + self.stage.bias(self.problem.guess)

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """Standard deviation of the noise at points `t` (default: the grid)."""
        functions = self.basis.functions if t is None else self.basis.evaluate(t)
        return np.sqrt(functions**2 @ self._variance)

    def band(self, level: float = 0.95) -> Band:
        """Simultaneous noise band about zero, before any data: how wide the released band will be."""
        width = band_half_width(self.stage, level, self.basis.functions, self.problem.typical())
        return Band(self.grid.points, -width, width, level)

    def solve(self, target: float, vary: str = "epsilon", measure: str = "risk") -> float | int:
        """The smallest epsilon (or n) from which on the expected `measure` stays at or below `target`.

        `measure` is "risk" (noise plus prior bias) or "error" (noise alone). Parameters left to
        selection are selected again at every step.
        """
        one_of("vary", vary, ("epsilon", "n"))
        one_of("measure", measure, ("risk", "error"))
        if not (isinstance(target, int | float | np.number) and 0 < target < np.inf):
            raise ParameterError("target must be a positive squared error", shown(target), "Pass target=0.01.")
        return _solve(self, float(target), vary, f"expected_{measure}")

    # -- carrying it out ------------------------------------------------------------------

    def summarize(
        self, records: Any, *, columns: Any = None, header: bool | None = None, progress: Any = None
    ) -> Summary:
        """Clip, encode and add up: exact integers, confidential, mergeable."""
        return data.summarize(self.problem, records, columns=columns, header=header, progress=progress)

    def statistic(self, summary: Summary) -> np.ndarray:
        """The numbers right before noise. Confidential: for audits, never for publication."""
        self.problem.check(summary)
        return self.stage.statistic(summary)

    def release(
        self,
        records: Any,
        ledger: Ledger | str | None = None,
        *,
        columns: Any = None,
        header: bool | None = None,
        query: str = "mean",
        progress: Any = None,
    ) -> Release:
        """Check, charge, draw, seal. `records` may be data of any kind, or a summary."""
        summary = records if isinstance(records, Summary) else None
        book = exit.open_ledger(ledger)
        exit.check_budget(book, self)
        if summary is None:
            summary = self.summarize(records, columns=columns, header=header, progress=progress)
        return exit.execute(self, summary, book, query)

    # -- as text --------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan's public content: what the ledger records."""
        return codec.digest(codec.plain(self))

    def to_json(self, indent: int | None = 2) -> str:
        return json.dumps(
            {"dpfda": "plan", "version": VERSION, "plan": codec.plain(self), "sha256": self.digest},
            indent=indent,
            allow_nan=False,
        )

    @staticmethod
    def from_json(text: str) -> MeanPlan:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FileError("This is not a plan: the text is not JSON.") from error
        if not isinstance(data, dict) or data.get("dpfda") != "plan" or data.get("version") != VERSION:
            raise FileError(f"This is not a plan of format version {VERSION}. Write one with plan.to_json().")
        if codec.digest(data.get("plan")) != data.get("sha256"):
            raise FileError("The plan does not match its checksum: it was edited or damaged. Build it again.")
        plan = codec.revive(data["plan"])
        if not isinstance(plan, MeanPlan):
            raise FileError("The file holds no mean plan.")
        return plan

    def explain(self) -> str:
        """What the plan protects, what it costs in accuracy, and what it does not protect, in plain words."""
        return words.explain(self)

    def __repr__(self) -> str:
        return words.table(self)

    def _repr_html_(self) -> str:
        return words.html_table(self)


def _whole(name: str, value: Any, least: int, why: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}", shown(value), why)
    if value > MOST_RECORDS:
        raise ParameterError(
            f"{name} must be below 2^37, or integer totals could overflow", value, "Release several groups instead."
        )
    return int(value)


def _as_grid(grid: Any) -> Grid:
    if isinstance(grid, int | np.integer) and not isinstance(grid, bool):
        return Grid.uniform(0, 1, int(grid))
    if not isinstance(grid, Grid):
        raise ParameterError(
            "grid must be a Grid or a number of points", shown(grid), "Pass grid=dp.Grid.uniform(0, 1, 48), or 48."
        )
    return grid


def _solve(plan: MeanPlan, target: float, vary: str, measure: str) -> float | int:
    def meets(value: float) -> bool:
        changed: Any = value if vary == "epsilon" else round(value)
        return getattr(replace(plan, **{vary: changed}), measure) <= target

    ladder = np.geomspace(1e-4, 1e4, 65) if vary == "epsilon" else np.geomspace(2, 1e9, 70)
    rung = len(ladder) - 1
    while rung >= 0 and meets(float(ladder[rung])):
        rung -= 1
    if rung == len(ladder) - 1:
        raise ParameterError(
            f"target must be reachable by some {vary} up to {ladder[-1]:g}",
            target,
            "The prior bias alone may exceed it: use more components, or measure='error'.",
        )
    if rung < 0:
        return float(ladder[0]) if vary == "epsilon" else 2
    low, high = float(ladder[rung]), float(ladder[rung + 1])
    while high / low > 1 + 1e-6 and (vary == "epsilon" or round(high) - round(low) > 1):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high if vary == "epsilon" else round(high)
