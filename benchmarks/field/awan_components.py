"""Functional principal components by the exponential mechanism, written from the paper.

J. Awan, A. Kenney, M. Reimherr, A. Slavkovic: Benefits and Pitfalls of the Exponential Mechanism with Applications to
Hilbert Spaces and Functional PCA, ICML 2019, the section on functional principal components. Curves lie in the unit
ball; the utility of a subspace is the sum of squared lengths of the curves' projections onto it, of sensitivity one
when a curve is replaced; the base measure belongs to a smooth Gaussian process with covariance Sigma. In coordinates on
the leading eigenfunctions of Sigma, an orthonormal basis V of k columns has a density proportional to

    exp(tr(V' A V)),   A = (epsilon S - Sigma^-1) / 2,   S = sum of z z' over the curves' coordinates z,

a matrix Bingham law. Pure epsilon-differential privacy, as long as the law is drawn exactly.

What we chose, in the peer's favour:

- The paper draws by Gibbs sampling, whose finite chains are private only approximately. Here the draw is exact, by
  rejection from an angular central Gaussian law (Kent, Ganeiber, Mardia 2018), whose bound holds for each eigenvalue
  and so for any k (`chances`). After `PROPOSALS` in vain a chain stands in, of exact draws column by column: private
  approximately, as the paper's. Here it is needed with ten eigenfunctions and several components only.
- The paper centres curves at their sample mean and scales them by their largest norm, which reads both off the data and
  is not private. `coordinates` can do so ("published"); private ways are a public centre and radius ("public"), a
  fifth of epsilon for a mean with Laplace noise ("mean"), and differences of pairs of curves over the root of two,
  which have the mean zero and the same covariance ("pairs").
- Sigma: a squared exponential kernel, with as many eigenfunctions as hold 99 % of its trace, as in the authors'
  examples; its length and its weight (1, or 0 for the uniform law on subspaces) are the caller's, who tries several.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CENTRES = ("public", "mean", "pairs", "published")
#: The share of epsilon that the way "mean" spends on the mean.
MEAN_SHARE = 0.2
#: Proposals a draw may take before a chain of exact draws stands in, and its sweeps.
PROPOSALS, SWEEPS = 10_000, 40


@dataclass(frozen=True)
class Base:
    """Eigenfunctions of Sigma (one row each, orthonormal under the mean over the grid) and the inverse eigenvalues."""

    functions: np.ndarray
    penalties: np.ndarray


def base(points: np.ndarray, length: float, weight: float = 1.0, share: float = 0.99) -> Base:
    """The leading eigenfunctions of a squared exponential kernel of variance one on [0, 1]."""
    kernel = np.exp(-0.5 * ((points[:, None] - points) / length) ** 2)
    values, vectors = np.linalg.eigh(kernel / points.size)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = int(np.searchsorted(values.cumsum() / values.sum(), share)) + 1
    return Base(vectors[:, :kept].T * np.sqrt(points.size), weight / values[:kept])


def clipped(rows: np.ndarray) -> np.ndarray:
    """Rows shortened to the unit ball."""
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1))[:, None]


def coordinates(
    curves: np.ndarray, basis: Base, way: str, center: float, radius: float, epsilon: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Curves as points of the unit ball, and what is left of epsilon."""
    size = curves.shape[1]
    if way == "published":
        shifted = curves - curves.mean(axis=0)
        return shifted @ basis.functions.T / size / np.sqrt((shifted**2).mean(axis=1)).max(), epsilon
    scores = clipped((curves - center) @ basis.functions.T / size / radius)
    if way == "public":
        return scores, epsilon
    if way == "pairs":
        mixed = rng.permutation(len(scores) // 2 * 2)
        raw = (curves - center) @ basis.functions.T / size / radius
        return clipped((raw[mixed[::2]] - raw[mixed[1::2]]) / np.sqrt(2)), epsilon
    dimension, spent = scores.shape[1], MEAN_SHARE * epsilon
    noise = rng.laplace(0, 2 * np.sqrt(dimension) / (len(scores) * spent), dimension)
    raw = (curves - center) @ basis.functions.T / size / radius
    return clipped(raw - scores.mean(axis=0) - noise), epsilon - spent


def exponent(scores: np.ndarray, penalties: np.ndarray, epsilon: float) -> np.ndarray:
    """The matrix A of the density exp(tr(V'AV)): utility times epsilon over twice its sensitivity, and the base."""
    return (epsilon * scores.T @ scores - np.diag(penalties)) / 2


def envelope(costs: np.ndarray) -> float:
    """The shift s of the best angular central Gaussian envelope: the root of sum 1/(s + 2 cost) = 1."""
    low, high = 1.0 - 2 * costs.min(), costs.size - 2 * costs.min()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (middle + 2 * costs)).sum() > 1 else (low, middle)
    return (low + high) / 2


