"""One release per public group, and the difference of two of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.core.errors import ParameterError, shown
from dpfda.core.files import write_whole
from dpfda.results import plots, statements
from dpfda.results.base import VERSION, Release, csv_of, plain_cell
from dpfda.results.components import ComponentRelease
from dpfda.results.postprocess import Band, band_of


@dataclass(frozen=True, eq=False, repr=False)
class GroupRelease(Mapping[str, Any]):
    """Releases by the name of their group: a mapping, with one charge and one statement for all.

    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> ages, sex = rng.gamma(9.0, 8.0, 2000).clip(0, 110), np.where(rng.random(2000) < 0.5, "f", "m")
    >>> both = dp.density(ages, by=sex, groups=["f", "m"], epsilon=1.0, domain=[(0, 110)])
    >>> sorted(both), both.difference("f", "m").band(0.95).level
    (['f', 'm'], 0.95)
    """

    plan: Any
    releases: dict[str, Release]

    def __getitem__(self, group: Any) -> Any:
        """The release of a group, by its name (or a number that spells it)."""
        if group not in self:
            raise ParameterError(
                f"a group must be one of {', '.join(self.releases)}", shown(group), "Check the spelling."
            )
        return self.releases[str(group)]

    def __contains__(self, group: object) -> bool:
        return str(group) in self.releases

    def get(self, group: Any, default: Any = None) -> Any:
        """The release of a group, or `default`."""
        return self.releases.get(str(group), default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def difference(self, first: str, second: str) -> Difference:
        """What the first group has more than the second, with a noise band."""
        return Difference(str(first), str(second), self[first], self[second])

    def band(self, group: str, level: float = 0.95) -> Band:
        """The simultaneous noise band of one group."""
        return self[group].band(level)

    @property
    def query(self) -> str:
        """What was released of every group."""
        return self._any.query

    @property
    def created(self) -> str:
        """When all of them were released."""
        return self._any.created

    @property
    def study(self) -> str | None:
        """The study whose ledger was charged, once for all groups."""
        return self._any.study

    @property
    def entry(self) -> int | None:
        """The number of that charge."""
        return self._any.entry

    @property
    def seal(self) -> str | None:
        """The seal of that charge."""
        return self._any.seal

    @property
    def _any(self) -> Release:
        return next(iter(self.releases.values()))

    @property
    def statement(self) -> str:
        """What was protected in all groups together, and how each was made."""
        return statements.group_statement(self)

    def plot(self, ax: Any = None) -> Any:
        """All curves on one picture (one dimension), or the surfaces side by side."""
        parts = list(self.releases.values())
        title = f"{parts[0].title.capitalize()} by {self.plan.member}, {statements.guarantee(self.plan)}"
        sizes = self.plan.member == "group"  # classes have no size of their own here: all functions see all records
        if parts[0].dimension == 1:
            curves: dict[str, np.ndarray] = {}
            for name, part in self.releases.items():
                label = f"{name} (n = {part.plan.n:,})" if sizes and not part.plan.problem.count_is_private else name
                curves |= {f"{label} {line}".rstrip(): values for line, values in part.lines.items()}
            ax = plots.overlay(parts[0].grid, curves, ax, title)
            ax.set_ylabel(parts[0].query, **plots.SPELT)
            return ax
        if parts[0].dimension > 2:
            raise ParameterError("pictures have at most two dimensions", "three", "Plot one group at a time.")
        return plots.panels(parts, title, names=list(self.releases))

    def __repr__(self) -> str:
        return f"GroupRelease({', '.join(self.releases)}; {statements.cost(self.plan)} together)"

    def to_json(self) -> str:
        """Everything public about all releases, with a version and a checksum."""
        bodies = {name: release.body() for name, release in self.releases.items()}
        return codec.seal("releases", VERSION, {"plan": codec.to_plain(self.plan), "releases": bodies})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON with a version and a checksum; the file is whole or absent."""
        return write_whole(path, self.to_json())

    def to_csv(self, path: str | os.PathLike[str] | None = None, level: float = 0.95) -> str:
        """Group, grid, value and band as CSV text, and into a file if a path is given."""
        lines: list[str] = []
        for name, release in self.releases.items():
            head, *rows = release.to_csv(level=level).splitlines()
            lines += [] if lines else [f"group,{head}"]
            lines += [f"{plain_cell(name)},{row}" for row in rows]
        text = "\n".join(lines) + "\n"
        if path is not None:
            write_whole(path, text)
        return text

    def to_dataframe(self, level: float = 0.95) -> Any:
        """Group, grid, value and band as a pandas data frame."""
        import pandas

        frames = {name: release.to_dataframe(level) for name, release in self.releases.items()}
        return pandas.concat(frames, names=["group"]).reset_index(level=0).reset_index(drop=True)


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """Two independent releases on one grid, one minus the other."""

    first: str
    second: str
    left: Release
    right: Release

    @property
    def grid(self) -> Any:
        return self.left.grid

    @property
    def values(self) -> np.ndarray:
        """The difference on the grid, of the releases as they are shown."""
        return self.left.values - self.right.values

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The difference at any points of the domain."""
        return self.left(t) - self.right(t)

    def band(self, level: float = 0.95) -> Band:
        """Simultaneous noise band around the raw difference: with probability `level` both noises stay inside."""
        terms = [(part.stage, part.stage.problem.typical(part.raw)) for part in (self.left, self.right)]
        width = band_of(terms, level, self.grid.points)
        raw = [part.plan.basis.synthesize(part.raw) + part.plan.problem.offset for part in (self.left, self.right)]
        middle, shape = (raw[0] - raw[1]).reshape(self.grid.shape), self.grid.shape
        return Band(self.grid.points, middle - width.reshape(shape), middle + width.reshape(shape), level)

    def plot(self, ax: Any = None, level: float = 0.95) -> Any:
        """The difference with its band; a heat map over two dimensions."""
        title = f"{self.first} minus {self.second}, {statements.guarantee(self.left.plan)}"
        if self.left.dimension > 1:
            return plots.surface(self.grid, self.values, ax=ax, title=title, signed=True)
        about = "noise band (of the numbers as drawn)" if self.left.steps else "noise band"
        band: Band = self.band(level)
        if isinstance(self.left, ComponentRelease):
            line = self.grid.line
            apart = Band(line.points, band.lower, band.upper, level)
            ax = plots.together(line, self.values, apart, self.left.names, ax=ax, title=title, about=about)
        else:
            ax = plots.curve(self.grid, self.values, band, ax=ax, title=title, label="private difference", about=about)
        ax.axhline(0.0, color="#888888", linewidth=0.8)
        ax.set_ylabel(f"difference of {self.left.query}", **plots.SPELT)
        return ax

    def to_dataframe(self, level: float = 0.95) -> Any:
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
