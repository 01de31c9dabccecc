"""The plan of a density on a box of one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpfda import results
from dpfda.bounds.diameter import EXACT, AtomSensitivity
from dpfda.core.checks import (
    INVALID,
    NEIGHBORS,
    as_epsilon,
    check_choice,
    check_integer,
    check_name,
    check_positive,
    number_of_records,
)
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.methods import FRL, QR, Auto, Bernstein, GaussianProcess, KNorm, Method, Minimax
from dpfda.noise import Laplace
from dpfda.plans.base import Plan
from dpfda.plans.checks import check_method
from dpfda.problems.base import Stage, Summary
from dpfda.problems.density import DensityProblem, spread
from dpfda.release import door
from dpfda.results import statements
from dpfda.spaces.grid import Grid, ProductGrid
from dpfda.spaces.kernels import Gaussian, Kernel, Stationary
from dpfda.spaces.tensor import CosineProductBasis, by_frequency

if TYPE_CHECKING:
    from dpfda.results import DensityRelease

OUTSIDE = ("raise", "clip")
#: Cells per axis by default: fine in one dimension, all pairs comparable in two and three.
CELLS = {1: 512, 2: 64, 3: 16}
#: Cells along one axis, and altogether.
MOST_ALONG, MOST_CELLS = 4096, 2**20
#: Cosines that a plan may choose from.
MOST_COMPONENTS, MOST_ABOVE = {1: 512, 2: 1024, 3: 1024}, 256


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DensityPlan(Plan):
    """The plan of a private density.

    `domain` is one public range per coordinate. `cells` (a number, or one per coordinate) is how
    finely points are told apart; `edges` are bins of a table of counts instead. `bandwidth` None is
    privacy-safe: the domain's width times ``n^(-1/(4+d))``. `eta` is the power of the kernel in an
    estimator that smooths by it (QR, GaussianProcess, Bernstein). `method` None is QR where a bandwidth
    or `eta` is given, else whichever of KNorm and Minimax (which need neither) is more accurate over a
    public class of densities. `postprocess` shrinks by the known noise law and projects onto densities.

    >>> import dpfda as dp
    >>> plan = dp.DensityPlan(n=2000, epsilon=1.0, domain=[(0, 110)])
    >>> plan.chosen
    KNorm(components=12)
    >>> dp.DensityPlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "density"
    risk_words: ClassVar[str] = "noise, sampling and bias, as left by shrinkage, over a public class of densities"
    n: int
    epsilon: Fraction
    domain: tuple[tuple[float, float], ...]
    cells: tuple[int, ...] = None  # type: ignore[assignment]
    edges: tuple[tuple[float, ...], ...] | None = None
    axes: tuple[str, ...] = None  # type: ignore[assignment]
    kernel: Kernel = None  # type: ignore[assignment]
    bandwidth: tuple[float, ...] | None = None
    eta: float | None = None
    method: Method = None  # type: ignore[assignment]
    neighbors: str = "replace"
    invalid: str = "raise"
    outside: str = "raise"
    postprocess: bool = True

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        put("epsilon", as_epsilon(self.epsilon))
        put("n", number_of_records(self.n, "A density of one point is that point; privacy needs company."))
        put("domain", _as_domain(self.domain))
        put("cells", _as_cells(self.cells, self.dimension))
        put("axes", _as_names(self.axes, self.dimension))
        put("edges", None if self.edges is None else _as_edges(self.edges, self.grid))
        self._settle_kernel()
        check_positive("eta", self.eta)
        check_method(self.method)
        given = getattr(self.method, "eta", None)
        if self.eta is not None and given is not None and given != self.eta:
            raise ParameterError("eta is given once", f"{self.eta:g} and {given:g}", "Drop one of them.")
        for name, allowed in (("neighbors", NEIGHBORS), ("invalid", INVALID), ("outside", OUTSIDE)):
            check_choice(name, getattr(self, name), allowed)
        check_choice("postprocess", self.postprocess, (True, False))
        if isinstance(self.method, Auto):
            self.method.check_plain("a density")
            put("method", None)
        if self.method is None:
            put("method", self._default_method())
        self.stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

    def _default_method(self) -> Method:
        """A smoothing that was asked for, or whichever of two is better over a public class of densities."""
        if self.eta is not None or self.bandwidth is not None or self.kernel.length_scale is not None:  # type: ignore[attr-defined]
            return QR()
        object.__setattr__(self, "method", KNorm())
        best = min((KNorm(), Minimax()), key=self._sketched_risk)
        for computed in ("problem", "stage", "chosen"):
            self.__dict__.pop(computed, None)
        return best

    def _settle_kernel(self) -> None:
        kernel = Gaussian() if self.kernel is None else self.kernel
        if not isinstance(kernel, Stationary):
            raise ParameterError(
                "a density's kernel must be Gaussian, Exponential or Matern",
                shown(kernel),
                "Pass dp.kernels.Gaussian().",
            )
        if kernel.length_scale is not None and self.bandwidth is not None:
            raise ParameterError(
                "a bandwidth is given once", "a kernel with a length scale and a bandwidth", "Drop one of them."
            )
        object.__setattr__(self, "kernel", kernel)
        if self.bandwidth is not None:
            object.__setattr__(self, "bandwidth", _as_bandwidth(self.bandwidth, self.dimension))

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """How far the kernel reaches along each coordinate."""
        if self.bandwidth is not None:
            return self.bandwidth
        if self.kernel.length_scale is not None:  # type: ignore[attr-defined]
            return (self.kernel.length_scale,) * self.dimension  # type: ignore[attr-defined]
        shrink = self.n ** (-1 / (4 + self.dimension))
        return tuple(shrink * (high - low) for low, high in self.domain)

    @property
    def release_type(self) -> type[DensityRelease]:
        return results.DensityRelease

    @property
    def uses_kernel(self) -> bool:
        """Whether kernel and bandwidth matter to the method; components alone do not need them."""
        return isinstance(self.method, QR | Bernstein | GaussianProcess) or (
            isinstance(self.method, FRL | Minimax)
            and (self.method.noise == "kernel" or getattr(self.method, "power", None) is not None)
        )

    # -- the box --------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        return len(self.domain)

    @cached_property
    def grid(self) -> Grid | ProductGrid:
        """Centres of the cells."""
        lines = []
        for (low, high), cells, name in zip(self.domain, self.cells, self.axes, strict=True):
            plain, _, unit = name.partition("(")
            lines.append(Grid.midpoints(low, high, cells, plain.strip(), unit.strip(" )")))
        return lines[0] if len(lines) == 1 else Grid.product(*lines)

    @cached_property
    def problem(self) -> DensityProblem:
        # Bins tell no more cosines apart than there are bins.
        shape = self.cells if self.edges is None else tuple(len(e) - 1 for e in self.edges)
        index = by_frequency(shape, self._most_components(int(np.prod(shape))))
        spectra = tuple(
            replace(self.kernel, length_scale=h).spectrum(np.arange(index[:, a].max() + 1) * (np.pi / axis.length))  # type: ignore[type-var, attr-defined]
            for a, (axis, h) in enumerate(zip(self.grid.axes, self.bandwidths, strict=True))
        )
        eigenvalues = np.prod([spectrum[index[:, a]] for a, spectrum in enumerate(spectra)], axis=0)
        problem = DensityProblem(
            CosineProductBasis(self.grid, eigenvalues, index),
            self.n,
            spectra,
            None if self.edges is None else tuple(np.array(e) for e in self.edges),
            self.kernel.decay,
            self.eta,
            self.neighbors,
            self.invalid,
            self.outside,
            self.postprocess,
        )
        return self.method.frame(problem)

    def _most_components(self, atoms: int) -> int:
        """Cosines to choose from; on large grids fewer for Laplace noise, whose certified bound loosens with them."""
        if atoms <= EXACT or isinstance(self.method, KNorm | GaussianProcess):
            return MOST_COMPONENTS[self.dimension]
        return MOST_ABOVE

    # -- method and noise -----------------------------------------------------------------

    def _sketched_risk(self, method: Method) -> float:
        """The expected risk of a method, nearly: good enough to choose between two."""
        problem = replace(self.problem, sketched=True)
        return Stage(problem, method.calibrate(problem, self.epsilon)).risk

    @cached_property
    def sensitivity_gap(self) -> float:
        """How far the certified sensitivity can lie above the true one; 1 where all pairs of cells were compared."""
        part, sensitivity = self.stage.parts[0], self.problem.sensitivity
        if not isinstance(sensitivity, AtomSensitivity):
            return 1.0
        inner = sensitivity.restricted(part.where)
        assert isinstance(inner, AtomSensitivity)
        return (inner.absolute if isinstance(part.law, Laplace) else inner.euclidean)(part.filter / part.law.scales).gap

    def postprocessed(self, release: Any) -> Any:
        if not self.postprocess:
            return release
        orthonormal = isinstance(self.basis, CosineProductBasis)
        return (release.shrink() if orthonormal else release).project()

    # -- tables of counts -----------------------------------------------------------------

    def summarize(self, records: Any = None, *, counts: Any = None, **reading: Any) -> Summary:
        """Place and count: exact integers, confidential, mergeable. `counts` is a table instead of points."""
        if (records is None) == (counts is None):
            raise ParameterError("a summary needs points or counts", "both or neither", "Pass one of them.")
        return super().summarize(records, **reading) if counts is None else self.summarize_counts(counts)

    def release(self, records: Any = None, ledger: Any = None, *, counts: Any = None, **options: Any) -> Any:
        """Check, charge, draw, seal. `records` may be points of any kind or a summary; `counts` is a table instead."""
        if counts is None:
            return super().release(records, ledger, **options)
        book = door.open_ledger(ledger)
        door.check_budget(book, self)
        return door.execute(self, self.summarize(records, counts=counts), book, options.get("query") or self.query)

    def summarize_counts(self, counts: Any) -> Summary:
        """The summary of a table of counts: one whole number per bin (`edges`), or per cell. Confidential."""
        shape = self.problem.bins
        try:
            table = np.asarray(counts, dtype=float)
        except (TypeError, ValueError):
            table = np.array(np.nan)
        if table.shape != shape:
            raise RecordError(
                f"Counts must have the shape of the bins, {' x '.join(map(str, shape))}, not "
                f"{' x '.join(map(str, table.shape)) or 'a single value'}",
                cure="Give one count per bin; edges are one more than bins."
                if self.edges is not None
                else "Pass the bins' edges=..., or one count per cell.",
            )
        if not np.isfinite(table).all() or (table < 0).any() or (table != np.floor(table)).any():
            raise RecordError(
                "Counts must be whole numbers of records, zero or more",
                np.flatnonzero(~((table >= 0) & (table == np.floor(table))).ravel()).tolist(),
                "Turn thousands or weights into numbers of people first.",
            )
        if table.max(initial=0) >= 2**53:
            raise RecordError("A count is too large to be exact", cure="Release several groups instead.")
        return self.problem.counted(table)

    @property
    def wording(self) -> statements.Wording:
        sides = " x ".join(f"[{low:g}, {high:g}]" for low, high in self.domain)
        if self.edges is None:
            resolution = f"{' x '.join(map(str, self.cells))} cells"
        else:
            resolution = f"{' x '.join(str(len(e) - 1) for e in self.edges)} bins on {np.prod(self.cells):,} cells"
        exact = np.prod(self.problem.bins) <= EXACT
        certificate = "exact: all pairs compared" if exact else f"certified, within {self.sensitivity_gap:.2f} of exact"
        rows = (
            ("domain", f"{sides}, {resolution}"),
            ("sensitivity", certificate),
            *((("bandwidth", ", ".join(f"{h:.3g}" for h in self.bandwidths)),) if self.uses_kernel else ()),
        )
        stray = "is refused" if self.invalid == "raise" else "is unusable"
        outside = "is moved to its edge" if self.outside == "clip" else stray
        return statements.Wording(
            noun="density",
            release=f"density in {self.dimension} dimension{'s' if self.dimension > 1 else ''}",
            record="point",
            target="density",
            assumption=(
                f"Each point is placed in one cell of a public grid ({rows[0][1]}) before it is used; a point outside "
                f"the domain {outside}. The guarantee holds whatever the data is; only accuracy depends on the domain "
                f"being a good one."
            ),
            unusable="counts as spread evenly over the domain",
            rows=rows,
            size=float(1 / np.sqrt(self.grid.volume)),
            size_name="the uniform density's norm",
        )


