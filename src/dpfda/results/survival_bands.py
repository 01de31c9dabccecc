"""Bands and intervals of survival curves, from simulated curves that fit the noisy counts (derivations: survival)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from dpfda.results.bands import check_level
from dpfda.results.event_cells import NoisyEvents

#: The shape within a bin is not seen: a share of its fall, and of its difference from the falls beside it, is allowed
#: for. Tuned until bands held over shapes that they were not tuned on (docs/derivations/survival.md).
SHAPE, ROUGH = 0.02, 0.3
#: Of few records times epsilon bands are too wide by what is guessed of hazards: they are narrowed, up to so many; of
#: more they are widened a little.
NARROWED, WIDENED, FEW, MANY = 0.95, 1.03, 250.0, 500.0
#: From so many bins of events on a curve may have a step anywhere in a cell: counts tell of steps then.
STEPPED = 24
#: How much larger the standard error of a test is than simulated curves say.
WIDER = 1.05


@dataclass(frozen=True)
class Estimate:
    """A number of a survival curve with an interval: a mean or a median survival time, or a difference of two.

    Parameters
    ----------
    value : float
        The estimate; infinite for a time that is not reached before the horizon.
    lower, upper : float
        The interval, which the estimate unpacks as.
    level : float
        Its probability.

    Examples
    --------
    >>> print(Estimate(420.0, 390.0, float("inf"), 0.95))
    420 (95 % interval: from 390 to beyond the horizon)
    >>> print(Estimate(float("inf"), float("inf"), float("inf"), 0.95))
    not reached before the horizon (95 % interval: nowhere before it)
    """

    value: float
    lower: float
    upper: float
    level: float

    def __iter__(self) -> Iterator[float]:
        """Unpacks as ``lower, upper``."""
        return iter((self.lower, self.upper))

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        shown = "not reached before the horizon" if np.isinf(self.value) else f"{self.value:.4g}"
        if np.isinf(self.lower):
            return f"{shown} ({round(100 * self.level, 6):g} % interval: nowhere before it)"
        ends = ["beyond the horizon" if np.isinf(end) else f"{end:.4g}" for end in self]
        return f"{shown} ({round(100 * self.level, 6):g} % interval: from {ends[0]} to {ends[1]})"


def too_few(events: NoisyEvents) -> float:
    """A share of the records that noise does not let tell from none."""
    return (1 + events.scale) / events.n


def simultaneous(draws: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Limits that hold a share `level` of whole rows, above and below in units of their own."""
    check_level(level)
    middle = np.median(draws, axis=0)
    strays = draws - middle
    above, below = (np.sqrt(2 * (np.maximum(side, 0) ** 2).mean(axis=0)) + 1e-9 for side in (strays, -strays))
    times = float(np.quantile(np.maximum(strays / above, -strays / below).max(axis=1), level))
    return middle - times * below, middle + times * above


