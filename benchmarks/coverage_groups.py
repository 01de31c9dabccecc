"""Differences of two groups: what their bands hold, and how often their test says that they differ.

Groups of equal and unequal sizes: arms of an invented glucose trial, real sets split at random, and the same with a
shift. The test stands beside one that knows what each release left out, and the law of what remains: it sees the
sample means with the noise of the release alone, and takes its critical value from the runs themselves.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from coverage_cells import LEVEL, Tally, band_of, components, oracle, oracle_half_width
from populations import EPSILONS, Population, ball

import dpfda as dp
from dpfda.errors import ParameterError
from dpfda.noise import simulate

Pair = tuple[np.ndarray, np.ndarray]
ARMS = dp.Grid.midpoints(0, 24, 96)
#: Glucose in mmol/l: 2 to 16, as a practitioner would say.
ARM_BOUND = (9.0, 7.0)
SIZES, DOSES = ((300, 300), (900, 100)), (0.0, 0.25, 1.0)
#: Shifts of real sets, in pooled standard deviations of a curve at a point: small enough that tests miss some.
SHIFT = 0.25
BANDS = {"band": "sample", "confidence_band": "population", "noise_band": "sample"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two groups, and by how much their populations differ."""

    name: str
    grid: dp.Grid
    bound: dp.L2Ball
    sizes: tuple[int, int]
    difference: np.ndarray
    draw: Callable[[np.random.Generator], Pair]
    epsilons: tuple[float, ...] = EPSILONS

    @property
    def equal(self) -> bool:
        return not self.difference.any()


