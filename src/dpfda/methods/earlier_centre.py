"""The first round of a centred covariance as earlier versions chose it: to read their files, and for nothing else.

A saved :class:`Centred` without a `first` method holds no more than its shares, and what was released about its
centre can be told only if the centre's noise is chosen as it was then. So this rule stands alone and never changes:
one round of independent Laplace noise, a ball or blocks, whichever had the least typical risk over smooth and rough
means (the kernel's guess, which counts thrice, and means that fill the first 4, 8, 16, ... functions evenly).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpfda.methods.base import Method
from dpfda.methods.blockwise import Blocks, octaves
from dpfda.methods.frl import FRL
from dpfda.methods.knorm import KNorm
from dpfda.methods.minimax import Minimax
from dpfda.noise import Ball
from dpfda.problems.mean import MeanProblem

#: How much the smooth guess counts, a mean's share of the largest energy, and how far curves stray (of the radius).
SMOOTH_WEIGHT, MEAN_SHARE, STRAYS = 3.0, 0.5, (0.7, 0.35, 0.18)


def earlier_centre(problem: MeanProblem, epsilon: Fraction) -> Method:
    """The method of one round that was chosen then."""
    size = int(problem.basis.size)
    counts = [*(2**k for k in range(size.bit_length()) if 2**k < size), size]
    found: list[Method] = [Minimax().resolved(problem, epsilon)]
    for count in counts:
        found += [FRL(count), KNorm(count), Blocks(count)]
    return min(found, key=lambda method: earlier_error(problem, epsilon, method))


def earlier_error(problem: MeanProblem, epsilon: Fraction, method: Method) -> float:
    """The geometric mean of its risks over the class."""
    means, size = [problem.prior_energy / problem.prior_energy.sum()], problem.basis.size
    means += [np.where(np.arange(size) < stop, 1 / stop, 0.0) for stop in (*octaves(size)[1:], size)]
    weights = np.ones(len(means))
    weights[0] = SMOOTH_WEIGHT
    weights /= weights.sum()
    strays = [share * problem.bound.outer for share in STRAYS]
    risks = np.array([_risks(problem, epsilon, method, np.array(means), stray) for stray in strays])
    return float(np.exp((np.log(risks) @ weights).mean()))


def _risks(problem: MeanProblem, epsilon: Fraction, method: Method, shapes: np.ndarray, stray: float) -> np.ndarray:
    outer, part = problem.bound.outer, method.calibrate(problem, epsilon)[0]
    means = shapes * (MEAN_SHARE * max(outer**2 - stray**2, outer**2 / 2))
    count = int(part.where.max()) + 1
    noise = np.zeros(count)
    noise[part.where] = part.law.variance
    if not isinstance(part.law, Ball):  # as drawn: noise, and the filter's bias
        missed = np.array([part.bias(mean).sum() + mean.sum() - mean[part.where].sum() for mean in means])
        return np.asarray(noise.sum() + missed + stray**2 / problem.n)
    starts, sizes = octaves(count), np.diff((*octaves(count), count)).astype(float)
    inside, noise = np.add.reduceat(means[:, :count], starts, axis=1), np.add.reduceat(noise, starts)
    kept = noise / np.maximum(inside + noise, 1e-300)  # what shrinkage by blocks leaves
    left = inside * kept + np.minimum(2 / sizes, 1.0) * noise * kept
    return np.asarray(left.sum(axis=1) + means[:, count:].sum(axis=1) + stray**2 / problem.n)
