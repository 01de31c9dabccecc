"""How a release draws itself: as a curve with its band, or as a surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.results import maps, plots
from dpfda.results.bands import Band
from dpfda.results.measures import Measure
from dpfda.results.wording import price
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from dpfda.plans.base import Plan
    from dpfda.results.looks import Colors, Labels


class Drawn:
    """What a release can draw. Kinds of releases say what is drawn otherwise, and what their numbers are."""

    plan: Plan[Any]
    query: str
    order: int
    if TYPE_CHECKING:  # what every release has

        @property
        def title(self) -> str: ...
        @property
        def dimension(self) -> int: ...
        @property
        def grid(self) -> AnyGrid: ...
        @property
        def values(self) -> np.ndarray: ...
        @property
        def cautions(self) -> tuple[str, ...]: ...
        def __call__(self, t: ArrayLike) -> np.ndarray: ...
        def shown_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band: ...

    def plot(
        self,
        ax: plots.Places = None,
        level: float = 0.95,
        kind: str = "map",
        *,
        label: Labels | None = None,
        color: Colors | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> plots.Axes:
        """A picture on matplotlib axes: a curve with its band; a surface as a heat map or in space.

        Letters, ticks and the legend fit the size of the axes, also in figures of your own. Drawn into the same `ax`,
        several releases have colours of their own and one legend. Pictures side by side (coefficient functions, a
        density of three coordinates) take as many axes, and return the first.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure of 7.2 x 4.2 inches, which saves its fonts in PDF as TrueType.
        level : float, optional
            The probability of the band.
        kind : {"map", "surface"}, optional
            How a surface is shown.
        label : str, optional
            The name of the line in the legend, or the words beside the colours of a map. Several lines take a mapping
            from their names, or a sequence.
        color : colour of matplotlib, optional
            Of the line and its band; several lines take a mapping from their names, or a sequence. Of a map: a colour
            map, such as "viridis".
        xlabel, ylabel : str, optional
            Words on the axes. Default: the axes of the grid, and the `value` of the plan.
        title : str, optional
            The title; "" leaves it out. Default: what this is, and epsilon.
        legend : bool, optional
            Whether there is a legend, or beside a map a bar of its colours.

        Returns
        -------
        matplotlib Axes
            To be changed as any other; ``release.plot().figure.savefig("mean.pdf")`` writes it.
        """
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        return plots.fit(self._draw(ax, level, kind, look))

    def _draw(self, ax: plots.Places, level: float, kind: str, look: plots.Look) -> plots.Axes:
        if self.dimension > 1:
            return self._draw_surface(ax, kind, look)
        t = plots.fine(self.grid)
        look = look.along(self.along)
        band, words = self.shown_band(level, t), (self._heading, self._line_name, str(self.measure))
        ax = plots.curve(self.grid, self(t), band, ax, look, *words)
        if self.within is not None:
            plots.within(ax, self.within)
        return plots.caution(ax, self.cautions)

    def _draw_surface(self, ax: plots.Places, kind: str, look: plots.Look) -> plots.Axes:
        if self.dimension > 2:
            raise ParameterError("pictures have at most two dimensions", f"{self.dimension}", "Plot a part of it.")
        words = (self._heading, kind)
        ax = maps.surface(self.grid, self.values, ax, look, *words, self.is_signed, None, *self.map_words)
        return plots.caution(ax, self.cautions)

    @property
    def _heading(self) -> str:
        """What this is, and its budget, for titles."""
        return f"{self.title[:1].upper()}{self.title[1:]}, {price(self.plan)}"

    @property
    def _line_name(self) -> str:
        return "slope" if self.order else self.query

    @property
    def along(self) -> str | None:
        """What stands along the curve, where it is not the name of the grid."""
        return None

    @property
    def within(self) -> tuple[float, float] | None:
        """What values can be at all, where that is narrower than what a picture might show."""
        return None

    @property
    def is_signed(self) -> bool:
        """Whether zero is the middle of the colours of a map."""
        return False

    @property
    def map_words(self) -> tuple[str, bool]:
        """What stands beside the colours of a map, and whether it is a square."""
        return str(self.measure), False

    @property
    def measure(self) -> Measure:
        """What the numbers are, and their unit."""
        found = self._measured(self.query)
        return found.slope(self.grid.axes[-1].unit) if self.order else found

    def _measured(self, otherwise: str) -> Measure:
        """What the user calls values, or else this."""
        if self.plan.value is None:
            return Measure(otherwise)
        found = Measure.of(self.plan.value)
        return Measure(f"{found.name}, standardised") if getattr(self.plan, "standardize", False) else found
