"""The words all rooms share: sensitivity, law, part, problem, stage, summary.

A *problem* turns records into exact integers and those into a statistic; its *sensitivity* is the set of differences
that one neighbour can make there. A *method* answers with *parts*: blocks of coordinates, each with a filter and a
noise *law*. Problem and parts make a *stage*: one pass over the records. All is public but a summary and what comes of
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.errors import ParameterError
from dpfda.noise.law import Law
from dpfda.problems.summary import Summary
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.grid import Grid, ProductGrid


@dataclass(frozen=True)
class Part:
    """Coordinates `where`, each multiplied by `filter` (and soft-thresholded) before `law`."""

    where: np.ndarray
    filter: np.ndarray
    law: Law
    threshold: np.ndarray | None = None
    threshold_after_noise: bool = False  # threshold after the noise, where the statistic is not yet a mean

    def apply(self, values: Sequence[Fraction]) -> list[Fraction]:
        """Filter exactly: the values are rationals and so is every filter."""
        factors = zip(self.where.tolist(), self.filter.tolist(), strict=True)
        filtered = [values[j] if a == 1 else Fraction(a) * values[j] for j, a in factors]
        if self.threshold is None or self.threshold_after_noise:
            return filtered
        return [_soft(x, Fraction(t)) for x, t in zip(filtered, self.threshold.tolist(), strict=True)]

    def bias(self, prior_energy: np.ndarray) -> np.ndarray:
        """Squared error that the filter makes on its own coordinates, if the target has these squared ones."""
        kept = prior_energy[self.where]
        if self.threshold is not None:
            return np.minimum(kept, self.threshold**2)
        return (1 - self.filter) ** 2 * kept


def _soft(x: Fraction, threshold: Fraction) -> Fraction:
    """Soft thresholding: towards zero by `threshold`, never past it."""
    return max(x - threshold, Fraction(0)) if x >= 0 else min(x + threshold, Fraction(0))


class Problem(Protocol):
    """What is estimated: how one record is encoded, and what the totals mean."""

    @property
    def basis(self) -> Eigenbasis: ...
    @property
    def n(self) -> int:
        """The public number of records, or the public guess of it."""

    @property
    def invalid(self) -> str: ...
    @property
    def grid(self) -> Grid | ProductGrid: ...
    @property
    def key(self) -> str:
        """Digest of everything that decides how a record is encoded."""

    @property
    def size(self) -> int:
        """Length of the statistic."""

    @property
    def sensitivity(self) -> Sensitivity: ...
    @property
    def max_abs(self) -> np.ndarray:
        """Largest absolute value of each coordinate of the statistic before filtering."""

    @property
    def prior_energy(self) -> np.ndarray:
        """Public guess of the target's squared coefficients about the centre."""

    @property
    def prior_energies(self) -> np.ndarray:
        """One such guess per row: a class of targets over which relative errors are averaged."""

    @property
    def class_norms(self) -> np.ndarray:
        """Squared norm of each member of the class, what is public about it included."""

    @property
    def floor(self) -> np.ndarray:
        """Squared error that no filter can mend, for each member of the class."""

    @property
    def sampling(self) -> np.ndarray:
        """Variance that the records themselves bring to each coordinate, zero where it is not known."""

    @property
    def n_public(self) -> int:
        """How many coordinates, the first ones, are the same for all data: no noise, no share of the budget."""

    @property
    def eta(self) -> float | None:
        """Power of the kernel in an estimator that smooths by it; None where a penalty does."""

    @property
    def smooths(self) -> bool:
        """Whether the estimator itself is the kernel's (a density), so that filters are powers of eigenvalues."""

    @property
    def shrinks(self) -> bool:
        """Whether releases are shrunk after the noise, so that risks count what is left then."""

    @property
    def width(self) -> int:
        """Numbers in one record."""

    @property
    def record_grid(self) -> Grid | ProductGrid | None:
        """Where a record that is a curve lives."""

    @property
    def alignment(self) -> Any:
        """How a record comes about; None where it is taken as it is."""

    @property
    def kind(self) -> type[Summary]:
        """What totals are kept in, and how they merge."""

    @property
    def record(self) -> str:
        """What a record is called."""

    @property
    def decay(self) -> float | None:
        """Polynomial decay of the eigenvalues, if they have one."""

    @property
    def count_is_private(self) -> bool:
        """Whether neighbours differ by one record more or less (the count is then private)."""

    @property
    def needs_count(self) -> bool:
        """Whether a noisy count must be released beside the statistic."""

    @property
    def center_coefficients(self) -> np.ndarray:
        """Coefficients of the public centre."""

    @property
    def offset(self) -> np.ndarray:
        """The part of the public centre that the basis cannot express, on the grid."""

    def total(self, batch: np.ndarray) -> np.ndarray:
        """Sum of the encoded records of a batch, exact integers."""

    def check(self, summary: Summary) -> None:
        """Refuse a summary that does not belong here, before anything is charged."""

    def estimate(self, summary: Summary) -> list[Fraction]:
        """The statistic before filtering, exactly."""

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        """From noisy statistics to coefficients: post-processing, public."""

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        """From the noise variances of the statistic to those of the coefficients."""

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        """A statistic that these coefficients (or the public guess) would come from, for simulation."""


