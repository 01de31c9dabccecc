"""The difference of two releases: bands, and a test of whether the groups differ."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec, markup
from dpfda.core.errors import ParameterError
from dpfda.core.files import write_whole
from dpfda.results import maps, plots, statements
from dpfda.results.arrays import AsArray
from dpfda.results.bands import NOISE_ONLY, Band, band_of
from dpfda.results.base import VERSION, Release
from dpfda.results.columns import csv_of
from dpfda.results.components import ComponentRelease
from dpfda.results.difference_tests import DifferenceTest
from dpfda.results.methods_text import text_of_several
from dpfda.results.one_charge import UnderOneCharge
from dpfda.results.percentiles import PercentileRelease
from dpfda.results.statements import Statement
from dpfda.results.terms import Terms
from dpfda.results.wording import guarantee, price
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from pandas import DataFrame

    from dpfda.plans.joint import JointPlan
    from dpfda.results.looks import Colors, Labels

#: What the band of a difference promises: for populations, or for the noise alone.
POPULATIONS = (
    "The band holds the difference of the two populations, at all points of the grid at once, with the probability "
    "that it states; what either release leaves out counts in full. It rests on what the bands of both releases rest "
    "on."
)
NOISES = "The band shows what the noise of both releases alone can do: it is no error bar."
#: The smallest p-value that is looked for where bands are compared level by level, and how often it is halved in on.
LEAST_P, HALVINGS = 0.001, 12


@dataclass(frozen=True, eq=False, repr=False)
class Difference(UnderOneCharge, AsArray):
    """Two independent releases on one grid, one minus the other: what :meth:`GroupRelease.difference` returns.

    Parameters
    ----------
    first, second : str
        The names of the two.
    left, right : Release
        The release that is taken, and the one that is taken from it.
    plan : GroupPlan
        The plan that both were released by, under one charge.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> arms, more = np.repeat(["a", "b"], 2000), np.repeat([[0.0], [0.5]], 2000, axis=0)
    >>> days = rng.normal(1.0, 0.1, (4000, 24)) + more
    >>> both = dp.mean(days, by=arms, groups=["a", "b"], epsilon=1.0, bound=dp.L2Ball(2.0))
    >>> gap = both.difference("b", "a")
    >>> gap, gap.test().p_value < 0.01, gap.confidence_band(0.95).level
    (Difference(b minus a), True, 0.95)
    """

    first: str
    second: str
    left: Release
    right: Release
    plan: JointPlan[Any]

    @property
    def _any(self) -> Release:
        return self.left

    @property
    def _sides(self) -> dict[str, Release]:
        return {self.first: self.left, self.second: self.right}

    @property
    def grid(self) -> AnyGrid:
        """Where values of the difference are."""
        return self.left.grid

    @property
    def values(self) -> np.ndarray:
        """The difference on the grid, of the releases as they are shown."""
        values: np.ndarray = self.left.values - self.right.values
        return values

    @property
    def _array(self) -> np.ndarray:
        return self.values

    def __call__(self, *at: ArrayLike) -> np.ndarray:
        """The difference at any points of the domain; of percentiles, at a level and points."""
        values: np.ndarray = self.left(*at) - self.right(*at)
        return values

    # -- bands --------------------------------------------------------------------------------

    @cached_property
    def _terms(self) -> Terms | None:
        left, right = self.left.terms, self.right.terms
        return None if left is None or right is None else left.minus(right)

    @property
    def has_bands(self) -> bool:
        """Whether bands cover more than the noise."""
        return self.left.has_bands and self.right.has_bands

    def band(self, level: float = 0.95) -> Band:
        """Simultaneous band for the difference of what the records of both groups would have given without privacy.

        What either release leaves out counts in full (the triangle inequality); it costs no further budget. Points have
        no density of their own: for densities ask for the populations' difference.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        if not self.left.data_have_one:
            raise ParameterError(
                "a band of the data is for what data have themselves", self.left.title, "Use confidence_band()."
            )
        return self._between(level, False, "difference of the data")

    def confidence_band(self, level: float = 0.95) -> Band:
        """Simultaneous band for the difference of the two populations.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        return self._between(level, True, "difference of the populations")

    def _between(self, level: float, population: bool, covers: str) -> Band:
        if self._terms is not None:
            lower, upper = (side.reshape(self.grid.shape) for side in self._terms.limits(level, population))
            return Band(self._points, lower, upper, level, covers)
        if isinstance(self.left, PercentileRelease) and isinstance(self.right, PercentileRelease):
            return self.left.band_of_difference(self.right, level, covers)
        each = (1 + level) / 2  # both bands hold at once
        left, right = (
            part.confidence_band(each) if population else part.band(each) for part in (self.left, self.right)
        )
        return Band(left.t, left.lower - right.upper, left.upper - right.lower, level, covers)

    @property
    def _points(self) -> np.ndarray:
        return self.grid.domain.points

    def noise_band(self, level: float = 0.95) -> Band:
        """What the noise alone can do: around the raw difference, with probability `level` both noises stay inside.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        sides = [(part.stage, part.raw[: part.stage.problem.basis.size]) for part in (self.left, self.right)]
        width = band_of([(stage, stage.problem.typical(raw)) for stage, raw in sides], level, self.grid.points)
        raw = [part.plan.basis.synthesize(part.raw) + part.plan.problem.offset for part in (self.left, self.right)]
        middle, shape = (raw[0] - raw[1]).reshape(self.grid.shape), self.grid.shape
        return Band(self._points, middle - width.reshape(shape), middle + width.reshape(shape), level, NOISE_ONLY)

    def shown_band(self, level: float = 0.95) -> Band:
        """The band of pictures and tables: the most honest one there is, which says what it covers.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        return self.confidence_band(level) if self.has_bands else self.noise_band(level)

    def test(self, level: float = 0.95) -> DifferenceTest:
        """Whether the two populations have the same curve, and where they differ.

        Two looks, of which the better one counts at twice its price: the largest difference, beyond what may have been
        left out and in units of its noise and sampling error, and the length of the whole difference, beyond the length
        of that; both are held against what noise and sampling would do by themselves. `where` follows
        :meth:`confidence_band`: the populations differ where zero lies outside it. Groups can differ for sure and yet
        at no single point for sure.

        Parameters
        ----------
        level : float
            The level of the confidence band that says where they differ. Default: 0.95.
        """
        p = self._p_by_bands() if self._terms is None else self._terms.p_value()
        where = self._apart(level)
        where = where.ravel() if where.size == len(self._points) else where  # one percentile
        return DifferenceTest(p, level, self._points, where)

    def _apart(self, level: float) -> np.ndarray:
        """Where zero lies outside the band."""
        lower, upper = self.confidence_band(level)
        return np.asarray((lower > 0) | (upper < 0))

    def _p_by_bands(self) -> float:
        """One minus the highest level at which zero lies outside the band somewhere, by halves."""
        inside, outside = LEAST_P, 1.0
        if self._apart(1 - inside).any():
            return inside
        for _ in range(HALVINGS):
            middle = float(np.sqrt(inside * outside))
            inside, outside = (inside, middle) if self._apart(1 - middle).any() else (middle, outside)
        return outside

    # -- words --------------------------------------------------------------------------------

    @property
    def statement(self) -> str:
        """What was protected, in words for a review board, and whether the groups differ."""
        return str(self.statement_parts)

    @property
    def statement_parts(self) -> Statement:
        """The statement as data: its paragraphs by name."""
        sides = [self.left, self.right]
        return statements.difference_statement(self.plan, self.first, self.second, sides, self._band_words)

    def methods_text(self) -> str:
        """How it was made, for the methods section of a paper: paragraphs with all numbers, and what to cite."""
        lead = f"The {self.left.title} of {self.second} was taken from that of {self.first}. {statements.FREE}"
        promise = " ".join(filter(None, (self.band_promise, self._test_words)))
        return text_of_several(self.plan, self._sides, promise, self.cautions, lead)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What either release says against trusting it, with its name."""
        return tuple(f"{name}: {caution}" for name, part in self._sides.items() for caution in part.cautions)

    @property
    def _test_words(self) -> str:
        if not self.has_bands:
            return ""
        return f"Test of whether both populations have the same {self.left.plan.wording.noun}: {self.test()}"

    @property
    def band_promise(self) -> str:
        """What the shown band promises."""
        return POPULATIONS if self.has_bands else NOISES

    @property
    def _band_words(self) -> str:
        """The same with what it rests on, what the test says, and what either release says against itself."""
        each = statements.told_of_each({name: part.band_promise for name, part in self._sides.items()})
        return " ".join(filter(None, [self.band_promise, each, self._test_words, *self.cautions]))

    # -- pictures and files -------------------------------------------------------------------

    def to_json(self) -> str:
        """Both releases and the plan of their groups, with a version and a checksum."""
        sides = {"left": self.left.body(), "right": self.right.body()}
        facts = {"plan": codec.to_plain(self.plan, beside=True), "first": self.first, "second": self.second}
        values = {"values": self.values.ravel().tolist(), "statement": self.statement}
        return codec.seal("difference", VERSION, facts | sides | values)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON with a version and a checksum; the file is whole or absent.

        Parameters
        ----------
        path : path
            Where the file goes.
        """
        return write_whole(path, self.to_json())

    def plot(
        self,
        ax: plots.Places = None,
        level: float = 0.95,
        *,
        label: Labels | None = None,
        color: Colors | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> plots.Axes:
        """The difference with its band, and where zero lies outside it; a heat map over two dimensions.

        Parameters
        ----------
        ax, level, label, color, xlabel, ylabel, title, legend : optional
            As for :meth:`Release.plot`.
        """
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        return plots.fit(plots.caution(self._draw(ax, level, look), self.cautions))

    def _draw(self, ax: plots.Places, level: float, look: plots.Look) -> plots.Axes:
        heading, what = f"{self.first} minus {self.second}, {price(self.left.plan)}", self.left.measure
        words = str(what.more("difference in"))
        if self.left.dimension > 1:
            square = self.left.map_words[1]
            return maps.surface(self.grid, self.values, ax, look, heading, "map", True, None, words, square)
        band = self.shown_band(level)
        if isinstance(self.left, ComponentRelease):
            line = self.left._grid.line
            return plots.zero(plots.together(line, self.values, band, self.left.names, ax, look, heading, words))
        if isinstance(self.left, PercentileRelease):
            return self.left.draw_difference(self.values, band, ax, look, heading, words)
        ax = plots.zero(plots.curve(self.grid, self.values, band, ax, look, heading, "difference", words))
        if self.has_bands and (apart := self._apart(level)).any():
            plots.marked(ax, self._points[apart], "they differ: zero is outside the band")
        return ax

    def to_dataframe(self, level: float = 0.95) -> DataFrame:
        """Grid, difference and band as a pandas data frame.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        import pandas

        return pandas.DataFrame(self._columns(level))

    def to_csv(self, path: str | os.PathLike[str] | None = None, level: float = 0.95) -> str:
        """Grid, difference and band as CSV text, and into a file if a path is given.

        Parameters
        ----------
        path : path, optional
            Where the text goes as well. Default: no file.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        text = csv_of(self._columns(level))
        if path is not None:
            write_whole(path, text)
        return text

    def _columns(self, level: float) -> dict[str, np.ndarray]:
        band = self.shown_band(level)
        columns = {"value": self.values, "lower": band.lower, "upper": band.upper}
        return self.left._columns(level) | {name: column.ravel() for name, column in columns.items()}

    def _repr_html_(self) -> str:
        picture = plots.inline(self.plot, f"{self.first} minus {self.second}") if self.left.dimension < 3 else ""
        covers = "the difference of the populations" if self.has_bands else NOISE_ONLY
        rows = [
            ("difference", f"{self.first} minus {self.second}"),
            ("of", self.left.title),
            ("grid", repr(self.grid)),
            ("band", f"covers: {covers}"),
        ]
        for name, part in ((self.first, self.left), (self.second, self.right)):
            rows.append((name, f"{guarantee(part.plan)}, plan {part.plan.digest[:12]}"))
        return picture + markup.facts("Difference", rows)

    def __repr__(self) -> str:
        return f"Difference({self.first} minus {self.second})"
