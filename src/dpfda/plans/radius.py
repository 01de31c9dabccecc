"""The plan of a private radius: a quantile of the curves' norms, for people who do not know their bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.bodies import L2Ball
from dpfda.bounds.units import BallLike
from dpfda.core.checks import Epsilon, Invalid, Neighbors, check_choice
from dpfda.core.codec import BESIDE, LATER, exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.core.nouns import Nouns
from dpfda.methods import KNorm, Method
from dpfda.plans.accuracy import Accuracy
from dpfda.plans.base import Plan
from dpfda.plans.curves import alignment_of, check_alignment, check_records, curve_facts, with_words
from dpfda.plans.guessed_kinds import NoGuesses
from dpfda.plans.radius_search import PER_OCTAVE, OneChoice, RadiusSearch, TwoChoices
from dpfda.plans.radius_words import Held, RadiusAccuracy
from dpfda.problems.mean import MeanProblem
from dpfda.problems.norms import NormProblem
from dpfda.results.radius import RadiusRelease
from dpfda.results.wording import Wording
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.own_times import Align
from dpfda.spaces.stationary import Matern
from dpfda.spaces.units import Unit

#: The smallest radius on offer, as a share of the largest, unless one is given: five octaves.
SMALLEST = 2.0**-5
#: A radius that is sure to hold fewer curves than this share could be anything, and is not released.
LEAST_HELD = 0.1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True, init=False)
class RadiusPlan(Plan[RadiusRelease]):
    """The plan of a private quantile of the curves' norms about a public centre.

    One private choice, by permute and flip, among public radii a fourth of an octave apart: the smallest one, nearly,
    that holds the share `quantile` of the curves. What it promises, and whether that is worth the charge, follows from
    `n`, `epsilon` and the radii on offer alone (`verdict`).

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    grid : Grid, a product of grids, or int
        Where curves have their values; a number of points lies on [0, 1].
    bound : L2Ball, Range or RMS
        A public bound that surely holds the curves: it gives the centre, and the largest radius.
    quantile : float
        The share of the curves that the radius is meant to hold. Default: 0.95.
    smallest : float, optional
        The smallest radius on offer. The closer it is to the bound's, the fewer records or the less epsilon it takes.
        Default: a 32nd of the bound's.
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
    center, largest, choices : optional
        The bound as files keep it, and how many private choices find the radius: 1, or None in plans of version 0.1,
        which look for an octave in a wide range first. Pass `bound` instead.
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
    >>> plan = dp.plans.RadiusPlan(n=1000, epsilon=0.1, bound=dp.Range(0, 400), grid=48, quantile=0.95)
    >>> plan.radii.size, plan.held > 0.7, plan.times < 2.1
    (21, True, True)
    """

    query: ClassVar[str] = "radius"
    _guesses: ClassVar[NoGuesses] = NoGuesses()
    n: int
    epsilon: Fraction
    grid: AnyGrid
    quantile: float
    center: np.ndarray | None
    smallest: float
    largest: float
    neighbors: str
    invalid: str
    standardize: bool
    fill: int | None
    unit: Unit | None = field(metadata=LATER)
    align: Align | None = field(metadata=LATER)
    choices: int | None = field(metadata=LATER)
    record: str | None = field(compare=False, metadata=BESIDE)

    def __init__(
        self,
        *,
        n: int,
        epsilon: Epsilon,
        grid: AnyGrid | int,
        bound: BallLike | None = None,
        quantile: float | str | Fraction = 0.95,
        smallest: float | None = None,
        neighbors: Neighbors = "replace",
        invalid: Invalid = "raise",
        standardize: bool = False,
        fill: int | None = None,
        unit: Unit | str | None = None,
        align: Align | Literal["linear", "smooth"] | None = None,
        center: ArrayLike | None = None,
        largest: float | None = None,
        choices: int | None = None,
        record: str | None = None,
    ) -> None:
        if bound is not None and not (center is None and largest is None):
            raise ParameterError("bound says the centre and the largest radius", "them as well", "Drop them.")
        if bound is None and largest is None:
            raise ParameterError(
                "a radius is looked for within a public bound that surely holds the curves", "none",
                "Pass bound=dp.Range(low, high) for values between two public numbers; it may be wide.",
            )  # fmt: skip
        middle = None if center is None else np.asarray(center)
        given = bound if largest is None else L2Ball(_radius("largest", largest), middle)
        share = exact_fraction(quantile)
        if share is None or not 0 < share < 1:
            raise ParameterError("quantile must lie strictly between 0 and 1", shown(quantile), "Pass 0.95.")
        facts = {
            "n": n, "epsilon": epsilon, "grid": grid, "bound": given, "quantile": float(share), "neighbors": neighbors,
            "invalid": invalid, "standardize": standardize, "fill": fill, "unit": unit, "align": align,
            "choices": choices if bound is None else 1, "record": record,
        }  # fmt: skip
        for name, value in facts.items():
            object.__setattr__(self, name, value)
        check_records(self, L2Ball, "A quantile of one curve is that curve; privacy needs company.")
        check_alignment(self)
        check_choice("choices", self.choices, (None, 1))
        object.__setattr__(self, "center", self.bound.center)
        object.__setattr__(self, "largest", _radius("the bound's radius", self.bound.radius))
        least = SMALLEST * self.largest if smallest is None else _radius("smallest", smallest)
        object.__setattr__(self, "smallest", least)
        if not least * 2 ** (1 / PER_OCTAVE) <= self.largest:
            raise ParameterError(
                "smallest must leave a choice below the bound's radius",
                shown(least),
                f"Pass at most {self.largest * 2 ** (-1 / PER_OCTAVE):.3g}, or leave it out.",
            )

    @cached_property
    def bound(self) -> L2Ball:
        """The largest ball on offer."""
        return L2Ball(self.largest, self.center)

    @property
    def method(self) -> Method:
        """One coefficient, since every plan names a method: the radius itself is found by private choices alone."""
        return KNorm(1)

    @cached_property
    def chosen(self) -> Method:
        """Nothing is left to choose before data."""
        return self.method

    @cached_property
    def radii(self) -> np.ndarray:
        """The radii on offer, the smallest first."""
        octaves = float(np.log2(self.largest / self.smallest))
        return self.largest * 2.0 ** (-np.arange(int(PER_OCTAVE * octaves + 1e-9), -1, -1) / PER_OCTAVE)

    @property
    def kernel(self) -> Kernel:
        """A Matern kernel on the grid; the radii on offer do not depend on it."""
        return Matern().on(self.grid)

    @cached_property
    def problem(self) -> NormProblem:
        """The first choice."""
        inner = MeanProblem(
            self.kernel.basis(self.grid).first(1), self.bound, self.n, None,
            self.neighbors, self.invalid, self.standardize, self.fill, alignment_of(self),
        )  # fmt: skip
        search = self.schedule
        return NormProblem(inner, self.radii, search.places, Fraction(str(self.quantile)), search.price)

    @cached_property
    def schedule(self) -> RadiusSearch:
        return TwoChoices(self) if self.choices is None else OneChoice(self)

    @property
    def release_type(self) -> type[RadiusRelease]:
        return RadiusRelease

    # -- how far off it can be ------------------------------------------------------------

    @property
    def held(self) -> float:
        """The share of the curves that the radius holds at least, if the bound holds the quantile of them.

        With a probability of 95 % it does, and is at most `times` as large as it needs to be, whatever the curves.
        """
        return max(0.0, self.schedule.held)

    @property
    def times(self) -> float | None:
        """How many times as large as it needs to be the radius is at most; None in plans of version 0.1."""
        return self.schedule.times

    @property
    def missed(self) -> float:
        """By how much of the curves the quantile may be missed from below."""
        return self.quantile - self.held

    @property
    def means_something(self) -> bool:
        """Whether the radius is sure to hold a share of the curves that is worth telling."""
        return self.held >= LEAST_HELD

    def check_worth(self) -> None:
        if self.means_something:
            return
        ways = {"epsilon": "epsilon={:.3g}", "n": "{:,.0f} " + self.wording.records}
        found = [ways[name].format(value) for name, value in self.verdict.needs.items()]
        cure = f"It takes {' or '.join(found)}, or a larger smallest=R, closer to the bound's radius."
        raise ParameterError(
            "a radius must be sure to hold some of the curves",
            f"{self.n:,} {self.wording.records} at epsilon {float(self.epsilon):g}, where it could be anything between "
            f"{self.radii[0]:.3g} and {self.radii[-1]:.3g}",
            cure if found else "Use the bound itself.",
        )

    @cached_property
    def accuracy(self) -> Accuracy:
        return RadiusAccuracy(self)

    @property
    def wording(self) -> Wording:
        rows, more = curve_facts(self, "curve")
        about = (
            "zero" if self.center is None else f"{float(self.center):g}" if self.center.ndim == 0 else "a public curve"
        )
        return Wording(
            noun="radius",
            release=f"radius that holds {self.quantile:.3g} of the curves",
            nouns=Nouns.of("curve", self.record, None if self.unit is None else self.unit.name),
            target="quantile of norms",
            assumption=(
                f"One of {self.radii.size} public radii from {self.radii[0]:.3g} to {self.radii[-1]:.3g}, a fourth of "
                f"an octave apart, is chosen privately, by permute and flip: {self.schedule.text}. Nothing else about "
                f"the norms leaves. They are L2 norms about {about}, on {self.grid!r}. The guarantee holds whatever "
                f"the curves are; what is said of accuracy, if the largest radius holds the share asked for.{more}"
            ),
            unusable="counts as the public centre",
            rows=(("grid", repr(self.grid)), *rows),
            method="permute and flip",
            numbers=self.schedule.numbers_text,
            accuracy=Held(self, 1.0, "the curves"),
            more=with_words(self.grid),
        )


def _radius(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 1e-50 < value < 1e50:
        raise ParameterError(f"{name} must be a radius (1e-50 to 1e50)", shown(value), "Pass a public number.")
    return float(value)
