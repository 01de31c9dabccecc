"""The stages of a regression that finds its scale and its centre first, and what becomes of their draws.

A private radius of responses; then their mean alone, or with the first moment of inputs; then a private radius of
residuals about that mean, and their moments within it; or, with many records, the stages of moments. Each correction
is shrunk to its posterior mean (derivations: regression).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpfda.noise import Ball
from dpfda.plans import guided
from dpfda.plans.moment_schedule import CHECK, MomentSchedule
from dpfda.plans.regression_checking import check_parts, check_size, checked_fit, checked_residuals, sides
from dpfda.plans.schedule import Schedule
from dpfda.plans.settled import Guided
from dpfda.plans.shares import COUNT, Cost
from dpfda.problems.count import count_part
from dpfda.problems.design import Response, Shortened
from dpfda.problems.moments import ResidualProblem
from dpfda.problems.pair_stages import CentreProblem, ResidualLengths, ResponseLengths
from dpfda.problems.stage import Part, Stage
from dpfda.results.coefficient_bands import CheckedFit
from dpfda.results.posterior import Seen, posterior, sizes_and_shapes
from dpfda.results.rows import SMALLEST, falling_shapes, posterior_rows


class GuidedSchedule(Schedule):
    """The stages of one of the ways of :class:`Guided`."""

    in_one_pass: ClassVar[str] = "plan with passes=1"

    def __init__(self, plan: guided.Regression, settled: Guided):
        self.plan, self.settled = plan, settled

    @property
    def passes(self) -> int:
        return self.settled.passes

    @property
    def numbers_text(self) -> str:
        found = [f"the place of one of {guided.STEPS} radii"] if self.settled.radius else []
        if self.settled.moments is not None:
            found.append(self._moments(self.plan.response).numbers_text)
        else:
            stage = self._centre(self.plan.response)
            found.append(str(sum(part.where.size for part in stage.parts)))
        if self.settled.way == "residuals":
            last = self.plan.design.size * self.settled.refined
            check = f" and {check_size(self.plan)} for bands" if self.settled.check else ""
            found.append(f"the place of one of {guided.RESIDUAL_STEPS} radii, then {last}{check}")
        return ", then ".join(found)

    def costs(self, target: str) -> list[Cost]:
        settled, before = self.settled, 1 if self.settled.radius else 0
        found = [Cost("a radius that holds most responses", 1, self.plan.epsilon * settled.radius)]
        if settled.moments is not None:
            later = self._moments(self.plan.response).costs(target)
            return found + [cost._replace(reading=cost.reading + before) for cost in later]
        told = [
            ("moments of the inputs", 1, settled.first),
            ("the mean response", 1, settled.mean),
            (COUNT, 1, settled.count),
        ]
        if settled.way == "residuals":
            told += [
                ("the size of residuals about the mean", 2, settled.size),
                ("moments of clipped residuals", 3, settled.last),
                (CHECK, 3, settled.check or Fraction(0)),
            ]
        return found + [Cost(step, before + reading, self.plan.epsilon * share) for step, reading, share in told]

    # -- stages -------------------------------------------------------------------------------------

    @cached_property
    def first(self) -> Stage:
        if self.settled.radius:
            return self._lengths.choice(self.plan.epsilon * self.settled.radius)
        return self._opening(self.plan.response)

    def _opening(self, response: Response) -> Stage:
        """The first stage after the radius."""
        return self._centre(response) if self.settled.moments is None else self._moments(response).first

    @cached_property
    def _lengths(self) -> ResponseLengths:
        return ResponseLengths(
            **sides(self.plan, self.plan.response),
            radii=guided.ladder(self.plan.response.outer, guided.STEPS),
            outside=guided.outside(self.plan, self.settled),
            price=guided.price(self.plan, self.settled.radius),
        )

    def _after_radius(self, drawn: Sequence[np.ndarray]) -> tuple[Response, Sequence[np.ndarray]]:
        """The response within the radius that was drawn, and the draws that follow."""
        if not self.settled.radius:
            return self.plan.response, drawn
        return Shortened(self.plan.response, self._lengths.chosen(drawn[0])), drawn[1:]

    def _moments(self, response: Response) -> MomentSchedule:
        assert self.settled.moments is not None
        left, check = (self.plan.epsilon * share for share in (self.settled.left, self.settled.check or Fraction(0)))
        return MomentSchedule(self.plan, self.settled.moments, left, response, check)

    def _centre(self, response: Response) -> Stage:
        """The mean of responses; with it the first moment of inputs and the number of records, if needed."""
        problem = CentreProblem(**sides(self.plan, response), components=self.settled.components)
        parts, max_abs, epsilon = [], problem.max_abs, self.plan.epsilon
        if self.settled.first:
            where = np.arange(problem.n_public, problem.first_size)
            noise = Ball.calibrated(
                epsilon * self.settled.first, problem.first_sensitivity.restricted(where), max_abs[where]
            )
            parts.append(Part(where, np.ones(where.size), noise))
        where = problem.first_size + np.arange(problem.components)
        noise = Ball.calibrated(epsilon * self.settled.mean, problem.mean_sensitivity, max_abs[where])
        parts.append(Part(where, np.ones(where.size), noise))
        if problem.count_is_private:
            parts.append(count_part(problem.size - 1, self.plan.n, epsilon * self.settled.count))
        return Stage(problem, tuple(parts))

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        if len(drawn) == self.passes:
            return None
        response, rest = self._after_radius(drawn)
        if not rest:
            return self._opening(response)
        if self.settled.moments is not None:
            return self._moments(response).next(rest)
        if len(rest) == 1:
            return self._residual_lengths(response, rest[0]).choice(self.plan.epsilon * self.settled.size)
        residuals = self._residuals(response, rest)
        noise = Ball.calibrated(self.plan.epsilon * self.settled.last, residuals.sensitivity, residuals.max_abs)
        part = Part(np.arange(residuals.size), np.ones(residuals.size), noise)
        if not self.settled.check:
            return Stage(residuals, (part,))
        gram = self.plan.design.gram.matrix(rest[0][: self.plan.design.gram.size])
        checked = checked_residuals(self.plan, residuals, gram, response.outer)
        return Stage(checked, (part, *check_parts(checked, self.plan.epsilon * self.settled.check)))

    @property
    def _shape(self) -> np.ndarray:
        """Axes along which residuals are clipped: the fourth root of the variance of curves of middling roughness."""
        values: np.ndarray = np.arange(1, self.settled.refined + 1) ** -0.5
        return values

    def _residual_lengths(self, response: Response, centre: np.ndarray) -> ResidualLengths:
        """Products of inputs and residuals go up to four times the largest of responses, in units of the axes."""
        largest = 4 * response.outer * self.plan.design.radius / float(self._shape.min())
        return ResidualLengths(
            **sides(self.plan, self.plan.response),
            radii=guided.ladder(largest, guided.RESIDUAL_STEPS),
            outside=guided.RESIDUALS_OUTSIDE,
            price=guided.price(self.plan, self.settled.size),
            residuals=self._about_centre(response, centre, 1.0),
        )

    def _residuals(self, response: Response, rest: Sequence[np.ndarray]) -> ResidualProblem:
        return self._about_centre(response, rest[0], self._residual_lengths(response, rest[0]).chosen(rest[1]))

    def _about_centre(self, response: Response, centre: np.ndarray, radius: float) -> ResidualProblem:
        rough = self._mean(response, centre, True)
        return ResidualProblem(**sides(self.plan, self.plan.response), rough=rough, axes=self._shape * radius)

    def stages(self, drawn: Sequence[np.ndarray]) -> Sequence[Stage]:
        found = [self.next(drawn[:done]) for done in range(1, self.passes)]
        return [self.first, *(stage for stage in found if stage is not None)]

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        return self.stages(drawn)[-1]

    # -- from draws to coefficients -----------------------------------------------------------------

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.plan.restored(self._internal(drawn, shrinks=False))

    def shrunk(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """The same, every number shrunk to its posterior mean."""
        return self.plan.restored(self._internal(drawn, shrinks=True))

    def _internal(self, drawn: Sequence[np.ndarray], shrinks: bool) -> np.ndarray:
        """Coefficients of the encoded design."""
        response, rest = self._after_radius(drawn)
        if self.settled.moments is not None:
            return self._moments(response).internal(rest)
        if self.settled.way == "mean":
            return self._mean(response, rest[0], shrinks)
        residuals = self._residuals(response, rest)
        values, vectors = self._spectrum(response, rest[0])
        moments = rest[2][: self.plan.design.size * self.settled.refined]  # a check may follow them
        seen = vectors.T @ moments.reshape(self.plan.design.size, -1) / np.sqrt(values)[:, None]
        if shrinks:
            stage = self.next(drawn[:-1])
            assert stage is not None
            scales = stage.parts[0].law.scales.reshape(seen.shape) / np.sqrt(values)[:, None]
            largest = (float(residuals.axes.max()) / self.plan.design.radius) ** 2  # predictions as large as residuals
            seen = posterior_rows(seen, scales, largest, guided.nothing(self.plan))
        found = residuals.rough.copy()
        found[:, : self.settled.refined] += vectors @ (seen / np.sqrt(values)[:, None])
        return found

    def _share_of_guess(self, centre: np.ndarray) -> float:
        """The number of records over the public guess of it, by its noisy count; one where it is public."""
        return max(float(centre[-1]), 1 / self.plan.n) if self.plan.problem.count_is_private else 1.0

    def _mean(self, response: Response, centre: np.ndarray, shrinks: bool) -> np.ndarray:
        """Coefficients of the encoded design that predict the mean for every record."""
        stage = self._centre(response)
        part = stage.parts[1 if self.settled.first else 0]
        share = self._share_of_guess(centre)
        seen = centre[part.where] / share
        if shrinks:
            scales = part.law.scales / share
            smallest = SMALLEST * (seen.size + 1) * float(scales[0]) ** 2
            shapes = falling_shapes(seen.size)
            prior = sizes_and_shapes(shapes, max(response.outer**2, smallest), smallest, guided.nothing(self.plan))
            seen = posterior([Seen(np.arange(seen.size), seen, scales)], prior).mean
        found = np.zeros((self.plan.design.size, response.size))
        found[0, : seen.size] = seen / self.plan.design.constant
        return found

    def _spectrum(self, response: Response, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of the first moment, none below what its noise may have made of nothing, and vectors."""
        gram, part = self.plan.design.gram, self._centre(response).parts[0]
        values, vectors = np.linalg.eigh(gram.matrix(centre[: gram.size]))
        return np.maximum(values, gram.doubt(float(np.sqrt(part.law.variance[0])))), vectors

    def errors(self, drawn: Sequence[np.ndarray], size: int, rng: np.random.Generator) -> np.ndarray:
        """Simulated errors of the numbers as drawn against least squares on the same data, one row per draw.

        Slopes that were not looked for may be as large as the radius allows.
        """
        response, rest = self._after_radius(drawn)
        if self.settled.moments is not None:
            return self._moments(response).errors(rest, size, rng)
        stage, share = self._centre(response), self._share_of_guess(rest[0])
        noise = stage.spread([part.law.simulate(size, rng) for part in stage.parts])
        design = self.plan.design
        error = np.zeros((size, design.size, response.size))
        if self.settled.way == "mean":
            where = stage.parts[0].where
            error[:, 0, : where.size] = noise[:, where] / (share * design.constant)
            unknown = response.outer * np.sqrt(self.plan.smoothness / design.energies[1:, None])
            error[:, 1:] = rng.standard_normal((size, design.size - 1, response.size)) * unknown
        else:
            values, vectors = self._spectrum(response, rest[0])
            inverse = (vectors / values) @ vectors.T
            true = design.gram.matrix(rest[0][: design.gram.size] - noise[:, : design.gram.size])
            last = self.next(drawn[:-1])
            assert last is not None
            fresh = last.parts[0].law.simulate(size, rng).reshape(size, design.size, -1)
            found = self._internal(drawn, shrinks=False) - self._residuals(response, rest).rough
            error += (inverse @ true - np.eye(design.size)) @ found
            error[..., : self.settled.refined] += inverse @ fresh
        whole: np.ndarray = (design.restoring @ error).reshape(size, -1)
        return whole

    def checked(self, drawn: Sequence[np.ndarray]) -> CheckedFit | None:
        """What the check for bands found; None where there was none."""
        response, rest = self._after_radius(drawn)
        if self.settled.moments is not None:
            return self._moments(response).checked(rest)
        if not self.settled.check:
            return None
        first, last = self._centre(response), self.next(drawn[:-1])
        assert last is not None

        def noise(size: int, rng: np.random.Generator) -> np.ndarray:
            return first.spread([part.law.simulate(size, rng) for part in first.parts])

        return checked_fit(self.plan, last, rest[2], rest[0][: self.plan.design.gram.size], noise, response.outer)

    def outcome(self, drawn: Sequence[np.ndarray]) -> str:
        """What the choice of a radius fell on."""
        if not self.settled.radius:
            return ""
        return f"The radius of responses that was chosen is {self._lengths.chosen(drawn[0]):.3g}."
