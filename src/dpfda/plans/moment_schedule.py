"""The stages of a regression by moments, and what becomes of their draws.

The first stage releases both moments of inputs and responses. Where there are four, the size of residuals follows, and
twice the moments of residuals clipped to it (derivations: regression).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.noise import Ball, Laplace
from dpfda.noise.law import Law
from dpfda.plans.forecast import WITHIN, Forecast
from dpfda.plans.regression_checking import check_parts, check_size, checked_fit, checked_residuals, sides
from dpfda.plans.schedule import Schedule
from dpfda.plans.settled import SECOND, Moments
from dpfda.plans.shares import Cost
from dpfda.problems.design import Response, Shortened
from dpfda.problems.moments import RADII, MomentProblem, ResidualProblem, SizeProblem
from dpfda.problems.stage import Part, Stage
from dpfda.results.coefficient_bands import CheckedFit

if TYPE_CHECKING:
    from dpfda.plans.guided import Regression

#: What leaves for bands with the last stage, as a step.
CHECK = "what was left out and how residuals vary, for bands"
#: Residuals are clipped to a radius that holds this share of them.
HELD = 0.85


class MomentSchedule(Schedule):
    """One stage or four, as was settled: with all of epsilon, or with a part of it and a smaller response.

    `check` is the budget of what leaves with the last stage for bands, beyond that part.
    """

    in_one_pass: ClassVar[str] = "plan with passes=1"

    def __init__(
        self,
        plan: Regression,
        settled: Moments,
        epsilon: Fraction | None = None,
        response: Response | None = None,
        check: Fraction = Fraction(0),
    ):
        self.plan, self.settled, self.check = plan, settled, check
        self.epsilon = plan.epsilon if epsilon is None else epsilon
        self.problem: MomentProblem = plan.problem if response is None else replace(plan.problem, response=response)
        within = WITHIN if isinstance(response, Shortened) else 1.0
        self.forecast = Forecast(self.problem, plan.smoothness, float(self.epsilon), within)

    @property
    def passes(self) -> int:
        return self.settled.passes

    @cached_property
    def shares(self) -> tuple[Fraction, Fraction]:
        """Budgets of the two moments in the first stage."""
        whole = self.epsilon * self.settled.first
        first = whole * Fraction(str(self.settled.split))
        return first, whole - first

    @property
    def numbers_text(self) -> str:
        first = sum(part.where.size for part in self.first.parts)
        if self.settled.passes == 1:
            return str(first)
        text = f"{first}, then {RADII} counts of sizes, then twice {self.plan.design.size * self.settled.refined}"
        return text + (f" and {check_size(self.plan)} for bands" if self.check else "")

    def costs(self, target: str) -> list[Cost]:
        first, second = self._moments
        found = [Cost("moments of the inputs", 1, first), Cost("moments of inputs and responses", 1, second)]
        if self.passes > 1:
            found += [
                Cost("the size of residuals", 2, self.epsilon * self.settled.size),
                Cost("moments of clipped residuals", 3, self.epsilon * SECOND),
                Cost("moments of clipped residuals, once more", 4, self.epsilon * self.settled.last),
            ]
        return [*found, Cost(CHECK, self.passes, self.check)]

    @property
    def _moments(self) -> tuple[Fraction, Fraction]:
        """Budgets of both moments; where nothing of the first one is private, all of it goes to the second."""
        first, second = self.shares
        return (first, second) if self.problem.n_public < self.problem.first_size else (Fraction(0), first + second)

    @cached_property
    def first(self) -> Stage:
        problem, (first, second) = self.problem, self._moments
        upper = np.arange(problem.n_public, problem.first_size)
        places = np.arange(problem.size - problem.first_size).reshape(self.plan.design.size, -1)
        lower = places[:, : self.settled.components].ravel()
        max_abs = problem.max_abs
        blocks = []
        if upper.size:
            blocks.append((upper, Ball.calibrated(first, problem.first_sensitivity.restricted(upper), max_abs[upper])))
        where = problem.first_size + lower
        blocks.append((where, Ball.calibrated(second, problem.second_sensitivity.restricted(lower), max_abs[where])))
        return Stage(problem, tuple(Part(where, np.ones(where.size), law) for where, law in blocks))

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        if len(drawn) == self.settled.passes:
            return None
        shape = self.forecast.shape[: self.settled.refined]
        largest = 4 * self.problem.response.outer * self.plan.design.radius / float(shape.min())
        sizes = SizeProblem(
            **sides(self.plan, self.plan.response), residuals=self._residuals(drawn[:1], shape), largest=largest
        )
        if len(drawn) == 1:
            epsilon = self.epsilon * self.settled.size
            every = np.ones(sizes.size)
            scales = every * sizes.sensitivity.support(every) / float(epsilon)
            law: Law = Laplace.calibrated(epsilon, scales, every, sizes.sensitivity, sizes.max_abs)
            return Stage(sizes, (Part(np.arange(sizes.size), every, law),))
        residuals = self._residuals(drawn, shape * sizes.chosen(drawn[1], HELD))
        share = SECOND if len(drawn) == 2 else self.settled.last
        law = quieter(self.epsilon * share, residuals.sensitivity, residuals.max_abs)
        part = Part(np.arange(residuals.size), np.ones(residuals.size), law)
        if len(drawn) == 2 or not self.check:
            return Stage(residuals, (part,))
        gram = self.plan.design.gram.matrix(drawn[0][: self.problem.first_size])
        checked = checked_residuals(self.plan, residuals, gram, self.problem.response.outer)
        return Stage(checked, (part, *check_parts(checked, self.check)))

    def stages(self, drawn: Sequence[np.ndarray]) -> Sequence[Stage]:
        found = [self.next(drawn[:done]) for done in range(1, self.passes)]
        return [self.first, *(stage for stage in found if stage is not None)]

    def _residuals(self, drawn: Sequence[np.ndarray], axes: np.ndarray) -> ResidualProblem:
        return ResidualProblem(**sides(self.plan, self.plan.response), rough=self.internal(drawn), axes=axes)

    # -- from draws to coefficients -----------------------------------------------------------------

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.plan.restored(self.internal(drawn))

    def internal(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients of the encoded design: the rough ones, corrected by what residuals show."""
        solve = self._solver(drawn[0])
        coefficients = solve(self._noises(drawn)[0]) @ self.problem.second(drawn[0])
        for moment, noise in zip(drawn[2:], self._noises(drawn)[1:], strict=True):
            coefficients = coefficients.copy()
            moments = moment[: self.plan.design.size * self.settled.refined]  # a check may follow them
            coefficients[:, : self.settled.refined] += solve(noise) @ moments.reshape(self.plan.design.size, -1)
        values: np.ndarray = coefficients
        return values

    @cached_property
    def _spectra(self) -> dict[bytes, tuple[np.ndarray, np.ndarray]]:
        """Eigenvalues and vectors of the first moment by what was drawn: stages ask for the same one repeatedly."""
        return {}

    def _solver(self, noisy: np.ndarray) -> Callable[[float], np.ndarray]:
        """The inverse of the first moment for a given noise in the second; eigenvalues below a ridge fade out."""
        numbers = noisy[: self.problem.first_size]
        if numbers.tobytes() not in self._spectra:
            self._spectra.clear()
            self._spectra[numbers.tobytes()] = np.linalg.eigh(self.plan.design.gram.matrix(numbers))
        values, vectors = self._spectra[numbers.tobytes()]
        first = float(self.shares[0] / self.epsilon)

        def solve(noise: float) -> np.ndarray:
            ridge = self.forecast.ridge(first, noise)
            found: np.ndarray = (vectors * (values / (values**2 + ridge**2))) @ vectors.T
            return found

        return solve

    def _noises(self, drawn: Sequence[np.ndarray]) -> list[float]:
        """Standard deviation of noise on the leading entries of the second moment, stage by stage."""
        found = [float(np.sqrt(self.first.parts[-1].law.variance[0]))]
        for done in range(2, len(drawn)):
            stage = self.next(drawn[:done])
            assert stage is not None
            found.append(float(np.sqrt(stage.parts[0].law.variance[0])))
        return found

    def errors(self, drawn: Sequence[np.ndarray], size: int, rng: np.random.Generator) -> np.ndarray:
        """Simulated errors of the released coefficients against least squares on the same clipped data.

        The first moment that the data really had is what was released minus noise like the one that was drawn.
        """
        noise = self.first_noise(size, rng)
        count, solve, noises = self.settled.refined, self._solver(drawn[0]), self._noises(drawn)
        rough = solve(noises[0]) @ self.problem.second(drawn[0])
        true = self.plan.design.gram.matrix(drawn[0][: self.problem.first_size] - noise[:, : self.problem.first_size])
        unit = np.eye(self.plan.design.size)
        error = solve(noises[0]) @ self.problem.second(noise) + (solve(noises[0]) @ true - unit) @ rough
        for done in range(2, len(drawn)):
            stage = self.next(drawn[:done])
            assert stage is not None
            fresh = stage.parts[0].law.simulate(size, rng).reshape(size, self.plan.design.size, -1)
            inverse = solve(noises[done - 1])
            error[..., :count] = inverse @ fresh - (inverse @ true - unit) @ error[..., :count]
        whole = self.plan.design.restoring @ error
        values: np.ndarray = whole.reshape(size, -1)
        return values

    def checked(self, drawn: Sequence[np.ndarray]) -> CheckedFit | None:
        """What the check for bands found; None where there was none."""
        if not self.check:
            return None
        last, numbers = self.next(drawn[:-1]), drawn[0][: self.problem.first_size]
        assert last is not None
        return checked_fit(self.plan, last, drawn[-1], numbers, self.first_noise, self.problem.response.outer)

    def first_noise(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Simulated noise of the first stage."""
        return self.first.spread([part.law.simulate(size, rng) for part in self.first.parts])


def quieter(epsilon: Fraction, sensitivity: Sensitivity, max_abs: np.ndarray) -> Law:
    """Ball noise or matched Laplace noise on all coordinates, whichever has less energy."""
    ball = Ball.calibrated(epsilon, sensitivity, max_abs)
    every = np.ones(max_abs.size)
    scales = sensitivity.matched(every) / float(epsilon)
    if float(ball.variance.sum()) <= 2 * float((scales**2).sum()):
        return ball
    return Laplace.calibrated(epsilon, scales, every, sensitivity, max_abs)
