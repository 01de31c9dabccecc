"""Populations whose mean is known, to try bands on: real sets drawn from with replacement, and generators.

    from populations import POPULATIONS, cells

Every population has a public bound that an honest practitioner would give and a way to draw records. Populations of
kind "tune" are what bands may be developed on; those of kind "judge" are there to judge bands, and no constant of a
band is chosen by a look at them. Heavy tails, and features finer than any component, are `named`: there no band
promises to hold. The real sets are not part of the project; where their folder is absent they are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import common
import numpy as np
import real
from classes import CLASSES, FunctionClass

import dpfda as dp

Draw = Callable[[int, np.random.Generator], np.ndarray]
EPSILONS = (0.1, 1.0, 4.0)
UNIT = dp.Grid.midpoints(0, 1, 48)
FINE = dp.Grid.midpoints(0, 1, 200)
DAY = dp.Grid.midpoints(0, 24, 48)
#: Centre and height of a day's demand in Adelaide, in megawatt: half a gigawatt at night, three on the hottest days.
ADELAIDE = (1750.0, 1250.0)
#: Fractional anisotropy lies in [0, 1] by definition; along a tract of white matter it is .2 to .8.
ANISOTROPY = (0.5, 0.3)
#: Shares of deaths by age, as a density on [0, 1]: about the uniform one, half as much again as it is high.
DEATH_SHARES = (1.0, 1.5)
#: Thousands of deaths in an age group: nearly all countries have below a hundred, a few have thousands.
DEATHS = (0.0, 100.0)
#: Seed of what a population draws once: its mean.
FIXED = 20


@dataclass(frozen=True, eq=False)
class Population:
    """Where records come from, and what is publicly said of them."""

    name: str
    grid: dp.Grid
    bound: dp.L2Ball
    mean: np.ndarray
    draw: Draw
    kind: str = "tune"
    named: bool = False
    sizes: tuple[int, ...] = (100, 500, 3000)
    epsilons: tuple[float, ...] = EPSILONS
    #: Where it is a real set: all its curves.
    curves: np.ndarray | None = None

    def plan(self, n: int, epsilon: float, **options: object) -> dp.MeanPlan:
        """The plan of somebody who sets nothing else."""
        return dp.MeanPlan(n=n, epsilon=epsilon, bound=self.bound, grid=self.grid, **options)


def ball(grid: dp.Grid, center: float, height: float) -> dp.L2Ball:
    """Curves of at most this root mean square about the centre."""
    return dp.L2Ball(height * float(grid.weights.sum()) ** 0.5, center)


# -- real sets ------------------------------------------------------------------------------------


def resample(curves: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(curves[rng.integers(len(curves), size=n)])


def of_curves(name: str, curves: np.ndarray, grid: dp.Grid, told: tuple[float, float], **more: object) -> Population:
    """A set as a population: its own mean is the truth."""
    bound, draw = ball(grid, *told), partial(resample, curves)
    return Population(name, grid, bound, curves.mean(axis=0), draw, curves=curves, **more)


def columns(path: Path, prefix: str) -> np.ndarray:
    """The rows of a file that have all values of the columns with this prefix."""
    with path.open() as handle:
        head, *rows = csv.reader(handle)
    wanted = [i for i, name in enumerate(head) if name.startswith(prefix)]
    return np.array([[float(row[i]) for i in wanted] for row in rows if all(row[i] for i in wanted)])


def deaths(path: Path) -> np.ndarray:
    """Thousands of deaths by age, one curve per country."""
    with path.open() as handle:
        rows = list(csv.DictReader(handle))
    countries = {row["country_code"]: [] for row in rows}  # type: dict[str, list[tuple[int, float]]]
    for row in rows:
        countries[row["country_code"]].append((int(row["age_start"]), float(row["deaths_thousands"])))
    return np.array([[value for _, value in sorted(ages)] for ages in countries.values()])


def judged(folder: Path) -> list[Population]:
    """Real sets that nothing was tuned on."""
    found, more = [], {"kind": "judge", "sizes": (100, 500)}
    for day in ("monday", "wednesday", "saturday", "sunday"):
        if (path := folder / f"adelaide_{day}_demand.csv").exists():
            found.append(of_curves(f"adelaide {day}", columns(path, "hh"), UNIT, ADELAIDE, **more))
    if (path := folder / "dti_cca.csv").exists():
        curves = columns(path, "cca_")
        found.append(of_curves("dti", curves, dp.Grid.uniform(0, 1, curves.shape[1]), ANISOTROPY, **more))
    if (path := folder / "wpp2019_deaths_by_age_countries_2015_2020.csv").exists():
        curves = deaths(path)
        grid = dp.Grid.midpoints(0, 1, curves.shape[1])
        shares = curves / curves.mean(axis=1, keepdims=True)
        found.append(of_curves("deaths, shares", shares, grid, DEATH_SHARES, **more))
        found.append(of_curves("deaths, thousands", curves, grid, DEATHS, named=True, **more))
    return found


# -- generators -----------------------------------------------------------------------------------


def scenario(name: str, mean: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """A scenario whose mean stays the same from sample to sample."""
    sample = dp.datasets.scenario(name, n, rng)
    return np.asarray(sample.curves - sample.mean + mean)


def glucose(n: int, rng: np.random.Generator) -> np.ndarray:
    """A day of blood sugar: a level, three meals, and a random walk."""
    t, meals = DAY.points, rng.lognormal(0, 0.5, (3, n, 1))
    curves = 110 * rng.lognormal(0, 0.18, (n, 1)) + np.cumsum(rng.normal(0, 2, (n, t.size)), axis=1)
    for meal, bump in zip(meals, _meals(t), strict=True):
        curves += meal * bump
    return np.asarray(curves)


def _meals(t: np.ndarray) -> tuple[np.ndarray, ...]:
    return (
        25 * np.exp(-((t - 8.5) ** 2) / 2),
        30 * np.exp(-((t - 13.5) ** 2) / 3),
        35 * np.exp(-((t - 19.5) ** 2) / 3),
    )


def smooth(t: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Six cosines whose strength falls with the frequency."""
    orders = np.arange(6)
    return np.asarray((rng.standard_normal((n, 6)) / (1 + orders)) @ np.cos(np.pi * np.outer(orders, t)))


