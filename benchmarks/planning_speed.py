"""How long planning takes: a plan with its band and some releases, and what reaches an accuracy.

Whoever moves a slider makes a plan at every step. All of it is public, so that nothing but time is at stake. Modules
are loaded and one plan of another shape is made before; every repetition has a grid and facts that are new to the
process, so that what is measured is a first plan, not a cache of the last one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import dpfda as dp

Row = dict[str, Any]
#: Shapes that no measurement shares with another.
REPEATS = range(5)


def solve_rows() -> list[Row]:
    """The epsilon that reaches an accuracy: of means, densities and covariances as they are planned by default."""
    _warm()
    return [
        _row("solve, mean", _solving(_mean), 0.1),
        _row("solve, density", _solving(_density), 0.5),
        _row("solve, density in the plane", _solving(_plane), 0.5),
        _row("solve, covariance", _solving(_covariance), 0.5),
    ]


def warm_plan_row() -> Row:
    """A new default plan of a mean, its noise band and ten simulated releases, together."""
    _warm()

    def planned(repeat: int) -> None:
        plan = dp.MeanPlan(n=1000 + repeat, epsilon=1, bound=dp.L2Ball(1.0), grid=48 + repeat)
        plan.accuracy.noise_band(0.95)
        _simulated(plan)

    return _row("a mean's plan, band and ten simulated releases", planned, 0.05)


def slider_row() -> Row:
    """Twenty epsilons in a row: a plan each, its risk, its text and its verdict."""
    _warm()

    def slid(repeat: int) -> None:
        for epsilon in np.geomspace(0.1, 4, 20).round(3).tolist():
            plan = dp.MeanPlan(n=1000 + repeat, epsilon=epsilon, bound=dp.L2Ball(1.0), grid=48)
            _looked_at(plan.expected_risk, str(plan), str(plan.verdict))

    return _row("a slider over 20 epsilons: risk, text and verdict", slid, 0.2)


def construction_rows() -> list[Row]:
    """A new plan of each kind, as it is planned by default, with its expected risk."""
    _warm()
    makers: dict[str, Callable[[int], Any]] = {
        "mean": _mean,
        "mean, one pass": lambda repeat: _mean(repeat, method=dp.Auto(passes=1)),
        "density": _density,
        "density in the plane": _plane,
        "covariance": _covariance,
    }
    return [_row(f"plan, {name}", lambda k, make=make: make(k).expected_risk, 0.05) for name, make in makers.items()]


def _warm() -> None:
    plan = dp.MeanPlan(n=700, epsilon=0.7, bound=dp.L2Ball(2.0), grid=32)
    plan.accuracy.noise_band(0.9)
    _simulated(plan)
    _looked_at(plan.solve(0.5), str(plan))


def _simulated(plan: Any) -> np.ndarray:
    stage = plan.stage
    return dp.noise.simulate(plan, np.zeros(stage.problem.size), 10, np.random.default_rng(0))


def _solving(make: Callable[[int], Any]) -> Callable[[int], None]:
    plans = {repeat: make(repeat) for repeat in REPEATS}

    def solved(repeat: int) -> None:
        plans[repeat].solve(plans[repeat].expected_risk * 1.5)

    return solved


def _mean(repeat: int, **options: Any) -> dp.MeanPlan:
    return dp.MeanPlan(n=1000 + repeat, epsilon=1, bound=dp.L2Ball(1.0), grid=48 + repeat, **options)


def _density(repeat: int) -> dp.DensityPlan:
    return dp.DensityPlan(n=1000 + repeat, epsilon=1, domain=[(0, 100 + repeat)])


def _plane(repeat: int) -> dp.DensityPlan:
    return dp.DensityPlan(n=5000 + repeat, epsilon=1, domain=[(0, 1), (0, 2 + repeat)])


def _covariance(repeat: int) -> dp.CovariancePlan:
    return dp.CovariancePlan(n=1000 + repeat, epsilon=1, bound=dp.L2Ball(1.0), grid=48 + repeat)


def _looked_at(*values: Any) -> None:
    """Whatever was computed on the way here."""


def _row(what: str, run: Callable[[int], Any], wanted: float) -> Row:
    best = np.inf
    for repeat in REPEATS:
        start = time.perf_counter()
        run(repeat)
        best = min(best, time.perf_counter() - start)
    return {"what": what, "seconds": round(best, 4), "wanted": wanted}


def main() -> None:
    """Print all rows."""
    for rows in (lambda: [warm_plan_row()], lambda: [slider_row()], construction_rows, solve_rows):
        for row in rows():
            print(f"{row['what']:55s} {row['seconds']:8.4f} s, wanted {row['wanted']:g}", flush=True)


if __name__ == "__main__":
    main()
