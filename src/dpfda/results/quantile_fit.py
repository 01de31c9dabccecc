"""The fit of percentile curves to noisy cosines of ranks: penalised least squares, with penalties that data choose.

All coefficients of the model have normal priors about public centres. Prior scales are chosen by the marginal
likelihood of what was released, coefficients by Gauss-Newton steps. Post-processing: it sees nothing but noisy numbers,
and it ends with a whole surface whatever these are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy

from dpfda.problems.rank_moments import LEVELS
from dpfda.results.quantile_atoms import factors_of
from dpfda.results.quantile_model import SHAPE, Model, Observed, Term, cosines, ranks, scores

#: Public guesses of location, log scale, skewness and tails in units of the range: centre and scale of the constant,
#: and the scale of the j-th cosine of time, over j.
PRIORS = {
    "location": (0.4, 0.4, 0.06),
    "scale": (float(np.log(0.1)), 0.8, 0.1),
    "skewness": (0.15, 0.2, 0.06),
    "tails": (0.0, 0.4, 0.1),
}
#: The log of an atom at an end of the range, relative to the rest: centre and scale. Atoms are kept where they lower
#: the cost by so much; without them their logs stay where they are nothing.
END, END_SCALE, ENDS_GAIN, NO_END = -6.0, 2.0, 10.0, -30.0
#: Cosines of time of location, log scale, skewness and tails, as parts of those of the last stage's first order.
COSINES = (1.0, 0.6, 0.5, 0.1)
#: Scale and skewness often follow the location over the day: the scale of such a link.
LINKS = {"scale": 0.4, "skewness": 0.2}
#: The scale of the tilt's first cosine; of order l and the j-th cosine of time, over l j. The first two orders repeat
#: location and scale, and get this part of it. There are so many more orders than were released.
TILT, REPEATED, MORE_ORDERS = 0.3, 0.1, 2
#: Prior scales that are tried, as factors, and the standard deviation of the log of one above and below: many shapes
#: hardly change in time. That of a tilt which stays has its own.
FACTORS, ABOVE, BELOW, STAYING = np.exp(np.linspace(-4.8, 2.4, 13)), 1.0, 1.5, 2.0
#: Prior scales that are chosen, of the plain family and of the tilted one beyond it.
PLAIN, TILTED = (
    ("location", "scale", "skewness"),
    ("tilt", "tilt constant", "tails", "scale otherwise", "skewness otherwise"),
)
#: How many scales in a row may be worse before the search turns.
MISSES = 2
#: What sampling adds to the variance of the j-th mean cosine, over n j^2.
SAMPLING = 0.7
#: Blocks of the range that are told apart by the fit, and values in all: what a processor's cache holds. The plain
#: family, which tells roughly where values lie, takes fewer.
FEWEST_BLOCKS, MOST_VALUES, ROUGHLY = 128, 30_000, 8_000
#: Gauss-Newton steps, how far they go, and when they end.
STEPS, PARTS, GAIN = 12, (1.0, 0.5, 0.25, 0.1, 0.03), 0.05
#: Variances at first, as factors: from coarse to fine there are fewer false ends. Where numbers are missed by so many
#: variances on average, the linearised model says nothing about prior scales.
BLURRED, FAR_OFF = (100.0, 10.0, 1.0), 30.0
#: A mean cosine is at most sqrt(2) in size: beyond that and so many standard deviations of the noise it says no more.
FARTHEST, DEVIATIONS = 1.5, 8.0


@dataclass(frozen=True, eq=False)
class Pooled:
    """Noisy shares of all cells of the range, over all times together, and the standard deviation of their noise."""

    shares: np.ndarray
    sd: float


@dataclass(frozen=True, eq=False)
class Surface:
    """Distributions of values, one at each time, in units of the range."""

    model: Model
    coefficients: np.ndarray
    #: Factors of prior scales, as chosen.
    widths: Mapping[str, float]

    @cached_property
    def cdf(self) -> np.ndarray:
        """Probabilities below the edges of all cells, one row per time."""
        masses = self.model.masses(self.coefficients)
        below = np.concatenate([np.zeros((len(masses), 1)), np.cumsum(masses, axis=1)], axis=1)
        return np.asarray(below / below[:, -1:])

    def quantile(self, levels: np.ndarray) -> np.ndarray:
        """The value below which each share lies: one row per level, one column per time."""
        return np.asarray(np.maximum.accumulate(turned_around(self.cdf, levels), axis=0))

    @property
    def course(self) -> np.ndarray | None:
        """The location over time, about zero and of size one; None where there is one time."""
        location, shares = self.model.functions(self.coefficients)[:, 0], self.model.shares
        if shares.size == 1:
            return None
        location = location - shares @ location
        return np.asarray(location / max(float(np.sqrt(shares @ location**2)), 1e-3))

    @cached_property
    def scale(self) -> np.ndarray:
        """Prior scales of all coefficients, as chosen."""
        return _scaled(self.model, self.widths)

    def next_table(self, cells: int) -> np.ndarray:
        """Levels of all cells for the next stage: where values lie in the fitted distribution, made wide."""
        middle = (np.arange(cells) + 0.5) / cells
        shape = self.model.functions(self.coefficients)[:, :SHAPE].copy()
        shape[:, 3] = np.maximum(shape[:, 3], 0.0)  # never lighter tails than the normal's
        u = ranks(scores(middle, shape))
        return np.asarray(np.minimum((u * LEVELS).astype(np.int64), LEVELS - 1))


def turned_around(below: np.ndarray, levels: np.ndarray, side: Literal["left", "right"] = "left") -> np.ndarray:
    """The smallest (left) or largest (right) share of the range where each row reaches each level: one row per level.

    >>> turned_around(np.array([[0.0, 0.5, 0.5, 1.0]]), np.array([0.5]), "right").tolist()
    [[0.6666666666666666]]
    """
    found, count = np.empty((levels.size, len(below))), below.shape[1] - 1
    for t, row in enumerate(below):
        right = np.clip(np.searchsorted(row, levels, side=side), 1, count)
        rise = np.maximum(row[right] - row[right - 1], 1e-300)
        found[:, t] = (right - 1 + np.clip((levels - row[right - 1]) / rise, 0, 1)) / count
    return found


def first_table(times: int, cells: int) -> np.ndarray:
    """Levels of all cells where nothing is known yet: evenly over the range."""
    return np.tile(((np.arange(cells) + 0.5) / cells * LEVELS).astype(np.int64), (times, 1))


def fitted(
    observed: Sequence[Observed], time: np.ndarray, shares: np.ndarray, n: float, pooled: Pooled | None = None
) -> Surface:
    """The surface that is fitted to the mean cosines of all stages so far, of about `n` records.

    `pooled` shares of cells tell of values that many records have.
    """
    observed = [_within_reach(stage) for stage in observed]
    cells, times = observed[0].table.shape[1], len(shares)
    rough, blocks = (_blocks(cells, times, most) for most in (ROUGHLY, MOST_VALUES))
    with np.errstate(all="ignore"):
        factors = None if pooled is None else factors_of(pooled.shares, pooled.sd)
        plain = [_without_tilt(observed, time, shares, n, rough, ends, factors) for ends in (False, True)]
        _, surface, ends = min(plain, key=lambda found: found[0])
        if len(observed) == 1:
            return surface
        terms = _terms(observed[-1], time, shares, ends, observed[-1].orders + MORE_ORDERS, surface.course)
        if pooled is not None and factors is not None:
            factors = factors_of(pooled.shares, pooled.sd, np.diff(surface.cdf, axis=1).mean(axis=0))
        model = Model(observed, time, shares, blocks, terms, factors)
        coefficients, widths = _carried_over(surface, model), {**surface.widths, **dict.fromkeys(TILTED, 1.0)}
        for _ in range(2):
            widths = _chosen(model, coefficients, widths, n)
            coefficients, _ = _climbed(model, coefficients, _scaled(model, widths), n)
    return Surface(model, coefficients, widths)


def _blocks(cells: int, times: int, most: int) -> int:
    """How many blocks of the range are told apart: as many as cells, halved until values are few enough."""
    while times * cells > most and cells > FEWEST_BLOCKS and cells % 2 == 0:
        cells //= 2
    return cells


def _within_reach(stage: Observed) -> Observed:
    """The same with means no larger than any noise would leave them: whatever was drawn, a fit exists."""
    most = [FARTHEST + DEVIATIONS * np.sqrt(v) for v in stage.variance]
    means = [np.clip(np.nan_to_num(m), -b, b) for m, b in zip(stage.means, most, strict=True)]
    return Observed(stage.table, stage.functions, means, stage.variance)


def _without_tilt(
    observed: Sequence[Observed],
    time: np.ndarray,
    shares: np.ndarray,
    n: float,
    blocks: int,
    ends: bool,
    factors: np.ndarray | None,
) -> tuple[float, Surface, bool]:
    """The best surface of the plain family, with or without atoms at the ends, and its cost."""
    model = Model(observed, time, shares, blocks, _terms(observed[-1], time, shares, ends, 0), factors)
    coefficients, widths = model.centre.copy(), dict.fromkeys(PLAIN, 1.0)
    coefficients[model.starts[:3]] = _start(model.observed[0], n)
    if ends:
        coefficients[model.starts[SHAPE : SHAPE + 2]] = -4.0
    for blurred in BLURRED:
        coefficients, _ = _climbed(model, coefficients, model.scale, n, blurred)
    widths = _chosen(model, coefficients, widths, n)
    coefficients, cost = _climbed(model, coefficients, _scaled(model, widths), n)
    return cost + ENDS_GAIN * ends, Surface(model, coefficients, widths), ends


def _carried_over(surface: Surface, model: Model) -> np.ndarray:
    """The coefficients of a surface in a model that has more of them, where they are nothing yet."""
    coefficients, old = model.centre.copy(), surface.model
    for term, start, begin in zip(old.terms, old.starts, model.starts, strict=False):
        size = term.basis.shape[1]
        coefficients[begin : begin + size] = surface.coefficients[start : start + size]
    return coefficients


# -- public guesses --------------------------------------------------------------------------


def _terms(
    stage: Observed, time: np.ndarray, shares: np.ndarray, ends: bool, tilts: int, course: np.ndarray | None = None
) -> list[Term]:
    """All functions of time of a model: as many cosines as the last stage tells of, and links to a `course`."""
    counts = [int(min(time.shape[1], max(1, stage.functions[0] * part))) for part in COSINES]
    line = np.sqrt(3) * (2 * np.cumsum(shares) - shares - 1)
    terms = []
    for (name, (centre, constant, scale)), count in zip(PRIORS.items(), counts, strict=True):
        more = []
        if name in ("location", "scale") and len(shares) > 2:  # a slope all along, which cosines take long to make
            more.append((line, scale))
        if name in LINKS and course is not None:
            more.append((course, LINKS[name]))
        scales = [constant, *(scale / np.arange(1.0, count))]
        terms.append(_term(time[:, :count], centre, scales, name, more))
    for _ in range(2):
        count = counts[2] if ends else 1
        scales = [END_SCALE if ends else 1e-6, *(0.5 / np.arange(1.0, count))]
        terms.append(_term(time[:, :count], END if ends else NO_END, scales, "ends"))
    for order in range(1, tilts + 1):
        count = stage.functions[min(order, stage.orders) - 1]
        scale = TILT / order * (REPEATED if order < 3 else 1.0)
        falling = scale / np.arange(1.0, count + 1)
        terms.append(Term(time[:, :count], np.zeros(count), falling, ("tilt constant", *["tilt"] * (count - 1))))
    return terms


def _term(
    basis: np.ndarray,
    centre: float,
    scales: Sequence[float],
    name: str,
    more: Sequence[tuple[np.ndarray, float]] = (),
) -> Term:
    """A term whose constant, and whatever is no cosine, keeps its own scale."""
    names = (f"{name} constant", *[name] * (len(scales) - 1), *[f"{name} otherwise"] * len(more))
    columns = np.column_stack([basis, *(column for column, _ in more)])
    return Term(columns, np.append(centre, np.zeros(len(names) - 1)), np.array([*scales, *(s for _, s in more)]), names)


def _start(stage: Observed, n: float) -> np.ndarray:
    """Location, log scale and skewness of the best distribution that is the same at all times, by a search."""
    found = np.array([means[0] for means in stage.means])
    variance = np.array([v[0] for v in stage.variance]) + 1 / n
    grids = np.linspace(0.02, 0.98, 33), np.log([0.01, 0.03, 0.06, 0.1, 0.15, 0.25]), np.array([-0.3, 0.15, 0.6])
    shapes = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 3)
    z = scores(np.linspace(0, 1, 129)[1:-1], np.column_stack([shapes, np.zeros(len(shapes))]))
    below = np.concatenate([np.zeros((len(z), 1)), scipy.special.ndtr(z), np.ones((len(z), 1))], axis=1)
    table = cosines(stage.orders).reshape(128, -1, stage.orders).mean(axis=1)
    cost = ((np.diff(below, axis=1) @ table - found) ** 2 / variance).sum(axis=1)
    for place, (centre, constant, _) in enumerate(list(PRIORS.values())[:3]):
        cost += ((shapes[:, place] - centre) / constant) ** 2
    return np.asarray(shapes[np.argmin(cost)])


# -- steps -----------------------------------------------------------------------------------


def variance_of(model: Model, n: float) -> np.ndarray:
    """The variance of each released number about the population's: noise, and a guess of what sampling adds."""
    waves = [np.arange(1.0, k + 1) for stage in model.observed for k in stage.functions]
    return np.asarray(model.noise + SAMPLING / n * np.concatenate(waves) ** -2)


