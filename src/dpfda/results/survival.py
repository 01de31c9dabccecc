"""A released survival curve: with it the cumulative hazard, the incidence, mean and median times, numbers at risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.core.errors import ParameterError, shown
from dpfda.results import plots
from dpfda.results.bands import Band
from dpfda.results.base import Release
from dpfda.results.event_cells import NoisyEvents
from dpfda.results.hazard_draws import simulated
from dpfda.results.hazards import Fitting, Hazards
from dpfda.results.measures import Measure
from dpfda.results.projection import check_shares
from dpfda.results.survival_bands import (
    Estimate,
    crossing,
    interval,
    limits,
    limits_between,
    restricted_means,
    unseen_area,
)
from dpfda.results.survival_curves import NAMES, NOBODY, OF, Of, check_picture, turned
from dpfda.results.wording import price
from dpfda.spaces.points import as_points, like

if TYPE_CHECKING:
    from dpfda.plans.survival import SurvivalPlan
    from dpfda.results.looks import Colors, Labels

#: The step that makes a curve of noisy counts.
FITTED = "smooth hazards fitted to all noisy counts"
#: Steps of a picture: more of them look like a smooth curve.
MOST_STEPS = 50


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SurvivalRelease(Release):
    """A survival curve under differential privacy: from one at time 0 on it never rises.

    Call it at times up to the horizon. `raw` is the actuarial estimate of the noisy counts as they were drawn.

    Parameters
    ----------
    plan : SurvivalPlan
        The plan that was carried out.
    coefficients, raw : array
        Survival on the grid: as published, and by the actuarial estimate of the counts as drawn.
    query, created, study, entry, seal, renewal, steps, order, drawn : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> days, ends = rng.exponential(600, 2000), rng.uniform(0, 1500, 2000)
    >>> release = dp.survival(np.minimum(days, ends), days <= ends, epsilon=1.0, horizon=900)
    >>> 0.4 < release(365) < 0.7, 300 < release.median().value < 560
    (np.True_, True)
    """

    plan: SurvivalPlan
    query: str = "survival"

    # -- the curve --------------------------------------------------------------------------

    @property
    def horizon(self) -> float:
        """Up to when the curve is released."""
        return self.plan.horizon

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The probability of no event up to times `t`: a number at a single time."""
        return like(t, self._between(self.values, as_points(t, self.grid)), self.grid)

    def _between(self, values: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Survival between the points of the grid: hazards are constant there."""
        found: np.ndarray = np.exp(np.interp(points, self.grid.points, np.log(np.maximum(values, NOBODY))))
        return found

    def survival(self, t: ArrayLike) -> np.ndarray:
        """The probability of no event up to times `t`, as calling the release.

        Parameters
        ----------
        t : float or array
            Times, from 0 to the horizon.
        """
        return self(t)

    def incidence(self, t: ArrayLike) -> np.ndarray:
        """The probability of an event up to times `t`.

        Parameters
        ----------
        t : float or array
            Times, from 0 to the horizon.
        """
        return 1 - self(t)

    def cumulative_hazard(self, t: ArrayLike) -> np.ndarray:
        """The sum of hazards up to times `t`: minus the logarithm of survival.

        Parameters
        ----------
        t : float or array
            Times, from 0 to the horizon.
        """
        values: np.ndarray = -np.log(np.maximum(self(t), NOBODY))
        return values

    def at_risk(self, t: ArrayLike) -> np.ndarray:
        """About how many records had neither an event nor a censoring before times `t`, by the noisy counts.

        Parameters
        ----------
        t : float or array
            Times, from 0 to the horizon.
        """
        found = np.interp(as_points(t, self.grid), self.times, self._hazards.at_risk)
        return like(t, found, self.grid)

    def rmst(self, tau: float | None = None, level: float = 0.95) -> Estimate:
        """Restricted mean survival time: the mean time up to `tau` (default: the horizon), with an interval.

        Parameters
        ----------
        tau : float, optional
            A time up to the horizon. Default: the horizon.
        level : float
            The probability with which the interval holds. Default: 0.95.
        """
        end = self.horizon if tau is None else tau
        number = isinstance(end, int | float | np.number) and not isinstance(end, bool)
        if not number or not 0 < end <= self.horizon:
            raise ParameterError(
                f"tau is a time up to the horizon, {self.horizon:g}", shown(tau), "Leave it out for the horizon."
            )
        lower, upper = interval(restricted_means(self.draws, self.times, float(end)), level)
        value, more = float(restricted_means(self.values, self.grid.points, float(end))[0]), self.unseen_area
        return Estimate(value, max(min(lower - more, value), 0.0), min(max(upper + more, value), float(end)), level)

    def median(self, level: float = 0.95) -> Estimate:
        """The time by which half have had the event, with an interval; infinite where the horizon comes first.

        Parameters
        ----------
        level : float
            The probability with which the interval holds. Default: 0.95.
        """
        return self.quantile(0.5, level)

    def quantile(self, p: float, level: float = 0.95) -> Estimate:
        """The time by which a share `p` has had the event, with an interval; infinite where the horizon comes first.

        Parameters
        ----------
        p : float
            A share strictly between 0 and 1.
        level : float
            The probability with which the interval holds. Default: 0.95.
        """
        share = float(check_shares(p))
        if not 0 < share < 1:
            raise ParameterError("a share lies strictly between 0 and 1", shown(p), "Pass 0.5 for the median.")
        lower, upper = interval(crossing(self.draws, self.times, 1 - share), level)
        value = float(crossing(self.values, self.grid.points, 1 - share)[0])
        beyond = self.horizon / (self.events.event_edges.size - 1) / 4  # the place within a bin is a guess
        upper = upper + beyond if upper + beyond <= self.horizon else np.inf
        return Estimate(value, min(max(lower - beyond, 0.0), value), max(upper, value), level)

    # -- after the noise --------------------------------------------------------------------

    def fitted(self) -> Self:
        """The curve of smooth hazards that fit the noisy counts; `raw` keeps their actuarial estimate."""
        logs = np.interp(self.grid.points, self.times, np.log(self._hazards.survival))
        values = np.exp(logs)
        return replace(self, coefficients=codec.frozen_array(values), steps=(FITTED,))

    def unprocessed(self) -> Self:
        """The actuarial estimate of the noisy counts as they were drawn."""
        return replace(self, coefficients=self.raw, steps=())

    def shrink(self, method: str = "bayes") -> Self:
        raise ParameterError("a survival curve is fitted, not shrunk", "shrink()", "Use it as it is.")

    def derivative(self) -> Self:
        raise ParameterError(
            "slopes of a survival curve are not released", "derivative()", "Use cumulative_hazard(times)."
        )

    @cached_property
    def _hazards(self) -> Hazards:
        return cast(Fitting, self.plan.schedule).hazards(self.drawn)

    @property
    def events(self) -> NoisyEvents:
        """The noisy counts as they were drawn."""
        return self._hazards.events

    @cached_property
    def draws(self) -> np.ndarray:
        """Simulated survival curves of the population that fit the noisy counts, at :attr:`times`: one row each."""
        return simulated(self._hazards)

    @property
    def unseen_area(self) -> float:
        """How much a mean survival time may be off for where within bins events are, which counts do not tell."""
        return self.horizon * unseen_area(self.events, self.draws, self._hazards.in_lumps)

    @cached_property
    def times(self) -> np.ndarray:
        """Edges of the cells that hazards were fitted in."""
        return np.linspace(0.0, self.horizon, self.events.cells + 1)

    # -- bands ------------------------------------------------------------------------------

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the survival curve of the population that the records are a sample of.

        It is made of simulated curves that fit the noisy counts, by the known noise, sampling, and hazards as rough as
        those of a public class (derivations: survival).

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        points = self.grid.points if t is None else as_points(t, self.grid)
        shown, sides = self._between(self.values, points), limits(self.events, self.draws, level)
        shares = np.clip(points / self.horizon, 0.0, 1.0)
        lower, upper = limits_between(self.events, sides, shares, self._hazards.in_lumps)
        covers = "survival of the population"
        return Band(points, np.minimum(lower, shown), np.maximum(upper, shown), level, covers)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """The same band: the curve of the records themselves strays less from what noise lets see.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self.confidence_band(level, t)

    def incidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """The same for the cumulative incidence of the population.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return turned(self.confidence_band(level, t), "incidence")

    def hazard_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """The same for the cumulative hazard of the population.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return turned(self.confidence_band(level, t), "hazard")

    def noise_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """What the noise alone can do to the actuarial estimate: see :meth:`Release.noise_band`.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        band = super().noise_band(level, t)
        return replace(band, lower=np.maximum(band.lower, 0.0), upper=np.minimum(band.upper, 1.0))

    @property
    def has_bands(self) -> bool:
        return FITTED in self.steps

    @property
    def data_have_one(self) -> bool:
        """Bands are for the population."""
        return False

    @property
    def band_promise(self) -> str:
        """What the band that is shown promises, and under which assumption."""
        if not self.has_bands:
            return "The band shows what the noise alone can do: it is no error bar."
        return (
            "The band shown holds the survival curve of the population everywhere at once, if the records are an "
            "independent sample of it, censoring says nothing about the event, and hazards change within a bin of the "
            "counts no more than between bins: where times are rounded to steps as long as these (months, say), it can "
            "miss. Intervals of mean and median survival rest on the same."
        )

    # -- pictures and files -----------------------------------------------------------------

    def plot(
        self,
        ax: plots.Places = None,
        level: float = 0.95,
        kind: str = "smooth",
        *,
        of: Of = "survival",
        at_risk: bool = True,
        label: Labels | None = None,
        color: Colors | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> plots.Axes:
        """The curve with its band, and numbers at risk below it.

        Parameters
        ----------
        ax, level : optional
            As for :meth:`Release.plot`.
        kind : {"smooth", "steps"}, optional
            How the curve is drawn.
        of : {"survival", "incidence", "hazard"}, optional
            What is drawn: survival, the cumulative incidence, or the cumulative hazard.
        at_risk : bool, optional
            Whether numbers at risk, by the noisy counts, stand below.
        label, color, xlabel, ylabel, title, legend : optional
            As for :meth:`Release.plot`.
        """
        check_picture(kind, of, at_risk)
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        values, band = self.drawn_as(level, kind == "steps", of)
        name = self._line_name if of == "survival" else NAMES[of]
        heading = self._heading if of == "survival" else f"{NAMES[of].capitalize()}, {price(self.plan)}"
        ax = plots.curve(self.grid, values, band, ax, look, heading, name, NAMES[of], kind == "steps")
        self._draw_more(ax, {look.one(name)[0]: self} if at_risk else {}, of)
        return plots.fit(plots.caution(ax, self.cautions))

    def drawn_as(self, level: float, steps: bool, of: str) -> tuple[np.ndarray, Band]:
        """What is drawn, and its band: smooth, or in steps at bins of the counts.

        A step lasts up to the next one, and its band holds all of it: the lower limit is that of its end.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        steps : bool
            Whether it is drawn in steps.
        of : {"survival", "incidence", "hazard"}
            Which curve is drawn.
        """
        t = self.step_times if steps else plots.fine(self.grid)
        band = self.shown_band(level, t)
        if steps:
            band = replace(band, lower=np.append(band.lower[1:], band.lower[-1]))
        return OF[of](self(t)), turned(band, of)

    @property
    def step_times(self) -> np.ndarray:
        """Edges of the bins of events, or of every so many where there are more than a picture can show."""
        edges = self.times[self.events.event_edges]
        few = edges[:: -(-(edges.size - 1) // MOST_STEPS)]
        return few if few[-1] == edges[-1] else np.append(few, edges[-1])

    def _draw_more(self, ax: plots.Axes, releases: Mapping[str, Release], of: str = "survival") -> plots.Axes:
        if of == "hazard":
            plots.from_zero(ax)
        else:
            plots.within(ax, (0.0, 1.0)).set_ylim(0.0, 1.0)
        numbers = [part.at_risk for part in releases.values() if isinstance(part, SurvivalRelease)]
        return plots.at_risk(ax, numbers, list(releases))

    @property
    def measure(self) -> Measure:
        return Measure(NAMES["survival"])

    def _columns(self, level: float) -> dict[str, np.ndarray]:
        return super()._columns(level) | {"at_risk": np.round(self.at_risk(self.grid.points), 1)}
