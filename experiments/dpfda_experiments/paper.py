"""The paper's mechanisms with noise as large as epsilon asks for, and our default, on one data set.

These are plans of this library: the paper's sensitivities (which hold, and are loose), noise with the kernel's
eigenvalues, parameters by the paper's privacy-safe selection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dpfda as dp

EPSILON = 1.0
#: The grid of the simulations, and the peers' settings in the paper.
GRID = dp.Grid.uniform(0, 1, 101)
LATTICE, DELTA = 20, 0.01
VALID = {"noise": "kernel", "sensitivity": "paper"}
PURE = ("FRL", "AR", "QR", "Bernstein")
#: The method of a plan of which only the facts are used: the default would take its time to choose.
ANY = dp.methods.FRL(1)


def simulated(scenario: str, n: int, nu: float, method: Any = None) -> dp.MeanPlan:
    """A plan for one of the paper's scenarios, with the public radius of every study."""
    return dp.MeanPlan(
        n=n,
        epsilon=EPSILON,
        bound=dp.L2Ball(dp.datasets.RADII[scenario]),
        grid=GRID,
        kernel=dp.kernels.Matern(nu, 0.1),
        method=method,
    )


def window(plan: dp.MeanPlan) -> range:
    """The numbers of components that reach the optimal rate: from ``n^(1/(beta+1))`` to ``n^(1/3)``."""
    low, high = math.ceil(plan.n ** (1 / (plan.kernel.decay + 1)) - 1e-9), math.floor(plan.n ** (1 / 3) + 1e-9)
    return range(low, max(low, high) + 1)


def bernstein() -> dp.methods.Bernstein:
    """Noise for all values together: an L2 ball bounds them much better than each one's largest value does."""
    return dp.methods.Bernstein(LATTICE, sensitivity="tight")


def frl(count: int) -> dp.methods.FRL:
    return dp.methods.FRL(count, sensitivity="paper")


def safe(method: dp.methods.AR | dp.methods.QR, plan: dp.MeanPlan) -> Any:
    """AR or QR with the parameters of privacy-safe selection, all filled in."""
    return replace(plan, method=dp.selection.pss(method, plan)).chosen


def mechanisms(plan: dp.MeanPlan) -> dict[str, list[dp.MeanPlan]]:
    """The paper's mechanisms as plans with these facts; FRL once for each number of components in its window."""
    qr = safe(dp.methods.QR(**VALID), plan)
    methods: dict[str, list[Any]] = {
        "FRL": [frl(count) for count in window(plan)],
        "AR": [safe(dp.methods.AR(**VALID), plan)],
        "QR": [qr],
        "Bernstein": [bernstein()],
        "GP-ADP": [dp.methods.GaussianProcess(DELTA, qr.eta, qr.psi)],
    }
    return {name: [replace(plan, method=method) for method in some] for name, some in methods.items()}


@dataclass(frozen=True)
class Errors:
    """Squared distances: of the release and of the estimate before noise from the truth, and between the two."""

    total: float
    estimation: float
    privacy: float


def errors(plan: dp.MeanPlan, curves: np.ndarray, truth: np.ndarray, draws: int, rng: np.random.Generator) -> Errors:
    """What simulated releases of one data set are off by."""
    statistic = plan.statistic(plan.summarize(curves))
    before = plan.basis.synthesize(plan.schedule.combine([statistic]))
    released = plan.basis.synthesize(dp.noise.simulate(plan, statistic, draws, rng))
    return Errors(
        float((plan.grid.norm(released - truth) ** 2).mean()),
        float(plan.grid.norm(before - truth) ** 2),
        float((plan.grid.norm(released - before) ** 2).mean()),
    )


def default_errors(plan: dp.MeanPlan, curves: np.ndarray, truth: np.ndarray, releases: int) -> Errors:
    """The same for real releases of our default; before noise stands the plain mean of the curves."""
    mean, grid = curves.mean(axis=0), plan.grid
    released = np.array([plan.release(curves).values for _ in range(releases)])
    return Errors(
        float((grid.norm(released - truth) ** 2).mean()),
        float(grid.norm(mean - truth) ** 2),
        float((grid.norm(released - mean) ** 2).mean()),
    )
