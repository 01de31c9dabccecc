"""Centred: a covariance about a private centre, of curves clipped to a private radius."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from dpfda.core.codec import exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.ar import AR
from dpfda.methods.base import Method, check_pure
from dpfda.methods.knorm import KNorm
from dpfda.methods.staged import check_ordinary
from dpfda.problems.base import Part, Problem


@dataclass(frozen=True, eq=False, repr=False)
class Centred(Method):
    """First a rough mean of the curves, then a radius about it that holds nearly all of them, then their covariance.

    A covariance does not depend on where its curves lie, but its noise grows with the fourth power of the radius that
    holds them: a small ball about a private centre beats a large one about a public centre. `centre` and `selection`
    are shares of epsilon; the rest is for the covariance, by `method`. The data is read three times.

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

    def frame(self, problem: Any) -> Any:
        if not hasattr(problem, "code") or self.method.frame(problem) is not problem:
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
