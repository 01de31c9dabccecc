"""Parts and stages: the blocks in which a statistic leaves, and one pass over the records.

A *method* answers a problem with *parts*: blocks of coordinates, each with a filter and a noise *law*. Problem and
parts make a *stage*. All is public but a summary and what comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.noise.law import Law
from dpfda.problems.contracts import Problem
from dpfda.problems.summary import Summary
from dpfda.problems.together import Together


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


@dataclass(frozen=True)
class Stage:
    """A problem and the parts in which its statistic leaves: one pass over the records, or one of several in a pass.

    A stage that shares a pass says with which others (`together`), and at which `place` among them its problem is.
    """

    problem: Problem
    parts: tuple[Part, ...]
    together: Together | None = None
    place: int = 0

    @property
    def encoder(self) -> Problem | Together:
        """What the records are read for."""
        return self.problem if self.together is None else self.together

    def as_read(self, rereadable: bool) -> Stage:
        """The same stage; where records are easily read again, without what may not be needed."""
        if not rereadable or self.together is None:
            return self
        together, place = self.together.needed_with(self.place)
        return replace(self, together=together, place=place)

    def check(self, summary: Summary) -> None:
        """Refuse a summary that does not belong here, before anything is charged."""
        self.encoder.check(summary)

    @property
    def epsilon(self) -> Fraction:
        return sum((part.law.epsilon for part in self.parts), Fraction(0))

    @property
    def delta(self) -> Fraction:
        return sum((part.law.delta for part in self.parts), Fraction(0))

    def to_lattice(self, summary: Summary) -> list[Sequence[Any]]:
        """The numbers right before noise, as each law takes them. Confidential."""
        whole = self._complete(summary)
        own = whole if self.together is None else self.together.own(whole, self.place)
        values = self.problem.estimate(own)
        return [part.law.to_lattice(part.apply(values)) for part in self.parts]

    def _complete(self, summary: Summary) -> Summary:
        """The summary filled up to the public n: records that are missing count as unusable ones."""
        encoder, n = self.encoder, self.problem.n
        if encoder.count_is_private or summary.count >= n:
            return summary
        lost = encoder.kind(encoder.key, 1, encoder.total(np.full((1, encoder.width), np.nan)))
        return summary.plus(lost.times(n - summary.count))

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
        """Expected squared error, typically: noise, the records' own variability where known, bias under guesses."""
        return typical(self.risks, self.problem.class_norms)

    @property
    def risks(self) -> np.ndarray:
        """The same for each member of the class."""
        problem = self.problem
        if problem.shrinks:
            return self._shrunk_risks
        filter = self.filter[: problem.basis.size]
        sampled = filter**2 * problem.sampling
        bias = (
            np.array([self.bias(prior_energy) for prior_energy in problem.prior_energies]) + problem.irreducible_error
        )
        return np.asarray(self.error + float((sampled * problem.basis.energies).sum()) + bias)

    def bias(self, prior_energy: np.ndarray) -> float:
        """Squared error of the filters alone: coordinates that no part carries are missed entirely."""
        errors = prior_energy.copy()
        for part in self.parts:
            if part.where.max() < prior_energy.size:  # a count is not a coefficient
                errors[part.where] = part.bias(prior_energy)
        return float((errors * self.problem.basis.energies).sum())

    @property
    def _shrunk_risks(self) -> np.ndarray:
        """What of the risk is left after the best linear shrinkage."""
        problem = self.problem
        filter = self.filter[: problem.basis.size]
        variance = problem.finish_variance(self.variance) + filter**2 * problem.sampling
        return shrunk_errors(problem.prior_energies, filter, variance) + problem.irreducible_error

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
