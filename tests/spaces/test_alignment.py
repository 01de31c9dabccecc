"""Curves at their own times: each is brought to the grid alone, or is unusable by a stated rule."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import hostile

import dpfda as dp
from dpfda.engines.task import Task
from dpfda.spaces.alignment import one_value_a_time

GRID = dp.Grid.uniform(0, 1, 21)
RULES = [
    dp.spaces.Interpolate(),
    dp.spaces.Interpolate(gap=1.0, least=1),
    dp.spaces.Smooth(),
    dp.spaces.Smooth(penalty=0.1, gap=0.5),
]


def plan_of(align, **options):
    facts = {"n": 4, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": GRID, "method": dp.methods.KNorm(5)} | options
    return dp.MeanPlan(align=align, **facts)


def rows_of(plan, data, **reading):
    """The rows on the grid that the plan makes of data, through the real path."""
    task = Task(plan.problem)
    source = task.source(dp.read(data, **reading))
    return np.vstack([block.values for block in task.records(source, source.blocks())])


@pytest.mark.parametrize("align", [dp.spaces.Interpolate(), dp.spaces.Smooth(penalty=1e-9)])
def test_a_curve_on_the_grid_stays_as_it_is(align):
    curves = np.sin(3 * GRID.points + np.arange(4)[:, None])
    found = rows_of(plan_of(align), dp.reading.Irregular([GRID.points] * 4, list(curves)))
    assert found == pytest.approx(curves, abs=0 if isinstance(align, dp.spaces.Interpolate) else 1e-4)


def test_interpolation_is_linear_and_constant_beyond_the_ends():
    found = rows_of(
        plan_of(dp.spaces.Interpolate()), dp.reading.Irregular([[0.9, 0.2, 0.4, 0.65]], [[1.0, 0.0, 2.0, 2.0]])
    )
    assert found[0] == pytest.approx(np.interp(GRID.points, [0.2, 0.4, 0.65, 0.9], [0.0, 2.0, 2.0, 1.0]))
    assert found[0, 0] == 0.0
    assert found[0, -1] == 1.0


def test_smoothing_solves_its_own_least_squares(rng):
    """The row minimises the mean squared residual plus the penalty: no other coefficients do better."""
    align = dp.spaces.Smooth(penalty=0.01, gap=1.0)
    plan = plan_of(align, bound=dp.L2Ball(1.0, 0.3))
    times, values = np.sort(rng.uniform(0, 1, 15)), rng.normal(0.3, 1, 15)
    row = rows_of(plan, dp.reading.Irregular([times], [values]))[0]
    basis = plan.kernel.basis(GRID)
    level = values.mean()
    best = basis.coefficients(row - level)

    def cost(c):
        ratio = basis.eigenvalues[0] / basis.eigenvalues
        return np.mean((values - level - basis.evaluate(times) @ c) ** 2) + 0.01 * (ratio * c**2).sum()

    steps = rng.normal(0, 1e-3, (50, best.size)) * np.sqrt(basis.eigenvalues / basis.eigenvalues[0])
    assert all(cost(best) < cost(best + step) for step in steps)


@pytest.mark.parametrize("align", RULES, ids=repr)
def test_alignment_depends_on_nothing_but_the_curve(align, rng):
    plan = plan_of(align, invalid="center")
    sizes = rng.integers(0, 30, 40)
    times = [rng.uniform(0, 1, size) for size in sizes]
    values = [rng.normal(0, 1, size) for size in sizes]
    whole = rows_of(plan, dp.reading.Irregular(times, values))
    for i in range(40):
        order = rng.permutation(sizes[i])
        alone = rows_of(plan, dp.reading.Irregular([times[i][order]], [values[i][order]]))
        assert np.array_equal(alone[0], whole[i], equal_nan=True)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("align", RULES, ids=repr)
def test_hostile_curves_cost_at_most_epsilon(align, neighbors, rng):
    plan = plan_of(align, invalid="center", neighbors=neighbors)
    usual = np.linspace(0, 1, 21)
    times = [usual] * 14 + [[], [0.5], [np.nan] * 3, [0.0, 1e300, -1e300], [np.inf, 0.1], [0.3, 0.3, 0.3], [-5.0, 5.0]]
    odd = [[], [1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [1.0, 1.0], [1e308, 1e308, -1e308], [1.0, 2.0]]
    values = [*hostile(21), *odd]
    assert len(times) == len(values)
    base = [rng.normal(0, 1, 21) for _ in range(3)]

    def statistic(more):
        data = dp.reading.Irregular([usual] * 3 + [t for t, _ in more], base + [v for _, v in more])
        return plan.statistic(plan.summarize(data))

    found = [statistic([pair]) for pair in zip(times, values, strict=True)]
    if neighbors == "add-remove":
        empty = statistic([])
        assert max(plan.loss(f - empty) for f in found) <= 1 + 1e-9
    else:
        assert max(plan.loss(a - b) for i, a in enumerate(found) for b in found[:i]) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ([0.5], "fewer than 2 observations"),
        ([0.0, 0.1, 0.2, 0.3, 0.9, 1.0], "no observation in a stretch of more than 0.25"),
        ([0.3, 0.5, 0.7, 0.9], "no observation in a stretch"),
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.2], "outside the domain"),
        ([], "fewer than 2"),
    ],
)
def test_curves_that_say_too_little_are_named(times, reason, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=1)
    whole = np.linspace(0, 1, 9)
    data = dp.reading.Irregular([whole, times, whole], [np.ones(9), np.ones(len(times)), np.ones(9)])
    with pytest.raises(dp.errors.RecordError, match=reason) as caught:
        dp.mean(data, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, ledger=ledger)
    assert "row 2" in str(caught.value)
    assert ledger.remaining == 1
    lenient = rows_of(plan_of(dp.spaces.Interpolate(), invalid="center"), data)
    assert np.isnan(lenient[1]).all()
    assert np.isfinite(lenient[[0, 2]]).all()


def test_missing_stretches_of_a_grid_are_bridged_by_the_same_rule():
    curves = np.tile(np.linspace(0, 2, 21), (2, 1))
    curves[0, 5:9] = np.nan
    for align, near in (
        (dp.spaces.Interpolate(), 1e-12),
        (dp.spaces.Smooth(penalty=1e-9), 0.2),
    ):  # smooth curves fall back to their mean
        found = rows_of(plan_of(align), curves)
        assert found[0] == pytest.approx(np.linspace(0, 2, 21), abs=near)
        assert np.array_equal(found[1], curves[1])
    curves[0, 5:15] = np.nan
    with pytest.raises(dp.errors.RecordError, match="too sparse") as caught:
        rows_of(plan_of(dp.spaces.Interpolate()), curves)
    assert caught.value.rows == (0,)


def test_values_at_one_time_are_averaged_in_any_order():
    times, values = one_value_a_time(np.array([1.0, 0.0, 1.0, 1.0]), np.array([3.0, 5.0, 1.0, 2.0]))
    assert times.tolist() == [0.0, 1.0]
    assert values.tolist() == [5.0, 2.0]


def test_scikit_fda_irregular_curves(rng):
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    sizes = rng.integers(8, 20, 30)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    times = np.concatenate([np.linspace(0, 1, size) for size in sizes])
    values = np.sin(times)
    data = skfda.FDataIrregular(start_indices=starts, points=times, values=values)
    release = dp.mean(data, epsilon=1e4, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.FRL(components=20))
    assert release.values == pytest.approx(np.sin(GRID.points), abs=0.02)
    assert release.plan.align == dp.spaces.Interpolate()


def test_functional_data_on_another_grid_is_brought_over():
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    points = np.linspace(0, 1, 201)
    data = skfda.FDataGrid(np.tile(points**2, (5, 1)), points)
    found = rows_of(plan_of(dp.spaces.Interpolate()), data)
    assert found == pytest.approx(np.tile(GRID.points**2, (5, 1)), abs=1e-4)


def test_long_tables_of_every_kind_give_the_same_bits(rng, tmp_path, monkeypatch):
    import polars as pl
    import pyarrow as pa

    sizes = rng.integers(9, 30, 25)
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(25), sizes),
            "when": np.concatenate([np.sort(rng.uniform(0, 1, size)) for size in sizes]),
            "what": rng.normal(0, 1, sizes.sum()),
        }
    )
    plan = plan_of(dp.spaces.Interpolate(gap=1.0), n=25)
    layout = dp.Long("who", "when", "what")
    whole = plan.summarize(dp.read(frame, layout=layout))
    assert whole.count == 25
    frame.to_parquet(tmp_path / "c.parquet")
    frame.to_csv(tmp_path / "c.csv", index=False)
    for data in (
        frame.sample(frac=1, random_state=1),
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        tmp_path / "c.parquet",
        tmp_path / "c.csv",
    ):
        assert plan.summarize(dp.read(data, layout=layout, header=True)) == whole
    frame.sample(frac=1, random_state=1).to_csv(tmp_path / "mixed.csv", index=False)
    assert plan.summarize(dp.read(tmp_path / "mixed.csv", layout=layout, header=True)) == whole
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    with pytest.raises(dp.errors.RecordError, match="whos are not in order"):
        plan.summarize(dp.read(tmp_path / "mixed.csv", layout=layout, header=True))


def test_lists_with_times_of_their_own(rng):
    import pyarrow as pa

    times = [np.sort(rng.uniform(0, 1, size)) for size in (12, 20, 9)]
    values = [np.cos(t) for t in times]
    table = pa.table({"load": pa.array(values), "at": pa.array(times)})
    plan = plan_of(dp.spaces.Interpolate(gap=1.0), n=3)
    assert plan.summarize(dp.read(table, layout=dp.Lists("load", "at"))) == plan.summarize(
        dp.reading.Irregular(times, values)
    )


@pytest.mark.parametrize(
    ("align", "rule"), [("cubic", "align is"), (3, "align is"), (dp.spaces.Interpolate, "align is")]
)
def test_wrong_rules_are_refused(align, rule):
    with pytest.raises(dp.errors.ParameterError, match=rule):
        plan_of(align)


@pytest.mark.parametrize("options", [{"gap": 0}, {"gap": 2.0}, {"gap": "a"}, {"least": 0}, {"least": 1.5}])
def test_wrong_numbers_are_refused(options):
    with pytest.raises(dp.errors.ParameterError):
        dp.spaces.Interpolate(**options)


def test_rules_are_part_of_the_plan():
    plan = plan_of(dp.spaces.Smooth(penalty=0.01))
    assert dp.MeanPlan.from_json(plan.to_json()) == plan
    assert plan.problem.key != plan_of(dp.spaces.Smooth(penalty=0.02)).problem.key != plan_of(None).problem.key
    assert "penalised least squares" in plan.explain()
    with pytest.raises(dp.errors.ParameterError, match="curves on a line"):
        dp.MeanPlan(
            n=5,
            epsilon=1,
            bound=dp.L2Ball(1.0),
            grid=dp.Grid.product(GRID, GRID),
            align="linear",
            method=dp.methods.KNorm(2),
        )