def arm(treated: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Glucose over a day: a level, and three meals whose time differs from person to person."""
    t = ARMS.points
    curves = 7.5 - 0.8 * treated + rng.normal(0, 0.8, (n, 1)) + rng.normal(0, 0.3, (n, t.size))
    for height, less, hour in MEALS:
        apart = t - hour - rng.normal(0, 0.4, (n, 1))
        curves += (height - less * treated) * np.exp(-0.5 * (apart / 1.2) ** 2)
    return np.asarray(curves)


MEALS = ((2.5, 0.7, 8.5), (2.0, 0.5, 13.5), (2.6, 0.6, 19.5))


def treatment() -> np.ndarray:
    """What treatment takes away: a bump whose place is normal is, on average, a wider and lower one."""
    t, wide = ARMS.points, np.hypot(1.2, 0.4)
    bumps = [less * 1.2 / wide * np.exp(-0.5 * ((t - hour) / wide) ** 2) for _, less, hour in MEALS]
    return np.asarray(-0.8 - np.sum(bumps, axis=0))


def arms(sizes: tuple[int, int], treated: float) -> Comparison:
    def draw(rng: np.random.Generator) -> Pair:
        return arm(treated, sizes[0], rng), arm(0.0, sizes[1], rng)

    name = f"arms, treated {treated:g}" if treated else "arms, equal"
    return Comparison(name, ARMS, ball(ARMS, *ARM_BOUND), sizes, treated * treatment(), draw)


def split(population: Population, curves: np.ndarray) -> Comparison:
    """A real set as it is, split at random in two groups, one twice the other."""
    many = 2 * len(curves) // 3

    def draw(rng: np.random.Generator) -> Pair:
        order = rng.permutation(len(curves))
        return curves[order[:many]], curves[order[many:]]

    sizes, none = (many, len(curves) - many), np.zeros(curves.shape[1])
    return Comparison(f"{population.name}, split", population.grid, population.bound, sizes, none, draw, (1.0, 4.0))


def resampled(population: Population, sizes: tuple[int, int], shift: float) -> Comparison:
    """Two samples of a population, one of them raised by a share of the population's standard deviation."""
    some = population.draw(2000, np.random.default_rng(zlib.crc32(population.name.encode())))
    raised = shift * float(np.sqrt(((some - population.mean) ** 2).mean()))

    def draw(rng: np.random.Generator) -> Pair:
        return population.draw(sizes[0], rng) + raised, population.draw(sizes[1], rng)

    name = f"{population.name}, {'shifted' if shift else 'equal'}"
    difference = np.full(population.grid.size, raised)
    return Comparison(name, population.grid, population.bound, sizes, difference, draw, (1.0, 4.0))


def comparisons(populations: dict[str, Population]) -> dict[str, Comparison]:
    """All comparisons; those of real sets where these are there."""
    found = [arms(sizes, treated) for treated in DOSES for sizes in SIZES]
    for population in populations.values():
        if population.curves is not None and population.kind == "tune":
            found.append(split(population, population.curves))
            found += [resampled(population, (1000, 300), shift) for shift in (0.0, SHIFT)]
    return {f"{one.name} | n {one.sizes[0]}, {one.sizes[1]}": one for one in found}


def measure(one: Comparison, epsilon: float, runs: int) -> dict[str, Any]:
    """All figures of a comparison at one epsilon."""
    started, names = time.perf_counter(), ("first", "second")
    plans = [dp.MeanPlan(n=n, epsilon=epsilon, bound=one.bound, grid=one.grid) for n in one.sizes]
    plan, labels = dp.plans.GroupPlan(names, plans), np.repeat(names, one.sizes)
    tallies = {name: Tally() for name in BANDS}
    wrong: dict[str, list[np.ndarray]] = {"sample": [], "population": []}
    values, known, counts = [], [], []
    for run in range(runs):
        rng = np.random.default_rng([zlib.crc32(one.name.encode()), *one.sizes, run])
        first, second = one.draw(rng)
        both = plan.release(np.concatenate([first, second]), by=labels)
        difference = both.difference(*names)
        sample = first.mean(axis=0) - second.mean(axis=0)
        targets = {"sample": sample, "population": one.difference}
        for name, target in BANDS.items():
            tallies[name].add(band_of(difference, name), targets[target])
        for target, truth in targets.items():
            wrong[target].append(np.ravel(difference.values) - truth)
        known.append(sample + noise(both["first"], rng) - noise(both["second"], rng))
        values.append(p_value(difference))
        counts.append([components(both[name]) for name in names])
    told = [value for value in values if value is not None]
    size, multiple = oracle(np.array(known) - one.difference)
    found: dict[str, Any] = {
        "comparison": one.name,
        "sizes": list(one.sizes),
        "equal": one.equal,
        "epsilon": epsilon,
        "runs": runs,
        "components": np.mean(counts, axis=0).tolist(),
        **{name: tally.figures() for name, tally in tallies.items()},
        "oracle": {target: oracle_half_width(np.array(rows)) for target, rows in wrong.items()},
        "rejected": float(np.mean([value <= 1 - LEVEL for value in told])) if told else None,
        "rejected_at_1_percent": float(np.mean([value <= 0.01 for value in told])) if told else None,
        "rejected_by_oracle": float((np.abs(np.array(known) / size).max(axis=1) > multiple).mean()),
        "seconds": time.perf_counter() - started,
    }
    for name, target in BANDS.items():
        if found[name] is not None:
            found[name]["over_oracle"] = found[name]["half_width"] / found["oracle"][target]
    return found


def noise(release: dp.results.MeanRelease, rng: np.random.Generator) -> np.ndarray:
    """A draw of the noise of a release, as a curve."""
    stage = release.stage
    statistic = stage.problem.typical(release.raw[: stage.problem.basis.size])
    drawn = simulate(stage, statistic, 1, rng)[0] - stage.problem.finish(statistic.copy(), stage.parts)
    return np.asarray(stage.problem.basis.synthesize(drawn))


def p_value(difference: Any) -> float | None:
    """Of the test of no difference; None where there is none."""
    if not hasattr(difference, "test"):
        return None
    try:
        return float(difference.test().p_value)
    except ParameterError:
        return None
