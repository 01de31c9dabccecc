"""From observations to one record per person: what happens to each curve alone, and to each unit alone.

A curve observed at its own times is brought to the plan's grid; a person's or household's curves
become one contribution. Both are public rules of the plan. Whatever they make of one unit's
observations depends on nothing else, so a unit is one record and the guarantee is about units
(derivations: units).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpfda.core import codec
from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.pooling import Averages, Pooling
from dpfda.spaces.units import Unit

#: Functions of the plan's basis in which a curve is smoothed.
MOST_FUNCTIONS = 128
#: A curve with more observations is unusable; this many at a time are smoothed, in bounded memory.
MOST_OBSERVATIONS, CHUNK = 2**20, 2**12
#: Times this close to the domain, relative to its length, are on its edge.
EDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Align(Fact, ABC):
    """How a curve at its own times reaches the plan's grid. Subclasses say how; this says when it cannot.

    A curve is too sparse if it has fewer than `least` observations at different times, or if a stretch
    of more than `gap` of the domain (its ends included) holds none. Then it is an unusable record.

    Parameters
    ----------
    gap : float, optional
        The longest stretch without an observation, as a share of the domain. Default: 0.25.
    least : int, optional
        The fewest observations at different times. Default: 2.

    Examples
    --------
    >>> isinstance(Interpolate(), Align)
    True
    """

    gap: float = 0.25
    least: int = 2

    def __post_init__(self) -> None:
        if isinstance(self.gap, bool) or not isinstance(self.gap, int | float | np.number) or not 0 < self.gap <= 1:
            raise ParameterError("gap is a share of the domain, above 0 and up to 1", shown(self.gap), "Pass gap=0.25.")
        if isinstance(self.least, bool) or not isinstance(self.least, int | np.integer) or self.least < 1:
            raise ParameterError("least must be a whole number of at least 1", shown(self.least), "Pass least=2.")
        object.__setattr__(self, "gap", float(self.gap))
        object.__setattr__(self, "least", int(self.least))

    @property
    @abstractmethod
    def how(self) -> str:
        """What is done, in words."""

    @property
    def description(self) -> str:
        return (
            f"{self.how}; a curve with fewer than {self.least} observations, or none in a stretch of more than "
            f"{self.gap:.3g} of the domain, is unusable"
        )

    def sparse(self, times: np.ndarray, grid: Grid) -> bool:
        """Whether a curve observed at these different times, in order, carries too little."""
        if times.size < self.least:
            return True
        edges = np.concatenate([[grid.span[0]], times, [grid.span[1]]])
        return bool(np.diff(edges).max() > self.gap * grid.length * (1 + EDGE))

    @abstractmethod
    def bring(self, times: np.ndarray, values: np.ndarray, home: Home) -> np.ndarray:
        """The curve on the grid."""


@dataclass(frozen=True, eq=False)
class Interpolate(Align):
    """Linear between a curve's observations, constant beyond its first and last one.

    Parameters
    ----------
    gap : float, optional
        The longest stretch without an observation, as a share of the domain. Default: 0.25.
    least : int, optional
        The fewest observations at different times. Default: 2.

    Examples
    --------
    >>> Interpolate(gap=0.1).least
    2
    """

    @property
    def how(self) -> str:
        return "linear interpolation between its own observations, constant beyond the first and the last"

    def bring(self, times: np.ndarray, values: np.ndarray, home: Home) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # what a value does there is nobody's business
            return np.asarray(np.interp(home.grid.points, times, values))


@dataclass(frozen=True, eq=False)
class Smooth(Align):
    """Penalised least squares in the plan's basis, about the mean of the curve's own observations.

    Minimises the mean squared residual plus `penalty` times the sum of squared coefficients, each over its
    eigenvalue relative to the first.

    Parameters
    ----------
    gap : float, optional
        The longest stretch without an observation, as a share of the domain. Default: 0.25.
    least : int, optional
        The fewest observations at different times. Default: 2.
    penalty : float, optional
        Between 1e-12 and 1e6. Default: 1e-3.

    Examples
    --------
    >>> Smooth(penalty=0.01).penalty
    0.01
    """

    penalty: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.penalty, int | float | np.number) or not 1e-12 <= self.penalty <= 1e6:
            raise ParameterError("penalty must be between 1e-12 and 1e6", shown(self.penalty), "Pass penalty=1e-3.")
        object.__setattr__(self, "penalty", float(self.penalty))

    @property
    def how(self) -> str:
        return f"penalised least squares in the plan's basis (penalty {self.penalty:.3g}), about its own mean"

    def bring(self, times: np.ndarray, values: np.ndarray, home: Home) -> np.ndarray:
        with np.errstate(all="ignore"):
            level = values.mean()
            return np.asarray(level + self._smoothed(times, values - level, home.basis))

    def _smoothed(self, times: np.ndarray, values: np.ndarray, basis: Eigenbasis) -> np.ndarray:
        """The normal equations in the basis, so that memory does not grow with the number of observations."""
        if times.size <= CHUNK:
            return np.asarray(_smoother(basis, self.penalty, times.tobytes()) @ values)
        normal, moments = np.diag(np.full(basis.size, self.penalty * times.size)), np.zeros(basis.size)
        for start in range(0, times.size, CHUNK):
            seen = _seen(basis, times[start : start + CHUNK])
            normal += seen.T @ seen
            moments += seen.T @ values[start : start + CHUNK]
        return np.asarray(_seen(basis) @ np.linalg.solve(normal, moments))


def _seen(basis: Eigenbasis, times: np.ndarray | None = None) -> np.ndarray:
    """The functions of a basis at some times (or on the grid), each as large as its penalty allows."""
    values = basis.functions if times is None else basis.evaluate(np.clip(times, *basis.grid.axes[0].span))
    return np.asarray(values * np.sqrt(basis.eigenvalues / basis.eigenvalues[0]))


@lru_cache(maxsize=64)
def _smoother(basis: Eigenbasis, penalty: float, times: bytes) -> np.ndarray:
    """The public matrix from values at these times to the smooth curve on the grid; sensors often share times."""
    seen = _seen(basis, np.frombuffer(times))
    normal = seen.T @ seen
    normal[np.diag_indices_from(normal)] += penalty * len(seen)
    return np.asarray(_seen(basis) @ np.linalg.solve(normal, seen.T))


def as_align(align: Any) -> Align | None:
    """``"linear"`` or ``"smooth"``, or a whole rule."""
    words: dict[str, type[Align]] = {"linear": Interpolate, "smooth": Smooth}
    if align is None or isinstance(align, Align):
        return align
    if not isinstance(align, str) or align not in words:
        raise ParameterError("align is 'linear', 'smooth' or a rule of dp.spaces", shown(align), "Pass align='linear'.")
    return words[align]()


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Curves at their own times, one after another: `starts` has one entry more than there are curves."""

    times: np.ndarray
    values: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        return self.starts.size - 1


@dataclass(frozen=True, eq=False)
class Home:
    """Where curves are brought to: the plan's grid, and its basis."""

    grid: Grid
    basis: Eigenbasis


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
