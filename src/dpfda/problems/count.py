"""The noisy count that add-remove needs, and how much of the budget it deserves.

The released mean is a quotient of a noisy sum and a noisy count. With noise energies A and B at
epsilon 1, the split that minimises ``A/(1-s)^2 + B/s^2`` is ``s = B^(1/3) / (A^(1/3) + B^(1/3))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpfda.bounds.sensitivities import BoxSensitivity
from dpfda.noise import Laplace
from dpfda.problems.contracts import Problem
from dpfda.problems.stage import Part


def count_part(where: int, n: int, epsilon: Fraction) -> Part:
    """The count over the public guess `n`; one record more or less moves it by ``1/n`` (derivations: add-remove)."""
    sensitivity = BoxSensitivity(np.ones(1), 1 / n)
    scale = np.array([1 / (n * float(epsilon))])
    law = Laplace.calibrated(epsilon, scale, np.ones(1), sensitivity, np.full(1, 4.0))
    return Part(np.array([where]), np.ones(1), law)


def quotient(noisy: np.ndarray, n: int, parts: Sequence[Part]) -> np.ndarray:
    """Sums over the noisy count, which is kept to one record at least; thresholds that had to wait come last."""
    means = noisy[..., :-1] / np.maximum(noisy[..., -1:], 1 / n)
    for part in parts:
        if part.threshold is not None and part.threshold_after_noise:
            kept = means[..., part.where]
            means[..., part.where] = np.sign(kept) * np.maximum(np.abs(kept) - part.threshold, 0.0)
    return means


def count_energies(problem: Problem, parts: Sequence[Part]) -> tuple[float, float]:
    """Noise energy of the target when it gets all of epsilon, and the target's own, by the public guess."""
    energies = problem.basis.energies
    noise = sum(float((part.law.variance * energies[part.where]).sum()) for part in parts)
    return noise, float((problem.prior_energy * energies).sum())


def count_share(epsilon: Fraction, curve_error: float, curve_energy: float, n: int) -> Fraction:
    """The best share of `epsilon` for the count, in whole hundredths.

    `curve_error` is the noise energy of the curve when it gets all of `epsilon`;
    `curve_energy` the squared size of the mean, by which the count's error is multiplied.
    """
    count_error = 2 * curve_energy / (n * float(epsilon)) ** 2
    share = np.cbrt(count_error) / (np.cbrt(curve_error) + np.cbrt(count_error))
    return Fraction(int(np.clip(round(100 * float(share)), 1, 50)), 100)
