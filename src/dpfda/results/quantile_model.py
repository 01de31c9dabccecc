"""The model of percentile curves: what cosines of ranks a family of distributions has, one at each point of time.

At a time, values of the range (from 0 to 1) are ``m + s (exp(g a) - 1)/g`` with ``a = sinh(sqrt(h) z)/sqrt(h)`` and z
standard normal: location, scale, skewness and tails, each smooth in time. Atoms at both ends of the range hold what is
clipped there, and a tilt by cosines of ranks bends the whole into any other shape: of ranks in the family itself, so
that a shape which only moves and stretches in time has a tilt that stays. Everything here is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from dpfda.problems.rank_moments import LEVELS

#: Where location, log scale, skewness and tails are kept: beyond it a distribution is a point, or hardly one.
LOWEST, HIGHEST = np.array([-1.0, -7.0, -1.5, -3.0]), np.array([2.0, 1.0, 1.5, 4.0])
#: Numbers of a shape; of atoms at the ends.
SHAPE, ENDS = 4, 2
#: Below this a skewness or a tail is none.
TINY = 1e-4
#: Ranks are normal scores through a logistic function, so much wider than the distribution: tails get room.
LOGISTIC, WIDER = 1.702, 1.5


@dataclass(frozen=True, eq=False)
class Observed:
    """What a stage released: mean cosines by order, of the levels `table`, and the variance of each one's noise."""

    table: np.ndarray
    functions: tuple[int, ...]
    means: Sequence[np.ndarray]
    variance: Sequence[np.ndarray]

    @property
    def orders(self) -> int:
        return len(self.functions)


@dataclass(frozen=True, eq=False)
class Term:
    """One function of time of the model: its basis on the grid, and centre and scale of each coefficient.

    Terms of one `name` have one scale, which the released numbers choose; the first coefficient of a shape has its own.
    """

    basis: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    names: tuple[str, ...]


def cosines(orders: int) -> np.ndarray:
    """``sqrt(2) cos(pi k u)`` at the middle of each level: one row per level."""
    u = (np.arange(LEVELS) + 0.5) / LEVELS
    return np.asarray(np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, orders + 1))))


def waves(u: np.ndarray, orders: int) -> tuple[np.ndarray, np.ndarray]:
    """``sqrt(2)`` times cosines and sines of ``pi k u``, for each order: (times, orders, values)."""
    found = np.empty((2, len(u), orders, u.shape[1]))
    twice = 2 * np.cos(np.pi * u)
    before, here = np.sqrt(2) * np.stack([np.ones_like(u), np.zeros_like(u)]), np.empty((2, *u.shape))
    here[0], here[1] = np.sqrt(0.5) * twice, np.sqrt(2) * np.sin(np.pi * u)
    for order in range(orders):
        found[:, :, order] = here
        before, here = here, twice * here - before
    return found[0], found[1]


