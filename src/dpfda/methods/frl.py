"""FRL: the first components, all with the same weight (the paper's finite-dimensional baseline)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpfda.methods.base import LaplaceMethod, best_count, check_components, within
from dpfda.methods.checked import Checked
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part


@dataclass(frozen=True, eq=False, repr=False)
class FRL(Checked, LaplaceMethod):
    """Keep the first `components` coefficients and add Laplace noise to each.

    Parameters
    ----------
    components : int, optional
        How many coefficients are released. Default: the number with the least expected risk, from public things.
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
    >>> FRL(components=5)
    FRL(components=5, noise='matched', sensitivity='tight')
    """

    components: int | None = None
    noise: str = "matched"
    sensitivity: str = "tight"

    def __post_init__(self) -> None:
        check_components(self.components)
        self._check_options()

    def resolved(self, problem: Problem, epsilon: Fraction) -> Self:
        size = problem.basis.size - problem.n_public
        count = self.components or best_count(lambda m: self._count_risk(problem, epsilon, m), size)
        return replace(self, components=within(count, size))

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        count = self.resolved(problem, epsilon).components
        assert count is not None
        return (self._part(problem, epsilon, first(count, problem)),)

    def describe(self, basis: str) -> str:
        return f"the first {self.components} coefficients in {basis}"

    def _count_risk(self, problem: Problem, epsilon: Fraction, count: int) -> float:
        return self._risk(problem, epsilon, first(count, problem))


def first(count: int, problem: Problem) -> np.ndarray:
    """One on the first `count` coordinates that are not public, zero elsewhere."""
    filter = np.zeros(problem.basis.size)
    filter[problem.n_public : problem.n_public + count] = 1.0
    return filter
