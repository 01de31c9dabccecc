"""Minimax: the filter and noise that are best together for a public guess of the target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpfda.core.checks import check_positive
from dpfda.methods.base import LaplaceMethod
from dpfda.methods.checked import Checked
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part

#: The smallest guess of a coordinate beside the first: a power that vanishes in floats would be divided by.
LEAST = 1e-100


@dataclass(frozen=True, eq=False, repr=False)
class Minimax(Checked, LaplaceMethod):
    """Minimise ``sum (1-a_j)^2 m_j`` plus noise energy over all filters (derivations: minimax filter).

    Parameters
    ----------
    power : float, optional
        The guess ``m_j`` is proportional to ``lambda_j^power``. Default: the problem's own (``1 + 1/beta`` for a mean,
        the paper's smoothness assumption; the class of densities for a density).
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
    >>> Minimax().power is None
    True
    """

    power: float | None = None
    noise: str = "matched"
    sensitivity: str = "tight"

    def __post_init__(self) -> None:
        check_positive("power", self.power)
        self._check_options()

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        if self.power or problem.smooths:  # a class of densities is a guess of its own
            return self
        return replace(self, power=1 + 1 / problem.decay if problem.decay else 1.0)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        free = slice(problem.n_public, None)
        prior_energy = self._guess(problem, self.resolved(problem, epsilon).power)[free]
        sensitivity = self._sensitivity_of(problem).restricted(np.arange(problem.basis.size)[free])
        precision = sensitivity.outline().scaled(1 / float(epsilon)).balance(prior_energy)
        filter = np.zeros(problem.basis.size)
        filter[free] = prior_energy * precision**2 / (2 + (prior_energy + problem.sampling[free]) * precision**2)
        return (self._part(problem, epsilon, filter),)

    def describe(self, basis: str) -> str:
        guess = "" if self.power is None else f", proportional to the power {self.power:.3g} of the eigenvalues"
        return (
            f"the coefficients in {basis}, multiplied by the filter that makes noise and bias together least for a "
            f"public guess of their squares{guess}"
        )

    def _guess(self, problem: Problem, power: float | None) -> np.ndarray:
        if power is None:
            return problem.prior_energy
        eigenvalues = problem.basis.eigenvalues
        # Where a high power leaves nothing, next to nothing: the filter closes there all the same.
        shape = np.maximum((eigenvalues / eigenvalues[0]) ** power, LEAST)
        return shape * (problem.prior_energy.sum() / shape.sum())
