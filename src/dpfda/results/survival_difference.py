"""The difference of two survival curves: bands, a test, and the difference of mean survival times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpfda.results.bands import Band, fixed_generator
from dpfda.results.base import Release
from dpfda.results.difference_tests import DifferenceTest
from dpfda.results.differences import Difference
from dpfda.results.survival import SurvivalRelease
from dpfda.results.survival_bands import Estimate, interval, p_value, restricted_means, simultaneous, too_few


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalDifference(Difference):
    """Two survival curves, one minus the other: what :meth:`GroupRelease.difference` returns for them.

    Parameters
    ----------
    first, second : str
        The names of the groups.
    left, right : SurvivalRelease
        Their releases.
    plan : GroupPlan
        The plan of both.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> arms = np.repeat(["a", "b"], 2000)
    >>> days, ends = rng.exponential(np.where(arms == "a", 900, 450)), rng.uniform(300, 1500, 4000)
    >>> both = dp.survival(
    ...     np.minimum(days, ends), days <= ends, by=arms, groups=["a", "b"], epsilon=1.0, horizon=900
    ... )
    >>> gap = both.difference("a", "b")
    >>> gap.test().p_value < 0.05, 100 < gap.rmst().value < 250
    (True, True)
    """

    left: SurvivalRelease
    right: SurvivalRelease

    def rmst(self, tau: float | None = None, level: float = 0.95) -> Estimate:
        """By how much the mean survival time up to `tau` (default: the horizon) differs, with an interval.

        Parameters
        ----------
        tau : float, optional
            A time up to the horizon. Default: the horizon.
        level : float
            The probability with which the interval holds. Default: 0.95.
        """
        value = self.left.rmst(tau, level).value - self.right.rmst(tau, level).value
        end = self.grid.axes[0].span[1] if tau is None else float(tau)
        one, two = (restricted_means(part.draws, part.times, end) for part in self._parts)
        lower, upper = interval(one[_turned(len(one))] - two, level)
        more = sum(part.unseen_area for part in self._parts)
        return Estimate(value, min(lower - more, value), max(upper + more, value), level)

    @property
    def _parts(self) -> tuple[SurvivalRelease, SurvivalRelease]:
        return self.left, self.right

    @cached_property
    def _curves(self) -> tuple[np.ndarray, np.ndarray]:
        """Simulated curves of both on the grid, which are independent."""
        points = self.grid.points
        left, right = (np.array([np.interp(points, part.times, row) for row in part.draws]) for part in self._parts)
        return left[_turned(len(left))], right

    def confidence_band(self, level: float = 0.95) -> Band:
        """Simultaneous band for the difference of the two populations, from simulated curves of both.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        left, right = self._curves
        few = sum(too_few(part.events) for part in self._parts)
        lower, upper = (np.clip(side, -1.0, 1.0) for side in simultaneous(left - right, level))
        lower, upper = np.minimum(lower - few, self.values), np.maximum(upper + few, self.values)
        lower[0] = upper[0] = 0.0
        covers = "difference of the populations"
        return Band(self._points, np.clip(lower, -1.0, 1.0), np.clip(upper, -1.0, 1.0), level, covers)

    def test(self, level: float = 0.95) -> DifferenceTest:
        """Whether the two populations have the same survival curve, and where they differ.

        The p-value is that of a difference of areas under the curves, in which times count by the root of the smaller
        share at risk: when few are watched, little is said. `where` follows :meth:`confidence_band`.

        Parameters
        ----------
        level : float
            The level of the confidence band that says where they differ. Default: 0.95.
        """
        points = self.grid.points
        shares = [np.clip(part.at_risk(points) / part.events.n, 0.0, 1.0) for part in self._parts]
        p = p_value(*self._curves, np.minimum(*shares), self.grid.weights)
        return DifferenceTest(p, level, self._points, self._apart(level))

    def _columns(self, level: float) -> dict[str, np.ndarray]:
        found = super()._columns(level)
        return {name: column for name, column in found.items() if name != "at_risk"}


def kind_of(left: Release, right: Release) -> type[Difference]:
    """The kind of difference that belongs to two releases of groups."""
    both = isinstance(left, SurvivalRelease) and isinstance(right, SurvivalRelease)
    return SurvivalDifference if both else Difference


def _turned(count: int) -> np.ndarray:
    """Another order of simulated curves: both groups were simulated alike."""
    return fixed_generator().permutation(count)