def falls(events: NoisyEvents, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far survival falls in each bin of events, and how much farther or less than as steeply as beside it."""
    fall, widths = -np.diff(np.median(draws, axis=0)[events.event_edges]), np.diff(events.event_edges)
    steep = np.pad(fall / widths, 1, mode="edge")
    return fall, np.maximum(np.abs(fall - widths * steep[:-2]), np.abs(fall - widths * steep[2:]))


def limits(events: NoisyEvents, draws: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Limits of survival at the edges of the cells: never rising, within 0 and 1."""
    odds = scipy.special.logit(np.clip(draws, 1e-5, 1 - 1e-5))
    many = np.log(2 * events.n / max(events.scale, 1e-9))
    narrowed = float(np.interp(many, np.log([FEW, MANY]), [NARROWED, WIDENED]))
    middle = np.median(odds, axis=0)
    lower, upper = (scipy.special.expit(middle + narrowed * (side - middle)) for side in simultaneous(odds, level))
    edges, (fall, rough) = events.event_edges, falls(events, draws)
    bins = np.clip(np.searchsorted(edges, np.arange(events.cells + 1), side="right") - 1, 0, fall.size - 1)
    unseen, few = (SHAPE * fall + ROUGH * rough)[bins], too_few(events)
    lower, upper = lower - unseen, upper + unseen
    lower, upper = np.where(lower <= few, 0.0, lower), np.where(1 - upper <= few, 1.0, upper)
    lower, upper = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
    lower[0] = upper[0] = 1.0
    return np.maximum.accumulate(lower[::-1])[::-1], np.minimum.accumulate(upper)


def limits_between(
    events: NoisyEvents, sides: tuple[np.ndarray, np.ndarray], shares: np.ndarray, in_lumps: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Limits at times between the edges, as shares of the horizon.

    Where steps may be, those of the whole cell hold; where events come in lumps, those of the whole bin.
    """
    (lower, upper), ends, edges = sides, np.linspace(0, 1, events.cells + 1), events.event_edges
    cell = np.minimum((shares * events.cells).astype(int), events.cells - 1)
    stepped = (cell == 0) | (edges.size > STEPPED)
    below = np.where(stepped, lower[cell + 1], np.interp(shares, ends, lower))
    above = np.where(stepped, upper[cell], np.interp(shares, ends, upper))
    if in_lumps:
        bins = np.clip(np.searchsorted(edges, cell, side="right") - 1, 0, edges.size - 2)
        below, above = lower[edges[bins + 1]], upper[edges[bins]]
    start = shares <= 0  # nobody has had an event before time 0
    return np.where(start, 1.0, below), np.where(start, 1.0, above)


def unseen_area(events: NoisyEvents, draws: np.ndarray, in_lumps: bool) -> float:
    """How much an area under a curve may be off, as a share of the horizon, for falls that sit elsewhere in bins."""
    fall, rough = falls(events, draws)
    widths = np.diff(events.event_edges) / events.cells
    lumps = 0.5 * float(fall @ widths) if in_lumps else 0.0
    return ROUGH * float(np.linalg.norm(rough * widths)) + lumps


def interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """Limits that hold a share `level` of simulated values; values may be infinite."""
    check_level(level)
    ordered, cut = np.sort(values), int((1 - level) / 2 * len(values))
    return float(ordered[cut]), float(ordered[len(values) - 1 - cut])


def crossing(survival: np.ndarray, times: np.ndarray, share: float) -> np.ndarray:
    """When each survival curve falls to `share`; infinite where it does not."""
    curves = np.atleast_2d(survival)
    below = curves <= share
    first = np.maximum(below.argmax(axis=1), 1)
    rows = np.arange(len(curves))
    high, low = (-np.log(np.maximum(curves[rows, place], 1e-300)) for place in (first - 1, first))
    part = np.clip((-np.log(share) - high) / np.maximum(low - high, 1e-12), 0.0, 1.0)
    found = times[first - 1] + part * (times[first] - times[first - 1])
    return np.where(below.any(axis=1), found, np.inf)


def restricted_means(survival: np.ndarray, times: np.ndarray, end: float) -> np.ndarray:
    """Areas under survival curves up to `end`: lines between times, which are close."""
    curves, inside = np.atleast_2d(survival), times < end
    last = np.array([np.interp(end, times, curve) for curve in curves])
    points = np.append(times[inside], end)
    return np.asarray(np.trapezoid(np.column_stack([curves[:, inside], last]), points, axis=1))


def p_value(left: np.ndarray, right: np.ndarray, at_risk: np.ndarray, weights: np.ndarray) -> float:
    """Whether the areas under two simulated curves differ, two-sided.

    Times count by the root of the smaller share `at_risk`: those when nobody was watched count for nothing.
    """
    weights = weights * (np.sqrt(at_risk) + 1e-3)
    one, two = left @ weights, right @ weights
    error = WIDER * float(np.sqrt(one.var() + two.var())) + 1e-12 * float(weights.sum())
    return float(2 * scipy.special.ndtr(-abs(float(one.mean() - two.mean())) / error))
