"""QR: quadratic (ridge) regularisation in the kernel's norm, the paper's recommended filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.methods.base import Penalized, best_scale, check_rough, powers
from dpfda.methods.checked import Checked
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part
from dpfda.spaces.basis import NEGLIGIBLE


@dataclass(frozen=True, eq=False, repr=False)
class QR(Checked, Penalized):
    """Shrink coefficient j by ``lambda_j^eta / (lambda_j^eta + psi)``.

    For a density the filter is ``lambda_j^eta``: the paper's kernel estimator.

    Parameters
    ----------
    eta : float, optional
        Power of the penalty's norm, above 1 for a mean. Default: ``1 + 2/beta`` for eigenvalues falling like
        ``j^-beta`` (1.5 otherwise), or what a density problem asks for.
    psi : float, optional
        Size of the penalty; not for densities. Default: the one with the least expected risk, from public things.
    noise : str, optional
        Noise scales: "matched" (default) has the least energy for the sensitivity, "kernel" follows the square roots
        of the kernel's eigenvalues.
    sensitivity : str, optional
        "tight" (default) charges what a record can change in all coefficients together, "paper" the whole radius in
        each of them.
    check : bool, optional
        Whether a few per cent of epsilon go to what a mean leaves out, so that its bands cover that. Default: no.

    Examples
    --------
    >>> QR(psi=0.001).noise
    'matched'
    """

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        eta = self.eta or problem.eta or 1 + 2 / (problem.decay or 4.0)
        if problem.smooths:
            check_no_psi(self.psi)
            return replace(self, eta=eta)
        check_rough(self.eta)
        found = powers(problem.basis.eigenvalues, eta)
        psi = self.psi or best_scale(
            lambda x: self._psi_risk(problem, epsilon, found, x), 1e-3 * float(found[-1]), 1e3 * float(found[0])
        )
        return replace(self, eta=eta, psi=psi)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        chosen = self.resolved(problem, epsilon)
        return (self._part(problem, epsilon, ridge(powers(problem.basis.eigenvalues, chosen.eta or 1.0), chosen.psi)),)

    def describe(self, basis: str) -> str:
        return describe_ridge(basis, self.eta or 1.0, self.psi)

    def _psi_risk(self, problem: Problem, epsilon: Fraction, powers: np.ndarray, psi: float) -> float:
        return self._risk(problem, epsilon, ridge(powers, psi))


def ridge(powers: np.ndarray, psi: float | None) -> np.ndarray:
    """The filter of a ridge penalty; without one, the kernel estimator's own powers (negligible ones dropped)."""
    if psi is None:
        return np.where(powers > NEGLIGIBLE * powers.max(), powers, 0.0)
    return powers / (powers + psi)


def describe_ridge(basis: str, eta: float, psi: float | None) -> str:
    """That filter in words."""
    if psi is None:
        return f"the coefficients in {basis}, the j-th multiplied by l^{eta:.3g} for the j-th eigenvalue l"
    ridge = f"l^{eta:.3g} / (l^{eta:.3g} + {psi:.3g}) for the j-th eigenvalue l (a ridge penalty)"
    return f"the coefficients in {basis}, the j-th multiplied by {ridge}"


def check_no_psi(psi: float | None) -> None:
    if psi is not None:
        raise ParameterError(
            "a density is smoothed by its kernel's powers, without a penalty", f"psi {psi:g}", "Drop psi; choose eta."
        )
