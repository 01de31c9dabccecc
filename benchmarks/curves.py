"""Percentile and survival curves: errors, bands and time, against what people do today, in one run.

    python benchmarks/curves.py [--part errors --part bands ...] [--scale 0.1] [--jobs 2]

All releases are the default's. The peers' parameters are tuned on the truth (`benchmarks/curve_peers.py`), ours on none
of it; constants of the percentile fit were chosen on the populations that are marked as such
(`benchmarks/curve_shapes.py`). Errors of percentiles are mean absolute ones over five levels and 48 times, against the
population's; errors of survival are root mean squares over 200 times, against the Kaplan-Meier curve of the same
records. Lung, gbsg2 and rossi data come with `lifelines` (the extra `bench`). Parts are saved as they are done.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import common
import curve_peers as peers
import numpy as np
from curve_shapes import HOURS, LEVELS, LIVES, POPULATIONS, Lives, Population
from threadpoolctl import threadpool_limits

import dpfda as dp

GRID = dp.Grid.midpoints(0, 24, HOURS.size, "hour", "h")
BY_NAME = {population.name: population for population in POPULATIONS}
LIFE_BY_NAME = {lives.name: lives for lives in LIVES}
#: The cells of the first table: population, n, epsilon, releases.
CELLS = [
    ("glucose", 1000, 1, 60),
    ("glucose", 10_000, 1, 40),
    ("glucose", 100_000, 1, 12),
    ("glucose", 300, 4, 60),
    ("bimodal", 100_000, 1, 12),
]
#: Of the table over all populations: n and releases, at epsilon 1.
SIZES = [(1000, 16), (10_000, 8), (100_000, 4)]
#: Real lives: a function of `lifelines.datasets`, columns of times and events, and the horizon.
REAL = {
    "lung": ("load_lung", "time", "status", 900.0),
    "gbsg2": ("load_gbsg2", "time", "cens", 2500.0),
    "rossi": ("load_rossi", "week", "arrest", 52.0),
}
REAL_RUNS = 200
LIFE_CELLS = [(200, 1, 40), (1000, 1, 40), (20_000, 1, 20), (1000, "1/10", 40), (1000, 10, 40)]
SHARES = (np.arange(200) + 0.5) / 200

Row = list[Any]
Map = Callable[..., Iterable[Any]]


def release_percentiles(population: Population, n: int, epsilon: Any, seed: int) -> tuple[np.ndarray, Any]:
    """Curves of a population, and their default release."""
    curves = population.sample(n, np.random.default_rng([n, seed]))
    return curves, dp.percentiles(curves, epsilon=epsilon, range=population.range, levels=LEVELS.tolist(), grid=GRID)


def error_of(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.abs(found - truth).mean())


def one_error(name: str, n: int, epsilon: Any, seed: int) -> tuple[float, float]:
    """The error of one release, and that of its records without privacy."""
    population = BY_NAME[name]
    curves, release = release_percentiles(population, n, epsilon, seed)
    truth = population.percentiles
    return error_of(release.values, truth), error_of(np.quantile(curves, LEVELS, axis=0), truth)


def peer_errors(name: str, n: int, epsilon: float, runs: int) -> dict[str, Any]:
    """The peers' errors, their parameters tuned on the truth."""
    population, rng = BY_NAME[name], np.random.default_rng(7)
    truth, samples = population.percentiles, [population.sample(n, np.random.default_rng([n, s])) for s in range(runs)]

    def mean(make: Callable[..., np.ndarray]) -> Callable[..., float]:
        def error(*setting: int) -> float:
            found = [make(curves, population.range, LEVELS, epsilon, *setting, rng) for curves in samples]
            return float(np.mean([error_of(each, truth) for each in found]))

        return error

    exponential = peers.best(mean(peers.exponential_quantiles), [(t,) for t in peers.TIMES])
    histogram = peers.best(mean(peers.histogram_quantiles), [(t, b) for t in peers.TIMES for b in peers.BINS])
    return {"exponential": exponential, "histogram": histogram}


def errors(run: Map, scale: float) -> tuple[str, Row, list[Row]]:
    """The cells of the first table."""
    rows = []
    for name, n, epsilon, count in CELLS:
        runs = max(2, round(count * scale))
        found = np.array(list(run(partial(one_error, name, n, epsilon), range(runs))))
        best = peer_errors(name, n, float(epsilon), 2 if n > 10_000 else 4)
        ours, doubt = float(found[:, 0].mean()), float(found[:, 0].std() / np.sqrt(runs))
        rows.append(
            [
                name,
                n,
                epsilon,
                runs,
                float(found[:, 1].mean()),
                ours,
                doubt,
                best["exponential"][0],
                best["histogram"][0],
            ]
        )
    head = ["population", "n", "epsilon", "runs", "sampling", "dpfda", "+-", "exponential, tuned", "histogram, tuned"]
    return "Percentile curves: mean absolute error over five levels", head, rows


