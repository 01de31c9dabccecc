"""One release per public group, and the difference of two of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.files import write_whole
from dpfda.results import plots
from dpfda.results.base import Release, csv_of
from dpfda.results.components import ComponentRelease
from dpfda.results.joint import JointRelease, R
from dpfda.results.postprocess import Band, band_of
from dpfda.results.wording import guarantee
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from pandas import DataFrame

    from dpfda.plans.groups import GroupPlan


class GroupRelease(JointRelease[R]):
    """Releases by the name of their group: a mapping, with one charge and one statement for all.

    Parameters
    ----------
    plan : GroupPlan
        The plan that was carried out.
    releases : dict
        One release for each group, by its name.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> ages, sex = rng.gamma(9.0, 8.0, 2000).clip(0, 110), np.where(rng.random(2000) < 0.5, "f", "m")
    >>> both = dp.density(ages, by=sex, groups=["f", "m"], epsilon=1.0, domain=[(0, 110)])
    >>> sorted(both), both.difference("f", "m").band(0.95).level
    (['f', 'm'], 0.95)
    """

    plan: GroupPlan[Any]

    def difference(self, first: str, second: str) -> Difference:
        """What the first group has more than the second, with a noise band."""
        return Difference(str(first), str(second), self[first], self[second])

    def _label(self, name: str, release: Release) -> str:
        public = not release.plan.problem.count_is_private
        return f"{name} (n = {release.plan.n:,})" if public else name


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """Two independent releases on one grid, one minus the other: what :meth:`GroupRelease.difference` returns.

    Parameters
    ----------
    first, second : str
        The names of the two.
    left, right : Release
        The release that is taken, and the one that is taken from it.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> points, labels = np.linspace(0, 1, 1000), np.repeat(["f", "m"], 500)
    >>> both = dp.density(points, by=labels, groups=["f", "m"], epsilon=1.0, domain=[(0, 1)])
    >>> both.difference("f", "m")
    Difference(f minus m)
    """

    first: str
    second: str
    left: Release
    right: Release

    @property
    def grid(self) -> AnyGrid:
        return self.left.grid

    @property
    def values(self) -> np.ndarray:
        """The difference on the grid, of the releases as they are shown."""
        values: np.ndarray = self.left.values - self.right.values
        return values

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The difference at any points of the domain."""
        values: np.ndarray = self.left(t) - self.right(t)
        return values

    def band(self, level: float = 0.95) -> Band:
        """Simultaneous noise band around the raw difference: with probability `level` both noises stay inside."""
        terms = [(part.stage, part.stage.problem.typical(part.raw)) for part in (self.left, self.right)]
        width = band_of(terms, level, self.grid.points)
        raw = [part.plan.basis.synthesize(part.raw) + part.plan.problem.offset for part in (self.left, self.right)]
        middle, shape = (raw[0] - raw[1]).reshape(self.grid.shape), self.grid.shape
        return Band(self.grid.points, middle - width.reshape(shape), middle + width.reshape(shape), level)

    def plot(self, ax: plots.Axes | None = None, level: float = 0.95) -> plots.Axes:
        """The difference with its band; a heat map over two dimensions."""
        title = f"{self.first} minus {self.second}, {guarantee(self.left.plan)}"
        if self.left.dimension > 1:
            return plots.surface(self.grid, self.values, ax=ax, title=title, signed=True)
        about = "noise band (of the numbers as drawn)" if self.left.steps else "noise band"
        band: Band = self.band(level)
        if isinstance(self.left, ComponentRelease):
            line = self.left._grid.line
            apart = Band(line.points, band.lower, band.upper, level)
            ax = plots.together(line, self.values, apart, self.left.names, ax=ax, title=title, about=about)
        else:
            ax = plots.curve(self.grid, self.values, band, ax=ax, title=title, label="private difference", about=about)
        ax.axhline(0.0, color="#888888", linewidth=0.8)
        ax.set_ylabel(f"difference of {self.left.query}", **plots.SPELT)
        return ax

    def to_dataframe(self, level: float = 0.95) -> DataFrame:
        """Grid, difference and band as a pandas data frame."""
        band = self.band(level)
        columns = {"value": self.values, "lower": band.lower, "upper": band.upper}
        return self.left.to_dataframe(level).assign(**{name: c.ravel() for name, c in columns.items()})

    def to_csv(self, path: str | os.PathLike[str] | None = None, level: float = 0.95) -> str:
        """Grid, difference and band as CSV text, and into a file if a path is given."""
        band = self.band(level)
        columns = {"value": self.values, "lower": band.lower, "upper": band.upper}
        text = csv_of(self.left._columns(level) | {name: c.ravel() for name, c in columns.items()})
        if path is not None:
            write_whole(path, text)
        return text

    def __repr__(self) -> str:
        return f"Difference({self.first} minus {self.second})"
