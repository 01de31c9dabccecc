"""The plan of a covariance surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dpfda.bounds.bodies import L2Ball
from dpfda.bounds.units import BallLike
from dpfda.core.checks import Epsilon, Invalid, Neighbors, check_choice
from dpfda.core.codec import BESIDE, LATER
from dpfda.core.errors import ParameterError
from dpfda.core.nouns import Nouns
from dpfda.methods import Auto, Centred, KNorm, Leading, Method
from dpfda.methods.staged import LARGEST, SMALLEST
from dpfda.plans.accuracy import Accuracy, CovarianceAccuracy
from dpfda.plans.base import Plan
from dpfda.plans.centring import Centring
from dpfda.plans.checks import CHOSEN
from dpfda.plans.curves import alignment_of, as_grid, check_alignment, check_curves, curve_words, only_curves
from dpfda.plans.guessed_kinds import CovarianceGuesses
from dpfda.plans.schedule import Schedule
from dpfda.problems.covariance import MOST_SQUARES, CovarianceProblem
from dpfda.results.covariance import CovarianceRelease
from dpfda.results.covariance_bands import Checked
from dpfda.results.wording import AccuracyWords, Wording, kernel_in_words
from dpfda.spaces.grid import Grid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.own_times import Align
from dpfda.spaces.stationary import Matern
from dpfda.spaces.symmetric import SymmetricBasis
from dpfda.spaces.units import Unit

#: Functions of one variable that a covariance is expanded in: 2,080 free numbers.
MOST_FUNCTIONS = 64
#: Shares of epsilon by default: for the scale of curves about the public centre, their rough mean, and the radius about
#: it. Any are valid: they add up. Half or twice of each changes angles by a few per cent (derivations: covariance).
#: Then for the check that error bars rest on: a twentieth makes the noise of the covariance a sixteenth larger.
SCALE, CENTRE, SELECTION, CHECK = Fraction(1, 20), Fraction(1, 10), Fraction(1, 20), Fraction(1, 20)
#: What the expected risk counts.
RISK = "noise and bias, as left by shrinkage, over a public class of covariances"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CovariancePlan(Plan[CovarianceRelease]):
    """The plan of a private covariance surface.

    Noise lies on the K(K+1)/2 free numbers of a symmetric matrix.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    bound : L2Ball, Range or RMS
        The public ball that every curve is clipped to; its centre is what deviations are taken from.
    grid : Grid or int
        Where curves have their values; a number of points lies on [0, 1].
    kernel : Kernel or callable, optional
        How smooth curves are expected to be. Default: Matern 3/2, with the whole domain as length scale where products
        of the first functions are released (as by default), a tenth of it with other methods.
    method : Method, optional
        How noise is added. Default: :class:`Leading`, within a private radius about a private centre.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as the public centre.
    standardize : bool
        Whether each record has its own mean removed and is divided by its own norm before the clip.
    fill : int, optional
        The longest gap, in points, that is interpolated within a curve.
    postprocess : bool
        Whether the release is shrunk by the known noise law and projected onto covariances, so that no direction has a
        negative variance.
    unit : Unit or str, optional
        Whose a record is, where a person or a household has several: a column, or a rule.
    align : Align, "linear" or "smooth", optional
        Brings curves at their own times, or with gaps, to the grid.
    value : str, optional
        What values are, with their unit in brackets, such as "glucose (mmol/L)": a name for pictures, kept in files and
        outside the digest.
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
    >>> plan = dp.CovariancePlan(n=5000, epsilon=1.0, bound=dp.L2Ball(1.0), grid=48)
    >>> plan.expected_error < plan.expected_risk < 0.05
    True
    >>> dp.CovariancePlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "covariance"
    _accuracy_kind: ClassVar[type[Accuracy]] = CovarianceAccuracy
    _guesses: ClassVar[CovarianceGuesses] = CovarianceGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            bound: BallLike,
            grid: Grid | int,
            kernel: Kernel | Callable[..., Any] | None = None,
            method: Method | None = None,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            standardize: bool = False,
            fill: int | None = None,
            postprocess: bool = True,
            unit: Unit | str | None = None,
            align: Align | Literal["linear", "smooth"] | None = None,
            value: str | None = None,
            record: str | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    bound: L2Ball
    grid: Grid
    kernel: Kernel = CHOSEN
    method: Method = CHOSEN
    neighbors: str = "replace"
    invalid: str = "raise"
    standardize: bool = False
    fill: int | None = None
    postprocess: bool = True
    unit: Unit | None = field(default=None, metadata=LATER)
    align: Align | None = field(default=None, metadata=LATER)
    value: str | None = field(default=None, compare=False, metadata=BESIDE)
    record: str | None = field(default=None, compare=False, metadata=BESIDE)

    def __post_init__(self) -> None:
        if self.kernel is None:
            object.__setattr__(self, "grid", as_grid(self.grid))
            object.__setattr__(self, "kernel", Matern(length_scale=self.grid.length / (1 if self._leads else 10)))
        check_curves(self, L2Ball, "A single curve does not vary; privacy needs company.")
        check_alignment(self)
        only_curves(self.grid, "a covariance")
        check_choice("postprocess", self.postprocess, (True, False))
        if self.n > MOST_SQUARES:
            raise ParameterError(f"n must be at most {MOST_SQUARES}", self.n, "Release several groups instead.")
        if self.method is None or isinstance(self.method, Auto):
            self._choose_method(Auto() if self.method is None else self.method)
        self.schedule.rehearse()  # a plan that cannot be carried out is refused when it is made
        self.schedule.expected_stage  # noqa: B018  (and what is expected of it can be said)

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

    @property
    def _leads(self) -> bool:
        """Whether products of the first functions are released."""
        method = self.method.method if isinstance(self.method, Centred) else self.method
        return method is None or isinstance(method, Auto | Leading)

    def _choose_method(self, auto: Auto) -> None:
        """About a private centre and within a private radius, unless the data may not be read so often."""
        if auto.spread is not None:
            raise ParameterError("the spread is for means", repr(auto), "Pass method=dp.Auto().")
        chosen: Method = Leading()
        if SMALLEST < self.bound.radius < LARGEST:
            scale = None if self.standardize or auto.passes == 3 else SCALE  # standardised curves have a public scale
            centred = Centred(Leading(), CENTRE, SELECTION, scale, KNorm())
            needed = len(centred.steps)
            room = auto.passes is None or auto.passes > needed
            if room or auto.passes == needed:
                chosen = replace(centred, check=CHECK) if room and auto.check else centred
        object.__setattr__(self, "method", chosen)

    @cached_property
    def schedule(self) -> Schedule:
        if not isinstance(self.chosen, Centred):
            return super().schedule
        return Centring(self.problem, self.bound, self.chosen, self.epsilon)

    def checked(self, drawn: Sequence[np.ndarray]) -> Checked | None:
        """What a check said of the published surface, if there was one.

        Parameters
        ----------
        drawn : sequence of array
            What each stage drew.
        """
        return self.schedule.checked(drawn) if isinstance(self.schedule, Centring) else None

    def bound_too_small(self, drawn: Sequence[np.ndarray]) -> bool | None:
        """Whether most curves reach beyond the bound, by what was drawn; None where that does not tell.

        Parameters
        ----------
        drawn : sequence of array
            What each stage drew.
        """
        return self.schedule.bound_too_small(drawn) if isinstance(self.schedule, Centring) else None

    @property
    def release_type(self) -> type[CovarianceRelease]:
        return CovarianceRelease

    def postprocessed(self, release: CovarianceRelease) -> CovarianceRelease:
        return release.shrink() if self.postprocess else release

    @property
    def shrinkage(self) -> str:
        """How a release of this plan is shrunk by default."""
        return "posterior" if self._leads else "bayes"

    @property
    def wording(self) -> Wording:
        rows, text = curve_words(self, "curve")
        if self.schedule.keeps_draws:
            rows = (*rows, ("passes", str(self.schedule.passes)))
        return Wording(
            noun="surface",
            release="covariance surface",
            nouns=Nouns.of("curve", self.record, None if self.unit is None else self.unit.name),
            target="covariance",
            assumption=text,
            passes=self.schedule.explanation(),
            unusable="counts as the public centre",
            rows=rows,
            method=repr(self.chosen),
            numbers=self.schedule.numbers_text,
            accuracy=AccuracyWords(self, self.bound.outer**2, "the bound's radius squared", RISK),
            kernel=repr(self.kernel),
            basis=f"products of two eigenfunctions of {kernel_in_words(repr(self.kernel))}",
        )