def shapes(run: Map, scale: float) -> tuple[str, Row, list[Row]]:
    """All populations at three sizes: the ratio to the better peer."""
    rows = []
    for population in POPULATIONS:
        for n, count in SIZES:
            runs = max(2, round(count * scale))
            found = np.array(list(run(partial(one_error, population.name, n, 1), range(runs))))
            best = peer_errors(population.name, n, 1.0, 1 if n > 10_000 else 3)
            peer = min(best["exponential"][0], best["histogram"][0])
            ours = float(found[:, 0].mean())
            kind = "tuned on" if population.tuned else "unseen"
            rows.append([population.name, kind, n, float(found[:, 1].mean()), ours, peer, ours / peer])
    head = ["population", "", "n", "sampling", "dpfda", "best peer, tuned", "ratio"]
    return "Percentile curves of other shapes, epsilon 1", head, rows


def one_band(name: str, n: int, epsilon: Any, seed: int) -> tuple[bool, float]:
    """Whether a 95 % band held the population's percentiles everywhere, and its median half-width."""
    population = BY_NAME[name]
    _, release = release_percentiles(population, n, epsilon, seed)
    lower, upper = release.band(0.95)
    truth = population.percentiles
    return bool(((lower <= truth) & (truth <= upper)).all()), float(np.median(upper - lower) / 2)


def bands(run: Map, scale: float) -> tuple[str, Row, list[Row]]:
    """How often bands hold: the cells of the first table often, all other populations less so."""
    rows = []
    cells = [("glucose", 1000, 1, 500), ("glucose", 300, 4, 60), ("glucose", 10_000, 1, 60)]
    cells += [(p.name, n, 1, 20) for p in POPULATIONS for n in (1000, 10_000) if p.name != "glucose"]
    for name, n, epsilon, count in cells:
        runs = max(2, round(count * scale))
        found = np.array(list(run(partial(one_band, name, n, epsilon), range(runs))))
        rows.append([name, n, epsilon, runs, float(found[:, 0].mean()), float(np.median(found[:, 1]))])
    return "95 % bands over 5 x 48 points", ["population", "n", "epsilon", "runs", "held", "half-width"], rows


# -- survival -------------------------------------------------------------------------------


