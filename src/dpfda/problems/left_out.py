"""What a mean leaves out: the part of each curve that its round does not count, cut to a public length.

A round counts of a curve only what is clipped to its body and lies in the functions that it releases. The mean of the
rest, curve by curve, is exactly what separates the mean of the curves from the mean that noise is added to. Its length
is one number; one noisy draw of it says how much the release may miss (derivations: left out).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.lattice import RADIUS
from dpfda.bounds.loops import Block, add_up
from dpfda.bounds.products import ExactProduct
from dpfda.bounds.sensitivities import ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch
from dpfda.noise import Laplace
from dpfda.problems.defaults import check_count, check_key
from dpfda.problems.derived import DerivedProblem
from dpfda.problems.mean import PROJECTION_BITS
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary, are_integers
from dpfda.problems.together import Together

#: The length of a sum is rounded down to whole lattice steps: one step more than the records' own lengths
#: (derivations: left out).
ROUNDING = 1 + 1 / RADIUS


@dataclass(frozen=True, eq=False)
class LeftOutProblem(DerivedProblem):
    """The length of the mean of what `inner` leaves out of curves that keep the functions `kept`, each cut to `cap`."""

    kept: np.ndarray
    cap: float

    @property
    def size(self) -> int:
        return 1

    @cached_property
    def key(self) -> str:
        matrix = hashlib.sha256(self.inner.projection(self.kept).tobytes()).hexdigest()
        return codec.digest(["left out", self.inner.key, self.kept.tolist(), matrix, self.cap])

    @property
    def sensitivity(self) -> Sensitivity:
        """One record moves the sum by its cap, or twice that; a length moves no further (derivations: left out)."""
        lengths = np.array([self.cap * ROUNDING])
        return ManhattanSensitivity(lengths, (1.0 if self.count_is_private else 2.0) / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        return np.array([self.cap * ROUNDING])

    def total(self, batch: np.ndarray) -> np.ndarray:
        """Sum of integer vectors, each of a length of at most RADIUS, which stands for the cap."""
        return add_up(self.block_totals, batch)

    def block_totals(self, block: Block) -> np.ndarray:
        """Of each curve, times the roots of the grid's weights, what its round does not count, cut to the cap.

        That is what was clipped away or lies in other functions. A function of each record alone: integer products that
        are exact in any order (derivations: left out), then elementwise steps.
        """
        inner, roots = self.inner, np.sqrt(self.inner.grid.weights)
        unit = 2.0**-PROJECTION_BITS * inner.bound.outer / inner.inner_radius
        steps = *inner.counted(block, self.kept), self._product, unit, RADIUS / self.cap
        return np.asarray(block.kernels.sum_rest(*inner.curves(block), inner.center, roots, *steps))

    @cached_property
    def _product(self) -> ExactProduct:
        return ExactProduct(self.inner.projection(self.kept))

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "centre, bound, functions or per-curve options")
        totals = summary.totals
        if totals.shape != (self.width,) or not are_integers(totals) or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
        if sum(int(x) ** 2 for x in totals.tolist()) > (summary.count * int(RADIUS)) ** 2:
            raise PlanMismatch("This summary holds totals that no records can have; it is damaged.")
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        length = math.isqrt(sum(int(x) ** 2 for x in summary.totals.tolist()))
        return [length * Fraction(self.cap) / (int(RADIUS) * self.n)]

    def stage(self, epsilon: Fraction, together: Together | None = None, place: int = 0) -> Stage:
        """The stage that draws the length, with Laplace noise."""
        one, where = np.ones(1), np.arange(1)
        scales = one * (self.sensitivity.support(one) / float(epsilon))
        law = Laplace.calibrated(epsilon, scales, one, self.sensitivity, self.max_abs)
        return Stage(self, (Part(where, one, law),), together, place)
