"""A plan of one pass reads records in memory for what turns out to be needed, and a stream for all that may be."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import GRID, drawn_without_noise

import dpfda as dp
from dpfda import engines
from dpfda.problems.together import Together
from dpfda.release import passes

PLANS = {
    "without a check": dp.Auto(passes=1, check=False),
    "with a check": dp.methods.Staged(dp.methods.KNorm(5), shares=("1",), radius="1/5", check="1/4"),
}


def plan_of(method: object, relation: str = "replace") -> dp.MeanPlan:
    facts = {"n": 400, "epsilon": 1.0, "grid": GRID, "invalid": "center", "neighbors": relation}
    return dp.MeanPlan(bound=dp.L2Ball(0.8), method=method, **facts)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("method", PLANS)
def test_either_reading_leads_to_the_same_numbers_before_noise(method, relation, rng):
    plan, data = plan_of(PLANS[method], relation), rng.normal(0, 0.4, (400, GRID.size))
    drawn = drawn_without_noise(plan, data)
    for rung in range(drawn[0].size):
        earlier = [np.eye(1, drawn[0].size, rung)[0], *drawn[1:]]
        stages = [plan.stage, *(plan.schedule.next(earlier[:done]) for done in range(1, len(earlier)))]
        for stage in stages:
            alone = stage.as_read(rereadable=True)
            assert isinstance(stage.encoder, Together)
            assert alone.encoder.key != stage.encoder.key
            both = [each.to_lattice(engines.summarize(each.encoder, data)) for each in (stage, alone)]
            assert both[0] == both[1]
            with pytest.raises(dp.errors.PlanMismatch):
                stage.check(engines.summarize(alone.encoder, data))


@pytest.mark.parametrize("method", PLANS)
def test_what_is_read(method, rng, monkeypatch):
    plan, data = plan_of(PLANS[method]), rng.normal(0, 0.4, (400, GRID.size))
    seen = []
    original = engines.summarize
    monkeypatch.setattr(
        passes.engines, "summarize", lambda problem, *a, **k: seen.append(problem) or original(problem, *a, **k)
    )
    plan.release(data)
    assert [len(getattr(problem, "problems", [0])) for problem in seen] == [1, len(plan.schedule.method.steps) - 1]
    seen.clear()
    plan.release(iter(np.split(data, 4)))
    assert [len(problem.problems) for problem in seen] == [1 + 11 * (len(plan.schedule.method.steps) - 1)]
