"""Densities: plans, counts, releases, groups and their differences."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import norm

import dpfda as dp
from dpfda.results.projection import CellDensity, projected

#: Tests of what is read from data are elsewhere (test_labels_read).
pytestmark = pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning")

AGES = np.random.default_rng(1).gamma(9.0, 8.0, 600).clip(0, 110)
LINE = {"epsilon": 1.0, "domain": [(0, 110)]}


class TestEstimator:
    """Against the formulas of a cosine series and a reflected kernel estimate, computed plainly."""

    def test_a_large_budget_gives_the_series(self):
        plan = dp.DensityPlan(n=600, epsilon=10_000, domain=[(0, 110)], method=dp.methods.KNorm(9), postprocess=False)
        release = plan.release(AGES)
        snapped = (np.floor(AGES / 110 * 512) + 0.5) * 110 / 512
        x = np.linspace(0, 110, 50)
        cosines = [
            np.cos(np.pi * j * np.outer(x, np.ones(600)) / 110) * np.cos(np.pi * j * snapped / 110)
            for j in range(1, 10)
        ]
        series = (1 + 2 * sum(c.mean(axis=1) for c in cosines)) / 110
        assert release(x) == pytest.approx(series, abs=1e-4 * series.max())

    @pytest.mark.parametrize(
        "kernel", [dp.kernels.Gaussian(12.0), dp.kernels.Exponential(12.0), dp.kernels.Matern(1.5, 12.0)]
    )
    def test_qr_is_the_reflected_kernel_estimate(self, kernel):
        """With eta 1 (through the lattice of a peer) and 2 the filter is a power of the kernel's spectrum."""
        plan = dp.DensityPlan(
            n=600, epsilon=10_000, domain=[(0, 110)], kernel=kernel, method=dp.methods.QR(eta=2.0), postprocess=False
        )
        spectrum = kernel.spectrum(np.arange(512) * np.pi / 110)
        kept = np.where(spectrum**2 > 1e-10, spectrum**2, 0.0)
        assert plan.filter[1:] == pytest.approx(kept[1:], rel=1e-12)
        theta = plan.statistic(plan.summarize(AGES))
        snapped = (np.floor(AGES / 110 * 512) + 0.5) * 110 / 512
        plain = [np.sqrt(2 / 110) * np.cos(np.pi * j * snapped / 110).mean() * spectrum[j] ** 2 for j in (1, 2, 5)]
        assert theta[[1, 2, 5]] == pytest.approx(plain, abs=1e-9)

    def test_a_gaussian_kernel_gives_a_gaussian_bump(self):
        """Far from the ends, the kernel estimate of one place is the kernel itself."""
        plan = dp.DensityPlan(
            n=50,
            epsilon=10_000,
            domain=[(0, 1)],
            kernel=dp.kernels.Gaussian(0.05),
            method=dp.methods.GaussianProcess(0.5),
            postprocess=False,
        )
        bump = plan.problem.finish(plan.statistic(plan.summarize(np.full(50, 0.5))), plan.stage.parts)
        x = plan.grid.points
        assert plan.basis.synthesize(bump) == pytest.approx(norm.pdf(x, x[256], 0.05), abs=2e-3)

    def test_bandwidth_is_privacy_safe_by_default(self):
        for d in (1, 2, 3):
            plan = dp.DensityPlan(n=5000, epsilon=1, domain=[(0, 4)] * d, cells=8)
            assert plan.bandwidths == pytest.approx([4 * 5000 ** (-1 / (4 + d))] * d)
        assert dp.DensityPlan(n=50, **LINE, bandwidth=3.0).bandwidths == (3.0,)
        assert dp.DensityPlan(n=50, **LINE, kernel=dp.kernels.Matern(2.5, 7.0)).bandwidths == (7.0,)
        assert replace(dp.DensityPlan(n=50, **LINE), n=500).bandwidths[0] < 110 * 50**-0.2

    def test_eta_of_the_plan_reaches_the_methods(self):
        for method, expected in (
            (dp.methods.QR(), 1.4),
            (dp.methods.QR(eta=1.4), 1.4),
            (dp.methods.GaussianProcess(0.1), 1.4),
        ):
            assert dp.DensityPlan(n=50, **LINE, eta=1.4, method=method).chosen.eta == expected

    def test_what_was_asked_for_is_used(self):
        """A bandwidth or a power asks for smoothing by the kernel; without them no kernel is spoken of."""
        for options in ({"bandwidth": 9.0}, {"eta": 1.3}, {"kernel": dp.kernels.Gaussian(9.0)}):
            plan = dp.DensityPlan(n=600, **LINE, **options)
            assert isinstance(plan.chosen, dp.methods.QR)
            assert "bandwidth" in repr(plan)
        plan = dp.DensityPlan(n=600, **LINE, kernel=dp.kernels.Exponential())
        assert "not used by this method" in repr(plan)
        assert "Exponential" not in plan.release(AGES).statement
        assert dp.DensityPlan(n=600, **LINE, eta=1.0, method=dp.methods.QR()).chosen.eta == 1.0
        with pytest.raises(dp.errors.ParameterError, match="eta is given once"):
            dp.DensityPlan(n=600, **LINE, eta=1.3, method=dp.methods.QR(eta=1.2))

    def test_more_budget_is_never_worse(self):
        """The figure shown is the one that is minimised: it falls with epsilon, and the default has the least."""
        budgets = (0.1, 0.5, 1, 2, 10, 100, 10**4)
        plans = [dp.DensityPlan(n=6000, epsilon=e, domain=[(0, 110)], cells=128) for e in budgets]
        risks = [plan.expected_risk for plan in plans]
        assert all(a >= b * (1 - 1e-6) for a, b in pairwise(risks))
        for other in (dp.methods.KNorm(), dp.methods.Minimax()):
            assert plans[2].expected_risk <= replace(plans[2], method=other).expected_risk * 1.001
        assert 0.5 < plans[2].solve(risks[2]) <= 1.001

    def test_every_source(self, tmp_path):
        polars = pytest.importorskip("polars")
        pd.DataFrame({"age": AGES}).to_csv(tmp_path / "ages.csv", index=False)
        plan = dp.DensityPlan(n=600, **LINE)
        first = plan.summarize(AGES)
        frames = [
            pd.DataFrame({"a": AGES}),
            polars.DataFrame({"a": AGES}),
            pa.table({"a": AGES}),
            tmp_path / "ages.csv",
        ]
        vectors = [AGES[:, None], AGES.tolist(), pd.Series(AGES), polars.Series(AGES), np.ma.array(AGES)]
        for data in frames + vectors:
            assert plan.summarize(data) == first

    @pytest.mark.parametrize("cells", [17, 20, 24])
    def test_cubes_of_any_size(self, cells):
        assert dp.DensityPlan(n=1000, epsilon=1, domain=[(0, 1)] * 3, cells=cells).sensitivity_gap < 1.4

    def test_dimensions_agree(self):
        """A product of one-dimensional data sets has the product of their densities, up to nothing."""
        grid = np.array([[a, b] for a in (0.1, 0.4, 0.9) for b in (0.2, 0.6)])
        plan = dp.DensityPlan(n=6, epsilon=1, domain=[(0, 1)] * 2, cells=16, method=dp.methods.FRL(components=20))
        one = dp.DensityPlan(n=6, epsilon=1, domain=[(0, 1)], cells=16, method=dp.methods.FRL(components=9))
        both = dict(zip(map(tuple, plan.basis.index.tolist()), plan.statistic(plan.summarize(grid)), strict=True))
        sides = [np.r_[1.0, one.statistic(one.summarize(grid[:, a]))[1:]] for a in (0, 1)]
        for j, k in [(1, 1), (2, 1), (0, 3), (3, 2)]:
            assert both[j, k] == pytest.approx(sides[0][j] * sides[1][k], abs=1e-9)


