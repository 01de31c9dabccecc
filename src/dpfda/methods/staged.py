"""Staged: find the scale, find a rough centre, then spend the rest in small bodies about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from dpfda.bounds.bodies import L2Ball
from dpfda.core.checks import check_positive
from dpfda.core.codec import LATER, exact_fraction
from dpfda.core.errors import FileError, ParameterError, shown
from dpfda.methods.base import Method, P, check_pure
from dpfda.methods.blockwise import Blocks
from dpfda.problems.contracts import Problem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part

#: Default shares of the budget: each private choice of a radius, and the curves' own variability. Any shares are valid:
#: they add up (derivations: stages).
SELECTION, CONFIDENCE = Fraction(1, 25), Fraction(1, 100)
#: A limit on what is asked for, by no proof: each round is a pass or two over the data, with less budget for each.
MOST_ROUNDS = 8
#: How centres are taken from draws and ellipsoids are offered: plans and files of None come from before there were
#: numbers, and are carried out as they were.
RULE = 2
#: Radii at which all lengths that may follow in later rounds are ordinary numbers.
SMALLEST, LARGEST = 1e-40, 1e40


@dataclass(frozen=True, eq=False, repr=False)
class Staged(Method):
    """A private radius, then one or more rounds, each with its share of epsilon (derivations: stages).

    The radius is the smallest of a public ladder below the plan's own that holds nearly all curves. The first round is
    `method` with that radius: a rough private centre, or the whole answer if it is the only one. Every later round
    clips curves to an ellipsoid about the centre so far and releases their mean distance from it with ball noise.
    Each ellipsoid is chosen privately among candidates of several sizes and shapes, up to the spread where one is
    given. Each round is a pass over the data, and so is each choice; where there is one round, the radius needs none of
    its own. How much curves vary and what was left out of them, for bands, is read in the last round's pass.

    Parameters
    ----------
    method : Method, optional
        The first round: a method of one round. Default: :class:`Blocks`.
    spread : float, optional
        How far curves stray from their mean: a public radius, if you know one. Default: chosen privately.
    shares : sequence of Fraction, str or float, optional
        What each of the 1 to 8 rounds gets of what they divide among them; they add up to one. Default: 1/5 and 4/5.
    selection : Fraction, str or float, optional
        Share of epsilon that each private choice of an ellipsoid costs, up to 1/2. Default: 1/25. 0: none, which needs
        a spread.
    confidence : Fraction, str or float, optional
        Share of epsilon that goes to how much curves vary, for :meth:`Release.confidence_band`, up to 1/2; only where
        there are later rounds or a check. Default: 1/100. 0: none.
    radius : Fraction, str or float, optional
        Share of epsilon that the private radius costs, up to 1/2; for bounds that are balls. Default: 0, none: the
        plan's own radius.
    rule : int, optional
        The version of the rule by which draws lead to centres and candidates. Default: the present one.
    check : Fraction, str or float, optional
        Share of epsilon that goes to what the rounds leave out, for :meth:`Release.band`, up to 1/2. 0: bands take the
        public bound for it. Default: none, and with one round how much curves vary is not measured either.

    Examples
    --------
    >>> Staged(shares=("1/5", "4/5"), spread=1.0).steps
    ('centre', 'choose', 'refine', 'vary')
    >>> Staged(shares=("1",), radius="1/5").steps
    ('radius', 'centre')
    """

    #: Later rounds divide small distances by the count, not whole curves: a rough one will do.
    count_share: ClassVar[Fraction | None] = Fraction(1, 40)

    composite: ClassVar[bool] = True

    method: Method = Blocks()  # noqa: RUF009  (a frozen fact)
    spread: float | None = None
    shares: tuple[Fraction, ...] = (Fraction(1, 5), Fraction(4, 5))
    selection: Fraction = SELECTION
    confidence: Fraction = CONFIDENCE
    radius: Fraction | None = field(default=None, metadata=LATER)
    rule: int | None = field(default=RULE, metadata=LATER)
    check: Fraction | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        if not isinstance(self.method, Method) or self.method.composite:
            raise ParameterError(
                "the first round is a method of one round", shown(self.method), "Pass dp.methods.KNorm(), say."
            )
        check_positive("spread", self.spread)
        put("spread", None if self.spread is None else float(self.spread))
        put("shares", _shares(self.shares))
        if self.rule is not None and (type(self.rule) is not int or self.rule != RULE):
            raise FileError(f"Rule {shown(self.rule)} of stages is not known here; it may come from a newer version.")
        given = [name for name in ("radius", "check") if getattr(self, name) is not None]
        for name in ("selection", "confidence", *given):
            share = exact_fraction(getattr(self, name))
            if share is None or not 0 <= share <= Fraction(1, 2):
                raise ParameterError(
                    f"{name} is a share of epsilon, from 0 to 1/2", shown(getattr(self, name)), "Try 1/20."
                )
            put(name, share)
        put("radius", self.radius or None)
        if len(self.shares) == 1 and self.radius is None and self.check is None:
            raise ParameterError(
                "one round without a private radius or a check has no stages",
                repr(self.method),
                "Pass it as method=... itself.",
            )
        if not self.selection and self.spread is None and len(self.shares) > 1:
            raise ParameterError(
                "without a private choice of the radius the spread must be public",
                "none",
                "Pass spread=..., or selection.",
            )
        if self.rounds_share <= 0:
            raise ParameterError("the rounds need a share of epsilon", "none is left", "Lower selection or confidence.")

    def __repr__(self) -> str:
        spread = "" if self.spread is None else f", spread={self.spread:g}"
        radius = "" if self.radius is None else f", radius='{self.radius}'"
        later = f", selection='{self.selection}'" if len(self.shares) > 1 else ""
        varying = f", confidence='{self.confidence}'" if len(self.shares) > 1 or self.check is not None else ""
        check = "" if self.check is None else f", check='{self.check}'"
        return f"Staged({self.method!r}{spread}, shares={tuple(map(str, self.shares))}{later}{varying}{radius}{check})"

    # -- what happens, in order ---------------------------------------------------------------

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """One name for each draw."""
        found = ["centre"] if self.radius is None else ["radius", "centre"]
        for number in range(1, len(self.shares)):
            # Before there were rules, a public spread stood for all choices but the last.
            chosen = self.rule is not None or self.spread is None or number == len(self.shares) - 1
            found += ["choose", "refine"] if self.selection and chosen else ["refine"]
        varying = bool(self.confidence) and (len(self.shares) > 1 or self.check is not None)
        return (*found, *(["vary"] if varying else []), *(["check"] if self.check else []))

    @property
    def passes(self) -> int:
        """How often the data is read: all of one round is one pass, and so is all of the last of several."""
        return sum(step not in ("vary", "check") for step in self.steps) if len(self.shares) > 1 else 1

    @cached_property
    def rounds_share(self) -> Fraction:
        """The share of epsilon that the rounds divide among them."""
        varying = self.confidence if "vary" in self.steps else Fraction(0)
        return 1 - self.steps.count("choose") * self.selection - varying - (self.radius or 0) - (self.check or 0)

    def share(self, number: int) -> Fraction:
        """The share of epsilon of one draw, by its number.

        Parameters
        ----------
        number : int
            The place of the draw in `steps`, counted from 0.
        """
        return self._by_step[number]

    @cached_property
    def _by_step(self) -> tuple[Fraction, ...]:
        rounds = iter(self.shares)
        fixed = {
            "choose": self.selection,
            "vary": self.confidence,
            "radius": self.radius or Fraction(0),
            "check": self.check or Fraction(0),
        }
        return tuple(fixed[step] if step in fixed else self.rounds_share * next(rounds) for step in self.steps)

    # -- the first round ------------------------------------------------------------------------

    def frame(self, problem: P) -> P:
        for length in (problem.bound.outer if isinstance(problem, MeanProblem) else 1.0, self.spread or 1.0):
            check_ordinary(length)
        if self.method.frame(problem) is not problem or not isinstance(problem, MeanProblem):
            raise ParameterError(
                "stages refine the mean of curves in a kernel's basis", repr(self), "Use dp.Auto() elsewhere."
            )
        if self.radius is not None and type(problem.bound) is not L2Ball:
            raise ParameterError(
                "a private radius is for bounds that are balls", shown(problem.bound), "Leave radius out."
            )
        return problem

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        return replace(self, method=self.method.resolved(problem, epsilon * self.first_share))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        parts = self.method.calibrate(problem, epsilon * self.first_share)
        check_pure(parts)
        return parts

    def describe(self, basis: str) -> str:
        return self.method.describe(basis)

    @property
    def first_share(self) -> Fraction:
        """The share of epsilon of the first round."""
        return self.share(self.steps.index("centre"))


def check_ordinary(length: float) -> None:
    """Refuse, before data, a radius from which later rounds could reach the ends of what numbers can hold."""
    if not SMALLEST < length < LARGEST:
        raise ParameterError(
            f"stages need radii between {SMALLEST:g} and {LARGEST:g}", f"{length:g}", "Change the unit of curves."
        )


def _shares(given: object) -> tuple[Fraction, ...]:
    cure = "Pass shares=('1/5', '4/5'), say: one per round, adding up to one."
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError("shares are fractions, one per round", shown(given), cure)
    found = tuple(exact_fraction(share) for share in given)
    shares = tuple(share for share in found if share is not None)
    if len(shares) != len(found) or not 1 <= len(shares) <= MOST_ROUNDS or min(shares) <= 0 or sum(shares) != 1:
        raise ParameterError(f"shares are 1 to {MOST_ROUNDS} positive fractions that add up to one", shown(given), cure)
    return shares