def real_lives(name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Times and events of a data set of lifelines; what lies beyond the horizon is censored there."""
    from lifelines import datasets

    load, time, event, horizon = REAL[name]
    table = getattr(datasets, load)()
    times, events = table[time].to_numpy(float), table[event].to_numpy(float)
    return np.minimum(times, horizon), np.where(times >= horizon, 0.0, events), horizon


def release_survival(times: np.ndarray, events: np.ndarray, horizon: float, epsilon: Any) -> Any:
    return dp.survival(times, events, epsilon=epsilon, horizon=horizon)


def distance(one: np.ndarray, two: np.ndarray) -> float:
    return float(np.sqrt(((one - two) ** 2).mean()))


def one_life(times: np.ndarray, events: np.ndarray, horizon: float, epsilon: Any, seed: int) -> float:
    at = SHARES * horizon
    return distance(release_survival(times, events, horizon, epsilon)(at), peers.kaplan_meier(times, events, at))


def tuned_histogram(times: np.ndarray, events: np.ndarray, horizon: float, epsilon: float, runs: int = 40) -> float:
    at, rng = SHARES * horizon, np.random.default_rng(3)
    truth = peers.kaplan_meier(times, events, at)

    def error(bins: int) -> float:
        found = [peers.laplace_survival(times, events, horizon, epsilon, bins, at, rng) for _ in range(runs)]
        return float(np.mean([distance(each, truth) for each in found]))

    return peers.best(error, [(b,) for b in peers.LIFE_BINS])[0]


def resampling(times: np.ndarray, events: np.ndarray, horizon: float) -> float:
    """What sampling alone does: records drawn with replacement."""
    at, rng = SHARES * horizon, np.random.default_rng(5)
    truth, found = peers.kaplan_meier(times, events, at), []
    for _ in range(100):
        some = rng.integers(0, times.size, times.size)
        found.append(distance(peers.kaplan_meier(times[some], events[some], at), truth))
    return float(np.mean(found))


def survival(run: Map, scale: float) -> tuple[str, Row, list[Row]]:
    """Real data, to the non-private curve."""
    rows = []
    for name in REAL:
        lives = real_lives(name)
        for epsilon in (1, 10):
            runs = max(2, round(REAL_RUNS * scale))
            found = np.array(list(run(partial(one_life, *lives, epsilon), range(runs))))
            peer = tuned_histogram(*lives, float(epsilon))
            rows.append([name, lives[0].size, epsilon, runs, resampling(*lives), float(found.mean()), peer])
    head = ["data", "n", "epsilon", "runs", "sampling", "dpfda", "histogram, tuned"]
    return "Survival: root mean squared distance from Kaplan-Meier", head, rows


def one_shape(name: str, n: int, epsilon: Any, seed: int) -> float:
    lives = LIFE_BY_NAME[name]
    times, events = lives.sample(n, np.random.default_rng([n, seed]))
    return one_life(times, events, lives.horizon, epsilon, seed)


def lives(run: Map, scale: float) -> tuple[str, Row, list[Row]]:
    """Invented lives of every kind: the ratio to the tuned histogram."""
    rows = []
    for shape in LIVES:
        for n, epsilon, count in LIFE_CELLS:
            runs = max(2, round(count * scale))
            found = np.array(list(run(partial(one_shape, shape.name, n, epsilon), range(runs))))
            times, events = shape.sample(n, np.random.default_rng([n, 0]))
            peer = tuned_histogram(times, events, shape.horizon, float(dp.core.codec.exact_fraction(epsilon) or 0), 20)
            rows.append([shape.name, n, str(epsilon), float(found.mean()), peer, float(found.mean()) / peer])
    head = ["lives", "n", "epsilon", "dpfda", "histogram, tuned", "ratio"]
    return "Survival of other shapes", head, rows


def one_life_band(sample: Callable[[int], Any], truth: np.ndarray, horizon: float, epsilon: Any, seed: int) -> Any:
    """Whether a 95 % band held the population's curve everywhere, and its mean half-width."""
    times, events = sample(seed)
    band = release_survival(times, events, horizon, epsilon).band(0.95, SHARES * horizon)
    held = bool(((band.lower <= truth) & (truth <= band.upper)).all())
    return held, float((band.upper - band.lower).mean() / 2)


def drawn_again(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A real data set as its own population: as many records, drawn with replacement."""
    times, events, _ = real_lives(name)
    some = np.random.default_rng([11, seed]).integers(0, times.size, times.size)
    return times[some], events[some]


def invented(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return LIFE_BY_NAME[name].sample(n, np.random.default_rng([n, seed]))


def population_curve(shape: Lives) -> np.ndarray:
    """The share that outlives each time, by very many lives without an end of observation."""
    times = shape.event(2_000_000, np.random.default_rng(1))
    return 1 - np.searchsorted(np.sort(times), SHARES * shape.horizon, side="right") / times.size


def life_bands(run: Map, scale: float) -> tuple[str, Row, list[Row]]:
    """How often bands of survival hold the population's curve."""
    rows = []
    for name in REAL:
        times, events, horizon = real_lives(name)
        truth = peers.kaplan_meier(times, events, SHARES * horizon)
        for epsilon in (1, 10):
            runs = max(2, round((500 if epsilon == 1 else 100) * scale))
            found = np.array(
                list(run(partial(one_life_band, partial(drawn_again, name), truth, horizon, epsilon), range(runs)))
            )
            rows.append([name, times.size, epsilon, runs, float(found[:, 0].mean()), float(found[:, 1].mean())])
    for shape in LIVES:
        truth, some = population_curve(shape), max(2, round(60 * scale))
        for n in (200, 2000):
            sample = partial(invented, shape.name, n)
            found = np.array(list(run(partial(one_life_band, sample, truth, shape.horizon, 1), range(some))))
            rows.append([shape.name, n, 1, some, float(found[:, 0].mean()), float(found[:, 1].mean())])
    return "95 % bands of survival", ["lives", "n", "epsilon", "runs", "held", "half-width"], rows


def times(run: Map, scale: float) -> tuple[str, Row, list[Row]]:
    """How long a release of percentiles takes, over what numpy takes for the five levels."""
    rows = []
    for n in (1000, 10_000, 100_000):
        curves = BY_NAME["glucose"].sample(n, np.random.default_rng(0))
        plain = common.best_time(lambda c=curves: np.quantile(c, LEVELS, axis=0), 1.0, 20)
        ours = common.best_time(lambda c=curves: dp.percentiles(c, epsilon=1, range=(40, 400), grid=GRID), 2.0, 6)
        rows.append([n, plain, ours, ours / plain])
    return "Seconds of a percentile release", ["n", "np.quantile", "dp.percentiles", "ratio"], rows


PARTS = {
    "errors": errors,
    "shapes": shapes,
    "bands": bands,
    "survival": survival,
    "lives": lives,
    "life-bands": life_bands,
    "times": times,
}


def _begin() -> None:
    """What every worker does first: one thread each, or their small matrices wait for one another."""
    warnings.simplefilter("ignore")
    threadpool_limits(1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Percentile and survival curves")
    parser.add_argument("--part", action="append", choices=sorted(PARTS), help="only this part, or several")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of runs")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    path = common.RESULTS / "curves.json"
    saved = json.loads(path.read_text()) if path.exists() else {}
    found = {name: saved[name] for name in PARTS if name in saved}  # each says which code it is of
    with ProcessPoolExecutor(given.jobs, initializer=_begin) as pool:
        for name in given.part or PARTS:
            run = map if name == "times" or given.jobs == 1 else partial(pool.map, chunksize=2)
            title, head, rows = PARTS[name](run, given.scale)
            common.show(title, head, rows)
            found[name] = {"code": common.digest(), "scale": given.scale, "head": head, "rows": rows}
            common.save("curves", found)


if __name__ == "__main__":
    main()
