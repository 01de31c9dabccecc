"""Auto, stages, choices, radii and confidence bands: what they pick, say, refuse and cover."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpfda as dp
from dpfda.methods.outlook import Outlook, best_axes
from dpfda.results.postprocess import james_stein

GRID = dp.Grid.uniform(0, 1, 101)


def plan_of(n: int = 1000, epsilon: float = 1.0, radius: float = 3.5, **more: object) -> dp.MeanPlan:
    facts = {"bound": dp.L2Ball(radius), "grid": GRID, "kernel": dp.kernels.Matern(1.5, 0.1)} | more
    return dp.MeanPlan(n=n, epsilon=epsilon, **facts)


def sample(name: str = "S-1", n: int = 1000, seed: int = 0) -> dp.datasets.Sample:
    return dp.datasets.scenario(name, n, np.random.default_rng(seed))


# -- what Auto picks ------------------------------------------------------------------------------


def test_auto_is_the_default_and_depends_on_public_things_only():
    plan = plan_of()
    assert plan.method == dp.Auto()
    assert plan.chosen == plan_of(method=dp.Auto()).chosen
    assert replace(plan, n=1001).chosen == plan.chosen


def test_components_and_rounds_grow_with_n():
    sizes = [plan_of(n=n).schedule.size for n in (5, 100, 400, 1000, 10_000)]
    assert sizes == [3, 6, 12, 27, 85]
    rounds = [len(plan_of(n=n).chosen.shares) for n in (5, 400, 1000, 10_000)]
    assert rounds == [1, 1, 2, 3]
    assert plan_of(n=400).schedule.passes == 1
    assert plan_of(n=20, grid=2).schedule.size == 2


def test_the_scale_is_found_where_it_is_not_public():
    for n in (50, 1000):
        assert plan_of(n=n).chosen.radius > 0
    standardized = plan_of(n=508, radius=1.0, standardize=True)
    assert standardized.chosen == dp.methods.Staged(dp.methods.KNorm(16), shares=("1",), check="1/20")
    assert plan_of(n=508, radius=1.0, standardize=True, method=dp.Auto(check=False)).chosen == dp.methods.KNorm(16)
    assert "scale is public" in standardized.explain()
    given = plan_of(method=dp.Auto(spread=1.0))
    assert given.chosen.radius is None
    assert "spread is given" in given.explain()
    assert plan_of(n=300, bound=dp.bounds.L1Ball(1.0)).chosen != plan_of(n=300).chosen


def test_the_choice_is_scale_free():
    large, small = plan_of(radius=3.5e6), plan_of(radius=3.5e-6)
    assert large.chosen == small.chosen
    assert np.isclose(large.expected_risk, 1e24 * small.expected_risk)


def test_noise_is_chosen_for_the_bound():
    assert isinstance(plan_of(n=300, bound=dp.bounds.L1Ball(1.0)).chosen.method, dp.methods.FRL)  # independent Laplace
    assert isinstance(plan_of(n=300).chosen.method, dp.methods.KNorm)  # one ball
    falling = dp.bounds.Ellipsoid(np.repeat([1.0, 0.6, 0.4, 0.25], [4, 4, 8, 16]))
    assert isinstance(
        plan_of(n=3000, bound=falling, method=dp.Auto(passes=1)).chosen.method, dp.methods.Blocks
    )  # blocks of balls


def test_passes_limit_how_often_data_is_read():
    for passes in (1, 3, 4, 5, 6):
        assert plan_of(n=10_000, method=dp.Auto(spread=1.0, passes=passes)).schedule.passes <= passes
    assert plan_of(n=10_000, method=dp.Auto(passes=1)).schedule.passes == 1


def test_the_choice_minimises_one_risk_over_curves_of_any_size():
    plan = plan_of()
    outlook = plan.method.outlook(plan.problem, plan.epsilon)
    best, ways = outlook.typical(plan.chosen), plan.method.candidates(outlook)
    assert all(best <= outlook.typical(other) for other in ways)
    assert len(ways) == 4
    assert set(np.round(3.5 / outlook.sizes, 9)) == {1.0, 2.0, 4.0, 8.0}
    loose = outlook.errors(ways[0]) / outlook.errors(ways[1])  # without a radius, over with one
    assert loose[outlook.sizes < 1].min() > 1 > loose[outlook.sizes > 3].min()


def test_auto_explains_its_choice_in_words_and_numbers():
    text = plan_of().explain()
    for part in ("First the scale", "Then the centre", "posterior mean", "Auto compared 4 ways", "one round"):
        assert part in text
    assert "Then one round of 6 components" in plan_of(n=100).explain()
    assert "Auto" not in plan_of(method=dp.methods.KNorm()).explain()


def test_the_forecast_of_a_stage_is_near_what_happens():
    """The expected noise of the last round, against that of a real release."""
    plan = plan_of(method=dp.Auto(spread=1.0))
    release = plan.release(sample().curves)
    assert 0.2 < release.stage.error / plan.expected_error < 5


def test_best_axes_are_the_best():
    """No other ellipsoid that holds the same records has less block noise."""
    rng = np.random.default_rng(0)
    sizes = np.array([4.0, 4.0, 8.0, 16.0])
    weight = np.sqrt(sizes * (sizes + 1))
    energies = rng.uniform(0.01, 1, 4)
    axes = best_axes(energies, sizes)
    assert np.isclose((energies / axes**2).sum(), 1)
    for _ in range(200):
        other = axes * np.exp(0.3 * rng.normal(size=4))
        other *= np.sqrt((energies / other**2).sum())
        assert (weight * axes).sum() <= (weight * other).sum() * (1 + 1e-12)


# -- stages ---------------------------------------------------------------------------------------


def test_stages_are_far_more_accurate():
    """Mean error of five releases: 0.003 with stages; noise alone has more than 0.015 in one round."""
    data = sample()
    for method in (dp.Auto(spread=1.0), dp.Auto()):
        plan = plan_of(method=method)
        errors = [float(GRID.norm(plan.release(data.curves).values - data.mean) ** 2) for _ in range(5)]
        assert np.mean(errors) < 0.015
    assert plan_of(method=dp.methods.KNorm(18)).expected_error > 0.015


def test_a_bound_ten_times_too_large_costs_little():
    """Ten releases: errors about 0.003, one in 400 above 0.02, and far above 0.5 without a private radius."""
    data = sample()
    plan = plan_of(radius=35.0)
    errors = [float(GRID.norm(plan.release(data.curves).values - data.mean) ** 2) for _ in range(10)]
    assert np.median(errors) < 0.02
    assert plan_of(radius=35.0, method=dp.methods.KNorm(12)).expected_error > 0.5


@pytest.mark.parametrize("loose", [1, 3, 10])
@pytest.mark.parametrize("n", [4, 20, 60])
def test_never_much_worse_than_the_public_centre(n, loose):
    """Curves of size one about a mean of size one half, and forty releases.

    In 600 releases of each cell single errors had a mean of at most the centre's and a deviation of at most 0.7 of it,
    and one in 600 was as large as 14: a mean of forty above 3 takes eight of those.
    """
    t = GRID.points
    curves = 0.5 + np.random.default_rng(n).normal(size=(n, 1)) * np.sqrt(1.5) * np.cos(np.pi * t)
    plan = plan_of(n=n, radius=1.5 * loose)
    errors = [float(GRID.norm(plan.release(curves).values - curves.mean(axis=0)) ** 2) for _ in range(40)]
    assert np.mean(errors) < 3 * float(GRID.norm(curves.mean(axis=0)) ** 2)


# -- a radius and a mean from one pass ------------------------------------------------------------


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_one_pass_finds_the_radius_and_the_mean(relation, tmp_path):
    rng = np.random.default_rng(0)
    curves = 1 + 0.1 * rng.normal(size=(400, 101))
    plan = plan_of(n=400, radius=20.0, neighbors=relation, method=dp.Auto(passes=1))
    assert plan.chosen.steps == ("radius", "centre", "vary", "check")
    parts = [plan.summarize(part, site=site) for part, site in ((curves[:150], "a"), (curves[150:], "b"))]
    whole = parts[0].merge(parts[1])
    assert whole == plan.summarize(curves)
    release = plan.release(whole)
    assert len(release.drawn) == 4
    assert np.abs(release.values - 1).max() < 1.5  # with the stated radius noise would have a deviation of 1.3
    assert dp.load(release.save(tmp_path / "mean.json")).stage.error == release.stage.error
    with pytest.raises(dp.errors.PlanMismatch):
        plan.release(replace(whole, totals=whole.totals[:-1]))
    with pytest.raises(dp.errors.PlanMismatch):
        plan.release(replace(whole, totals=whole.totals + 2**60))
    bare = plan_of(n=400, radius=20.0, neighbors=relation, method=dp.Auto(passes=1, check=False))
    assert bare.chosen.steps == ("radius", "centre")
    assert len(bare.release(bare.summarize(curves)).drawn) == 2


def test_every_rung_is_the_mean_with_that_radius():
    """A ladder holds, to the bit, what a plan with each of its radii would have added up."""
    rng = np.random.default_rng(1)
    curves = np.exp(rng.normal(size=(60, 1))) * rng.normal(size=(60, 101))
    plan = plan_of(n=60, radius=8.0)
    schedule, summary = plan.schedule, plan.summarize(curves)
    for place, radius in enumerate(schedule.radii.radii):
        alone = plan_of(n=60, radius=radius, method=dp.methods.KNorm(5))
        rung = schedule.stages([np.eye(11)[place]])[1]
        assert rung.problem.estimate(rung.together.own(summary, rung.place)) == alone.problem.estimate(
            alone.summarize(curves)
        )
    inside = (GRID.norm(curves)[:, None] <= schedule.radii.radii).sum(axis=0)
    assert np.array_equal(np.cumsum(summary.totals[:11]), inside)


def test_the_radius_that_is_found_holds_most_curves():
    """With 100,000 curves of size one to two, smaller radii have odds of e^-100; larger ones of e^-4 for each rung."""
    curves = np.ones((100_000, 12)) * np.random.default_rng(0).uniform(1, 2, (100_000, 1))
    for method in (dp.Auto(passes=1), dp.Auto()):
        release = dp.mean(curves, epsilon="1/100", bound=dp.L2Ball(30.0), method=method)
        assert 1.5 < release.plan.schedule.target(release.drawn).bound.outer < 16  # five rungs up: e^-20
        assert "The radius that was found is" in release.statement


def test_doubt_fades_as_the_choice_gets_sharper():
    doubts = [plan_of(n=n).schedule.bound_doubt for n in (10, 30, 50, 100, 1000)]
    assert doubts[0] > doubts[1] > doubts[2] > doubts[3] == doubts[4] == 0.0


def test_one_charge_covers_all_rounds(tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="rounds")
    release = plan_of(n=300, grid=24, method=dp.methods.Staged()).release(np.zeros((300, 24)), book)
    assert book.spent == 1
    assert len(book.history()) == 1
    assert len(release.drawn) == 4


def test_shares_must_add_up():
    assert dp.methods.Staged(shares=("1/3", "1/3", "1/3")).share(0) == Fraction(1, 3) * Fraction(91, 100)
    staged = dp.methods.Staged(spread=1.0, shares=(0.1, 0.2, 0.7), selection="1/10", confidence=0)
    assert sum(staged.share(i) for i in range(len(staged.steps))) == 1
    for bad in (("1/2", "1/3"), "1/2", (0.5, 0.6), (0, 1), (1.5, -0.5), 3, ("a", "b")):
        with pytest.raises(dp.errors.ParameterError, match="shares"):
            dp.methods.Staged(shares=bad)
    for bad in ({"selection": 0}, {"selection": -1}, {"selection": 0.9}, {"confidence": "x"}, {"spread": -1.0},
                {"method": dp.methods.Staged()}, {"method": 3}):  # fmt: skip
        with pytest.raises(dp.errors.ParameterError):
            dp.methods.Staged(**bad)
    with pytest.raises(dp.errors.ParameterError, match="one round without"):
        dp.methods.Staged(shares=("1",))
    with pytest.raises(dp.errors.ParameterError, match="balls"):
        plan_of(method=dp.methods.Staged(radius="1/10"), bound=dp.bounds.Box(np.ones(101)))
    for bad in ("1", -0.1, "x"):
        with pytest.raises(dp.errors.ParameterError, match="radius is a share"):
            dp.methods.Staged(radius=bad)
    for kind in (dp.Auto, dp.methods.Staged):
        with pytest.raises(dp.errors.FileError, match="newer version"):
            kind(rule=99)
    with pytest.raises(dp.errors.ParameterError, match="delta"):
        plan_of(method=dp.methods.Staged(dp.methods.GaussianProcess(1e-6)))
    with pytest.raises(dp.errors.ParameterError, match="kernel's basis"):
        plan_of(method=dp.methods.Staged(dp.methods.Bernstein(10)))
    with pytest.raises(dp.errors.ParameterError, match="radii"):
        plan_of(method=dp.methods.Staged(), radius=1e50)


@pytest.mark.parametrize(
    "wrong", [dp.methods.Staged, lambda m: dp.methods.Select([m, dp.methods.KNorm(3)]), dp.methods.Centred]
)
def test_stages_and_choices_are_not_nested(wrong):
    for method in (
        dp.methods.Staged(),
        dp.Auto(),
        dp.methods.Select([dp.methods.KNorm(2), dp.methods.KNorm(3)]),
        dp.methods.Centred(),
    ):
        with pytest.raises(dp.errors.ParameterError):
            wrong(method)


def test_what_could_not_be_drawn_is_refused_before_data():
    """Every later stage is within reach of floats and lattices, or the plan is not made."""
    with pytest.raises(dp.errors.ParameterError, match="coarser than the lattice"):
        plan_of(n=200, epsilon=3e-7, method=dp.methods.Staged(dp.methods.KNorm(6)))
    with pytest.raises(dp.errors.ParameterError, match="coarser than the lattice"):
        plan_of(n=200, method=dp.methods.Staged(dp.methods.KNorm(6), confidence="1/1000000000"))
    with pytest.raises(dp.errors.ParameterError, match="radii"):
        plan_of(method=dp.methods.Staged(), radius=1e50)
    facts = {"n": 900, "epsilon": 1, "grid": 15}
    with pytest.raises(dp.errors.ParameterError, match="pure"):
        dp.CovariancePlan(
            bound=dp.L2Ball(1.0), method=dp.methods.Centred(dp.methods.GaussianProcess("1/100000")), **facts
        )
    with pytest.raises(dp.errors.ParameterError, match="threshold"):
        dp.methods.Centred(dp.methods.AR())


@pytest.mark.parametrize("radius", [1e-55, 1e-39, 1e39, 1e55])
@pytest.mark.parametrize("epsilon", [1e-5, 1e3])
def test_extreme_units_and_budgets(radius, epsilon):
    curves = 0.3 * radius * np.random.default_rng(0).normal(size=(300, 12))
    for relation in ("replace", "add-remove"):
        facts = {"epsilon": epsilon, "bound": dp.L2Ball(radius), "neighbors": relation, "n": 300}
        assert np.isfinite(dp.mean(curves, **facts).confidence_band().upper).all()
        assert np.isfinite(dp.covariance(curves, **facts).values).all()


class Changing:
    """A source that is shorter when it is read again."""

    def __init__(self, table):
        self.table, self.reads = table, 0

    def __len__(self):
        return len(self.table)

    def __arrow_c_stream__(self, requested_schema=None):
        self.reads += 1
        return self.table.slice(self.reads - 1).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_records_that_change_between_passes_are_noticed_where_their_number_is_public(neighbors, monkeypatch):
    """Where it is private a refusal would tell of whoever came or went; every stage is private for what it read."""
    import pyarrow as pa

    monkeypatch.setattr(dp.engines.local, "worth_holding", lambda task, source: False)  # as if there were too many
    table = pa.table({f"c{i}": np.zeros(200) for i in range(12)})
    plan = dp.MeanPlan(
        n=200,
        epsilon=1,
        bound=dp.L2Ball(1.0),
        grid=12,
        method=dp.methods.Staged(dp.methods.KNorm(3)),
        neighbors=neighbors,
    )
    if neighbors == "add-remove":
        assert plan.release(Changing(table)).values.shape == (12,)
        return
    with pytest.raises(dp.errors.PlanMismatch, match="changed between two passes"):
        plan.release(Changing(table))


@pytest.mark.parametrize(
    "method",
    [
        dp.methods.Staged(dp.methods.QR(), spread=0.5),
        dp.Auto(),
        dp.methods.Select([dp.methods.KNorm(4), dp.methods.FRL(9)]),
    ],
)
def test_staged_plans_and_releases_travel(method, tmp_path):
    plan = plan_of(method=method, grid=30)
    assert dp.MeanPlan.from_json(plan.to_json()) == plan
    release = plan.release(0.3 * np.random.default_rng(1).normal(size=(1000, 30)))
    again = dp.load(release.save(tmp_path / "mean.json"))
    assert np.array_equal(again.values, release.values)
    assert np.array_equal(again.noise_band(0.9).lower, release.noise_band(0.9).lower)
    assert np.array_equal(again.confidence_band().upper, release.confidence_band().upper)
    assert again.statement == release.statement
    assert "permute and flip" in release.statement


@pytest.mark.parametrize("once", ["generator", "summary"])
def test_what_is_read_once_is_refused_before_any_charge(once, tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="once")
    curves = np.zeros((1000, 101))
    plan = plan_of()
    source = (row for row in curves) if once == "generator" else plan.summarize(curves)
    with pytest.raises(dp.errors.ParameterError, match=r"reads the records \d times.*Auto\(passes=1\)"):
        plan.release(source, book)
    assert book.spent == 0
    single = plan_of(method=dp.Auto(passes=1))
    source = (row for row in curves) if once == "generator" else single.summarize(curves)
    single.release(source, book)
    assert book.spent == 1


def test_dp_mean_says_so_too(tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="once")
    facts = {"epsilon": 1, "bound": dp.L2Ball(1.0), "grid": dp.Grid.uniform(0, 1, 24), "ledger": book}
    with pytest.raises(dp.errors.ParameterError, match="passes=1"):
        dp.mean((row for row in np.zeros((3000, 24))), **facts)
    assert book.spent == 0
    once = dp.Auto(passes=1)
    with pytest.raises(dp.errors.ParameterError, match=r"Pass n.*check=False"):  # what is left out depends on n
        dp.mean((row for row in np.zeros((3000, 24))), method=once, **facts)
    assert book.spent == 0
    dp.mean((row for row in np.zeros((3000, 24))), method=once, n=3000, **(facts | {"epsilon": "1/2"}))
    bare = dp.Auto(passes=1, check=False)
    dp.mean((row for row in np.zeros((3000, 24))), method=bare, **(facts | {"epsilon": "1/2"}))
    assert book.spent == 1


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_hostile_curves_do_no_harm(relation):
    """A few absurd records: rounds go on, nothing overflows, and the mean of the others comes out."""
    curves = 1 + 0.2 * np.random.default_rng(0).normal(size=(2000, 40))
    curves[:3] = [[1e308] * 40, [-1e308] * 40, [np.nan] * 40]
    curves[3, 5] = np.inf
    release = dp.mean(
        curves,
        epsilon=1,
        bound=dp.L2Ball(4.0),
        neighbors=relation,
        invalid="center",
        n=2000,
        method=dp.Auto(spread=1.0),
    )
    assert np.isfinite(release.values).all()
    assert np.abs(release.values - 1).max() < 0.5  # the noise has a deviation of about 0.05


def test_surfaces_have_rounds_too():
    grid = dp.spaces.ProductGrid((dp.Grid.uniform(0, 1, 12), dp.Grid.uniform(0, 2, 10)))
    curves = np.ones((3000, 120)) + 0.1 * np.random.default_rng(0).normal(size=(3000, 120))
    release = dp.mean(curves, epsilon=1, bound=dp.L2Ball(4.0), grid=grid, method=dp.Auto(spread=0.5))
    assert release.plan.schedule.passes > 1
    assert np.abs(release.values - 1).max() < 0.5
    assert release.confidence_band().lower.shape == (12, 10)


# -- shrinkage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [dp.methods.KNorm(3), dp.methods.KNorm(12), dp.methods.Blocks(30), dp.methods.Blocks(2)]
)
def test_shrinkage_never_hurts(method):
    """Risk after shrinkage against risk as drawn, for means of every size and several shapes (a seeded simulation)."""
    rng = np.random.default_rng(5)
    plan = plan_of(n=100, radius=1.0, method=method)
    stage, size = plan.stage, plan.stage.parts[0].where.size
    noise = np.zeros((4000, 101))
    noise[:, :size] = stage.parts[0].law.simulate(4000, rng)
    for length in (0.0, 0.02, 0.1, 0.3, 1.0):
        for direction in (np.eye(101)[0], np.eye(101)[size - 1], (np.arange(101) < size) / np.sqrt(size)):
            mean = length * direction
            factors = np.array([james_stein(mean + x, stage, stage.variance, plan.problem) for x in noise[:1000]])
            drawn, kept = noise[:1000], factors * (mean + noise[:1000]) - mean
            gain = (drawn**2).sum(axis=1) - (kept**2).sum(axis=1)
            assert gain.mean() > -3 * gain.std() / np.sqrt(1000)
            if length == 0.0:
                assert gain.mean() > 0


def test_what_was_done_is_said_and_can_be_left_out():
    curves = np.zeros((200, 30))
    release = dp.mean(curves, epsilon=1, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(8))
    assert release.steps == ("shrinkage by posterior-mean",)
    assert "After the noise: shrinkage by posterior-mean" in release.statement
    raw = dp.mean(curves, epsilon=1, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(8), postprocess=False)
    assert raw.steps == ()
    assert np.array_equal(raw.coefficients, raw.raw)
    laplace = dp.mean(curves, epsilon=1, bound=dp.L2Ball(1.0), method=dp.methods.QR())
    assert laplace.steps == ()
    with pytest.raises(dp.errors.ParameterError, match="postprocess"):
        plan_of(postprocess="yes")


def test_a_shrunk_mean_stays_inside_the_bound():
    release = dp.mean(np.zeros((4, 30)), epsilon=0.01, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(8))
    assert release.grid.norm(release.values) <= 1 + 1e-9


# -- a private choice of methods -------------------------------------------------------------------


def test_the_choice_of_methods_finds_what_the_data_needs():
    """25 strong frequencies: four components miss nearly everything. The odds of a wrong choice are below e^-30."""
    grid = dp.Grid.uniform(0, 1, 101)
    kernel = dp.kernels.Matern(1.5, 0.1)
    curve = kernel.basis(grid, 25).synthesize(np.ones(25))
    select = dp.methods.Select([dp.methods.KNorm(4), dp.methods.KNorm(30)])
    facts = {"epsilon": 1, "bound": dp.L2Ball(6.0), "grid": grid, "kernel": kernel}
    release = dp.mean(np.tile(curve, (20_000, 1)), method=select, **facts)
    assert release.plan.schedule.last(release.drawn).parts[0].where.size == 30
    assert np.abs(release.values - curve).max() < 0.5
    flat = dp.mean(
        np.ones((20_000, 101)),
        epsilon=1,
        bound=dp.L2Ball(6.0),
        method=dp.methods.Select([dp.methods.KNorm(100), dp.methods.KNorm(30)]),
    )
    assert flat.plan.schedule.passes == 1


def test_select_refuses_what_it_cannot_choose_among():
    for bad in (
        [dp.methods.KNorm(3)],
        3,
        "ab",
        [dp.methods.KNorm(3), 4],
        [dp.methods.KNorm(3), dp.methods.Staged()],
        [dp.methods.KNorm(3), dp.Auto()],
    ):
        with pytest.raises(dp.errors.ParameterError, match="candidates"):
            dp.methods.Select(bad)
    with pytest.raises(dp.errors.ParameterError, match="share"):
        dp.methods.Select([dp.methods.KNorm(3), dp.methods.KNorm(4)], share=1)
    with pytest.raises(dp.errors.ParameterError, match="replace"):
        plan_of(method=dp.methods.Select([dp.methods.KNorm(3), dp.methods.KNorm(4)]), neighbors="add-remove")
    with pytest.raises(dp.errors.ParameterError, match="delta"):
        plan_of(method=dp.methods.Select([dp.methods.KNorm(3), dp.methods.GaussianProcess(1e-6)]))
    with pytest.raises(dp.errors.ParameterError, match="Bernstein"):
        plan_of(method=dp.methods.Select([dp.methods.KNorm(3), dp.methods.Bernstein(8)]))


# -- confidence bands -----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "epsilon"), [(1000, 1.0), (4000, 20.0)])
def test_confidence_bands_hold_the_population_mean(n, epsilon):
    """Sixty bands of 95 %: fewer than 45 that hold would happen once in 10^8 times."""
    plan = plan_of(n=n, epsilon=epsilon, radius=2.0, method=dp.Auto(spread=1.0))
    held = 0
    for seed in range(60):
        data = sample("S-3", n, seed)
        band = plan.release(data.curves).confidence_band(0.95)
        held += bool(((band.lower <= data.mean) & (data.mean <= band.upper)).all())
    assert held >= 45


def test_confidence_bands_follow_where_curves_vary():
    """Curves that vary on the right half only: with little noise the band is wide there and narrow elsewhere."""
    t = np.linspace(0, 1, 64)
    curves = np.random.default_rng(0).normal(size=(20_000, 1)) * np.where(t > 0.5, np.sin(2 * np.pi * t), 0.0)
    release = dp.mean(curves, epsilon=50, bound=dp.L2Ball(2.0))
    width = release.confidence_band(0.95).half_width
    assert width[40:56].mean() > 1.5 * width[8:24].mean()
    assert (width > release.noise_band(0.95).half_width).all()


def test_confidence_bands_undo_filters():
    """A constant mean near the bound, heavily filtered: 20 bands of 95 % of which fewer than 10 hold: once in 10^9."""
    curves = np.full((50, 101), 3.2)
    plan = plan_of(n=50, epsilon=0.1, radius=4.0, method=dp.methods.Minimax())
    bands = [plan.release(curves).confidence_band(0.95) for _ in range(20)]
    assert sum(bool(((band.lower <= 3.2) & (band.upper >= 3.2)).all()) for band in bands) >= 10
    with pytest.raises(dp.errors.ParameterError, match="thresholds"):
        plan_of(n=50, method=dp.methods.AR()).release(curves).confidence_band()


def test_clipping_vanishes_as_n_grows():
    """Skewed amplitudes: the bias of clipped curves falls with n, well below the error of one round."""
    rng, t = np.random.default_rng(0), np.linspace(0, 1, 32)
    curves = np.exp(0.8 * rng.normal(size=(200_000, 1))) * np.sin(np.pi * t)
    release = dp.mean(curves, epsilon=20, bound=dp.L2Ball(10.0))
    assert release.plan.schedule.passes > 1
    assert abs(float(release.values.mean() / curves.mean()) - 1) < 0.004  # the noise is far smaller


def test_confidence_bands_without_an_estimate_use_the_bound():
    made = dp.mean(np.zeros((300, 30)), epsilon=1, bound=dp.L2Ball(1.0), method=dp.methods.QR())
    release = replace(
        made, raw=np.zeros_like(made.raw), coefficients=np.zeros_like(made.raw)
    )  # noise that came to nothing
    assert np.allclose(release.band().half_width, 3.0)  # all that the bound leaves
    assert (release.confidence_band().half_width >= release.band().half_width).all()
    assert (release.noise_band().half_width < 1).all()
    assert release.left_out is None
    with pytest.raises(dp.errors.ParameterError, match="level"):
        release.confidence_band(1.5)
    with pytest.raises(dp.errors.ParameterError, match="derivatives"):
        release.derivative().confidence_band()


# -- the same for covariances and densities -----------------------------------------------------------


def test_a_covariance_about_a_private_centre_is_far_better():
    """Curves far from the public centre: the error falls by a factor of about 20; three is beyond any doubt."""
    t, rng = np.linspace(0, 1, 40), np.random.default_rng(0)
    curves = 2 + np.sin(3 * t) + 0.4 * rng.normal(size=(5000, 1)) * np.sin(np.pi * t)
    true = np.cov(curves.T, bias=True)
    errors = {}
    for name, method in (("auto", None), ("once", dp.Auto(passes=1))):
        release = dp.covariance(curves, epsilon=1, bound=dp.L2Ball(4.0), method=method)
        errors[name] = float(((release.values - true) ** 2).mean())
    assert isinstance(dp.CovariancePlan(n=5000, epsilon=1, bound=dp.L2Ball(4.0), grid=40).chosen, dp.methods.Centred)
    assert 3 * errors["auto"] < errors["once"]


def test_covariances_that_are_read_once_have_no_centre():
    plan = dp.CovariancePlan(n=5000, epsilon=1, bound=dp.L2Ball(4.0), grid=40, method=dp.Auto(passes=1))
    assert plan.schedule.passes == 1
    default = dp.CovariancePlan(n=5000, epsilon=1, bound=dp.L2Ball(4.0), grid=40)
    with pytest.raises(dp.errors.ParameterError, match="passes=1"):
        default.release(default.summarize(np.ones((5000, 40))))
    assert "five times" in default.explain()
    assert replace(default, method=dp.Auto(passes=3)).schedule.passes == 3
    assert dp.CovariancePlan(n=90, epsilon=1, bound=dp.L2Ball(1.0), grid=40, standardize=True).schedule.passes == 4


def test_auto_is_the_default_of_densities_in_name_too():
    facts = {"n": 500, "epsilon": 1, "domain": [(0, 1)], "cells": 64}
    assert dp.DensityPlan(method=dp.Auto(), **facts) == dp.DensityPlan(**facts)
    with pytest.raises(dp.errors.ParameterError, match="spread"):
        dp.DensityPlan(method=dp.Auto(spread=1.0), **facts)


def test_auto_refuses_nonsense():
    for bad in ({"spread": 0}, {"spread": "x"}, {"passes": 0}, {"passes": 1.5}, {"passes": True}):
        with pytest.raises(dp.errors.ParameterError):
            dp.Auto(**bad)
    assert isinstance(Outlook(plan_of().problem, Fraction(1)).typical(dp.methods.KNorm(3)), float)
