"""What a public guess is for each kind of plan beside a mean: what it may be, and what is true of it without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpfda.bounds.loops import Block
from dpfda.bounds.units import root_length
from dpfda.core.errors import ParameterError
from dpfda.plans.bound_fit import Guess
from dpfda.plans.guesses import CURE, AnyPlan, Guessed, Guesses, ball_of, curve_of, evenly, records_of
from dpfda.plans.invented import Around, Invented
from dpfda.plans.percentile_accuracy import SPREADS
from dpfda.spaces.stationary import Matern

if TYPE_CHECKING:
    from dpfda.plans.covariance import CovariancePlan
    from dpfda.plans.density import DensityPlan
    from dpfda.plans.kernel import KernelPlan
    from dpfda.plans.percentiles import PercentilePlan
    from dpfda.plans.regression import RegressionPlan
    from dpfda.plans.smoother import SmootherPlan
    from dpfda.plans.survival import SurvivalPlan

#: Curves that are invented for percentiles, which see all of them; a unit's record is a large table.
MOST_CURVES, MOST_UNITS = 1000, 200
#: The length scale of their kernel, as a share of the domain: that of means.
LENGTH = 0.3


class CovarianceGuesses(Guesses["CovariancePlan"]):
    """Of a covariance: a mean with curves invented about it, or rows of curves; it is that of these curves."""

    others = "one value for each grid point, or "

    def take(self, plan: CovariancePlan, guess: Guess, seed: int, spread: float | None) -> Guessed:
        if (mean := curve_of(plan.grid, guess)) is None:
            return super().take(plan, guess, seed, spread)
        return self._guessed(plan, ball_of(plan.problem.code, spread).curves(mean, plan.n, seed))

    def of_rows(self, plan: CovariancePlan, rows: np.ndarray) -> Guessed:
        return self._guessed(plan, evenly(plan, rows))

    @staticmethod
    def _guessed(plan: CovariancePlan, records: Invented) -> Guessed:
        curves, _ = plan.problem.code.curves(Block(records.rows))
        about = curves - records.shares @ curves
        return Guessed(records, (records.shares * about.T) @ about)


class DensityGuesses(Guesses["DensityPlan"]):
    """Of a density: the density on the cells, or rows of points, of which a smooth one is made without noise."""

    others = "a density on the cells of plan.grid, or "

    def take(self, plan: DensityPlan, guess: Guess, seed: int, spread: float | None) -> Guessed:
        grid, heights = plan.grid, curve_of(plan.grid, guess)
        if heights is None or spread is not None:
            return super().take(plan, guess, seed, spread)
        mass = heights * grid.weights
        if mass.min() < 0 or not mass.sum() > 0:
            raise ParameterError("a density is nowhere negative, and positive somewhere", "another one", CURE)
        where, truth = mass > 0, (heights / mass.sum()).reshape(grid.shape)
        points = grid.points.reshape(grid.size, -1)[where]
        return Guessed(Invented(points, mass[where]), truth, sampled=True)

    def of_rows(self, plan: DensityPlan, rows: np.ndarray) -> Guessed:
        return Guessed(evenly(plan, rows), sampled=True)

    def contrast(self, plan: DensityPlan, truth: np.ndarray) -> np.ndarray:
        """How it differs from the uniform density."""
        return np.asarray(truth - 1 / plan.grid.volume)


class PercentileGuesses(Guesses["PercentilePlan"]):
    """Of percentiles: a median curve with others invented about it, or rows of curves; those of these curves."""

    others = "one value for each grid point, or "

    def take(self, plan: PercentilePlan, guess: Guess, seed: int, spread: float | None) -> Guessed:
        if (median := curve_of(plan.grid, guess)) is None:
            return super().take(plan, guess, seed, spread)
        low, high, root = plan.range.low, plan.range.high, root_length(plan.grid)
        basis = Matern(length_scale=LENGTH * plan.grid.length).on(plan.grid).basis(plan.grid)
        middle = np.full(plan.grid.size, (low + high) / 2)
        spread = SPREADS[len(SPREADS) // 2] * (high - low) if spread is None else spread
        around = Around(basis, middle, (high - low) / 2 * root, spread * root)
        most = MOST_CURVES if plan.unit is None else MOST_UNITS
        return self.of_rows(plan, around.curves(median, most, seed, most).rows)

    def of_rows(self, plan: PercentilePlan, rows: np.ndarray) -> Guessed:
        rules = plan.problem.alignment
        rows = np.clip(rows if rules is None else rules.filled(rows), plan.range.low, plan.range.high)
        spread = np.sqrt(rows.var(axis=0) @ plan.grid.weights / plan.grid.weights.sum())
        return Guessed(evenly(plan, rows), np.quantile(rows, plan.levels, axis=0), float(spread), sampled=True)


class SurvivalGuesses(Guesses["SurvivalPlan"]):
    """Of a survival curve: the curve itself, with nobody censored before the horizon; or rows of times and events."""

    others = "a survival curve on plan.grid, or "

    def take(self, plan: SurvivalPlan, guess: Guess, seed: int, spread: float | None) -> Guessed:
        if (curve := curve_of(plan.grid, guess)) is None or spread is not None:
            return super().take(plan, guess, seed, spread)
        if not (curve[-1] >= 0 and curve[0] <= 1 and (np.diff(curve) <= 0).all()):
            raise ParameterError("a survival curve falls from at most 1 to at least 0", "another one", CURE)
        times, grid = np.append((plan.grid.points[1:] + plan.grid.points[:-1]) / 2, plan.horizon), plan.grid
        shares = np.append(-np.diff(np.append(1.0, curve[1:])), curve[-1])
        rows = np.column_stack([times, np.append(np.ones(grid.size - 1), 0.0)])[shares > 0]
        return Guessed(Invented(records_of(plan, rows), shares[shares > 0]), curve, self._signal(plan), sampled=True)

    def of_rows(self, plan: SurvivalPlan, rows: np.ndarray) -> Guessed:
        return Guessed(evenly(plan, rows), survival_of(rows, plan.grid.points), self._signal(plan), sampled=True)

    @staticmethod
    def _signal(plan: SurvivalPlan) -> float:
        return float(plan.accuracy.signal / root_length(plan.grid))


def survival_of(rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Kaplan and Meier's curve of times and events, at some times.

    >>> survival_of(np.array([[1.0, 1], [2.0, 0], [3.0, 1], [4.0, 0]]), np.array([0.5, 1.5, 3.5])).tolist()
    [1.0, 0.75, 0.375]
    """
    times, events = rows[np.lexsort((-rows[:, 1], rows[:, 0]))].T
    left = np.cumprod(1 - events / np.arange(times.size, 0, -1))
    return np.append(1.0, left)[np.searchsorted(times, at, side="right")]


