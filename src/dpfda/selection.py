"""Privacy-safe selection: parameters from n, epsilon and the kernel, never from data.

Methods with a parameter at None already minimise the exact risk. Here is the paper's own rule
(PSS), for those who want its rates (derivations: selection).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from .errors import ParameterError
from .methods import AR, FRL, QR, Method


def pss(method: Method, plan: Any) -> Method:
    """The method with the paper's privacy-safe parameters for this plan's n, epsilon and kernel.

    Where the paper's window is empty (QR, FRL at small ``n epsilon^2``) the parameter stays None:
    exact selection. The kernel is taken at unit trace and the curves at unit radius.

    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=100_000, epsilon=1, bound=dp.L2Ball(1.0), grid=48)
    >>> dp.selection.pss(dp.QR(), plan).eta
    1.5
    """
    if plan.problem.smooths:
        raise ParameterError(
            "PSS is for means", "a density", "Its bandwidth is privacy-safe by default; leave the other parameters out."
        )
    decay = plan.kernel.decay
    if decay is None:
        raise ParameterError(
            "PSS needs eigenvalues that fall polynomially",
            type(plan.kernel).__name__,
            "Use a Matern or exponential kernel, or leave the parameter at None (exact selection).",
        )
    n, epsilon = plan.n, float(plan.epsilon)
    trace = float(plan.basis.eigenvalues.sum())
    if isinstance(method, QR):
        eta = method.eta or 1 + 2 / decay
        open_window = (n * epsilon**2) ** (-eta * decay / (decay + 2)) <= 1 / n
        return replace(method, eta=eta, psi=trace**eta / n if open_window else None)
    if isinstance(method, AR):
        eta = method.eta or 2 * (1 + 2 / decay)
        return replace(method, eta=eta, psi=plan.bound.outer * trace ** (eta / 2) / n)
    if isinstance(method, FRL):
        low, high = math.ceil(n ** (1 / (decay * (1 + 1 / decay)))), math.floor(n ** (1 / 3) + 1e-9)
        return replace(method, components=min(high, plan.basis.size) if low <= high else None)
    raise ParameterError(
        "PSS is defined for FRL, AR and QR", type(method).__name__, "Leave the parameters of other methods at None."
    )