def pareto_sizes(power: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """One bump whose height has a Pareto tail: a few curves have nearly all of it."""
    t = UNIT.points
    bump = np.exp(-0.5 * ((t - 0.6) / 0.15) ** 2)
    return np.asarray(np.sin(2 * np.pi * t) + 0.3 * smooth(t, n, rng) + rng.pareto(power, (n, 1)) * bump)


def pareto_places(power: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """As heavy, and every curve has its bump elsewhere: rough, with a smooth mean."""
    t, height = UNIT.points, rng.pareto(power, (n, 1))
    steps = (t[None, :] > rng.uniform(0, 1, (n, 1))) * height
    return np.asarray(np.sin(2 * np.pi * t) + 0.3 * smooth(t, n, rng) + steps)


def spikes(centres: tuple[float, ...], n: int, rng: np.random.Generator) -> np.ndarray:
    """Spikes of a hundredth of the domain, at the same places in all curves."""
    t = FINE.points
    fixed = np.sin(2 * np.pi * t) + _spikes(centres)
    return np.asarray(fixed + 0.3 * smooth(t, n, rng))


def _spikes(centres: tuple[float, ...]) -> np.ndarray:
    return np.asarray(3 * np.exp(-0.5 * ((FINE.points[:, None] - np.array(centres)) / 0.01) ** 2).sum(axis=1))


def of_class(made: FunctionClass) -> Population:
    """A random class with one mean for good."""
    t, first = made.grid.points, made.mean(made.grid.points, np.random.default_rng(FIXED))
    mean = made.scale * first / float(made.grid.norm(first))

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(mean + made.scale * made.spread * made.deviations(t, n, rng))

    named = "spikes" in made.name or "heavy" in made.name
    bound = dp.L2Ball(made.radius)
    return Population(made.name, made.grid, bound, mean, draw, "judge", named, (500,), (1.0,))


def generated() -> list[Population]:
    """Populations with formulas."""
    found = []
    for name, radius in dp.datasets.RADII.items():
        mean = dp.datasets.scenario(name, 2, np.random.default_rng(FIXED)).mean
        grid = dp.Grid.uniform(0, 1, mean.size)
        found.append(Population(name, grid, dp.L2Ball(radius), mean, partial(scenario, name, mean), sizes=(1000,)))
    # Half the range that glucose stays in, 40 to 400 mg/dl, about its middle.
    level, lift = 110 * np.exp(0.18**2 / 2), np.exp(0.5**2 / 2)
    mean = level + lift * np.sum(_meals(DAY.points), axis=0)
    found.append(Population("glucose", DAY, ball(DAY, 220, 180), mean, glucose, sizes=(3, 20, 300, 3000)))
    t = UNIT.points
    bump = np.exp(-0.5 * ((t - 0.6) / 0.15) ** 2)
    for power in (1.5, 2.5):
        mean = np.sin(2 * np.pi * t) + bump / (power - 1)
        draw = partial(pareto_sizes, power)
        found.append(Population(f"pareto {power:g}", UNIT, dp.L2Ball(2.0), mean, draw, named=True, sizes=(100, 1000)))
    mean = np.sin(2 * np.pi * t) + t / 1.5
    draw = partial(pareto_places, 2.5)
    found.append(Population("pareto steps", UNIT, dp.L2Ball(2.0), mean, draw, named=True, sizes=(100, 1000)))
    for name, centres in (("spikes", (0.23, 0.51, 0.77)), ("spike at the end", (1.0,))):
        mean = np.sin(2 * np.pi * FINE.points) + _spikes(centres)
        draw = partial(spikes, centres)
        found.append(Population(name, FINE, dp.L2Ball(2.0), mean, draw, named=True, sizes=(100, 1000)))
    return found


# -- all of them ----------------------------------------------------------------------------------


@cache
def populations(folder: Path = common.DATA) -> dict[str, Population]:
    """All populations by name; the real ones from this folder."""
    sets = real.read(folder / "real")
    found = [of_curves(data.name, data.curves, data.grid, (data.center, data.radius)) for data in sets]
    found += [*generated(), *judged(folder), *map(of_class, CLASSES)]
    return {population.name: population for population in found}


POPULATIONS: dict[str, Population] = populations()


def cells(found: dict[str, Population] | None = None) -> list[tuple[Population, int, float]]:
    """Every population with every size and budget it is tried at."""
    some = (POPULATIONS if found is None else found).values()
    return [(one, n, epsilon) for one in some for n in one.sizes for epsilon in one.epsilons]
