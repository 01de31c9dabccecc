"""The plan of a density on a box of one, two or three dimensions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.diameter import EXACT, AtomSensitivity
from dpfda.core.checks import (
    INVALID,
    NEIGHBORS,
    Epsilon,
    Invalid,
    Neighbors,
    as_epsilon,
    check_choice,
    check_positive,
    number_of_records,
)
from dpfda.core.codec import BESIDE
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.core.nouns import check_record
from dpfda.core.origins import Between
from dpfda.engines.task import Labels
from dpfda.methods import FRL, QR, Auto, Bernstein, GaussianProcess, Histogram, KNorm, Method, Minimax
from dpfda.noise import Laplace
from dpfda.plans.accuracy import Accuracy, DensityAccuracy
from dpfda.plans.base import Plan
from dpfda.plans.boxes import as_axis_names, as_bandwidth, as_cells, as_domain, as_edges
from dpfda.plans.checks import CHOSEN, check_method
from dpfda.plans.density_problem import density_problem, sketch_of
from dpfda.plans.density_words import density_wording
from dpfda.plans.guessed_kinds import DensityGuesses
from dpfda.plans.refinement import Refinement
from dpfda.plans.schedule import Schedule
from dpfda.problems.density import DensityProblem
from dpfda.problems.stage import Stage
from dpfda.problems.summary import Summary
from dpfda.reading.curves import Records
from dpfda.release.run import LedgerOrPath
from dpfda.results.density import DensityRelease
from dpfda.results.wording import Wording
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.stationary import Gaussian, Stationary
from dpfda.spaces.tensor import CosineProductBasis

OUTSIDE = ("raise", "clip")
#: Cosines that a plan may choose from.
MOST_COMPONENTS, MOST_ABOVE = {1: 512, 2: 1024, 3: 1024}, 256


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DensityPlan(Plan[DensityRelease]):
    """The plan of a private density.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    domain : sequence of (low, high)
        One public range per coordinate, for one to three of them.
    cells : int or sequence of int, optional
        How finely points are told apart along each coordinate.
    edges : sequence, optional
        Edges of the bins of a table of counts, for each coordinate.
    axes : sequence of str, optional
        Names of the coordinates, with a unit in brackets if you like.
    kernel : Kernel, optional
        Gaussian (the default), Exponential or Matern.
    bandwidth : float or sequence of float, optional
        How far the kernel reaches along each coordinate. Default: the domain's width times ``n^(-1/(4+d))``, which
        reads no data.
    eta : float, optional
        The power of the kernel in an estimator that smooths by it (QR, GaussianProcess, Bernstein).
    method : Method, optional
        How noise is added. Default: QR where a bandwidth or `eta` is given, else Histogram in one dimension, and in
        more whichever of KNorm and Minimax is more accurate over a public class of densities.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as spread evenly over the domain.
    outside : {"raise", "clip"}
        What a point outside the domain is: unusable, or moved to its edge.
    postprocess : bool
        Whether the release is shrunk by the known noise law and projected onto densities.
    record : str, optional
        What one record is called, such as "home", or "person/people" for a plural of its own: a word for statements,
        kept in files and outside the digest.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or the plan could not be carried out.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.DensityPlan(n=2000, epsilon=1.0, domain=[(0, 110)])
    >>> plan.chosen
    Histogram(bins=(24, 22), shares=(Fraction(13, 100), Fraction(87, 100)))
    >>> dp.DensityPlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "density"
    _accuracy_kind: ClassVar[type[Accuracy]] = DensityAccuracy
    _guesses: ClassVar[DensityGuesses] = DensityGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            domain: Sequence[tuple[float, float]],
            cells: int | Sequence[int] | None = None,
            edges: ArrayLike | Sequence[ArrayLike] | None = None,
            axes: Sequence[str] | None = None,
            kernel: Kernel | None = None,
            bandwidth: float | Sequence[float] | None = None,
            eta: float | None = None,
            method: Method | None = None,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            outside: Literal["raise", "clip"] = "raise",
            postprocess: bool = True,
            record: str | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    domain: tuple[tuple[float, float], ...]
    cells: tuple[int, ...] = CHOSEN
    edges: tuple[tuple[float, ...], ...] | None = None
    axes: tuple[str, ...] = CHOSEN
    kernel: Stationary = CHOSEN
    bandwidth: tuple[float, ...] | None = None
    eta: float | None = None
    method: Method = CHOSEN
    neighbors: str = "replace"
    invalid: str = "raise"
    outside: str = "raise"
    postprocess: bool = True
    record: str | None = field(default=None, compare=False, metadata=BESIDE)

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        check_record(self.record)
        put("epsilon", as_epsilon(self.epsilon))
        put("n", number_of_records(self.n, "A density of one point is that point; privacy needs company."))
        put("domain", as_domain(self.domain))
        put("cells", as_cells(self.cells, self.dimension))
        put("axes", as_axis_names(self.axes, self.dimension))
        put("edges", None if self.edges is None else as_edges(self.edges, self.grid))
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
        """A smoothing that was asked for; bins that follow the mass; in the plane and space the better of two."""
        if self.eta is not None or self.bandwidth is not None or self.kernel.length_scale is not None:
            return QR()
        if self.dimension == 1:
            return Histogram()
        object.__setattr__(self, "method", KNorm())
        sketched = sketch_of(self.problem)
        ways = {method: method.resolved(sketched, self.epsilon) for method in (KNorm(), Minimax())}
        best = min(ways, key=lambda method: Stage(sketched, ways[method].calibrate(sketched, self.epsilon)).risk)
        for computed in ("problem", "schedule", "accuracy", "chosen"):
            self.__dict__.pop(computed, None)
        if isinstance(best, KNorm) and self.neighbors == "replace":  # chosen by the same outline of all differences
            self.__dict__["chosen"] = ways[best]
        return best

    def _settle_kernel(self) -> None:
        kernel = Gaussian() if self.kernel is None else self.kernel
        if not isinstance(kernel, Stationary):
            raise ParameterError(
                "a density's kernel must be Gaussian, Exponential or Matern",
                shown(kernel),
                "Pass kernel=dp.kernels.Gaussian().",
            )
        if kernel.length_scale is not None and self.bandwidth is not None:
            raise ParameterError(
                "a bandwidth is given once", "a kernel with a length scale and a bandwidth", "Drop one of them."
            )
        object.__setattr__(self, "kernel", kernel)
        if self.bandwidth is not None:
            object.__setattr__(self, "bandwidth", as_bandwidth(self.bandwidth, self.dimension))

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """How far the kernel reaches along each coordinate."""
        if self.bandwidth is not None:
            return self.bandwidth
        if self.kernel.length_scale is not None:
            return (self.kernel.length_scale,) * self.dimension
        shrink = self.n ** (-1 / (4 + self.dimension))
        return tuple(shrink * (high - low) for low, high in self.domain)

    @property
    def release_type(self) -> type[DensityRelease]:
        return DensityRelease

    @property
    def _uses_kernel(self) -> bool:
        """Whether kernel and bandwidth matter to the method; components alone do not need them."""
        return isinstance(self.method, QR | Bernstein | GaussianProcess) or (
            isinstance(self.method, FRL | Minimax)
            and (self.method.noise == "kernel" or getattr(self.method, "power", None) is not None)
        )

    # -- the box --------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.domain)

    @cached_property
    def grid(self) -> AnyGrid:
        """Centres of the cells."""
        lines = []
        for (low, high), cells, name in zip(self.domain, self.cells, self.axes, strict=True):
            plain, _, unit = name.partition("(")
            lines.append(Grid.midpoints(low, high, cells, plain.strip(), unit.strip(" )")))
        return lines[0] if len(lines) == 1 else Grid.product(*lines)

    @cached_property
    def problem(self) -> DensityProblem:
        shape = self.cells if self.edges is None else tuple(len(e) - 1 for e in self.edges)  # no more cosines than bins
        problem = density_problem(
            self.grid, shape, self._most_components(int(np.prod(shape))), self.edges, self.kernel, self.bandwidths,
            self.n, self.eta, self.neighbors, self.invalid, self.outside, self.postprocess,
        )  # fmt: skip
        return self.method.frame(problem)

    def _most_components(self, atoms: int) -> int:
        """Cosines to choose from; on large grids fewer for Laplace noise, whose certified bound loosens with them."""
        if atoms <= EXACT or isinstance(self.method, KNorm | GaussianProcess):
            return MOST_COMPONENTS[self.dimension]
        return MOST_ABOVE

    # -- method and noise -----------------------------------------------------------------

    @cached_property
    def schedule(self) -> Schedule:
        chosen = self.chosen
        return Refinement(self.problem, chosen, self.epsilon) if isinstance(chosen, Histogram) else super().schedule

    @cached_property
    def sensitivity_gap(self) -> float:
        """How far the certified sensitivity can lie above the true one; 1 where all pairs of cells were compared."""
        part, sensitivity = self.stage.parts[0], self.problem.sensitivity
        if isinstance(self.chosen, Histogram) or not isinstance(sensitivity, AtomSensitivity):
            return 1.0
        inner = sensitivity.restricted(part.where)
        assert isinstance(inner, AtomSensitivity)
        return (inner.absolute if isinstance(part.law, Laplace) else inner.euclidean)(part.filter / part.law.scales).gap

    def postprocessed(self, release: DensityRelease) -> DensityRelease:
        if not self.postprocess:
            return release
        if isinstance(self.schedule, Refinement):
            return release.fitted(self.schedule.density(release.drawn))
        orthonormal = isinstance(self.basis, CosineProductBasis)
        return (release.shrink() if orthonormal else release).project()

    # -- tables of counts -----------------------------------------------------------------

    def summarize(
        self,
        records: Records = None,
        *,
        counts: ArrayLike | None = None,
        units: Labels = None,
        between: Between = None,
        site: str = "",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Summary:
        """Place and count: exact integers, confidential, mergeable.

        Parameters
        ----------
        records : Curves or anything that :func:`dpfda.read` takes, optional
            The points.
        counts : array, optional
            A table of counts instead of points: see :meth:`summarize_counts`.
        units, between, site, checkpoint : optional
            As for :meth:`Plan.summarize`.
        """
        points = self._points_or_counted(records, counts)
        return super().summarize(points, units=units, between=between, site=site, checkpoint=checkpoint)

    def release(
        self,
        records: Records = None,
        ledger: LedgerOrPath = None,
        *,
        counts: ArrayLike | None = None,
        query: str | None = None,
        units: Labels = None,
        between: Between = None,
        site: str = "",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> DensityRelease:
        """Check, charge, draw, seal.

        Parameters
        ----------
        records : Curves, anything that :func:`dpfda.read` takes, or Summary, optional
            The points, or a summary of them.
        ledger : Ledger or path, optional
            What is charged, before noise is drawn.
        counts : array, optional
            A table of counts instead of points: see :meth:`summarize_counts`.
        query, units, between, site, checkpoint : optional
            As for :meth:`Plan.release`.
        """
        points = self._points_or_counted(records, counts)
        return super().release(
            points, ledger, query=query, units=units, between=between, site=site, checkpoint=checkpoint
        )

    def _points_or_counted(self, records: Records, counts: ArrayLike | None) -> Records:
        if (records is None) == (counts is None):
            raise ParameterError("a density needs points or counts", "both or neither", "Pass one of them.")
        return records if counts is None else self.summarize_counts(counts)

    def summarize_counts(self, counts: ArrayLike) -> Summary:
        """The summary of a table of counts. Confidential.

        Parameters
        ----------
        counts : array
            One whole number for each bin (`edges`), or for each cell.
        """
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
    def wording(self) -> Wording:
        return density_wording(self)
