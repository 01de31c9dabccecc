"""Rounds as they were before rules had numbers: what files of that time were drawn by, so that they can be read.

Centres were shrunk block by block by James and Stein's factor, and more ellipsoids were on offer. Nothing new is
planned this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpfda.plans.rounds import Rounds
from dpfda.plans.walks import Centre
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Stage
from dpfda.results.postprocess import james_stein, shrunk

# What they were: shares of curves outside, the price of noise (by natural logarithms), what a removed block hides.
MOST_OUTSIDE, PLENTY = 0.2, 50.0
TELL_APART, MOST_PRICE = 12.0, 0.03
HIDDEN = 0.1


class RoundsBefore(Rounds):
    """The stages of plans without a numbered rule."""

    ladder: ClassVar[np.ndarray] = 2.0 ** (-np.arange(51) / 5)

    def _centre(self, stage: Stage, noisy: np.ndarray, drawn: Sequence[np.ndarray], target: MeanProblem) -> Centre:
        raw = self._finished(stage, noisy, drawn)
        whole = np.concatenate([raw, self.home.center_coefficients[raw.size :]])
        variance = stage.problem.finish_variance(stage.variance)[: self.size]
        about = self.home.typical(whole)[: self.size]
        kept = np.maximum(james_stein(about, stage, variance, self.home), HIDDEN)
        centred = shrunk(whole, stage, "james-stein", self.home)[: self.size]
        return Centre(
            centred - self.home.center_coefficients[: self.size], np.add.reduceat(kept * variance, self.starts)
        )

    def _terms(self, epsilon: Fraction, octaves: float) -> tuple[float, float]:
        strength = self.home.n * float(epsilon)
        outside = MOST_OUTSIDE * min(1.0, (PLENTY / strength) ** 1.5)
        return outside, min(MOST_PRICE, TELL_APART / strength) * float(np.log(2))
