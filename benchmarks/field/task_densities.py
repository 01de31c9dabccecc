"""Densities on a line and on a plane: histograms of OpenDP and diffprivlib, a kernel sketch, and the default."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import lsq_sketches as lsq
import numpy as np
import opendp_ways as op
from elsewhere import Elsewhere, Job
from field_rows import NONE, OURS, PURE, Cell, Turns, best_label, best_of, repeated, timed, tuned

import dpfda as dp

EPSILONS, N, SETS = (1.0, 4.0), 2000, 12
BINS = {1: (4, 6, 8, 12, 16, 24, 32, 48), 2: (4, 6, 8, 12, 16, 24, 32)}
#: Of the sketch: boxes an axis by dimension, terms, and bandwidths as shares of the domain.
BOXES, TERMS, WIDTHS = {1: (8, 16, 32), 2: (8, 16)}, (1, 2), (0.02, 0.03, 0.045, 0.065, 0.09)
#: Bandwidths of the kernel estimate without privacy.
PLAIN_WIDTHS = (0.02, 0.03, 0.045, 0.065)


class Mixture:
    """Sets of points of one law, and its density on the default's grid."""

    def __init__(self, dimension: int) -> None:
        self.dimension, self.rng = dimension, np.random.default_rng([51, dimension])
        self.drawn = [dp.datasets.mixture(N, self.rng, dimension) for _ in range(SETS)]
        self.turns, self.domain = Turns(self.drawn), self.drawn[0].domain
        self.grid = dp.DensityPlan(n=N, epsilon=1.0, domain=list(self.domain)).grid
        self.truth = self.drawn[0].density(self.grid.points)
        self.places = self.grid.points.reshape(-1, dimension)
        self.low, self.high = np.array(self.domain).T

    def error(self, values: np.ndarray) -> float:
        return float(self.grid.weights @ (values.ravel() - self.truth) ** 2)

    def spread(self, heights: np.ndarray) -> np.ndarray:
        """A histogram's heights at the places of the grid."""
        bins = heights.shape[0]
        at = np.clip(((self.places - self.low) / (self.high - self.low) * bins).astype(int), 0, bins - 1)
        return heights[tuple(at.T)]

    def normal(self, width: float) -> float:
        """The integral of the kernel."""
        return float((np.sqrt(2 * np.pi) * width) ** self.dimension)

    @property
    def scale(self) -> float:
        """The length of the domain along each axis."""
        return float((self.high - self.low)[0])


def ours(task: Mixture, epsilon: float) -> np.ndarray:
    return dp.density(task.turns.next().points, epsilon=epsilon, domain=list(task.domain)).values


def histogram_error(task: Mixture, epsilon: float, bins: int) -> float:
    return task.error(task.spread(op.histogram(task.turns.next().points, task.domain, bins, epsilon)))


def sketch_error(task: Mixture, epsilon: float, boxes: int, terms: int, share: float) -> float:
    width = share * task.scale
    sketch = lsq.Hermite(task.low, task.high, boxes, terms, width)
    points = task.turns.next().points.reshape(-1, task.dimension)
    found = sketch.answers(sketch.sketch(points, epsilon, task.rng), task.places)
    return task.error(found / task.normal(width))


def kernel_error(task: Mixture, share: float, sample: Any) -> float:
    width = share * task.scale
    found = lsq.exact(sample.points.reshape(-1, task.dimension), task.places, width)
    return task.error(found / task.normal(width))


def tuned_row(cell: Cell, name: str, ways: dict[str, Callable[[], float]], trials: int, runs: int) -> dict[str, Any]:
    settings, errors, best = tuned(ways, trials, runs)
    return cell.row(best_label(name, len(ways)), PURE, errors, timed(best), settings)


def diffprivlib(cell: Cell, task: Mixture, runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    """Its histograms of points on a line, the best on the runs shown."""
    data = repeated([{"X": sample.points} for sample in task.drawn], runs)
    jobs = [Job("histogram", cell.epsilon, data, {"bins": bins, "low": 0.0, "high": 1.0}) for bins in BINS[1]]
    answers = elsewhere.answers(jobs)
    if answers is None:
        return []
    found = {
        f"{bins} bins": ([task.error(task.spread(row)) for row in values], seconds)
        for bins, (values, seconds) in zip(BINS[1], answers)
    }
    settings, errors, spent = best_of(found)
    return [cell.row(best_label("diffprivlib, histogram", len(jobs)), PURE, errors, spent, settings)]


def kernel_row(cell: Cell, task: Mixture) -> dict[str, Any]:
    """The kernel estimate without privacy, once for each set."""
    errors = [[kernel_error(task, share, sample) for sample in task.drawn] for share in PLAIN_WIDTHS]
    best = min(errors, key=lambda some: float(np.mean(some)))
    return cell.row(f"kernel estimate, best of {len(PLAIN_WIDTHS)} bandwidths", NONE, best)


def cell_rows(cell: Cell, task: Mixture, runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    epsilon, release = cell.epsilon, partial(ours, task, cell.epsilon)
    histograms = {
        f"{bins} bins an axis": partial(histogram_error, task, epsilon, bins) for bins in BINS[task.dimension]
    }
    sketches = {
        f"{boxes} boxes an axis, {terms} terms, bandwidth {share:g} of the domain": partial(
            sketch_error, task, epsilon, boxes, terms, share
        )
        for boxes, terms, share in product(BOXES[task.dimension], TERMS, WIDTHS)
    }
    rows = [
        cell.row(OURS, PURE, [task.error(release()) for _ in range(runs)], timed(release)),
        tuned_row(cell, "OpenDP, histogram", histograms, max(4, runs // 2), runs),
        tuned_row(cell, "LSQ, fast Gauss transform", sketches, max(3, runs // 6), runs),
    ]
    if task.dimension == 1:
        rows += diffprivlib(cell, task, runs, elsewhere)
    return [*rows, kernel_row(cell, task)]


def part(runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    rows = []
    for dimension, what in ((1, "density on a line"), (2, "density on a plane")):
        task, name = Mixture(dimension), f"mixture, {dimension}-D"
        for epsilon in EPSILONS:
            cell = Cell(what, name, N, epsilon, "integrated squared error", headline=epsilon == 1.0)
            rows += cell_rows(cell, task, runs, elsewhere)
    return rows