def _as_domain(domain: Any) -> tuple[tuple[float, float], ...]:
    cure = "Pass domain=[(0, 110)], one (low, high) per coordinate: public, never read from data."
    try:
        single = np.ndim(domain[0]) == 0
        pairs: Any = tuple(tuple(float(x) for x in pair) for pair in ([domain] if single else domain))
    except (TypeError, ValueError, IndexError, KeyError):
        raise ParameterError("domain must be a list of (low, high) pairs", shown(domain), cure) from None
    if not 1 <= len(pairs) <= 3 or any(len(pair) != 2 for pair in pairs):
        raise ParameterError("domain must hold one to three (low, high) pairs", shown(pairs), cure)
    if not all(np.isfinite(pair).all() and pair[0] < pair[1] for pair in pairs):
        raise ParameterError("a domain runs from a finite low to a larger finite high", shown(pairs), cure)
    if not all(1e-15 <= high - low <= 1e15 for low, high in pairs):
        raise ParameterError("a domain is between 1e-15 and 1e15 wide", shown(pairs), "Change the unit.")
    return pairs


def _as_cells(cells: Any, dimension: int) -> tuple[int, ...]:
    if cells is None:
        return (CELLS[dimension],) * dimension
    given = tuple(cells) if isinstance(cells, Sequence | np.ndarray) else (cells,) * dimension
    if len(given) != dimension:
        raise ParameterError(f"cells must be one number, or {dimension} of them", shown(cells), "Pass cells=64, say.")
    sizes = tuple(check_integer("cells", c, 2, "Pass cells=512.") for c in given)
    if max(sizes) > MOST_ALONG or np.prod(sizes, dtype=float) > MOST_CELLS:
        raise ParameterError(
            f"a box has at most {MOST_ALONG:,} cells along one side and {MOST_CELLS:,} altogether",
            shown(sizes),
            "Ask for fewer.",
        )
    return sizes


