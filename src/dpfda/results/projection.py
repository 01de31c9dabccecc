"""A density on the cells of a box, and what may be read off it: public numbers in, public numbers out.

The density is constant on each cell for probabilities (`cdf`, `quantile`, `sample`) and linear
between cell centres when it is evaluated or plotted; both integrate to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError, shown
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.points import as_points, interpolated, like


def projected(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest density in L2: non-negative, integral one (equal weights: one level is taken off and cut at zero)."""
    flat, cell = values.ravel(), float(weights.flat[0])
    order = np.sort(flat)[::-1]
    # With the k largest values alive the level is (sum of them - 1/cell) / k; it must lie below the k-th.
    levels = (np.cumsum(order) - 1 / cell) / np.arange(1, flat.size + 1)
    alive = int(np.flatnonzero(order > levels)[-1])
    lifted = np.maximum(flat - levels[alive], 0.0)
    found: np.ndarray = (lifted / (lifted.sum() * cell)).reshape(values.shape)
    return found


def check_shares(p: ArrayLike) -> np.ndarray:
    """Shares of which quantiles are asked for: numbers from 0 to 1."""
    shares = np.asarray(p, dtype=float)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ParameterError("a quantile needs shares between 0 and 1", shown(p), "Pass 0.5 for the median.")
    return shares


@dataclass(frozen=True, eq=False)
class CellDensity:
    """Non-negative values on equal cells, with integral one.

    >>> density = CellDensity(Grid.midpoints(0, 2, 4), np.array([0.0, 1.0, 1.0, 0.0]))
    >>> density.cdf([0.5, 1.0, 2.0]).tolist(), float(density.quantile(0.5))
    ([0.0, 0.5, 1.0], 1.0)
    """

    grid: AnyGrid
    values: np.ndarray

    @property
    def dimension(self) -> int:
        return len(self.grid.axes)

    @cached_property
    def masses(self) -> np.ndarray:
        """Probability of each cell, in the grid's shape."""
        masses = (self.values.ravel() * self.grid.weights).reshape(self.grid.shape)
        values: np.ndarray = masses / masses.sum()
        return values

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The density at any points, linear between cell centres; a number at a number."""
        return like(t, interpolated(self.grid, self.values, as_points(t, self.grid)), self.grid)

    @cached_property
    def _cumulated(self) -> np.ndarray:
        """Probability below every corner of the cells, in a shape one larger along each axis."""
        below = np.pad(self.masses, [(1, 0)] * self.dimension)
        for a in range(self.dimension):
            below = below.cumsum(axis=a)
        below = np.asarray(np.minimum(below, 1.0))
        below.flat[-1] = 1.0  # sums of a whole may end one bit away from it
        return below

    @cached_property
    def _corners(self) -> AnyGrid:
        axes = [
            Grid(np.linspace(*axis.span, axis.size + 1), "equal", axis.name, axis.unit)  # type: ignore[arg-type]
            for axis in self.grid.axes
        ]
        return axes[0] if len(axes) == 1 else Grid.product(*axes)

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """Probability of a value (in every coordinate) at most `x`; 0 and 1 beyond the domain."""
        lows, highs = np.array([axis.span for axis in self.grid.axes]).T
        held = np.clip(np.asarray(x, dtype=float), *((lows, highs) if self.dimension > 1 else (lows[0], highs[0])))
        values = interpolated(self._corners, self._cumulated, as_points(held, self.grid))
        return like(x, np.clip(values, 0.0, 1.0), self.grid)

    def quantile(self, p: ArrayLike) -> np.ndarray:
        """The smallest value below which a share `p` lies. One dimension only."""
        if self.dimension > 1:
            raise ParameterError(
                "quantiles are for one dimension", f"{self.dimension}", "Take marginal(0).quantile(p), say."
            )
        shares = check_shares(p)
        below, corners = self._cumulated, self._corners.points
        cell = np.clip(np.searchsorted(below, shares, side="left") - 1, 0, self.grid.size - 1)
        mass = np.maximum(self.masses[cell], 1e-300)
        values: np.ndarray = corners[cell] + np.clip((shares - below[cell]) / mass, 0.0, 1.0) * (
            corners[1] - corners[0]
        )
        return values

    def sample(self, size: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """`size` synthetic points from the density: a vector, or one row per point. No privacy is spent."""
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise ParameterError("size must be a whole number", shown(size), "Pass size=1000.")
        rng = np.random.default_rng(rng)
        cells = rng.choice(self.grid.size, size=size, p=self.masses.ravel())
        within = rng.random((size, self.dimension))
        columns = [
            axis.span[0] + (place + within[:, a]) * (axis.length / axis.size)
            for a, (axis, place) in enumerate(
                zip(self.grid.axes, np.unravel_index(cells, self.grid.shape), strict=True)
            )
        ]
        return columns[0] if self.dimension == 1 else np.stack(columns, axis=-1)

    def marginal(self, *axes: int) -> CellDensity:
        """The density of some coordinates alone, the others summed out."""
        if not axes or len(set(axes)) < len(axes) or not all(a in range(self.dimension) for a in axes):
            raise ParameterError(
                f"axes must be different numbers from 0 to {self.dimension - 1}", shown(axes), "Pass marginal(0)."
            )
        others = tuple(a for a in range(self.dimension) if a not in axes)
        kept = sorted(axes)
        masses = np.moveaxis(self.masses.sum(axis=others), range(len(kept)), [list(axes).index(a) for a in kept])
        lines = [self.grid.axes[a] for a in axes]
        grid = lines[0] if len(lines) == 1 else Grid.product(*lines)
        return CellDensity(grid, masses / grid.weights.reshape(grid.shape))
