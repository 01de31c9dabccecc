"""QR: quadratic (ridge) regularisation in the kernel's norm, the paper's recommended filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from ..protocol import Part, Problem
from .base import Penalized, best_scale


@dataclass(frozen=True, eq=False)
class QR(Penalized):
    """Shrink coefficient j by ``lambda_j^eta / (lambda_j^eta + psi)``.

    `eta` None is ``1 + 2/beta`` for eigenvalues falling like ``j^-beta`` (1.5 otherwise).

    >>> QR(psi=0.001).noise
    'matched'
    """

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        eta = self.eta or 1 + 2 / (problem.decay or 4.0)
        powers = problem.basis.eigenvalues**eta
        psi = self.psi or best_scale(
            lambda x: self._psi_risk(problem, epsilon, powers, x), 1e-3 * float(powers[-1]), 1e3 * float(powers[0])
        )
        return replace(self, eta=eta, psi=psi)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        chosen = self.resolved(problem, epsilon)
        powers = problem.basis.eigenvalues**chosen.eta
        psi = float(chosen.psi or 0.0)
        return (self._part(problem, epsilon, powers / (powers + psi)),)

    def _psi_risk(self, problem: Problem, epsilon: Fraction, powers: np.ndarray, psi: float) -> float:
        filter = powers / (powers + psi)
        return self._risk(problem, epsilon, filter, float(((1 - filter) ** 2 * problem.guess).sum()))