class TestCounts:
    EDGES = (0, 1, 5, *range(10, 100, 5), 110)

    def test_bins_spread_their_mass_evenly(self):
        plan = dp.DensityPlan(n=600, **LINE, edges=self.EDGES, method=dp.methods.FRL(components=8), cells=440)
        counts, _ = np.histogram(AGES, self.EDGES)
        seen = plan.statistic(plan.summarize(counts=counts))
        assert plan.release(counts=counts).plan is plan
        with pytest.raises(dp.errors.ParameterError, match="points or counts"):
            plan.summarize()
        x = plan.grid.points
        cell_of = np.searchsorted(self.EDGES, x, side="right") - 1
        mass = counts[cell_of] / np.bincount(cell_of)[cell_of]
        for j in range(1, 9):
            assert seen[j] == pytest.approx(
                (mass * np.sqrt(2 / 110) * np.cos(np.pi * j * x / 110)).sum() / 600, abs=1e-9
            )

    def test_points_and_counts_give_the_same_bits(self):
        plan = dp.DensityPlan(n=600, **LINE, edges=self.EDGES)
        assert plan.summarize(AGES) == plan.summarize_counts(np.histogram(AGES, self.EDGES)[0])
        cells = dp.DensityPlan(n=600, **LINE)
        assert cells.summarize(AGES) == cells.summarize_counts(np.histogram(AGES, 512, (0, 110))[0])

    def test_ten_million_deaths_cost_nothing(self):
        counts = np.full(len(self.EDGES) - 1, 500_000)
        release = dp.density(counts=counts, edges=self.EDGES, **LINE)
        assert release.plan.n == counts.sum()
        assert release.grid.weights @ release.values == pytest.approx(1)

    def test_two_dimensions(self):
        table = np.random.default_rng(0).integers(0, 50, (4, 3))
        plan = dp.DensityPlan(
            n=int(table.sum()), epsilon=1, domain=[(0, 4), (0, 3)], edges=[range(5), range(4)], cells=12
        )
        release = plan.release(plan.summarize_counts(table))
        assert release.values.shape == (12, 12)

    def test_batches_and_order_do_not_matter(self, rng):
        plan = dp.DensityPlan(n=600, **LINE)
        parts = [plan.summarize(part) for part in np.split(rng.permutation(AGES), 4)]
        merged = parts[3].merge(parts[1]).merge(parts[0]).merge(parts[2])
        assert merged == plan.summarize(AGES)

    def test_exact_product_of_large_counts(self):
        """Totals near the limit: integers as wide as they come, compared with fractions."""
        plan = dp.DensityPlan(n=2**36, **LINE, cells=4, method=dp.methods.FRL(components=3))
        summary = plan.summarize_counts([2**36 - 3, 1, 1, 1])
        exact = plan.problem.estimate(summary)
        lines = plan.problem._features[0]
        for j in range(4):
            whole = sum(int(c) * int(v) for c, v in zip(summary.totals, lines[:, j], strict=True))
            assert exact[j] * 2**36 * 2**32 == whole * type(exact[j])(plan.problem._height)


