"""Means of functions of curves: plans that travel, honest releases, groups, OpenDP and words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import opendp.prelude as odp
import pandas as pd
import pytest
from conftest import near

import dpfda as dp

GRID = dp.Grid.uniform(0, 24, 24, name="hour", unit="h")
LEVELS = [70.0, 100.0, 140.0, 180.0, 220.0]
FUNCTIONS = {"above": dp.Above(140), "time": dp.TimeAbove(LEVELS)}


@dataclass(frozen=True, eq=False)
class Thinned(dp.bounds.RecordFunction):
    """Every other value, in ten times its unit: another grid, and a bound that is no range."""

    center: float = 100.0

    @property
    def bound(self):
        return dp.RMS(80.0, self.center)

    @property
    def description(self):
        return "every other value"

    def grid_of(self, grid):
        return dp.Grid(grid.points[::2])

    def encode(self, values, grid):
        return values[::2]


@cache
def curves(n: int = 4000, low: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(3)
    rise = 30 * np.sin(2 * np.pi * GRID.points / 24)
    return 110 + low + rise + rng.normal(0, 25, (n, 1)) + rng.normal(0, 10, (n, GRID.size))


def truth(function, rows):
    return function._each(rows, GRID, function.grid_of(GRID).size).mean(axis=0)


def plan_for(function, **more):
    return dp.MeanPlan(**{"n": 4000, "epsilon": 1, "grid": GRID, "of": function} | more)


# -- plans ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [*FUNCTIONS.values(), Thinned()], ids=repr)
def test_a_plan_travels_and_can_be_changed(function):
    plan = plan_for(function, unit="who", fill=2)
    again = dp.MeanPlan.from_json(plan.to_json())
    assert again == plan
    assert (again.digest, again.problem.key) == (plan.digest, plan.problem.key)
    changed = replace(plan, n=50, epsilon=2)
    assert (changed.of, changed.grid, changed.bound, changed.records_grid) == (
        function, plan.grid, plan.bound, plan.records_grid,
    )  # fmt: skip
    assert plan.grid == function.grid_of(GRID)
    assert plan.problem.record_grid == GRID
    assert plan.bound == function.bound.on(plan.grid)


def test_a_mean_without_a_function_says_nothing_of_one():
    text = dp.MeanPlan(n=40, epsilon=1, bound=dp.L2Ball(1.0), grid=12).to_json()
    assert '"of"' not in text
    assert "records_grid" not in text


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"bound": dp.Range(0, 1)}, None),
        ({"bound": dp.Range(0, 2)}, "brings its own bound.*Drop bound"),
        ({"bound": dp.L2Ball(1.0)}, "brings its own bound"),
        ({"standardize": True}, "a function is of the curve as it is"),
        ({"of": None}, "bound must be a public bound on one curve.*there is no default"),
        ({"of": None, "bound": dp.L2Ball(1.0), "records_grid": GRID}, "records_grid belongs to a function"),
        ({"of": dp.TimeAbove(LEVELS), "records_grid": GRID}, "the grid of a release follows"),
        ({"method": dp.Auto(spread=0.1)}, "needs no spread"),
    ],
)
def test_what_does_not_go_with_a_function(facts, said):
    if said is None:  # the very bound that it brings
        assert plan_for(dp.Above(140), bound=facts["bound"].on(GRID)) == plan_for(dp.Above(140))
        said = "brings its own bound"  # one in units is none that a plan keeps
    with pytest.raises(dp.errors.ParameterError, match=said):
        plan_for(dp.Above(140), **facts)


def test_the_data_are_read_on_their_own_grid():
    plan = plan_for(dp.TimeAbove(LEVELS), n=60, invalid="center")
    rows = curves()[:60]
    assert plan.summarize(dp.read(rows, grid=GRID)) == plan.summarize(rows)
    with pytest.raises(dp.errors.PlanMismatch, match="The plan has grid=Grid\\(24 points"):
        plan.summarize(dp.read(rows, grid=dp.Grid.uniform(0, 1, 24)))
    with pytest.raises(dp.errors.RecordError, match="A record has 5 values and the plan expects 24"):
        plan.summarize(rows[:, :5])


def test_curves_are_smoothed_where_they_live():
    rows = curves()[:30].copy()
    rows[3, 4:6] = np.nan
    for function in FUNCTIONS.values():
        plan = plan_for(function, n=30, align="smooth")
        assert plan.problem.alignment.basis.grid == GRID
        assert plan.summarize(rows).count == 30


# -- releases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("more", [{}, {"neighbors": "add-remove", "n": 4000}], ids=["replace", "add-remove"])
def test_a_release_is_accurate_and_its_bands_are_honest(name, more, tmp_path):
    function, rows = FUNCTIONS[name], curves()
    release = dp.mean(rows, epsilon=2, of=function, grid=GRID, **more)
    found, shown = release.values, release.confidence_band(0.999)
    lower, upper = shown
    assert release.plan.schedule.passes == 1
    assert np.abs(found - truth(function, rows)).max() < 0.06
    assert near(shown, truth(function, rows))
    assert (lower >= 0).all()
    assert ((lower <= found) & (found <= upper)).all()
    assert (upper <= 1).all()
    assert (upper - lower).mean() < 0.3
    if name == "time":
        assert (np.diff(found) <= 0).all()
    middles = (release.grid.points[1:] + release.grid.points[:-1]) / 2
    band = release.confidence_band(0.95, middles)
    assert ((band.lower <= release(middles)) & (release(middles) <= band.upper)).all()
    assert np.allclose(release(release.grid.points), found)
    assert release(float(middles[0])).shape == ()
    assert release.bound_too_small is False
    loaded = dp.load(release.save(tmp_path / "mean.json"))
    assert loaded.plan == release.plan
    assert np.array_equal(loaded.values, found)
    assert loaded.statement == release.statement


def test_rare_values_are_not_clipped():
    """Rounds about a centre would cut what one in twenty does: the default is one round within the exact bound."""
    rows = np.full((4000, 24), 100.0)
    rows[:200] = 200.0
    release = dp.mean(rows, epsilon=4, of=dp.Above(140), grid=GRID)
    assert np.abs(release.values - 0.05).max() < 0.04  # the largest of 400 releases was 0.0083
    assert near(release.band(0.999), 0.05)


def test_raw_numbers_are_as_drawn():
    rows = np.full((100, 24), 100.0)
    releases = [plan_for(dp.Above(140), n=100, epsilon="1/4", postprocess=False).release(rows) for _ in range(4)]
    assert min(release.values.min() for release in releases) < 0
    for release in releases:
        assert np.allclose(release.values, release.plan.basis.synthesize(release.raw) + release.plan.problem.offset)
        lower, upper = release.band()
        assert ((lower <= release.values) & (release.values <= upper)).all()


def test_units_groups_and_differences(tmp_path):
    days, arm = np.vstack([curves(), curves(low=60.0)]), np.repeat(["a", "b"], 4000)
    frame = pd.DataFrame(days, columns=[f"h{i:02d}" for i in range(24)])
    frame["arm"], frame["who"] = arm, np.arange(8000) // 2
    release = dp.mean(
        dp.read(frame, columns="h*"), epsilon=2, of=dp.Above(140), grid=GRID, unit="who", by="arm", groups=["a", "b"]
    )
    for name, rows in (("a", curves()), ("b", curves(low=60.0))):
        assert np.abs(release[name].values - truth(dp.Above(140), rows)).max() < 0.08
        assert release[name].plan.n == 2000
    gap = release.difference("b", "a")
    assert gap.test().p_value < 0.01
    shown = gap.confidence_band(0.999)
    lower, upper = shown
    apart = truth(dp.Above(140), curves(low=60.0)) - truth(dp.Above(140), curves())
    assert near(shown, apart)
    assert (lower >= -1).all()
    assert (upper <= 1).all()
    assert dp.load(gap.save(tmp_path / "gap.json")).test().p_value == gap.test().p_value
    assert "mean share above 140" in release.statement
    assert "each by what the function gives for it" in release.statement


def test_words():
    release = dp.mean(curves(), epsilon=1, of=FUNCTIONS["time"], grid=GRID)
    said = "the share of its domain that it spends above each of 5 levels from 70 to 220"
    for text in (release.statement, release.plan.explain(), release.methods_text(), repr(release.plan)):
        assert said in text
    assert "it does not rest on the function being right" in release.statement
    assert "curves far beyond most others" not in release.statement
    assert "share of time above the level" in release.title
    assert release.methods_text().startswith("An estimate of the mean share of time above the level was computed from")
    assert "grid of curves" in repr(release.plan)
    assert "One round of" in release.plan.explain()
    ax = release.plot()
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("share of time above the level", "level")
    named = dp.mean(curves(), epsilon=1, of=dp.Above(140), grid=GRID, value="share of patients")
    assert str(named.measure) == "share of patients"
    assert named.title == "mean share above 140"
    glucose = {"epsilon": 1, "grid": GRID, "value": "glucose (mg/dL)"}
    above = dp.mean(curves(), of=dp.Above(140), **glucose).plot()
    assert above.get_ylabel() == "share above 140 mg/dL"
    assert above.get_ylim()[1] <= 1
    assert dp.mean(curves(), of=FUNCTIONS["time"], **glucose).plot().get_xlabel() == "level of glucose (mg/dL)"
    assert plan_for(dp.Above(140)).verdict.word == "clear"
    assert plan_for(dp.Above(140)).verdict_for(0.2).bound == ""


def test_a_function_of_ones_own_is_released(tmp_path):
    release = dp.mean(curves(), epsilon=1, of=Thinned(), grid=GRID)
    assert np.abs(release.values - curves()[:, ::2].mean(axis=0)).max() < 20
    assert release.title == "mean value of a function"
    assert dp.load(release.save(tmp_path / "own.json")).plan.of == Thinned()
    assert "its own bound" in release.statement


def test_surfaces_and_components():
    rng = np.random.default_rng(0)
    grid = dp.Grid.product(dp.Grid.uniform(0, 1, 4), dp.Grid.uniform(0, 1, 5))
    release = dp.mean(rng.normal(0, 1, (2000, 20)), epsilon=4, of=dp.Above(0), grid=grid)
    assert release.values.shape == (4, 5)
    assert np.abs(release.values - 0.5).max() < 0.3
    assert release([[0.1, 0.2], [0.5, 0.5]]).shape == (2,)
    grid = dp.spaces.ComponentGrid(("x", "y"), dp.Grid.uniform(0, 1, 6))
    release = dp.mean(rng.normal(0, 1, (2000, 2, 6)), epsilon=4, of=dp.Above(0), grid=grid)
    assert release["x"].shape == (6,)
    assert release([0.1, 0.4]).shape == (2, 2)


def test_among_the_queries_of_opendp():
    odp.enable_features("contrib", "honest-but-curious")
    rows = curves()[:60]
    plan = plan_for(dp.TimeAbove(LEVELS), n=60, invalid="center")
    query = plan.to_opendp()
    assert query.map(1) == 1.0
    assert query(rows).values.shape == (5,)
    assert replace(plan, unit="who").to_opendp()([rows[:1], *[rows[i : i + 1] for i in range(1, 60)]]).grid == plan.grid
