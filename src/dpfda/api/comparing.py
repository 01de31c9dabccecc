"""`dp.compare`: a plan under other methods and budgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from dpfda.api.types import Epsilon
from dpfda.core.checks import as_epsilon
from dpfda.core.errors import ParameterError, shown
from dpfda.methods import AR, FRL, QR, Auto, KNorm, Method, Minimax
from dpfda.plans import CovariancePlan, DensityPlan, MeanPlan

P = TypeVar("P", MeanPlan, DensityPlan, CovariancePlan)
PLAN = "Pass plan=dp.MeanPlan(...)."


def compare(
    plan: P, methods: Sequence[Method] | None = None, epsilons: Sequence[Epsilon] = (0.125, 0.25, 0.5, 1, 2, 4)
) -> dict[str, list[P]]:
    """The plan under other methods and budgets, no data: rank them by ``expected_risk``.

    Parameters
    ----------
    plan : MeanPlan, CovariancePlan or DensityPlan
        What is compared.
    methods : sequence of Method, optional
        Default: those that suit the plan.
    epsilons : sequence, optional
        The budgets.

    Returns
    -------
    dict
        By the name of the method, one plan for each budget.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=508, epsilon=1, bound=dp.L2Ball(1.0), grid=48)
    >>> sorted(dp.compare(plan, epsilons=[1]))
    ['AR', 'Auto', 'FRL', 'KNorm', 'Minimax', 'QR']
    """
    if not isinstance(plan, MeanPlan | DensityPlan | CovariancePlan):
        raise ParameterError("a plan of a mean, a covariance or a density is compared", shown(plan), PLAN)
    if methods is None:
        for_means: list[Method] = [] if plan.problem.smooths else [Auto(), AR()]
        methods = [*for_means, FRL(), QR(), Minimax(), KNorm()]
    if not _listed(methods) or not all(isinstance(method, Method) for method in methods):
        raise ParameterError("methods are a list of dpfda methods", shown(methods), "Pass methods=[dp.Auto()], say.")
    if not _listed(epsilons):
        raise ParameterError("epsilons are a list of budgets", shown(epsilons), "Pass epsilons=[0.5, 1, 2].")
    names = [m.title for m in methods]
    labels = [name if names.count(name) == 1 else repr(m) for name, m in zip(names, methods, strict=True)]
    return {
        label: [replace(plan, method=method, epsilon=as_epsilon(epsilon, "epsilons")) for epsilon in epsilons]
        for label, method in zip(labels, methods, strict=True)
    }


def _listed(given: object) -> bool:
    """Whether this is several things, and not one text."""
    return isinstance(given, Iterable) and not isinstance(given, str | bytes)
