"""The exact posterior mean of several rows that one ball noise covers, each row of a size and shape of its own.

Ball noise is a mixture of Gaussian noise whose one unknown factor all coordinates share (derivations: posterior mean).
Given the factor rows are independent, so that their guesses need not be combined: a row that is all noise goes to zero
whatever the others hold.
"""

from __future__ import annotations

import numpy as np
import scipy

from dpfda.results.posterior import mixture, sizes_and_shapes

#: How fast squared coefficients fall with the number of their function: not at all, as of rough curves, to smooth ones.
FALLS = (0.0, 2.0, 4.0)
#: The smallest signal that is looked for, as a share of the noise's energy in a row: smaller ones make no difference.
SMALLEST = 0.01


def falling_shapes(size: int) -> np.ndarray:
    """Shares of a signal over functions by number, one row for each way to fall; each adds up to one."""
    rows = np.arange(1, size + 1, dtype=float)[None, :] ** -np.array(FALLS)[:, None]
    shapes: np.ndarray = rows / rows.sum(axis=1, keepdims=True)
    return shapes


def posterior_rows(values: np.ndarray, scales: np.ndarray, largest: float, nothing: float) -> np.ndarray:
    """The posterior mean of rows of `values`, seen through one ball noise of these `scales`.

    A row is nothing with probability `nothing`, else of any size up to the squared one `largest`.
    """
    length = values.size
    nodes, fit = mixture(length)
    noise = nodes[:, None, None] * scales**2  # nodes x rows x functions
    means = np.zeros((nodes.size, *values.shape))
    for row, seen in enumerate(values):
        smallest = SMALLEST * (length + 1) * float(scales[row].min()) ** 2
        prior = sizes_and_shapes(falling_shapes(seen.size), max(largest, smallest), smallest, nothing)
        total = prior.variances + noise[:, row, None, :]  # nodes x guesses x functions
        log = prior.log_weights - 0.5 * (np.log(total) + seen**2 / total).sum(axis=-1)
        evidence = scipy.special.logsumexp(log, axis=1)
        kept = np.einsum("ng,ngf->nf", np.exp(log - evidence[:, None]), prior.variances / total)
        means[:, row] = kept * seen
        fit = fit + evidence
    weights = np.exp(fit - scipy.special.logsumexp(fit))
    found: np.ndarray = np.tensordot(weights, means, 1)
    return found
