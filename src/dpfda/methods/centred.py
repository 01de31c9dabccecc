"""Centred: a covariance about a private centre, of curves clipped to a private radius."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from dpfda.core.codec import exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.ar import AR
from dpfda.methods.base import Method, P, check_pure
from dpfda.methods.knorm import KNorm
from dpfda.methods.staged import check_ordinary
from dpfda.problems.contracts import Problem
from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.stage import Part


@dataclass(frozen=True, eq=False, repr=False)
class Centred(Method):
    """First a rough mean of the curves, then a radius about it that holds nearly all of them, then their covariance.

    A covariance does not depend on where its curves lie, but its noise grows with the fourth power of the radius that
    holds them: a small ball about a private centre beats a large one about a public centre. The data is read three
    times.

    Parameters
    ----------
    method : Method, optional
        How the covariance is released: a method of one round other than AR. Default: :class:`KNorm`.
    centre : Fraction, str or float, optional
        Share of epsilon for the rough mean, below a half. Default: 1/5.
    selection : Fraction, str or float, optional
        Share of epsilon for the choice of the radius, below a half. Default: 1/20. The rest is for the covariance.

    Examples
    --------
    >>> Centred().rest
    Fraction(3, 4)
    """

    #: The count divides the covariance, which is all that is released.
    count_share: ClassVar[Fraction | None] = Fraction(1, 20)
    steps: ClassVar[tuple[str, ...]] = ("centre", "choose", "covariance")

    composite: ClassVar[bool] = True

    method: Method = KNorm()  # noqa: RUF009  (a frozen fact)
    centre: Fraction = Fraction(1, 5)
    selection: Fraction = Fraction(1, 20)

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method) or self.method.composite or isinstance(self.method, AR):
            raise ParameterError(
                "the covariance is released by a method of one round that needs no threshold",
                shown(self.method),
                "Pass dp.methods.KNorm(), dp.methods.Minimax(), dp.methods.QR() or dp.methods.FRL().",
            )
        for name in ("centre", "selection"):
            share = exact_fraction(getattr(self, name))
            if share is None or not 0 < share < Fraction(1, 2):
                raise ParameterError(
                    f"{name} is a share of epsilon below a half", shown(getattr(self, name)), "Try 1/5."
                )
            object.__setattr__(self, name, share)

    def __repr__(self) -> str:
        return f"Centred({self.method!r}, centre='{self.centre}', selection='{self.selection}')"

    @property
    def rest(self) -> Fraction:
        """What is left for the covariance."""
        return 1 - self.centre - self.selection

    def frame(self, problem: P) -> P:
        if not isinstance(problem, CovarianceProblem) or self.method.frame(problem) is not problem:
            raise ParameterError(
                "a private centre is for covariances", "another problem", "Use dp.methods.Staged() for means."
            )
        check_ordinary(problem.code.bound.outer)
        return problem

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        return replace(self, method=self.method.resolved(problem, epsilon * self.rest))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        parts = self.method.calibrate(problem, epsilon * self.rest)
        check_pure(parts)
        return parts
