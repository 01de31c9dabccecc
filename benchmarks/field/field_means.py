"""Mean curves: PLAN, OpenDP's and diffprivlib's best way, scikit-fda without privacy, and the default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import covariance
import numpy as np
import opendp_ways as op
import plan_mean as plan
import skfda
from elsewhere import Elsewhere, Job
from field_rows import (
    APPROXIMATE,
    NONE,
    OURS,
    PURE,
    ZCDP,
    Cell,
    Turns,
    best_label,
    best_of,
    repeated,
    rho_of,
    timed,
    tuned,
)

import dpfda as dp

EPSILONS, SETS = (0.5, 1.0, 4.0), 8
SHARES, BEYOND = (0.1, 0.25, 0.5), (0.02, 0.1)
COUNTS = (1, 2, 3, 5, 8, 12, 20)
#: Half the public range of a point, in radii of the public ball.
RANGES = (1.0, 2.0, 3.0)
#: A way to a mean curve: from curves, one row each.
Way = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Curves:
    """Sets of curves (one where they are real), what their mean is held against, and their public ball."""

    name: str
    sets: list[np.ndarray]
    truths: list[np.ndarray]
    center: float
    radius: float
    grid: dp.Grid
    real: bool

    @property
    def weights(self) -> np.ndarray:
        """Of points in a squared L2 distance; their sum is one."""
        return self.grid.weights / self.grid.weights.sum()

    @property
    def measure(self) -> str:
        return f"squared L2 distance to the mean of the {'sample' if self.real else 'population'}"


def tasks(folder: Path) -> Iterator[Curves]:
    for name, file, skipped, center, radius in (
        ("Adelaide, Mondays", "adelaide_monday_demand.csv", 2, 1500.0, 1000.0),
        ("DTI, scans", "dti_cca.csv", 7, 0.5, 0.25),
    ):
        if (folder / file).exists():
            rows = covariance.rows_of(folder / file, skipped)
            grid = dp.Grid.midpoints(0, 1, rows.shape[1])
            yield Curves(name, [rows], [rows.mean(axis=0)], center, radius, grid, True)
    made = [dp.datasets.glucose(1000, np.random.default_rng([41, i])) for i in range(SETS)]
    grid = dp.Grid.midpoints(0, 1, 48)
    yield Curves("invented glucose", [s.curves for s in made], [s.mean for s in made], 220.0, 180.0, grid, False)
    waves = [dp.datasets.scenario("S-2", 1000, np.random.default_rng([42, i])) for i in range(SETS)]
    yield Curves("scenario S-2", [s.curves for s in waves], [s.mean for s in waves], 0.0, 2.5, waves[0].grid, False)


def plan_on_points(task: Curves, rho: float, rng: np.random.Generator, options: Any, rows: np.ndarray) -> np.ndarray:
    middle, half = np.full(rows.shape[1], task.center), 3 * task.radius
    return plan.mean(rows, rho, middle - half, middle + half, rng, *options)


def plan_on_cosines(
    task: Curves, rho: float, rng: np.random.Generator, options: Any, basis: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    limit, turned = np.full(len(basis), task.radius), (rows - task.center) @ basis.T / basis.shape[1]
    return task.center + plan.mean(turned, rho, -limit, limit, rng, *options) @ basis


def plan_ways(task: Curves, rho: float, rng: np.random.Generator) -> dict[str, Way]:
    """PLAN on the points of curves, and on their cosines, by settings."""
    m = task.sets[0].shape[1]
    ways: dict[str, Way] = {}
    for options in product(SHARES, (True, False), BEYOND):
        share, scaled, beyond = options
        told = f"share {share}, {'scaled' if scaled else 'not scaled'}, beyond {beyond}"
        ways[f"points, {told}"] = partial(plan_on_points, task, rho, rng, options)
        for count in (10, 20, m):
            ways[f"{count} cosines, {told}"] = partial(plan_on_cosines, task, rho, rng, options, op.cosines(m, count))
    return ways


def opendp_on_points(task: Curves, epsilon: float, size: float, rows: np.ndarray) -> np.ndarray:
    low, high = task.center - size * task.radius, task.center + size * task.radius
    return op.mean_of_points(rows, low, high, epsilon)


def opendp_on_cosines(task: Curves, epsilon: float, count: int, gaussian: bool, rows: np.ndarray) -> np.ndarray:
    return op.mean_in_cosines(rows, task.center, task.radius, count, epsilon, gaussian)


def ours(task: Curves, epsilon: float, rows: np.ndarray) -> np.ndarray:
    return dp.mean(rows, epsilon=epsilon, bound=dp.L2Ball(task.radius, task.center), grid=task.grid).values


def sample_mean(task: Curves, rows: np.ndarray) -> np.ndarray:
    return skfda.FDataGrid(rows, task.grid.points).mean().data_matrix[0, :, 0]


def methods(task: Curves, epsilon: float, rng: np.random.Generator) -> Iterator[tuple[str, str, dict[str, Way]]]:
    """Each method's name, its privacy and its ways by settings."""
    yield OURS, PURE, {"": partial(ours, task, epsilon)}
    yield "PLAN", ZCDP, plan_ways(task, epsilon**2 / 2, rng)
    yield "PLAN", APPROXIMATE, plan_ways(task, rho_of(epsilon), rng)
    yield (
        "OpenDP, Laplace on points",
        PURE,
        {f"half range of {size:g} radii": partial(opendp_on_points, task, epsilon, size) for size in RANGES},
    )
    for kind, gaussian, privacy in (("Laplace", False, PURE), ("Gaussian", True, ZCDP)):
        yield (
            f"OpenDP, {kind} on cosines",
            privacy,
            {f"{count} cosines": partial(opendp_on_cosines, task, epsilon, count, gaussian) for count in COUNTS},
        )


