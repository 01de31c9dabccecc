"""AR: absolute (lasso) regularisation, soft thresholding each coefficient of the mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.methods.base import Penalized, check_rough, powers
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part


@dataclass(frozen=True, eq=False)
class AR(Penalized):
    """Soft threshold ``psi / (2 lambda_j^(eta/2))`` on the mean minus the centre.

    Coefficients whose threshold reaches their bound are zero for every data set and carry no
    noise (derivations: soft thresholds). For means, not for densities.

    Parameters
    ----------
    eta : float, optional
        Power of the penalty's norm, above 1. Default: ``2 (1 + 2/beta)`` for eigenvalues falling like ``j^-beta``
        (3 without polynomial decay).
    psi : float, optional
        Size of the penalty. Default: the one with the least expected risk, from public things.
    noise : str, optional
        Noise scales: "matched" (default) has the least energy for the sensitivity, "kernel" follows the square roots
        of the kernel's eigenvalues.
    sensitivity : str, optional
        "tight" (default) charges what a record can change in all coefficients together, "paper" the whole radius in
        each of them.

    Examples
    --------
    >>> AR(eta=3.0).psi is None
    True
    """

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        if problem.smooths:
            raise ParameterError(
                "AR thresholds the coefficients of a mean",
                "a density",
                "Use method=dp.methods.KNorm().",
            )
        check_rough(self.eta)
        eta = self.eta or 2 * (1 + 2 / (problem.decay or 4.0))
        psi = self.psi or self._best_psi(problem, epsilon, *_scale(problem, eta))
        return replace(self, eta=eta, psi=psi)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        chosen = self.resolved(problem, epsilon)
        unit, max_abs = _scale(problem, chosen.eta)
        threshold = chosen.psi * unit
        if not (threshold < max_abs).any():
            top = float((max_abs / unit).max())
            raise ParameterError(
                "psi must leave at least one coefficient alive", chosen.psi, f"Pass psi below {top:.3g}."
            )
        return (
            self._part(
                problem, epsilon, _alive(threshold, max_abs), threshold, threshold_after_noise=problem.count_is_private
            ),
        )

    def describe(self, basis: str) -> str:
        assert self.eta is not None
        assert self.psi is not None
        threshold = f"{self.psi / 2:.3g} / l^{self.eta / 2:.3g} for the j-th eigenvalue l (a lasso penalty)"
        return f"the coefficients in {basis}, with a soft threshold of {threshold}"

    def _best_psi(self, problem: Problem, epsilon: Fraction, unit: np.ndarray, max_abs: np.ndarray) -> float:
        """For a given set of live coefficients the risk grows with psi, so the best psi just kills one of them."""
        deadly = np.unique((max_abs / unit)[problem.n_public :]) * (1 + 1e-12)  # surely dead, whatever the rounding
        candidates = [1e-9 * deadly[0], *deadly[:-1]]
        return float(min(candidates, key=lambda psi: self._psi_risk(problem, epsilon, psi * unit)))

    def _psi_risk(self, problem: Problem, epsilon: Fraction, threshold: np.ndarray) -> float:
        alive = _alive(threshold, problem.max_abs[: threshold.size])
        missed = np.where(alive > 0, np.minimum(problem.prior_energies, threshold**2), problem.prior_energies)
        return self._risk(problem, epsilon, alive, missed.sum(axis=1))


def _scale(problem: Problem, eta: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds for psi one, and the bounds that they must stay below."""
    unit = 0.5 * powers(problem.basis.eigenvalues, -float(eta or 1) / 2)
    return unit, problem.max_abs[: unit.size]


def _alive(threshold: np.ndarray, max_abs: np.ndarray) -> np.ndarray:
    return (threshold < max_abs).astype(float)
