"""Plans of regressions by released moments: what a function-on-scalar and a kernel regression share.

One stage releases both moments. Where the rough answer can be trusted to predict (a public rule), three more
stages follow: the size of residuals, and twice the moments of residuals clipped to it. Shares of the budget
add up (derivations: regression).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, shown
from dpfda.noise import Ball, Laplace
from dpfda.noise.law import Law
from dpfda.plans.base import Plan
from dpfda.plans.forecast import Forecast
from dpfda.problems.base import Part, Stage
from dpfda.problems.design import Design, Response
from dpfda.problems.moments import RADII, MomentProblem, ResidualProblem, SizeProblem
from dpfda.release import door
from dpfda.spaces.basis import Eigenbasis

#: Shares of the budget with four stages: both moments (one of these), the size of residuals, their moments; the rest
#: is for the moments of what is then left.
FIRSTS, SECOND = (Fraction(3, 25), Fraction(1, 5), Fraction(3, 10)), Fraction(3, 25)
#: The size of residuals gets what brings the noise of a cumulative count down to a few percent of the records.
SIZE_NOISE, LEAST_SIZE, MOST_SIZE = 1000.0, Fraction(1, 50), Fraction(1, 5)
#: Residuals are clipped to a radius that holds this share of them.
HELD = 0.85


@dataclass(frozen=True, eq=False)
class Moments(Fact):
    """What was settled before data: functions in each stage, the first moment's share, and the passes over the data."""

    components: int
    refined: int
    split: float
    passes: int
    first: Fraction = Fraction(1)
    size: Fraction = Fraction(0)

    @property
    def last(self) -> Fraction:
        """What is left for the last stage."""
        return 1 - self.first - self.size - SECOND


