"""Hypothetical releases: every stage of a plan over a public guess, and never a release."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import dpfda as dp
from dpfda.bounds import loops
from dpfda.errors import ParameterError
from dpfda.plans.guessed_kinds import survival_of
from dpfda.plans.guesses import ball_of
from dpfda.plans.invented import STRAY, Invented, statistic
from dpfda.plans.walks import KEPT, Walks
from dpfda.problems.summary import Summary
from dpfda.spaces.components import ComponentGrid

RNG = np.random.default_rng(5)
DAY = dp.Grid.midpoints(0, 24, 24)
WAVE = 1 + 0.5 * np.sin(DAY.points / 4)
CURVES = WAVE + 0.2 * RNG.normal(size=(60, 1)) + 0.1 * RNG.normal(size=(60, 24))
SURFACES = dp.Grid.product(dp.Grid.uniform(0, 1, 8), dp.Grid.uniform(0, 1, 6))
PATHS = ComponentGrid(("x", "y"), dp.Grid.uniform(0, 1, 12))
X = RNG.uniform(size=(80, 2))
TIMES = np.column_stack([RNG.exponential(5, 80), RNG.integers(0, 2, 80)])
CURVE_FACTS = {"epsilon": 1.0, "bound": dp.Range(0, 2), "grid": DAY}


def mean(n=500, **facts):
    return dp.MeanPlan(n=n, **{**CURVE_FACTS, **facts})


DENSITY = dp.DensityPlan(n=500, epsilon=1.0, domain=[(0, 1)], cells=64)
PLANE = dp.DensityPlan(n=500, epsilon=1.0, domain=[(0, 1), (0, 1)], cells=16)
SURVIVAL = dp.SurvivalPlan(n=800, epsilon=1.0, horizon=10.0)
PERCENTILES = dp.PercentilePlan(n=500, epsilon=1.0, range=(0, 3), grid=DAY)
BUMP = np.exp(-0.5 * ((DENSITY.grid.points - 0.4) / 0.1) ** 2)
KERNEL = {"n": 4000, "epsilon": 1.0, "domain": [(0, 1)]}
#: A plan of each kind, a guess that it takes, and the shape of what it would release.
KINDS = {
    "mean": (mean(), WAVE, (24,)),
    "mean, level": (mean(), 0.7, (24,)),
    "mean, range": (mean(), dp.Range(0.5, 1.5), (24,)),
    "mean, rows": (mean(), CURVES, (24,)),
    "mean, odd": (mean(n=501), WAVE, (24,)),
    "mean of two": (mean(n=2), WAVE, (24,)),
    "mean, few": (mean(n=37), CURVES, (24,)),
    "mean, added": (mean(neighbors="add-remove"), WAVE, (24,)),
    "mean, one stage": (mean(method=dp.methods.FRL(4)), WAVE, (24,)),
    "mean, Bernstein": (mean(method=dp.methods.Bernstein(5)), WAVE, (24,)),
    "mean, chosen": (mean(method=dp.methods.Select([dp.methods.KNorm(3), dp.methods.KNorm(6)])), WAVE, (24,)),
    "mean, standardized": (mean(bound=dp.L2Ball(1.0), standardize=True), CURVES, (24,)),
    "mean, units": (mean(unit="home"), CURVES, (24,)),
    "mean, aligned": (mean(align="linear", fill=2), CURVES, (24,)),
    "mean of a function": (dp.MeanPlan(n=500, epsilon=1.0, grid=DAY, of=dp.Above(1.0)), CURVES, (24,)),
    "function's own mean": (dp.MeanPlan(n=500, epsilon=1.0, grid=DAY, of=dp.Above(1.0)), np.full(24, 0.3), (24,)),
    "surface": (mean(grid=SURFACES, bound=dp.L2Ball(1.0)), SURFACES.points.prod(axis=1).reshape(8, 6), (8, 6)),
    "components": (mean(grid=PATHS, bound=dp.L2Ball(2.0)), np.tile(PATHS.domain.points, (2, 1)), (2, 12)),
    "component rows": (mean(grid=PATHS, bound=dp.L2Ball(2.0)), RNG.normal(size=(9, 2, 12)), (2, 12)),
    "covariance": (dp.CovariancePlan(n=2000, **CURVE_FACTS), CURVES, (24, 24)),
    "covariance, mean": (dp.CovariancePlan(n=2000, **CURVE_FACTS), WAVE, (24, 24)),
    "density": (DENSITY, BUMP, (64,)),
    "density, rows": (DENSITY, RNG.beta(2, 3, (70, 1)), (64,)),
    "plane": (PLANE, np.outer(np.arange(1, 17), np.ones(16)), (16, 16)),
    "plane, rows": (PLANE, RNG.beta(2, 3, (70, 2)), (16, 16)),
    "percentiles": (PERCENTILES, CURVES, (5, 24)),
    "percentiles, median": (replace(PERCENTILES, unit="home"), WAVE, (5, 24)),
    "survival": (SURVIVAL, np.exp(-SURVIVAL.grid.points / 5), (193,)),
    "survival, rows": (replace(SURVIVAL, unit="person"), TIMES, (193,)),
    "regression": (
        dp.plans.RegressionPlan(n=3000, covariates=2, covariate_bound=2.0, **CURVE_FACTS),
        np.column_stack([X[:60], CURVES]),
        (3, 24),
    ),
    "smoother": (dp.plans.SmootherPlan(bound=(0, 1), **KERNEL), np.column_stack([X[:, 0], X[:, 0] ** 2]), None),
    "huber": (
        dp.plans.KernelPlan(bound=(0, 1), criterion="huber", **KERNEL), np.column_stack([X[:, 0], X[:, 0] ** 2]), None
    ),
    "classes": (dp.plans.KernelPlan(classes=("a", "b"), **KERNEL), np.column_stack([X[:, 0], X[:, 0] > 0.5]), None),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_plan_has_them(kind):
    plan, guess, shape = KINDS[kind]
    found = plan.hypothetical(guess, size=2, seed=3)
    shape = plan.problem.grid.shape if shape is None else shape
    assert found.values.shape == (2, *shape)
    assert found.truth.shape == shape
    assert found.plan is plan
    assert found.size == 2
    assert found.errors.shape == (2,)
    assert np.isfinite(found.values).all()
    assert found.error == pytest.approx(np.sqrt((found.errors**2).mean()))
    assert found.word in ("clear", "coarse", "mostly noise")
    assert found.signal >= 0
    assert (found.errors > 0).all()
    assert (found.values[0] != found.values[1]).any()
    band = found.band(0.9)
    assert band.lower.shape == shape
    assert (band.lower <= found.truth).all()
    assert (found.truth <= band.upper).all()
    assert (band.half_width > 0).any()
    assert band.level == 0.9


def test_the_same_seed_gives_the_same_lines():
    one, two, other = (mean().hypothetical(WAVE, size=4, seed=seed) for seed in (7, 7, 8))
    assert (one.values == two.values).all()
    assert (one.band().lower == two.band().lower).all()
    assert (one.values != other.values).any()
    more = mean().hypothetical(WAVE, size=6, seed=7)
    assert (more.values[:4] == one.values).all()  # more of them are the same ones, and more


def test_lines_glide():
    """A little more of n or epsilon moves a line far less than another seed does; choices may jump, rarely."""
    own = mean(n=1000).hypothetical(WAVE, size=12, seed=1).values
    apart = np.abs(own - mean(n=1000).hypothetical(WAVE, size=12, seed=2).values).mean()
    for near in (mean(n=1004), mean(n=1000, epsilon=1.01)):
        assert np.median(np.abs(near.hypothetical(WAVE, size=12, seed=1).values - own).mean(axis=1)) < apart / 8


def test_the_truth_of_a_mean_is_the_guess():
    for plan in (mean(), mean(n=501), mean(neighbors="add-remove"), mean(unit="home")):
        assert (plan.hypothetical(WAVE, size=1).truth == WAVE).all()
    assert mean().hypothetical(CURVES, size=1).truth == pytest.approx(Invented.evenly(CURVES, 500).shares @ CURVES)
    signal = np.sqrt(np.average((WAVE - np.average(WAVE, weights=DAY.weights)) ** 2, weights=DAY.weights))
    assert mean().hypothetical(WAVE, size=1).signal == pytest.approx(signal)


@pytest.mark.parametrize("n", [2, 3, 50, 199, 1000, 1001, 98_765])
def test_curves_are_invented_about_their_mean(n):
    problem = mean(n=n).problem
    records = ball_of(problem).curves(WAVE, n, 0)
    assert records.times.sum() == n
    assert (records.times > 0).all()
    assert len(records.rows) <= 201
    assert records.shares @ records.rows == pytest.approx(WAVE, abs=1e-12)
    sizes = np.sqrt((records.rows - problem.center) ** 2 @ DAY.weights)
    assert sizes.max() <= problem.bound.outer * (1 + 1e-9)
    if n >= 1000:
        strays = np.sqrt(records.shares @ ((records.rows - WAVE) ** 2 @ DAY.weights))
        assert strays == pytest.approx(STRAY * problem.bound.outer, rel=0.1)
    beyond = ball_of(problem).curves(WAVE + 9, n, 0)  # a mean that no bound holds is nevertheless a mean
    assert beyond.shares @ beyond.rows == pytest.approx(WAVE + 9)


def test_summaries_are_those_of_the_records():
    """Multiplied or doubled and added: to the same integers as one by one, and of no use to a release."""
    plan, times = mean(n=40, method=dp.methods.KNorm(4)), np.array([1, 2, 3, 4, 5, 6, 7, 12])
    for often in (times, np.full(8, 5)):
        found = Invented(CURVES[:8], often).summary(plan.problem)
        whole = plan.summarize(np.repeat(CURVES[:8], often, axis=0))
        assert found.count == 40
        assert (found.totals == whole.totals).all()
        assert statistic(plan.stage, Invented(CURVES[:8], often)) == pytest.approx(plan.statistic(whole), abs=1e-9)
    with pytest.raises(dp.errors.PlanMismatch):
        plan.release(found)


def test_trying_plans_loads_no_compiler(monkeypatch):
    """A page that tries plans all day does not stop to compile, and counts nothing towards it."""
    monkeypatch.setattr(loops, "WORTH", 0)
    monkeypatch.setattr(loops, "compiled_kernels", lambda: pytest.fail("a compiler was asked for"))
    seen = loops._Seen.values
    mean().hypothetical(WAVE, size=1).band()
    assert loops._Seen.values == seen


def test_so_many_summaries_are_exact_however_many():
    small, large = Summary("", 3, np.array([5, -7])), Summary("", 3, np.array([2**62, -1]))
    assert small.times(1000) == Summary("", 3000, np.array([5000, -7000]))
    assert large.times(3).totals.tolist() == [3 * 2**62, -3]
    assert small.times(0).totals.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("plan", "rows"),
    [
        (mean(n=600, epsilon=0.5, method=dp.methods.KNorm(6), postprocess=False), CURVES),
        (mean(n=600, method=dp.methods.FRL(6), postprocess=False), CURVES),
        (replace(DENSITY, n=700, epsilon=0.5, method=dp.methods.KNorm(6), postprocess=False), None),
    ],
    ids=["ball", "laplace", "density"],
)
def test_errors_are_those_of_real_releases(plan, rows):
    """Errors of 60 real releases and 300 hypothetical ones agree to 0.6 to 1.6, false alarm below one in a million.

    A squared error of six or more numbers varies by less than its own size, so a root mean square of 60 by less than
    7 %, and its logarithm is about normal: these limits are seven of its standard deviations away.
    """
    if rows is None:
        guessed = plan.hypothetical(BUMP, size=300)
        shares = BUMP / BUMP.sum()
        real = [plan.release(RNG.choice(DENSITY.grid.points, plan.n, p=shares)[:, None]).values for _ in range(60)]
    else:
        guessed, whole = plan.hypothetical(rows, size=300), np.tile(rows, (10, 1))
        real = [plan.release(whole).values for _ in range(60)]
    error = np.sqrt(np.average(np.mean((real - guessed.truth) ** 2, axis=0), weights=plan.grid.weights))
    assert 0.6 < guessed.error / error < 1.6


def test_the_honest_band_is_about_the_truth():
    found = mean(n=2000).hypothetical(WAVE, size=8, seed=4)
    band = found.band()
    assert band.covers == "mean of the population"
    assert ((band.lower <= found.values) & (found.values <= band.upper)).mean() > 0.9
    with pytest.raises(ParameterError):
        found.band(1.5)


def test_it_is_never_a_release():
    found = mean().hypothetical(WAVE, size=2)
    found.band()
    assert not isinstance(found, dp.Release)
    assert "simulated: not a release" in repr(found)
    for name in ("save", "to_json", "statement", "seal", "body", "to_csv", "entry", "created", "release"):
        assert not hasattr(found, name)
    held = [*vars(found).values(), *vars(found._course).values()]
    assert not any(isinstance(one, dp.Release) for one in held)
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 0.0
    assert "nothing to see" in repr(mean().hypothetical(np.full(24, 0.5), size=1))


@pytest.mark.parametrize(
    ("plan", "guess", "match"),
    [
        (mean(), np.zeros(7), "one value for each grid point"),
        (mean(), np.zeros((5, 7)), "at least two of 24 finite numbers"),
        (mean(), np.full(24, np.nan), "never the data's own"),
        (mean(), "curve", "got 'curve'"),
        (mean(), True, "got True"),
        (mean(), CURVES[:1], r"got shape \(1, 24\)"),
        (DENSITY, np.full(64, -1.0), "nowhere negative"),
        (DENSITY, RNG.uniform(size=70), "at least two of 1 finite number,"),
        (SURVIVAL, np.linspace(0, 1, 193), "falls from at most 1"),
        (dp.plans.RadiusPlan(n=1000, epsilon=0.1, bound=dp.Range(0, 4), grid=24), CURVES, "Ask its verdict"),
    ],
)
def test_a_wrong_guess_is_refused(plan, guess, match):
    with pytest.raises(ParameterError, match=match):
        plan.hypothetical(guess)


def test_a_spread_goes_with_curves():
    """Records that stray further cost accuracy; where none are invented there is nothing to say."""
    plan = mean(n=3000)
    errors = [plan.hypothetical(WAVE, size=12, spread=spread).error for spread in (0.05, 0.2, 0.5)]
    assert errors == sorted(errors)
    assert errors[0] < errors[2] / 2
    records = ball_of(plan.problem, 0.1).curves(WAVE, 3000, 0)
    far = np.sqrt(records.shares @ np.average((records.rows - WAVE) ** 2, axis=1, weights=DAY.weights))
    assert far == pytest.approx(0.1, rel=0.05)
    for other, guess in ((plan, CURVES), (DENSITY, BUMP), (SURVIVAL, np.linspace(1, 0, 193))):
        with pytest.raises(ParameterError, match="invented about a guess"):
            other.hypothetical(guess, spread=0.1)
    with pytest.raises(ParameterError, match="spread"):
        plan.hypothetical(WAVE, spread=0.0)


def test_numbers_are_checked():
    with pytest.raises(ParameterError, match="size"):
        mean().hypothetical(WAVE, size=0)
    with pytest.raises(ParameterError, match="seed"):
        mean().hypothetical(WAVE, seed=-1)


def test_groups_and_classes_have_one_each():
    plan = dp.plans.GroupPlan(("north", "south"), [mean(n=300), mean(n=600)])
    found = plan.hypothetical({"north": WAVE, "south": CURVES}, size=2)
    assert list(found) == ["north", "south"]
    assert found["south"].values.shape == (2, 24)
    same = plan.hypothetical(WAVE, size=2)
    assert (same["north"].values != same["south"].values).all()
    with pytest.raises(ParameterError, match="The names are north, south"):
        plan.hypothetical({"north": WAVE})
    names = ("a", "b", "c")
    parts = [dp.plans.KernelPlan(classes=names, positive=i, **KERNEL) for i in range(3)]
    rows = np.column_stack([X[:, 0], np.floor(3 * X[:, 0])])
    assert list(dp.plans.ClassPlan(names, parts).hypothetical(rows, size=1)) == list(names)


@pytest.mark.parametrize("kind", ["percentiles", "survival", "density", "covariance"])
def test_values_are_those_of_the_release(kind):
    """What a simulated release shows is what a real one of the same draws shows."""
    plan, guess, _ = KINDS[kind]
    course = plan.hypothetical(guess, size=1, seed=3)._course
    release = plan._release_of(course._drawn(0, None), {})
    assert course.values(0) == pytest.approx(release.values, abs=1e-12)


def test_kaplan_and_meier():
    rows = np.column_stack([np.arange(1.0, 101.0), np.ones(100)])
    assert survival_of(rows, np.array([0.0, 10.5, 100.0])) == pytest.approx([1.0, 0.9, 0.0])


def test_planning_opens_no_file():
    """Once its modules are loaded, a hypothetical release touches no file, no socket and no process."""
    script = """
