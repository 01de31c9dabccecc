"""Centred: a covariance about a private centre, of curves clipped to a private radius."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Self, cast

from dpfda.core.codec import LATER, exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.ar import AR
from dpfda.methods.base import Method, P, check_pure
from dpfda.methods.knorm import KNorm
from dpfda.methods.staged import check_ordinary
from dpfda.problems.contracts import Problem
from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.stage import Part

#: Functions of the rough mean where their number is left out: ``.7 sqrt(n epsilon)``, three at least. The noise on M of
#: them grows as M over n epsilon, and what a mean leaves beyond M falls as a root of M or faster: any number is valid.
ROUGHLY, FEWEST = 0.7, 3


@dataclass(frozen=True, eq=False, repr=False)
class Centred(Method):
    """First a rough mean of the curves, then a radius about it that holds nearly all of them, then their covariance.

    A covariance does not depend on where its curves lie, but its noise grows with the fourth power of the radius that
    holds them: a small ball about a private centre beats a large one about a public centre. The data is read three
    times, four where the scale is chosen first, and once more for a check.

    Parameters
    ----------
    method : Method, optional
        How the covariance is released: a method of one round other than AR. Default: :class:`KNorm`.
    centre : Fraction, str or float, optional
        Share of epsilon for the rough mean, below a half. Default: 1/5.
    selection : Fraction, str or float, optional
        Share of epsilon for the choice of the radius, below a half. Default: 1/20. The rest is for the covariance.
    scale : Fraction, str or float, optional
        Share of epsilon for a private choice of the curves' scale about the public centre before all else, which pays
        for a loose bound. Default: none.
    first : KNorm, optional
        How the rough mean is released; the radius then holds fewer curves where n epsilon is small, and the release
        gets back the size that the clip took. Default: as in earlier versions, one of several ways by their risk.
    check : Fraction, str or float, optional
        Share of epsilon for one more pass, which says how far the published surface is from the records' own: error
        bars rest on it. With a `first` method only. Default: none.

    Examples
    --------
    >>> Centred().rest
    Fraction(3, 4)
    """

    #: The count divides the covariance, which is all that is released.
    count_share: ClassVar[Fraction | None] = Fraction(1, 20)
    composite: ClassVar[bool] = True

    method: Method = KNorm()  # noqa: RUF009  (a frozen fact)
    centre: Fraction = Fraction(1, 5)
    selection: Fraction = Fraction(1, 20)
    scale: Fraction | None = field(default=None, metadata=LATER)
    first: KNorm | None = field(default=None, metadata=LATER)
    check: Fraction | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method) or self.method.composite or isinstance(self.method, AR):
            raise ParameterError(
                "the covariance is released by a method of one round that needs no threshold",
                shown(self.method),
                "Pass dp.methods.KNorm(), dp.methods.Minimax(), dp.methods.QR() or dp.methods.FRL().",
            )
        if self.first is not None and not isinstance(self.first, KNorm):
            raise ParameterError("the rough mean has ball noise", shown(self.first), "Pass first=dp.methods.KNorm().")
        if self.check is not None and self.first is None:
            raise ParameterError("a check needs a rough mean with ball noise", "none", "Pass first=dp.methods.KNorm().")
        for name in ("centre", "selection", *(name for name in ("scale", "check") if getattr(self, name) is not None)):
            share = exact_fraction(getattr(self, name))
            if share is None or not 0 < share < Fraction(1, 2):
                raise ParameterError(
                    f"{name} is a share of epsilon below a half", shown(getattr(self, name)), "Try 1/5."
                )
            object.__setattr__(self, name, share)
        if self.rest <= 0:
            raise ParameterError("shares leave something for the covariance", f"{1 - self.rest}", "Try smaller ones.")

    def __repr__(self) -> str:
        scale = "" if self.scale is None else f", scale='{self.scale}'"
        first = "" if self.first is None else f", first={self.first!r}"
        check = "" if self.check is None else f", check='{self.check}'"
        return f"Centred({self.method!r}, centre='{self.centre}', selection='{self.selection}'{scale}{first}{check})"

    @property
    def steps(self) -> tuple[str, ...]:
        """What each pass over the data is for."""
        first, last = () if self.scale is None else ("scale",), () if self.check is None else ("check",)
        return (*first, "centre", "choose", "covariance", *last)

    @property
    def rest(self) -> Fraction:
        """What is left for the covariance."""
        return 1 - self.centre - self.selection - (self.scale or 0) - (self.check or 0)

    def frame(self, problem: P) -> P:
        framed = self.method.frame(problem)
        if not isinstance(problem, CovarianceProblem) or framed.basis is not problem.basis:
            raise ParameterError(
                "a private centre is for covariances", "another problem", "Use dp.methods.Staged() for means."
            )
        check_ordinary(problem.code.bound.outer)
        return framed

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        method = self.method.resolved(problem, epsilon * self.rest)
        if self.first is None or self.first.components is not None:
            return replace(self, method=method)
        strength = cast(CovarianceProblem, problem).n * float(epsilon * self.centre)
        most = cast(CovarianceProblem, problem).basis.line.size
        return replace(self, method=method, first=KNorm(min(max(FEWEST, round(ROUGHLY * strength**0.5)), most)))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        parts = self.method.calibrate(problem, epsilon * self.rest)
        check_pure(parts)
        return parts

    def describe(self, basis: str) -> str:
        return self.method.describe(basis)
