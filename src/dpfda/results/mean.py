"""A released mean curve or surface."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.functions import RecordFunction
from dpfda.bounds.units import Range
from dpfda.core.errors import ParameterError
from dpfda.results.bands import Band
from dpfda.results.base import Release
from dpfda.results.beyond import MOST_NOISY, TOO_SMALL, beyond_the_bound, words_about
from dpfda.results.left_out import LeftOut, measured
from dpfda.results.mean_bands import mean_terms
from dpfda.results.measures import Measure
from dpfda.results.terms import Terms
from dpfda.spaces.points import interpolated, like

if TYPE_CHECKING:
    from dpfda.plans.mean import MeanPlan


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeanRelease(Release):
    """A mean curve or surface under differential privacy: what :func:`dpfda.mean` returns.

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
    >>> curves = np.sin(np.linspace(0, 6, 40)) * np.ones((500, 1))
    >>> release = dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> lower, upper = release.confidence_band(0.95)
    >>> bool((lower < upper).all())
    True
    """

    plan: MeanPlan

    @property
    def has_bands(self) -> bool:
        """Whether bands cover more than the noise: not those of derivatives, nor where a threshold was applied."""
        return not self.order and all(part.threshold is None for part in self.stage.parts)

    def _no_band(self) -> ParameterError:
        why = "thresholds bias a mean in a way that no band can hold"
        if self.order:
            why = "bands of derivatives cover the noise only"
        return ParameterError(why, self.title, "Use noise_band().")

    # -- a function of the curves ---------------------------------------------------------------

    @property
    def values(self) -> np.ndarray:
        """The mean at the grid points; of a function of the curves, brought to what such a mean can be."""
        of, values = self.plan.of, super().values
        if of is None or self.order or not self.plan.postprocess:
            return values
        return np.asarray(of.finish(values.ravel(), self.grid), dtype=float).reshape(self.grid.shape)

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The value (or derivative) at any points of the domain; a number at a single point.

        A mean of a function of the curves is linear between the points of the grid.
        """
        if self.plan.of is None or self.order or not self.plan.postprocess:
            return super().__call__(t)
        return like(t, interpolated(self.grid, self.values, self.plan.basis.points(t)), self.grid)

    @property
    def title(self) -> str:
        """What this is, in words."""
        return super().title if self.plan.of is None else self._titled(self.plan.of.value)

    def _measured(self, otherwise: str) -> Measure:
        """Of a function: what it gives. What has a unit is what the curves are; other words are about the function."""
        of, unit = self.plan.of, "" if self.plan.value is None else Measure.of(self.plan.value).unit
        if of is None or (self.plan.value is not None and (not unit or type(of).value is RecordFunction.value)):
            return super()._measured(otherwise)
        level = getattr(of, "level", None)
        at_level = unit and isinstance(level, float) and of.value.endswith(f" {level:g}")
        return Measure(f"{of.value} {unit}" if at_level else of.value)

    @property
    def along(self) -> str | None:
        """Levels of a function are in the unit of the values."""
        levels = getattr(self.plan.of, "levels", None)
        if self.plan.value is None or levels is None or levels != self.grid or levels.unit or levels.name != "level":
            return None
        return str(Measure.of(self.plan.value).more("level of"))

    @property
    def within(self) -> tuple[float, float] | None:
        bound = None if self.plan.of is None or self.order else self.plan.of.bound
        return (bound.low, bound.high) if isinstance(bound, Range) else None

    # -- bands ----------------------------------------------------------------------------------

    @cached_property
    def terms(self) -> Terms:
        """The parts of the bands: noise, what was left out, sampling."""
        if not self.has_bands:
            raise self._no_band()
        return mean_terms(self)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the mean of the curves that were given.

        It adds the known noise and what the release leaves out: functions that it does not have, and curves that were
        clipped. How large that is a share of the budget has told, or else the public bound is taken for it. With
        probability `level` the mean of the curves lies inside, at all points of the grid at once; features that are
        narrower than the released functions can show are covered only as far as they are not much higher than what
        was left out on average.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self._between(level, t, False, "mean of these curves")

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the mean of the population that the curves are a sample of.

        As :meth:`band`, and how far a sample strays from its population, by how much curves vary: what a share of the
        budget has told of that, or the public bound.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self._between(level, t, True, "mean of the population")

    def _between(self, level: float, t: ArrayLike | None, population: bool, covers: str) -> Band:
        lower, upper = self.terms.limits(level, population)
        if t is None:
            return Band(self.grid.points, lower.reshape(self.grid.shape), upper.reshape(self.grid.shape), level, covers)
        points = self.plan.basis.points(t)
        published = MeanRelease.__call__(self, points)
        below, above = (interpolated(self.grid, side, points) for side in (lower, upper))
        return Band(points, np.minimum(below, published), np.maximum(above, published), level, covers)

    # -- what was left out ----------------------------------------------------------------------

    @cached_property
    def left_out(self) -> LeftOut | None:
        """How much of the mean of the curves is not in the release; None where no budget went to it."""
        evidence, root = self.plan.accuracy.evidence(self), float(np.sqrt(self.grid.weights.sum()))
        level = float(np.average(self.values.ravel(), weights=self.grid.weights))
        shown = float(np.sqrt(np.average((self.values.ravel() - level) ** 2, weights=self.grid.weights)))
        return measured(evidence, root, shown, bool(self.bound_too_small))

    @cached_property
    def bound_too_small(self) -> bool | None:
        if self.plan.of is not None:  # its values are never beyond
            return False
        center, public = self.plan.problem.center_coefficients, float(self.plan.bound.outer)
        radius = float(getattr(self.plan.schedule.target(self.drawn), "bound", self.plan.bound).outer)
        drawn, published = (float(((c - center) ** 2).sum()) for c in (self.raw, self.coefficients))
        noise = self.stage.error
        reached = np.sqrt(max(drawn - noise, 0.0)) / radius if noise < MOST_NOISY * radius**2 else 0.0
        evidence, strength = self.plan.accuracy.evidence(self), self.plan.n * float(self.plan.epsilon)
        return beyond_the_bound(evidence, float(reached), float(np.sqrt(published)) / public, strength)

    @property
    def bound_words(self) -> str:
        return words_about(self.bound_too_small)

    @property
    def cautions(self) -> tuple[str, ...]:
        if self.bound_too_small:
            return (TOO_SMALL,)
        caution = self.left_out.caution if self.left_out is not None else ""
        return (caution,) if caution else ()

    @property
    def band_promise(self) -> str:
        """What the shown band promises, and under which assumption."""
        if not self.has_bands:
            return "The band shows what the noise alone can do: it is no error bar."
        evidence = self.plan.accuracy.evidence(self)
        noun, kept = self.plan.wording.noun, evidence.kept.size
        mean = f"mean {noun}" if self.plan.of is None else self.plan.wording.release
        promise = (
            f"The confidence band holds the {mean} of the population, at all points of the grid at once, with the "
            "probability that it states. It adds the noise, how far a sample strays from its population, and what was "
            "left out of the release (functions that it does not have, curves that were clipped)."
        )
        if evidence.left is None:
            return f"{promise} Nothing was spent on measuring that, so the public bound is taken for it."
        return (
            f"{promise} How much that is was measured, for a share of the budget. Features finer than 1/{kept} of the "
            f"domain are covered only if they are not much higher than what was left out on average{self._beyond}."
        )

    @property
    def _beyond(self) -> str:
        """What curves that are clipped may do to the mean, where any are."""
        if self.plan.of is not None and getattr(self.stage.problem, "bound", None) == self.plan.bound:
            return ""
        return (
            "; curves far beyond most others, be they a few or a fifth of all, may move the mean further than this "
            "band says"
        )
