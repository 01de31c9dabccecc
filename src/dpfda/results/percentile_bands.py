"""Bands of percentile curves: how far the fitted ones may lie from the population's, at all levels and times at once.

Coefficients of the fit have a posterior distribution, given the known noise, how a sample strays from its population,
and the priors as the released numbers chose them. What that does to percentiles follows by their slopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dpfda.results.bands import fixed_generator
from dpfda.results.percentile_table import CONFIDENCE
from dpfda.results.quantile_atoms import step_between
from dpfda.results.quantile_fit import Surface, variance_of

#: Draws of the posterior, always the same ones, blocks of the range that suffice for them, and draws at a time.
DRAWS, BLOCKS, CHUNK = 160, 128, 20
#: The part of the domain over which a sample strays alike, and cells that are added to every standard deviation.
ALIKE, LEAST = 0.1, 0.3
#: Limits are moved out by this factor for what the posterior does not hold (the choice of prior scales, shapes that the
#: model lacks); below so many records times epsilon, where priors matter most, by more. And by this part of what the
#: finest cosines of time add nearby: for those that were not released. Found by simulation
#: (derivations: fitted percentiles).
WIDENED, MANY, POWER, UNSEEN = 1.05, 3000.0, 0.2, 0.3


def _posterior(surface: Surface, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the coefficients in units of their prior scales, and what a released number does to them."""
    slopes = surface.model.means_and_slopes(surface.coefficients)[1] * surface.scale
    weighed = slopes / variance_of(surface.model, n)[:, None]
    values, vectors = np.linalg.eigh(np.nan_to_num(slopes.T @ weighed))
    covariance = (vectors / (1 + np.maximum(values, 0.0))) @ vectors.T  # the prior's own precision is one
    return covariance, covariance @ weighed.T


def _drawn(surface: Surface, n: float, rng: np.random.Generator) -> np.ndarray:
    """Errors of the coefficients, in units of their prior scales: one column per draw."""
    gain = _posterior(surface, n)[1]
    slopes = surface.model.means_and_slopes(surface.coefficients)[1] * surface.scale
    prior = rng.standard_normal((surface.scale.size, DRAWS))
    errors, start = rng.standard_normal((len(slopes), DRAWS)) * np.sqrt(variance_of(surface.model, n))[:, None], 0
    for stage in surface.model.observed:  # ball noise: normal, with a size of its own for each draw
        size = sum(stage.functions)
        errors[start : start + size] *= np.sqrt(rng.chisquare(size + 1, DRAWS) / (size + 1))
        start += size
    return np.asarray(prior - gain @ (slopes @ prior + errors))