def error(task: Curves, turns: Turns, way: Way) -> float:
    """On the next set."""
    rows, truth = turns.next()
    return float(task.weights @ (way(rows) - truth) ** 2)


def method_row(
    cell: Cell, task: Curves, turns: Turns, runs: int, method: tuple[str, str, dict[str, Way]]
) -> dict[str, Any]:
    name, privacy, ways = method
    scored = {setting: partial(error, task, turns, way) for setting, way in ways.items()}
    settings, errors, _ = tuned(scored, 8 if len(ways) > 1 else 1, runs)
    spent = timed(partial(ways[settings], task.sets[0]))
    return cell.row(best_label(name, len(ways)), privacy, errors, spent, settings)


def cell_rows(
    cell: Cell, task: Curves, turns: Turns, runs: int, rng: np.random.Generator, elsewhere: Elsewhere
) -> list[dict[str, Any]]:
    rows = [method_row(cell, task, turns, runs, method) for method in methods(task, cell.epsilon, rng)]
    rows += diffprivlib(task, cell, elsewhere, runs)
    if not task.real:
        plain = "scikit-fda, mean of the sample", NONE, {"": partial(sample_mean, task)}
        rows.append(method_row(cell, task, turns, runs, plain))
    return rows


def diffprivlib(task: Curves, cell: Cell, elsewhere: Elsewhere, runs: int) -> list[dict[str, Any]]:
    """Its mean of every point, with even budgets; the best of the public ranges, chosen on the runs shown."""
    data = repeated([{"X": rows} for rows in task.sets], runs)
    limits = [(task.center - size * task.radius, task.center + size * task.radius) for size in RANGES]
    jobs = [Job("mean", cell.epsilon, data, {"low": low, "high": high}) for low, high in limits]
    answers = elsewhere.answers(jobs)
    if answers is None:
        return []
    truths = np.array(repeated(task.truths, runs))
    found = {
        f"half range of {size:g} radii": (((values - truths) ** 2 @ task.weights).tolist(), seconds)
        for size, (values, seconds) in zip(RANGES, answers)
    }
    settings, errors, spent = best_of(found)
    return [cell.row(best_label("diffprivlib, mean of each point", len(found)), PURE, errors, spent, settings)]


def part(folder: Path, runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    rows = []
    rng = np.random.default_rng(3)
    for task in tasks(folder):
        turns = Turns(list(zip(task.sets, task.truths)))
        for epsilon in EPSILONS:
            what = "mean curve"
            cell = Cell(what, task.name, len(task.sets[0]), epsilon, task.measure, headline=epsilon == 1.0)
            rows += cell_rows(cell, task, turns, runs, rng, elsewhere)
    return rows
