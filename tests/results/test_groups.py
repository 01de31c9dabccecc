"""One mean or covariance per public group: parallel composition, one charge, both neighbour definitions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from conftest import GRID, hostile

import dpfda as dp
from dpfda import engines

#: Tests of what is read from data are elsewhere (test_labels_read).
pytestmark = pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning")

FACTS = {"epsilon": 1, "bound": dp.L2Ball(1.0)}


@pytest.fixture
def frame(rng):
    curves = rng.normal(0, 0.2, (300, 12))
    table = pd.DataFrame(curves, columns=[f"h{i:02d}" for i in range(12)])
    return table.assign(region=np.repeat(["north", "south", "east"], [150, 100, 50]))


@pytest.fixture
def ledger(tmp_path):
    return dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=3)


@pytest.mark.parametrize("release", [dp.mean, dp.covariance])
def test_groups_cost_the_largest_budget_once(release, frame, ledger):
    found = release(dp.read(frame, columns="h*"), by="region", ledger=ledger, **FACTS)
    assert list(found) == ["east", "north", "south"]
    assert {name: part.plan.n for name, part in found.items()} == {"east": 50, "north": 150, "south": 100}
    assert ledger.remaining == 2
    assert len({part.entry for part in found.values()}) == 1
    assert "parallel composition" in found.statement
    assert "is not protected" in found.statement


def test_add_remove_protects_membership_and_says_what_a_move_costs(frame, ledger):
    frame = dp.read(frame, columns="h*")
    options = {"by": "region", "ledger": ledger, "neighbors": "add-remove", **FACTS}
    with pytest.raises(dp.errors.ParameterError, match="public guess"):
        dp.mean(frame, **options)
    with pytest.raises(dp.errors.ParameterError, match="which groups exist must be public"):
        dp.mean(frame, n=100, **options)
    found = dp.mean(frame, n=100, groups=["north", "south", "east", "west"], **options)
    assert list(found) == ["north", "south", "east", "west"]
    assert ledger.remaining == 2
    assert "protected at twice epsilon 1" in found.statement
    by_guess = dp.mean(frame, n={"north": 150, "south": 100, "east": 50}, groups=["north", "south", "east"], **options)
    assert by_guess["north"].plan.n == 150


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_one_record_touches_one_group_and_costs_at_most_epsilon(neighbors, rng):
    """A neighbour changes the statistic of its own group only, by at most epsilon; a move changes two."""
    names, groups = ["a", "b", "c"], ["a"] * 5 + ["b"] * 4 + ["c"] * 6
    sizes = {"a": 5, "b": 4, "c": 6}
    plans = [
        dp.MeanPlan(
            n=sizes[name], grid=GRID, method=dp.methods.KNorm(3), neighbors=neighbors, invalid="center", **FACTS
        )
        for name in names
    ]
    plan = dp.plans.GroupPlan(tuple(names), tuple(plans))
    base = rng.normal(0, 0.5, (15, GRID.size))

    def statistics(curves, labels):
        found = plan.summarize(curves, labels)
        return {name: plan[name].statistic(found[name]) for name in names}

    before = statistics(base, groups)
    for record in hostile(GRID.size):
        if neighbors == "replace":
            after = statistics(np.vstack([record, base[1:]]), groups)
        else:
            after = statistics(np.vstack([record, base]), ["a", *groups])
        losses = {name: plan[name].loss(after[name] - before[name]) for name in names}
        assert losses["b"] == losses["c"] == 0
        assert losses["a"] <= 1 + 1e-9
    if neighbors == "add-remove":
        moved = statistics(base, ["b", *groups[1:]])
        losses = {name: plan[name].loss(moved[name] - before[name]) for name in names}
        assert sum(losses.values()) <= 2 + 1e-9
        assert losses["c"] == 0


def test_staged_plans_read_all_groups_together(frame, monkeypatch):
    """Each pass reads the data once for all groups, whatever their stages are."""
    passes = []
    real = engines.summarize_groups

    def counted(*args, **options):
        passes.append(1)
        return real(*args, **options)

    monkeypatch.setattr(engines, "summarize_groups", counted)
    big = pd.concat([frame] * 8)
    facts = {"epsilon": 50, "bound": dp.L2Ball(5.0), "method": dp.Auto(spread=0.5)}
    found = dp.mean(dp.read(big, columns="h*"), by="region", **facts)
    needed = max(part.plan.schedule.passes for part in found.values())
    assert needed > 1
    assert len(passes) <= needed + 1
    for name, part in found.items():
        truth = big[big["region"] == name].filter(like="h0").mean().to_numpy()
        assert part.values[:10] == pytest.approx(truth, abs=0.1)


def test_groups_and_units_together(frame, ledger, tmp_path):
    frame = frame.assign(household=np.arange(300) // 5)
    options = {"by": "region", "unit": "household", **FACTS}
    found = dp.mean(dp.read(frame, columns="h[0-9]*"), ledger=ledger, **options)
    assert {name: part.plan.n for name, part in found.items()} == {"east": 10, "north": 30, "south": 20}
    frame.to_parquet(tmp_path / "c.parquet")
    streamed = dp.mean(dp.read(tmp_path / "c.parquet", columns="h[0-9]*"), **options)
    assert streamed["north"].plan == found["north"].plan
    frame.loc[0, "region"] = "south"
    with pytest.raises(dp.errors.RecordError, match="more than one group"):
        dp.mean(dp.read(frame, columns="h[0-9]*"), ledger=ledger, **options)
    assert ledger.remaining == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": ["north", "south"]}, "names no group"),
        ({"by": "county"}, "by must name a column"),
        ({"by": ["north"] * 299}, "one label per record"),
        ({"by": None, "groups": ["north"]}, "groups need labels"),
        ({"n": {"north": 150}}, "n must have a number for every group"),
    ],
)
def test_groups_that_do_not_fit_are_refused_before_any_charge(change, message, frame, ledger):
    options = {"by": "region", "ledger": ledger, **FACTS} | change
    with pytest.raises(dp.DpfdaError, match=message) as caught:
        dp.mean(dp.read(frame, columns="h*"), **options)
    assert ledger.remaining == 3
    assert "east" not in str(caught.value) or "n" in change  # labels of records are not quoted


def test_a_group_of_one_is_refused(frame, ledger):
    frame.loc[0, "region"] = "lonely"
    with pytest.raises(dp.errors.RecordError, match="fewer than two records"):
        dp.mean(dp.read(frame, columns="h*"), by="region", ledger=ledger, **FACTS)
    assert ledger.remaining == 3


def test_groups_are_saved_compared_and_drawn(frame, tmp_path):
    found = dp.mean(dp.read(frame, columns="h*"), by="region", **FACTS)
    found.save(tmp_path / "g.json")
    again = dp.load(tmp_path / "g.json")
    assert again["north"].values == pytest.approx(found["north"].values)
    assert json.loads((tmp_path / "g.json").read_text())["dpfda"] == "releases"
    assert found.difference("north", "south").values.shape == (12,)
    picture = found.plot()
    assert len(picture.lines) >= 3
    assert "95 % band, mean of the population" in {text.get_text() for text in picture.get_legend().texts}
    band, drawn = found.confidence_band(next(iter(found))), picture.collections[0].get_datalim(picture.transData)
    assert (drawn.ymin, drawn.ymax) == pytest.approx((band.lower.min(), band.upper.max()))
    assert found.to_csv().startswith("group,t,value")


def test_group_plans_release_from_files_and_summaries(frame, tmp_path, ledger):
    frame.to_parquet(tmp_path / "c.parquet")
    sizes = {"north": 150, "south": 100, "east": 50}
    plans = [dp.MeanPlan(n=n, grid=12, method=dp.Auto(passes=1), **FACTS) for n in sizes.values()]
    plan = dp.plans.GroupPlan(tuple(sizes), tuple(plans))
    assert plan.release(dp.read(tmp_path / "c.parquet", columns="h*"), ledger, by="region")["east"].grid.size == 12
    found = plan.summarize(dp.read(tmp_path / "c.parquet", columns="h*"), "region", checkpoint=tmp_path / "g.summary")
    assert {name: part.count for name, part in found.items()} == sizes
    saved = dp.engines.load_summary(tmp_path / "g.summary")
    assert dict(saved.summaries) == found
    assert list(plan.release(saved.summaries, ledger)) == list(sizes)
    assert ledger.remaining == 1
    with pytest.raises(dp.errors.ParameterError, match="groups need labels"):
        plan.release(tmp_path / "c.parquet", ledger)
    with pytest.raises(dp.errors.PlanMismatch, match="one summary per group"):
        plan.release({"north": found["north"]}, ledger)
    assert ledger.remaining == 1
