"""The rounds of a histogram: counts in equal bins, a density fitted to them, counts in bins of equal mass, and so on.

Every round takes its counts from one summary. What bins a later round has follows from what was drawn before, so it is
public, and budgets add up (derivations: counts in bins).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from dpfda.methods import Histogram
from dpfda.plans.schedule import Schedule
from dpfda.plans.shares import Cost
from dpfda.plans.walks import recall
from dpfda.problems.bins import BinProblem, atom_sizes, equal_parts
from dpfda.problems.density import DensityProblem
from dpfda.problems.stage import Stage, shrunk_errors, typical
from dpfda.results.counts import NoisyCounts, NoisyRound
from dpfda.results.log_density import Counted, fitted
from dpfda.spaces.steps import StepBasis

#: How much of the next bins' mass is spread evenly: where little was seen there may yet be something.
EVENLY = 0.2


@dataclass(frozen=True, eq=False)
class Refinement(Schedule):
    """One stage per round; `method` has its bins and shares."""

    problem: DensityProblem
    method: Histogram
    epsilon: Fraction
    _fits: dict[bytes, np.ndarray] = field(default_factory=dict, init=False, repr=False)

    @property
    def rounds(self) -> list[tuple[int, Fraction]]:
        """Bins and budget of each round."""
        assert self.method.bins is not None
        assert self.method.shares is not None
        return [(b, self.epsilon * s) for b, s in zip(self.method.bins, self.method.shares, strict=True)]

    @cached_property
    def first(self) -> Stage:
        return self._stage(0, self._sizes)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Cells of each atom."""
        return atom_sizes(self.problem)

    def _stage(self, number: int, masses: np.ndarray) -> Stage:
        bins, epsilon = self.rounds[number]
        problem = BinProblem(self.problem, equal_parts(masses, bins))
        return Stage(problem, self.method.calibrate(problem, epsilon))

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        return self._following(drawn) if len(drawn) < len(self.rounds) else None

    def _following(self, drawn: Sequence[np.ndarray]) -> Stage:
        """The stage after these draws: of bins that hold about equal mass of what they tell."""
        if not drawn:
            return self.first
        cells = self.density(drawn)
        masses = (1 - EVENLY) * cells / cells.sum() + EVENLY / cells.size
        starts = np.append(0, np.cumsum(self._sizes)[:-1])
        return self._stage(len(drawn), np.add.reduceat(masses, starts))

    def stages(self, drawn: Sequence[np.ndarray]) -> list[Stage]:
        return [self._following(drawn[:number]) for number in range(len(self.rounds))]

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        return self._following(drawn[: len(self.rounds) - 1])

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """The last round's histogram, as it was drawn, in the plan's own basis."""
        stage = self.last(drawn)
        steps = stage.problem.basis.synthesize(stage.problem.finish(drawn[-1], stage.parts))
        coefficients = self.problem.basis.coefficients(steps)
        coefficients[0] = self.problem.center_coefficients[0]
        return coefficients

    def density(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """The density on the cells that is fitted to these draws: post-processing, public."""
        key = b"".join(draw.tobytes() for draw in drawn)
        return recall(self._fits, key, lambda: self._fitted(drawn))

    def _fitted(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        stages = [self._following(drawn[:number]) for number in range(len(drawn))]
        noise = np.array([float(stage.parts[0].law.variance[0]) for stage in stages])
        total = 1.0
        if self.problem.count_is_private:  # the counts of all rounds add up to the number of points, over its guess
            precision = np.array([1 / (draw.size * v) for draw, v in zip(drawn, noise, strict=True)])
            sums = np.array([draw.sum() for draw in drawn])
            total = max(float(precision @ sums / precision.sum()), 1 / self.problem.n)
        seen = [
            Counted(cast(StepBasis, stage.problem.basis).starts, draw / total, v / total**2)
            for stage, draw, v in zip(stages, drawn, noise, strict=True)
        ]
        grid = self.problem.grid
        values: np.ndarray = fitted(seen, grid.size, total * self.problem.n) / grid.weights
        return values

    def noisy_counts(self, drawn: Sequence[np.ndarray]) -> NoisyCounts:
        """All rounds as they were drawn, for bands."""
        rounds = [
            NoisyRound(np.array(cast(BinProblem, stage.problem).starts), draw, float(stage.parts[0].law.scales[0]))
            for stage, draw in zip(self.stages(drawn), drawn, strict=True)
        ]
        problem = self.problem
        return NoisyCounts(tuple(rounds), problem.atom_edges, problem.n, not problem.count_is_private)

    def of_the_points(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """The density of the points themselves, which stray from the fitted one: by sampling, as far as counts tell.

        Of what the last round's counts differ from the fit, the share of sampling in the variance of both is kept.
        """
        stage, density = self.last(drawn), self.density(drawn)
        basis, shares = cast(StepBasis, stage.problem.basis), stage.problem.finish(drawn[-1], stage.parts)
        expected = basis.coefficients(density)
        sampled = expected / self.problem.n
        kept = sampled / (sampled + stage.parts[0].law.variance)
        found = np.maximum(expected + kept * (shares - expected), 0.0)
        values: np.ndarray = density * np.repeat(found / np.maximum(expected, 1e-300), basis.cells)
        return values / float(self.problem.grid.weights @ values)

    # -- before data ----------------------------------------------------------------------

    @cached_property
    def expected_stage(self) -> Stage:
        """The last round for a uniform density."""
        return self._stage(len(self.rounds) - 1, self._sizes)

    @property
    def risk(self) -> float:
        """What shrinkage would leave over the class of densities, typically."""
        return typical(self.risks, self.problem.class_norms)

    @property
    def risks(self) -> np.ndarray:
        """The same for each density of the class, of waves as long as the bins of a uniform one.

        In equal bins every cosine has the noise of all bins together; rounds add up by their precision. What bins in
        the right place gain for narrow densities is not counted.
        """
        problem, precision = self.problem, 0.0
        for number, (bins, _) in enumerate(self.rounds):
            stage = self._stage(number, self._sizes)
            precision += 1 / (bins * float(stage.parts[0].law.variance[0]))
        filter = np.zeros(problem.basis.size)
        filter[: max(bins for bins, _ in self.rounds) + 1] = 1.0
        variance = problem.sampling + problem.center_coefficients[0] ** 2 / precision
        return shrunk_errors(problem.prior_energies, filter, variance)

    @property
    def numbers_text(self) -> str:
        return " and ".join(f"{bins} counts" for bins, _ in self.rounds)

    def costs(self, target: str) -> list[Cost]:
        (bins, epsilon), *later = self.rounds
        found = [Cost(f"counts in {bins} equal bins", 1, epsilon)]
        return found + [Cost(f"counts in {bins} bins that follow the points", 1, epsilon) for bins, epsilon in later]

    def explanation(self) -> str:
        """What is done in each round, for which share of the budget."""
        bins, shares = self.method.bins, self.method.shares
        assert bins is not None
        assert shares is not None
        if len(bins) == 1:
            return f"The points are counted in {bins[0]} bins, all of epsilon, and a smooth density is fitted."
        later = "; then ".join(f"{b} bins for {s} of epsilon" for b, s in zip(bins[1:], shares[1:], strict=True))
        return (
            f"The points are read once and counted in {len(bins)} rounds: in {bins[0]} equal bins for {shares[0]} of "
            f"epsilon, to find where they are; then {later}, which are narrow where many points were found. A smooth "
            f"density is fitted to all noisy counts."
        )
