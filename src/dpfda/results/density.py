"""A released density: what a release can do, and what a density can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.core.checks import check_choice
from dpfda.core.errors import ParameterError
from dpfda.results import averages, maps, plots
from dpfda.results.averages import FINEST
from dpfda.results.bands import Band
from dpfda.results.base import Release
from dpfda.results.counts import NoisyCounts
from dpfda.results.measures import Measure
from dpfda.results.projection import CellDensity, check_shares, projected
from dpfda.results.terms import Terms
from dpfda.spaces.points import as_points

if TYPE_CHECKING:
    from dpfda.plans.density import DensityPlan

#: The steps that make a release non-negative: the nearest density, or a smooth one fitted to noisy counts.
PROJECTED, FITTED = "projection onto densities", "a smooth density fitted to all noisy counts"
#: Whose distribution a band is of.
Of = Literal["population", "points"]


@runtime_checkable
class Counting(Protocol):
    """A schedule that draws noisy counts in bins of a line."""

    def of_the_points(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """The density of the points themselves, on the cells."""

    def noisy_counts(self, drawn: Sequence[np.ndarray]) -> NoisyCounts:
        """All rounds as they were drawn."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DensityRelease(Release):
    """A density under differential privacy: integrates to one and, unless taken raw, is nowhere negative.

    `raw` holds the noisy coefficients as they were drawn; :meth:`unprocessed` is the density they make.

    Parameters
    ----------
    plan : DensityPlan
        The plan that was carried out.
    coefficients, raw : array
        Coefficients of the release in the plan's basis: as published, and as drawn.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.
    shape : array, optional
        The density on the cells, once it was projected.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> ages = np.random.default_rng(0).gamma(9.0, 8.0, 2000).clip(0, 110)
    >>> release = dp.density(ages, epsilon=1.0, domain=[(0, 110)])
    >>> 50 < release.quantile(0.5) < 90
    np.True_
    """

    plan: DensityPlan
    query: str = "density"
    shape: np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        """The density on the cells, in the grid's shape."""
        return super().values if self.shape is None or self.order else self.shape

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The density at any points of the domain: the series as drawn, or linear between cells once it is shaped."""
        if self.shape is None or self.order:
            return super().__call__(t)
        return CellDensity(self.grid, self.shape)(t)

    @cached_property
    def cells(self) -> CellDensity:
        """The density on its cells, non-negative: what probabilities, quantiles and samples are taken from.

        After rounds of counts it is that of the points themselves, as far as the counts tell how they stray from
        the smooth density.
        """
        schedule = self.plan.schedule
        if FITTED in self.steps and isinstance(schedule, Counting):
            return CellDensity(self.grid, schedule.of_the_points(self.drawn))
        values = super().values if self.shape is None else self.shape
        return CellDensity(self.grid, projected(values, self.grid.weights))

    # -- after the noise ------------------------------------------------------------------

    def unprocessed(self) -> Self:
        """The raw release: every number as it was drawn. It integrates to one and may be negative somewhere."""
        return replace(self, coefficients=self.raw, shape=None, steps=())

    def project(self) -> Self:
        """The nearest density in L2 to this release; it is nowhere negative."""
        if {PROJECTED, FITTED} & set(self.steps):
            return self
        shape = codec.frozen_array(projected(super().values, self.grid.weights))
        return replace(self, shape=shape, steps=(*self.steps, PROJECTED))

    def fitted(self, density: np.ndarray) -> Self:
        """The density on the cells that was fitted to what all rounds drew; `raw` is the last round's histogram.

        Parameters
        ----------
        density : array
            One value for each cell.
        """
        shape, coefficients = codec.frozen_array(density), codec.frozen_array(self.plan.basis.coefficients(density))
        return replace(self, shape=shape, coefficients=coefficients, steps=(FITTED,))

    def shrink(self, method: str = "bayes") -> Self:
        plain = super().shrink(method)
        return replace(self.unprocessed(), coefficients=plain.coefficients, steps=plain.steps)

    # -- probabilities --------------------------------------------------------------------

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """Probability of a value (in every coordinate) at most `x`.

        Parameters
        ----------
        x : float or array
            Values; with several coordinates, a row for each point.
        """
        return self.cells.cdf(x)

    def quantile(self, p: ArrayLike) -> np.ndarray:
        """The value below which a share `p` lies; one dimension only.

        Parameters
        ----------
        p : float or array
            Shares from 0 to 1.
        """
        return self.cells.quantile(p)

    def sample(self, size: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Synthetic points from the released density; any number of them costs no privacy.

        Parameters
        ----------
        size : int
            How many points.
        rng : numpy.random.Generator or int, optional
            Where the numbers come from, or a seed. Default: a fresh generator.
        """
        return self.cells.sample(size, rng)

    def marginal(self, *axes: int) -> CellDensity:
        """The density of some coordinates alone.

        Parameters
        ----------
        *axes : int
            The numbers of the coordinates that stay, from 0.
        """
        return self.cells.marginal(*axes)

    # -- bands ----------------------------------------------------------------------------

    @cached_property
    def _counts(self) -> NoisyCounts | None:
        """The noisy counts that bands are made of, where the method draws such."""
        schedule = self.plan.schedule
        return schedule.noisy_counts(self.drawn) if isinstance(schedule, Counting) else None

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the density of the population, where noisy counts in bins were drawn (`Histogram`).

        It rests on an assumption: the density strays from the line between averages of adjacent bins by no more than
        twice what nearby averages stray from such lines themselves, and has no features narrower than the bins and
        1/32 of the domain (derivations: bands of densities). :meth:`cdf_band` rests on none of this.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        counts, (points, atoms, shown) = self._counted(), self._at(t)
        lower, upper = averages.limits(counts, level, points, atoms)
        covers = "density of the population"
        return Band(points, np.minimum(lower, shown), np.maximum(upper, shown), level, covers)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the histogram of the points themselves, in the bins of the last round of counts.

        Points have no density of their own; what is covered is their share in each bin over its length. Nothing is
        assumed.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        counts, (points, atoms, shown) = self._counted(), self._at(t)
        lower, upper = counts.histogram(level, atoms)
        covers = "histogram of the points"
        return Band(points, np.minimum(lower, shown), np.maximum(upper, shown), level, covers)

    def cdf_band(self, level: float = 0.95, x: ArrayLike | None = None, of: Of = "population") -> Band:
        """Simultaneous band for the distribution function: exact, without smoothness.

        `of` says whose: that of the "population", if the points are an independent sample of it, or of the "points"
        as they were counted, whatever they are. Bins are the finest it can show: within one it is a step.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        x : array, optional
            Values in the domain. Default: the grid.
        of : {"population", "points"}
            Whose distribution it is. Default: "population".
        """
        places = self.grid.points if x is None else np.atleast_1d(np.asarray(x, dtype=float))
        (lower, upper), shown = self._limits(level, of), self.cdf(places)
        (low, high), atoms = self.grid.axes[0].span, self.plan.problem.places(places)
        below = np.where(places < low, 0.0, np.where(places >= high, 1.0, lower[atoms]))
        above = np.where(places < low, 0.0, np.where(places >= high, 1.0, upper[atoms + 1]))
        covers = f"distribution function of the {of}"
        return Band(places, np.minimum(below, shown), np.maximum(above, shown), level, covers)

    def quantile_band(self, p: ArrayLike, level: float = 0.95, of: Of = "population") -> Band:
        """Intervals for quantiles, valid for all shares `p` at once: :meth:`cdf_band` read the other way.

        A quantile is the smallest value up to which a share of at least `p` lies. The band's `t` are the shares.

        Parameters
        ----------
        p : float or array
            Shares from 0 to 1.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        of : {"population", "points"}
            Whose quantiles they are. Default: "population".
        """
        shares = np.atleast_1d(check_shares(p))
        lower, upper = self._limits(level, of)
        edges, shown = self.plan.problem.atom_edges, self.cells.quantile(shares)
        first = np.searchsorted(upper[1:], shares, side="left")  # the first atom up to whose end there may be enough
        enough = np.searchsorted(lower, shares, side="left")  # the first edge below which there surely is
        covers = f"quantiles of the {of}"
        return Band(shares, np.minimum(edges[first], shown), np.maximum(edges[enough], shown), level, covers)

    @property
    def has_bands(self) -> bool:
        """Whether bands cover more than the noise: where noisy counts in bins were drawn."""
        return not self.order and self._counts is not None

    @property
    def data_have_one(self) -> bool:
        """Points have no density of their own."""
        return False

    @cached_property
    def terms(self) -> Terms:
        """The parts of the band of the population's density, from the last round of counts."""
        return averages.terms(self._counted(), *self._at(None), self.grid.weights)

    @property
    def band_promise(self) -> str:
        """What the band that is shown promises, and under which assumption."""
        if not self.has_bands:
            return (
                "The band shown covers the noise only: neither what the method leaves out or smooths away, nor how the "
                "points differ from the population they are a sample of."
            )
        return (
            "The band shown holds the density of the population everywhere at once, if within a bin of the counts the "
            "density bends no more than the averages of bins around it do; features narrower than "
            f"1/{1 / FINEST:g} of the domain are covered only as far as the bins show them. Bands of the distribution "
            "function and of quantiles need no such assumption: only that the points are an independent sample of the "
            "population."
        )

    def _limits(self, level: float, of: str) -> tuple[np.ndarray, np.ndarray]:
        check_choice("of", of, ("population", "points"))
        return self._counted().distribution(level, of == "population")

    def _counted(self) -> NoisyCounts:
        if self.order or self._counts is None:
            raise self._no_band()
        return self._counts

    def _no_band(self) -> ParameterError:
        if self.order:
            return super()._no_band()
        cure = "Use noise_band(), or release a density on a line with method=dp.methods.Histogram()."
        return ParameterError("no band covers more than the noise here", self.title, cure)

    def _at(self, t: ArrayLike | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points, the atoms they are in, and the published density there: bands are widened to hold it."""
        points = self.grid.points if t is None else as_points(t, self.grid)
        return points, self.plan.problem.places(points), self.values if t is None else self(points)

    # -- pictures and files ---------------------------------------------------------------

    def _draw(self, ax: plots.Places, level: float, kind: str, look: plots.Look) -> plots.Axes:
        ax = super()._draw(ax, level, kind, look)
        if self.dimension == 1 and not self.order:
            plots.from_zero(ax)
        return ax

    def _draw_surface(self, ax: plots.Places, kind: str, look: plots.Look) -> plots.Axes:
        """Of three coordinates, each pair of them."""
        if self.dimension == 2:
            return super()._draw_surface(ax, kind, look)
        pairs = [(0, 1), (0, 2), (1, 2)]
        return maps.panels([self.marginal(*pair) for pair in pairs], ax, look, self._heading, label="density")

    @property
    def measure(self) -> Measure:
        return Measure("slope of the density" if self.order else "density")
