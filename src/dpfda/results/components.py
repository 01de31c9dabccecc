"""A released curve with several components: one function each, under one guarantee and one simultaneous band."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.results import plots
from dpfda.results.bands import Band
from dpfda.results.columns import axis_names
from dpfda.results.mean import MeanRelease
from dpfda.results.wording import price
from dpfda.spaces.components import ComponentGrid
from dpfda.spaces.points import interpolated


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComponentRelease(MeanRelease):
    """A released curve with several components, by name: ``release["x"]``.

    Called with times it gives one row per component; with rows ``(number, t)`` a number each. Bands are
    simultaneous over all components.

    Parameters
    ----------
    plan : MeanPlan
        The plan that was carried out.
    coefficients, raw : array
        Coefficients of the release in the plan's basis: as published, and as drawn.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> t = np.linspace(0, 1, 30)
    >>> paths = np.random.default_rng(0).normal(1, 0.1, (500, 1, 1)) * np.array([np.cos(t), np.sin(t)])
    >>> grid = dp.spaces.ComponentGrid(("x", "y"), dp.Grid(t))
    >>> release = dp.mean(paths, epsilon=1.0, bound=dp.L2Ball(2.0), grid=grid)
    >>> release.values.shape, release([0.2, 0.4, 0.6]).shape, release["y"].shape
    ((2, 30), (2, 3), (30,))
    """

    @property
    def dimension(self) -> int:
        """That of the domain, a line."""
        return 1

    @property
    def _grid(self) -> ComponentGrid:
        return cast(ComponentGrid, self.plan.grid)

    @property
    def names(self) -> tuple[str, ...]:
        """The components."""
        return self._grid.names

    @property
    def lines(self) -> dict[str, np.ndarray]:
        """One curve per component, by name."""
        return dict(zip(self.names, self.values, strict=True))

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """Values (or derivatives) at times `t`, one row per component; at a single time, one number per component."""
        values = super().__call__(self._grid.rows(t))
        if np.ndim(t) == 2:
            return values
        apart: np.ndarray = self._grid.apart(values)
        return apart if np.ndim(t) else apart[:, 0]

    def component(self, name: str | int, t: ArrayLike | None = None) -> np.ndarray:
        """One component, by name or number from 0: on the points of the line, or at times `t`.

        Parameters
        ----------
        name : str or int
            The name of a component, or its number from 0.
        t : array, optional
            Times along the line. Default: its points.
        """
        values = self.values if t is None else self(t)
        return np.asarray(values[self._grid.number(name)])

    def __getitem__(self, name: str | int) -> np.ndarray:
        return self.component(name)

    def __iter__(self) -> Iterator[np.ndarray]:
        """The components in order, as values on the points of the line."""
        return iter(self.values)

    def _offset(self, t: ArrayLike) -> np.ndarray:
        offset, points = self.plan.problem.offset, self.plan.basis.points(t)
        if not offset.any():
            return np.zeros(len(points))
        apart = self._grid.apart(offset)
        if self.order:
            apart = np.gradient(apart, self._grid.line.points, axis=-1)
        return interpolated(self.grid, apart, points)

    def noise_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """What the noise alone can do, over all components at once; one row for each.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Times along the line, or a row ``(number, t)`` for each point. Default: the grid.
        """
        return self._apart(super().noise_band(level, None if t is None else self._grid.rows(t)), t)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the mean of the curves, over all components at once; one row for each.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Times along the line, or a row ``(number, t)`` for each point. Default: the grid.
        """
        return self._apart(super().band(level, None if t is None else self._grid.rows(t)), t)

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the mean of the population, over all components at once; one row for each.

        How much curves vary is told apart by component.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Times along the line, or a row ``(number, t)`` for each point. Default: the grid.
        """
        return self._apart(super().confidence_band(level, None if t is None else self._grid.rows(t)), t)

    def _apart(self, band: Band, t: ArrayLike | None) -> Band:
        if t is not None and np.ndim(t) == 2:
            return band
        line = self._grid.line
        lower, upper = (self._grid.apart(side.ravel()) for side in band)
        points = line.points if t is None else np.atleast_1d(np.asarray(t, dtype=float))
        return Band(points, lower, upper, band.level, band.covers)

    # -- pictures and files -----------------------------------------------------------------------

    def _draw(self, ax: plots.Places, level: float, kind: str, look: plots.Look) -> plots.Axes:
        """All components with their parts of the band, on the same axes."""
        t = plots.fine(self._grid.line)
        words = (self.names, ax, look, self._heading, str(self.measure))
        return plots.caution(plots.together(self._grid.line, self(t), self.shown_band(level, t), *words), self.cautions)

    @property
    def _heading(self) -> str:
        short = self._titled(self.plan.wording.noun) if self.plan.of is None else self.title
        return f"{short[:1].upper()}{short[1:]}, {price(self.plan)}"

    def _columns(self, level: float) -> dict[str, np.ndarray]:
        band, line = self.shown_band(level), self._grid.line
        return {
            "component": np.repeat(self.names, line.size),
            axis_names(line)[0]: np.tile(line.points, len(self.names)),
            "value": self.values.ravel(),
            "lower": band.lower.ravel(),
            "upper": band.upper.ravel(),
        }

    def to_fdatagrid(self) -> Any:
        """The curve as a scikit-fda FDataGrid with as many coordinates."""
        import skfda

        line = self._grid.line
        return skfda.FDataGrid(
            self.values.T[None],
            line.points,
            domain_range=[line.span],
            argument_names=[line.name],
            coordinate_names=self.names,
            sample_names=[self.query],
        )
