"""A covariance in three passes: a private centre, a private radius about it, then products of small curves.

Noise in a covariance grows with the fourth power of the radius, so that what the first two passes cost is won
back many times wherever curves lie closer to each other than to the public centre (derivations: covariance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.bodies import Bound, Ellipsoid, L2Ball
from dpfda.methods import Auto, Centred
from dpfda.methods.outlook import STRAYS, WIDER, Outlook
from dpfda.plans.schedule import Schedule
from dpfda.problems.count import count_part
from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.ellipsoid_stages import InsideProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Stage
from dpfda.results.postprocess import shrunk

#: Radii on offer: from twice the bound's down, a fourth of an octave apart.
RADII = 2.0 ** (1 - np.arange(45) / 4)
#: Curves outside are clipped, which makes a covariance too small: no more of them than this share, and fewer and
#: fewer as n times the choice's epsilon grows beyond this number.
MOST_OUTSIDE, PLENTY = 0.1, 100.0
#: Radii that hold enough curves are told apart by their octave: at this many records over epsilon, and no more than a
#: share of them.
TELL_APART, MOST_PRICE = 12.0, 0.05


@dataclass(frozen=True, eq=False)
class Centring(Schedule):
    """The passes of a covariance plan; `problem` is the covariance with the plan's own bound."""

    problem: CovarianceProblem
    bound: L2Ball
    method: Centred
    epsilon: Fraction

    @property
    def passes(self) -> int:
        return len(self.method.steps)

    @property
    def _count(self) -> Fraction:
        return self.epsilon * (self.method.count_share or 0) if self.problem.count_is_private else Fraction(0)

    @property
    def _divided(self) -> Fraction:
        """What the passes divide: epsilon, less what a private count costs."""
        return self.epsilon - self._count

    @cached_property
    def home(self) -> MeanProblem:
        """The mean with the plan's bound."""
        return self._mean(self.bound)

    def _mean(self, bound: Bound) -> MeanProblem:
        return replace(self.problem.code, bound=bound)

    # -- stages -----------------------------------------------------------------------------------

    @cached_property
    def first(self) -> Stage:
        parts = Auto(passes=1).calibrate(self.home, self._divided * self.method.centre)
        if self.problem.count_is_private:
            parts = (*parts, count_part(self.home.basis.size, self.home.n, self._count))
        return Stage(self.home, parts)

    def stages(self, drawn: Sequence[np.ndarray]) -> list[Stage]:
        """The stages that led to these draws, and the one that follows them, if any."""
        curve = self._centre(drawn[0])
        found = [self.first, self._choice(curve)]
        if len(drawn) > 1:
            found.append(self._covariance(L2Ball(float(self.radii[int(np.argmax(drawn[1]))]), curve)))
        return found

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        return self.stages(drawn)[-1] if len(drawn) < self.passes else None

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        return self.stages(drawn)[-1]

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        stage, noisy = self.last(drawn), drawn[2]
        if self.problem.count_is_private:
            noisy = np.append(noisy[:-1], drawn[0][-1])
        return stage.problem.finish(noisy, stage.parts)

    def _centre(self, noisy: np.ndarray) -> np.ndarray:
        """The released mean, shrunk, as a curve."""
        coefficients = shrunk(self.home.finish(noisy, self.first.parts), self.first, "james-stein", self.home)
        return np.asarray(self.home.basis.synthesize(coefficients) + self.home.offset)

    @property
    def radii(self) -> np.ndarray:
        return self.bound.radius * RADII

    def _choice(self, curve: np.ndarray) -> Stage:
        epsilon = self._divided * self.method.selection
        inner = self._mean(Ellipsoid(np.full(self.home.basis.size, self.radii[0]), curve))
        strength = self.home.n * float(epsilon)
        outside = MOST_OUTSIDE * min(1.0, (PLENTY / strength) ** 1.5)
        prices = min(MOST_PRICE, TELL_APART / strength) * self.home.n * np.log2(RADII / RADII.min())
        held = 1 - Fraction(round(1e6 * outside), 10**6)
        problem = InsideProblem(inner, (0,), (RADII / RADII[0])[:, None], held, prices, nested=True)
        return problem.choice(epsilon)

    def _covariance(self, bound: L2Ball) -> Stage:
        code = self.problem.code
        problem = CovarianceProblem.of(
            self.problem.basis, bound, code.n, self.problem.decay, neighbors=code.neighbors, invalid=code.invalid,
            standardize=code.standardize, fill=code.fill, shrinks=self.problem.shrinks, alignment=code.alignment,
        )  # fmt: skip
        return Stage(problem, self.method.calibrate(problem, self._divided))

    # -- before data --------------------------------------------------------------------------------

    def foreseen_radius(self, stray: float) -> float:
        """The radius that should hold curves which stray this far from a mean that was released with noise."""
        return min(float(WIDER * np.sqrt(2 * stray**2 + self._centre_error)), float(self.radii[0]))

    @cached_property
    def _centre_error(self) -> float:
        epsilon = self._divided * self.method.centre
        return Outlook(self.home, epsilon).typical(Auto(passes=1).resolved(self.home, epsilon))

    @cached_property
    def gain(self) -> float:
        """How many times less noise than without a centre, typically over how far curves may stray."""
        radii = [self.foreseen_radius(share * self.bound.radius) for share in STRAYS]
        ratio = np.mean(np.log([self.bound.radius / radius for radius in radii]))
        return float(np.exp(4 * ratio) * (self.method.rest * self._divided / self.epsilon) ** 2)

    @cached_property
    def expected_stage(self) -> Stage:
        """The last pass as it should turn out for curves that stray a typical way."""
        radius = self.foreseen_radius(STRAYS[1] * self.bound.radius)
        return self._covariance(L2Ball(radius, self.bound.center))

    @property
    def risk(self) -> float:
        return self.expected_stage.risk

    def outcome(self, drawn: Sequence[np.ndarray]) -> str:
        """What the choice fell on."""
        size = float(np.sqrt(self.last(drawn).error))
        return (
            f"The radius that was chosen is {self.radii[int(np.argmax(drawn[1]))]:.3g}; with it the noise has a root "
            f"mean squared L2 size of {size:.3g}."
        )

    @property
    def numbers_text(self) -> str:
        first, last = (sum(part.where.size for part in stage.parts) for stage in (self.first, self.expected_stage))
        return f"{first}, then one of {RADII.size} radii, then {last} of {self.problem.size}"

    def explanation(self) -> str:
        """What is done in each pass, for which share of the budget."""
        count = (
            f" {self.method.count_share} of epsilon goes to the private count first; these are shares of the rest."
            if self.problem.count_is_private
            else ""
        )
        return (
            f"The data is read three times: for a rough centre ({self.method.centre} of epsilon), for a private choice "
            f"of a radius about it that holds nearly all curves, by permute and flip ({self.method.selection}), and "
            f"for the covariance of curves clipped to that ball ({self.method.rest}). These shares add up.{count}"
        )
