"""What a noisy covariance most likely is: the exact posterior mean over covariances of every size and smoothness.

Ball noise is a mixture of Gaussian noise (derivations: covariance), so the posterior mean under a mixture of
Gaussian guesses is a sum. The guesses here have means, for a covariance is no noise about zero: its variances are
positive. Each is what curves with the variances ``d_j`` in the functions of the basis would have as a covariance of few
degrees of freedom (Wishart): mean ``diag(d)``, entries that vary as ``d_j d_k``. Post-processing, free of cost.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import numpy as np
import scipy

from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.stage import Stage
from dpfda.results.posterior import HALVES, mixture

#: Guesses of how curves vary: a share of it in the first function (nearly none: standardised curves; most: curves that
#: differ in level), the rest falling as powers of frequency, from none at all to smooth. Wide on purpose, and slow to
#: believe in smoothness: where noise hides all, a wrong belief turns components away from what little can be seen.
LEVELS, DECAYS, BELIEFS = (0.01, 0.5, 0.9), (0.0, 2.0, 4.0), (0.6, 0.3, 0.1)
#: Degrees of freedom of a guess: few, so that a covariance may have two or three strong directions anywhere.
FREEDOM = 3.0
#: Sizes go down to where a guess is a tenth of the noise on one number, and cannot be told from nothing.
FAINT = 0.1
#: What the clip took is given back up to this factor.
MOST_BACK = 2.0


@lru_cache(maxsize=64)
def _shapes(functions: int) -> np.ndarray:
    """Variances of the functions, a row a guess, that add up to one."""
    frequency = np.arange(1.0, functions)
    rows = []
    for level in LEVELS:
        for decay in DECAYS:
            rest = frequency**-decay
            rows.append(np.append(level, (1 - level) * rest / max(float(rest.sum()), 1e-300)))
    found = np.array(rows)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def most_likely(values: np.ndarray, index: np.ndarray, scale: float, largest: float) -> np.ndarray:
    """The posterior mean of coefficients of a symmetric basis, given noisy `values` of them.

    `index` says which two functions each belongs to, `scale` is that of the ball noise, and no trace is larger than
    `largest`.

    >>> index = np.array([[0, 0], [0, 1], [1, 1]])
    >>> most_likely(np.array([4.0, 0.2, 1.0]), index, 0.001, 10.0).round(2).tolist()
    [4.0, 0.2, 1.0]
    """
    faint = FAINT * float(np.sqrt(values.size + 1)) * scale
    count = max(2, int(np.ceil(np.log(max(largest / faint, 1.0)) / np.log(HALVES))) + 1)
    sizes = HALVES ** -np.arange(count, dtype=float)  # in units of the largest
    shapes = _shapes(int(index.max()) + 1)
    j, k = index.T
    mean = np.where(j == k, shapes[:, j], 0.0)
    guesses = (sizes[:, None, None] * mean).reshape(-1, values.size)
    spread = (sizes[:, None, None] ** 2 * (2 / FREEDOM) * shapes[:, j] * shapes[:, k]).reshape(-1, values.size)
    nodes, log_weights = mixture(values.size)
    total = spread[:, None] + (nodes * (scale / largest) ** 2)[:, None]
    off = (values / largest - guesses)[:, None]
    beliefs = np.log(np.tile(BELIEFS, len(sizes) * len(LEVELS)))[:, None]
    fit = beliefs + log_weights - 0.5 * (np.log(total) + off**2 / total).sum(axis=-1)
    weight = np.exp(fit - fit.max())
    weight /= weight.sum()
    likely = guesses[:, None] + spread[:, None] / total * off
    return np.asarray(largest * np.einsum("gs,gsc->c", weight, likely))


def posterior_covariance(raw: np.ndarray, stage: Stage, clipped: bool) -> np.ndarray:
    """The posterior mean of what a stage of :class:`Leading` drew, as a covariance.

    Where many records were `clipped`, it is as large as Gaussian curves would be that look like this when clipped.
    """
    problem, part = cast(CovarianceProblem, stage.problem), stage.parts[0]
    basis, radius, likely = problem.basis, float(problem.code.bound.outer), np.zeros(raw.size)
    likely[part.where] = most_likely(raw[part.where], basis.index[part.where], float(part.law.scales[0]), radius**2)
    found = basis.nearest_positive(likely)
    if not clipped:
        return found
    values = np.linalg.eigvalsh(basis.matrix(found))
    return np.asarray(clip_loss(np.maximum(values, 0.0)[::-1], radius) * found)


def clip_loss(variances: np.ndarray, radius: float) -> float:
    """By how much the variances of Gaussian curves were larger before these were clipped to a radius: 1 to 2.

    Their squared distance is taken as chi-squared, with as many degrees of freedom as the variances say.

    >>> clip_loss(np.array([1.0]), 100.0), round(clip_loss(np.array([0.538]), 1.0354), 1)
    (1.0, 1.9)
    """
    trace = float(variances.sum())
    if trace <= 0:
        return 1.0
    freedom = trace**2 / float((variances**2).sum())

    def left(factor: float) -> float:
        """What the clip leaves of curves with this many times the trace, over what it left."""
        edge = radius**2 * freedom / (factor * trace)
        inside = factor * scipy.special.gammainc(freedom / 2 + 1, edge / 2)
        return float(inside + radius**2 / trace * (1 - scipy.special.gammainc(freedom / 2, edge / 2)))

    low, high = 1.0, MOST_BACK
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) < 1 - 1e-9 else (low, middle)
    return low
