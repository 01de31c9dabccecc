"""The default density against a histogram whose number of bins is tuned on the truth.

    python benchmarks/density.py --real [--runs 60] [--data DIR]

Real cells: the density of each curve's mean (domain: public centre plus and minus the public radius) and of its maximum
(five radii), by real releases through the default path. Invented cells: narrow peaks, mixtures, heavy tails, atoms.

Two measures, each with its own truth and its own tuned histogram (noise of scale 2/epsilon on every count, clipped at
zero, renormalised): the integrated squared distance of densities, with domains of length one, to a Gaussian kernel
estimate of the sample (Silverman's bandwidth, reflected at the ends) or to the density that points were drawn from; and
the integrated squared distance of distribution functions to the sample's own.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import common
import numpy as np
from scipy import stats

import dpfda as dp

CELLS, FINE = 512, 4096
BINS = [*range(1, 21), *range(22, 33, 2), 36, 40, 45, 50, 56, 64, 72, 80, 90, 100, 128, 160, 200, 256]
EPSILONS = (0.5, 1.0, 4.0)
UNIFORM = stats.uniform(0, 1)
MIXTURES: dict[str, list[tuple[float, Any]]] = {
    "uniform": [(1.0, UNIFORM)],
    "broad": [(1.0, stats.norm(0.45, 0.2))],
    "middle": [(1.0, stats.norm(0.6, 0.07))],
    "narrow": [(1.0, stats.norm(0.37, 0.01))],
    "narrow at the edge": [(1.0, stats.norm(0.03, 0.01))],
    "bimodal": [(0.4, stats.norm(0.25, 0.05)), (0.6, stats.norm(0.7, 0.08))],
    "two narrow": [(0.5, stats.norm(0.15, 0.012)), (0.5, stats.norm(0.9, 0.02))],
    "peak on a floor": [(0.5, stats.norm(0.8, 0.01)), (0.5, UNIFORM)],
    "skewed": [(1.0, stats.lognorm(0.8, 0.2, 0.05))],
    "heavy tails": [(1.0, stats.t(1.2, 0.5, 0.03))],
    "exponential": [(1.0, stats.expon(0, 0.1))],
}


@dataclass(frozen=True)
class Sample:
    """Points in [0, 1], and both truths; `density` is on the cells."""

    points: np.ndarray
    density: np.ndarray

    @cached_property
    def below(self) -> np.ndarray:
        return np.searchsorted(np.sort(self.points), _fine(), side="right") / len(self.points)

    def errors(self, densities: np.ndarray, masses: np.ndarray | None = None) -> np.ndarray:
        """Both measures, one row per density on the cells; `masses` are of the distribution functions."""
        rows = np.atleast_2d(densities)
        cumulated = np.pad((rows / CELLS if masses is None else masses).cumsum(axis=1), [(0, 0), (1, 0)])
        cell = np.minimum((_fine() * CELLS).astype(int), CELLS - 1)
        within = _fine() * CELLS - cell
        below = cumulated[:, cell] * (1 - within) + cumulated[:, cell + 1] * within
        return np.stack([((rows - self.density) ** 2).mean(axis=1), ((below - self.below) ** 2).mean(axis=1)], axis=1)


def _fine() -> np.ndarray:
    return (np.arange(FINE) + 0.5) / FINE


def smooth(points: np.ndarray) -> np.ndarray:
    """A kernel estimate on the cells."""
    spread = float(np.subtract(*np.percentile(points, [75, 25]))) / 1.34
    spread = min(points.std(), spread) if spread > 0 else points.std()
    width = max(0.9 * spread * len(points) ** -0.2, 1 / CELLS)
    middles, values = (np.arange(CELLS) + 0.5) / CELLS, np.zeros(CELLS)
    for place, count in zip(*np.unique(np.floor(points * FINE) / FINE, return_counts=True), strict=True):
        for image in (place, -place, 2 - place):
            values += count * np.exp(-0.5 * ((middles - image) / width) ** 2)
    return values / values.mean()


def real_samples(folder: Path) -> dict[str, Sample]:
    """Means and maxima of the curves of each set, on the unit interval."""
    found: dict[str, Sample] = {}
    for name, facts in json.loads((folder / "bounds.json").read_text(encoding="utf-8")).items():
        with (folder / f"{name}.csv").open(encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        values = np.array(rows, dtype=float)
        if "consumer" in head:  # one curve for each
            who = values[:, head.index("consumer")]
            values = np.array([values[who == one].mean(axis=0) for one in np.unique(who)])
        curves = values[:, [i for i, column in enumerate(head) if column not in ("consumer", "day")]]
        center, radius = facts["center"], facts["rms_radius"]
        parts = {"maximum": (curves.max(axis=1), 5 * radius)}
        if name != "italy_power":  # standardised curves all have mean zero
            parts = {"mean": (curves.mean(axis=1), radius)} | parts
        for part, (numbers, far) in parts.items():
            points = np.clip((numbers - center + far) / (2 * far), 0, 1)
            found[f"{name}, {part}"] = Sample(points, smooth(points))
    return found


def invented_samples(n: int, rng: np.random.Generator) -> dict[str, Sample]:
    found, edges = {}, np.linspace(0, 1, CELLS + 1)
    for name, parts in MIXTURES.items():
        member = rng.choice(len(parts), n, p=[share for share, _ in parts])
        drawn = np.array([law.rvs(n, random_state=rng) for _, law in parts])[member, np.arange(n)]
        below = np.sum([share * law.cdf(edges) for share, law in parts], axis=0)
        below[0], below[-1] = 0.0, 1.0  # what lies outside is moved to the edge
        found[name] = Sample(np.clip(drawn, 0, 1), np.diff(below) * CELLS)
    rounded = np.round(np.clip(rng.normal(0.5, 0.1, n), 0, 1) * 20) / 20
    return found | {"atoms": Sample(rounded, smooth(rounded))}


def tuned(sample: Sample, epsilon: float, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Errors of the best histogram for each measure, and its number of bins."""
    rows, stop = [], np.exp(-epsilon / 2)
    for bins in BINS:
        counts = np.bincount(np.minimum((sample.points * bins).astype(int), bins - 1), minlength=bins)
        noise = rng.geometric(1 - stop, (runs, bins)) - rng.geometric(1 - stop, (runs, bins))
        noisy = np.maximum(counts + noise, 0).astype(float)
        total = noisy.sum(axis=1, keepdims=True)
        heights = bins * np.where(total > 0, noisy / np.maximum(total, 1), 1 / bins)
        edges, cells = np.linspace(0, 1, bins + 1), np.linspace(0, 1, CELLS + 1)
        shared = np.minimum(edges[1:, None], cells[1:]) - np.maximum(edges[:-1, None], cells[:-1])
        rows.append(sample.errors(heights @ (np.maximum(shared, 0) * CELLS)).mean(axis=0))
    errors = np.array(rows)
    best = errors.argmin(axis=0)
    return np.stack([errors[best, [0, 1]], np.array(BINS)[best]])


