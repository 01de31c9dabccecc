"""How plans take a public guess: rows of public records, or a curve about which records are invented.

Each kind of plan has its own way (:mod:`dpfda.plans.guessed_kinds`): what it accepts, which records stand for the
guess, what is true of them without noise, and what size errors are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from dpfda.bounds.loops import Block
from dpfda.bounds.units import Range, root_length
from dpfda.core.errors import ParameterError, shown
from dpfda.plans.bound_fit import Guess, GuessedCurves
from dpfda.plans.invented import STRAY, Around, Invented
from dpfda.problems.contracts import Encoder
from dpfda.problems.mean import MeanProblem
from dpfda.spaces.components import as_rows
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from dpfda.plans.base import Plan
    from dpfda.plans.mean import MeanPlan

#: A plan, whatever it releases.
AnyPlan: TypeAlias = "Plan[Any]"
P = TypeVar("P", bound="Plan[Any]")
CURE = "Pass an earlier study's, or invented ones: never the data's own."


@dataclass(frozen=True, eq=False)
class Guessed:
    """Records that stand for a guess, what is true of them, and what errors are compared with.

    Without a `truth` it is what a release without noise would be, and without a `signal` the size of that. `sampled`
    where what is released is about the population, so that records are drawn from it anew for each release.
    """

    records: Invented
    truth: np.ndarray | None = None
    signal: float | None = None
    sampled: bool = False


class Guesses(Generic[P]):
    """Of any plan: rows of public records, laid out as its release takes them."""

    #: What else may be passed, in words.
    others = ""

    def take(self, plan: P, guess: Guess, seed: int, spread: float | None) -> Guessed:
        """The records that this guess stands for, and what is true of them.

        `spread` is how far invented curves lie from their mean, as a root mean square.
        """
        if spread is not None:
            raise ParameterError("a spread is for curves that are invented about a guess", "another guess", "Drop it.")
        return self.of_rows(plan, rows_of(plan.problem, guess, self.others))

    def of_rows(self, plan: P, rows: np.ndarray) -> Guessed:
        """The same for public rows, as a plan reads them."""
        return Guessed(evenly(plan, rows))

    def contrast(self, plan: P, truth: np.ndarray) -> np.ndarray:
        """What is to be seen of the truth, where no size was guessed: all of it."""
        return truth


def evenly(plan: AnyPlan, rows: np.ndarray) -> Invented:
    """Public rows as all records of a plan, each as often as the others."""
    return Invented.evenly(records_of(plan, rows), plan.n)


def records_of(plan: AnyPlan, rows: np.ndarray) -> np.ndarray:
    """Public rows as encoders take them: brought to the grid, and one record each where a plan has units."""
    rules = plan.problem.alignment
    if rules is None:
        return rows
    rows = rules.filled(rows)
    return rules.each(rows) if rules.unit is None else rules.contributions(rows, np.arange(len(rows)))


def rows_of(encoder: Encoder, guess: Guess, others: str = "") -> np.ndarray:
    """Public rows as a plan reads them, or an error that says what a guess is here."""
    width = encoder.width if encoder.alignment is None else encoder.alignment.width
    rows = as_numbers(guess)
    if rows is not None:
        rows = np.asarray(as_rows(rows, encoder.record_grid))
    if rows is None or rows.ndim != 2 or len(rows) < 2 or rows.shape[1] != width:
        given = shown(guess) if rows is None else f"shape {rows.shape}"
        rule = f"a guess is {others}rows of public records, at least two of {width} finite number{'s'[: width > 1]}"
        raise ParameterError(rule, given, CURE)
    return rows


def as_numbers(guess: Guess) -> np.ndarray | None:
    """A guess as finite numbers, if it is made of them."""
    try:
        found = np.asarray(guess, dtype=float)
    except (TypeError, ValueError):
        return None
    return found if np.isfinite(found).all() and not isinstance(guess, bool | str) else None


def curve_of(grid: AnyGrid, guess: Guess) -> np.ndarray | None:
    """A guess as one value for each grid point, if that is what it is."""
    found = as_numbers(guess)
    return found.ravel() if found is not None and found.shape in ((grid.size,), grid.shape) else None


def ball_of(problem: MeanProblem, spread: float | None = None) -> Around:
    """Where curves of a public bound may be invented: a quarter of its radius away from their mean, unless told."""
    outer = problem.bound.outer
    stray = STRAY * outer if spread is None else spread * root_length(problem.grid)
    return Around(problem.code_basis, problem.center, outer, stray)


class CurveGuesses(Guesses["MeanPlan"]):
    """Of a mean: the mean itself, its level or its range, with records invented about it; or rows of curves."""

    others = "one value for each grid point, a number, dp.Range(low, high), or "

    def take(self, plan: MeanPlan, guess: Guess, seed: int, spread: float | None) -> Guessed:
        grid, mean = plan.grid, curve_of(plan.grid, guess)
        flat = isinstance(guess, int | float | np.number | Range) and not isinstance(guess, bool)
        if mean is None and not flat:
            return super().take(plan, guess, seed, spread)
        sizes = GuessedCurves.of(guess, plan.bound, grid)
        if isinstance(guess, Range):
            mean = np.full(grid.size, (guess.low + guess.high) / 2)
            spread = sizes.size / np.sqrt(3) if spread is None else spread  # as if values were spread evenly
        elif mean is None:
            mean = np.full(grid.size, np.asarray(guess, dtype=float))
        records = ball_of(plan.problem, spread).curves(mean, plan.n, seed)
        if plan.standardize:  # what is averaged then are other curves
            return self._guessed(plan, records)
        return Guessed(records, mean.reshape(grid.shape), sizes.size)

    def of_rows(self, plan: MeanPlan, rows: np.ndarray) -> Guessed:
        return self._guessed(plan, evenly(plan, rows))

    @staticmethod
    def _guessed(plan: MeanPlan, records: Invented) -> Guessed:
        """The mean of these records as they are before the clip; errors are compared with its variation."""
        curves, _ = plan.problem.curves(Block(records.rows))
        mean, shares = records.shares @ curves, plan.grid.weights / plan.grid.weights.sum()
        signal = float(np.sqrt(shares @ (mean - shares @ mean) ** 2))
        return Guessed(records, mean.reshape(plan.grid.shape), signal)
