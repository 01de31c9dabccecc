"""Error bars of a covariance and its eigenfunctions, from two paid numbers (derivations: covariance).

A check compared the published surface with the records: how far they are apart at the worst place, and as operators,
each with Laplace noise. So a band needs no law of errors: it is what was measured, and what noise can hide of that. How
far the records are from their population is added for Gaussian curves with a margin. Public numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from dpfda.problems.stage import Stage
from dpfda.problems.surface_check import PIECES, SurfaceCheck, pieces_of
from dpfda.results.bands import sampled_operators

#: Laplace noise of scale one falls below minus this one time in twenty.
NINETY = float(np.log(10))
#: Fourth moments may be 5.5 times the squared variance, against 3 of Gaussian curves: sampling errors are larger by
#: 1.5. Curves of heavier tails have no such bars.
MARGIN = 1.5
#: What sampling gets of the chance of an error; the check's noise gets the rest.
SAMPLING = 0.2
#: No variance is larger than the square of this times the bound's height: a convention, for an L2 ball bounds no value.
HEIGHT = 3.0
#: What bands promise where nothing was compared with the records.
UNCHECKED = (
    "No part of the budget went to error bars: bands are as wide as the public bound, and the noise band shows what "
    "the noise alone can do."
)


def over_pieces(surface: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A surface on the grid as the check sees it: means over pieces times the roots of their lengths."""
    pieces = pieces_of(weights.size)
    gather = np.zeros((pieces[-1] + 1, weights.size))
    gather[pieces, np.arange(weights.size)] = weights
    gather /= np.sqrt(gather.sum(axis=1, keepdims=True))
    return np.asarray(gather @ surface @ gather.T)


