"""A private radius: no neighbour moves the law of what is released past epsilon, by either search."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from conftest import GRID, drawn_without_noise, hostile, neighbours, stage_losses

import dpfda as dp
from dpfda.noise.choice import chances

RELATIONS = ("replace", "add-remove")
SEARCHES = {
    "one choice": {"bound": dp.L2Ball(8.0)},
    "one choice in units": {"bound": dp.Range(-6, 10)},
    "version 0.1": {"smallest": 2.0**-30, "largest": 2.0**30},
}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("search", SEARCHES)
def test_no_neighbour_moves_a_radius_past_epsilon(search, relation, rng):
    facts = SEARCHES[search] | {"neighbors": relation, "invalid": "center"}
    plan = dp.plans.RadiusPlan(n=30, epsilon=1.0, grid=GRID, quantile=0.5, **facts)
    base = np.exp(rng.normal(size=(30, 1))) * rng.normal(size=(30, GRID.size))
    odd = [*hostile(GRID.size), np.zeros(GRID.size), np.full(GRID.size, 1e9), *base[:3]]
    pairs = [neighbours(plan.problem.count_is_private, base, a, b) for a, b in itertools.pairwise(odd)]
    drawn = drawn_without_noise(plan, base)
    assert plan.schedule.next(drawn) is None
    stages = [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, len(drawn)))]
    assert sum((stage.epsilon for stage in stages), Fraction(0)) == 1
    for stage in stages:
        assert 0.4 * float(stage.epsilon) <= max(stage_losses(stage, pairs)) <= float(stage.epsilon)


def law(plan, norms):
    """The exact law of the released radius, through the reading and the scores of the plan."""
    rows = np.asarray(norms, dtype=float)[:, None] * np.ones((1, 4)) if len(norms) else np.empty((0, 4))
    scores = plan.statistic(plan.summarize(rows))
    return chances((scores.max() - scores) * float(plan.epsilon / plan.problem.range))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "quantile"), [(0.5, 0.95), (1, 0.5), (3, 0.7)])
def test_every_small_data_set_and_every_neighbour(relation, epsilon, quantile):
    """All data sets of three (or two) curves with a norm at, between or beyond the radii: brute force."""
    plan = dp.plans.RadiusPlan(
        n=3, epsilon=epsilon, grid=4, bound=dp.L2Ball(4.0), smallest=2.8, quantile=quantile, neighbors=relation,
        invalid="center",
    )  # fmt: skip
    assert plan.radii.size == 3
    sizes = [0.0, *plan.radii, 1e300, np.nan]
    laws = {kept: law(plan, kept) for count in (2, 3) for kept in itertools.combinations_with_replacement(sizes, count)}
    worst = 0.0
    for some in itertools.combinations_with_replacement(sizes, 2):
        family = [found for kept, found in laws.items() if len(kept) == 3 and _one_more(kept, some)]
        others = family if relation == "replace" else [laws[some]]
        for a, b in itertools.product(family, others):
            worst = max(worst, float(np.abs(np.log(a / b)).max()))
    assert 0.3 * epsilon < worst <= epsilon * (1 + 1e-9)


def _one_more(kept, some):
    left = [repr(x) for x in kept]
    for x in some:
        if repr(x) not in left:
            return False
        left.remove(repr(x))
    return True


def test_chances_are_those_of_all_orders():
    """Gauss' rule against the enumeration of all orders of the candidates."""
    rng = np.random.default_rng(5)
    for size in (1, 2, 3, 5, 6):
        gaps = np.abs(rng.normal(0, 2, size))
        gaps -= gaps.min()
        found, orders = np.zeros(size), list(itertools.permutations(range(size)))
        for order in orders:
            left = 1.0
            for place in order:
                found[place] += left * np.exp(-gaps[place]) / len(orders)
                left *= 1 - np.exp(-gaps[place])
        assert np.allclose(chances(gaps), found, rtol=1e-12, atol=0)
    assert np.isclose(chances(np.zeros(50)).sum(), 1.0, rtol=1e-12)
