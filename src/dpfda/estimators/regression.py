"""Function-on-scalar regression: curves explained by a few covariates."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dpfda.bounds import BallLike
from dpfda.core.checks import Epsilon, Invalid, Neighbors, check_value
from dpfda.core.errors import ParameterError
from dpfda.core.nouns import check_record
from dpfda.estimators.base import PrivateEstimator
from dpfda.ledger import Ledger
from dpfda.plans import RegressionPlan
from dpfda.plans.curves import as_grid
from dpfda.reading.curves import Records
from dpfda.results import RegressionRelease, plots
from dpfda.results.bands import Band
from dpfda.spaces.grid import Grid
from dpfda.spaces.kernels import Kernel

if TYPE_CHECKING:
    from dpfda.results.looks import Colors, Labels


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientFunctions:
    """Some coefficient functions of a released regression: call them, ask for their bands."""

    release: RegressionRelease
    rows: int | slice

    def __call__(self, t: ArrayLike | None = None) -> np.ndarray:
        """Values on the grid or at points `t`: one row per covariate, a single row for the intercept."""
        values: np.ndarray = self.release.at(t)[self.rows]
        return values

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """For least squares on these records, over all coefficient functions together and the intercept."""
        return self._part(self.release.band(level, t))

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """For the population, over all coefficient functions together and the intercept."""
        return self._part(self.release.confidence_band(level, t))

    def noise_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """What the noise alone can do, over all coefficient functions together and the intercept: no error bar."""
        return self._part(self.release.noise_band(level, t))

    def _part(self, band: Band) -> Band:
        return Band(band.t, band.lower[self.rows], band.upper[self.rows], band.level, band.covers)

    def __repr__(self) -> str:
        return f"CoefficientFunctions of {self.release!r}; call them with points of the domain"


class FunctionOnScalarRegression(MultiOutputMixin, RegressorMixin, PrivateEstimator):
    """Curves on covariates under pure differential privacy: ``Y(t) = intercept(t) + sum_j x_j coef_j(t)``.

    A response of one number is a constant curve.

    Parameters
    ----------
    epsilon : float, str or Fraction
        The privacy budget. It has no default: it is a decision.
    bound : L2Ball, Range or RMS
        The public ball that every curve is clipped to, such as ``dp.Range(2, 25)`` for values between 2 and 25. It has
        no default.
    covariate_bound : float or sequence of (low, high)
        A public norm of the covariates of one record, or one range for each. It has no default.
    kernel : Kernel or callable, optional
        How smooth coefficient functions are expected to be. Default: Gaussian with a fifth of the domain as length
        scale.
    split : float, optional
        The share of the first moment in its stage. Default: by expected risk.
    grid : Grid or int, optional
        Where curves have their values. Default: equally spaced on [0, 1].
    passes : {1, 4}, optional
        1 reads the data once, 4 refines with clipped residuals. Default: a private radius of curves first, then as much
        as there are records for (`plan_.explain()` tells).
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the fit, or it is used as its plan says.
    n : int, optional
        The public number of records, or a public guess of it where neighbours add or remove one. Default: as many as
        there are, where that is public.
    ledger : Ledger or path, optional
        What is charged at every fit, by every clone.
    value : str, optional
        What values of curves are, with their unit in brackets, such as "glucose (mmol/L)": pictures show it.
    record : str, optional
        What one record is called, such as "home" or "person/people": plans and statements speak of it so.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> x, t = rng.normal(0, 1, (20_000, 2)), np.linspace(0, 1, 30)
    >>> curves = np.sin(3 * t) + x[:, :1] * t + x[:, 1:] * (1 - t)
    >>> model = dp.FunctionOnScalarRegression(epsilon=1.0, bound=dp.L2Ball(4.0), covariate_bound=4.0)
    >>> model.fit(x, curves).coef_([0.0, 1.0]).shape
    (2, 2)
    """

    release_: RegressionRelease

    def __init__(
        self,
        epsilon: Epsilon | None = None,
        bound: BallLike | None = None,
        covariate_bound: float | Iterable[Iterable[float]] | Iterable[float] | None = None,
        kernel: Kernel | Callable[..., Any] | None = None,
        split: float | None = None,
        *,
        grid: Grid | int | None = None,
        passes: int | None = None,
        neighbors: Neighbors = "replace",
        invalid: Invalid = "raise",
        n: int | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        value: str | None = None,
        record: str | None = None,
    ):
        self.epsilon = epsilon
        self.bound = bound
        self.covariate_bound = covariate_bound
        self.kernel = kernel
        self.split = split
        self.grid = grid
        self.passes = passes
        self.neighbors = neighbors
        self.invalid = invalid
        self.n = n
        self.ledger = ledger
        self.value = value
        self.record = record

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # small samples with noise
        return tags

    def fit(self, X: Records, Y: Records) -> Self:
        """Release the moments of covariates and curves, and the coefficient functions they make.

        Parameters
        ----------
        X : array or table of shape (rows, covariates)
            The covariates, one row for each record.
        Y : array or table of shape (rows, points)
            The curves, one row for each record.
        """
        whole = getattr(Y, "ndim", 2) == 1
        check_value(self.value)
        check_record(self.record)
        self._forget()
        width = self._width_of(Y) if self.invalid == "center" else 1
        X, Y = self._checked(X, Y, width, multi_output=True, y_numeric=True)
        single = whole or Y.ndim == 1
        curves = np.asarray(Y, dtype=float).reshape(len(Y), 1 if Y.ndim == 1 else Y.shape[1])
        width = curves.shape[1]
        if width == 1:
            curves = np.repeat(curves, 2, axis=1)
        facts: dict[str, Any] = {  # what is not given, or wrong, the plan refuses
            "bound": self.bound, "covariate_bound": self.covariate_bound, "epsilon": self.epsilon,
            "grid": curves.shape[1] if self.grid is None else self.grid,
        }  # fmt: skip
        plan = RegressionPlan(
            n=self._count(X), covariates=X.shape[1], kernel=self.kernel, split=self.split, passes=self.passes,
            names=self._names, neighbors=self.neighbors, invalid=self.invalid, value=self.value, record=self.record,
            **facts,
        )  # fmt: skip
        self._fitted_with(plan.release(np.column_stack([X, curves]), self._charged()))
        self._single, self._width = single, width
        return self

    def _width_of(self, Y: Records) -> int:
        """Values of a curve: from the grid where there is one, else from the shape of the table."""
        if self.grid is not None:
            return as_grid(self.grid).size
        shape = getattr(Y, "shape", None)
        if shape is None:
            raise ParameterError(
                "with invalid='center' curves must come as an array or a table, or with a grid",
                "a list",
                "A record must not decide how many values a curve has.",
            )
        return int(shape[1]) if len(shape) == 2 else 1

    @property
    def coef_(self) -> CoefficientFunctions:
        """The coefficient functions, one per covariate: ``coef_(t)``, ``coef_.confidence_band(0.95)``."""
        check_is_fitted(self)
        return CoefficientFunctions(self.release_, slice(1, None))

    @property
    def intercept_(self) -> CoefficientFunctions:
        """The intercept: ``intercept_(t)``, ``intercept_.confidence_band(0.95)``."""
        check_is_fitted(self)
        return CoefficientFunctions(self.release_, 0)

    def predict(self, X: Records) -> np.ndarray:
        """Curves on the grid, one row per row of covariates, which are clipped to their bound.

        Parameters
        ----------
        X : array or table of shape (rows, covariates)
            The covariates to predict for.
        """
        inputs = self._inputs(X)
        curves = self.release_.predict(inputs)
        values: np.ndarray = curves[:, 0] if self._single else curves[:, : self._width]
        return values

    def plot(
        self,
        ax: plots.Places = None,
        level: float = 0.95,
        *,
        label: Labels | None = None,
        color: Colors | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> plots.Axes:
        """All coefficient functions with their bands, side by side.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            One for each coefficient function. Default: a new figure.
        level, label, color, xlabel, ylabel, title, legend : optional
            As for :meth:`dpfda.results.Release.plot`.

        Returns
        -------
        matplotlib Axes
            One for each coefficient function.
        """
        check_is_fitted(self)
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        return self.release_.plot(ax, level, **look.words)
