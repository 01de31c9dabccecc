"""GaussianProcess: the (epsilon, delta) peer. The only method here that is not pure differential privacy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpfda.core.checks import check_positive
from dpfda.core.codec import exact_fraction
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.base import Method, best_scale, class_risk, noised, powers
from dpfda.methods.qr import check_no_psi, describe_ridge, ridge
from dpfda.noise import Gaussian
from dpfda.noise.gaussian import multiplier
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part


@dataclass(frozen=True, eq=False, repr=False)
class GaussianProcess(Method):
    """Smoothed coefficients plus a Gaussian process with the plan's kernel as covariance.

    Hall, Rinaldo and Wasserman (2013); Mirshani, Reimherr and Slavkovic (2019). The guarantee is
    (epsilon, `delta`): with a probability of about `delta` the release may say anything about a record.
    A mean is smoothed by the penalty of :class:`QR`, a density by its kernel's power `eta`.

    Parameters
    ----------
    delta : Fraction, str or float
        The delta of the guarantee, strictly between 0 and 1.
    eta : float, optional
        Power of the penalty's norm. Default: for a mean as for :class:`QR`, for a density its problem's or 1.
    psi : float, optional
        Size of the penalty; not for densities. Default: the one with the least expected risk, from public things.

    Examples
    --------
    >>> GaussianProcess(delta=0.01)
    GaussianProcess(delta=0.01, eta=None, psi=None)
    """

    delta: Fraction
    eta: float | None = None
    psi: float | None = None

    def __post_init__(self) -> None:
        delta = exact_fraction(self.delta)
        if delta is None or not 0 < delta < 1:
            raise ParameterError(
                "delta must lie strictly between 0 and 1",
                shown(self.delta),
                "Pass method=dp.methods.GaussianProcess(delta=1e-6).",
            )
        object.__setattr__(self, "delta", delta)
        for name in ("eta", "psi"):
            check_positive(name, getattr(self, name))

    def __repr__(self) -> str:
        return f"GaussianProcess(delta={float(self.delta):g}, eta={self.eta}, psi={self.psi})"

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        if problem.smooths:
            check_no_psi(self.psi)
            return replace(self, eta=self.eta or problem.eta or 1.0)
        eta = self.eta or 1 + 2 / (problem.decay or 4.0)
        found = powers(problem.basis.eigenvalues, eta)
        psi = self.psi or best_scale(
            lambda x: self._risk(problem, epsilon, ridge(found, x)), 1e-3 * float(found[-1]), 1e3 * float(found[0])
        )
        return replace(self, eta=eta, psi=psi)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        chosen = self.resolved(problem, epsilon)
        filter = ridge(powers(problem.basis.eigenvalues, chosen.eta or 1.0), chosen.psi)
        where = noised(problem, filter)
        if not where.size:
            raise ParameterError(
                "a filter must keep at least one coefficient", "none", "Check eta, psi and the kernel's scale."
            )
        law = Gaussian.calibrated(
            epsilon,
            self.delta,
            np.sqrt(problem.basis.eigenvalues[where]),
            filter[where],
            problem.sensitivity.restricted(where),
            problem.max_abs[where],
        )
        return (Part(where, filter[where], law),)

    def describe(self, basis: str) -> str:
        return describe_ridge(basis, self.eta or 1.0, self.psi)

    def _risk(self, problem: Problem, epsilon: Fraction, filter: np.ndarray) -> float:
        root = np.sqrt(problem.basis.eigenvalues)
        distance = problem.sensitivity.outline().radius(root / filter) * multiplier(float(epsilon), float(self.delta))
        return class_risk(problem, filter, np.arange(root.size), distance**2 * root**2)
