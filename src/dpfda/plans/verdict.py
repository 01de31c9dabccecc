"""What would make a release better: the verdict of a plan, and the epsilon, n or bound that changes it.

Public facts alone: the same plan at other budgets, numbers and bounds, by the errors that its class lets expect.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, log10
from typing import Protocol, TypedDict, Unpack

from dpfda.bounds.bodies import L2Ball
from dpfda.core.errors import DpfdaError
from dpfda.results.verdict import WORDS, Verdict, word_for
from dpfda.results.wording import Wording

#: Steps of what is looked for, as factors, and the largest: 4,096 times as much.
STEP, STEPS = 2**0.25, 48
#: The smallest bound that is looked for, in the same steps: an eighth.
SMALLER = 12


class OtherFacts(TypedDict, total=False):
    """What may be varied to look for a cure."""

    epsilon: float
    n: int
    bound: L2Ball


class Rate(Protocol):
    """Rates a plan with other facts."""

    def __call__(self, **facts: Unpack[OtherFacts]) -> tuple[float, str]:
        """The ratio of error and signal, and why it is mostly noise for another reason, if it is."""


class Rated(Protocol):
    """A plan, as far as a verdict needs it."""

    @property
    def n(self) -> int: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def wording(self) -> Wording: ...


def verdict(
    plan: Rated, rated: tuple[float, str], signal: str, rate: Rate, rate_bound: Rate | None = None,
    bound: str | None = None,
) -> Verdict:  # fmt: skip
    """The verdict on a plan; `rate_bound` rates the same curves within other bounds, where a bound matters.

    `bound` says whether the bound suits a guess, where there is one.
    """

    def find(better: str) -> dict[str, float]:
        found: dict[str, float] = {}

        def with_epsilon(k: int) -> bool:
            return _meets(rate(epsilon=rounded(float(plan.epsilon) * STEP**k)), better)

        def with_n(k: int) -> bool:
            return _meets(rate(n=ceil(rounded(plan.n * STEP**k))), better)

        near = _first(with_epsilon)
        if near is not None:
            found["epsilon"] = rounded(float(plan.epsilon) * STEP**near)
        if (k := _first(with_n, near or 1)) is not None:
            found["n"] = ceil(rounded(plan.n * STEP**k))
        if rate_bound is not None and (radius := _smaller_bound(plan, rate_bound, better)) is not None:
            found["bound"] = radius
        return found

    ratio, few = rated
    return Verdict(ratio, signal, plan.wording.records, find, few, bound or "")


def _smaller_bound(plan: Rated, rate: Rate, better: str) -> float | None:
    """The largest smaller radius that will do."""
    bound = getattr(plan, "bound", None)
    if type(bound) is not L2Ball:
        return None
    for k in range(1, SMALLER + 1):
        radius = rounded(bound.radius * STEP**-k)
        if radius < bound.radius and _meets(rate(bound=L2Ball(radius, bound.center)), better):
            return radius
    return None


def _meets(rated: tuple[float, str], better: str) -> bool:
    ratio, few = rated
    return WORDS.index(word_for(ratio, bool(few))) <= WORDS.index(better)


def _first(meets: Callable[[int], bool], near: int = 1) -> int | None:
    """The first number of steps that will do, if more of them do as well; by halves, looked for `near` this first."""

    def safely(k: int) -> bool:
        try:
            return meets(k)
        except DpfdaError:  # more than a plan can hold
            return False

    low, high = 0, near
    while not safely(high):
        if high >= STEPS:
            return None
        low, high = high, min(2 * high, STEPS)
    if low == 0 and near > 1 and not safely(near - 1):
        return near
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if safely(middle) else (middle, high)
    return high


def rounded(value: float) -> float:
    """Up to two digits, for people.

    >>> rounded(0.12301), rounded(8101.0), rounded(2.0)
    (0.13, 8200.0, 2.0)
    """
    unit = floor(log10(value)) - 1
    return float(f"{ceil(value / 10.0**unit - 1e-9)}e{unit}")
