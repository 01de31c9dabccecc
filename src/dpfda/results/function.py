"""A released function of the input: what a classifier or a kernel regression has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.results import maps, plots
from dpfda.results.bands import NOISE_ONLY, Band, simulated_errors, simultaneous, some_points
from dpfda.results.base import Release
from dpfda.results.measures import Measure

if TYPE_CHECKING:
    from dpfda.plans.kernel import KernelPlan
    from dpfda.plans.smoother import SmootherPlan


#: Probabilities below this are told as this where odds are asked for.
LEAST_ODDS = 1e-12


@runtime_checkable
class Densities(Protocol):
    """A schedule that told classes apart by their densities."""

    def density(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients of the density of all inputs."""

    def doubt(self, drawn: Sequence[np.ndarray]) -> float:
        """Standard deviation of the released difference at a typical point."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FunctionRelease(Release):
    """A fitted function under differential privacy: call it at points of the box, plot it, save it.

    Parameters
    ----------
    plan : KernelPlan or SmootherPlan
        The plan that was carried out.
    coefficients, raw : array
        Coefficients of the release in the plan's basis: as published, and as drawn.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 1, (3000, 1))
    >>> model = dp.KernelClassifier(epsilon=1.0, domain=[(0, 1)], classes=[False, True]).fit(x, x[:, 0] > 0.5)
    >>> model.release_([0.1, 0.9]).shape
    (2,)
    """

    plan: KernelPlan | SmootherPlan
    query: str = "decision"

    @property
    def level(self) -> float:
        """The public middle of the responses, about which the function is released."""
        return self.plan.level

    @property
    def values(self) -> np.ndarray:
        """The function at the middles of the cells."""
        return self.level + super().values

    def at(self, X: np.ndarray) -> np.ndarray:
        """The function at rows of inputs, which are clipped to the box.

        Parameters
        ----------
        X : array of shape (rows, inputs)
            The inputs.
        """
        points = self.plan.box.clipped(np.asarray(X, dtype=float))
        return self(points[:, 0] if self.plan.box.dimension == 1 else points)

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of the positive class (logistic loss), drawn towards one half by what the noise adds.

        Parameters
        ----------
        X : array of shape (rows, inputs)
            The inputs.
        """
        scores, schedule = self.at(X), self.plan.schedule
        if not isinstance(schedule, Densities):  # a minimiser of the logistic loss is the logarithm of odds
            values: np.ndarray = scipy.special.expit(scores / np.sqrt(1 + np.pi * self.plan.accuracy.typical_sd**2 / 8))
            return values
        points = self.plan.box.clipped(np.asarray(X, dtype=float))
        found, noise = schedule.density(self.drawn), schedule.doubt(self.drawn)
        basis = self.plan.basis.first(found.size)
        level = basis.evaluate(points[:, 0] if self.plan.box.dimension == 1 else points) @ found
        shares: np.ndarray = np.clip(scores / (np.maximum(level, np.abs(scores)) + noise), -1.0, 1.0)
        return (1 + shares) / 2

    def log_odds(self, X: np.ndarray) -> np.ndarray:
        """The logarithm of the odds of the positive class: of the same sign as the function (logistic loss).

        Parameters
        ----------
        X : array of shape (rows, inputs)
            The inputs.
        """
        if not isinstance(self.plan.schedule, Densities):
            return self.at(X)
        found = self.probability(X)
        values: np.ndarray = np.log(np.maximum(found, LEAST_ODDS)) - np.log(np.maximum(1 - found, LEAST_ODDS))
        return values

    @property
    def band_promise(self) -> str:
        """What the bands of this release promise, in one sentence."""
        if isinstance(self.plan.schedule, Densities):
            held = "the difference of the classes' densities among the clipped records, in the released functions"
            other = "what other functions would add"
        else:
            held = "the function that minimises the penalised loss on the clipped records, in the released functions"
            other = "what the penalty took away"
        return (
            f"Bands of this release are noise only: with the probability that is named, {held}, lies inside everywhere "
            f"at once; neither {other} nor how the records differ from their population is in them."
        )

    def _offset(self, t: ArrayLike) -> np.ndarray:
        return np.full(len(self.plan.basis.points(t)), self.level)

    # -- pictures -------------------------------------------------------------------------

    @property
    def class_names(self) -> tuple[str, str] | None:
        """What is predicted above zero and below, where classes are."""
        classes: tuple[str, ...] | None = getattr(self.plan, "classes", None)
        if classes is None:
            return None
        place: int = getattr(self.plan, "positive", 1)
        names = [name if name.isalpha() else f"class {name}" for name in classes]
        others = [name for i, name in enumerate(names) if i != place]
        return names[place], others[0] if len(others) == 1 else "another class"

    def _draw(self, ax: plots.Places, level: float, kind: str, look: plots.Look) -> plots.Axes:
        ax = super()._draw(ax, level, kind, look)
        if self.dimension == 1 and self.class_names is not None:
            plots.zero(ax, "boundary: {} above, {} below".format(*self.class_names))
        return ax

    def _draw_surface(self, ax: plots.Places, kind: str, look: plots.Look) -> plots.Axes:
        if self.dimension != 2:
            raise ParameterError(
                "pictures have at most two dimensions", f"{self.dimension} inputs", "Predict along one or two of them."
            )
        ax = super()._draw_surface(ax, kind, look)
        if self.class_names is not None and kind != "surface":
            maps.boundary(self.grid, self.values, ax)
        return ax

    @property
    def is_signed(self) -> bool:
        return self.class_names is not None

    @property
    def _line_name(self) -> str:
        return "fitted function" if self.class_names is None else "decision function"

    @property
    def map_words(self) -> tuple[str, bool]:
        if self.class_names is None:
            return super().map_words
        return "decision: {} above 0, {} below".format(*self.class_names), False

    @property
    def measure(self) -> Measure:
        return self._measured("response" if self.class_names is None else "decision")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SmootherRelease(FunctionRelease):
    """A kernel regression under differential privacy, made from released moments.

    Parameters
    ----------
    plan : SmootherPlan
        The plan that was carried out.
    coefficients, raw : array
        Coefficients of the release in the plan's basis: as published, and as fitted to the moments as they were drawn.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> x = np.random.default_rng(0).uniform(0, 1, (3000, 1))
    >>> model = dp.KernelRegressor(epsilon=1.0, domain=[(0, 1)], bound=(-1, 1)).fit(x, np.sin(6 * x[:, 0]))
    >>> model.release_.noise_band(0.9).covers
    'noise only'
    """

    plan: SmootherPlan
    query: str = "regression"
    drawn: tuple[np.ndarray, ...] = ()

    def noise_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """What the noise alone can do to the fit as drawn: simultaneous, by simulation of the public noise.

        What the ridge, the clip of residuals and functions that are not released leave out is not in it, nor how the
        data differ from their population: it is no error bar. On grids of very many points it is simultaneous over a
        fixed choice of them.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        points = self.grid.points if t is None else self.plan.basis.points(t)
        few = some_points(points)
        errors = simulated_errors(self.plan, self.drawn)
        seen = errors @ self.plan.basis.evaluate(few).T
        factor = float((simultaneous(seen, level) / np.sqrt((seen**2).mean(axis=0))).max())
        covariance = errors.T @ errors / len(errors)
        functions = self.plan.basis.evaluate(points)
        width = factor * np.sqrt(np.einsum("ij,jk,ik->i", functions, covariance, functions, optimize=True))
        middle = functions @ self.raw + self.level
        shape = self.grid.shape if t is None else middle.shape
        return Band(points, (middle - width).reshape(shape), (middle + width).reshape(shape), level, NOISE_ONLY)

    @property
    def band_promise(self) -> str:
        """What the bands of this release promise, in one sentence."""
        return (
            "Bands of this release are noise only: they hold what noise did to the numbers, and neither what the ridge "
            "and the clip of residuals and the functions that were not released took away nor how the records differ "
            "from their population."
        )

    def body(self) -> dict[str, object]:
        return {**super().body(), "drawn": [d.tolist() for d in self.drawn]}
