"""Released percentile curves: one for each level, which never cross, and all that lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError, shown
from dpfda.results import plots, profiles
from dpfda.results.bands import Band
from dpfda.results.base import Release
from dpfda.results.columns import axis_names
from dpfda.results.measures import Measure
from dpfda.results.percentile_table import PercentileTable
from dpfda.results.wording import price
from dpfda.spaces.grid import Grid
from dpfda.spaces.points import as_points

if TYPE_CHECKING:
    from xarray import DataArray

    from dpfda.plans.percentiles import PercentilePlan

#: What is done after the noise.
FITTED = "percentile curves fitted to all noisy numbers"
COVERS = "percentiles of the population"


def percent_name(level: float) -> str:
    """A level in percent.

    >>> percent_name(0.05), percent_name(0.975)
    ('5 %', '97.5 %')
    """
    return f"{round(100 * level, 8):g} %"


def percent_words(levels: Sequence[float]) -> str:
    """Levels in percent, in words; many of them by their ends.

    >>> percent_words((0.05, 0.5, 0.95)), percent_words((0.5,))
    ('5, 50 and 95 %', '50 %')
    """
    names = [f"{round(100 * level, 8):g}" for level in levels]
    if len(names) > 9:
        return f"{len(names)} levels from {names[0]} to {names[-1]} %"
    return f"{', '.join(names[:-1])} and {names[-1]} %" if len(names) > 1 else f"{names[0]} %"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PercentileRelease(Release):
    """Percentile curves under differential privacy: what :func:`dpfda.percentiles` returns.

    All percentiles are released; the plan's `levels` are those that tables and pictures show. At any time they rise
    with the level, and they stay inside the public range.

    Parameters
    ----------
    plan : PercentilePlan
        The plan that was carried out.
    coefficients : array
        The published table: percentiles by level and time, how sure those of the plan are, and factors of bands.
    raw : array
        What the last stage drew.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> days = dp.datasets.glucose(2000, np.random.default_rng(0))
    >>> release = dp.percentiles(days.curves, epsilon=1.0, range=(40, 400), grid=days.grid)
    >>> release.values.shape, release.curve(0.95).shape
    ((5, 48), (48,))
    >>> bool(release(0.9, 13.5) > release(0.5, 13.5)), bool(0.8 < release.cdf(13.5, release(0.9, 13.5)) < 1)
    (True, True)
    >>> lower, upper = release.band(0.95)
    >>> bool((lower <= release.values).all() and (release.values <= upper).all())
    True
    """

    plan: PercentilePlan
    query: str = "percentiles"

    @cached_property
    def table(self) -> PercentileTable:
        """The published numbers."""
        plan = self.plan
        return PercentileTable.of(self.coefficients, plan.levels, plan.range.low, plan.range.high, plan.grid.size)

    @property
    def grid(self) -> Grid:
        """The times of the percentile curves."""
        return self.plan.grid

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels that are shown, as shares."""
        return self.plan.levels

    @property
    def names(self) -> tuple[str, ...]:
        """The same in percent."""
        return tuple(percent_name(level) for level in self.levels)

    @property
    def is_whole(self) -> bool:
        return self.table.is_whole and len(self.drawn) > 0 and np.array_equal(self.raw, self.drawn[-1])

    # -- curves -----------------------------------------------------------------------------------

    @property
    def values(self) -> np.ndarray:
        """The percentile curves of the plan's levels on the grid, one row each."""
        return self.table.values

    @property
    def lines(self) -> dict[str, np.ndarray]:
        """One curve per level, by its name in percent."""
        return dict(zip(self.names, self.values, strict=True))

    def __call__(self, *at: ArrayLike, **named: ArrayLike) -> np.ndarray:
        """The percentile of a level at times: ``release(0.9, t)`` is :meth:`percentile`."""
        return self.percentile(*at, **named)

    def percentile(self, level: ArrayLike, t: ArrayLike | None = None) -> np.ndarray:
        """The percentile of any level at any times: linear between levels of the table, and between grid points.

        Parameters
        ----------
        level : float or array
            Shares strictly between 0 and 1.
        t : float or array, optional
            Times in the domain. Default: the grid.

        Returns
        -------
        float or array
            One row per level where there are several.
        """
        rows = self.table.at(_shares(level))
        if t is not None:
            points = as_points(t, self.grid)
            rows = np.array([np.interp(points, self.grid.points, row) for row in rows])
            rows = rows if np.ndim(t) else rows[:, 0]
        found: np.ndarray = rows if np.ndim(level) else rows[0]
        return found

    def curve(self, level: float) -> np.ndarray:
        """The percentile curve of a level, 0.95 say, on the grid.

        Parameters
        ----------
        level : float
            A share strictly between 0 and 1.
        """
        if np.ndim(level):
            raise ParameterError("a curve has one level", shown(level), "Call the release with several of them.")
        return self.percentile(level)

    def cdf(self, t: ArrayLike, y: ArrayLike) -> np.ndarray:
        """The share of records with values up to `y` at times `t`: what level `y` is the percentile of.

        Parameters
        ----------
        t, y : float or array
            Times in the domain and values, one for each other as numpy takes them together.

        Returns
        -------
        float or array
            Shares from 0 to 1.
        """
        times, values = np.broadcast_arrays(np.asarray(t, dtype=float), np.asarray(y, dtype=float))
        if np.isnan(values).any():
            raise ParameterError("values must be numbers", "some that are not", "Drop them.")
        points = as_points(times.ravel(), self.grid)
        curves = np.array([np.interp(points, self.grid.points, row) for row in self.table.whole_quantiles])
        return self.table.shares_below(curves, values.ravel()).reshape(times.shape)[()]

    def derivative(self) -> NoReturn:
        """Percentile curves have no derivative here."""
        raise ParameterError(
            "only the first derivative of a curve is released", "percentiles", "Difference them on the grid."
        )

    def shrink(self, method: str = "bayes") -> NoReturn:
        """Refused: percentile curves are fitted already, which shrinks them.

        Parameters
        ----------
        method : str
            Of no use here.
        """
        raise ParameterError("percentiles are fitted, which shrinks them", "shrink()", "Leave it out.")

    # -- bands ------------------------------------------------------------------------------------

    @property
    def has_bands(self) -> bool:
        return True

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the percentiles of the population that the records are a sample of.

        With probability `level` they lie inside, for all levels of the plan and at all points of the grid at once. It
        has one row per level.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        lower, upper = self.table.limits(level)
        if t is None:
            return Band(self.grid.points, lower, upper, level, COVERS)
        points = as_points(t, self.grid)
        below, above = (np.array([np.interp(points, self.grid.points, row) for row in side]) for side in (lower, upper))
        return Band(points, below, above, level, COVERS)

    def band_of_difference(self, other: PercentileRelease, level: float, covers: str) -> Band:
        """The band of what this has more than another, independent release: errors of both add up as squares do.

        Parameters
        ----------
        other : PercentileRelease
            An independent release of the same levels and times.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        covers : str
            What the band is for, in words.
        """
        (lower, upper), (lower_2, upper_2) = self.table.limits(level), other.table.limits(level)
        between, values, values_2 = self.values - other.values, self.values, other.values
        below, above = np.hypot(values - lower, upper_2 - values_2), np.hypot(upper - values, values_2 - lower_2)
        return Band(self.grid.points, between - below, between + above, level, covers)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """The same: one band is made for percentiles, that of the population.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self.confidence_band(level, t)

    def noise_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Refused: percentiles are fitted to noisy numbers, and have a band for all that can be off.

        Parameters
        ----------
        level : float
            Of no use here.
        t : array, optional
            Of no use here.
        """
        raise ParameterError("percentiles are fitted to noisy numbers", "a band of the noise alone", "Use band().")

    @property
    def data_have_one(self) -> bool:
        return False

    @property
    def band_promise(self) -> str:
        """What the shown band promises, and under which assumption."""
        return (
            "The band holds the percentile curves of the population, for all levels shown and all points of the grid "
            "at once, with the probability that it states. It adds the noise, how far a sample strays from its "
            "population, and what the fit smooths away, as far as the released numbers tell: percentile curves are "
            "assumed to be about as smooth in time as these say, and jumps and sharp edges beyond that can be missed. "
            f"{self._lattice_words}"
        )

    @property
    def _lattice_words(self) -> str:
        """What the band says of values that many records share."""
        if self.plan.design.pooled:
            return (
                "Values that many records share are looked for; narrow gaps between two kinds of curves may be missed."
            )
        return "Values that many records share exactly (rounded ones) and narrow gaps between values are not covered."

    # -- words, pictures and files ----------------------------------------------------------------

    @property
    def title(self) -> str:
        named = "" if self.query == "percentiles" else f" ({self.query})"
        return f"set of percentile curves{named}"

    @property
    def _heading(self) -> str:
        named = "Percentile curves" if self.query == "percentiles" else self.query
        return f"{named[:1].upper()}{named[1:]}, {price(self.plan)}"

    @property
    def measure(self) -> Measure:
        return self._measured("value")

    def _draw(self, ax: plots.Places, level: float, kind: str, look: plots.Look) -> plots.Axes:
        """The manner of a glucose profile: the median, and between what percentiles lie about it shaded."""
        words = (self._heading, str(self.measure), self.within)
        band = self.shown_band(level)
        return plots.caution(
            profiles.profile(self.grid, self.levels, self.values, band, ax, look, *words), self.cautions
        )

    @property
    def within(self) -> tuple[float, float]:
        """Values are public in this range: no picture shows others."""
        return self.plan.range.low, self.plan.range.high

    def draw_difference(
        self, values: np.ndarray, band: Band, ax: plots.Places, look: plots.Look, title: str, ylabel: str
    ) -> plots.Axes:
        """A difference of two such releases: one picture per level, or all in the axes that are given.

        Parameters
        ----------
        values : array
            The difference, one row for each level.
        band : Band
            Its band.
        ax : matplotlib Axes, optional
            Where it is drawn. None: a new figure.
        look : Look
            Labels and colours.
        title, ylabel : str
            What stands above the picture and beside it.
        """
        if ax is None and len(self.names) > 1:
            return plots.curves(self.grid, values, band, self.names, None, look, title, [ylabel] * len(self.names))
        return plots.zero(plots.together(self.grid, values, band, self.names, ax, look, title, ylabel))

    def _columns(self, level: float) -> dict[str, np.ndarray]:
        band = self.shown_band(level)
        return {
            "percentile": np.repeat(np.round(100 * np.array(self.levels), 8), self.grid.size),
            axis_names(self.grid)[0]: np.tile(self.grid.points, len(self.levels)),
            "value": self.values.ravel(),
            "lower": band.lower.ravel(),
            "upper": band.upper.ravel(),
        }

    def to_xarray(self) -> DataArray:
        """The curves as an xarray DataArray, with levels and the grid as its coordinates."""
        import xarray

        name = axis_names(self.grid)[0]
        named = {} if self.plan.value is None else self.measure.attributes
        facts = {"epsilon": float(self.plan.epsilon), "plan": self.plan.digest, "created": self.created, **named}
        along = (name, self.grid.points, {"units": self.grid.unit} if self.grid.unit else {})
        coordinates = {"level": list(self.levels), name: along}
        return xarray.DataArray(self.values, coordinates, ["level", name], self.query, facts)

    def to_fdatagrid(self) -> object:
        """The curves as a scikit-fda FDataGrid, one sample per level."""
        import skfda

        return skfda.FDataGrid(
            self.values,
            self.grid.points,
            domain_range=[self.grid.span],
            argument_names=[self.grid.name],
            sample_names=self.names,
        )


def _shares(level: ArrayLike) -> np.ndarray:
    """Levels as a vector, each strictly between 0 and 1."""
    try:
        found = np.atleast_1d(np.asarray(level, dtype=float))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if found.ndim != 1 or not ((found > 0) & (found < 1)).all():
        raise ParameterError(
            "a level is a share strictly between 0 and 1", shown(level), "Pass 0.95 for the 95th percentile."
        )
    return found
