"""Curves on covariates, a smooth function of one input, two classes: models of diffprivlib, and the defaults."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import models
import numpy as np
from elsewhere import Elsewhere, Job
from field_rows import NONE, OURS, PURE, Cell, repeated, timed

EPSILONS, N, SETS = (1.0, 4.0), 1000, 10


@dataclass(frozen=True)
class Fit:
    """A task of `models.py`, its name in tables, which of our models does it, and which of diffprivlib's."""

    what: str
    task: models.Task
    ours: str
    way: str
    peer: str
    classes: bool = False

    def drawn(self) -> list[models.Sample]:
        return [self.task.draw(N, np.random.default_rng([55, i])) for i in range(SETS)]

    def lost(self, answer: np.ndarray, sample: models.Sample) -> float:
        """The first measure of the task, and for classes the share of errors in place of that of successes."""
        value = next(iter(self.task.score(answer, sample).values()))
        return 100 - value if self.classes else value

    def measure(self, sample: models.Sample) -> str:
        return "errors on fresh points, %" if self.classes else next(iter(self.task.score(sample.truth, sample)))

    def answer(self, epsilon: float, sample: models.Sample) -> np.ndarray:
        model = self.task.private[self.ours].build(epsilon=epsilon)
        return model.fit(sample.X, sample.y).predict(sample.X_test)

    def plain(self, model: models.Plain, sample: models.Sample) -> float:
        return self.lost(model.build().fit(sample.X, sample.y).predict(sample.X_test), sample)


def fits() -> tuple[Fit, ...]:
    return (
        Fit("regression of curves on two covariates", models.function_on_scalar(), "FunctionOnScalarRegression",
            "linear", "diffprivlib, LinearRegression of each point"),
        Fit("regression of a number on one", models.regression(models.CURVES[0]), "KernelRegressor, default kernel",
            "linear", "diffprivlib, LinearRegression"),
        Fit("classifier of two classes", models.moons(), "KernelClassifier, default kernel",
            "logistic", "diffprivlib, LogisticRegression", classes=True),
    )  # fmt: skip


def moon_box() -> dict[str, Any]:
    """The public box of the two classes, about its middle, as their peers' features are."""
    low, high = np.array([(-2.0, 3.0), (-1.5, 2.0)]).T
    middle = (low + high) / 2
    return {"bounds": [(low - middle).tolist(), (high - middle).tolist()]}


def peer_jobs(fit: Fit, epsilon: float, drawn: list[models.Sample], runs: int) -> dict[str, Job]:
    """By names of rows: models of diffprivlib on inputs, for classes also its Bayes classifier, then on features."""
    jobs: dict[str, Job] = {}
    for name, peer in fit.task.peers.items():
        data = [{"X": peer.features(s.X), "y": s.y, "X_test": peer.features(s.X_test)} for s in drawn]
        told = name.replace("diffprivlib ", "diffprivlib, ") if jobs else fit.peer
        first, sets = not jobs, repeated(data, runs)
        jobs[told] = Job(fit.way, epsilon, sets, dict(peer.options))
        if fit.classes and first:
            jobs["diffprivlib, GaussianNB"] = Job("naive", epsilon, sets, moon_box())
    return jobs


def cell_rows(
    cell: Cell, fit: Fit, drawn: list[models.Sample], runs: int, elsewhere: Elsewhere
) -> list[dict[str, Any]]:
    samples = repeated(drawn, runs)
    errors = [fit.lost(fit.answer(cell.epsilon, sample), sample) for sample in samples]
    spent = timed(partial(fit.answer, cell.epsilon, drawn[0]))
    rows = [cell.row(f"{OURS} ({fit.ours.split(',')[0]})", PURE, errors, spent)]
    jobs = peer_jobs(fit, cell.epsilon, drawn, runs)
    for name, (values, seconds) in zip(jobs, elsewhere.answers(list(jobs.values())) or []):
        errors = [fit.lost(row, sample) for row, sample in zip(values, samples)]
        rows.append(cell.row(name, PURE, errors, seconds))
    name, model = next(iter(fit.task.plain.items()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = [fit.plain(model, sample) for sample in drawn]
    return [*rows, cell.row(f"scikit-learn, {name}", NONE, plain)]


def part(runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    rows = []
    for fit in fits():
        drawn = fit.drawn()
        for epsilon in EPSILONS:
            measure = fit.measure(drawn[0])
            cell = Cell(fit.what, fit.task.title, N, epsilon, measure, headline=epsilon == 1.0)
            rows += cell_rows(cell, fit, drawn, runs, elsewhere)
    return rows