class TestRelease:
    @pytest.mark.parametrize(
        "method",
        [
            dp.methods.KNorm(),
            dp.methods.Minimax(),
            dp.methods.QR(),
            dp.methods.FRL(),
            dp.methods.Bernstein(6),
            dp.methods.GaussianProcess(0.01),
        ],
    )
    @pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
    @pytest.mark.parametrize("dimension", [1, 2, 3])
    def test_integrates_to_one_and_is_not_negative(self, method, neighbors, dimension, rng):
        points = rng.beta(2, 5, (40, dimension))
        cells = 9 if dimension < 3 else 6
        release = dp.density(
            points, epsilon=0.2, domain=[(0, 2)] * dimension, cells=cells, method=method, neighbors=neighbors, n=40
        )
        weights = release.grid.weights.reshape(release.grid.shape)
        assert (release.values * weights).sum() == pytest.approx(1, abs=1e-12)
        assert release.values.min() >= 0
        raw = release.unprocessed()
        assert (raw.values * weights).sum() == pytest.approx(1, abs=1e-9)
        assert raw.steps == ()
        assert np.array_equal(raw.coefficients, release.raw)

    def test_the_raw_release_may_be_negative(self):
        releases = [
            dp.density(AGES[:30], epsilon=0.05, domain=[(0, 110)], method=dp.methods.KNorm(10), postprocess=False)
            for _ in range(5)
        ]
        assert min(r.values.min() for r in releases) < 0
        assert all(r.project().values.min() >= 0 for r in releases)
        assert all(r.cdf(110.0) == pytest.approx(1) for r in releases)

    def test_projection_is_the_nearest_density(self, rng):
        weights = np.full(12, 0.25)
        for _ in range(20):
            f = rng.normal(0.3, 1, 12)
            best = projected(f, weights)
            assert best.min() >= 0
            assert weights @ best == pytest.approx(1)
            for _ in range(50):
                other = rng.dirichlet(np.ones(12)) * 4
                # the angle at a projection onto a convex set is never acute
                assert ((f - best) * (other - best)).sum() <= 1e-9

    def test_steps_are_recorded(self):
        release = dp.density(AGES, **LINE)
        assert release.steps == ("a smooth density fitted to all noisy counts",)
        smooth = dp.density(AGES, **LINE, method=dp.methods.KNorm())
        assert smooth.steps == ("shrinkage by bayes", "projection onto densities")
        assert "projection onto densities" in smooth.statement
        assert "fitted to all noisy counts (post-processing" in release.statement
        assert release.project() is release
        assert dp.density(AGES, **LINE, method=dp.methods.Bernstein(5)).steps == ("projection onto densities",)
        with pytest.raises(dp.errors.ParameterError, match="orthonormal"):
            dp.density(AGES, **LINE, method=dp.methods.Bernstein(5)).shrink()

    @pytest.mark.parametrize("dimension", [1, 2])
    def test_saved_and_read_again(self, dimension, tmp_path, rng):
        points = rng.beta(2, 5, (300, dimension))
        for options in ({}, {"postprocess": False}, {"method": dp.methods.Bernstein(4, order=2)}):
            release = dp.density(points, epsilon=1, domain=[(0, 1)] * dimension, cells=12, **options)
            release.save(tmp_path / "d.json")
            again = dp.load(tmp_path / "d.json")
            assert type(again) is dp.results.DensityRelease
            assert np.array_equal(again.values, release.values)
            assert again.plan == release.plan
            assert again.statement == release.statement
            where = np.full((3, dimension), 0.3) if dimension > 1 else np.full(3, 0.3)
            assert np.array_equal(again(where), release(where))
        text = (tmp_path / "d.json").read_text()
        (tmp_path / "d.json").write_text(text.replace('"epsilon"', '"epsilom"', 1))
        with pytest.raises(dp.errors.FileError):
            dp.load(tmp_path / "d.json")

    def test_tables(self, rng):
        release = dp.density(
            rng.random((200, 2)), epsilon=1, domain=[(0, 1)] * 2, cells=5, axes=["east (km)", "north (km)"]
        )
        frame = release.to_dataframe()
        assert list(frame.columns) == ["east", "north", "value", "lower", "upper"]
        assert len(frame) == 25
        assert release.to_csv().splitlines()[0] == "east,north,value,lower,upper"
        assert release.to_fdatagrid().data_matrix.shape == (1, 5, 5, 1)
        assert release([0.5, 0.5]).shape == ()
        assert release([[0.5, 0.5], [0.1, 0.2]]).shape == (2,)
        with pytest.raises(dp.errors.ParameterError, match="2 coordinates"):
            release([0.5])

    def test_the_band_covers_the_estimate(self):
        """Two hundred releases, level 0.9: the estimate before noise lies inside about that often."""
        plan = dp.DensityPlan(n=600, **LINE, cells=64, method=dp.methods.KNorm(6))
        summary = plan.summarize(AGES)
        still = plan.basis.synthesize(plan.problem.finish(plan.statistic(summary), plan.stage.parts))
        inside = 0
        for _ in range(200):
            lower, upper = plan.release(summary).noise_band(0.9)
            inside += bool(((lower <= still) & (still <= upper)).all())
        assert 155 <= inside <= 199  # a binomial of 200 and 0.9 leaves this range once in ten million

    def test_large_grids_have_bands_too(self, rng):
        release = dp.density(rng.random((500, 2)), epsilon=1, domain=[(0, 1)] * 2, cells=80, method=dp.methods.KNorm(5))
        band = release.noise_band(0.9)
        assert band.lower.shape == release.values.shape == (80, 80)
        assert (band.half_width > 0).all()

    def test_pictures(self, rng):
        assert dp.results.plots.png(dp.density(AGES, **LINE, axes=["age (years)"]).plot())[:4] == b"\x89PNG"
        surface = dp.density(rng.random((200, 2)), epsilon=1, domain=[(0, 1)] * 2, cells=8)
        for kind in ("map", "surface"):
            assert dp.results.plots.png(surface.plot(kind=kind))[:4] == b"\x89PNG"
        with pytest.raises(dp.errors.ParameterError, match="kind"):
            surface.plot(kind="pie")
        cube = dp.density(rng.random((200, 3)), epsilon=1, domain=[(0, 1)] * 3, cells=4)
        assert len(cube.plot().figure.axes) == 3
        assert "<img" in surface._repr_html_()

    def test_ledger_and_plan_file(self, tmp_path):
        book = dp.Ledger.create(tmp_path / "d.ledger", epsilon=1.5, study="ages")
        release = dp.density(AGES, **LINE, ledger=book)
        assert (book.spent, release.entry) == (1, 1)
        with pytest.raises(dp.errors.BudgetExceeded):
            dp.density(AGES, **LINE, ledger=book)
        plan = dp.DensityPlan.from_json(release.plan.to_json())
        assert plan == release.plan
        assert plan.digest == release.plan.digest

    def test_plans_compare_and_solve(self):
        facts = LINE | {"cells": 48}
        plan = dp.DensityPlan(n=2000, **facts)
        table = dp.compare(plan, epsilons=[0.5, 1])
        assert set(table) == {"FRL", "QR", "Minimax", "KNorm"}
        assert table["KNorm"][0].expected_error > table["KNorm"][1].expected_error
        wanted = 0.01 * plan.expected_risk
        assert dp.DensityPlan(n=plan.solve(wanted, vary="n"), **facts).expected_risk <= wanted

    def test_default_beats_the_papers_methods(self):
        """Simulated, not timed: the default's error on the paper's mixture is far below kernel-noise QR's."""
        rng = np.random.default_rng(5)
        sample = dp.datasets.mixture(2000, rng)
        truth = sample.density(dp.Grid.midpoints(0, 1, 512).points)
        for method, least in ((dp.methods.QR(eta=1.25, noise="kernel"), 20), (dp.methods.Bernstein(30), 20)):
            options = {"epsilon": 1, "domain": sample.domain}
            ours = np.mean([((dp.density(sample.points, **options).values - truth) ** 2).mean() for _ in range(5)])
            theirs = ((dp.density(sample.points, **options, method=method).values - truth) ** 2).mean()
            assert theirs > least * ours