def frame(rows: np.ndarray) -> np.ndarray:
    """Orthonormal bases of the spans of matrices' columns, quick to find, but not uniform within the spans."""
    return np.linalg.qr(rows)[0]


def polar(rows: np.ndarray) -> np.ndarray:
    """The orthonormal basis nearest to a matrix: of one with independent Gaussian columns it is uniform in its span."""
    left, _, right = np.linalg.svd(rows, full_matrices=False)
    return left @ right


def relaxed(costs: np.ndarray, k: int) -> np.ndarray:
    """Costs beyond the k-th smallest, zero for the k smallest: the envelope's.

    What a span costs beyond the cheapest span is at least what it costs in these: turning a share of the i-th axis to
    the j-th costs c_j - c_i times that share, which is no less than c_j - c_k for i <= k < j.
    """
    return np.maximum(costs - np.sort(costs)[k - 1], 0)


def chances(found: np.ndarray, costs: np.ndarray, shift: float) -> np.ndarray:
    """The logarithms of the chances to accept spans that the envelope proposes.

    exp(-a) (s + 2a)^(q/2) is largest where s + 2a = q. With the eigenvalues a of V' relaxed V, the product of this over
    them bounds the ratio of exp(-tr(V' relaxed V)) to the envelope, and the density is smaller still.
    """
    (_, q, k), squares = found.shape, (found**2).sum(axis=2)
    easy = relaxed(costs, k)
    own = np.linalg.eigvalsh(np.einsum("nqk,q,nql->nkl", found, easy, found))
    beyond = squares @ costs - np.sort(costs)[:k].sum()
    top = (q / 2) * np.log(q) - (q - shift) / 2
    return (q / 2 * np.log(shift + 2 * own) - top).sum(axis=1) - beyond


def bingham(matrix: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """An orthonormal basis of k columns with density proportional to exp(tr(V' matrix V)), drawn exactly.

    The density is the same for all bases of a span. A basis that leans to some axis within it would tell more of the
    data than the span does.
    """
    eigenvalues, axes = np.linalg.eigh(matrix)
    costs = eigenvalues.max() - eigenvalues
    q, tried, batch = costs.size, 0, 64
    if q == k:
        # The only span there is: any basis will do that does not come from the data.
        return np.eye(q)
    easy = relaxed(costs, k)
    shift = envelope(easy)
    spread = 1 / np.sqrt(shift + 2 * easy)
    while tried < PROPOSALS:
        raw = rng.standard_normal((batch, q, k)) * spread[:, None]
        taken = np.flatnonzero(np.log(rng.random(batch)) < chances(frame(raw), costs, shift))
        if taken.size:
            return axes @ polar(raw[taken[0]])
        tried, batch = tried + batch, min(4 * batch, 8192)
    return _chain(matrix, axes[:, ::-1][:, :k], rng)


def _chain(matrix: np.ndarray, start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Gibbs sampling: each column in turn, exactly, given the others."""
    found = start.copy()
    for _ in range(SWEEPS):
        for j in range(found.shape[1]):
            rest = np.delete(found, j, axis=1)
            free = np.linalg.qr(rest, mode="complete")[0][:, rest.shape[1] :]
            found[:, j] = (free @ bingham(free.T @ matrix @ free, 1, rng))[:, 0]
    return found


def components(
    curves: np.ndarray, k: int, epsilon: float, basis: Base, way: str, center: float, radius: float,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """k private components, one row each on the grid."""
    scores, left = coordinates(curves, basis, way, center, radius, epsilon, rng)
    return bingham(exponent(scores, basis.penalties, left), k, rng).T @ basis.functions