import sys
import numpy as np
import dpfda as dp
plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.Range(0, 2), grid=24)
plan.hypothetical(np.ones(24)).band()
def watch(event, given):
    if event in ("open", "os.listdir", "socket.connect", "subprocess.Popen", "sqlite3.connect"):
        raise AssertionError(event)
sys.addaudithook(watch)
dp.MeanPlan(n=1100, epsilon=1, bound=dp.Range(0, 2), grid=24).hypothetical(np.ones(24), seed=2).band()
print("simulated")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "simulated\n", done.stderr


def test_the_rooms_of_a_release_do_not_know_it():
    script = """
import sys
import dpfda.release.run, dpfda.engines, dpfda.ledger, dpfda.noise, dpfda.results
print([name for name in sys.modules if name.startswith("dpfda.plans")])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_stages_are_the_same_however_they_were_reached():
    """What is kept of earlier draws changes nothing: a plan that never saw them has the same stages."""
    plan = mean(n=3000)
    plan.hypothetical(WAVE, size=3, seed=1)
    release = plan.release(np.tile(CURVES, (50, 1)))
    fresh = dp.MeanPlan.from_json(plan.to_json())
    pairs = list(zip(plan.schedule.stages(release.drawn), fresh.schedule.stages(release.drawn), strict=True))
    assert len(pairs) == len(release.drawn) > 2
    assert all(one.problem.key == two.problem.key and (one.scales == two.scales).all() for one, two in pairs)


def test_only_the_latest_steps_are_kept():
    steps = []
    walks = Walks(0.0, lambda state, drawn: steps.append(len(drawn)) or state + float(drawn[-1][0]))
    draws = [np.array([float(i)]) for i in range(3)]
    assert walks.after(draws) == walks.after(draws) == 3.0
    assert steps == [1, 2, 3]
    for i in range(3 * KEPT):
        walks.after([np.array([100.0 + i])])
    assert len(walks._known) == KEPT
