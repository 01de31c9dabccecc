"""What methods share: matched or kernel noise, tight or paper sensitivity, safe selection.

A parameter left at None is chosen by exact privacy-safe selection: minimise the risk that can
be computed from public things (filter bias under the public guess, plus noise energy).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.checks import check_choice, check_positive
from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, shown
from dpfda.noise import Laplace
from dpfda.problems.contracts import Prior, Problem, Sensitive, Statistic, Target
from dpfda.problems.stage import Part, shrunk_errors, typical

#: What the options `noise` and `sensitivity` can be.
NOISES, SENSITIVITIES = ("matched", "kernel"), ("tight", "paper")


#: Some problem, and another of its kind.
P = TypeVar("P", bound=Problem)


class Method(Fact, ABC):
    """A frozen recipe: from a problem and a budget to parts, by public things only.

    For a new one, write a frozen dataclass (``eq=False``) whose fields are its parameters, and

    * `calibrate`, which every method has: the parts. Their laws come from `calibrated` of a law of the noise room
      (`Laplace`, `Ball`, `Gaussian`), which hides every difference in the problem's sensitivity: a method can then be
      clumsy, but not unsafe. What the parts cost adds up to `epsilon` at most.
    * `resolved`, if a parameter can be None: the same method with that parameter chosen.
    * `describe`, what it does in the words of a paper: else methods paragraphs name it as Python does.
    * `frame`, if it needs other coordinates than the problem's own, or is for some problems only.

    `LaplaceMethod` goes from a filter to its part. `composite` and `count_share` are for methods of several
    rounds.

    Examples
    --------
    >>> import dpfda as dp
    >>> isinstance(dp.methods.KNorm(8), dp.methods.Method)
    True
    """

    #: Whether a method is made of several rounds or choices, which cannot be nested.
    composite: ClassVar[bool] = False
    #: What a private count costs, as a share of epsilon; None where the best share is computed.
    count_share: ClassVar[Fraction | None] = None

    def frame(self, problem: P) -> P:
        """The problem as this method sees it, of the same kind; most take it as it is. Others are refused here.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        """
        return problem

    def resolved(self, problem: Problem, epsilon: Fraction) -> Method:
        """This method with every parameter at None chosen (or another one, which it has chosen).

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget that the parts share.
        """
        return self

    @abstractmethod
    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        """Parts that hide one neighbour at `epsilon`.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget that the parts share.
        """

    @property
    def title(self) -> str:
        """What it is called in comparisons."""
        return type(self).__name__

    def describe(self, basis: str) -> str:
        """What noise is added to, as a methods section says it.

        Parameters
        ----------
        basis : str
            What the coefficients are coefficients of, in words.
        """
        return f"what {self!r} makes of the coefficients in {basis}"


class LaplaceMethod(Method):
    """Independent Laplace noise on filtered coefficients (the ICLP family).

    A new one has the fields `noise` and `sensitivity`, makes a filter (one factor for each coefficient, zero where
    nothing leaves) and returns ``(self._part(problem, epsilon, filter),)``; `_risk` is what choosing a parameter
    minimises.
    """

    noise: str
    sensitivity: str

    def _check_options(self) -> None:
        check_choice("noise", self.noise, NOISES)
        check_choice("sensitivity", self.sensitivity, SENSITIVITIES)

    def _sensitivity_of(self, problem: Sensitive) -> Sensitivity:
        return problem.sensitivity.loosened() if self.sensitivity == "paper" else problem.sensitivity

    def _part(
        self,
        problem: Problem,
        epsilon: Fraction,
        filter: np.ndarray,
        threshold: np.ndarray | None = None,
        threshold_after_noise: bool = False,
    ) -> Part:
        """The coordinates with a positive filter, with noise of the chosen shape."""
        where = noised(problem, filter)
        if not where.size:
            raise ParameterError(
                "a filter must keep at least one coefficient", "none", "Check eta, psi and the kernel's scale."
            )
        kept = filter[where]
        sensitivity = self._sensitivity_of(problem).restricted(where)
        law = Laplace.calibrated(
            epsilon,
            self._scales(problem, where, sensitivity, kept) / float(epsilon),
            kept,
            sensitivity,
            problem.max_abs[where],
        )
        return Part(where, kept, law, None if threshold is None else threshold[where], threshold_after_noise)

    def _scales(self, problem: Target, where: np.ndarray, sensitivity: Sensitivity, filter: np.ndarray) -> np.ndarray:
        """Scales at epsilon 1: the energy-minimal ones, or proportional to the kernel's square roots."""
        if self.noise == "matched":
            return sensitivity.matched(filter)
        root = np.sqrt(problem.basis.eigenvalues[where])
        return root * sensitivity.support(filter / root)

    def _risk(self, problem: Problem, epsilon: Fraction, filter: np.ndarray, bias: np.ndarray | None = None) -> float:
        """What selection minimises: the risk before the lattice is laid."""
        where = noised(problem, filter)
        if not where.size:
            return math.inf
        sensitivity = self._sensitivity_of(problem).restricted(where).outline()
        scales = self._scales(problem, where, sensitivity, filter[where]) / float(epsilon)
        return class_risk(problem, filter, where, 2 * scales**2, bias)


