"""The contract of counts in bins: given earlier draws, no point moves a round past its own share of epsilon.

Everything runs through the real `summarize`, `next` and `statistic`. All pairs of atoms are tried, and hostile points,
under both relations; earlier draws are real ones, what the data would give without noise, and absurd ones.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import dpfda as dp
from dpfda.problems.bins import BinProblem, equal_parts
from dpfda.problems.stage import Stage

RELATIONS = ("replace", "add-remove")
METHODS = {
    "default": dp.methods.Histogram(),
    "one round": dp.methods.Histogram(bins=(7,), shares=(1,)),
    "three rounds": dp.methods.Histogram(bins=(4, 6, 9), shares=("1/5", "3/10", "1/2")),
}
BOXES = {
    "line": {"domain": [(0.0, 110.0)], "cells": 24},
    "bins": {"domain": [(0.0, 110.0)], "cells": 220, "edges": [0, 1, 5, 10, 20, 40, 60, 80, 95, 110]},
}
HOSTILE = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 110.0, 110.0000001, -1e-9, 0.0, 54.99999]


def plan_for(method: str, box: str, relation: str, **more: object) -> dp.DensityPlan:
    facts = {"n": 60, "epsilon": "9/10", "method": METHODS[method], "neighbors": relation, "invalid": "center"}
    return dp.DensityPlan(**(facts | BOXES[box] | more))


def histories(plan: dp.DensityPlan, base: np.ndarray) -> list[list[np.ndarray]]:
    """Draws that could have come before: real ones, exact ones, and ones that point to one end."""
    found = [list(plan.release(base).drawn)]
    exact: list[np.ndarray] = []
    odd: list[np.ndarray] = []
    while (stage := plan.stage if not exact else plan.schedule.next(exact)) is not None:
        exact.append(stage.statistic(plan.summarize(base)))
    while (stage := plan.stage if not odd else plan.schedule.next(odd)) is not None:
        odd.append(np.eye(1, stage.problem.size)[0] * 1e6 - 3.0)
    return [*found, exact, odd]


def stages_after(plan: dp.DensityPlan, drawn: list[np.ndarray]) -> list[Stage]:
    return [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, len(drawn)))]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("method", METHODS)
def test_no_point_moves_a_round_past_its_share(method, box, relation, rng):
    plan = plan_for(method, box, relation)
    base = rng.gamma(4.0, 8.0, 59).clip(0, 110)
    edges = BOXES[box].get("edges", np.linspace(0, 110, 25))
    places = [*HOSTILE, *((a + b) / 2 for a, b in pairwise(edges))]
    summaries = [plan.summarize(np.append(base, place)) for place in places]
    alone = plan.summarize(base) if relation == "add-remove" else None
    for drawn in histories(plan, np.append(base, 50.0)):
        stages = stages_after(plan, drawn)
        assert sum((stage.epsilon for stage in stages), Fraction(0)) == plan.epsilon
        for stage in stages:
            seen = [stage.statistic(summary) for summary in summaries]
            others = seen if alone is None else [stage.statistic(alone)]
            losses = [stage.loss(a - b) for a, b in product(seen, others)]
            assert max(losses) <= float(stage.epsilon)
            assert max(losses) >= 0.999 * float(stage.epsilon)  # two points in different bins need all of it


@pytest.mark.parametrize("relation", RELATIONS)
def test_unusable_points_count_as_spread_evenly(relation):
    plan = plan_for("one round", "line", relation)
    half = np.append(np.full(30, 3.0), np.full(30, np.nan))
    shares = plan.stage.statistic(plan.summarize(half))
    cells = plan.stage.problem.basis.cells
    expected = 0.5 * cells / 24 + np.eye(1, cells.size)[0] * 0.5
    assert np.allclose(shares, expected, atol=1e-9)


def test_bins_follow_the_draws_and_nothing_else(rng):
    """Two data sets, the same draws: the same later rounds, to the bit."""
    plan = plan_for("three rounds", "line", "replace")
    drawn = [np.array(d) for d in plan.release(rng.random(60) * 110).drawn]
    again = dp.DensityPlan.from_json(plan.to_json())
    for done in (1, 2):
        ours, theirs = plan.schedule.next(drawn[:done]), again.schedule.next(drawn[:done])
        assert isinstance(ours.problem, BinProblem)
        assert ours.problem.starts == theirs.problem.starts
        assert ours.problem.size == METHODS["three rounds"].bins[done]


def test_bins_are_as_many_as_asked_for(rng):
    for masses in (np.eye(1, 30)[0] + 1e-12, np.eye(1, 30, 29)[0], rng.random(30), np.ones(30)):
        for count in (2, 7, 29, 30):
            starts = equal_parts(masses, count)
            assert len(starts) == count
            assert starts[0] == 0
            assert (np.diff([*starts, 30]) >= 1).all()
    assert equal_parts(np.ones(3), 8) == (0, 1, 2)
