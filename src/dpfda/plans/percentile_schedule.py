"""The stages of percentile curves: cosines of ranks in the range, then of ranks in what was found, from one summary.

What levels a later stage has follows from what was drawn before, so it is public, and budgets add up (derivations:
percentiles).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from dpfda.bounds.loops import one_blas_thread
from dpfda.noise import Ball, Laplace
from dpfda.plans.schedule import Schedule
from dpfda.plans.shares import COUNT, Cost
from dpfda.plans.walks import recall
from dpfda.problems.count import count_part
from dpfda.problems.pooled_cells import PooledCells
from dpfda.problems.rank_design import RankDesign
from dpfda.problems.rank_moments import RankMoments
from dpfda.problems.stage import Part, Stage
from dpfda.problems.value_cells import ValueCells
from dpfda.results.percentile_bands import limits
from dpfda.results.percentile_table import PercentileTable, table_levels
from dpfda.results.quantile_fit import Pooled, Surface, first_table, fitted
from dpfda.results.quantile_model import Observed
from dpfda.spaces.basis import CosineBasis


@dataclass(frozen=True, eq=False)
class Ranks(Schedule):
    """One stage of `design` after the other, of curves in the cells of `inner`."""

    inner: ValueCells
    basis: CosineBasis
    design: RankDesign
    epsilon: Fraction
    _fits: dict[bytes, Surface] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def first(self) -> Stage:
        return self._waves(0, self._even)

    @cached_property
    def _even(self) -> np.ndarray:
        """Levels evenly over the range."""
        return first_table(*self.inner.cells.shape)

    @property
    def _order(self) -> list[int | None]:
        """Which stage of cosines each stage is; none for the shares of cells, which follow the first."""
        numbers: list[int | None] = list(range(len(self.design.shares)))
        return [*numbers[:1], None, *numbers[1:]] if self.design.pooled else numbers

    def _cells(self) -> Stage:
        """Shares of cells over all times, each with the same noise."""
        problem, epsilon = PooledCells(self.inner, self.basis), self.epsilon * self.design.pooled
        ones = np.ones(problem.size)
        scales = ones * (problem.sensitivity.support(ones) / float(epsilon))
        law = Laplace.calibrated(epsilon, scales, ones, problem.sensitivity, problem.max_abs)
        return Stage(problem, (Part(np.arange(problem.size), ones, law),))

    def _waves(self, number: int, table: np.ndarray) -> Stage:
        design, counts = self.design, number == 0 and self.design.count > 0
        functions, weights = design.functions[number], design.weights(number)
        problem = RankMoments(self.inner, table, functions, weights, self.basis, counts)
        law = Ball.calibrated(self.epsilon * design.shares[number], problem.sensitivity, problem.max_abs)
        parts = [Part(np.arange(problem.moments), np.ones(problem.moments), law)]
        if counts:
            parts.append(count_part(problem.moments, self.inner.n, self.epsilon * design.count))
        return Stage(problem, tuple(parts))

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        return self._following(drawn) if len(drawn) < len(self._order) else None

    def _following(self, drawn: Sequence[np.ndarray]) -> Stage:
        number = self._order[len(drawn)]
        if number is None:
            return self._cells()
        return self._waves(number, self.surface(drawn).next_table(self.inner.cells.count)) if number else self.first

    def stages(self, drawn: Sequence[np.ndarray]) -> list[Stage]:
        """All stages, for their noise: it is the same whatever the levels."""
        return [self._cells() if number is None else self._waves(number, self._even) for number in self._order]

    @property
    def waves(self) -> list[Stage]:
        """Those of cosines alone, as far as noise goes."""
        return [self._waves(number, self._even) for number in range(len(self.design.shares))]

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        return self.stages(drawn)[-1]

    @property
    def expected_stage(self) -> Stage:
        return self.last(())

    def rehearse(self) -> None:
        """Calibrate every stage now; what noise is does not depend on draws."""
        for stage in self.stages(()):
            for part in stage.parts:
                part.law.to_lattice([Fraction(0)] * part.where.size)

    # -- after the noise ----------------------------------------------------------------------

    def surface(self, drawn: Sequence[np.ndarray]) -> Surface:
        """The distributions that are fitted to these draws: post-processing, public."""
        key = b"".join(draw.tobytes() for draw in drawn)
        return recall(self._fits, key, lambda: self._fitted(drawn))

    def _fitted(self, drawn: Sequence[np.ndarray]) -> Surface:
        seen = (self._observed(drawn), self.time, self.shares, self.records(drawn), self._pooled(drawn))
        with one_blas_thread():
            return fitted(*seen)

    @cached_property
    def time(self) -> np.ndarray:
        """Cosines of time on the grid, of length one by the shares of its points."""
        return np.asarray(self.basis.functions * np.sqrt(self.inner.grid.weights.sum()))

    @cached_property
    def shares(self) -> np.ndarray:
        return np.asarray(self.inner.grid.weights / self.inner.grid.weights.sum())

    def _count(self, drawn: Sequence[np.ndarray]) -> float:
        """The noisy number of records over its public guess; at least two records."""
        return max(float(drawn[0][-1]), 2 / self.inner.n) if self.design.count else 1.0

    def records(self, drawn: Sequence[np.ndarray]) -> float:
        """How many records there are, as far as was told."""
        return self.inner.n * self._count(drawn)

    def _observed(self, drawn: Sequence[np.ndarray]) -> list[Observed]:
        count = self._count(drawn)
        waves = [place for place in range(len(drawn)) if self._order[place] is not None]
        return [self.observed(self._following(drawn[:place]), drawn[place], count) for place in waves]

    def _pooled(self, drawn: Sequence[np.ndarray]) -> Pooled | None:
        """What was told of the shares of cells, if anything."""
        if None not in self._order[: len(drawn)]:
            return None
        count, law = self._count(drawn), self._cells().parts[0].law
        return Pooled(drawn[self._order.index(None)] / count, float(np.sqrt(law.variance[0])) / count)

    def observed(self, stage: Stage, draw: np.ndarray, count: float = 1.0) -> Observed:
        """A draw as mean cosines, and how large its noise is."""
        problem = cast(RankMoments, stage.problem)
        means = problem.means(draw, count)
        noise = float(stage.parts[0].law.variance[0]) / count**2
        unsure = 2 / (self.inner.n * count * float(self.epsilon * self.design.count)) ** 2 if self.design.count else 0.0
        about = problem.centre_moments if self.design.count else np.zeros(problem.moments)
        centres = np.split(about, np.cumsum(problem.functions)[:-1])
        variance = [
            noise / weight**2 + unsure * (part - centre / weight) ** 2
            for part, centre, weight in zip(means, centres, problem.weights, strict=True)
        ]
        return Observed(problem.table, problem.functions, means, variance)

    def published(self, drawn: Sequence[np.ndarray], asked: tuple[float, ...]) -> PercentileTable:
        """The table of percentile curves that all draws come to, with how sure it is."""
        surface, cells = self.surface(drawn), self.inner.cells
        width, quantiles = cells.high - cells.low, self.quantiles(drawn, table_levels(asked))
        with one_blas_thread():
            found = limits(surface, np.array(asked), self.records(drawn), float(self.epsilon))
        bands = np.clip(cells.low + width * found, cells.low, cells.high)
        table = PercentileTable(asked, cells.low, cells.high, quantiles, bands)
        bands[:, 0], bands[:, 1] = np.minimum(bands[:, 0], table.values), np.maximum(bands[:, 1], table.values)
        return table

    def quantiles(self, drawn: Sequence[np.ndarray], levels: np.ndarray) -> np.ndarray:
        """Percentile curves at some levels, a row each, within the public range."""
        cells = self.inner.cells
        found = cells.low + (cells.high - cells.low) * self.surface(drawn).quantile(levels)
        return np.asarray(np.clip(found, cells.low, cells.high))

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """What the last stage drew."""
        return np.asarray(drawn[-1])

    # -- words ----------------------------------------------------------------------------------

    @property
    def numbers_text(self) -> str:
        sizes = [str(sum(functions)) for functions in self.design.functions]
        pooled = f", {self.inner.cells.count:,} shares of cells" if self.design.pooled else ""
        return " and ".join(sizes) + pooled + (" and a count" if self.design.count else "")

    def costs(self, target: str) -> list[Cost]:
        found = []
        for number in self._order:
            if number is None:
                found.append(
                    Cost("shares of cells, for values that many records have", 1, self._part(self.design.pooled))
                )
                continue
            words = "where values lie within what was found" if number else "roughly where values lie, at which times"
            found.append(Cost(words, 1, self._part(self.design.shares[number])))
            found += [] if number else [Cost(COUNT, 1, self._part(self.design.count))]
        return found

    def _part(self, share: Fraction) -> Fraction:
        return self.epsilon * share

    def explanation(self) -> str:
        """What is done in each stage, for which share of the budget."""
        sizes, shares = [sum(f) for f in self.design.functions], self.design.shares
        text = (
            f"The curves are read once. {sizes[0]} numbers for {shares[0]} of epsilon tell roughly where values lie in "
            "the range, at which times"
        )
        if len(sizes) > 1:
            later = " and then ".join(f"{m} for {s} of epsilon" for m, s in zip(sizes[1:], shares[1:], strict=True))
            text += f"; {later} tell where values lie within what was found"
        more = ""
        if self.design.pooled:
            more = (
                f" The shares of {self.inner.cells.count:,} cells of the range, over all times together, get "
                f"{self.design.pooled} of epsilon: they show values that many records have."
            )
        if self.design.count:
            more += f" A noisy count of the records gets {self.design.count} of epsilon."
        return (
            f"{text}.{more} All other numbers are averages over the records, each of a wave of ranks and time between "
            "two bounds. Percentile curves are fitted to all noisy numbers; they are smooth in time and never cross."
        )
