"""From observations to one record per person: what happens to each curve alone, and to each unit alone.

A curve observed at its own times is brought to the plan's grid; a person's or household's curves
become one contribution. Both are public rules of the plan. Whatever they make of one unit's
observations depends on nothing else, so a unit is one record and the guarantee is about units
(derivations: units).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpfda.core import codec
from dpfda.core.errors import RecordError
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.own_times import EDGE, Align, Home, Pieces, Smooth
from dpfda.spaces.pooling import Averages, Pooling
from dpfda.spaces.units import Unit

#: Functions of the plan's basis in which a curve is smoothed.
MOST_FUNCTIONS = 128
#: A curve with more observations is unusable.
MOST_OBSERVATIONS = 2**20


@dataclass(frozen=True, eq=False)
class Alignment:
    """The rules of one plan, ready for use."""

    grid: AnyGrid
    basis: Eigenbasis
    center: np.ndarray
    outer: float
    lenient: bool
    fill: int | None = None
    unit: Unit | None = None
    align: Align | None = None
    pooling: Pooling | None = None  # what records are, where they are not curves or their averages

    @property
    def width(self) -> int:
        """Numbers in one row, as it is read."""
        return self.grid.size

    @property
    def record_width(self) -> int:
        """Numbers in one record."""
        return self._pooling.width

    @property
    def rules(self) -> tuple[object, ...]:
        """All that decides what becomes of a row."""
        numbers = (self.grid.points, self.grid.weights, self.center)
        return (codec.canonical(self.facts), *(part.tobytes() for part in numbers), self.outer, self.fill)

    @cached_property
    def facts(self) -> list[object]:
        """What decides how a record comes about, for the key of a summary; nothing if records are taken as they are."""
        rules = [rule for rule in (self.unit, self.align) if rule is not None]
        smooth = isinstance(self.align, Smooth)
        own = [] if self.pooling is None else self.pooling.facts
        return (
            [codec.to_plain(rule) for rule in rules] + ([self._home.basis.functions.tolist()] if smooth else []) + own
        )

    @cached_property
    def _home(self) -> Home:
        assert isinstance(self.grid, Grid)
        return Home(self.grid, self.basis.first(min(MOST_FUNCTIONS, self.basis.size)))

    # -- one curve -------------------------------------------------------------------------

    def on_grid(self, ragged: Any) -> np.ndarray:
        """Curves at their own times as rows on the grid; an unusable one is missing, or an error."""
        rows = np.full((ragged.starts.size - 1, self.grid.size), np.nan)
        bad: dict[str, list[int]] = {"outside": [], "long": [], "few": [], "sparse": []}
        for i, (start, stop) in enumerate(zip(ragged.starts[:-1].tolist(), ragged.starts[1:].tolist(), strict=True)):
            reason = self._brought(ragged.times[start:stop], ragged.values[start:stop], rows[i])
            if reason:
                bad[reason].append(i)
        if not self.lenient and any(bad.values()):
            assert self.align is not None
            reason = next(reason for reason, found in bad.items() if found)
            problem, cure = {
                "outside": ("A curve is observed outside the domain, or infinite", "Check the grid and its unit."),
                "long": (f"A curve has more than {MOST_OBSERVATIONS:,} observations", "Thin it, or check its id."),
                "few": (
                    f"A curve is too sparse (fewer than {self.align.least} observations at different times)",
                    self._relaxed("least", max(1, self.align.least - 1)),
                ),
                "sparse": (
                    f"A curve is too sparse (no observation in a stretch of more than {self.align.gap:.3g} of the "
                    "domain)",
                    self._relaxed("gap", min(1.0, 2 * self.align.gap)),
                ),
            }[reason]
            raise RecordError(problem, bad[reason], cure)
        return rows

    def filled(self, rows: np.ndarray) -> np.ndarray:
        """Curves on the grid whose missing stretches are bridged by the same rule; short ones first, by `fill`."""
        if self.fill is not None:
            rows = fill_gaps(rows, self.grid, self.fill)
        if self.align is None or not (gappy := np.flatnonzero(np.isnan(rows).any(axis=1))).size:
            return rows
        rows = np.array(rows, dtype=float)
        times = np.tile(self.grid.points, gappy.size)
        starts = np.arange(gappy.size + 1) * self.grid.size
        try:
            rows[gappy] = self.on_grid(Pieces(times, rows[gappy].ravel(), starts))
        except RecordError as error:
            raise RecordError(error.problem, gappy[list(error.rows)].tolist(), error.cure) from None
        return rows

    def _brought(self, times: np.ndarray, values: np.ndarray, row: np.ndarray) -> str:
        assert self.align is not None
        assert isinstance(self.grid, Grid)
        if times.size > MOST_OBSERVATIONS:
            return "long"
        seen = ~(np.isnan(times) | np.isnan(values))
        times, values = times[seen], values[seen]
        low, high = self.grid.span
        slack = EDGE * self.grid.length
        if not (np.isfinite(values).all() and (times >= low - slack).all() and (times <= high + slack).all()):
            return "outside"
        times, values = one_value_a_time(times, values)
        if times.size < self.align.least:
            return "few"
        if self.align.sparse(times, self.grid):
            return "sparse"
        row[:] = self.align.bring(times, values, self._home)
        return ""

    def _relaxed(self, name: str, value: float) -> str:
        """What to do about a curve with too little, by the part of the rule that it breaks."""
        kind = type(self.align).__name__
        return f"Drop it, relax the rule with align=dp.spaces.{kind}({name}={value:g}), or pass invalid='center'."

    # -- one unit --------------------------------------------------------------------------

    @cached_property
    def _pooling(self) -> Pooling:
        return self._averages if self.pooling is None else self.pooling

    @property
    def _averages(self) -> Averages:
        """What units' curves come to where nothing else was said: their average."""
        bridge = "pass align='linear' to bridge gaps, or" if self.align is None else "pass"
        return Averages(
            self.lenient, self.unit, self.center, self.outer, self.grid.weights,
            f"A curve holds missing or infinite values{unfilled(self.fill)}",
            f"Repair it, {bridge} invalid='center' to leave it out of its average.",
        )  # fmt: skip

    def each(self, rows: np.ndarray) -> np.ndarray:
        """Records where nobody has several curves."""
        return self._pooling.each(rows)

    def contributions(self, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """One record for each unit, whose curves begin at `starts`."""
        return self._pooling.pooled(rows, starts)


def kept_of(labels: Sequence[str], rows: np.ndarray, most: int) -> np.ndarray:
    """Which of one unit's curves are kept: the first of a fixed random order of their labels."""
    if len(labels) <= most:
        return np.arange(len(labels))
    hashes = [hashlib.sha256(text.encode(errors="surrogatepass")).digest() for text in labels]
    ranks = [(place, rows[i].tobytes()) for i, place in enumerate(hashes)]
    return np.array(sorted(range(len(labels)), key=ranks.__getitem__)[:most])


def one_value_a_time(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In order of time, values at the same time averaged; the order in which they came does not matter.

    >>> one_value_a_time(np.array([2.0, 1.0, 2.0]), np.array([3.0, 0.0, 5.0]))[1].tolist()
    [0.0, 4.0]
    """
    order = np.lexsort((values, times))
    times, values = times[order], values[order]
    new = np.flatnonzero(np.append(True, times[1:] > times[:-1]))[: times.size]
    if new.size == times.size:
        return times, values
    with np.errstate(over="ignore"):
        sums = [values[a:b].mean() for a, b in zip(new.tolist(), [*new[1:].tolist(), times.size], strict=True)]
    return times[new], np.array(sums)


def unfilled(longest: int | None) -> str:
    """What is said of a curve that is unusable although gaps up to this length were filled."""
    return "" if longest is None else f" (a gap is longer than the {longest} points that are filled, or all is missing)"


def fill_gaps(curves: np.ndarray, grid: AnyGrid, longest: int) -> np.ndarray:
    """Linear interpolation over runs of at most `longest` missing values; longer runs stay missing.

    A run at either end takes the nearest value of the same curve. Components are filled one by one.
    """
    shape, points = np.shape(curves), grid.domain.points
    curves = np.array(curves, dtype=float).reshape(-1, len(points))
    for row in np.flatnonzero(np.isnan(curves).any(axis=1)):
        missing = np.isnan(curves[row])
        if missing.all():
            continue
        starts = np.flatnonzero(missing & ~np.r_[False, missing[:-1]])
        stops = np.flatnonzero(missing & ~np.r_[missing[1:], False]) + 1
        if (stops - starts).max() <= longest:
            curves[row, missing] = np.interp(points[missing], points[~missing], curves[row, ~missing])
    return curves.reshape(shape)
