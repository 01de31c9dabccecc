"""A released covariance: a surface, its principal components, and its correlations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.core.checks import check_choice
from dpfda.core.errors import ParameterError, shown
from dpfda.methods import Centred, Leading
from dpfda.results import plots
from dpfda.results.bands import Band, check_level
from dpfda.results.base import Release
from dpfda.results.beyond import TOO_SMALL, words_about
from dpfda.results.covariance_bands import (
    HEIGHT,
    UNCHECKED,
    Checked,
    component_words,
    eigenfunction_limits,
    largest_angles,
    nearest,
    plane_angle,
)
from dpfda.results.measures import Measure
from dpfda.results.postprocess import shrink
from dpfda.results.principal import posterior_covariance
from dpfda.results.wording import price
from dpfda.spaces.symmetric import SymmetricBasis

if TYPE_CHECKING:
    from dpfda.plans.covariance import CovariancePlan
    from dpfda.results.looks import Colors, Labels

#: The step that makes a release a covariance.
POSITIVE = "projection onto covariances"
#: The step that gives back what the clip to a private radius took, as if curves were Gaussian.
UNCLIPPED = "size from before the clip"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CovarianceRelease(Release):
    """A covariance surface under differential privacy: symmetric and, unless taken raw, positive semi-definite.

    Its eigenfunctions are the private functional principal components: post-processing, free of cost.

    Parameters
    ----------
    plan : CovariancePlan
        The plan that was carried out.
    coefficients, raw : array
        Coefficients of the release in the plan's basis: as published, and as drawn.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> t = np.linspace(0, 1, 30)
    >>> scores = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    >>> curves = scores @ np.array([np.sin(3 * t), 0.3 * np.cos(3 * t)])
    >>> release = dp.covariance(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> release.eigenfunctions(2).shape
    (2, 30)
    """

    plan: CovariancePlan
    query: str = "covariance"

    @property
    def _basis(self) -> SymmetricBasis:
        return cast(SymmetricBasis, self.plan.basis)

    # -- after the noise ------------------------------------------------------------------

    def unprocessed(self) -> Self:
        """The raw release: every number as it was drawn. Symmetric; some direction may have a negative variance."""
        return replace(self, coefficients=self.raw, steps=())

    def project(self) -> Self:
        """The nearest covariance to this release: no direction has a negative variance."""
        if POSITIVE in self.steps:
            return self
        nearest = codec.frozen_array(self._basis.nearest_positive(self.coefficients))
        return replace(self, coefficients=nearest, steps=(*self.steps, POSITIVE))

    def shrink(self, method: str | None = None) -> Self:
        """Shrunk with the known noise law, then brought back among covariances.

        Parameters
        ----------
        method : {"posterior", "bayes", "james-stein"}, optional
            "posterior" is the exact posterior mean, for :class:`dpfda.methods.Leading`; about a private centre the size
            that the clip took is given back as well. The others pull towards zero. Default: "posterior" where it is to
            be had, else "bayes".
        """
        method = self.plan.shrinkage if method is None else method
        if method != "posterior":
            return shrink(self, method).project()
        chosen = self.plan.chosen
        if not isinstance(chosen.method if isinstance(chosen, Centred) else chosen, Leading):
            raise ParameterError("the posterior mean is for dp.methods.Leading", repr(chosen), "Pass method='bayes'.")
        clipped = isinstance(chosen, Centred) and chosen.first is not None
        found = posterior_covariance(self.raw, self.plan.schedule.last(self.drawn), clipped)
        steps = ("shrinkage by the posterior mean", POSITIVE, *((UNCLIPPED,) if clipped else ()))
        return replace(self, coefficients=codec.frozen_array(found), steps=steps)

    # -- principal components -------------------------------------------------------------

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Variances in decreasing order, and the coefficients of their directions, one column each."""
        values, vectors = np.linalg.eigh(self._basis.matrix(self.coefficients))
        return values[::-1], vectors[:, ::-1]

    def eigenfunctions(self, k: int, t: ArrayLike | None = None) -> np.ndarray:
        """The `k` leading principal components, one row each, on the grid or at points `t`.

        Orthonormal in the grid's inner product; the first value of any size is positive.

        Parameters
        ----------
        k : int
            How many components.
        t : array, optional
            Points along the line. Default: the grid of the curves.
        """
        vectors = self._spectrum[1][:, : self._components(k)]
        line = self._basis.line
        on_grid = line.functions @ vectors
        sizeable = np.abs(on_grid) > 1e-6 * np.abs(on_grid).max(axis=0)
        signs = np.sign(on_grid[sizeable.argmax(axis=0), np.arange(on_grid.shape[1])])
        values: np.ndarray = ((on_grid if t is None else line.evaluate(t) @ vectors) * signs).T
        return values

    def explained_variance(self, k: int) -> np.ndarray:
        """The variances along the `k` leading principal components.

        Parameters
        ----------
        k : int
            How many components.
        """
        return self._spectrum[0][: self._components(k)].copy()

    def explained_variance_ratio(self, k: int) -> np.ndarray:
        """The same as shares of the total variance.

        Parameters
        ----------
        k : int
            How many components.
        """
        return self.explained_variance(k) / float(np.maximum(self._spectrum[0], 0.0).sum())

    def _components(self, k: int) -> int:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ParameterError("components are counted from 1", shown(k), "Pass k=3, say.")
        if k > self.rank:
            raise ParameterError(
                f"the release shows {self.rank} directions of variation; the noise hides any others",
                int(k),
                "Ask for fewer, or release again with a smaller radius, a better centre or a larger epsilon.",
            )
        return int(k)

    @property
    def rank(self) -> int:
        """How many directions have a variance above zero."""
        values = self._spectrum[0]
        return int((values > 1e-9 * max(float(values[0]), 1e-300)).sum())

    def correlation(self, points: ArrayLike | None = None) -> np.ndarray:
        """Correlations on the grid, or at points; zero where there is no variance.

        Parameters
        ----------
        points : array of shape (points, 2), optional
            Pairs of times. Default: the grid.
        """
        if points is None:
            covariance, variance = self.values, np.diag(self.values)
            product = np.multiply.outer(variance, variance)
        else:
            pairs = self.plan.basis.points(points)
            covariance = self(pairs)
            product = self(pairs[:, [0, 0]]) * self(pairs[:, [1, 1]])
        known = product > 1e-24 * float(np.abs(self.values).max()) ** 2
        ratio = covariance / np.sqrt(np.where(known, product, 1.0))
        return np.where(known, np.clip(ratio, -1.0, 1.0), 0.0)

    # -- error bars -----------------------------------------------------------------------

    @cached_property
    def bound_too_small(self) -> bool | None:
        return self.plan.bound_too_small(self.drawn)

    @property
    def bound_words(self) -> str:
        return words_about(self.bound_too_small)

    @property
    def cautions(self) -> tuple[str, ...]:
        return (TOO_SMALL,) if self.bound_too_small else ()

    @cached_property
    def _check(self) -> Checked | None:
        return self.plan.checked(self.drawn)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the sample covariance: what the records would have given without privacy.

        About the published surface, as wide as a paid comparison with the records says; without one, as wide as the
        public bound.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array of shape (points, 2), optional
            Pairs of times. Default: the grid.
        """
        return self._band(level, t, population=False)

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the covariance of the population that the records are a sample of.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array of shape (points, 2), optional
            Pairs of times. Default: the grid.
        """
        return self._band(level, t, population=True)

    @property
    def has_bands(self) -> bool:
        """Bands cover more than the noise: without a check they are as wide as the public bound."""
        return not self.order

    def _band(self, level: float, t: ArrayLike | None, population: bool) -> Band:
        check_level(level)
        width = self._half_width(level, population)
        points = self.grid.points if t is None else self._basis.points(t)
        middle = self.values
        if t is not None:
            middle = np.asarray(self(points))
            width = width[tuple(nearest(axis.points, points[:, a]) for a, axis in enumerate(self.grid.axes))]
        most = self._largest_variance
        same = np.eye(len(middle), dtype=bool) if t is None else points[:, 0] == points[:, 1]
        lower = np.where(same, np.maximum(middle - width, 0.0), np.maximum(middle - width, -most))
        covers = f"covariance of the {'population' if population else 'sample'}"
        upper = np.minimum(middle + width, most)
        return Band(points, np.minimum(lower, middle), np.maximum(upper, middle), level, covers)

    @property
    def _largest_variance(self) -> float:
        """What no variance exceeds, by the public bound and a convention on how high curves of its length can be."""
        return (HEIGHT * self.plan.bound.radius) ** 2 / self.plan.grid.length

    def _half_width(self, level: float, population: bool) -> np.ndarray:
        if self._check is None:
            return np.full(self.grid.shape, np.inf)
        return self._check.half_width(self.values, level, population)

    def eigenfunction_angles(self, k: int, level: float = 0.95, of: str = "population") -> np.ndarray:
        """Upper limits, in degrees, of the angles between the `k` leading eigenfunctions and the true ones.

        With probability `level` none of them is larger. 90 degrees: this component cannot be told from noise, or from
        another one of the same variance.

        Parameters
        ----------
        k : int
            How many components.
        level : float
            The probability.
        of : {"population", "sample"}
            Whose eigenfunctions are the true ones.
        """
        return largest_angles(self._variances(k), self._operator_limit(1 - level, level, of), k)

    def plane_angle(self, k: int, level: float = 0.95, of: str = "population") -> float:
        """The same for the space of the `k` leading eigenfunctions together: the largest of its angles.

        Parameters
        ----------
        k : int
            How many components.
        level : float
            The probability with which the angle is no larger. Default: 0.95.
        of : {"population", "sample"}
            Whose eigenfunctions are the true ones. Default: "population".
        """
        return plane_angle(self._variances(k), self._operator_limit(1 - level, level, of), k)

    def eigenfunction_band(self, k: int, level: float = 0.95, of: str = "population") -> Band:
        """Simultaneous bands, one row each, for the `k` leading eigenfunctions of the truth, with signs as released.

        Where the angle may be 90 degrees a band is as wide as any function of length one can be.

        Parameters
        ----------
        k : int
            How many components.
        level : float
            The probability.
        of : {"population", "sample"}
            Whose eigenfunctions are the true ones.
        """
        limit, grid = self._operator_limit((1 - level) / 2, level, of), self.plan.grid
        width = self._half_width((1 + level) / 2, of == "population")
        lower, upper = eigenfunction_limits(
            self.values, self.eigenfunctions(k), self._variances(k), width, limit, grid.weights
        )
        return Band(grid.points, lower, upper, level, f"eigenfunctions of the {of}")

    def _variances(self, k: int) -> np.ndarray:
        self._components(k)
        return self._spectrum[0]

    def _operator_limit(self, chance: float, level: float, of: str) -> float:
        check_level(level)
        check_choice("of", of, ("population", "sample"))
        if self._check is None:
            return float("inf")
        if (chance, of) not in self._known_limits:
            self._known_limits[chance, of] = self._check.operator_limit(self.values, chance, of == "population")
        return self._known_limits[chance, of]

    @cached_property
    def _known_limits(self) -> dict[tuple[float, str], float]:
        return {}

    @property
    def band_promise(self) -> str:
        """What bands promise, and under which assumption, in one sentence."""
        return UNCHECKED if self._check is None else self._check.promise

    # -- pictures -------------------------------------------------------------------------

    @property
    def is_signed(self) -> bool:
        return True

    @property
    def map_words(self) -> tuple[str, bool]:
        return str(self.measure), True

    @property
    def measure(self) -> Measure:
        return self._measured("").squared("covariance of") if self.plan.value is not None else Measure("covariance")

    def plot_eigenfunctions(
        self,
        k: int = 3,
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
        """The leading principal components (as many of `k` as there are) as curves, with their shares of variance.

        Bands are for the population's, where components can be told from noise and from each other.

        Parameters
        ----------
        k : int, optional
            How many components.
        ax, level, label, color, xlabel, ylabel, title, legend : optional
            As for :meth:`plot`; lines are called "1", "2" and so on.
        """
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        return plots.fit(self._draw_components(min(k, self.rank), ax, level, look))

    def _draw_components(self, k: int, ax: plots.Places, level: float, look: plots.Look) -> plots.Axes:
        if not k:
            return plots.overlay(self.plan.grid, {}, ax, "No principal component: the noise hides all variation")
        shares = self.explained_variance_ratio(k)
        angles, band = self.eigenfunction_angles(k, level), self.eigenfunction_band(k, level)
        known, names = angles < 90, component_words(shares, angles)
        title = f"Principal components, {price(self.plan)}"
        told = np.where(known[:, None], 1.0, np.nan)  # a band that says nothing is not drawn
        shown = Band(band.t, band.lower * told, band.upper * told, level, "components of the population")
        look = look.with_names(names)
        what = "component" if self.plan.value is None else f"component of {self._measured('').name}"
        return plots.together(self.plan.grid, self.eigenfunctions(k), shown, list(names), ax, look, title, what)
