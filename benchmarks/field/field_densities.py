"""Kernel density estimates at queries: locality-sensitive sketches, and the default density smoothed by the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import density_real
import lsq_sketches as lsq
import numpy as np
from field_rows import OURS, PURE, Cell, best_label, timed, tuned

import dpfda as dp

EPSILONS, QUERIES = (0.5, 1.0, 4.0), 500
FEATURES = (5, 10, 20, 50, 100, 200)
#: Boxes along each axis and powers within them, by dimension.
BOXES = {1: (4, 8, 12, 16, 24, 32, 48), 2: (4, 8, 12, 16, 24, 32), 3: (3, 4, 6, 8, 12)}
TERMS = {1: (1, 2, 3, 4), 2: (1, 2, 3), 3: (1, 2)}
MEASURE = "mean absolute error of the kernel estimate (0 to 1) at 500 fresh points"


@dataclass(frozen=True)
class Points:
    """Points in a public box, queries of the same law, and the bandwidth that the task names."""

    name: str
    points: np.ndarray
    queries: np.ndarray
    domain: tuple[tuple[float, float], ...]
    bandwidth: float

    @property
    def dimension(self) -> int:
        return len(self.domain)

    @cached_property
    def truth(self) -> np.ndarray:
        return lsq.exact(self.points, self.queries, self.bandwidth)


def mixture(n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """Points in the unit cube about two places."""
    middles = np.array([[0.3, 0.35, 0.4], [0.7, 0.6, 0.7]])[:, :dimension]
    drawn = middles[(rng.random(n) >= 0.6).astype(int)] + rng.normal(0, 0.1, (n, dimension))
    return np.clip(drawn, 0, 1)


def sets(folder: Path) -> Iterator[Points]:
    rng = np.random.default_rng(31)
    for dimension, n, bandwidth in ((1, 500, 0.05), (1, 5000, 0.05), (2, 2000, 0.6), (2, 20_000, 0.6)):
        drawn = dp.datasets.mixture(n + QUERIES, rng, dimension)
        rows = drawn.points.reshape(-1, dimension)
        rows = rows[rng.permutation(len(rows))]
        yield Points(f"mixture, {dimension}-D", rows[:n], rows[n:], drawn.domain, bandwidth)
    rows = mixture(20_000 + QUERIES, 3, rng)
    yield Points("mixture, 3-D", rows[QUERIES:], rows[:QUERIES], ((0.0, 1.0),) * 3, 0.1)
    if (folder / "real" / "bounds.json").exists():
        real = density_real.real_samples(folder / "real")
        for name in ("italy_power, maximum", "elec_load, maximum", "tecator, maximum"):
            if name in real:
                points = real[name].points
                queries = points[rng.integers(0, len(points), QUERIES)]
                width = float(f"{points.std() * len(points) ** -0.2:.1g}")
                yield Points(name, points[:, None], queries[:, None], ((0.0, 1.0),), width)


def smoothed(release: Any, task: Points) -> np.ndarray:
    """A density's kernel estimate: what its cells hold, spread by the kernel."""
    cells = release.cells
    held = cells.masses.reshape(cells.grid.shape)
    axes = [axis.points for axis in cells.grid.axes] if task.dimension > 1 else [cells.grid.points]
    reach = [
        np.exp(-((task.queries[:, i : i + 1] - places) ** 2) / (2 * task.bandwidth**2)) for i, places in enumerate(axes)
    ]
    subscripts = {1: "qa,a->q", 2: "qa,qb,ab->q", 3: "qa,qb,qc,abc->q"}[task.dimension]
    return np.asarray(np.einsum(subscripts, *reach, held, optimize=True))


def ours(task: Points, epsilon: float) -> np.ndarray:
    points = task.points[:, 0] if task.dimension == 1 else task.points
    return smoothed(dp.density(points, epsilon=epsilon, domain=list(task.domain)), task)


def fourier(task: Points, epsilon: float, rng: np.random.Generator, features: int) -> np.ndarray:
    sketch = lsq.Fourier.drawn(features, task.bandwidth, task.dimension, rng)
    return sketch.answers(sketch.sketch(task.points, epsilon, rng), task.queries)


def hermite(task: Points, epsilon: float, rng: np.random.Generator, boxes: int, terms: int) -> np.ndarray:
    low, high = np.array(task.domain).T
    sketch = lsq.Hermite(low, high, boxes, terms, task.bandwidth)
    return sketch.answers(sketch.sketch(task.points, epsilon, rng), task.queries)


def sketches(task: Points, epsilon: float, rng: np.random.Generator) -> dict[str, dict[str, Callable[[], np.ndarray]]]:
    """The peers' ways to answer the queries, by method and settings."""
    return {
        "LSQ, Fourier features": {
            f"{features} features": partial(fourier, task, epsilon, rng, features) for features in FEATURES
        },
        "LSQ, fast Gauss transform": {
            f"{boxes} boxes an axis, {terms} terms": partial(hermite, task, epsilon, rng, boxes, terms)
            for boxes, terms in product(BOXES[task.dimension], TERMS[task.dimension])
        },
    }


def error(task: Points, answer: Callable[[], np.ndarray]) -> float:
    return float(np.abs(answer() - task.truth).mean())


def cell_rows(cell: Cell, task: Points, runs: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    release = partial(ours, task, cell.epsilon)
    errors = [error(task, release) for _ in range(runs)]
    rows = [cell.row(OURS + ", smoothed with the kernel", PURE, errors, timed(release))]
    for name, ways in sketches(task, cell.epsilon, rng).items():
        scored = {setting: partial(error, task, way) for setting, way in ways.items()}
        settings, errors, best = tuned(scored, max(4, runs // 4), runs)
        rows.append(cell.row(best_label(name, len(ways)), PURE, errors, timed(best), settings))
    return rows


def part(folder: Path, runs: int) -> list[dict[str, Any]]:
    rows = []
    rng = np.random.default_rng(2)
    for task in sets(folder):
        many = runs if task.dimension == 1 else max(6, runs // 2)
        for epsilon in EPSILONS:
            what = "kernel density at queries"
            cell = Cell(what, task.name, len(task.points), epsilon, MEASURE, headline=epsilon == 1.0)
            rows += cell_rows(cell, task, many, rng)
    return rows
