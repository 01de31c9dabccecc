"""Percentile curves: private quantiles of OpenDP and diffprivlib at some times of a day, and the default."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import curve_shapes
import numpy as np
import opendp_ways as op
from elsewhere import Elsewhere, Job
from field_rows import NONE, OURS, PURE, Cell, Turns, best_label, best_of, repeated, timed, tuned

import dpfda as dp

SETS, POINTS, LEVELS = 6, curve_shapes.POINTS, curve_shapes.LEVELS
#: Numbers of times at which peers take percentiles, the rest being linear in between, and of candidates in the range.
PLACES, CANDIDATES = (1, 2, 4, 8, 12, 24), (19, 37, 73)
#: Runs of diffprivlib at most, which are slow.
MOST = 12


class Days:
    """Sets of curves of one population, whose percentiles are known."""

    def __init__(self, population: curve_shapes.Population, n: int) -> None:
        self.truth, self.range = population.percentiles, population.range
        self.drawn = [population.sample(n, np.random.default_rng([52, n, i])) for i in range(SETS)]
        self.turns = Turns(self.drawn)

    def error(self, found: np.ndarray) -> float:
        return float(np.abs(found - self.truth).mean())


def placed(count: int) -> list[int]:
    """Points of a day, spread evenly."""
    return [int((i + 0.5) * POINTS / count) for i in range(count)]


def between(found: np.ndarray, places: list[int]) -> np.ndarray:
    """Percentiles at all points, from those at some."""
    return np.array([np.interp(np.arange(POINTS), places, row) for row in found])


def ours(task: Days, epsilon: float) -> np.ndarray:
    grid = dp.Grid.midpoints(0, 24, POINTS)
    return dp.percentiles(
        task.turns.next(), epsilon=epsilon, range=task.range, levels=LEVELS.tolist(), grid=grid
    ).values


def opendp_error(task: Days, epsilon: float, count: int, candidates: int) -> float:
    places = placed(count)
    found = op.percentiles(task.turns.next()[:, places], LEVELS, *task.range, candidates, epsilon)
    return task.error(between(found, places))


def diffprivlib(cell: Cell, task: Days, runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    """Its quantiles at each number of times, the best on the runs shown."""
    data = repeated([{"X": sample} for sample in task.drawn], min(runs, MOST))
    low, high = task.range
    public = {"levels": LEVELS.tolist(), "low": low, "high": high}
    jobs = [Job("quantile", cell.epsilon, data, public | {"places": placed(count)}) for count in PLACES]
    answers = elsewhere.answers(jobs)
    if answers is None:
        return []
    found = {
        f"{count} times": ([task.error(between(row, placed(count))) for row in values], seconds)
        for count, (values, seconds) in zip(PLACES, answers)
    }
    settings, errors, spent = best_of(found)
    return [cell.row(best_label("diffprivlib, quantiles", len(jobs)), PURE, errors, spent, settings)]


def cell_rows(cell: Cell, task: Days, runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    release = partial(ours, task, cell.epsilon)
    rows = [cell.row(OURS, PURE, [task.error(release()) for _ in range(runs)], timed(release))]
    ways = {
        f"{count} times, {candidates} candidates": partial(opendp_error, task, cell.epsilon, count, candidates)
        for count, candidates in product(PLACES, CANDIDATES)
    }
    settings, errors, best = tuned(ways, 4, runs)
    name = best_label("OpenDP, private quantiles", len(ways))
    rows.append(cell.row(name, PURE, errors, timed(best), settings))
    rows += diffprivlib(cell, task, runs, elsewhere)
    plain = [task.error(np.quantile(sample, LEVELS, axis=0)) for sample in task.drawn]
    return [*rows, cell.row("percentiles of the sample", NONE, plain)]


def part(runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    rows = []
    population = next(p for p in curve_shapes.POPULATIONS if p.name == "glucose")
    measure = f"mean absolute error of {LEVELS.size} percentiles at {POINTS} times, mg/dL"
    for n, epsilon in ((1000, 1.0), (10_000, 1.0), (1000, 4.0)):
        cell = Cell("percentile curves", "invented glucose", n, epsilon, measure, headline=epsilon == 1.0)
        rows += cell_rows(cell, Days(population, n), runs, elsewhere)
    return rows