class TestCellDensity:
    def test_probabilities(self, rng):
        grid = dp.Grid.midpoints(0, 1, 50)
        values = norm.pdf(grid.points, 0.4, 0.1)
        density = CellDensity(grid, values / (grid.weights @ values))
        p = np.linspace(0, 1, 21)
        assert density.cdf(density.quantile(p)) == pytest.approx(p, abs=1e-12)
        assert density.quantile(0.5) == pytest.approx(0.4, abs=0.01)
        assert density.cdf([-1.0, 2.0]).tolist() == [0.0, 1.0]
        draws = density.sample(200_000, 3)
        assert draws.mean() == pytest.approx(0.4, abs=0.002)
        assert np.array_equal(density.sample(5, 3), density.sample(5, 3))
        fine = np.linspace(0, 1, 20_001)
        assert np.trapezoid(density(fine), fine) == pytest.approx(1, abs=1e-6)

    def test_marginals_and_joint_probabilities(self, rng):
        grid = dp.Grid.product(dp.Grid.midpoints(0, 1, 6), dp.Grid.midpoints(0, 2, 5), dp.Grid.midpoints(-1, 1, 4))
        values = rng.random(grid.shape)
        density = CellDensity(grid, values / (values.ravel() @ grid.weights))
        assert density.cdf([1, 2, 1]) == pytest.approx(1)
        assert density.cdf([0.5, 2, 1]) == pytest.approx(density.marginal(0).cdf(0.5))
        pair = density.marginal(2, 0)
        assert pair.values.shape == (4, 6)
        assert pytest.approx(density.masses.sum(axis=1)) == pair.masses.T
        assert density.sample(7, 0).shape == (7, 3)
        for wrong in ((), (0, 0), (3,)):
            with pytest.raises(dp.errors.ParameterError, match="axes"):
                density.marginal(*wrong)
        with pytest.raises(dp.errors.ParameterError, match="one dimension"):
            density.quantile(0.5)
        with pytest.raises(dp.errors.ParameterError, match="domain"):
            density([2, 0, 0])
        with pytest.raises(dp.errors.ParameterError, match="shares"):
            density.marginal(0).quantile(1.5)
        with pytest.raises(dp.errors.ParameterError, match="size"):
            density.sample(-1)