def nearest(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The place of the point that is nearest to each value.

    >>> nearest(np.array([0.0, 1.0, 3.0]), np.array([-5.0, 0.7, 9.0])).tolist()
    [0, 1, 2]
    """
    return np.searchsorted((points[1:] + points[:-1]) / 2, values)


def laplace_quantile(chance: float) -> float:
    """What Laplace noise of scale one exceeds with this chance."""
    return float(-np.log(2 * chance) if chance < 0.5 else np.log(2 * (1 - chance)))


@dataclass(frozen=True, eq=False)
class Checked:
    """What a check said: two noisy numbers, their scales, and the problem whose numbers they are.

    `count` is the number of records over the public one, which no interval of `doubt` is likely to miss by three.
    """

    problem: SurfaceCheck
    drawn: tuple[float, float]
    scales: tuple[float, float]
    count: float
    doubt: float

    @classmethod
    def of(cls, stage: Stage, drawn: np.ndarray, count: float, doubt: float) -> Checked:
        assert isinstance(stage.problem, SurfaceCheck)
        scales = stage.scales.tolist()
        return cls(stage.problem, (float(drawn[0]), float(drawn[1])), (scales[0], scales[1]), count, doubt)

    @property
    def n(self) -> float:
        """How many records there are at least."""
        return self.problem.n * max(self.count - 3 * self.doubt, 1 / self.problem.n)

    def _limit(self, place: int, chance: float) -> float:
        """What one of the numbers is at most, but for this chance, with the square of the mean it may hide."""
        scale = self.scales[place]
        number = max(self.drawn[place] + scale * laplace_quantile(chance), scale) * self.problem.n / self.n
        mean = number / float(self.problem.weights[place]) + (
            number / 2 if place == 0 else 0.0
        )  # and what was cut of it
        return number + mean**2

    # -- surfaces -----------------------------------------------------------------------------

    @cached_property
    def spans(self) -> np.ndarray:
        """The height that a record is kept to at each grid point."""
        problem, lengths = self.problem, np.bincount(self.problem.pieces, self._weights)
        return np.asarray((problem.edges * problem.unit / np.sqrt(lengths))[problem.pieces])

    def half_width(self, surface: np.ndarray, level: float, population: bool) -> np.ndarray:
        """On the grid, about a surface: what was measured, the surface's own distance from it, and sampling."""
        problem, chance = self.problem, (1 - level) * (1 - SAMPLING if population else 1.0)
        apart = np.abs(over_pieces(surface, self._weights) - problem.checked)
        roots = np.sqrt(np.bincount(problem.pieces, self._weights))
        apart = (apart / np.multiply.outer(roots, roots))[np.ix_(problem.pieces, problem.pieces)]
        width = self._limit(0, chance) * np.multiply.outer(self.spans, self.spans) + apart
        if population:
            spread = np.sqrt(np.maximum(np.diag(surface) + np.diag(width), 0.0))
            normal = -float(scipy.special.ndtri((1 - level) * SAMPLING / (2 * problem.edges.size)))
            width += MARGIN * normal * np.sqrt(2 / self.n) * np.multiply.outer(spread, spread)
        return np.asarray(width)

    @property
    def promise(self) -> str:
        """What bands promise, and under which assumption, in a sentence."""
        places = "" if len(self.spans) <= PIECES else f" of means over {PIECES} pieces of the domain"
        return (
            f"A 95 % band holds the covariance{places} everywhere at once, whatever noise, clipping and smoothing did "
            "to the published surface: the band that of the sample, the confidence band that of the population, if "
            "squared deviations from the centre have a variance (heavier tails are covered in part)."
        )

    @property
    def _weights(self) -> np.ndarray:
        return self.problem.inner.grid.weights

    # -- operators ----------------------------------------------------------------------------

    def operator_limit(self, surface: np.ndarray, chance: float, population: bool) -> float:
        """How far the true covariance is from this surface as an operator, but for this chance."""
        own = over_pieces(surface, self._weights)
        limit = self._limit(1, chance * (1 - SAMPLING if population else 1.0)) * self.problem.radius**2
        limit += float(np.abs(np.linalg.eigvalsh(own - self.problem.checked)).max())
        if population:
            values = np.maximum(np.linalg.eigvalsh(own), 0.0)[::-1]
            limit += MARGIN * sampled_operators(values + limit * (values > 0), self.n, chance * SAMPLING)
        return limit


def largest_angles(values: np.ndarray, limit: float, k: int) -> np.ndarray:
    """Largest angles, in degrees, of the first `k` eigenfunctions to the true ones (derivations: covariance).

    By the theorem of Davis and Kahan on doubled angles: the sine of twice the angle is at most twice the limit over the
    gap to the nearest other eigenvalue, and 45 degrees are not passed while that is below one.

    >>> largest_angles(np.array([1.0, 0.5, 0.1]), 0.1, 2).round(1).tolist(), largest_angles(np.array([1.0]), 0.6, 1)
    ([11.8, 15.0], array([90.]))
    """
    padded = np.append(values, 0.0)
    gaps = np.array([np.abs(np.delete(padded, i) - padded[i]).min() for i in range(k)])
    return _angles(gaps, limit)


def component_words(shares: np.ndarray, angles: np.ndarray) -> dict[str, str]:
    """Numbers of components from "1" on, each with its share of variance and how far off it may be.

    >>> component_words(np.array([0.75, 0.2]), np.array([12.3, 90.0]))
    {'1': '1: 75 % of the variance, off by at most 12°', '2': '2: 20 % of the variance, may be noise'}
    """
    sure = [f"off by at most {angle:.0f}°" if angle < 90 else "may be noise" for angle in angles]
    each = enumerate(zip(shares, sure, strict=True))
    return {str(i + 1): f"{i + 1}: {100 * share:.0f} % of the variance, {words}" for i, (share, words) in each}


def plane_angle(values: np.ndarray, limit: float, k: int) -> float:
    """The same for the space of the first `k` together."""
    padded = np.append(values, 0.0)
    return float(_angles(padded[k - 1 : k] - padded[k : k + 1], limit)[0])


def _angles(gaps: np.ndarray, limit: float) -> np.ndarray:
    known = gaps > 2 * limit
    sines = 2 * limit / np.where(known, gaps, np.inf) if limit < np.inf else np.zeros(gaps.shape)
    return np.where(known, np.degrees(np.arcsin(sines)) / 2, 90.0)


def eigenfunction_limits(
    surface: np.ndarray, functions: np.ndarray, values: np.ndarray, width: np.ndarray, limit: float, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the true eigenfunctions on the grid, a row each (derivations: covariance).

    `functions` and `values` are the released pairs, `width` how far the surface is off at each place, `limit` how far
    it is as an operator. Where nothing is known they are as wide as a function of length one can be.
    """
    angle = np.radians(largest_angles(values, limit, len(functions)))[:, None]
    value = values[: len(functions), None]
    least = np.maximum(value - limit, 1e-300)
    energy = (surface**2) @ weights  # of what the surface makes of any function of length one, squared
    others = np.sqrt(np.maximum(energy - (value * functions) ** 2, 0.0))
    rows = np.sqrt((width**2) @ weights)
    off = (np.sin(angle) * others + rows) / least
    ends = functions * np.cos(angle) * value / (value + limit), functions * value / least
    most = np.minimum(1 / np.sqrt(weights), np.sqrt(np.maximum(np.diag(surface) + np.diag(width), 0.0) / least))
    most = np.where(np.degrees(angle) < 90, most, 1 / np.sqrt(weights))
    known = np.degrees(angle) < 90
    lower = np.where(known, np.maximum(np.minimum(*ends) - off, -most), -most)
    upper = np.where(known, np.minimum(np.maximum(*ends) + off, most), most)
    return np.minimum(lower, functions), np.maximum(upper, functions)
