"""The contract of survival curves: no record, and no unit, moves the counts past epsilon, whatever it holds.

Everything runs through the real `summarize` and `statistic`, with hostile times and events, under both relations.
"""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import dpfda as dp
from dpfda.api.survivals import paired
from dpfda.problems.survival import CELLS
from dpfda.spaces.pooling import WHOLE

RELATIONS = ("replace", "add-remove")
HORIZON = 900.0
TIMES = [
    np.nan, np.inf, -np.inf, -1.0, -0.0, 0.0, 5e-324, 1.0, 450.0, np.nextafter(HORIZON, 0), HORIZON,
    np.nextafter(HORIZON, np.inf), 1e308, -1e308, HORIZON / CELLS,
]  # fmt: skip
EVENTS = [0.0, 1.0, 2.0, -1.0, np.nan, 0.5, np.inf, -0.0]
HOSTILE = np.array(list(product(TIMES, EVENTS)))
METHODS = {"default": None, "few": dp.methods.EventCounts(1, 1), "many": dp.methods.EventCounts(96, 32)}


def plan_for(relation: str, **more: object) -> dp.SurvivalPlan:
    facts = {"n": 40, "epsilon": "9/10", "horizon": HORIZON, "neighbors": relation, "invalid": "center"}
    return dp.SurvivalPlan(**(facts | more))