class TestGroups:
    SEX = np.where(np.arange(600) % 3 == 0, "f", "m")

    def test_one_charge_for_all(self, tmp_path):
        book = dp.Ledger.create(tmp_path / "g.ledger", epsilon=1, study="groups")
        both = dp.density(AGES, by=self.SEX, **LINE, ledger=book)
        assert sorted(both) == ["f", "m"]
        assert book.spent == 1
        assert len(book.history()) == 1
        assert (both["f"].plan.n, both["m"].plan.n) == (200, 400)
        assert "parallel composition" in both.statement
        assert "Which group a point belongs to" in both.statement

    def test_each_group_is_its_own_release(self):
        plan = dp.DensityPlan(n=200, **LINE)
        summary = plan.summarize(AGES[self.SEX == "f"])
        both = dp.density(AGES, by=self.SEX, **(LINE | {"epsilon": 10_000}), method=dp.methods.KNorm(5))
        alone = replace(plan, epsilon=10_000, method=dp.methods.KNorm(5)).release(summary)
        assert both["f"].values == pytest.approx(alone.values, abs=1e-5)

    def test_a_neighbour_touches_one_group(self):
        """Through the real summaries: all other groups keep every bit, its own stays within epsilon."""
        plan = dp.DensityPlan(n=200, **LINE)
        other = AGES.copy()
        other[0] = 0.0 if AGES[0] > 55 else 110.0
        first, second = (dp.engines.summarize_groups(plan.problem, data, self.SEX, None) for data in (AGES, other))
        assert first["m"] == second["m"]
        assert 0 < plan.loss(plan.statistic(first["f"]) - plan.statistic(second["f"])) <= 1

    @pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "arrow", "polars"])
    def test_labels_from_every_source(self, kind, tmp_path):
        frame = pd.DataFrame({"sex": self.SEX, "age": AGES.round(3)})
        if kind == "csv":
            frame.to_csv(tmp_path / "people.csv", index=False)
            data = tmp_path / "people.csv"
        elif kind == "parquet":
            pyarrow.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "people.parquet")
            data = tmp_path / "people.parquet"
        elif kind == "arrow":
            data = pa.Table.from_pandas(frame)
        elif kind == "polars":
            data = pytest.importorskip("polars").from_pandas(frame)
        else:
            data = frame
        both = dp.density(data, by="sex", **LINE)
        assert (both["f"].plan.n, both["m"].plan.n) == (200, 400)

    def test_quoted_labels_and_the_careful_reader(self, tmp_path):
        lines = ["sex,age", '"f",30', "f,40", "m,50", "m,60", "m,bad", "f,70"]
        (tmp_path / "p.csv").write_text("\n".join(lines) + "\n")
        options = {**LINE, "by": "sex", "groups": ["f", "m"], "neighbors": "add-remove", "n": 10}
        both = dp.density(dp.read(tmp_path / "p.csv", header=True), **options, invalid="center")
        assert set(both) == {"f", "m"}
        with pytest.raises(dp.errors.RecordError, match="row 5"):
            dp.density(tmp_path / "p.csv", **options)

    def test_add_remove(self):
        options = {**LINE, "by": self.SEX, "neighbors": "add-remove"}
        with pytest.raises(dp.errors.ParameterError, match="guess"):
            dp.density(AGES, **options)
        with pytest.raises(dp.errors.ParameterError, match="which groups exist"):
            dp.density(AGES, **options, n=300)
        both = dp.density(AGES, **options, n={"f": 200, "m": 400, "x": 5}, groups=["f", "m", "x"])
        assert len(both) == 3  # an empty group is released like any other
        assert "moves from one group to another" in both.statement
        with pytest.raises(dp.errors.ParameterError, match="every group"):
            dp.density(AGES, **options, n={"f": 200}, groups=["f", "m"])

    def test_counts_by_group(self, tmp_path):
        counts = {"north": [5, 9, 2], "south": [0, 3, 30]}
        both = dp.density(counts=counts, edges=[0, 30, 60, 110], **LINE)
        both.save(tmp_path / "g.json")
        again = dp.load(tmp_path / "g.json")
        assert np.array_equal(again["north"].values, both["north"].values)
        assert again.plan == both.plan
        assert dp.plans.GroupPlan.from_json(both.plan.to_json()) == both.plan
        assert both.to_csv().splitlines()[0] == "group,x,value,lower,upper"
        damaged = json.loads((tmp_path / "g.json").read_text())
        damaged["releases"].pop("north")
        (tmp_path / "g.json").write_text(json.dumps(damaged))
        with pytest.raises(dp.errors.FileError):
            dp.load(tmp_path / "g.json")

    def test_difference_and_its_band(self):
        both = dp.density(AGES, by=self.SEX, **LINE, cells=64, method=dp.methods.KNorm(5))
        gap = both.difference("f", "m")
        assert gap.values == pytest.approx(both["f"].values - both["m"].values)
        width = gap.noise_band(0.9).half_width
        alone = [both[g].noise_band(0.9).half_width for g in "fm"]
        assert (width > np.maximum(*alone) * 0.999).all()
        assert (width < alone[0] + alone[1]).all()
        assert dp.results.plots.png(gap.plot())[:4] == b"\x89PNG"
        assert dp.results.plots.png(both.plot())[:4] == b"\x89PNG"

    def test_the_difference_band_covers(self):
        plans = [dp.DensityPlan(n=n, **LINE, cells=32, method=dp.methods.KNorm(4)) for n in (200, 400)]
        parts = {"f": plans[0].summarize(AGES[:200]), "m": plans[1].summarize(AGES[200:])}
        still = [
            p.basis.synthesize(p.problem.finish(p.statistic(s), p.stage.parts))
            for p, s in zip(plans, parts.values(), strict=True)
        ]
        plan = dp.plans.GroupPlan(("f", "m"), tuple(plans))
        inside = 0
        for _ in range(150):
            lower, upper = plan.release(parts).difference("f", "m").noise_band(0.9)
            inside += bool(((lower <= still[0] - still[1]) & (still[0] - still[1] <= upper)).all())
        assert 112 <= inside <= 150  # a binomial of 150 and 0.9: less than once in a million below

    def test_bad_groups(self, tmp_path):
        both = dp.density(AGES, by=self.SEX, **LINE, cells=16)
        for call in (lambda: both["x"], lambda: both.difference("f", "x"), lambda: both.band("x")):
            with pytest.raises(dp.errors.ParameterError, match="a group must be one of f, m"):
                call()
        for wrong, message in (
            ({"by": self.SEX[:-1]}, "one label per record"),
            ({"by": np.append(self.SEX, "f")}, "one label per record"),
            ({"by": "sex"}, "one label per record"),
            ({"by": self.SEX, "groups": ["f"]}, "names no group"),
            ({"by": self.SEX, "groups": ["f", "f"]}, "different names"),
            ({"by": np.where(np.arange(600) == 3, "only", "m")}, "fewer than two"),
            ({"groups": ["f"]}, "labels"),
            ({"by": np.where(np.arange(600) == 3, None, "m").astype(object)}, "names no group"),
        ):
            book = dp.Ledger.create(tmp_path / f"{abs(hash(str(wrong)))}.ledger", epsilon=9, study="bad")
            with pytest.raises(dp.DpfdaError, match=message):
                dp.density(AGES, **LINE, **wrong, ledger=book)
            assert book.spent == 0
        with pytest.raises(dp.errors.ParameterError, match="share"):
            dp.plans.GroupPlan(("a", "b"), tuple(dp.DensityPlan(n=9, epsilon=1, domain=[(0, x)]) for x in (1, 2)))