def released(sample: Sample, epsilon: float, runs: int, **options: Any) -> np.ndarray:
    """Mean errors of real releases."""
    plan = dp.DensityPlan(n=len(sample.points), epsilon=epsilon, domain=[(0, 1)], outside="clip", **options)
    summary = plan.summarize(sample.points)
    made = [plan.release(summary) for _ in range(runs)]
    values, masses = np.array([r.values for r in made]), np.array([r.cells.masses for r in made])
    return sample.errors(values, masses).mean(axis=0)


def compared(title: str, cells: dict[str, tuple[Sample, float]], runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """The default, what was the default before, and the tuned histogram, cell by cell."""
    table, rows = {}, []
    for name, (sample, epsilon) in cells.items():
        (density, below), bins = tuned(sample, epsilon, max(runs, 100), rng)
        ours = released(sample, epsilon, runs)
        before = released(sample, epsilon, min(runs, 20), method=dp.methods.KNorm())
        floor = np.array([0.02 if name.startswith("uniform") else 0.0, 0.0])  # one bin has no error at all there
        best = np.maximum([density, below], floor)
        table[name] = {
            "n": len(sample.points), "epsilon": epsilon, "default": ours.tolist(), "knorm": before.tolist(),
            "tuned": best.tolist(), "bins": bins.tolist(), "ratio": (ours / best).tolist(),
        }  # fmt: skip
        rows.append([name, len(sample.points), *ours.tolist(), *best.tolist(), *(ours / best).tolist(),
                     *(before / best).tolist()])  # fmt: skip
    head = ["cell", "n", "density", "function", "tuned", "tuned", "ratio", "ratio", "KNorm", "KNorm"]
    common.show(f"{title}: default over tuned histogram ({runs} releases a cell)", head, rows)
    ratios = np.array([cell["ratio"] for cell in table.values()])
    worst = [list(table)[i] for i in ratios.argmax(axis=0)]
    summary = {
        "geometric_mean": np.exp(np.log(ratios).mean(axis=0)).tolist(),
        "worst": ratios.max(axis=0).tolist(), "worst_cell": worst, "above_1.1": (ratios > 1.1).sum(axis=0).tolist(),
    }  # fmt: skip
    print(title, summary)
    return {"cells": table} | summary


def study(folder: Path, runs: int, sizes: tuple[int, ...] = (50, 200, 1000, 10_000, 100_000)) -> dict[str, Any]:
    """All real and invented cells."""
    figures: dict[str, Any] = {}
    if not (folder / "bounds.json").exists():
        print("real data: skipped, the files are not there")
    else:
        samples = real_samples(folder)
        for epsilon in EPSILONS:
            cells = {name: (sample, epsilon) for name, sample in samples.items()}
            rng = np.random.default_rng([11, int(10 * epsilon)])
            figures[f"real, epsilon {epsilon:g}"] = compared(f"Real, epsilon {epsilon:g}", cells, runs, rng)
    for n in sizes:
        rng = np.random.default_rng([12, n])
        cells = {name: (sample, 1.0) for name, sample in invented_samples(n, rng).items()}
        figures[f"invented, n {n}"] = compared(
            f"Invented, n = {n:,}, epsilon 1", cells, max(8, runs // 3 if n < 5000 else 0), rng
        )
    return figures
