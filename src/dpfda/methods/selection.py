"""Choosing parameters: the paper's privacy-safe rule, and cross-validation to compare it with.

Methods with a parameter at None already minimise the exact risk, from n, epsilon and the kernel. Here is
the paper's own rule (`pss`), for those who want its rates (derivations: selection). `pcv` reads the data
for free, so nothing chosen by it may be published as private: it is here to reproduce studies.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, reduce
from typing import Any

import numpy as np

from dpfda.core.errors import NotPrivateWarning, ParameterError, shown
from dpfda.methods import AR, FRL, QR, Method


def pss(method: Method, plan: Any) -> Method:
    """The method with the paper's privacy-safe parameters for this plan's n, epsilon and kernel.

    Where the paper's window is empty (QR, FRL at small ``n epsilon^2``) the parameter stays None:
    exact selection. The kernel is taken at unit trace and the curves at unit radius.

    Parameters
    ----------
    method : QR, AR or FRL
        The method whose parameters are chosen; an `eta` that it has is kept.
    plan : plan
        A plan of a mean, whose kernel's eigenvalues fall polynomially.

    Returns
    -------
    Method
        The same kind of method, with its parameters.

    Raises
    ------
    dpfda.errors.ParameterError
        For a density, for a kernel without polynomial decay, and for other methods.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=100_000, epsilon=1, bound=dp.L2Ball(1.0), grid=48)
    >>> dp.selection.pss(dp.methods.QR(), plan).eta
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
        # At epsilon 1 and the smallest eta both ends are equal: rounding must not decide.
        open_window = (n * epsilon**2) ** (-eta * decay / (decay + 2)) <= (1 + 1e-9) / n
        return replace(method, eta=eta, psi=trace**eta / n if open_window else None)
    if isinstance(method, AR):
        eta = method.eta or 2 * (1 + 2 / decay)
        return replace(method, eta=eta, psi=plan.bound.outer * trace ** (eta / 2) / n)
    if isinstance(method, FRL):
        low, high = math.ceil(n ** (1 / (decay * (1 + 1 / decay))) - 1e-9), math.floor(n ** (1 / 3) + 1e-9)
        return replace(method, components=min(high, plan.basis.size) if low <= high else None)
    raise ParameterError(
        "PSS is defined for FRL, AR and QR", type(method).__name__, "Leave the parameters of other methods at None."
    )


def pcv(candidates: Sequence[Method], plan: Any, records: Any, rng: np.random.Generator, folds: int = 10) -> Method:
    """The candidate with the smallest cross-validated error, noise included. **Not private**: for studies only.

    Private cross-validation (Mirshani, Reimherr and Slavkovic 2019): estimate from all folds but one, compare with
    that one, add the expected error of the noise. The choice depends on every record and spends no budget, so
    it warns with `NotPrivateWarning`.

    Parameters
    ----------
    candidates : sequence of Method
        Methods in the plan's own basis.
    plan : plan
        The plan that the candidates are tried in.
    records : array
        One row per record.
    rng : numpy.random.Generator
        Deals records to folds.
    folds : int, optional
        Between 2 and the number of records. Default: 10.

    Returns
    -------
    Method
        The best of the candidates.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a candidate or the number of folds will not do.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> sample = dp.datasets.scenario("S-1", 1000, rng)
    >>> plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.L2Ball(3.5), grid=sample.grid, method=dp.methods.FRL())
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", dp.errors.NotPrivateWarning)
    ...     dp.selection.pcv([dp.methods.FRL(m) for m in (1, 8, 64)], plan, sample.curves, rng).components
    8
    """
    if not candidates or not all(isinstance(m, Method) and m.frame(plan.problem) is plan.problem for m in candidates):
        raise ParameterError(
            "candidates are methods in the plan's own basis",
            shown(candidates),
            "Pass [dp.methods.FRL(4), dp.methods.FRL(8)], say.",
        )
    if not isinstance(folds, int) or not 2 <= folds <= len(records):
        raise ParameterError("folds lie between 2 and the number of records", shown(folds), "Pass folds=10.")
    warnings.warn(
        "Cross-validation reads the data without spending budget: what it chooses is not private. For studies only.",
        NotPrivateWarning,
        stacklevel=2,
    )
    rows = np.asarray(records)
    parts = [plan.summarize(rows[fold]) for fold in np.array_split(rng.permutation(len(rows)), folds)]

    @cache
    def planned(number: int, n: int) -> Any:
        return replace(plan, n=n, method=candidates[number])

    @cache
    def problem_of(n: int) -> Any:
        return replace(plan, n=n).problem

    scores = np.zeros(len(candidates))
    for left_out, part in enumerate(parts):
        rest = reduce(lambda a, b: a.merge(b), parts[:left_out] + parts[left_out + 1 :])
        problem = problem_of(part.count)
        seen = problem.finish(np.array([float(x) for x in problem.estimate(part)]), ())
        for number in range(len(candidates)):
            candidate = planned(number, rest.count)
            fitted = candidate.schedule.combine([candidate.statistic(rest)])
            scores[number] += float(((fitted - seen) ** 2).sum()) + candidate.expected_error
    return candidates[int(np.argmin(scores))]