class TestHistogram:
    """Rounds of counts: what is kept, what is refused, and that it is better where bins matter."""

    def test_draws_are_kept_and_files_load(self, tmp_path):
        release = dp.density(AGES, **LINE)
        rounds = release.plan.chosen.bins
        assert [d.size for d in release.drawn] == list(rounds)
        again = dp.load(release.save(tmp_path / "d.json"))
        assert np.array_equal(again.values, release.values)
        assert all(np.array_equal(a, b) for a, b in zip(again.drawn, release.drawn, strict=True))
        assert np.allclose(again.band().half_width, release.band().half_width)
        assert again.statement == release.statement

    def test_raw_is_the_last_rounds_histogram(self):
        plan = dp.DensityPlan(n=600, **(LINE | {"epsilon": 10_000}), cells=64)
        release = plan.release(AGES[:600])
        stage = plan.schedule.last(release.drawn)
        starts = stage.problem.basis.starts
        raw = np.add.reduceat(release.unprocessed().values * plan.grid.weights, starts)
        counts = np.add.reduceat(plan.summarize(AGES[:600]).totals, starts) / 600
        assert raw == pytest.approx(counts, abs=1e-3)
        assert release.plan.grid.weights @ release.values == pytest.approx(1)
        assert release.values.min() >= 0

    def test_what_it_says(self):
        plan = dp.DensityPlan(n=600, **LINE)
        assert "two rounds" in plan.explain() or "2 rounds" in plan.explain()
        assert plan.schedule.passes == 1
        assert plan.expected_error < plan.expected_risk * 10
        assert sum(plan.chosen.shares) == 1

    @pytest.mark.parametrize(
        ("bins", "shares"), [((8,), None), ((8, 1), ("1/2", "1/2")), ((8, 9), ("1/2", "1/4")), ((8,), ("1/2", "1/2")),
                             ("8", (1,)), ((8, 9), (2, -1)), ((65,), (1,)), (None, (1,))]
    )  # fmt: skip
    def test_refusals(self, bins, shares):
        with pytest.raises(dp.errors.ParameterError, match="Histogram"):
            dp.methods.Histogram(bins=bins, shares=shares)

    def test_for_one_dimension(self):
        with pytest.raises(dp.errors.ParameterError, match="one dimension"):
            dp.DensityPlan(n=100, epsilon=1, domain=[(0, 1)] * 2, method=dp.methods.Histogram())
        with pytest.raises(dp.errors.ParameterError, match="no slope"):
            dp.density(AGES, **LINE).derivative().noise_band()

    def test_a_narrow_peak_is_found(self, rng):
        """Width 1/100, anywhere: at least four times closer than cosines, in squared distance of distributions."""
        points = rng.normal(37.0, 1.0, 400)
        at = np.linspace(0, 100, 2001)
        truth = (points[:, None] <= at).mean(axis=0)

        def distance(method):
            options = {"epsilon": 1.0, "domain": [(0, 100)], "method": method}
            return np.mean([((dp.density(points, **options).cdf(at) - truth) ** 2).mean() for _ in range(5)])

        assert 4 * distance(None) < distance(dp.methods.KNorm())

    def test_the_points_own_distribution(self):
        """`values` are smooth; `cdf` and `quantile` follow the points as far as counts tell."""
        plan = dp.DensityPlan(n=600, **(LINE | {"epsilon": 1000}))
        release = plan.release(AGES[:600])
        at = np.linspace(0, 110, 400)
        truth = (AGES[:600, None] <= at).mean(axis=0)
        smooth = CellDensity(release.grid, release.values).cdf(at)
        assert ((release.cdf(at) - truth) ** 2).mean() <= ((smooth - truth) ** 2).mean()
        assert release.cells.masses.min() >= 0
        assert release(at).tolist() == CellDensity(release.grid, release.values)(at).tolist()


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(("n", "epsilon"), [(10**9, 1), (10**6, 1000)])
def test_a_point_mass_of_very_many_is_fitted(n, epsilon, relation):
    """Nearly no noise and empty bins: the fit does not fail after the charge."""
    plan = dp.DensityPlan(n=n, epsilon=epsilon, domain=[(0, 1)], invalid="center", neighbors=relation)
    release = plan.release(plan.summarize(np.array([[0.31]])).times(n))
    assert np.isfinite(release.values).all()
    assert release.quantile(0.5) == pytest.approx(0.31, abs=0.02)
