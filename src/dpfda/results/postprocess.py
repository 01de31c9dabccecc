"""What may be done after the noise, for free: shrinkage.

Nothing here sees a record. A release is public; so are its noise law and everything computed
from the two (derivations: after the noise).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dpfda.core.codec import frozen_array
from dpfda.core.errors import ParameterError, shown
from dpfda.methods.blockwise import octaves
from dpfda.noise import Ball, Gaussian
from dpfda.problems.contracts import Problem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Stage
from dpfda.results.posterior import Posterior, Seen, posterior, sizes_and_shapes

if TYPE_CHECKING:
    from dpfda.results.base import Release
    from dpfda.results.density import DensityRelease

R = TypeVar("R", bound="Release")
D = TypeVar("D", bound="DensityRelease")
SHRINKAGE = ("bayes", "james-stein", "posterior-mean")
#: The prior of the posterior mean: how signals fall off, as powers of the kernel's eigenvalues, or as a power of their
#: number (as smooth means do whatever the kernel); energies from the bound's down by so many halves (two octaves below
#: the ladder of radii); and the weight of no signal at all. Errors changed by less than 5 % for 10 to 20 halves, and
#: for weights from 0.3 to 0.8 (docs/derivations/posterior-mean.md).
POWERS, DECAY, HALVINGS, NOTHING = (0.0, 0.5, 1.0), 4.0, 14, 0.5


def shrink(release: R, method: str = "bayes") -> R:
    """A release pulled towards the public centre by what the known noise law says is noise.

    Costs no privacy. The step is recorded on the release; its raw coefficients stay.

    Parameters
    ----------
    release : Release
        In an orthonormal basis.
    method : str, optional
        "bayes" (default) weighs public guesses of how smooth the answer is; "james-stein" needs no guess;
        "posterior-mean" is exact for the noise law and signals of any size: what means do by default.

    Returns
    -------
    Release
        A new one of the same kind.

    Raises
    ------
    dpfda.errors.ParameterError
        For other methods, and where the basis is not orthonormal.

    Examples
    --------
    >>> import dpfda as dp
    >>> release = dp.mean(np.zeros((500, 16)), epsilon=1.0, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(4))
    >>> dp.postprocess.shrink(release, "james-stein").steps
    ('shrinkage by james-stein',)
    """
    schedule = release.plan.schedule
    home, stage = schedule.target(release.drawn) or release.plan.problem, schedule.last(release.drawn)
    coefficients = frozen_array(shrunk(release.raw, stage, method, home, schedule.bound_doubt))
    return replace(release, coefficients=coefficients, steps=(f"shrinkage by {method}",))


def project(release: D) -> D:
    """The nearest density in L2 to a released one: nowhere negative, integral one. The raw release stays with it.

    Parameters
    ----------
    release : DensityRelease
        As it was drawn, or shrunk.

    Returns
    -------
    DensityRelease
        A new one; the same where it is projected already.

    Examples
    --------
    >>> import dpfda as dp
    >>> points = np.random.default_rng(0).uniform(size=500)
    >>> release = dp.density(points, epsilon=1.0, domain=(0, 1)).unprocessed()
    >>> bool(dp.postprocess.project(release).values.min() >= 0)
    True
    """
    return release.project()


def shrunk(
    coefficients: np.ndarray, stage: Stage, method: str = "bayes", home: Problem | None = None, doubt: float = 0.0
) -> np.ndarray:
    """Coefficients with the noise of `stage`, after shrinkage towards the public centre of `home` (the stage's own).

    `bayes` is empirical Bayes: target coefficients have variances proportional to a member of the
    public class of guesses, with the one unknown factor estimated from the noisy coefficients by
    weighted least squares, and members weighed by how well they then explain them. `james-stein` needs no guess: blocks
    of coefficients are shortened by what the law says of their noise, which no mean can make worse than leaving
    them alone (derivations: shrinkage). `posterior-mean` is :func:`posterior_of`.
    """
    if method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", shown(method), "Pass method='bayes'.")
    problem, home = stage.problem, stage.problem if home is None else home
    size = problem.basis.size
    if not np.array_equal(problem.basis.energies, np.ones(size)):
        raise ParameterError(
            "shrinkage works on orthonormal coefficients", type(problem.basis).__name__, "Leave it out here."
        )
    filter = stage.filter[:size]
    variance = problem.finish_variance(stage.variance) + filter**2 * problem.sampling
    about = home.typical(coefficients)[:size]
    kept = about.copy()
    if method == "bayes":
        noised = (filter > 0) & (variance > 0)
        kept[noised] *= _empirical_bayes(
            about[noised], variance[noised], filter[noised], home.prior_energies[:, :size][:, noised]
        )
    else:
        kept = (
            kept * james_stein(about, stage, variance, home)
            if method == "james-stein"
            else posterior_of(about, stage, home, doubt).mean
        )
        kept *= min(1.0, _outer(home) / max(float(np.sqrt((kept**2).sum())), 1e-300))
    return np.concatenate([coefficients[:size] - about + kept, coefficients[size:]])


def posterior_of(about: np.ndarray, stage: Stage, home: Problem, doubt: float = 0.0) -> Posterior:
    """What is known of coefficients about the public centre of `home`, given the noise of `stage`: mean and variance.

    The prior has every size up to the bound of `home`, and several shapes; with `doubt` about that bound small sizes
    are likelier (derivations: posterior mean).
    """
    size, law_variance = about.size, stage.variance
    finished = stage.problem.finish_variance(law_variance)[:size]
    seen: list[Seen] = []
    for part in stage.parts:
        if part.where.max() >= stage.problem.basis.size:  # a count is no coefficient
            continue
        wider = np.sqrt(finished[part.where] / np.maximum(law_variance[part.where], 1e-300)) / part.filter
        values = about[part.where] / part.filter
        alone = [slice(i, i + 1) for i in range(part.where.size)]
        pieces = part.law.blocks if isinstance(part.law, Ball) else alone
        gaussian = isinstance(part.law, Gaussian)
        noise = np.sqrt(part.law.variance) if gaussian else part.law.scales
        seen += [Seen(part.where[p], values[p], (noise * wider)[p], gaussian) for p in pieces]
    where = np.concatenate([block.where for block in seen])
    eigenvalues = np.zeros(size)
    eigenvalues[where] = stage.problem.basis.eigenvalues[where] / stage.problem.basis.eigenvalues[where].max()
    falling = np.arange(1.0, size + 1) ** -DECAY
    shapes = np.array([*(eigenvalues**power for power in POWERS), falling]) * (eigenvalues > 0)
    shapes /= shapes.sum(axis=1, keepdims=True)
    largest = min(_outer(home) ** 2, 1e300)
    return posterior(seen, sizes_and_shapes(shapes, largest, largest * 2.0**-HALVINGS, NOTHING, doubt))


def james_stein(about: np.ndarray, stage: Stage, variance: np.ndarray, home: Problem) -> np.ndarray:
    """A factor for each coefficient, the same within a block: the positive part of James and Stein's for its law.

    It never exceeds the best linear factor for a mean on the public bound, which alone serves blocks of one or two.
    """
    factors, largest = np.ones(about.size), _outer(home) ** 2
    for block, pull in _blocks(stage, about.size):
        noise, energy = float(variance[block].sum()), float((about[block] ** 2).sum())
        linear = 1.0 if np.isinf(largest) else largest / (largest + noise)
        factors[block] = min(linear, max(0.0, 1 - pull * noise / max(energy, 1e-300)))
    return factors


def _outer(home: Problem) -> float:
    """The largest distance of a mean from the public centre, where there is a bound on it."""
    return float(home.bound.outer) if isinstance(home, MeanProblem) else float("inf")


def _blocks(stage: Stage, size: int) -> Iterator[tuple[np.ndarray, float]]:
    """Blocks of noisy coordinates, and the share of the noise's energy that shrinkage may take for granted.

    For noise that is uniform in direction it is ``(L - 2) / (L E R^2 E R^-2)``, R the length of the noise on the block
    (Brandwein and Strawderman): L coordinates of a ball of M have ``(L - 2)^2 (M - 1) / (L^2 (M + 1))``.
    """
    for part in stage.parts:
        balls = getattr(part.law, "blocks", None)
        for ball in balls or [slice(0, part.where.size)]:
            where = part.where[ball]
            starts = octaves(where.size) if balls is None or len(balls) == 1 else (0,)
            for start, stop in pairwise((*starts, where.size)):
                length, whole = stop - start, where.size
                pull = max(0.0, 1 - 2 / length)
                if balls is not None:
                    pull *= pull * (whole - 1) / (whole + 1)
                if where[start:stop].max() < size:  # a count is no coefficient
                    yield where[start:stop], pull


def _empirical_bayes(seen: np.ndarray, noise: np.ndarray, filter: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Each member of the class at the size that fits it best, weighed by how well it explains the numbers."""
    unit = float(noise.max())  # squares of very small or large variances would leave the range of floats
    seen, noise, classes = seen / np.sqrt(unit), noise / unit, classes / unit
    # seen = filter * target + noise; least squares of its excess energy on each guess, reweighted.
    signal, size = filter**2 * classes, np.ones((len(classes), 1))
    for _ in range(20):
        weight = 1 / (size * signal + noise) ** 2
        excess = (weight * signal * (seen**2 - noise)).sum(axis=1) / (weight * signal**2).sum(axis=1)
        size = np.clip(excess, 0.0, 1.0)[:, None]  # a guess carries all that the bound allows: no target has more
    total = size * signal + noise
    fit = -0.5 * (np.log(total) + seen**2 / total).sum(axis=1)
    weight = np.exp(fit - fit.max())
    factors = np.minimum(1.0, size * filter * classes / total)  # shrink, never amplify noise
    values: np.ndarray = weight @ factors / weight.sum()
    return values
