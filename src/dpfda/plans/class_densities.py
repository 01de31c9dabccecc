"""How a decision is planned by the densities of the classes: functions, shares, and what is done after the noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np

from dpfda.noise import Ball
from dpfda.plans.schedule import OneStage
from dpfda.plans.shares import Cost
from dpfda.problems.label_moments import LabelMoments
from dpfda.problems.stage import Part, Stage
from dpfda.results.posterior import Posterior, Seen, posterior, sizes_and_shapes
from dpfda.results.rows import SMALLEST
from dpfda.spaces.inputs import InputBox, kernel_basis
from dpfda.spaces.stationary import Stationary

#: Functions over the root of n times epsilon. Measured on ten invented problems (moons, circles, spirals, checks, a
#: line, noisy labels, a corner, two heaps, a saddle of three inputs): half as many lose moons, more a point of others.
FUNCTIONS, LEAST = 2.0, 3
#: Up to this many records times epsilon, by inputs: beyond, the functions there are limit a density more than noise
#: does, and a minimiser makes more of them. (Moons are even at 40,000, a saddle of three inputs at about 2,000.)
MOST_RECORDS = {1: 6_400.0, 2: 40_000.0, 3: 2_000.0}
#: Functions whose eigenvalue is below this share of the largest would be all noise, and are left out.
FAINT = 1e-3
#: Probabilities also need the density of inputs: its share of epsilon, and of the functions.
DENSITY_SHARE, DENSITY_FUNCTIONS = Fraction(1, 10), 0.25
#: Weight of no signal at all, before anything is seen. It moves probabilities, never a class: signs stay.
NOTHING = 0.5


def components_for(box: InputBox, kernel: Stationary, records: float) -> int:
    """As many functions as noise allows, for so many records times epsilon."""
    values = kernel_basis(box, kernel).eigenvalues
    weighty = int((values >= FAINT * values.max()).sum())
    return min(values.size, max(LEAST, min(weighty, round(FUNCTIONS * sqrt(records)))))


def suits(box: InputBox, records: float) -> bool:
    """Whether densities serve better than a minimiser, for so many records times epsilon."""
    return records <= MOST_RECORDS.get(box.dimension, 0.0)


def density_functions(components: int) -> int:
    """Functions of the inputs' density."""
    return max(LEAST, round(DENSITY_FUNCTIONS * components))


class ClassDensities(OneStage):
    """One stage: the difference of densities and, for probabilities, the density of inputs."""

    keeps_draws = True

    @classmethod
    def of(cls, problem: LabelMoments, epsilon: Fraction) -> ClassDensities:
        size, max_abs = problem.basis.size, problem.max_abs
        beside = epsilon * DENSITY_SHARE if problem.density else Fraction(0)
        law = Ball.calibrated(epsilon - beside, problem.sensitivity, max_abs[:size])
        parts = [Part(np.arange(size), np.ones(size), law)]
        if problem.density:
            where = size + np.arange(problem.density)
            parts.append(
                Part(where, np.ones(where.size), Ball.calibrated(beside, problem.density_sensitivity, max_abs[where]))
            )
        return cls(Stage(problem, tuple(parts)))

    def shrunk(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Posterior mean of the difference."""
        return self._posterior(0, drawn[0]).mean

    def density(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Posterior mean of the density of inputs."""
        return self._posterior(1, drawn[0]).mean

    def doubt(self, drawn: Sequence[np.ndarray]) -> float:
        """Standard deviation of the difference at a typical point, after what was drawn."""
        problem = self.stage.problem
        energies = problem.basis.energies / problem.basis.grid.volume
        return float(np.sqrt(self._posterior(0, drawn[0]).variance @ energies))

    def costs(self, target: str) -> list[Cost]:
        """The difference of densities, and beside it the density of inputs."""
        words = ("the difference of the classes' densities", "the density of all inputs, for probabilities")
        return [Cost(step, 1, part.law.epsilon) for step, part in zip(words, self.stage.parts, strict=False)]

    def words(self) -> str:
        """What is released, and why."""
        problem = self.stage.problem
        beside = (
            f" The density of all inputs, for probabilities, has {DENSITY_SHARE} of epsilon."
            if len(self.stage.parts) > 1
            else ""
        )
        return (
            f" The difference of the densities of the positive class and the rest is released in {problem.basis.size} "
            "functions: it is positive where the positive class is the more likely one, which any loss looks for, and "
            f"a mean needs less noise than a minimiser.{beside} What was drawn is shrunk to its posterior mean."
        )

    def _posterior(self, number: int, noisy: np.ndarray) -> Posterior:
        """For signals of every size, as rough as the kernel says."""
        problem, part = self.stage.problem, self.stage.parts[number]
        assert isinstance(problem, LabelMoments)
        scales, energies = part.law.scales, problem.features.axes**2
        shape = energies[None, : scales.size] / float(energies[: scales.size].sum())
        smallest = SMALLEST * (scales.size + 1) * float(scales.min()) ** 2
        # All records may lie at one of so many places that functions tell apart.
        largest = scales.size / 2 * float(problem.features.box.grid.volume)
        prior = sizes_and_shapes(shape, max(largest, smallest), smallest, NOTHING)
        return posterior([Seen(np.arange(scales.size), noisy[part.where], scales)], prior)
