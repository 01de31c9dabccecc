"""Which plan fits a function by least squares: by moments, or by a penalised loss. Estimator and page ask here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Required, TypedDict, Unpack

from dpfda.core.checks import Epsilon, Invalid, Neighbors
from dpfda.plans.kernel import KernelPlan
from dpfda.plans.smoother import SmootherPlan
from dpfda.spaces.stationary import Stationary

#: Above so many inputs waves overlap so much that a first moment with noise misleads.
MOST_INPUTS = 3


class FunctionFacts(TypedDict, total=False):
    """What both plans of a function are told."""

    n: Required[int]
    epsilon: Required[Epsilon]
    domain: Required[Iterable[Iterable[float]]]
    bound: Required[float | Iterable[float]]
    names: Iterable[str] | None
    kernel: Stationary | None
    components: int | None
    neighbors: Neighbors
    invalid: Invalid
    value: str | None
    record: str | None


def squared_plan(**facts: Unpack[FunctionFacts]) -> KernelPlan | SmootherPlan:
    """Moments and clipped residuals, or output perturbation with clipped residuals: the smaller expected risk.

    >>> type(squared_plan(n=1000, epsilon=1, domain=[(0, 1)] * 4, bound=(0, 1))).__name__
    'KernelPlan'
    """
    pulled = KernelPlan(criterion="huber", **facts)
    if len(pulled.domain) > MOST_INPUTS:
        return pulled
    moments = SmootherPlan(**facts)
    return moments if moments.expected_risk <= pulled.risk_at_a_point else pulled
