"""The curves of a release, each with its bands: what pictures draw and tables list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from dpfda.results import (
    Band,
    ComponentRelease,
    Difference,
    MeanRelease,
    PercentileRelease,
    RegressionRelease,
    Release,
)
from dpfda.results.difference_tests import DifferenceTest
from dpfda.spaces.grid import Grid

#: The probability of all bands of a report.
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Curve:
    """A released curve: its name where there are several, its points, its honest band, and that of the noise alone."""

    name: str
    axis: Grid
    values: np.ndarray
    band: Band
    noise: Band | None = None
    unit: str = ""

    @property
    def t(self) -> np.ndarray:
        return self.axis.points

    @property
    def covers_noise_only(self) -> bool:
        return self.band.covers == "noise only"

    @property
    def apart(self) -> list[tuple[float, float]]:
        """Stretches where zero lies outside the band."""
        where = (self.band.lower > 0) | (self.band.upper < 0)
        return DifferenceTest(1.0, self.band.level, self.t, where).intervals


def axis_of(release: Release | Difference) -> Grid:
    """The last axis of what a release runs along."""
    left = release.left if isinstance(release, Difference) else release
    grid = left.plan.grid if isinstance(left, RegressionRelease) else left.grid
    axis: Grid = grid.domain.axes[-1]
    return axis


def is_line(release: Release | Difference) -> bool:
    """Whether it is made of curves on a line."""
    left = release.left if isinstance(release, Difference) else release
    return isinstance(left, RegressionRelease) or left.dimension == 1


@singledispatch
def curves(release: Release | Difference, level: float = LEVEL) -> list[Curve]:
    """The curves of a release on a line."""
    return [Curve("", axis_of(release), release.values, release.shown_band(level))]


@curves.register
def _mean(release: MeanRelease, level: float = LEVEL) -> list[Curve]:
    noise = release.noise_band(level) if release.has_bands else None
    return [Curve("", axis_of(release), release.values, release.shown_band(level), noise)]


@curves.register
def _components(release: ComponentRelease, level: float = LEVEL) -> list[Curve]:
    noise = release.noise_band(level) if release.has_bands else None
    return _rows(release, list(release.names), release.values, release.shown_band(level), noise)


@curves.register
def _coefficients(release: RegressionRelease, level: float = LEVEL) -> list[Curve]:
    return _rows(release, release.names, release.values, release.shown_band(level))


@curves.register
def _percentiles(release: PercentileRelease, level: float = LEVEL) -> list[Curve]:
    return _rows(release, list(release.names), release.values, release.shown_band(level))


@curves.register
def _difference(release: Difference, level: float = LEVEL) -> list[Curve]:
    left, band = release.left, release.shown_band(level)
    if isinstance(left, ComponentRelease | PercentileRelease | RegressionRelease):
        return _rows(release, list(left.names), release.values, band)
    return [Curve("", axis_of(release), release.values, band)]


def _rows(
    release: Release | Difference, names: list[str], values: np.ndarray, band: Band, noise: Band | None = None
) -> list[Curve]:
    """One curve for each row."""
    axis, found = axis_of(release), []
    for i, name in enumerate(names):
        parts = [None if whole is None else _row(whole, i) for whole in (band, noise)]
        assert parts[0] is not None
        found.append(Curve(name, axis, values[i], parts[0], parts[1]))
    return found


def _row(band: Band, i: int) -> Band:
    return Band(band.t, band.lower[i], band.upper[i], band.level, band.covers)
