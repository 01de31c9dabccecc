"""Moments of clipped residuals, and beside them what they leave out: lengths, and how large residuals are.

A record adds its whole residual to a least-squares fit, but only the clipped part of it, in the first few functions, to
a released moment. How long the mean of what is missing is, as it would pull on each coefficient, says how far off that
can be; energies of residuals say how far a sample is from its population (derivations: bands of regressions).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

import numpy as np

from dpfda.bounds.lattice import RADIUS, clip_euclidean
from dpfda.bounds.sensitivities import EuclideanSensitivity, ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.problems.design import NEAR, SQUARE_BITS, STEPS, energy
from dpfda.problems.gram import Encoded
from dpfda.problems.moments import PREDICTION_BITS, ResidualProblem
from dpfda.problems.summary import Summary

#: Energies are counted in steps of two to this power of a record's largest share.
ENERGY_BITS = 20
#: Residuals at points, as integers: bits below and above the cap, and of the functions there. Their products, summed
#: over 64 functions, stay far below 2^53.
BELOW, ABOVE, FUNCTION_BITS = 12, 10, 12
#: Records handled at a time; totals do not depend on it.
CHUNK = 1 << 11
#: No energy counts for more than this many caps before it is shortened to one: any large number will do.
HUGE = 2.0**40


@dataclass(frozen=True, eq=False)
class CheckedResiduals(ResidualProblem):
    """Residual moments; lengths of what they leave out, by coefficient; energies of residuals, and by piece.

    `solving` takes a vector of inputs to its pulls on the coefficients, in public units. `cap` is the longest that a
    record's pulls times its left-out residual may be, `largest` the longest residual that energies count. `functions`
    are those of responses at some points, which `pieces` equal groups of them share.
    """

    cap: float
    largest: float
    solving: np.ndarray
    functions: np.ndarray
    pieces: int
    span: float

    @property
    def moments(self) -> int:
        """How many numbers are moments of residuals; a length for each coefficient follows."""
        return self.design.size * self.components

    @property
    def energies(self) -> int:
        """How many energies follow last: one by coefficient, one by piece."""
        return self.design.size + self.pieces

    @property
    def size(self) -> int:
        return self.moments + self.design.size + self.energies

    @property
    def max_abs(self) -> np.ndarray:
        return np.concatenate([self._lengths, np.full(self.design.size, self._longest), np.ones(self.energies)])

    @property
    def _finest(self) -> float:
        """Lattice radius that a left-out product of the cap's length is mapped to."""
        return RADIUS - 0.5 * float(np.sqrt(self.response.size))

    @property
    def _longest(self) -> float:
        """The longest encoded left-out product: the cap, and the rounding of both factors."""
        top = 2.0**SQUARE_BITS
        one = 1 + 0.5 * np.sqrt(self.design.size) / top
        other = (top + 0.5 * np.sqrt(self.response.size)) / (STEPS * self._finest)
        return float(self.cap * one * other * (1 + 2.0**-48))

    @cached_property
    def length_sensitivity(self) -> Sensitivity:
        """Lengths of rows move no more, all together, than the matrix does; each integer root by one step more."""
        longest = self._longest + self.cap * 2.0**-30 * float(np.sqrt(self.design.size))
        return EuclideanSensitivity(np.full(self.design.size, longest), self.diameter)

    @cached_property
    def energy_sensitivity(self) -> Sensitivity:
        """A record's shares add up to one at most."""
        return ManhattanSensitivity(np.ones(self.energies), self.diameter)

    @cached_property
    def key(self) -> str:
        sides = [self.design.facts, self.response.facts, self.invalid, self.rough.tolist(), self.axes.tolist()]
        facts = [self.cap, self.largest, self.solving.tolist(), self.functions.tolist()]
        return codec.digest(["checked residuals", sides, facts, self.pieces, self.span])

    @property
    def chunk(self) -> int:
        """Few: whole residuals have many numbers, and a processor's cache holds few of these."""
        return min(CHUNK, self.design.chunk)

    # -- what a record adds -------------------------------------------------------------------------

    @cached_property
    def _prediction(self) -> tuple[np.ndarray, float]:
        """As for any residuals, in all functions."""
        return _as_integers(self.rough, self.design.unit)

    @cached_property
    def _pulls(self) -> tuple[np.ndarray, float]:
        return _as_integers(self.solving.T, self.design.unit)

    @cached_property
    def _at_points(self) -> np.ndarray:
        """Functions at points as integers: the largest has as many bits as there are."""
        values: np.ndarray = np.rint(self.functions.T * self._function_step)
        return values

    @property
    def _function_step(self) -> float:
        return 2.0**FUNCTION_BITS / (float(np.abs(self.functions).max()) + 1e-300)

    def _products(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        integers, step = self._prediction
        whole = y * self.response.unit - x.of_each((x.rows @ integers) * step)
        lengths = np.sqrt(energy(x.rows))
        away = (x.of_each(lengths) * self.design.unit)[:, None]
        clipped = clip_euclidean(np.rint(whole[:, : self.components] * away / self.axes * self._inner))
        directions = np.rint(x.rows * (2.0**SQUARE_BITS / lengths)[:, None])
        counted = x.against(np.rint(clipped * STEPS), directions).ravel()
        integers, step = self._pulls
        pulls = (x.rows @ integers) * step
        missing = whole.copy()
        missing[:, : self.components] -= clipped * (self.axes / self._inner) / away
        left_out = self._left_out(x, pulls, missing)
        return np.concatenate([counted, left_out, self._shares(x.of_each(pulls), whole)])

    def _left_out(self, x: Encoded, pulls: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Products of pulls and what is missing of residuals, as a unit vector and a vector no longer than the cap."""
        largest = np.abs(pulls).max(axis=1, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)  # squares of very small pulls would vanish
        parts = pulls / unit[:, None]
        long = np.maximum(np.sqrt(energy(parts)), 1.0)
        directions, lengths = np.rint(parts * (2.0**SQUARE_BITS / long)[:, None]), unit * long
        rows = missing * (x.of_each(lengths) * (self._finest / self.cap))[:, None]
        # Far rows are brought near first: the clip would shorten them further than needed.
        near = np.minimum(1.0, NEAR * RADIUS / np.maximum(np.sqrt(energy(rows)), 1.0))
        clipped = clip_euclidean(np.rint(rows * near[:, None]))
        return x.against(np.rint(clipped * STEPS), directions).ravel()

    def _shares(self, pulls: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """Energies of residuals times squared pulls, and by pieces of the domain: each record has one to give."""
        sizes = np.minimum(energy(whole / self.largest), HUGE)
        steps = 2.0**BELOW
        fine = np.clip(np.rint(whole * (steps / self.largest)), -steps * 2.0**ABOVE, steps * 2.0**ABOVE)
        heights = (fine @ self._at_points) / (steps * self._function_step)
        groups = np.array_split(heights * np.sqrt(self.span / self.pieces), self.pieces, axis=1)
        by_piece = np.column_stack([energy(group) / group.shape[1] for group in groups])
        both = [_shortened(np.minimum(pulls**2, HUGE) * sizes[:, None]), _shortened(by_piece)]
        return np.floor(np.hstack(both) * (2.0 ** (ENERGY_BITS - 1))).sum(axis=0).astype(np.int64)

    def estimate(self, summary: Summary) -> list[Fraction]:
        totals = [int(t) for t in summary.totals]
        moments, rows, columns = self.moments, self.design.size, self.response.size
        found = super().estimate(Summary(summary.key, summary.count, summary.totals[:moments]))
        share = Fraction(self.cap) / (Fraction(2**SQUARE_BITS) * Fraction(STEPS) * Fraction(self._finest) * self.n)
        starts = [moments + row * columns for row in range(rows)]
        lengths = [isqrt(sum(t * t for t in totals[start : start + columns])) * share for start in starts]
        return [*found, *lengths, *(Fraction(t, self.n << ENERGY_BITS) for t in totals[moments + rows * columns :])]


def _as_integers(matrix: np.ndarray, unit: float) -> tuple[np.ndarray, float]:
    """A public matrix as integers whose products with encoded inputs are exact, and the value of one step of these."""
    largest = float(np.abs(matrix).max()) + 1e-300
    top = largest * float(np.sqrt(((matrix / largest) ** 2).sum(axis=0)).max()) + 1e-300
    step = float(2.0 ** (np.ceil(np.log2(top)) - PREDICTION_BITS))
    return np.rint(matrix / step), step * unit


def _shortened(shares: np.ndarray) -> np.ndarray:
    """Rows that add up to one at most, a little less for the rounding of floats; sums in a fixed order."""
    total = np.ones(len(shares))
    whole = np.zeros(len(shares))
    for column in shares.T:
        whole += column
    return shares * ((1 - 2.0**-40) / np.maximum(total, whole))[:, None]