def _slopes_at_times(surface: Surface) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each time: the distribution function at the edges of blocks, and its slopes by all scaled coefficients."""
    model = surface.model
    masses, by_functions = model.slopes_of_masses(surface.coefficients)
    repeats = [term.basis.shape[1] for term in model.terms]
    for t, (mass, slopes) in enumerate(zip(masses, by_functions, strict=True)):
        row = np.concatenate([term.basis[t] for term in model.terms]) * surface.scale
        below = np.repeat(np.cumsum(slopes, axis=1), repeats, axis=0) * row[:, None]
        yield np.append(0.0, np.cumsum(mass)), np.hstack([np.zeros((len(row), 1)), below]).T


def limits(surface: Surface, levels: np.ndarray, n: float, epsilon: float) -> np.ndarray:
    """Lower and upper limits of quantiles, simultaneous, for each level of confidence: (confidence, 2, levels, times).

    In units of the range. Errors above and below have sizes of their own, and every level has the same part of all
    misses. Where values lie on a lattice, a step of it is added.
    """
    with np.errstate(all="ignore"):
        quantiles = surface.quantile(levels)
        errors = np.nan_to_num(_simulated(surface, levels, n) - quantiles)  # draws, levels, times
        size, factors = len(errors), surface.model.factors
        least = LEAST / (surface.model.observed[-1].table.shape[1] if factors is None else surface.model.blocks)
        both = np.sqrt((errors**2).mean(axis=0)) / 2
        above, below = (np.maximum(_one_sided(side), both) + least for side in (errors, -errors))
        worst = np.maximum(errors / above, -errors / below).max(axis=2)  # draws, levels
        ranks = worst.argsort(axis=0).argsort(axis=0).max(axis=1) / (size - 1)
        unseen = UNSEEN * _last_octave(surface, quantiles)
    step, found = step_between(factors), []
    widened = WIDENED * max(MANY / (n * epsilon), 1.0) ** POWER
    more = step + unseen
    for part in np.quantile(ranks, CONFIDENCE):
        factor = widened * np.quantile(worst, part, axis=0)[:, None]
        found.append(_rising(quantiles - factor * below - more, quantiles + factor * above + more))
    return np.array(found)


def _last_octave(surface: Surface, quantiles: np.ndarray) -> np.ndarray:
    """What the second half of the released cosines of time adds to each percentile curve, at most nearby.

    What finer cosines would add was not released: where curves have peaks or jumps it is of that size.
    """
    model = surface.model
    count = model.observed[-1].functions[0]
    time = model.time[:, count // 2 : count]
    if count < 2 or count >= len(model.shares):
        return np.zeros_like(quantiles)
    found = np.abs((quantiles * model.shares) @ time @ time.T)
    x = np.cumsum(model.shares) - model.shares / 2
    near = np.abs(x[:, None] - x) <= 1 / count
    return np.asarray(np.where(near, found[:, None, :], 0.0).max(axis=2))


def _one_sided(errors: np.ndarray) -> np.ndarray:
    """The root mean square of errors above zero, of a fourth of all draws at least."""
    number = np.maximum((errors > 0).sum(axis=0), len(errors) / 4)
    return np.asarray(np.sqrt((np.maximum(errors, 0) ** 2).sum(axis=0) / number))


def _simulated(surface: Surface, levels: np.ndarray, n: float) -> np.ndarray:
    """Quantiles of distributions as likely as the fitted one, for samples that stray: (draws, levels, times)."""
    model, rng = surface.model, fixed_generator()
    if model.factors is None:
        model = replace(model, blocks=min(BLOCKS, model.blocks))
    scaled = surface.coefficients[:, None] + surface.scale[:, None] * _drawn(surface, n, rng)
    strays = _strays(model.shares, levels, n, rng)  # levels, times, draws
    shifted = np.clip(levels[:, None, None] - strays, 1e-9, 1 - 1e-9)
    found = np.empty((DRAWS, levels.size, model.shares.size))
    for start in range(0, DRAWS, CHUNK):
        draws = range(start, start + CHUNK)
        masses = np.concatenate([model.block_masses(model.functions(scaled[:, d])) for d in draws])
        below = np.cumsum(np.pad(masses, ((0, 0), (1, 0))), axis=1)
        below /= below[:, -1:]
        for place in range(levels.size):
            reached = _reached(below, shifted[place, :, start : start + CHUNK].T.ravel())
            found[start : start + CHUNK, place] = reached.reshape(CHUNK, -1)
    return found


def _reached(below: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Where each row reaches a level of its own, linear between edges."""
    rows, count = np.arange(len(below)), below.shape[1] - 1
    right = np.clip((below < level[:, None]).sum(axis=1), 1, count)
    low, high = below[rows, right - 1], below[rows, right]
    return np.asarray((right - 1 + np.clip((level - low) / np.maximum(high - low, 1e-300), 0, 1)) / count)


def _moved(below: np.ndarray, slopes: np.ndarray, quantiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of a distribution function at quantiles of its own, and its density there."""
    count = below.size - 1
    places = np.clip((quantiles * count).astype(int), 0, count - 1)
    share = (quantiles * count - places)[:, None]
    density = np.maximum(np.diff(below)[places], 1e-9) * count
    return (1 - share) * slopes[places] + share * slopes[places + 1], density


def _rising(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits that rise with the level, as percentiles do."""
    return np.maximum.accumulate(lower, axis=0), np.minimum.accumulate(upper[::-1], axis=0)[::-1]


def _strays(shares: np.ndarray, levels: np.ndarray, n: float, rng: np.random.Generator) -> np.ndarray:
    """How the distribution function of a sample of n strays from its population's: (levels, times, draws)."""
    x = np.cumsum(shares) - shares / 2
    along = np.linalg.cholesky(np.exp(-np.abs(x[:, None] - x) / ALIKE) + 1e-9 * np.eye(x.size))
    bridge = np.minimum.outer(levels, levels) - np.outer(levels, levels)
    across = np.linalg.cholesky(bridge + 1e-12 * np.eye(levels.size)) / np.sqrt(n)
    normal = rng.standard_normal((levels.size, x.size, DRAWS), dtype=np.float32)
    mixed = np.tensordot(across, normal, axes=1)
    return np.asarray(np.matmul(along, mixed))


def expected_errors(surface: Surface, levels: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Expected squared errors of quantiles (levels by times): in all, and those that noise alone makes."""
    covariance, gain = _posterior(surface, n)
    noise, quantiles = (gain * surface.model.noise) @ gain.T, surface.quantile(levels)
    found = []
    for t, (below, slopes) in enumerate(_slopes_at_times(surface)):
        moved, density = _moved(below, slopes, quantiles[:, t])
        moved /= density[:, None]
        found.append([((moved @ part) * moved).sum(axis=1) for part in (covariance, noise)])
    whole, alone = np.array(found).transpose(1, 2, 0)
    return whole, alone
