"""One cell of the coverage study: a population, a number of records and an epsilon, through real releases.

The plan is that of somebody who sets nothing, made once; every run draws new records and releases their mean by it. A
band that a release does not have (it raises a ParameterError) is missing from the figures, which are None then.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from populations import Population

import dpfda as dp
from dpfda.errors import ParameterError

LEVEL = 0.95
#: The bands of a release, and what each is held against.
BANDS = {"band": "sample", "confidence_band": "population", "noise_band": "sample"}
#: Runs that are also looked at through the band of noise alone, which is slow, and that are made without the check too.
BEFORE, BARE = 40, 100
#: RMS error over RMS of the signal about its own level: up to these a release is clear, or coarse.
GRADES = {"clear": 0.3, "coarse": 0.75, "mostly noise": np.inf}


class Tally:
    """How often bands held a curve, everywhere and at a point, and how wide they were."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, float, float]] = []

    def add(self, band: Iterable[np.ndarray] | None, target: np.ndarray) -> None:
        if band is not None:
            lower, upper = (np.ravel(side) for side in band)
            held = (lower <= target) & (target <= upper)
            self.rows.append((float(held.all()), float(held.mean()), float((upper - lower).mean()) / 2))

    def figures(self) -> dict[str, float] | None:
        """None where there was no band."""
        if not self.rows:
            return None
        everywhere, pointwise, width = np.mean(self.rows, axis=0)
        return {"coverage": float(everywhere), "pointwise": float(pointwise), "half_width": float(width)}


def band_of(release: Any, name: str) -> Any:
    """A band by its name, or None where it is not offered."""
    if not hasattr(release, name):
        return None
    try:
        return getattr(release, name)(LEVEL)
    except ParameterError:
        return None


def oracle(errors: np.ndarray) -> tuple[np.ndarray, float]:
    """Root mean squares of errors at each point, and what their largest multiple stays below in 95 % of the runs."""
    size = np.sqrt((errors**2).mean(axis=0)) + 1e-300
    worst = np.sort(np.abs(errors / size).max(axis=1))
    return size, float(worst[min(worst.size, int(np.ceil(LEVEL * (worst.size + 1)))) - 1])


def oracle_half_width(errors: np.ndarray) -> float:
    """The width of a band about the published curve by somebody who knows the law of its error."""
    size, multiple = oracle(errors)
    return multiple * float(size.mean())


def components(release: dp.results.MeanRelease) -> int:
    """How many components carry noise in the published curve."""
    size = release.plan.basis.size
    return 1 + max(int(part.where.max()) for part in release.stage.parts if part.where.max() < size)


def unchecked() -> Any:
    """The default without its left-out check; None where there is no such option."""
    try:
        return dp.Auto(check=False)
    except TypeError:
        return None


def measure(population: Population, n: int, epsilon: float, runs: int) -> dict[str, Any]:
    """All figures of one cell."""
    started = time.perf_counter()
    plan, grid = population.plan(n, epsilon), population.grid
    bare = unchecked()
    bare_plan = None if bare is None else population.plan(n, epsilon, method=bare)
    tallies = {name: Tally() for name in BANDS}
    errors: dict[str, list[np.ndarray]] = {"sample": [], "population": []}
    bare_errors, counts, checks = [], [], []
    for run in range(runs):
        curves = population.draw(n, seeded(population.name, n, run))
        targets = {"sample": curves.mean(axis=0), "population": population.mean}
        release = plan.release(curves)
        values = np.ravel(release.values)
        for target, truth in targets.items():
            errors[target].append(values - truth)
        for name, target in BANDS.items():
            if name != "noise_band" or run < BEFORE:
                tallies[name].add(band_of(release, name), targets[target])
        counts.append(components(release))
        checks.append(getattr(release, "left_out", None))
        if bare_plan is not None and run < BARE:
            bare_errors.append(np.ravel(bare_plan.release(curves).values) - targets["sample"])
    wrong = {target: np.array(rows) for target, rows in errors.items()}
    squares = grid.norm(wrong["sample"]) ** 2
    found: dict[str, Any] = {
        "population": population.name,
        "kind": population.kind,
        "named": population.named,
        "n": n,
        "epsilon": epsilon,
        "runs": runs,
        "chosen": repr(plan.chosen),
        "rounds": len(getattr(plan.chosen, "shares", (1,))),
        "components": float(np.mean(counts)),
        **{name: tally.figures() for name, tally in tallies.items()},
        "oracle": {target: oracle_half_width(rows) for target, rows in wrong.items()},
        "squared_error": float(squares.mean()),
        "squared_error_population": float((grid.norm(wrong["population"]) ** 2).mean()),
        "forecast": float(plan.expected_risk),
        "realised_over_forecast": float(squares.mean() / plan.expected_risk),
        "left_out": left_out(checks),
        "verdict": verdict(plan, population, float(squares.mean())),
        "loss": loss(squares[: len(bare_errors)], bare_errors, grid),
        "seconds": time.perf_counter() - started,
    }
    for name, target in BANDS.items():
        if found[name] is not None:
            found[name]["over_oracle"] = found[name]["half_width"] / found["oracle"][target]
    return found


def seeded(name: str, n: int, run: int) -> np.random.Generator:
    """Records of a run: the same for every epsilon. The noise of a release has no seed."""
    return np.random.default_rng([zlib.crc32(name.encode()), n, run])


def loss(squares: np.ndarray, bare: list[np.ndarray], grid: dp.Grid) -> dict[str, float] | None:
    """What the check costs: squared error over that without it, on the same records, with a standard error."""
    if not bare:
        return None
    without = grid.norm(np.array(bare)) ** 2
    ratio = float(squares.mean() / without.mean())
    return {
        "ratio": ratio,
        "standard_error": float((squares - ratio * without).std() / without.mean() / len(bare) ** 0.5),
    }


def left_out(checks: list[Any]) -> dict[str, float] | None:
    """What the check found: its mean, its scale, and how often it was saturated; None where there is none."""
    there = [check for check in checks if getattr(check, "value", None) is not None]
    if not there:
        return None
    share, names = len(there) / len(checks), ("value", "scale", "saturated")
    return {
        "share": share,
        **{name: float(np.mean([float(getattr(check, name)) for check in there])) for name in names},
    }


def verdict(plan: dp.MeanPlan, population: Population, error: float) -> dict[str, Any]:
    """What the plan foresaw, in its words, and what came of it by the same definition."""
    grid, mean = population.grid, population.mean
    level = float(grid.weights @ mean / grid.weights.sum())
    ratio = float(np.sqrt(error) / max(float(grid.norm(mean - level)), 1e-300))
    realised = next(grade for grade, most in GRADES.items() if ratio <= most)
    told = getattr(plan, "verdict", None)
    foreseen = getattr(told, "word", None)
    fits = None if foreseen is None else foreseen == realised
    return {"foreseen": foreseen, "realised": realised, "ratio": ratio, "fits": fits}


def quiet(job: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """Without the warnings that a cautious user would get."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return job(*given)