def noised(problem: Statistic, filter: np.ndarray) -> np.ndarray:
    """The coordinates that a filter lets out and that are not public anyway."""
    return problem.n_public + np.flatnonzero(filter[problem.n_public :] > 0)


def class_risk(
    problem: Prior, filter: np.ndarray, where: np.ndarray, noise: np.ndarray, bias: np.ndarray | None = None
) -> float:
    """Noise on the coordinates `where`, the records' own variability, and bias: typical over the class of targets.

    `bias` is the filter's own unless given.
    """
    variance = filter**2 * problem.sampling
    variance[where] += noise
    if problem.shrinks:
        return typical(
            shrunk_errors(problem.prior_energies, filter, variance) + problem.irreducible_error, problem.class_norms
        )
    missed = ((1 - filter) ** 2 * problem.prior_energies).sum(axis=1) if bias is None else bias
    return typical(float(variance.sum()) + missed + problem.irreducible_error, problem.class_norms)


@dataclass(frozen=True, eq=False)
class Penalized(LaplaceMethod):
    """A penalty ``psi`` in the kernel's norm of order ``eta``: the paper's QR and AR."""

    eta: float | None = None
    psi: float | None = None
    noise: str = "matched"
    sensitivity: str = "tight"

    def __post_init__(self) -> None:
        for name in ("eta", "psi"):
            check_positive(name, getattr(self, name))
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))
        self._check_options()


def check_pure(parts: Sequence[Part]) -> None:
    """Stages and choices promise pure differential privacy: their budgets have no room for a delta."""
    if any(part.law.delta for part in parts):
        raise ParameterError(
            "stages and choices are for pure differential privacy", "a method with a delta", "Use one without."
        )


def check_components(components: int | None) -> None:
    if components is not None and (
        isinstance(components, bool) or not isinstance(components, int | np.integer) or components < 1
    ):
        raise ParameterError(
            "components must be a whole number from 1",
            shown(components),
            "Take 10, say, or leave components out to have it chosen.",
        )


def powers(eigenvalues: np.ndarray, power: float) -> np.ndarray:
    """Powers of eigenvalues that numbers can hold; a power that leaves their range is refused."""
    with np.errstate(over="ignore", divide="ignore"):
        found = eigenvalues**power
    if not np.isfinite(found).all() or not found.max() > 0:
        cure = "Lower it, or scale the kernel."
        raise ParameterError("eta must leave powers of the eigenvalues in range", f"power {power:g}", cure)
    return np.asarray(found)


def check_rough(eta: float | None) -> None:
    """For means the paper's theory asks for more smoothing than the kernel itself."""
    if eta is not None and eta <= 1:
        raise ParameterError("eta must be above 1 for a mean", eta, "Leave eta out to choose it from public things.")


def within(components: int, available: int) -> int:
    if components > available:
        raise ParameterError(
            f"components must be at most the basis size, {available}", components, "Ask for fewer, or refine the grid."
        )
    return int(components)


def best_count(risk: Callable[[int], float], most: int) -> int:
    """The number of components from 1 to `most` with the least risk: coarse steps, then every one nearby."""
    coarse = sorted({int(x) for x in np.unique(np.rint(np.geomspace(1, most, 64)))})
    risks = [risk(m) for m in coarse]
    best = int(np.argmin(risks))
    low, high = coarse[max(best - 2, 0)], coarse[min(best + 2, len(coarse) - 1)]
    return min(range(low, high + 1), key=risk)


def best_scale(risk: Callable[[float], float], low: float, high: float) -> float:
    """The positive number between `low` and `high` with the least risk: a logarithmic scan, refined twice."""
    if not 0 < low < high < math.inf:
        raise ParameterError("eta must leave powers of the eigenvalues in range", "one that does not", "Lower eta.")
    for _ in range(3):
        grid = np.geomspace(low, high, 33)
        best = int(np.argmin([risk(float(x)) for x in grid]))
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 32)])
    return float(np.sqrt(low * high))