def wave_sums(u: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sums over orders of weights (times, orders) and the cosines of :func:`waves`, from the last order down."""
    twice, here, after = 2 * np.cos(np.pi * u), np.zeros_like(u), np.zeros_like(u)
    for weight in weights.T[::-1]:
        here, after = weight[:, None] + twice * here - after, here
    return np.asarray(np.sqrt(2) * (twice / 2 * here - after))


def ranks(z: np.ndarray) -> np.ndarray:
    """Levels between 0 and 1 of standard normal scores."""
    return np.asarray(scipy.special.expit(LOGISTIC / WIDER * z))


def scores(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The standard normal score of values `x` at each time, whose shapes are rows of location, log scale, ..."""
    return _scores(x, shape)[0]


def _scores(x: np.ndarray, shape: np.ndarray, slopes: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The same, and the derivatives by the four numbers of a shape (times, four, values)."""
    location, log_scale, skew, tail = np.clip(shape, LOWEST, HIGHEST).T[:, :, None]
    skew = np.where(np.abs(skew) < TINY, TINY, skew)
    tail = np.where(np.abs(tail) < TINY, TINY, tail)
    standard = (x - location) * np.exp(-log_scale)
    inside = 1 + skew * standard
    free, inside = inside > 1e-6, np.maximum(inside, 1e-6)
    unskewed = np.log(inside) / skew
    root = np.sqrt(np.abs(tail))
    stretched = np.clip(root * unskewed, -30, 30)
    z = np.where(tail > 0, np.arcsinh(root * unskewed), np.sinh(stretched)) / root
    if not slopes:
        return z, z
    slope = np.where(tail > 0, 1 / np.sqrt(1 + (root * unskewed) ** 2), np.cosh(stretched))
    by_standard = slope / inside * free
    by_skew = slope * (standard / inside - unskewed) / skew * free
    by_tail = (unskewed * slope - z) / (2 * tail)
    found = np.stack([-by_standard * np.exp(-log_scale), -by_standard * standard, by_skew, by_tail], axis=1)
    found *= ((shape >= LOWEST) & (shape <= HIGHEST))[:, :, None]
    return z, found


@dataclass(frozen=True, eq=False)
class Model:
    """Mean cosines of all stages as a function of all coefficients.

    `time` holds the cosines of time on the grid, of length one by the `shares` of its points; `blocks` is how many
    equal parts of the range are told apart, and the last of `terms` are the tilt's, one for each order.
    """

    observed: Sequence[Observed]
    time: np.ndarray
    shares: np.ndarray
    blocks: int
    terms: Sequence[Term]
    #: What the smooth density of each cell is multiplied by, where values lie on atoms.
    factors: np.ndarray | None = None

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the coefficients of each term begin."""
        return np.append(0, np.cumsum([term.basis.shape[1] for term in self.terms]))

    @cached_property
    def centre(self) -> np.ndarray:
        return np.concatenate([term.centre for term in self.terms])

    @cached_property
    def scale(self) -> np.ndarray:
        return np.concatenate([term.scale for term in self.terms])

    @cached_property
    def names(self) -> np.ndarray:
        return np.array([name for term in self.terms for name in term.names])

    @property
    def tilts(self) -> int:
        """How many orders of cosines the tilt has."""
        return len(self.terms) - SHAPE - ENDS

    @cached_property
    def target(self) -> np.ndarray:
        """What was released."""
        return np.concatenate([part for stage in self.observed for part in stage.means])

    @cached_property
    def noise(self) -> np.ndarray:
        """The variance of the noise of each released number."""
        return np.concatenate([part for stage in self.observed for part in stage.variance])

    @cached_property
    def _rows(self) -> list[int]:
        """How many cosines of time each order of each stage has."""
        return [count for stage in self.observed for count in stage.functions]

    @cached_property
    def _tables(self) -> np.ndarray:
        """Cosines of ranks on the blocks: (times, orders of all stages, blocks)."""
        return np.concatenate([self._averaged(stage.table, stage.orders) for stage in self.observed], axis=1)

    def _averaged(self, table: np.ndarray, orders: int) -> np.ndarray:
        found = cosines(orders)[table].reshape(len(table), self.blocks, -1, orders)
        if self.factors is None:
            return np.ascontiguousarray(found.mean(axis=2).transpose(0, 2, 1))
        parts = self.factors.reshape(self.blocks, -1)
        parts = parts / parts.sum(axis=1, keepdims=True)
        return np.ascontiguousarray(np.einsum("tbco,bc->tob", found, parts))

    @cached_property
    def _block_factors(self) -> np.ndarray | None:
        return None if self.factors is None else self.factors.reshape(self.blocks, -1).mean(axis=1)

    # -- distributions -----------------------------------------------------------------------

    def functions(self, coefficients: np.ndarray) -> np.ndarray:
        """Shape, ends and tilt at each time: one column per term."""
        parts = zip(self.terms, self.starts, strict=False)
        return np.stack([t.basis @ coefficients[s : s + t.basis.shape[1]] for t, s in parts], axis=1)

    def masses(self, coefficients: np.ndarray) -> np.ndarray:
        """Probabilities of all cells of the range, one row per time: those of blocks, shared out among their cells."""
        cells = self.observed[-1].table.shape[1]
        edges, functions = np.linspace(0, 1, cells + 1), self.functions(coefficients)
        fine = self._masses(functions, edges, self.factors)[0].reshape(len(functions), self.blocks, -1)
        fine *= (self.block_masses(functions) / np.maximum(fine.sum(axis=2), 1e-300))[:, :, None]
        return fine.reshape(len(functions), cells)

    def block_masses(self, functions: np.ndarray) -> np.ndarray:
        """Probabilities of blocks, one row per time."""
        return self._masses(functions, self._edges, self._block_factors)[0]

    def _masses(
        self, functions: np.ndarray, edges: np.ndarray, factors: np.ndarray | None, slopes: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities between edges, and their derivatives by the functions of time (times, functions, cells)."""
        z, by_shape = _scores(edges[1:-1], functions[:, :SHAPE], slopes)
        times = len(functions)
        sides = np.zeros((times, 1)), np.ones((times, 1))
        below = np.concatenate([sides[0], scipy.special.ndtr(z), sides[1]], axis=1)
        smooth = np.maximum(np.diff(below, axis=1), 1e-300)
        factor = np.ones((1, 1)) if factors is None else factors[None]
        if self.tilts:
            tilt, cosine, by_rank = self._tilt(functions, (edges[1:] + edges[:-1]) / 2, slopes)
            factor = factor * np.exp(np.maximum(tilt - tilt.max(axis=1, keepdims=True), -60))
        smooth = smooth * factor
        total = smooth.sum(axis=1, keepdims=True)
        smooth /= total
        ends = np.exp(np.clip(functions[:, SHAPE : SHAPE + ENDS], -30, 8))  # relative to all the rest
        whole = 1 + ends.sum(axis=1, keepdims=True)
        masses, atoms = smooth / whole, ends / whole
        masses[:, 0] += atoms[:, 0]
        masses[:, -1] += atoms[:, 1]
        if not slopes:
            return masses, masses
        density = np.zeros((times, SHAPE, edges.size))
        density[:, :, 1:-1] = np.exp(-z * z / 2)[:, None] / np.sqrt(2 * np.pi) * by_shape
        moved = np.diff(density, axis=2) * (factor / total)[:, None]
        if self.tilts:
            moved += smooth[:, None] * by_rank
        moved -= moved.sum(axis=2, keepdims=True) * smooth[:, None]
        by_ends = -atoms[:, :, None] * masses[:, None]
        by_ends[:, 0, 0] += atoms[:, 0]
        by_ends[:, 1, -1] += atoms[:, 1]
        parts = [moved / whole[:, None], by_ends]
        if self.tilts:
            mean = np.matmul(cosine, smooth[:, :, None])
            parts.append((smooth / whole)[:, None] * (cosine - mean))
        return masses, np.concatenate(parts, axis=1)

    def _tilt(self, functions: np.ndarray, x: np.ndarray, slopes: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The log of the tilt at values `x`, its cosines of ranks, and its derivatives by the shape that ranks are of.

        Ranks are those of a shape whose tails are no lighter than normal ones.
        """
        shape, tilts = functions[:, :SHAPE].copy(), functions[:, SHAPE + ENDS :]
        shape[:, -1] = np.maximum(shape[:, -1], 0.0)
        z, by_shape = _scores(x, shape, slopes)
        u = ranks(z)
        tilt = wave_sums(u, tilts)
        if not slopes:
            return tilt, tilt, tilt
        cosine, sine = waves(u, self.tilts)
        steep = -np.matmul((tilts * np.pi * np.arange(1, self.tilts + 1))[:, None], sine)[:, 0]
        by_shape[:, -1] *= functions[:, SHAPE - 1 : SHAPE] > 0
        return tilt, cosine, (steep * LOGISTIC / WIDER * u * (1 - u))[:, None] * by_shape

    # -- mean cosines ------------------------------------------------------------------------

    @cached_property
    def _edges(self) -> np.ndarray:
        return np.linspace(0, 1, self.blocks + 1)

    def means(self, coefficients: np.ndarray) -> np.ndarray:
        """The mean cosines of all stages."""
        return self._means(self.block_masses(self.functions(coefficients)))

    def _means(self, masses: np.ndarray) -> np.ndarray:
        averages = self.shares[:, None] * np.matmul(self._tables, masses[:, :, None])[:, :, 0]
        return np.concatenate([self.time[:, :k].T @ averages[:, i] for i, k in enumerate(self._rows)])

    def means_and_slopes(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, and the derivatives by all coefficients: one row per mean."""
        masses, by_functions = self.slopes_of_masses(coefficients)
        slopes = np.matmul(self._tables, by_functions.transpose(0, 2, 1)) * self.shares[:, None, None]
        most, starts = max(self._rows), np.append(0, np.cumsum(self._rows))
        wide = [i for i, k in enumerate(self._rows) if k > 1]
        level = [i for i, k in enumerate(self._rows) if k == 1]  # the constant of time alone: no table is needed
        found = np.empty((starts[-1], self.starts[-1]))
        for place, term in enumerate(self.terms):
            own = slice(self.starts[place], self.starts[place + 1])
            found[starts[level], own] = slopes[:, level, place].T @ (term.basis * self.time[:, :1])
            spread = np.matmul(self.time[:, :most].T, slopes[:, wide, place].T[:, :, None] * term.basis)
            for i, rows in zip(wide, spread, strict=True):
                found[starts[i] : starts[i + 1], own] = rows[: self._rows[i]]
        return self._means(masses), found

    def slopes_of_masses(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of blocks, and their derivatives by the functions of time."""
        return self._masses(self.functions(coefficients), self._edges, self._block_factors, True)
