"""The guarantee is about units: whatever one household contributes, in any number, nobody sees more than epsilon."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import BOUNDS, GRID, METHODS, hostile

import dpfda as dp
from dpfda import engines
from dpfda.spaces.alignment import kept_of

METHODS_HERE = ["KNorm", "Minimax", "QR", "AR", "FRL-5"]
RULES = {
    "all": dp.Unit("who"),
    "two": dp.Unit("who", most=2),
    "by day": dp.Unit("who", most=2, order="day"),
}


def table(units: list[np.ndarray], labels: list[str] | None = None) -> pd.DataFrame:
    """One row per curve, with whose it is; a unit may have any number of them."""
    labels = labels or [f"u{i:03d}" for i in range(len(units))]
    curves = np.vstack(units)
    frame = pd.DataFrame(curves, columns=[f"h{i:02d}" for i in range(curves.shape[1])])
    sizes = [len(unit) for unit in units]
    frame["who"] = np.repeat(labels, sizes)
    frame["day"] = np.concatenate([np.arange(size) for size in sizes]).astype(str)
    return frame


def contents(rng: np.random.Generator) -> list[np.ndarray]:
    """What a hostile household may hold: one curve or many, of any kind."""
    bad = hostile(GRID.size)
    found = [np.array([record]) for record in bad]
    found += [np.array(bad), np.array(bad[::-1]), np.repeat([bad[2]], 7, axis=0), rng.normal(0, 1e6, (40, GRID.size))]
    found += [np.vstack([np.full((1, GRID.size), 1e308), np.full((3, GRID.size), -1e308)])]
    return found


def losses(plan: dp.MeanPlan, base: list[np.ndarray], others: list[np.ndarray]) -> list[float]:
    count_is_private = plan.neighbors == "add-remove"
    stages = [plan.stage]
    found = []
    for stage in stages:
        statistics = []
        for other in others:
            data = table([*base[1:], other])
            statistics.append(stage.statistic(engines.summarize(stage.encoder, dp.read(data, columns="h*"))))
        if count_is_private:
            without = stage.statistic(engines.summarize(stage.encoder, dp.read(table(base[1:]), columns="h*")))
            found += [stage.loss(s - without) for s in statistics]
        else:
            found += [stage.loss(a - b) for i, a in enumerate(statistics) for b in statistics[:i]]
    return found


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bound", ["L2", "L2-centred", "L1", "Ellipsoid-centred", "Box"])
def test_a_hostile_unit_costs_at_most_epsilon(bound, rule, neighbors, rng):
    base = [rng.normal(0, 0.5, (size, GRID.size)) for size in (1, 3, 2, 4, 1)]
    for method in METHODS_HERE if bound == "L2" else METHODS_HERE[:2]:
        plan = dp.MeanPlan(
            n=5,
            epsilon=1,
            bound=BOUNDS[bound],
            grid=GRID,
            method=METHODS[method],
            unit=RULES[rule],
            invalid="center",
            neighbors=neighbors,
        )
        assert max(losses(plan, base, contents(rng))) <= 1 + 1e-9


def test_opposite_units_come_close_to_epsilon():
    """The bound is not loose: the test above could fail."""
    plan = dp.MeanPlan(
        n=2, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(GRID.size - 1), unit="who"
    )
    first = plan.basis.synthesize(np.eye(plan.basis.size)[0]) * 1e6
    units = [table([np.zeros((1, GRID.size)), np.repeat([sign * first], 4, axis=0)]) for sign in (1, -1)]
    a, b = (plan.statistic(plan.summarize(dp.read(unit, columns="h*"))) for unit in units)
    assert 0.99 < plan.loss(a - b) <= 1


def test_without_a_unit_the_same_household_costs_as_many_times_epsilon():
    """What the warning says: k curves are protected at k times epsilon only."""
    plan = dp.MeanPlan(n=6, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(3))
    first = plan.basis.synthesize(np.eye(plan.basis.size)[0]) * 1e6
    rows = [np.vstack([np.zeros((2, GRID.size)), np.repeat([sign * first], 4, axis=0)]) for sign in (1, -1)]
    a, b = (plan.statistic(plan.summarize(data)) for data in rows)
    assert plan.loss(a - b) == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_every_stage_of_a_staged_plan_sees_units(neighbors, rng):
    """Stages clip about a centre that was drawn; a unit is one record in each of them."""
    base = [rng.normal(0, 0.3, (size, GRID.size)) for size in rng.integers(1, 4, 40)]
    plan = dp.MeanPlan(
        n=40,
        epsilon=4,
        bound=dp.L2Ball(3.0),
        grid=GRID,
        method=dp.methods.Staged(dp.methods.KNorm(5)),
        unit="who",
        invalid="center",
        neighbors=neighbors,
    )
    drawn, stage, spent = [], plan.stage, 0.0
    while stage is not None:
        spent += max(_stage_losses(stage, base, contents(rng)[:8], neighbors))
        drawn.append(stage.statistic(engines.summarize(stage.encoder, dp.read(table(base), columns="h*"))))
        stage = plan.schedule.next(drawn)
    assert len(drawn) > 1
    assert spent <= 4 * (1 + 1e-9)


def _stage_losses(stage, base, others, neighbors):
    read = lambda units: stage.statistic(engines.summarize(stage.encoder, dp.read(table(units), columns="h*")))  # noqa: E731
    statistics = [read([*base[1:], other]) for other in others]
    if neighbors == "add-remove":
        statistics = [read(base[1:]), *statistics]
        return [stage.loss(s - statistics[0]) for s in statistics[1:]]
    return [stage.loss(a - b) for i, a in enumerate(statistics) for b in statistics[:i]]


@pytest.mark.parametrize("kind", ["covariance", "radius"])
def test_covariances_and_radii_see_units(kind, rng):
    base = [rng.normal(0, 0.5, (size, GRID.size)) for size in (1, 3, 2, 4, 1)]
    facts = {"n": 5, "epsilon": 1, "grid": GRID, "unit": "who", "invalid": "center"}
    if kind == "covariance":
        plan = dp.CovariancePlan(bound=dp.L2Ball(1.0), method=dp.methods.KNorm(3), **facts)
    else:
        plan = dp.plans.RadiusPlan(bound=dp.L2Ball(8.0), **facts)
    assert max(_stage_losses(plan.stage, base, contents(rng), "replace")) <= float(plan.stage.epsilon) * (1 + 1e-9)


# -- a unit counts once, however its rows lie ---------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_rows_in_any_order_give_the_same_bits(rule, rng, tmp_path):
    units = [rng.normal(0, 1, (size, GRID.size)) for size in rng.integers(1, 6, 30)] + [np.array(hostile(GRID.size))]
    frame = table(units)
    unit = RULES[rule] if rule != "two" else dp.Unit("who")  # a rule by position is about positions
    plan = dp.MeanPlan(
        n=31, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(3), unit=unit, invalid="center"
    )
    whole = plan.summarize(dp.read(frame, columns="h*"))
    assert whole.count == 31
    for seed in range(3):
        assert plan.summarize(dp.read(frame.sample(frac=1, random_state=seed), columns="h*")) == whole
    frame.to_parquet(tmp_path / "a.parquet")
    frame.iloc[::-1].to_parquet(tmp_path / "b.parquet")
    frame.to_csv(tmp_path / "c.csv", index=False)
    for name in ("a.parquet", "b.parquet", "c.csv"):
        assert plan.summarize(dp.read(tmp_path / name, columns="h*", header=True)) == whole
    if rule == "all":
        values = frame.drop(columns=["who", "day"]).to_numpy()
        assert plan.summarize(values, units=frame["who"].tolist()) == whole


def test_a_unit_that_straddles_batches_and_files_counts_once(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("dpfda.reading.parquet.BATCH_BYTES", 1 << 11)
    frame = table([rng.normal(0, 1, (size, GRID.size)) for size in (50, 1, 7, 90, 3)])
    plan = dp.MeanPlan(n=5, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(3), unit="who")
    whole = plan.summarize(dp.read(frame, columns="h*"))
    for i, cut in enumerate(np.array_split(np.arange(len(frame)), 4)):
        frame.iloc[cut].to_parquet(tmp_path / f"p{i}.parquet")
    assert plan.summarize(dp.read(tmp_path, columns="h*")) == whole


@pytest.mark.parametrize(
    ("labels", "count"),
    [(["9", "10", "11"], 3), (["a", "b", " b "], 2), (["3", "2", "1"], 3), (["a", "B", "Z"][::-1], 3)],
)
def test_labels_in_any_one_order_are_sorted(labels, count, rng, tmp_path, monkeypatch):
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    frame = table([rng.normal(0, 1, (2, GRID.size)) for _ in labels], labels)
    frame.to_csv(tmp_path / "c.csv", index=False)
    plan = dp.MeanPlan(n=count, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(3), unit="who")
    if labels == ["Z", "B", "a"]:
        with pytest.raises(dp.errors.RecordError, match="not in order"):
            plan.summarize(dp.read(tmp_path / "c.csv", columns="h*", header=True))
        assert plan.summarize(dp.read(frame, columns="h*")).count == count
        return
    assert plan.summarize(dp.read(tmp_path / "c.csv", columns="h*", header=True)) == plan.summarize(
        dp.read(frame, columns="h*")
    )
    assert plan.summarize(dp.read(frame, columns="h*")).count == count


@pytest.mark.parametrize("labels", [["a", "b", "a"], ["1", "01", "1"], ["1", "2", "1"], ["x", "10", "9", "x"]])
def test_a_label_that_comes_back_is_refused_in_a_stream(labels, rng, tmp_path, monkeypatch):
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    frame = table([rng.normal(0, 1, (2, GRID.size)) for _ in labels], labels)
    frame.to_csv(tmp_path / "c.csv", index=False)
    plan = dp.MeanPlan(n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(3), unit="who")
    with pytest.raises(dp.errors.RecordError, match="whos are not in order") as caught:
        plan.summarize(dp.read(tmp_path / "c.csv", columns="h*", header=True))
    assert "01" not in str(caught.value)


@pytest.mark.parametrize("lost", [None, "", float("nan"), "  ", float("inf"), "NA", "null", "None", "NaN"])
@pytest.mark.parametrize("invalid", ["raise", "center"])
def test_a_record_of_nobody_is_refused_or_left_out(lost, invalid, rng):
    frame = table([rng.normal(0, 1, (1, GRID.size)) for _ in range(3)]).astype({"who": object})
    frame.loc[1, "who"] = lost
    plan = dp.MeanPlan(
        n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(3), unit="who", invalid=invalid
    )
    if invalid == "raise":
        with pytest.raises(dp.errors.RecordError, match="A who is missing in row 2"):
            plan.summarize(dp.read(frame, columns="h*"))
    else:
        assert plan.summarize(dp.read(frame, columns="h*")) == plan.summarize(
            dp.read(frame.drop(index=1), columns="h*")
        )


def test_the_average_is_the_average(rng):
    units = [rng.normal(0, 0.1, (size, GRID.size)) for size in rng.integers(1, 9, 25)]
    facts = {"n": 25, "epsilon": 1, "bound": dp.L2Ball(5.0), "grid": GRID, "method": dp.methods.FRL(components=9)}
    plan, plain = dp.MeanPlan(unit="who", **facts), dp.MeanPlan(**facts)
    averaged = plain.statistic(plain.summarize(np.array([unit.mean(axis=0) for unit in units])))
    assert plan.statistic(plan.summarize(dp.read(table(units), columns="h*"))) == pytest.approx(averaged, abs=1e-6)


def test_curves_are_kept_by_labels_and_never_by_values(rng):
    """The kept ones are the same whatever they hold."""
    marks = []
    for _ in range(5):
        order = rng.permutation(6)
        units = [np.zeros((1, GRID.size)), order[:, None] * np.ones((1, GRID.size)) * 1e-3]
        kept = kept_of([str(i) for i in range(6)], units[1], 2)
        marks.append(tuple(sorted(kept.tolist())))
    assert len(set(marks)) == 1
    assert len(marks[0]) == 2


def test_plans_and_statements_speak_of_units():
    plan = dp.MeanPlan(n=100, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, unit=dp.Unit("household", most=30))
    assert "one household in the data is replaced" in plan.explain()
    assert "at most 30 curves of a household are kept" in plan.explain()
    assert "a person whose data stand under several households" in plan.explain()
    assert "households (n)" in repr(plan)
    assert dp.MeanPlan.from_json(plan.to_json()) == plan
    assert plan.digest != replace(plan, unit=None).digest
    assert plan.problem.key != replace(plan, unit=None).problem.key
    bare = dp.MeanPlan(n=508, epsilon=1.0, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 48))
    assert not {"unit", "align"} & set(json.loads(bare.to_json())["plan"])


@pytest.mark.parametrize(
    ("unit", "rule"),
    [(3, "a unit is a column"), ("", "a unit is a column"), (dp.Unit, "a unit is a column")],
)
def test_wrong_units_are_refused(unit, rule):
    with pytest.raises(dp.errors.ParameterError, match=rule):
        dp.MeanPlan(n=5, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, unit=unit)


@pytest.mark.parametrize(("most", "order"), [(0, None), (1.5, None), (True, None), (None, "day")])
def test_wrong_rules_of_units_are_refused(most, order):
    with pytest.raises(dp.errors.ParameterError, match="most"):
        dp.Unit("who", most, order)
