"""A released function-on-scalar regression: coefficient functions, with bands, and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError, shown
from dpfda.results import plots
from dpfda.results.bands import NOISE_ONLY, Band, check_level, simulated_errors, simultaneous
from dpfda.results.base import Release
from dpfda.results.coefficient_bands import PUBLIC, CheckedFit
from dpfda.results.columns import axis_names
from dpfda.results.wording import price
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.stacked import StackedBasis

if TYPE_CHECKING:
    from dpfda.plans.regression import RegressionPlan


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RegressionRelease(Release):
    """Coefficient functions under differential privacy: the intercept first, then one per covariate.

    Parameters
    ----------
    plan : RegressionPlan
        The plan that was carried out.
    coefficients, raw : array
        Coefficients of the release in the plan's basis: as published, and as fitted to the moments as they were drawn.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> x, t = rng.normal(0, 1, (5000, 1)), np.linspace(0, 1, 30)
    >>> model = dp.FunctionOnScalarRegression(epsilon=1.0, bound=dp.L2Ball(3.0), covariate_bound=3.0)
    >>> model.fit(x, np.sin(3 * t) + x * np.cos(3 * t)).release_.values.shape
    (2, 30)
    """

    plan: RegressionPlan
    query: str = "regression"

    @property
    def _basis(self) -> StackedBasis:
        return cast(StackedBasis, self.plan.basis)

    @property
    def line(self) -> Eigenbasis:
        """The functions that each coefficient function is made of."""
        return self._basis.line

    def coefficient(self, number: int, t: ArrayLike | None = None) -> np.ndarray:
        """One coefficient function (0 is the intercept), on the grid of the curves or at points `t`.

        Parameters
        ----------
        number : int
            Which one: 0 is the intercept.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        values: np.ndarray = self.at(t)[self._number(number)]
        return values

    def at(self, t: ArrayLike | None = None) -> np.ndarray:
        """All coefficient functions, one row each.

        Parameters
        ----------
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self._at(self.coefficients, t)

    def _at(self, coefficients: np.ndarray, t: ArrayLike | None) -> np.ndarray:
        matrix = coefficients.reshape(self._basis.count, -1)
        values = matrix @ (self.line.functions if t is None else self.line.evaluate(t)).T
        values[0] += self._centre_left_over(t)
        found: np.ndarray = values
        return found

    def _centre_left_over(self, t: ArrayLike | None) -> np.ndarray:
        """The part of the public centre that the basis cannot express belongs to the intercept."""
        left = self.plan.response.code.offset
        return left if t is None else np.interp(self.line.points(t), self.line.grid.points, left)

    @property
    def values(self) -> np.ndarray:
        """All coefficient functions on the grid, one row each."""
        return self.at()

    def predict(self, covariates: np.ndarray) -> np.ndarray:
        """Curves for rows of covariates, which are clipped as they were when the model was made.

        Parameters
        ----------
        covariates : array of shape (rows, covariates)
            The covariates, without a column for the intercept.
        """
        inputs, _ = self.plan.design.encode(np.asarray(covariates, dtype=float))
        inner = np.linalg.solve(self.plan.design.restoring, self._matrix_about_centre)
        about = (inputs.rows * self.plan.design.unit) @ inner
        values: np.ndarray = self.line.synthesize(about) + self.plan.response.code.center
        return values

    @property
    def _matrix_about_centre(self) -> np.ndarray:
        matrix = self.coefficients.reshape(self._basis.count, -1).copy()
        matrix[0] -= self.plan.response.code.center_coefficients
        return matrix

    # -- bands --------------------------------------------------------------------------------

    @cached_property
    def _errors(self) -> np.ndarray:
        """Simulated errors of all coefficients by noise, one row per draw."""
        return simulated_errors(self.plan, self.drawn)

    @cached_property
    def _checked(self) -> CheckedFit | None:
        """What the check for bands found; None where there was none, or it was cut short."""
        found = self.plan.schedule.checked(self.drawn)
        return None if found is None or found.is_saturated else found

    def noise_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """What the noise alone can do to all coefficient functions as drawn: simultaneous, by simulation.

        It is about the ridge's solution. What a ridge, a clip or functions that are not released leave out is not in
        it, nor how the data differ from their population: it is no error bar.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        functions = self.line.functions if t is None else self.line.evaluate(t)
        points = self.line.grid.points if t is None else self.line.points(t)
        count = self._basis.count
        errors = self._errors.reshape(len(self._errors), count, -1) @ functions.T
        width = simultaneous(errors.reshape(len(errors), -1), level).reshape(count, -1)
        middle = self._at(self.raw, t)
        return Band(points, middle - width, middle + width, level, NOISE_ONLY)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the least-squares coefficients of the records themselves, clipped to their bounds.

        Without a check (few records, older files, `passes` or `split` given) it is as wide as the public bounds.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self._about_middle(level, t, False, "least squares on these records")

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the coefficients of the population that the records are a sample of.

        The population's best linear prediction, of curves and covariates within their bounds, lies inside. Without a
        check (few records, older files, `passes` or `split` given) it is as wide as the public bounds.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self._about_middle(level, t, True, "coefficients of the population")

    @property
    def has_bands(self) -> bool:
        """Whether the plan is of the kind that has a check where there are records enough for one."""
        return bool(self.plan.check_share)

    @property
    def band_promise(self) -> str:
        """What the bands of this release promise, in one sentence."""
        if not self.has_bands:
            return (
                "Bands of this release are noise only: they hold what noise did to the numbers, and neither what a "
                "ridge or a clip took away nor how the records differ from their population."
            )
        if self._checked is None:
            return (
                "The records were too few to tell coefficients from noise, so bands are as wide as the public bounds: "
                "curves rise no higher than three times the root mean square that their bound allows, also when a "
                "covariate moves by its expected spread."
            )
        return (
            "With the probability that is named, the coefficient functions of the population lie inside the confidence "
            "band everywhere at once, if its curves and covariates keep to their bounds; features finer than 1/"
            f"{max(self._checked.moments.shape[1], 1)} of the domain are covered only as far as they are not spikes."
        )

    def _about_middle(self, level: float, t: ArrayLike | None, population: bool, covers: str) -> Band:
        """A band about the unridged solution, cut to the public bounds and widened to hold what is published."""
        check_level(level)
        grid = self.plan.grid
        points = grid.points if t is None else self.line.points(t)
        public = np.repeat(self._public_height[:, None], len(points), axis=1)
        centre = np.zeros_like(public)
        centre[0] = np.interp(points, grid.points, self.plan.response.code.center)
        lower, upper, fit = centre - public, centre + public, self._checked
        if fit is not None:
            functions = self.line.functions if t is None else self.line.evaluate(t)
            count = fit.by_piece.size
            order = np.interp(points, grid.points, np.arange(grid.size)) / max(grid.size - 1, 1)
            piece = np.minimum((order * count).astype(int), count - 1)
            width = fit.half_widths(level, functions, piece, population)
            middle = self._at(self.plan.restored(fit.middle), t)
            inside = np.abs(middle - centre) <= public
            lower = np.where(inside, np.maximum(lower, middle - width), lower)
            upper = np.where(inside, np.minimum(upper, middle + width), upper)
        shown = self.at(t)
        return Band(points, np.minimum(lower, shown), np.maximum(upper, shown), level, covers)

    @property
    def _public_height(self) -> np.ndarray:
        """How high a coefficient function is taken to be at most, by public bounds alone.

        Three times the root mean square that the bound on curves allows, also when a covariate moves by the spread that
        its own bound makes one expect.
        """
        design = self.plan.design
        each = PUBLIC * self.plan.bound.outer / np.sqrt(self.plan.grid.length * design.energies)
        values: np.ndarray = np.abs(design.restoring) @ each
        return values

    # -- words and pictures -------------------------------------------------------------------

    def _number(self, number: int) -> int:
        most = self._basis.count - 1
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number <= most:
            raise ParameterError(f"coefficients are numbered 0 to {most}", shown(number), "0 is the intercept.")
        return int(number)

    @property
    def title(self) -> str:
        return "regression of curves on covariates"

    @property
    def names(self) -> list[str]:
        """The intercept, and the covariates by name or number."""
        numbered = [f"covariate {i + 1}" for i in range(self.plan.covariates)]
        return ["intercept", *(self.plan.names or numbered)]

    def __repr__(self) -> str:
        low, high = self.plan.grid.span
        return (
            f"RegressionRelease({', '.join(self.names)} on [{low:g}, {high:g}], epsilon {float(self.plan.epsilon):g}, "
            f"plan {self.plan.digest[:12]})"
        )

    def _draw(self, ax: plots.Places, level: float, kind: str, look: plots.Look) -> plots.Axes:
        """All coefficient functions with their bands, side by side."""
        what, per = self._measured("coefficient"), "" if self.plan.value is None else " per unit"
        labels = [str(what), *[f"{what}{per}"] * self.plan.covariates]
        title = f"Coefficient functions, {price(self.plan)}"
        return plots.curves(self.plan.grid, self.values, self.shown_band(level), self.names, ax, look, title, labels)

    def _columns(self, level: float) -> dict[str, np.ndarray]:
        band, count = self.shown_band(level), self._basis.count
        return {
            "coefficient": np.repeat(np.arange(count), self.plan.grid.size),
            axis_names(self.plan.grid)[0]: np.tile(self.plan.grid.points, count),
            "value": self.values.ravel(),
            "lower": band.lower.ravel(),
            "upper": band.upper.ravel(),
        }
