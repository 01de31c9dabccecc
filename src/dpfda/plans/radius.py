"""The plan of a private radius: a quantile of the curves' norms, for people who do not know their bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.bodies import L2Ball
from dpfda.core.checks import Epsilon, Invalid, Neighbors
from dpfda.core.codec import LATER, exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.methods import KNorm, Method
from dpfda.plans.accuracy import Accuracy
from dpfda.plans.base import Plan
from dpfda.plans.curves import alignment_of, check_alignment, check_records, curve_facts, with_words
from dpfda.plans.schedule import Schedule
from dpfda.problems.mean import MeanProblem
from dpfda.problems.norms import TELL_APART, NormProblem, octave_price
from dpfda.problems.stage import Stage
from dpfda.results.bands import Band
from dpfda.results.radius import RadiusRelease
from dpfda.results.verdict import COARSE
from dpfda.results.wording import AccuracyWords, Wording
from dpfda.spaces.alignment import Align
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.stationary import Matern
from dpfda.spaces.units import Unit

#: Radii on offer: from largest to smallest by a fourth of an octave each.
PER_OCTAVE = 4
#: Octaves about the first choice in which the second looks: where all curves are alike, too high is likelier.
ABOVE, BELOW = 1, 8
#: Octaves of the whole range cost no more than this share of the curves that are to be held.
MOST = 0.8
#: The public range in which a radius is looked for, unless one is given.
SMALLEST, LARGEST = 2.0**-30, 2.0**30


class RadiusSchedule(Schedule):
    """Two choices from the same counts: the octave, then the radius. Nothing is read again."""

    keeps_draws: ClassVar[bool] = False

    def __init__(self, plan: RadiusPlan):
        self.plan = plan

    @cached_property
    def first(self) -> Stage:
        return self.plan.problem.choice(self.plan.epsilon / 2)

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        if len(drawn) > 1:
            return None
        places = np.arange(*self._window(drawn))
        price = self.plan.price(places.size / PER_OCTAVE)
        return replace(self.plan.problem, places=places, price=price).choice(self.plan.epsilon / 2)

    def _window(self, drawn: Sequence[np.ndarray]) -> tuple[int, int]:
        middle = int(self.plan.problem.places[int(np.argmax(drawn[0]))])
        low, high = middle - PER_OCTAVE * BELOW, middle + PER_OCTAVE * ABOVE + 1
        return max(low, 0), min(high, self.plan.radii.size)

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.plan.radii[[self._window(drawn)[0] + int(np.argmax(drawn[1]))]]

    @property
    def numbers_text(self) -> str:
        return f"one of {self.plan.problem.size} octaves, then one of its radii"


class RadiusAccuracy(Accuracy):
    """Of a quantile: by which share of the curves it may be missed."""

    plan: RadiusPlan
    signal_name = "the share of curves that are to be held"

    @property
    def signal(self) -> float:
        return float(self.plan.quantile)

    @property
    def rated(self) -> tuple[float, str]:
        """What may be missed is a bound that is stated, and no noise in a curve: coarse at worst."""
        return min(super().rated[0], COARSE), ""

    @property
    def risk_range(self) -> tuple[float, float]:
        return self.expected_risk, self.expected_risk

    @property
    def expected_error(self) -> float:
        return self.plan.missed**2

    @cached_property
    def expected_risk(self) -> float:
        return self.plan.missed**2

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """A radius has no points."""
        raise ParameterError("a radius has no curve", "points", "Plan a mean with it.")

    def band(self, level: float = 0.95) -> Band:
        """A radius has no band."""
        raise ParameterError("a radius has no curve", "points", "Plan a mean with it.")


@dataclass(frozen=True)
class Held(AccuracyWords):
    """How accurate a radius will be: which share of the curves it holds, in words."""

    risk: str = "share of the curves by which the quantile may be missed, squared"
    share: str = ""

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        return (("quantile", self.share),)

    @property
    def sentence(self) -> str:
        return f"The share of curves that the radius holds is {self.share}. This depends on no data."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RadiusPlan(Plan[RadiusRelease]):
    """The plan of a private quantile of the curves' norms about a public centre.

    Two choices among public radii between `smallest` and `largest`, by permute and flip, for half of epsilon each: the
    octave, then the smallest radius near it that holds the share `quantile` of the curves.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    grid : Grid, a product of grids, or int
        Where curves have their values; a number of points lies on [0, 1].
    quantile : float
        The share of the curves that the radius is meant to hold.
    center : array, optional
        The public centre that norms are taken about, a number or a curve. Default: zero.
    smallest, largest : float
        The public range in which the radius is looked for.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as the public centre.
    standardize : bool
        Whether each record has its own mean removed and is divided by its own norm before the clip.
    fill : int, optional
        The longest gap, in points, that is interpolated within a curve.
    unit : Unit or str, optional
        Whose a record is, where a person or a household has several: a column, or a rule.
    align : Align, "linear" or "smooth", optional
        Brings curves at their own times, or with gaps, to the grid.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or the plan could not be carried out.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.plans.RadiusPlan(n=1000, epsilon=0.1, grid=48, quantile=0.95)
    >>> plan.radii.size
    241
    """

    query: ClassVar[str] = "radius"
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            grid: AnyGrid | int,
            quantile: float | str | Fraction = 0.95,
            center: ArrayLike | None = None,
            smallest: float = SMALLEST,
            largest: float = LARGEST,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            standardize: bool = False,
            fill: int | None = None,
            unit: Unit | str | None = None,
            align: Align | Literal["linear", "smooth"] | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    grid: AnyGrid
    quantile: float = 0.95
    center: np.ndarray | None = None
    smallest: float = SMALLEST
    largest: float = LARGEST
    neighbors: str = "replace"
    invalid: str = "raise"
    standardize: bool = False
    fill: int | None = None
    unit: Unit | None = field(default=None, metadata=LATER)
    align: Align | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        for name in ("smallest", "largest"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 1e-50 < value < 1e50:
                raise ParameterError(f"{name} must be a radius (1e-50 to 1e50)", shown(value), "Pass a public number.")
            object.__setattr__(self, name, float(value))
        if not self.smallest < self.largest:
            raise ParameterError("smallest must lie below largest", shown(self.smallest), "Exchange them.")
        share = exact_fraction(self.quantile)
        if share is None or not 0 < share < 1:
            raise ParameterError("quantile must lie strictly between 0 and 1", shown(self.quantile), "Pass 0.95.")
        object.__setattr__(self, "quantile", float(share))
        check_records(self, L2Ball, "A quantile of one curve is that curve; privacy needs company.")
        check_alignment(self)
        object.__setattr__(self, "center", self.bound.center)

    @cached_property
    def bound(self) -> L2Ball:
        """The largest ball on offer."""
        return L2Ball(self.largest, self.center)

    @property
    def method(self) -> Method:
        return KNorm(1)

    @cached_property
    def chosen(self) -> Method:
        """Nothing is left to choose before data."""
        return self.method

    @cached_property
    def radii(self) -> np.ndarray:
        octaves = float(np.log2(self.largest / self.smallest))
        return self.largest * 2.0 ** (-np.arange(int(PER_OCTAVE * octaves + 1e-9), -1, -1) / PER_OCTAVE)

    @property
    def kernel(self) -> Kernel:
        return Matern().on(self.grid)

    @cached_property
    def problem(self) -> NormProblem:
        """The first choice: which octave holds the quantile."""
        inner = MeanProblem(
            self.kernel.basis(self.grid).first(1), self.bound, self.n, None,
            self.neighbors, self.invalid, self.standardize, self.fill, alignment_of(self),
        )  # fmt: skip
        octaves = np.arange(self.radii.size - 1, -1, -PER_OCTAVE)[::-1]
        return NormProblem(inner, self.radii, octaves, Fraction(str(self.quantile)), self.price(octaves.size))

    def price(self, octaves: float) -> float:
        """What an octave more costs, as a share of the records: enough to tell radii apart that hold all curves."""
        return octave_price(self.n, self.epsilon / 2, octaves, self.quantile, MOST)

    @cached_property
    def schedule(self) -> RadiusSchedule:
        return RadiusSchedule(self)

    @property
    def release_type(self) -> type[RadiusRelease]:
        return RadiusRelease

    @property
    def missed(self) -> float:
        """By how much of the curves the quantile may be missed from below, with a probability of one in twenty."""
        size = PER_OCTAVE * (BELOW + ABOVE) + 1
        return min(1.0, float((np.log(20 * size) + TELL_APART) / (self.n * float(self.epsilon / 2))))

    @cached_property
    def accuracy(self) -> Accuracy:
        return RadiusAccuracy(self)

    @property
    def wording(self) -> Wording:
        rows, more = curve_facts(self, "curve")
        about = (
            "zero" if self.center is None else f"{float(self.center):g}" if self.center.ndim == 0 else "a public curve"
        )
        share = f"{self.quantile:.3g}, missed from below by at most {self.missed:.2g} with a probability of 95 %"
        return Wording(
            noun="radius",
            release=f"radius that holds {self.quantile:.3g} of the curves",
            record="curve" if self.unit is None else self.unit.name,
            piece="" if self.unit is None else "curve",
            target="quantile of norms",
            assumption=(
                f"One of {self.radii.size} public radii from {self.radii[0]:.3g} to {self.radii[-1]:.3g}, a fourth of "
                f"an octave apart, is chosen privately, by permute and flip: first the octave, then the radius. "
                f"Nothing else about the norms leaves. They are L2 norms about {about}, on {self.grid!r}.{more}"
            ),
            unusable="counts as the public centre",
            rows=(("grid", repr(self.grid)), *rows),
            method="permute and flip",
            numbers=f"one of {self.problem.size} octaves, then one of its radii",
            accuracy=Held(self, 1.0, "the curves", share=share),
            more=with_words(self.grid),
        )