def _scaled(model: Model, widths: Mapping[str, float]) -> np.ndarray:
    return np.asarray(model.scale * np.array([widths.get(str(name), 1.0) for name in model.names]))


def _cost(model: Model, coefficients: np.ndarray, scale: np.ndarray, variance: np.ndarray) -> float:
    misfit = (model.means(coefficients) - model.target) ** 2 / variance
    return float(misfit.sum() + (((coefficients - model.centre) / scale) ** 2).sum())


def _climbed(
    model: Model, coefficients: np.ndarray, scale: np.ndarray, n: float, blurred: float = 1.0
) -> tuple[np.ndarray, float]:
    """Gauss-Newton steps, shortened until they lower the cost; variances may be `blurred` by a factor."""
    variance = blurred * variance_of(model, n)
    best = _cost(model, coefficients, scale, variance)
    for _ in range(STEPS):
        value, slopes = model.means_and_slopes(coefficients)
        scaled = slopes * scale
        kernel = scaled @ scaled.T
        kernel[np.diag_indices_from(kernel)] += variance
        try:
            residual = model.target - value + slopes @ (coefficients - model.centre)
            weights = scipy.linalg.cho_solve(scipy.linalg.cho_factor(kernel), residual)
        except (np.linalg.LinAlgError, ValueError):  # rounding alone
            break
        goal = model.centre + scale * (scaled.T @ weights)
        for part in PARTS:
            trial = coefficients + part * (goal - coefficients)
            cost = _cost(model, trial, scale, variance)
            if cost < best:
                break
        else:
            break
        gain, coefficients, best = best - cost, trial, cost
        if gain < GAIN:
            break
    return coefficients, best


