"""The plan of a function-on-scalar regression: curves explained by a few covariates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from dpfda.bounds.bodies import Ellipsoid, L2Ball
from dpfda.bounds.units import BallLike
from dpfda.core.checks import Epsilon, Invalid, Neighbors, as_names, as_range, check_integer
from dpfda.core.codec import BESIDE, LATER
from dpfda.core.errors import ParameterError, shown
from dpfda.core.nouns import Nouns
from dpfda.plans.checks import CHOSEN
from dpfda.plans.curves import as_grid, check_curves, curve_words, only_curves
from dpfda.plans.guessed_kinds import RegressionGuesses
from dpfda.plans.guided import CHECKED, MANY, SLOPES
from dpfda.plans.moments import RISK, MomentAccuracy, MomentPlan, stage_words
from dpfda.plans.regression_checking import CHECK
from dpfda.problems.design import Covariates, CurveResponse
from dpfda.problems.mean import MeanProblem
from dpfda.results.regression import RegressionRelease
from dpfda.results.wording import AccuracyWords, Wording, kernel_in_words
from dpfda.spaces.completed import CompletedBasis
from dpfda.spaces.grid import Grid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.stacked import StackedBasis
from dpfda.spaces.stationary import Gaussian

#: Coefficient functions are averages over many curves, smoother than any of them: the default kernel is Gaussian
#: with this share of the domain as length scale.
LENGTH = 0.2
#: Functions of a curve that a regression is expanded in, and covariates it takes.
MOST_FUNCTIONS, MOST_COVARIATES = 64, 200


class RegressionAccuracy(MomentAccuracy):
    """Of predicted curves."""

    plan: RegressionPlan

    @cached_property
    def typical_sd(self) -> float:
        return float(np.sqrt(self.expected_error / self.plan.grid.length))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RegressionPlan(MomentPlan[RegressionRelease]):
    """The plan of a private function-on-scalar regression: an intercept and one coefficient function per covariate.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    bound : L2Ball, Range or RMS
        The public ball that every curve is clipped to.
    covariates : int
        How many numbers explain a curve.
    covariate_bound : float or sequence of (low, high)
        A public norm of the covariates of one record, or one range for each.
    grid : Grid or int
        Where curves have their values; a number of points lies on [0, 1].
    names : sequence of str, optional
        Public names of the covariates.
    kernel : Kernel or callable, optional
        How smooth coefficient functions are expected to be. Default: Gaussian with a fifth of the domain as length
        scale.
    split : float, optional
        The first moment's share of its stage's budget. Default: by expected risk.
    passes : {1, 4}, optional
        1 reads the data once, 4 refines with clipped residuals. Default: a private radius of responses first, then as
        much as there are records for; :meth:`explain` says what.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as the public centre.
    standardize : bool
        Whether each record has its own mean removed and is divided by its own norm before the clip.
    fill : int, optional
        The longest gap, in points, that is interpolated within a curve.
    rule : int, optional
        The rule by which stages are chosen where neither `split` nor `passes` is given. 2 has no check for bands, None
        (older files) no radius either.
    value : str, optional
        What values of curves are, with their unit in brackets, such as "glucose (mmol/L)": a name for pictures, kept in
        files and outside the digest.
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
    >>> facts = {"bound": dp.L2Ball(5.0), "covariates": 2, "covariate_bound": 4.0, "grid": 48}
    >>> plan = dp.plans.RegressionPlan(n=50_000, epsilon=1.0, **facts)
    >>> plan.chosen.way, plan.chosen.passes, dp.plans.RegressionPlan.from_json(plan.to_json()) == plan
    ('moments', 5, True)
    """

    query: ClassVar[str] = "regression"
    _guesses: ClassVar[RegressionGuesses] = RegressionGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            bound: BallLike,
            covariates: int,
            covariate_bound: float | Iterable[Iterable[float]] | Iterable[float],
            grid: Grid | int,
            names: Iterable[str] | None = None,
            kernel: Kernel | Callable[..., Any] | None = None,
            split: float | None = None,
            passes: int | None = None,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            standardize: bool = False,
            fill: int | None = None,
            rule: int | None = CHECKED,
            value: str | None = None,
            record: str | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    bound: L2Ball
    covariates: int
    covariate_bound: float | tuple[tuple[float, float], ...]
    grid: Grid
    names: tuple[str, ...] | None = None
    kernel: Kernel = CHOSEN
    split: float | None = None
    passes: int | None = None
    neighbors: str = "replace"
    invalid: str = "raise"
    standardize: bool = False
    fill: int | None = None
    #: The rule by which stages were chosen; older files name none, and keep theirs.
    rule: int | None = field(default=CHECKED, metadata=LATER)
    value: str | None = field(default=None, compare=False, metadata=BESIDE)
    record: str | None = field(default=None, compare=False, metadata=BESIDE)

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        self._check_stages()
        if self.kernel is None and isinstance(self.grid, Grid | int):
            length = as_grid(self.grid).length
            put("kernel", Gaussian(LENGTH * length))
        check_curves(self, L2Ball, "A regression on one record is that record; privacy needs company.")
        only_curves(self.grid, "a function-on-scalar regression")
        put("covariates", check_integer("covariates", self.covariates, 1, "A regression explains curves by something."))
        if self.covariates > MOST_COVARIATES:
            raise ParameterError(
                f"there are at most {MOST_COVARIATES} covariates", self.covariates, "Choose among them."
            )
        put("names", as_names(self.names, self.covariates))
        put("covariate_bound", as_covariate_bound(self.covariate_bound, self.covariates))
        self.schedule.rehearse()  # a plan that cannot be carried out is refused when it is made

    @cached_property
    def design(self) -> Covariates:
        """The covariates with their bound."""
        if isinstance(self.covariate_bound, float):
            return Covariates(self.covariates, norm=self.covariate_bound)
        return Covariates(self.covariates, ranges=self.covariate_bound)

    @cached_property
    def response(self) -> CurveResponse:
        """The curves that are explained, as coefficients."""
        basis = self.kernel.basis(self.grid)
        line = basis.first(min(MOST_FUNCTIONS, basis.size))
        if self.check_share and line.size < MOST_FUNCTIONS:
            line = CompletedBasis(line, MOST_FUNCTIONS)
        ball = Ellipsoid(np.full(line.size, self.bound.radius), self.bound.center)
        facts = (self.n, self.kernel.decay, self.neighbors, self.invalid, self.standardize, self.fill)
        return CurveResponse(MeanProblem(line, ball, *facts))

    @cached_property
    def released_basis(self) -> StackedBasis:
        return StackedBasis(self.response.code.basis, self.design.size)

    @cached_property
    def smoothness(self) -> np.ndarray:
        guess = self.response.code.prior_energy
        values: np.ndarray = guess / guess.sum()
        return values

    def way(self, records: float) -> str:
        """Which way the coefficients are found, by records times epsilon for each coefficient function.

        Parameters
        ----------
        records : float
            The number of records times epsilon.
        """
        each = records / self.design.size
        return "mean" if each < SLOPES else "residuals" if each < MANY else "moments"

    @property
    def check_share(self) -> Fraction:
        return CHECK if self.is_guided and self.rule == CHECKED else Fraction(0)

    @property
    def radius_is_public(self) -> bool:
        return self.standardize

    @property
    def release_type(self) -> type[RegressionRelease]:
        return RegressionRelease

    def restored(self, internal: np.ndarray) -> np.ndarray:
        whole = super().restored(internal)
        size = self.response.size
        whole[..., :size] += self.response.code.center_coefficients  # responses are taken about the public centre
        return whole

    @cached_property
    def accuracy(self) -> MomentAccuracy:
        return RegressionAccuracy(self)

    @property
    def wording(self) -> Wording:
        rows, text = curve_words(self, "curve")
        clipped = (
            f"their norm is clipped to {self.covariate_bound:g}"
            if isinstance(self.covariate_bound, float)
            else "each is clipped to its own public range"
        )
        return Wording(
            noun="coefficients",
            release=f"intercept and {self.covariates} coefficient function{'s' if self.covariates > 1 else ''}",
            nouns=Nouns.of("record", self.record),
            target="regression",
            assumption=f"{text} Covariates are public in number; {clipped}. {stage_words(self)}",
            unusable="counts as the public centre",
            rows=(
                *rows,
                ("covariates", f"{', '.join(self.names or [str(self.covariates)])}; {clipped}"),
                ("passes", str(self.chosen.passes)),
            ),
            method=repr(self.chosen),
            numbers=self.schedule.numbers_text,
            accuracy=AccuracyWords(self, self.bound.outer, "the bound's radius", RISK),
            kernel=repr(self.kernel),
            basis=f"eigenfunctions of {kernel_in_words(repr(self.kernel))}",
        )


def as_covariate_bound(bound: object, count: int) -> float | tuple[tuple[float, float], ...]:
    """A norm, or one range per covariate."""
    cure = "Pass covariate_bound=3.0 (a norm), or one (low, high) per covariate: it is never read from the data."
    if bound is None or isinstance(bound, bool):
        raise ParameterError("covariates need a public bound", shown(bound), cure)
    if isinstance(bound, int | float | np.number):
        if not 1e-60 < float(bound) < 1e60:
            raise ParameterError("the norm of covariates must be positive and finite", shown(bound), cure)
        return float(bound)
    try:
        given = list(cast(Iterable[Any], bound))
        if len(given) == 2 and not any(hasattr(x, "__len__") for x in given):
            given = [tuple(given)] * count  # one range for all, as for the domain of a model
        ranges = tuple(as_range(pair, "covariate_bound") for pair in given)
    except TypeError:
        raise ParameterError("covariates need a norm or ranges", shown(bound), cure) from None
    if len(ranges) != count:
        raise ParameterError(f"there must be one range for each of {count} covariates", len(ranges), cure)
    return ranges
