"""How far off a suggested radius is: the one choice of a public bound against the two choices of version 0.1.

Norms of four shapes with a right radius (their 0.95 quantile) at 1, 1/3, 1/10 and 1/30 of the bound; the chances of
every radius are computed exactly, so nothing is drawn but the norms. Constants were tuned on `constant` and
`lognormal`.

    python benchmarks/radius.py
"""

from __future__ import annotations

from dataclasses import replace

import common
import numpy as np

import dpfda as dp
from dpfda.noise.choice import chances
from dpfda.plans.radius import RadiusPlan

QUANTILE, RIGHT = 0.95, (1.0, 1 / 3, 1 / 10, 1 / 30)
SIZES, BUDGETS = (50, 100, 215, 500, 2000), (0.05, 0.1, 0.5, 1.0)
DATA = 4
RNG = np.random.default_rng(22)

#: Norms whose 0.95 quantile is one, nearly.
SHAPES = {
    "constant": lambda n: np.full(n, 0.97),
    "lognormal": lambda n: np.exp(0.5 * (RNG.normal(size=n) - 1.645)),
    "heavy tail": lambda n: (RNG.pareto(1.5, size=n) + 1) / 20 ** (1 / 1.5),
    "two clusters": lambda n: np.where(RNG.random(n) < 0.3, 0.97, 0.1),
}


def law(problem: object, norms: np.ndarray, epsilon: float) -> np.ndarray:
    """The chances of each candidate of one choice."""
    counts = np.searchsorted(np.sort(norms), problem.radii[problem.places], side="right")
    scores = -np.maximum(QUANTILE * norms.size - counts, 0) - problem.prices
    return chances((scores.max() - scores) * epsilon)


def radii_of(plan: RadiusPlan, norms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The radii that may be released, and how likely each is."""
    epsilon = float(plan.epsilon)
    if plan.choices:
        return plan.radii, law(plan.problem, norms, epsilon)
    found = np.zeros(plan.radii.size)
    for place, chance in enumerate(law(plan.problem, norms, epsilon / 2)):
        drawn = [np.eye(plan.problem.size)[place]]
        second = plan.schedule.next(drawn).problem
        found[second.places] += chance * law(second, norms, epsilon / 2)
    return plan.radii, found


def weighted(values: np.ndarray, chance: np.ndarray, level: float) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(chance[order]) / chance.sum(), level)])


def row(plan: RadiusPlan, shape: str) -> tuple[str, ...]:
    """Median factor, the factor (either way) of the worst 5 %, and the mean share that is held."""
    factors, shares, weights = [], [], []
    for right in RIGHT:
        for _ in range(1 if shape == "constant" else DATA):
            norms = right * SHAPES[shape](plan.n)
            radii, chance = radii_of(plan, norms)
            factors.append(radii / min(np.quantile(norms, QUANTILE), 1.0))
            shares.append(np.searchsorted(np.sort(norms), radii, side="right") / plan.n)
            weights.append(chance)
    factor, share, weight = map(np.concatenate, (factors, shares, weights))
    off = np.exp(np.abs(np.log(factor)))
    return (
        f"{weighted(factor, weight, 0.5):.3g}",
        f"{weighted(off, weight, 0.95):.3g}",
        f"{float(share @ weight / weight.sum()):.2f}",
    )


def main() -> None:
    head = ["n", "epsilon", "promised: holds", "promised: times", "shape"]
    head += [f"{which}: {what}" for which in ("new", "old") for what in ("median", "worst 5 %", "held")]
    rows = []
    for n in SIZES:
        for epsilon in BUDGETS:
            new = RadiusPlan(n=n, epsilon=epsilon, grid=2, bound=dp.L2Ball(1.0), quantile=QUANTILE)
            old = replace(new, smallest=2.0**-30, largest=2.0**30, choices=None)
            said = [f"{new.held:.2f}", f"{new.times:.1f}"] if new.means_something else ["refused", "refused"]
            for shape in SHAPES:
                rows.append([n, epsilon, *said, shape, *row(new, shape), *row(old, shape)])
    common.show("Suggested radii, over the right ones", head, rows)
    common.save("radius", {"head": head, "rows": rows})


if __name__ == "__main__":
    main()
