"""How much curves vary about their mean: a last stage for confidence bands, and what its draws come to.

Sizes of variation are told apart by block of frequencies and by piece of the domain (derivations: stages).
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np
from scipy.ndimage import maximum_filter

from dpfda.bounds.bodies import Ellipsoid
from dpfda.noise import Laplace
from dpfda.problems.ellipsoid_stages import VaryProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part, Stage

#: Sizes of variation are measured up to this many times the squared distance that the last ellipsoid was made for.
FURTHER = 1.5
#: Pieces of the domain in which variation is told apart: one for each of this many records times epsilon.
FOR_A_PIECE, FEWEST_PIECES, MOST_PIECES = 20.0, 4, 24


def variation_stage(inner: MeanProblem, starts: tuple[int, ...], epsilon: Fraction) -> Stage:
    """The stage about the curves of the last round, clipped to its ellipsoid; both lists cost half of epsilon each."""
    sizes = np.diff((*starts, inner.basis.size))
    axes, weights = cast(Ellipsoid, inner.bound).axes[list(starts)], np.sqrt(sizes * (sizes + 1))
    reference = float(np.sqrt(FURTHER * (axes**3 * weights).sum() / (axes * weights).sum()))
    problem = VaryProblem(inner, starts, reference, _cuts(inner, epsilon))
    half, blocks, parts = epsilon / 2, len(starts), []
    for where in (np.arange(blocks), np.arange(blocks, problem.size)):
        sensitivity, ones = problem.sensitivity.restricted(where), np.ones(where.size)
        scales = ones * (sensitivity.support(ones) / float(half))
        parts.append(Part(where, ones, Laplace.calibrated(half, scales, ones, sensitivity, ones)))
    return Stage(problem, tuple(parts))


def _cuts(inner: MeanProblem, epsilon: Fraction) -> tuple[int, ...]:
    """Into how many pieces each axis is cut to see where curves vary: as many as noise lets us tell apart."""
    grid, strength = inner.grid, inner.n * float(epsilon)
    pieces = float(np.clip(strength / FOR_A_PIECE, FEWEST_PIECES, MOST_PIECES))
    most = (pieces / grid.count) ** (1 / len(grid.domain.axes))
    cuts = tuple(min(max(1, int(most)), axis.size) for axis in grid.domain.axes)
    return cuts if grid.count == 1 else (grid.count, *cuts)  # components may vary by different amounts


def variability(stage: Stage, draw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances that sampling brings to the coefficients, and how much more or less curves vary at each grid point.

    Noisy sizes are taken at one scale of their noise above what was drawn: too wide rather than too narrow.
    """
    problem = cast(VaryProblem, stage.problem)
    grid, size, blocks = problem.inner.grid, problem.inner.basis.size, len(problem.starts)
    lengths = np.diff((*problem.starts, size))
    sizes = np.minimum(np.maximum(draw[:blocks], 0.0) + stage.scales[:blocks], 1.0)
    axes = np.asarray(problem.inner.bound.lengths(size))
    sampling = np.repeat(sizes / lengths, lengths) * axes**2 / problem.n
    evenly = problem.basis.functions**2 @ sampling * grid.weights
    expected = np.bincount(problem.pieces, evenly, problem.windows)
    near = 3 if grid.count == 1 else (1, 3)  # components are no neighbours
    gain = _gain(draw[blocks:], stage.variance[blocks:], expected / expected.sum(), grid.count)
    # Nothing is known of edges inside pieces.
    widest = maximum_filter(gain.reshape(problem.cuts), near, mode="nearest")
    return sampling, widest.ravel()[problem.pieces]


def _gain(found: np.ndarray, noise: np.ndarray, expected: np.ndarray, alone: int = 1) -> np.ndarray:
    """How much more curves vary on each piece than expected; differences that noise explains are shrunk away.

    As far as noise hides them, any one of `alone` components may vary for all.
    """
    total = max(float(found.sum()), float(np.sqrt(noise.sum())))
    excess = np.maximum(found, 0.0) / (total * expected) - 1
    by_noise = float((noise / (total * expected) ** 2).sum())
    kept = max(0.0, 1 - by_noise / max(float((excess**2).sum()), 1e-300))
    values: np.ndarray = np.sqrt(np.maximum(1 + kept * excess + (1 - kept) * (alone - 1), 0.05))
    return values
