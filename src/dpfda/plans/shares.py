"""What a plan spends on each step, as data: which step, in which reading of the records, for how much of epsilon."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class Cost(NamedTuple):
    """A step of a schedule: in plain words, in which reading of the records, and what it costs."""

    step: str
    reading: int
    epsilon: Fraction


#: A private number of records, as a step.
COUNT = "the number of records"


@dataclass(frozen=True)
class Share:
    """What a plan spends on one step; the shares of a plan add up to its epsilon, exactly.

    Parameters
    ----------
    step : str
        What is computed, in plain words.
    reading : int
        In which reading of the records, counted from 1. Steps of one reading share it.
    epsilon : Fraction
        What the step costs.
    share : Fraction
        The same as a share of the plan's epsilon.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=5000, epsilon="1/2", bound=dp.L2Ball(1.0), grid=48)
    >>> [(part.reading, part.step) for part in plan.shares][:2]
    [(1, 'a radius that holds most curves'), (2, 'a rough centre')]
    >>> sum(part.epsilon for part in plan.shares), sum(part.share for part in plan.shares)
    (Fraction(1, 2), Fraction(1, 1))
    """

    step: str
    reading: int
    epsilon: Fraction
    share: Fraction


def shares_of(costs: Iterable[Cost], whole: Fraction) -> tuple[Share, ...]:
    """Steps that cost something, as shares of the whole budget."""
    return tuple(Share(step, reading, cost, cost / whole) for step, reading, cost in costs if cost)