def _as_names(axes: Any, dimension: int) -> tuple[str, ...]:
    if axes is None:
        return ("x", "y", "z")[:dimension]
    names = (axes,) if isinstance(axes, str) else tuple(axes)
    if len(names) != dimension:
        raise ParameterError(f"axes must be {dimension} names", shown(axes), "Pass axes=['age (years)'], say.")
    for name in names:
        check_name("names of axes", name)
    return names


def _as_bandwidth(bandwidth: Any, dimension: int) -> tuple[float, ...]:
    given = tuple(bandwidth) if isinstance(bandwidth, Sequence | np.ndarray) else (bandwidth,) * dimension
    if len(given) != dimension:
        raise ParameterError(f"bandwidth must be one number, or {dimension} of them", shown(bandwidth), "Pass one.")
    for h in given:
        check_positive("bandwidth", h)
    return tuple(float(h) for h in given)


def _as_edges(edges: Any, grid: Grid | ProductGrid) -> tuple[tuple[float, ...], ...]:
    cure = "Pass edges=[0, 5, 10, ..., 110]: increasing, from the domain's low to its high, an open last bin closed."
    try:
        single = len(grid.axes) == 1 and np.ndim(edges[0]) == 0
        lines = [np.asarray(e, dtype=float) for e in ([edges] if single else edges)]
    except (TypeError, ValueError, IndexError):
        raise ParameterError("edges must be numbers, one list per coordinate", shown(edges), cure) from None
    if len(lines) != len(grid.axes) or any(line.ndim != 1 or line.size < 3 for line in lines):
        raise ParameterError("edges must make at least two bins along each coordinate", shown(edges), cure)
    for axis, line in zip(grid.axes, lines, strict=True):
        if not np.isfinite(line).all():
            raise ParameterError("edges must be finite: close an open bin by an explicit edge", "one that is not", cure)
        if not (np.diff(line) > 0).all():
            raise ParameterError("edges must increase", "edges that do not", cure)
        low, high = axis.span
        slack = 1e-9 * axis.length
        if abs(line[0] - low) > slack or abs(line[-1] - high) > slack:
            raise ParameterError(
                f"edges must cover the domain [{low:g}, {high:g}] exactly", f"[{line[0]:g}, {line[-1]:g}]", cure
            )
        if np.isnan(spread_or_nan(axis, line)).any():
            raise ParameterError("every bin must hold the centre of a cell", "a bin without one", "Pass more cells.")
    return tuple(tuple(line.tolist()) for line in lines)


def spread_or_nan(axis: Grid, edges: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return spread(axis, edges)
