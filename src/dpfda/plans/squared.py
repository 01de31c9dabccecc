"""Which plan fits a function by least squares: by moments, or by a penalised loss. Estimator and page ask here."""

from __future__ import annotations

from typing import Any

from dpfda.plans.kernel import KernelPlan
from dpfda.plans.smoother import SmootherPlan

#: Above so many inputs waves overlap so much that a first moment with noise misleads.
MOST_INPUTS = 3


def squared_plan(**facts: Any) -> KernelPlan | SmootherPlan:
    """Moments and clipped residuals, or output perturbation with clipped residuals: the smaller expected risk.

    >>> type(squared_plan(n=1000, epsilon=1, domain=[(0, 1)] * 4, bound=(0, 1))).__name__
    'KernelPlan'
    """
    pulled = KernelPlan(criterion="huber", **facts)
    if len(facts["domain"] or ()) > MOST_INPUTS:
        return pulled
    moments = SmootherPlan(**facts)
    return moments if moments.expected_risk <= pulled.risk_at_a_point else pulled