def losses(plan: dp.SurvivalPlan, seen: list[np.ndarray], without: np.ndarray) -> list[float]:
    if plan.neighbors == "add-remove":
        return [plan.loss(one - without) for one in seen]
    return [plan.loss(a - b) for a, b in product(seen, seen)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_no_record_moves_the_counts_past_epsilon(method, relation, rng):
    plan = plan_for(relation, method=METHODS[method])
    base = np.column_stack([rng.exponential(600, 39), rng.random(39) < 0.5])
    seen = {plan.statistic(plan.summarize(np.vstack([base, row]))).tobytes() for row in HOSTILE}
    found = losses(plan, [np.frombuffer(one) for one in seen], plan.statistic(plan.summarize(base)))
    assert max(found) <= float(plan.epsilon)
    assert max(found) >= 0.999 * float(plan.epsilon)  # two records in different bins need all of it


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_record_that_is_there_twice(relation):
    plan = plan_for(relation)
    rows = [np.tile([[100.0, 1.0]], (40, 1)), np.vstack([np.tile([[100.0, 1.0]], (38, 1)), [[900.0, 0], [900.0, 0]]])]
    one, two = (plan.statistic(plan.summarize(each)) for each in rows)
    assert plan.loss(one - two) == pytest.approx(2 * 0.9 * (2 if relation == "add-remove" else 1), rel=1e-3)


def table(units: list[np.ndarray]) -> pd.DataFrame:
    frame = pd.DataFrame(np.vstack(units), columns=["time", "event"])
    frame["who"] = np.repeat([f"u{i:03d}" for i in range(len(units))], [len(unit) for unit in units])
    return frame


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("unit", [dp.Unit("who"), dp.Unit("who", most=2)])
def test_a_hostile_unit_costs_at_most_epsilon(unit, relation, rng):
    plan = plan_for(relation, n=6, unit=unit)
    base = [np.column_stack([rng.exponential(600, k), rng.random(k) < 0.5]) for k in (1, 3, 2, 4, 1)]
    others = [
        HOSTILE[:1],
        HOSTILE,
        HOSTILE[::-1],
        HOSTILE[57:58],
        np.tile([[1.0, 1]], (7, 1)),
        np.tile([[1e9, 1]], (3, 1)),
    ]
    read = lambda units: plan.statistic(plan.summarize(dp.read(table(units), columns=["time", "event"])))  # noqa: E731
    found = losses(plan, [read([*base, other]) for other in others], read(base))
    assert 0.999 * 0.9 <= max(found) <= 0.9


@pytest.mark.parametrize("unit", [None, "who"])
def test_more_records_than_n_and_fewer(unit):
    """A surplus is dropped by what records hold; missing ones count as censored at 0. Sums stay n."""
    plan = plan_for("replace", n=5, unit=unit)
    for count in (3, 5, 9):
        rows = np.column_stack([np.arange(count) * 90.0, np.ones(count)])
        units = None if unit is None else [f"p{i}" for i in range(count)]
        shares = plan.statistic(plan.summarize(rows, units=units))
        assert shares.sum() == pytest.approx(1, abs=1e-6)
        events = plan.problem.bins[0].size - 1
        assert shares[events] == pytest.approx(max(5 - count, 0) / 5, abs=1e-6)  # the first bin of censorings


@pytest.mark.parametrize("relation", RELATIONS)
def test_groups_share_no_record(relation, rng):
    plan = dp.plans.GroupPlan(("a", "b"), (plan_for(relation, n=20), plan_for(relation, n=20)))
    base = np.column_stack([rng.exponential(600, 39), np.ones(39)])
    labels = ["a"] * 19 + ["b"] * 20
    seen = [plan.summarize(np.vstack([base, row]), [*labels, "a"]) for row in ([1.0, 1.0], [np.nan, 7.0], [950.0, 0.0])]
    parts = [{name: part.statistic(found[name]) for name, part in plan.members.items()} for found in seen]
    for one, two in product(parts, parts):
        assert (one["b"] == two["b"]).all()
        assert plan.members["a"].loss(one["a"] - two["a"]) <= (0.9 if relation == "replace" else 1.8)


def test_where_records_fall():
    problem = plan_for("replace").problem
    rows = [[0, 1], [0, 0], [HORIZON, 1], [np.nextafter(HORIZON, 0), 1], [HORIZON * 7, 0], [np.nan, 1], [3, 2]]
    places = [int(problem.total(np.array([row], dtype=float)).argmax()) for row in rows]
    assert places == [0, CELLS, 2 * CELLS, CELLS - 1, 2 * CELLS, CELLS, CELLS]
    for row in HOSTILE:
        assert problem.total(row[None]).sum() == 1


def test_shares_of_units_are_checked_row_by_row(rng):
    """Whatever stands in a unit's record, it adds one whole: parts that are none count as censored at 0."""
    problem = plan_for("replace", unit="who").problem
    good = np.zeros(2 * CELLS + 1)
    good[:2] = WHOLE / 2
    bad = [
        np.full(good.size, np.nan),
        good * 2,
        good - 1,
        good + 0.5 / good.size,
        np.full(good.size, np.inf),
        -good,
        0 * good,
    ]
    for row in bad:
        total = problem.total(row[None])
        assert (total[CELLS], total.sum()) == (WHOLE, WHOLE)
    both = problem.total(np.array([good, bad[0]]))
    assert both.sum() == 2 * WHOLE
    assert both[0] == WHOLE / 2
    with pytest.raises(dp.errors.RecordError, match="A time is missing"):
        plan_for("replace", unit="who", invalid="raise").problem.total(bad[0][None])


@pytest.mark.parametrize("unit", [None, "who"])
def test_damaged_summaries_are_refused(unit):
    plan = plan_for("replace", n=3, unit=unit)
    rows, units = np.array([[1.0, 1], [2, 0], [950, 0]]), None if unit is None else ["a", "b", "c"]
    good = plan.summarize(rows, units=units)
    wrong = [good.totals * 2, -good.totals, good.totals[1:], good.totals.astype(float)]
    for totals in wrong:
        with pytest.raises(dp.errors.PlanMismatch):
            plan.statistic(replace(good, totals=totals))
    with pytest.raises(dp.errors.PlanMismatch, match="another plan"):
        plan_for("replace", n=3, unit=unit, horizon=800.0).statistic(good)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("more", [{}, {"unit": [f"p{i // 2}" for i in range(len(HOSTILE))], "n": 60}])
def test_nothing_a_record_holds_is_told(relation, more, capsys):
    """No warning, no print and no error, for any record."""
    facts = {"n": len(HOSTILE), "epsilon": 1.0, "horizon": HORIZON, "invalid": "center", "neighbors": relation} | more
    with np.errstate(all="ignore"):
        signal = HOSTILE.astype(np.float32)
    signal.view(np.uint32)[3, 0] = 0x7F800001  # a NaN that warns
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for rows in (HOSTILE, signal):
            dp.survival(rows[:, 0], rows[:, 1], **facts)
            dp.survival(rows, **facts)
        dp.survival(list(HOSTILE[:, 0]), ["x", None, *HOSTILE[2:, 1].tolist()], **facts)
    assert capsys.readouterr() == ("", "")


def test_a_text_does_not_decide_how_others_are_read():
    plan = plan_for("replace", n=4)
    texts = plan.summarize(paired([1.0, 2.0, 3.0, 4.0], [1, 0, True, "x"]))
    gaps = plan.summarize(np.array([[1.0, 1], [2, 0], [3, 1], [4, np.nan]]))
    assert texts == gaps


ODD = [10**400, np.longdouble("1e4000"), 2 + 1j, np.complex128(1), [1.0], [[2]], np.array([1.0])]
ODD += [np.timedelta64(1, "D")]


@pytest.mark.parametrize("kind", [list, tuple, deque], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_an_entry_that_is_no_number_is_missing_alone(kind, odd):
    good, gap = [1.0, 0, 1.0, 1], [1.0, 0, np.nan, 1]
    plan, strict = plan_for("replace", n=4), plan_for("replace", n=4, invalid="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column in (kind([1.0, 0, odd, 1]), kind([1.0, 0, odd, True])):
            for pair, same in (((column, good), (gap, good)), ((good, column), (good, gap))):
                assert plan.summarize(paired(*pair)) == plan.summarize(paired(*same))
                with pytest.raises(dp.errors.RecordError, match=r"in row 3 of"):
                    strict.summarize(paired(*pair))


def test_masked_entries_are_missing():
    times, plan = np.ma.array([1.0, 2, 3, 4], mask=[0, 0, 1, 0]), plan_for("replace", n=4)
    assert plan.summarize(paired(times, [1] * 4)) == plan.summarize(paired([1.0, 2, np.nan, 4], [1] * 4))


def test_single_precision_does_not_round_the_horizon():
    plan = plan_for("replace", n=3, horizon=0.1)
    rows = np.array([[0.1, 1], [0.09999999, 1], [1e30, 0]], dtype=np.float32)
    assert plan.summarize(rows) == plan.summarize(rows.astype(float))
