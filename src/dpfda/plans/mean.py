"""The plan of a mean curve or surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.bodies import Bound
from dpfda.bounds.functions import RecordFunction
from dpfda.bounds.units import BoundLike
from dpfda.core.checks import Epsilon, Invalid, Neighbors, check_choice
from dpfda.core.codec import BESIDE, LATER, Plain, from_plain
from dpfda.core.errors import PlanMismatch
from dpfda.core.nouns import Nouns
from dpfda.methods import Auto, Method, Select, Staged
from dpfda.methods.auto import check_share
from dpfda.methods.checked import Checked
from dpfda.methods.outlook import LOOSE
from dpfda.noise import Ball
from dpfda.plans.base import Plan
from dpfda.plans.bound_fit import Guess
from dpfda.plans.checks import CHOSEN
from dpfda.plans.curves import alignment_of, check_alignment, check_curves, curve_words, with_words
from dpfda.plans.forecast_accuracy import ForecastAccuracy
from dpfda.plans.functions import function_pooling, function_words, take_function
from dpfda.plans.guesses import CurveGuesses
from dpfda.plans.rounds import Rounds
from dpfda.plans.rounds_before import RoundsBefore
from dpfda.plans.schedule import Schedule
from dpfda.plans.selected import Selected
from dpfda.problems.mean import MeanProblem
from dpfda.results.bands import Band
from dpfda.results.components import ComponentRelease
from dpfda.results.mean import MeanRelease
from dpfda.results.mean_bands import Evidence
from dpfda.results.statements import Statement
from dpfda.results.verdict import Verdict
from dpfda.results.wording import AccuracyWords, Wording, kernel_in_words
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.own_times import Align
from dpfda.spaces.units import Unit

#: Components beyond this many never pay at any budget the lattice can hold.
MOST_COMPONENTS = 1024
#: The default kernel's length scale, as a share of the domain. Errors changed by at most 15 % for 0.2 to 1.
KERNEL_LENGTH = 0.3
#: Entries of the matrix from grid to coefficients: half a gigabyte.
MOST_ENTRIES = 2**26


class MeanAccuracy(ForecastAccuracy):
    """Of a mean: as shrunk after the noise where the plan says so, and by component where curves have several."""

    plan: MeanPlan

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """Standard deviation of the noise at points `t` (default: the grid); where there are components, a row each."""
        grid = self.plan.grid
        values = super().pointwise_sd(grid.rows(t))
        return values if t is not None and np.ndim(t) == 2 else grid.apart(values)

    def noise_band(self, level: float = 0.95) -> Band:
        band, grid = super().noise_band(level), self.plan.grid
        return Band(grid.domain.points, grid.apart(band.lower), grid.apart(band.upper), level, band.covers)

    def evidence(self, release: MeanRelease) -> Evidence:
        """What the bands of a release rest on."""
        schedule = self.plan.schedule
        if isinstance(schedule, Rounds):
            return schedule.evidence(release.drawn)
        size = self.plan.basis.size
        return Evidence(np.unique([i for part in release.stage.parts for i in part.where if i < size]))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeanPlan(Plan[MeanRelease]):
    """The plan of a private mean curve or surface.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    bound : Bound, Range or RMS
        The public bound that every curve is clipped to; one in the units of the curves is kept as the ball that it is
        on the grid.
    grid : Grid, a product of grids, or int
        Where curves have their values; a number of points lies on [0, 1].
    kernel : Kernel or callable, optional
        How smooth curves are expected to be. Default: Matern 3/2 with three tenths of the domain as length
        scale.
    method : Method, optional
        How noise is added. Default: ``Auto()``.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as the public centre.
    standardize : bool
        Whether each record has its own mean removed and is divided by its own norm before the clip.
    fill : int, optional
        The longest gap, in points, that is interpolated within a curve.
    postprocess : bool
        Whether a release by ``Auto()`` or with ball noise is shrunk afterwards, by the posterior mean under its known
        noise law.
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
    of : RecordFunction, optional
        A function of each curve that is averaged instead of it, such as ``dp.Above(140)``. It brings its own bound, and
        `grid` becomes that of its values.
    records_grid : Grid, or a product of grids, optional
        Where curves live, where the function's values live elsewhere: plans fill it in.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or the plan could not be carried out.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=508, epsilon=1.0, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 48))
    >>> 0 < plan.expected_risk < 0.02
    True
    >>> dp.MeanPlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "mean"
    _guesses: ClassVar[CurveGuesses] = CurveGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            bound: BoundLike | None = None,
            grid: AnyGrid | int,
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
            of: RecordFunction | None = None,
            records_grid: AnyGrid | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    bound: Bound = CHOSEN
    grid: AnyGrid
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
    of: RecordFunction | None = field(default=None, metadata=LATER)
    records_grid: AnyGrid | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        take_function(self)
        check_curves(self, Bound, "A mean of one curve is that curve; privacy needs company.", KERNEL_LENGTH)
        check_alignment(self)
        check_choice("postprocess", self.postprocess, (True, False))
        if self.method is None:
            object.__setattr__(self, "method", Auto())
        if not self._outdated:
            self.schedule.expected_stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

    @property
    def _outdated(self) -> bool:
        return isinstance(self.method, Auto) and self.method.outdated

    @cached_property
    def chosen(self) -> Method:
        """The method with every parameter that was left to selection filled in."""
        self.check_current()
        return super().chosen

    def check_current(self) -> None:
        if self._outdated:
            raise PlanMismatch(
                "This plan was saved by an earlier version, whose automatic method chose in another way: plan again "
                "with the same facts, and have the new plan reviewed."
            )

    def take_choice(self, saved: Plain) -> None:
        if self._outdated and isinstance(method := from_plain(saved), Method):
            self.__dict__["chosen"] = method

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
            self.fill if self.of is None else None,  # before the function
            alignment_of(self, function_pooling(self)),
        )
        return self.method.frame(problem)

    @cached_property
    def schedule(self) -> Schedule:
        chosen, epsilon = self.chosen, self.epsilon - self._count_epsilon
        if isinstance(chosen, Select):
            return Selected(self.problem, chosen, epsilon)
        if isinstance(chosen, Checked) and chosen.check:
            size = self.problem.basis.size
            kept = {int(i) for part in chosen.calibrate(self.problem, epsilon) for i in part.where}
            chosen = Staged(chosen.without_check(), shares=(Fraction(1),), check=check_share(len(kept), size))
        if isinstance(chosen, Staged):
            kind = RoundsBefore if chosen.rule is None else Rounds
            return kind(self.problem, chosen, epsilon, self._count_epsilon)
        return super().schedule

    def _explained(self) -> Statement:
        parts = super()._explained()
        if not isinstance(self.method, Auto) or self._outdated:
            return parts
        choice = self.method.explanation(self.problem, self.epsilon - self._count_epsilon, self.chosen)
        return replace(parts, choice=choice)

    @cached_property
    def accuracy(self) -> MeanAccuracy:
        return MeanAccuracy(self)

    def _accuracy_words(self) -> AccuracyWords:
        """What is left in the end, typically over a class of curves."""
        accuracy = AccuracyWords(self, self.bound.outer, "the bound's radius")
        if type(self.problem) is not MeanProblem:
            return accuracy
        after = " after shrinkage" if self._shrinks else ""
        bounds = "" if self.accuracy.scale_is_known else f"bounds right to {max(LOOSE):g} times too large, and "
        return replace(accuracy, risk=f"noise and bias{after}, typically over {bounds}smooth to rough curves")

    @cached_property
    def _shrinks(self) -> bool:
        """Whether a release is shrunk after the noise by default."""
        parts = [part for part in self.schedule.expected_stage.parts if part.where.max() < self.basis.size]
        return self.postprocess and (isinstance(self.method, Auto) or all(isinstance(p.law, Ball) for p in parts))

    def verdict_for(self, guess: Guess) -> Verdict:
        """The verdict where curves are publicly guessed, instead of over the plan's class.

        It also says whether the bound is likely too tight or too loose for them.

        Parameters
        ----------
        guess : array, float or Range
            The mean, one value for each grid point (an earlier study's, say), its level alone, or the range in which
            curves usually lie. Never the data's own.

        Returns
        -------
        Verdict
            Whether the release would be clear, by this guess, with reasons.

        Examples
        --------
        >>> import numpy as np, dpfda as dp
        >>> plan = dp.MeanPlan(n=4000, epsilon=1.0, bound=dp.L2Ball(2.0), grid=48, method=dp.methods.KNorm(8))
        >>> plan.verdict_for(np.sin(6 * plan.grid.points)).word
        'clear'
        >>> plan.verdict_for(dp.Range(4, 12)).bound[:40]
        'The bound is too tight for the guess: cu'
        """
        return self.accuracy.verdict_for(guess)

    def postprocessed(self, release: MeanRelease) -> MeanRelease:
        parts = [part for part in release.stage.parts if part.where.max() < self.basis.size]
        flat = isinstance(self.method, Auto) or all(isinstance(part.law, Ball) for part in parts)
        return release.shrink("posterior-mean") if self.postprocess and flat else release

    @property
    def release_type(self) -> type[MeanRelease]:
        return ComponentRelease if self.grid.count > 1 else MeanRelease

    @property
    def wording(self) -> Wording:
        noun, more = self.grid.noun, with_words(self.grid)
        rows, text = curve_words(self, noun) if self.of is None else function_words(self, noun)
        if self.schedule.keeps_draws:
            rows = (*rows, ("passes", str(self.schedule.passes)))
        return Wording(
            noun=noun,
            release=f"mean {noun}{more}" if self.of is None else f"mean {self.of.value}",
            nouns=Nouns.of(noun, self.record, None if self.unit is None else self.unit.name),
            target="mean",
            assumption=text,
            passes=self.schedule.explanation(),
            unusable="counts as the public centre",
            rows=rows,
            method=repr(self.chosen),
            numbers=self.schedule.numbers_text,
            accuracy=self._accuracy_words(),
            kernel=repr(self.kernel),
            more=more,
            basis=f"eigenfunctions of {kernel_in_words(repr(self.kernel))}",
        )
