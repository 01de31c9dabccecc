"""QR: quadratic (ridge) regularisation in the kernel's norm, the paper's recommended filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.methods.base import Penalized, best_scale, check_rough, powers
from dpfda.problems.base import Part, Problem
from dpfda.spaces.basis import NEGLIGIBLE


@dataclass(frozen=True, eq=False)
class QR(Penalized):
    """Shrink coefficient j by ``lambda_j^eta / (lambda_j^eta + psi)``.

    `eta` None is ``1 + 2/beta`` for eigenvalues falling like ``j^-beta`` (1.5 otherwise). For a
    density the filter is ``lambda_j^eta``: the paper's kernel estimator.

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

    def _psi_risk(self, problem: Problem, epsilon: Fraction, powers: np.ndarray, psi: float) -> float:
        return self._risk(problem, epsilon, ridge(powers, psi))


def ridge(powers: np.ndarray, psi: float | None) -> np.ndarray:
    """The filter of a ridge penalty; without one, the kernel estimator's own powers (negligible ones dropped)."""
    if psi is None:
        return np.where(powers > NEGLIGIBLE * powers.max(), powers, 0.0)
    return powers / (powers + psi)


def check_no_psi(psi: float | None) -> None:
    if psi is not None:
        raise ParameterError(
            "a density is smoothed by its kernel's powers, without a penalty", f"psi {psi:g}", "Drop psi; choose eta."
        )