def _chosen(model: Model, coefficients: np.ndarray, widths: Mapping[str, float], n: float) -> dict[str, float]:
    """Factors of prior scales by the marginal likelihood of the linearised model, one after the other."""
    value, slopes = model.means_and_slopes(coefficients)
    variance = variance_of(model, n)
    if ((model.target - value) ** 2 / variance).mean() > FAR_OFF:
        return dict(widths)
    residual = model.target - value + slopes @ (coefficients - model.centre)
    fixed, parts = np.diag(variance), {}
    for name in dict.fromkeys(model.names.tolist()):
        own = model.names == name
        scaled = slopes[:, own] * model.scale[own]
        if name in widths:
            parts[name] = scaled @ scaled.T
        else:
            fixed = fixed + scaled @ scaled.T

    def score(tried: Mapping[str, float]) -> float:
        kernel = fixed + sum(tried[name] ** 2 * part for name, part in parts.items())
        try:
            low = np.linalg.cholesky(kernel)
        except np.linalg.LinAlgError:  # rounding alone
            return np.inf
        v = scipy.linalg.solve_triangular(low, residual, lower=True)
        prior = sum(_unlikely(name, tried[name]) for name in parts)
        return float(0.5 * v @ v + np.log(np.diag(low)).sum() + prior)

    found = dict(widths)
    best = score(found)
    for _ in range(3):
        before = dict(found)
        for name in parts:
            here = int(np.argmin(np.abs(np.log(FACTORS / found[name]))))
            for step in (-1, 1):
                place, misses = here + step, 0
                while 0 <= place < FACTORS.size and misses < MISSES:
                    trial = {**found, name: float(FACTORS[place])}
                    cost = score(trial)
                    if cost < best:
                        found, best, misses = trial, cost, 0
                    else:
                        misses += 1
                    place += step
                if found[name] != before[name]:
                    break
        if found == before:
            break
    return found


def _unlikely(name: str, factor: float) -> float:
    """Minus the log of the prior of a factor of a prior scale."""
    sd = STAYING if name == "tilt constant" else ABOVE if factor > 1 else BELOW
    return float((np.log(factor) / sd) ** 2 / 2)


# -- before data -----------------------------------------------------------------------------


def imagined(
    observed: Sequence[Observed], time: np.ndarray, shares: np.ndarray, location: float, scale: float
) -> Surface:
    """Curves that spread about one level as a normal distribution does, as a fit to these stages would have them.

    What was observed does not matter, only with which noise.
    """
    tilts = observed[-1].orders + MORE_ORDERS if len(observed) > 1 else 0
    model = Model(observed, time, shares, observed[0].table.shape[1], _terms(observed[-1], time, shares, False, tilts))
    coefficients = model.centre.copy()
    coefficients[model.starts[:3]] = location, np.log(scale), 0.0
    return Surface(model, coefficients, {})
