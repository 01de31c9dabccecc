"""Make the pictures of README, tutorial and pages again, from invented data: `make pictures`.

Noise is drawn anew each time, so that pictures differ from run to run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

import dpfda as dp
from dpfda.results import plots

DOCS = Path(__file__).parent


def pictures() -> None:
    """Releases of invented household curves, ages and places, and a comparison of methods."""
    sample = dp.datasets.load_curves(5000, np.random.default_rng(2024))
    kilowatt = {"grid": sample.grid, "value": "load (kW)"}
    release = dp.mean(sample.curves, epsilon=1.0, bound=dp.L2Ball(5.0, center=0.5), **kilowatt)
    (DOCS / "images" / "mean.png").write_bytes(plots.png(release.plot()))
    ages, sex = dp.datasets.lifetimes(5000, np.random.default_rng(2024))
    groups = dp.density(ages, by=sex, groups=["f", "m"], epsilon=1.0, domain=[(0, 110)], axes=["age (years)"])
    (DOCS / "images" / "density.png").write_bytes(plots.png(groups["f"].plot()))
    (DOCS / "images" / "groups.png").write_bytes(plots.png(groups.plot()))
    (DOCS / "images" / "difference.png").write_bytes(plots.png(groups.difference("f", "m").plot()))
    places = dp.datasets.mixture(5000, np.random.default_rng(2024), dimension=2)
    surface = dp.density(places.points, epsilon=1.0, domain=places.domain, axes=["east (km)", "north (km)"])
    (DOCS / "images" / "map.png").write_bytes(plots.png(surface.plot()))
    (DOCS / "images" / "surface.png").write_bytes(plots.png(surface.plot(kind="surface")))
    _models(sample)
    _paper()
    table = dp.compare(dp.MeanPlan(n=508, epsilon=1, bound=dp.L2Ball(1.0), grid=48))
    risks = {name: [plan.expected_risk for plan in row] for name, row in table.items()}
    (DOCS / "images" / "compare.png").write_bytes(plots.png(plots.comparison([0.125, 0.25, 0.5, 1, 2, 4], risks)))


def _paper() -> None:
    """Two panels in a figure of one's own."""
    sample = dp.datasets.glucose(4000, np.random.default_rng(2024))
    arms = np.where(np.arange(4000) % 2, "drug", "diet")
    curves = sample.curves / 18 - 0.8 * (arms == "drug")[:, None]
    facts = {"epsilon": 1, "bound": dp.Range(2, 25), "grid": sample.grid, "value": "glucose (mmol/L)"}
    trial = dp.mean(curves, by=arms, groups=["diet", "drug"], **facts)
    left, right = Figure(figsize=(6.6, 2.3), layout="constrained").subplots(1, 2)
    trial.plot(left, title="a")
    trial.difference("drug", "diet").plot(right, title="b")
    (DOCS / "images" / "paper.png").write_bytes(plots.png(left))


def _models(sample: dp.datasets.Sample) -> None:
    """A covariance, coefficient functions, and what a classifier and a regression have learnt."""
    kilowatt = {"grid": sample.grid, "value": "load (kW)"}
    covariance = dp.covariance(sample.curves, epsilon=1.0, bound=dp.L2Ball(3.0, center=0.5), **kilowatt)
    (DOCS / "images" / "covariance.png").write_bytes(plots.png(covariance.plot()))
    (DOCS / "images" / "components.png").write_bytes(plots.png(covariance.plot_eigenfunctions(3)))
    covariates, curves, grid = dp.datasets.homes(20_000, np.random.default_rng(2024))
    facts = {"bound": dp.L2Ball(6.0), "covariate_bound": [(0, 6), (0, 1)], "grid": grid, "value": "load (kW)"}
    model = dp.FunctionOnScalarRegression(epsilon=1.0, **facts).fit(covariates, curves)
    picture = model.plot(label=["intercept", "person", "heating"])
    (DOCS / "images" / "regression.png").write_bytes(plots.png(picture, dpi=110))
    X, y = make_moons(20_000, noise=0.2, random_state=0)
    classifier = dp.KernelClassifier(epsilon=1.0, domain=[(-2, 3), (-1.5, 2)], classes=[0, 1]).fit(X, y)
    (DOCS / "images" / "classifier.png").write_bytes(plots.png(classifier.plot()))


if __name__ == "__main__":
    pictures()