class RegressionGuesses(Guesses["RegressionPlan"]):
    """Of a regression: rows of covariates and a curve each; least squares is what is true of them."""

    def of_rows(self, plan: RegressionPlan, rows: np.ndarray) -> Guessed:
        inputs, curves = rows[:, : plan.covariates], rows[:, plan.covariates :]
        found, *_ = np.linalg.lstsq(np.column_stack([np.ones(len(rows)), inputs]), curves, rcond=None)
        return Guessed(evenly(plan, rows), found)

    def contrast(self, plan: RegressionPlan, truth: np.ndarray) -> np.ndarray:
        """How coefficient functions differ from the public centre, which is the intercept's."""
        return np.concatenate([truth[:1] - plan.response.code.center, truth[1:]])


class FunctionGuesses(Guesses["KernelPlan | SmootherPlan"]):
    """Of a function of inputs: rows of them and a response each; what a fit without noise is, is what is true."""

    def contrast(self, plan: KernelPlan | SmootherPlan, truth: np.ndarray) -> np.ndarray:
        """How it differs from the public middle of responses."""
        return np.asarray(truth - plan.level)


class NoGuesses(Guesses[AnyPlan]):
    """Of a plan whose release is no function."""

    def take(self, plan: AnyPlan, guess: Guess, seed: int, spread: float | None) -> Guessed:
        raise ParameterError(
            "only curves, surfaces and models are simulated", f"the plan of a {plan.wording.noun}", "Ask its verdict."
        )
