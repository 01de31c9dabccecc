"""How often bands of densities hold: distribution function, quantiles and density, over populations of every kind.

    python benchmarks/coverage_density.py [--runs 200] [--only ages --only atoms] [--size 300] [--private-count]

Each cell is a population, a number of points and an epsilon; each run draws points and releases their density with
every parameter at its default. Counted is how often a 95 % band held *everywhere at once*: the distribution function of
the points and of the population (at both sides of every cell's edge, so at every x), the five quantiles together, the
points' histogram in the release's bins, and the density of the population at every cell (continuous populations only).
Widths are over those of an oracle that knows the law of the published curve's error: at each place its root mean square
over the runs, times one factor for all places that holds in 95 % of the runs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import Any

import common
import numpy as np
from scipy import stats

import dpfda as dp

SIZES, EPSILONS, LEVEL = (20, 300, 3000, 100_000), ("1/10", "1", "4"), 0.95
SHARES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
#: No density is that smooth (atoms), or features are finer than bins until points are many (spikes).
NAMED = ("atoms", "spike")


@dataclass(frozen=True)
class Population:
    """Parts of a mixture, cut to a domain, or atoms at `values`."""

    domain: tuple[float, float]
    parts: tuple[tuple[float, Any], ...] = ()
    values: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def _held(self) -> np.ndarray:
        low, high = self.domain
        return np.array([w * (law.cdf(high) - law.cdf(low)) for w, law in self.parts])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        if self.values is not None:
            return rng.choice(self.values, n, p=self.weights)
        low, high = self.domain
        part = rng.choice(len(self.parts), n, p=self._held / self._held.sum())
        x = np.empty(n)
        for i, (_, law) in enumerate(self.parts):
            here = np.flatnonzero(part == i)
            while here.size:  # what falls outside is drawn again
                x[here] = law.rvs(size=here.size, random_state=rng)
                here = here[(x[here] < low) | (x[here] > high)]
        return x

    def cdf(self, x: np.ndarray) -> np.ndarray:
        if self.values is not None and self.weights is not None:
            return np.append(0.0, np.cumsum(self.weights))[np.searchsorted(self.values, x, side="right")]
        low, high = self.domain
        total = sum(w * (law.cdf(np.clip(x, low, high)) - law.cdf(low)) for w, law in self.parts)
        return np.asarray(total) / self._held.sum()

    def density(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(sum(w * law.pdf(x) for w, law in self.parts)) / self._held.sum()

    def quantile(self, p: np.ndarray) -> np.ndarray:
        if self.values is not None and self.weights is not None:
            return self.values[np.searchsorted(np.cumsum(self.weights), p - 1e-12)]
        low, high = np.full(p.shape, self.domain[0]), np.full(p.shape, self.domain[1])
        for _ in range(80):
            middle = (low + high) / 2
            enough = self.cdf(middle) >= p
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high


def heaped() -> Population:
    """Ages in whole years, two fifths of them rounded to fives."""
    ages = np.arange(0, 111)
    plain = np.diff(stats.gamma(9, scale=8).cdf(np.append(-0.5, ages + 0.5)))
    fives = np.bincount(np.clip(5 * np.round(ages / 5), 0, 110).astype(int), weights=plain, minlength=111)
    weights = 0.6 * plain + 0.4 * fives
    return Population((0.0, 110.0), values=ages.astype(float), weights=weights / weights.sum())


POPULATIONS: dict[str, Population] = {
    "mixture": Population((0, 1), ((0.6, stats.norm(0.3, 0.07)), (0.4, stats.norm(0.7, 0.1)))),
    "ages": Population((0, 110), ((1.0, stats.gamma(9, scale=8)),)),
    "uniform": Population((0, 1), ((1.0, stats.uniform(0.2, 0.5)),)),
    "decay": Population((0, 1), ((1.0, stats.expon(0, 0.12)),)),
    "lognormal": Population((0, 20), ((1.0, stats.lognorm(1.0)),)),
    "student": Population((-20, 20), ((1.0, stats.t(2)),)),
    "claw": Population((-3, 3), ((0.5, stats.norm(0, 1)), *((0.1, stats.norm(c / 2 - 1, 0.1)) for c in range(5)))),
    "blocks": Population(
        (0, 1), ((0.5, stats.uniform(0.1, 0.2)), (0.3, stats.uniform(0.3, 0.3)), (0.2, stats.uniform(0.8, 0.1)))
    ),
    "cusp": Population((0, 1), ((1.0, stats.laplace(0.4, 0.08)),)),
    "spike": Population((0, 1), ((0.9, stats.norm(0.5, 0.15)), (0.1, stats.norm(0.42, 0.003)))),
    "atoms": heaped(),
}


def cell(population: Population, n: int, epsilon: str, runs: int, rng: np.random.Generator, private: bool) -> Any:
    relation = "add-remove" if private else "replace"
    plan = dp.DensityPlan(n=n, epsilon=epsilon, domain=[population.domain], neighbors=relation)
    points, (low, high) = plan.grid.points, population.domain
    edges = np.linspace(low, high, plan.grid.size + 1)
    sides = np.unique(np.concatenate([edges, np.nextafter(edges[1:], low)]))
    truth, quantiles = population.cdf(sides), population.quantile(SHARES)
    smooth = population.density(points) if population.values is None else None
    held: dict[str, list[bool]] = {}
    widths: dict[str, list[np.ndarray]] = {"cdf": [], "density": []}
    errors: dict[str, list[np.ndarray]] = {"cdf": [], "density": []}

    def note(name: str, band: dp.results.Band, target: np.ndarray) -> None:
        slack = 1e-9 * max(1.0, float(np.abs(target).max()))
        inside = (band.lower <= target + slack) & (target <= band.upper + slack)
        held.setdefault(name, []).append(bool(inside.all()))

    for _ in range(runs):
        size = n if not private else int(rng.poisson(n))
        x = np.sort(population.sample(size, rng))
        release = plan.release(x)
        own = np.searchsorted(x, sides, side="right") / max(size, 1)
        band = release.cdf_band(LEVEL, sides)
        note("cdf, points", release.cdf_band(LEVEL, sides, of="points"), own)
        note("cdf, population", band, truth)
        if size:
            ordered = x[np.clip(np.ceil(SHARES * size - 1e-9).astype(int) - 1, 0, size - 1)]
            note("quantiles, points", release.quantile_band(SHARES, LEVEL, of="points"), ordered)
        note("quantiles, population", release.quantile_band(SHARES, LEVEL), quantiles)
        counted = plan.schedule.last(release.drawn).problem.basis
        shares = np.add.reduceat(np.bincount(plan.problem.places(x), minlength=points.size), counted.starts)
        note(
            "histogram, points", release.band(LEVEL), np.repeat(shares / max(size, 1) / counted.lengths, counted.cells)
        )
        widths["cdf"].append(band.half_width)
        errors["cdf"].append(release.cdf(sides) - truth)
        if smooth is not None:
            band = release.confidence_band(LEVEL)
            note("density", band, smooth)
            widths["density"].append(band.half_width)
            errors["density"].append(release.values - smooth)
    found: dict[str, float] = {name: float(np.mean(seen)) for name, seen in held.items()}
    for name, seen in widths.items():
        if seen:
            found[f"width, {name}"] = float(np.mean(seen)) / oracle(np.array(errors[name]))
    return found


def oracle(errors: np.ndarray) -> float:
    """Mean half-width of a band of the best size that knows how the published curve errs at each place."""
    sizes = np.sqrt((errors**2).mean(axis=0)) + 1e-12
    return float(np.quantile(np.abs(errors / sizes).max(axis=1), LEVEL) * sizes.mean())


def study(names: list[str], sizes: list[int], runs: int, private: bool) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name in names:
        for n in sizes:
            for epsilon in EPSILONS:
                rng = np.random.default_rng([*name.encode(), n, EPSILONS.index(epsilon)])
                table[f"{name}, n {n:,}, epsilon {epsilon}"] = cell(POPULATIONS[name], n, epsilon, runs, rng, private)
    head = list(dict.fromkeys(key for row in table.values() for key in row))
    common.show(
        f"Coverage of {LEVEL:.0%} bands, {runs} releases a cell; widths over an oracle's",
        ["cell", *head],
        [[key, *(round(row[h], 3) if h in row else "" for h in head)] for key, row in table.items()],
    )
    return table


def summary(table: dict[str, Any], runs: int) -> dict[str, Any]:
    """The worst cell of every band, and how many cells are below .93."""
    found: dict[str, Any] = {}
    for name in sorted({key for row in table.values() for key in row if not key.startswith("width")}):
        seen = {cell: row[name] for cell, row in table.items() if name in row}
        plain = {cell: v for cell, v in seen.items() if not cell.startswith(NAMED)}
        worst = min(seen, key=lambda cell: seen[cell])
        found[name] = {
            "cells": len(seen),
            "below .93": sum(v < 0.93 for v in seen.values()),
            "worst": [worst, seen[worst]],
            "worst outside named": min(plain.values(), default=None),
        }
    common.show(
        f"Worst cells ({runs} releases each)",
        ["band", "cells", "below .93", "worst", "where", "worst outside atoms and spikes"],
        [
            [k, v["cells"], v["below .93"], v["worst"][1], v["worst"][0], v["worst outside named"]]
            for k, v in found.items()
        ],
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument(
        "--only", action="append", choices=list(POPULATIONS), help="these populations; others stay as saved"
    )
    parser.add_argument(
        "--size", action="append", type=int, choices=SIZES, help="this many points; others stay as saved"
    )
    parser.add_argument("--private-count", action="store_true", help="neighbours add or remove a point")
    chosen = parser.parse_args()
    name = "coverage-density" + ("-private-count" if chosen.private_count else "")
    path, kept = common.RESULTS / f"{name}.json", {}
    if (chosen.only or chosen.size) and path.exists():
        saved = json.loads(path.read_text(encoding="utf-8"))
        kept = saved["cells"] if saved["runs"] == chosen.runs else {}
    table = kept | study(
        chosen.only or list(POPULATIONS), chosen.size or list(SIZES), chosen.runs, chosen.private_count
    )
    common.save(name, {"runs": chosen.runs, "summary": summary(table, chosen.runs), "cells": table})


if __name__ == "__main__":
    main()