class MomentPlan(Plan):
    """A regression by moments. Subclasses say what design, response and basis are."""

    split: float | None
    passes: int | None
    neighbors: str
    invalid: str
    risk_words: ClassVar[str] = "noise and truncation, under a public guess of the signal"

    # -- said by subclasses -------------------------------------------------------------------

    @cached_property
    @abstractmethod
    def design(self) -> Design: ...

    @cached_property
    @abstractmethod
    def response(self) -> Response: ...

    @cached_property
    @abstractmethod
    def released_basis(self) -> Eigenbasis:
        """Where the released coefficients live: one row of the response's functions per entry of the design."""

    @property
    @abstractmethod
    def smoothness(self) -> np.ndarray:
        """How the signal's squared size is spread over the response's functions: a public guess, summing to one."""

    def _check_stages(self) -> None:
        if self.split is not None and (isinstance(self.split, bool) or not _between(self.split, 0, 1)):
            raise ParameterError(
                "split must lie strictly between 0 and 1", shown(self.split), "It is the first moment's share."
            )
        if self.passes is not None and (isinstance(self.passes, bool) or self.passes not in (1, 4)):
            raise ParameterError("passes must be 1 or 4", shown(self.passes), "Leave it out to have it chosen.")

    # -- what was settled -----------------------------------------------------------------------

    @cached_property
    def problem(self) -> MomentProblem:
        return MomentProblem(self.released_basis, self.design, self.response, self.n, self.neighbors, self.invalid)

    @cached_property
    def forecast(self) -> Forecast:
        return Forecast(self.problem, self.smoothness, float(self.epsilon))

    @cached_property
    def chosen(self) -> Any:
        """One pass or four, whichever should predict better."""
        one = self._settled()
        wanted = Fraction(ceil(100 * SIZE_NOISE / (self.n * float(self.epsilon))), 100)
        size = min(MOST_SIZE, max(LEAST_SIZE, wanted))
        four = min((self._settled(first, size) for first in FIRSTS), key=self._risk)
        better = four if self._risk(four) < self._risk(one) else one
        return {None: better, 1: one, 4: four}[self.passes]

    def _settled(self, first: Fraction = Fraction(1), size: Fraction = Fraction(0)) -> Moments:
        """Components and split for these shares of the first two stages; without shares, for a single pass."""
        share = float(first)
        split = self.forecast.split(share) if self.split is None else float(self.split)
        count = self.forecast.components(share * split, share * (1 - split))
        if first == 1:
            return Moments(count, 0, split, 1)
        rough = self.forecast.rough(count, share * split, share * (1 - split))
        last = float(1 - first - size - SECOND)
        return Moments(count, self.forecast.refined_components(last, rough, share * split), split, 4, first, size)

    def _risk(self, settled: Moments) -> float:
        first = float(settled.first) * settled.split
        rough = self.forecast.rough(settled.components, first, float(settled.first) - first)
        if settled.passes == 1:
            return rough
        return self.forecast.refined(settled.refined, float(settled.last), rough, first)

    def release(self, records: Any, ledger: Any = None, *, query: str | None = None, **reading: Any) -> Any:
        """As for any plan; an array in memory is encoded once for all passes."""
        if not (type(records) is np.ndarray and records.ndim == 2 and records.dtype.kind == "f"):
            return super().release(records, ledger, query=query, **reading)
        book = door.open_ledger(ledger)
        door.check_budget(book, self)
        if records.shape[1] != self.problem.width:
            self.summarize(records)  # says what is wrong
        with np.errstate(all="ignore"):  # what a value does in a cast is nobody's business
            coded = self.problem.code(np.asarray(records, dtype=float))
        reread = lambda problem: self._read(replace(problem, coded=True), coded)  # noqa: E731
        return door.execute(self, reread(self.problem), book, query or self.query, reread)

    @property
    def passes_needed(self) -> int:
        return int(self.chosen.passes)

    @property
    def expected_error(self) -> float:
        """Expected squared error of predictions by noise, as far as public guesses tell."""
        return self.expected_risk - self.forecast.missed(max(self.chosen.components, self.chosen.refined))

    @cached_property
    def expected_risk(self) -> float:
        return self._risk(self.chosen)

    @property
    def numbers_words(self) -> str:
        first = sum(part.where.size for part in self.stage.parts)
        if self.chosen.passes == 1:
            return str(first)
        return f"{first}, then {RADII} counts of sizes, then twice {self.design.size * self.chosen.refined}"

    @property
    def delta(self) -> Fraction:
        return Fraction(0)

    # -- stages -----------------------------------------------------------------------------------

    @cached_property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """Budgets of the two moments in the first stage."""
        whole = self.epsilon * self.chosen.first
        first = whole * Fraction(str(self.chosen.split))
        return first, whole - first

    @cached_property
    def stage(self) -> Stage:
        problem, (first, second) = self.problem, self._shares
        upper = np.arange(problem.n_public, problem.first_size)
        if not upper.size:  # nothing of the first moment is private: all of the budget goes to the second
            first, second = Fraction(0), first + second
        places = np.arange(problem.size - problem.first_size).reshape(self.design.size, -1)
        lower = places[:, : self.chosen.components].ravel()
        max_abs = problem.max_abs
        blocks = []
        if upper.size:
            blocks.append((upper, Ball.calibrated(first, problem.first_sensitivity.restricted(upper), max_abs[upper])))
        where = problem.first_size + lower
        blocks.append((where, Ball.calibrated(second, problem.second_sensitivity.restricted(lower), max_abs[where])))
        return Stage(problem, tuple(Part(where, np.ones(where.size), law) for where, law in blocks))

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        if len(drawn) == self.chosen.passes:
            return None
        shape = self.forecast.shape[: self.chosen.refined]
        largest = 4 * self.response.outer * self.design.radius / float(shape.min())
        sizes = SizeProblem(**self._sides, residuals=self._residuals(drawn[:1], shape), largest=largest)
        if len(drawn) == 1:
            epsilon = self.epsilon * self.chosen.size
            every = np.ones(sizes.size)
            scales = every * sizes.sensitivity.support(every) / float(epsilon)
            law: Law = Laplace.calibrated(epsilon, scales, every, sizes.sensitivity, sizes.max_abs)
            return Stage(sizes, (Part(np.arange(sizes.size), every, law),))
        residuals = self._residuals(drawn, shape * sizes.chosen(drawn[1], HELD))
        law = quieter(
            self.epsilon * (SECOND if len(drawn) == 2 else self.chosen.last), residuals.sensitivity, residuals.max_abs
        )
        return Stage(residuals, (Part(np.arange(residuals.size), np.ones(residuals.size), law),))

    def _residuals(self, drawn: Sequence[np.ndarray], axes: np.ndarray) -> ResidualProblem:
        return ResidualProblem(**self._sides, rough=self.internal(drawn), axes=axes)

    @property
    def _sides(self) -> dict[str, Any]:
        return {
            "basis": self.released_basis, "design": self.design, "response": self.response, "n": self.n,
            "neighbors": self.neighbors, "invalid": self.invalid,
        }  # fmt: skip

    # -- from draws to coefficients -----------------------------------------------------------------

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.restored(self.internal(drawn))

    def internal(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients of the encoded design: the rough ones, corrected by what residuals show."""
        solve = self._solver(drawn[0])
        coefficients = solve(self._noises(drawn)[0]) @ self.problem.second(drawn[0])
        for moment, noise in zip(drawn[2:], self._noises(drawn)[1:], strict=True):
            coefficients = coefficients.copy()
            coefficients[:, : self.chosen.refined] += solve(noise) @ moment.reshape(self.design.size, -1)
        return coefficients

    @cached_property
    def _spectra(self) -> dict[bytes, tuple[np.ndarray, np.ndarray]]:
        """Eigenvalues and vectors of the first moment by what was drawn: stages ask for the same one repeatedly."""
        return {}

    def _solver(self, noisy: np.ndarray) -> Any:
        """The inverse of the first moment for a given noise in the second; eigenvalues below a ridge fade out."""
        numbers = noisy[: self.problem.first_size]
        if numbers.tobytes() not in self._spectra:
            self._spectra.clear()
            self._spectra[numbers.tobytes()] = np.linalg.eigh(self.design.gram.matrix(numbers))
        values, vectors = self._spectra[numbers.tobytes()]
        first = float(self._shares[0] / self.epsilon)

        def solve(noise: float) -> np.ndarray:
            ridge = self.forecast.ridge(first, noise)
            return (vectors * (values / (values**2 + ridge**2))) @ vectors.T

        return solve

    def _noises(self, drawn: Sequence[np.ndarray]) -> list[float]:
        """Standard deviation of noise on the leading entries of the second moment, stage by stage."""
        found = [float(np.sqrt(self.stage.parts[-1].law.variance[0]))]
        for done in range(2, len(drawn)):
            stage = self.next(drawn[:done])
            assert stage is not None
            found.append(float(np.sqrt(stage.parts[0].law.variance[0])))
        return found

    def restored(self, internal: np.ndarray) -> np.ndarray:
        """Coefficients of the user's own inputs, curve after curve."""
        whole = self.design.restoring @ internal
        return whole.reshape(*whole.shape[:-2], -1)

    def extra_fields(self, drawn: Sequence[np.ndarray]) -> dict[str, Any]:
        return {"drawn": tuple(drawn)}

    def errors(self, drawn: Sequence[np.ndarray], size: int, rng: np.random.Generator) -> np.ndarray:
        """Simulated errors of the released coefficients against least squares on the same clipped data.

        The first moment that the data really had is what was released minus noise like the one that was drawn.
        """
        noise = self.stage.spread([part.law.simulate(size, rng) for part in self.stage.parts])
        count, solve, noises = self.chosen.refined, self._solver(drawn[0]), self._noises(drawn)
        rough = solve(noises[0]) @ self.problem.second(drawn[0])
        true = self.design.gram.matrix(drawn[0][: self.problem.first_size] - noise[:, : self.problem.first_size])
        unit = np.eye(self.design.size)
        error = solve(noises[0]) @ self.problem.second(noise) + (solve(noises[0]) @ true - unit) @ rough
        for done in range(2, len(drawn)):
            stage = self.next(drawn[:done])
            assert stage is not None
            fresh = stage.parts[0].law.simulate(size, rng).reshape(size, self.design.size, -1)
            inverse = solve(noises[done - 1])
            error[..., :count] = inverse @ fresh - (inverse @ true - unit) @ error[..., :count]
        whole = self.design.restoring @ error
        return whole.reshape(size, -1)


def _between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float | np.number) and low < float(value) < high


def quieter(epsilon: Fraction, sensitivity: Sensitivity, max_abs: np.ndarray) -> Law:
    """Ball noise or matched Laplace noise on all coordinates, whichever has less energy."""
    ball = Ball.calibrated(epsilon, sensitivity, max_abs)
    every = np.ones(max_abs.size)
    scales = sensitivity.matched(every) / float(epsilon)
    if float(ball.variance.sum()) <= 2 * float((scales**2).sum()):
        return ball
    return Laplace.calibrated(epsilon, scales, every, sensitivity, max_abs)


def stage_words(plan: MomentPlan) -> str:
    """How often the data is read, and for what share of the budget each time."""
    if plan.chosen.passes == 1:
        return "The data is read once, for two moments."
    return (
        f"The data is read four times: for two moments ({plan.chosen.first} of epsilon), the size of residuals "
        f"({plan.chosen.size}), and twice the moments of clipped residuals ({SECOND} and {plan.chosen.last}); these "
        f"shares add up to epsilon."
    )
