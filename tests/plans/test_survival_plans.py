"""Plans of survival curves, and what the verb refuses: each with its rule and its cure, before any charge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpfda as dp
from dpfda.problems.survival import CELLS

GOOD = {"epsilon": 1.0, "horizon": 900}
TIMES, EVENTS = np.linspace(1, 1000, 40), np.arange(40) % 2
P, R = dp.errors.ParameterError, dp.errors.RecordError


def test_a_plan_before_data():
    plan = dp.SurvivalPlan(n=2000, axis="time (days)", **GOOD)
    assert dp.SurvivalPlan.from_json(plan.to_json()) == plan
    assert (plan.grid.name, plan.grid.unit, plan.grid.size) == ("time", "days", CELLS + 1)
    assert plan.chosen == dp.methods.EventCounts(16, 8, early=2)
    assert plan.expected_error > 0
    assert 0 < plan.expected_risk < 0.01 * 900
    assert plan.risk_range[0] <= plan.expected_risk <= plan.risk_range[1]
    assert plan.verdict.word == "clear"
    assert dp.SurvivalPlan(n=10, epsilon=0.1, horizon=1).verdict.word == "mostly noise"
    epsilon = plan.solve(target=plan.expected_risk * 2)
    assert 0 < epsilon < 1
    assert "counts as censored at 0" in dp.SurvivalPlan(n=20, invalid="center", **GOOD).explain()
    assert "one patient in the data is replaced" in dp.SurvivalPlan(n=20, unit="patient", **GOOD).explain()
    assert plan.digest != dp.SurvivalPlan(n=2000, epsilon=1, horizon=901).digest


def test_risks_fall_with_n_and_epsilon_and_do_not_depend_on_the_unit_of_time():
    risks = [dp.SurvivalPlan(n=n, epsilon=e, horizon=1).expected_risk for n, e in ((100, 1), (1000, 1), (1000, 10))]
    assert risks == sorted(risks, reverse=True)
    far = dp.SurvivalPlan(n=100, epsilon=1, horizon=1e6).expected_risk
    assert far == pytest.approx(1e6 * risks[0])


@pytest.mark.parametrize("bins", [(4, 2), (24, 8), (7, 5), (96, 32), (1, 1)])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_bins_cover_all_cells(bins, neighbors):
    method = dp.methods.EventCounts(*bins)
    plan = dp.SurvivalPlan(n=500, method=method, neighbors=neighbors, **GOOD)
    starts = plan.problem.starts
    assert (starts[0], starts[-1], len(starts)) == (0, 2 * CELLS, sum(bins) + 1)
    assert CELLS in starts
    assert (np.diff(starts) > 0).all()
    release = plan.release(np.column_stack([np.linspace(1, 1000, 500), np.ones(500)]))
    assert np.isfinite(release.values).all()


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"horizon": None}, "needs a public horizon"),
        ({"horizon": 0}, "positive finite time"),
        ({"horizon": -3.0}, "positive finite time"),
        ({"horizon": np.inf}, "positive finite time"),
        ({"horizon": np.nan}, "positive finite time"),
        ({"horizon": "900"}, "positive finite time"),
        ({"horizon": True}, "positive finite time"),
        ({"epsilon": None}, "epsilon must be given"),
        ({"n": 1}, "n must be a whole number"),
        ({"unit": 3}, "one per record"),
        ({"axis": "a\nb"}, "names of axes"),
        ({"axis": 7}, "names of axes"),
        ({"method": dp.methods.KNorm(3)}, "made of counts of events"),
        ({"method": "bins"}, "dpfda method"),
        ({"neighbors": "swap"}, "neighbors must be"),
        ({"invalid": "drop"}, "invalid must be"),
        ({"neighbors": "add-remove", "n": None}, "public guess"),
        ({"groups": ["a"]}, "groups need labels"),
    ],
)
def test_wrong_facts(facts, rule, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "l", epsilon=1, study="s")
    with pytest.raises(P, match=rule):
        dp.survival(TIMES, EVENTS, **(GOOD | facts), ledger=ledger)
    assert ledger.spent == 0
    assert dp.SurvivalPlan(n=9, method=dp.Auto(), **GOOD) == dp.SurvivalPlan(n=9, **GOOD)


@pytest.mark.parametrize(
    ("times", "events", "error", "rule"),
    [
        (TIMES, EVENTS[:-1], R, "same length"),
        (TIMES, None, R, "two dimensions"),
        (np.column_stack([TIMES] * 3), None, R, "3 values and the plan expects 2"),
        (np.column_stack([TIMES, EVENTS]), EVENTS, R, "times must be a list"),
        (TIMES, ["yes"] * 40, R, "rows of numbers"),
        (TIMES.astype("timedelta64[D]"), EVENTS, R, "not durations"),
        ("patients.csv", EVENTS, P, "events go with times in memory"),
        (dp.read("patients.csv"), EVENTS, P, "events go with times in memory"),
        (TIMES, "died", P, "events go with times in memory"),
        (np.where(TIMES > 500, -TIMES, TIMES), EVENTS, R, "missing, infinite or negative"),
        (np.where(TIMES > 500, np.nan, TIMES), EVENTS, R, "missing, infinite or negative"),
        (TIMES, EVENTS + 1, R, "neither 0 nor 1 in row"),
        (TIMES, np.where(EVENTS > 0, np.nan, 0), R, "neither 0 nor 1 in row"),
        (np.array([]), np.array([]), R, "no records"),
    ],
)
def test_wrong_records(times, events, error, rule, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "l", epsilon=1, study="s")
    with pytest.raises(error, match=rule) as caught:
        dp.survival(times, events, ledger=ledger, **GOOD)
    assert ledger.spent == 0
    assert "513.2" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"events": 5}, {"censored": 5}, {"events": 0, "censored": 1}, {"events": 2.5, "censored": 1}]
)
def test_wrong_bins(options):
    with pytest.raises(P, match=r"given together|number of bins from 1"):
        dp.methods.EventCounts(**options)


@pytest.mark.parametrize("early", [-1, 5, 1.5, True])
def test_wrong_halves(early):
    with pytest.raises(P, match="early is a number from 0"):
        dp.methods.EventCounts(8, 4, early=early)


def test_the_first_bin_is_halved():
    """Events that all come early are told apart; bins still cover all cells."""
    plain, halved = dp.methods.EventCounts(6, 3), dp.methods.EventCounts(6, 3, early=2)
    assert set(halved.starts) - set(plain.starts) == {8, 16}  # a quarter and a half of 32 cells
    assert dp.methods.EventCounts(1, 1, early=1).starts == (0, 96, 192, 384)
    assert dp.SurvivalPlan(n=100, **GOOD).chosen.early == 1


def test_every_way_to_say_the_same(tmp_path):
    plan = dp.SurvivalPlan(n=40, **GOOD)
    frame = pd.DataFrame({"died": EVENTS.astype(bool), "days": TIMES, "arm": ["a", "b"] * 20})
    frame.to_parquet(tmp_path / "p.parquet")
    frame.assign(died=EVENTS).to_csv(tmp_path / "p.csv", index=False)
    expected = plan.summarize(np.column_stack([TIMES, EVENTS]))
    for data in (frame, tmp_path / "p.parquet", tmp_path / "p.csv", [tmp_path / "p.csv"]):
        assert plan.summarize(dp.read(data, columns=["days", "died"])) == expected
    parts = [plan.summarize(np.column_stack([TIMES, EVENTS])[k::2], site=str(k)) for k in (0, 1)]
    assert parts[0].merge(parts[1]) == expected
    by = dp.survival(dp.read(frame, columns=["days", "died"]), by="arm", groups=["a", "b"], **GOOD)
    assert by.plan.plans[0].n == 20
    for events in (EVENTS.astype(bool), EVENTS.tolist(), pd.Series(EVENTS), EVENTS.astype(float)):
        assert dp.survival(pd.Series(TIMES), events, **GOOD).plan.n == 40


def test_units_count_by_their_shares():
    plan = dp.SurvivalPlan(n=2, unit="who", method=dp.methods.EventCounts(2, 1), **GOOD)
    rows = np.array([[100.0, 1], [800, 1], [200, 0], [950, 1]])
    shares = plan.statistic(plan.summarize(rows, units=["x", "x", "x", "y"]))
    assert shares == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2], abs=1e-4)
    assert dp.survival(rows[:, 0], rows[:, 1], unit=["x", "x", "x", "y"], **GOOD).plan.n == 2


def test_dask_sees_the_same(tmp_path):
    pytest.importorskip("dask")
    plan = dp.SurvivalPlan(n=40, **GOOD)
    pd.DataFrame({"days": TIMES, "died": EVENTS}).to_csv(tmp_path / "p.csv", index=False)
    here, there = (dp.read(tmp_path / "p.csv", columns=["days", "died"], engine=e) for e in (None, "dask"))
    assert plan.summarize(here) == plan.summarize(there)
