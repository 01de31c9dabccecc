"""A released density: what a release can do, and what a density can."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.results import plots
from dpfda.results.base import Release
from dpfda.results.projection import CellDensity, projected

if TYPE_CHECKING:
    from dpfda.plans.density import DensityPlan

#: The steps that make a release non-negative: the nearest density, or a smooth one fitted to noisy counts.
PROJECTED, FITTED = "projection onto densities", "a smooth density fitted to all noisy counts"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DensityRelease(Release):
    """A density under differential privacy: integrates to one and, unless taken raw, is nowhere negative.

    `raw` holds the noisy coefficients as they were drawn; :meth:`unprocessed` is the density they make.

    Parameters
    ----------
    plan : DensityPlan
        The plan that was carried out.
    shape : array, optional
        The density on the cells, once it was projected.
    coefficients, raw, query, created, study, entry, seal, steps, order, drawn
        As for :class:`Release`.

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
        if FITTED in self.steps:
            return CellDensity(self.grid, self.plan.of_the_points(self.drawn))
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
        """The density on the cells that was fitted to what all rounds drew; `raw` is the last round's histogram."""
        shape, coefficients = codec.frozen_array(density), codec.frozen_array(self.plan.basis.coefficients(density))
        return replace(self, shape=shape, coefficients=coefficients, steps=(FITTED,))

    def shrink(self, method: str = "bayes") -> Self:
        plain = super().shrink(method)
        return replace(self.unprocessed(), coefficients=plain.coefficients, steps=plain.steps)

    # -- probabilities --------------------------------------------------------------------

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """Probability of a value (in every coordinate) at most `x`."""
        return self.cells.cdf(x)

    def quantile(self, p: ArrayLike) -> np.ndarray:
        """The value below which a share `p` lies; one dimension only."""
        return self.cells.quantile(p)

    def sample(self, size: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Synthetic points from the released density; any number of them costs no privacy."""
        return self.cells.sample(size, rng)

    def marginal(self, *axes: int) -> CellDensity:
        """The density of some coordinates alone."""
        return self.cells.marginal(*axes)

    # -- pictures and files ---------------------------------------------------------------

    def plot(self, ax: plots.Axes | None = None, level: float = 0.95, kind: str = "map") -> plots.Axes:
        """A curve with its noise band; a heat map or (`kind` "surface") a surface; pairs of coordinates in three."""
        ax = super().plot(ax, level, kind)
        if self.dimension == 1:
            ax.set_ylabel("slope of the density" if self.order else "density")
            if not self.order:
                ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        return ax

    def _plot_surface(self, ax: plots.Axes | None, title: str, kind: str) -> plots.Axes:
        if self.dimension == 2:
            return super()._plot_surface(ax, title, kind)
        pairs = [(0, 1), (0, 2), (1, 2)]
        return plots.panels([self.marginal(*pair) for pair in pairs], title)