@dataclass(frozen=True)
class Stage:
    """One pass over the records: a problem and the parts in which its statistic leaves."""

    problem: Problem
    parts: tuple[Part, ...]

    @property
    def epsilon(self) -> Fraction:
        return sum((part.law.epsilon for part in self.parts), Fraction(0))

    @property
    def delta(self) -> Fraction:
        return sum((part.law.delta for part in self.parts), Fraction(0))

    def to_lattice(self, summary: Summary) -> list[Sequence[Any]]:
        """The numbers right before noise, as each law takes them. Confidential."""
        values = self.problem.estimate(self._complete(summary))
        return [part.law.to_lattice(part.apply(values)) for part in self.parts]

    def _complete(self, summary: Summary) -> Summary:
        """The summary of as many records as there are publicly: those that are missing count as unusable ones."""
        problem = self.problem
        if problem.count_is_private or summary.count >= problem.n:
            return summary
        plain = getattr(problem, "uncoded", problem)
        lost = problem.kind(problem.key, 1, plain.total(np.full((1, plain.width), np.nan)))
        return summary.plus(lost.times(problem.n - summary.count))

    def spread(self, blocks: Sequence[np.ndarray]) -> np.ndarray:
        """One vector of the statistic's length from one block per part, zero elsewhere."""
        shape = blocks[0].shape[:-1] if blocks else ()
        whole = np.zeros((*shape, self.problem.size))
        for part, block in zip(self.parts, blocks, strict=True):
            whole[..., part.where] = block
        return whole

    def statistic(self, summary: Summary) -> np.ndarray:
        """The numbers right before noise, as floats. Confidential: for audits, never for publication."""
        whole = self.spread([part.law.real(s) for part, s in zip(self.parts, self.to_lattice(summary), strict=True)])
        whole[: self.problem.n_public] = self.problem.center_coefficients[: self.problem.n_public]
        return whole

    def loss(self, h: np.ndarray) -> float:
        """Privacy loss of a difference `h` of two statistics: the sum over parts (derivations: the mechanism).

        It is infinite where there is no noise to hide it.
        """
        h = np.asarray(h, dtype=float)
        silent = np.ones(self.problem.size, dtype=bool)
        for part in self.parts:
            silent[part.where] = False
        if h.shape != silent.shape or np.isnan(h).any():
            raise ParameterError(
                "a difference has one number per coordinate",
                f"shape {h.shape}",
                "Subtract two results of plan.statistic.",
            )
        if h[silent].any():
            return float("inf")
        return float(sum(part.law.loss(h[part.where]) for part in self.parts))

    @property
    def error(self) -> float:
        """Expected squared error of the noise alone."""
        return float((self.problem.finish_variance(self.variance) * self.problem.basis.energies).sum())

    @property
    def risk(self) -> float:
        """Expected squared error: noise, the records' own variability where known, and bias under the guesses."""
        problem = self.problem
        if problem.shrinks:
            return self._shrunk_risk
        filter = self.filter[: problem.basis.size]
        sampled = filter**2 * problem.sampling
        bias = np.array([self.bias(prior_energy) for prior_energy in problem.prior_energies]) + problem.floor
        return typical(self.error + float((sampled * problem.basis.energies).sum()) + bias, problem.class_norms)

    def bias(self, prior_energy: np.ndarray) -> float:
        """Squared error of the filters alone: coordinates that no part carries are missed entirely."""
        errors = prior_energy.copy()
        for part in self.parts:
            if part.where.max() < prior_energy.size:  # a count is not a coefficient
                errors[part.where] = part.bias(prior_energy)
        return float((errors * self.problem.basis.energies).sum())

    @property
    def _shrunk_risk(self) -> float:
        """What of the risk is left after the best linear shrinkage."""
        problem = self.problem
        filter = self.filter[: problem.basis.size]
        variance = problem.finish_variance(self.variance) + filter**2 * problem.sampling
        return typical(shrunk_errors(problem.prior_energies, filter, variance) + problem.floor, problem.class_norms)

    @property
    def filter(self) -> np.ndarray:
        """What each coordinate is multiplied by: one where it is public, zero where it is not released."""
        whole = self.spread([part.filter for part in self.parts])
        whole[: self.problem.n_public] = 1.0
        return whole

    @property
    def scales(self) -> np.ndarray:
        return self.spread([part.law.scales for part in self.parts])

    @property
    def variance(self) -> np.ndarray:
        return self.spread([part.law.variance for part in self.parts])


def typical(risks: np.ndarray, sizes: np.ndarray) -> float:
    """The squared error of a typical member of a class: relative errors are averaged, so all sizes count alike.

    >>> round(typical(np.array([0.01, 4.0]), np.array([1.0, 100.0])), 12)
    0.225
    """
    if risks.size == 1:
        return float(risks[0])
    relative = float(np.sqrt(risks / sizes).mean())
    return relative**2 * float(np.exp(np.log(sizes).mean()))


def shrunk_errors(classes: np.ndarray, filter: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Squared error of each member of a class after the best linear shrinkage of its noisy coefficients."""
    kept = variance / np.maximum(filter**2 * classes + variance, 1e-300)
    return (classes * np.where(filter > 0, kept, 1.0)).sum(axis=1)
