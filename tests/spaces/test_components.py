"""Curves with several components, as one record under one bound: from the grid to pictures and files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import dpfda as dp
from dpfda.bounds.loops import Block
from dpfda.core.codec import from_plain
from dpfda.spaces import components

LINE = dp.Grid.uniform(0, 2, 25, name="time", unit="s")
GRID = dp.spaces.ComponentGrid(("x", "y"), LINE)
TRUTH = np.array([np.cos(2 * LINE.points), 0.5 * np.sin(2 * LINE.points)])
KERNELS = {
    "default": None,
    "matern": dp.kernels.Matern(2.5),
    "gaussian": dp.kernels.Gaussian(0.3),
    "sum": dp.kernels.Matern() + 0.5,
    "cosine": dp.kernels.Cosine(dp.kernels.Matern()),
    "function": lambda s, t: np.minimum.outer(s, t) + 1,
}


def paths(n: int = 2000, seed: int = 0) -> np.ndarray:
    """Invented positions: everybody goes round, some further than others."""
    rng = np.random.default_rng(seed)
    return rng.normal(1, 0.2, (n, 1, 1)) * TRUTH + rng.normal(0, 0.1, (n, 2, 1))


def planned(**more: object) -> dp.MeanPlan:
    return dp.MeanPlan(**{"n": 2000, "epsilon": 1.0, "bound": dp.L2Ball(3.0), "grid": GRID} | more)


def norm(values: np.ndarray) -> float:
    return float(np.sqrt((GRID.weights * np.ravel(values) ** 2).sum()))


@pytest.fixture(scope="module")
def release() -> dp.results.ComponentRelease:
    return planned(epsilon=4, method=dp.methods.KNorm(16)).release(paths())


# -- grids and bases --------------------------------------------------------------------------------


def test_the_grid_is_its_line_once_per_component():
    assert GRID.shape == (2, 25)
    assert GRID.weights.tolist() == LINE.weights.tolist() * 2
    assert GRID.volume == 4.0
    assert GRID.length == 2.0
    assert (GRID.number("y"), GRID.number(0)) == (1, 0)
    assert GRID.rows([0.5, 1.0]).tolist() == [[0, 0.5], [0, 1], [1, 0.5], [1, 1]]
    assert "2 components (x, y), each on Grid(25 points" in repr(GRID)
    assert dp.spaces.ComponentGrid(9, LINE).description == "9 components (1, 2, 3, ..., 9)"
    for same in (copy.copy(GRID), pickle.loads(pickle.dumps(GRID)), dp.spaces.ComponentGrid(["x", "y"], LINE)):
        assert same == GRID
        assert hash(same) == hash(GRID)
    assert dp.spaces.ComponentGrid(("x", "z"), LINE) != GRID


#: What each grid says of itself: a line, its record, components, axes and those of its domain, volume.
ANSWERS = {
    "line": (LINE, (True, "curve", 1, "", 1, 1, 2.0)),
    "surface": (dp.Grid.product(LINE, dp.Grid.uniform(0, 3, 4)), (False, "surface", 1, "", 2, 2, 6.0)),
    "components": (GRID, (False, "curve", 2, "2 components (x, y)", 2, 1, 4.0)),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_all_grids_answer_the_same_questions(kind):
    grid, answers = ANSWERS[kind]
    assert type(grid).__mro__[1] is dp.spaces.AnyGrid  # siblings: none is a special case of another
    found = grid.is_line, grid.noun, grid.count, grid.description, len(grid.axes), len(grid.domain.axes), grid.volume
    assert found == answers
    assert grid.length == max(axis.length for axis in grid.domain.axes)
    assert grid.label == ", ".join(axis.label for axis in grid.axes)
    assert grid.shape == tuple(axis.size for axis in grid.axes)
    assert grid.size == len(grid.points) == grid.weights.size == grid.count * grid.domain.size
    mesh = np.meshgrid(*(axis.points for axis in grid.axes), indexing="ij")
    assert np.reshape(grid.points, (grid.size, -1)).tolist() == np.stack([m.ravel() for m in mesh], axis=-1).tolist()
    assert grid.weights.sum() == pytest.approx(grid.volume)
    assert grid.rows() is grid.points
    assert grid.rows(grid.points) is grid.points
    assert grid.apart(grid.weights).size == grid.size
    assert grid.domain.domain is grid.domain
    assert grid.domain.count == 1


def test_a_grid_of_no_kind_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        dp.spaces.AnyGrid()
    with pytest.raises(dp.errors.FileError, match="unknown type"):
        from_plain({"type": "AnyGrid"})


@pytest.mark.parametrize("names", ["xy", ("x",), 1, 10**7, ("x", "x"), ("x", ""), ("x", 2), ("x", "y\n"), None, True])
def test_names_that_are_none_are_refused(names):
    with pytest.raises(dp.errors.ParameterError, match=r"names|components"):
        dp.spaces.ComponentGrid(names, LINE)
    with pytest.raises(dp.errors.ParameterError, match="along a line"):
        dp.spaces.ComponentGrid(("x", "y"), GRID)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_acts_along_the_line(kernel):
    line = dp.Grid.midpoints(0, 2, 20)
    plan = planned(grid=dp.spaces.ComponentGrid(3, line), kernel=KERNELS[kernel])
    alone = dp.MeanPlan(n=2000, epsilon=1, bound=dp.L2Ball(3.0), grid=line, kernel=KERNELS[kernel])
    assert plan.kernel == alone.kernel
    basis, weights = plan.basis, plan.grid.weights[:, None]
    assert basis.eigenvalues == pytest.approx(np.repeat(alone.basis.eigenvalues, 3))
    assert basis.functions.T @ (weights * basis.functions) == pytest.approx(np.eye(basis.size), abs=1e-9)
    assert basis.evaluate(plan.grid.points) == pytest.approx(basis.functions, abs=1e-4)
    for some in (basis, basis.first(7), basis.first(1)):
        functions, rng = basis.functions[:, : some.size], np.random.default_rng(1)
        c, v = rng.normal(size=(4, some.size)), rng.normal(size=(4, plan.grid.size))
        assert some.functions == pytest.approx(functions)
        assert some.synthesize(c) == pytest.approx(c @ functions.T)
        assert some.coefficients(v) == pytest.approx(v @ (weights * functions))
    assert dp.MeanPlan.from_json(plan.to_json()) == plan


def test_rows_of_a_number_and_a_time_are_points():
    basis = planned().basis
    with pytest.raises(dp.errors.ParameterError, match="numbered 0 to 1"):
        basis.evaluate([[0.5, 1.0]])
    with pytest.raises(dp.errors.ParameterError, match="domain"):
        basis.evaluate([[2, 1.0]])


# -- plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("method", [None, dp.methods.Minimax(), dp.methods.Staged(), dp.methods.Blocks(9)], ids=repr)
def test_plans_travel_and_speak_of_components(method, neighbors):
    plan = planned(method=method, neighbors=neighbors, bound=dp.L2Ball(3.0, [0.1, 0.2]), standardize=True, fill=2)
    back = dp.MeanPlan.from_json(plan.to_json())
    assert back == plan
    assert back.digest == plan.digest
    assert back.grid.names == ("x", "y")
    for text in (repr(plan), plan.explain()):
        assert "curves with 2 components (x, y)" in text
        assert "over all components together" in text
        assert "own mean of each component" in text
        assert "surface" not in text
    assert plan.accuracy.noise_band(0.9).lower.shape == plan.accuracy.pointwise_sd().shape == (2, 25)
    assert plan.accuracy.pointwise_sd([0.5, 1.0]) == pytest.approx(
        plan.accuracy.pointwise_sd(GRID.rows([0.5, 1.0])).reshape(2, 2)
    )


def test_plans_of_plain_curves_and_surfaces_keep_their_digests():
    line, square = dp.Grid.uniform(0, 1, 48), dp.Grid.product(dp.Grid.uniform(0, 1, 8), dp.Grid.uniform(0, 2, 9))
    facts = {"n": 508, "epsilon": 1.0, "kernel": dp.kernels.Matern(), "method": dp.Auto(rule=None)}
    curve = dp.MeanPlan(bound=dp.L2Ball(1.0), grid=line, **facts)
    surface = dp.MeanPlan(bound=dp.L2Ball(1.0, 0.2), grid=square, **facts)
    assert curve.digest.startswith("03bee04ea7d834ee")
    assert surface.digest.startswith("bfc4ab7b1e4f93ab")


def test_centres_are_a_number_a_level_each_or_a_curve_each():
    levels, curves = np.repeat([0.5, -1.0], 25), TRUTH
    assert planned(bound=dp.L2Ball(3.0, [0.5, -1.0])) == planned(bound=dp.L2Ball(3.0, levels))
    assert planned(bound=dp.L2Ball(3.0, curves)) == planned(bound=dp.L2Ball(3.0, curves.ravel()))
    assert planned(bound=dp.L2Ball(3.0, 0.5)).problem.center.tolist() == [0.5] * 50
    with pytest.raises(dp.errors.ParameterError, match="one value per grid point"):
        planned(bound=dp.L2Ball(3.0, np.zeros(25)))
    radius = dp.plans.RadiusPlan(n=50, epsilon=1, grid=GRID, bound=dp.L2Ball(8.0, [0.5, -1.0]))
    assert radius.center.tolist() == levels.tolist()
    assert dp.plans.RadiusPlan.from_json(radius.to_json()) == radius
    assert "curves with 2 components (x, y)" in radius.explain()


def test_what_has_no_components_says_so():
    with pytest.raises(dp.errors.ParameterError, match="one component"):
        planned(method=dp.methods.Bernstein(5))
    with pytest.raises(dp.errors.ParameterError, match="covariance is for curves"):
        dp.CovariancePlan(n=500, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID)
    with pytest.raises(dp.errors.ParameterError, match="is for curves"):
        dp.plans.RegressionPlan(n=500, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, covariates=1, covariate_bound=1.0)


# -- records --------------------------------------------------------------------------------------


def test_rows_arrays_tables_and_files_are_the_same_records(tmp_path):
    plan, data = planned(n=50), paths(50)
    rows = data.reshape(50, -1)
    frame = pd.DataFrame(rows, columns=[f"{name}{i}" for name in "xy" for i in range(25)])
    frame.to_csv(tmp_path / "paths.csv", index=False)
    whole = plan.summarize(rows)
    assert whole == plan.summarize(data) == plan.summarize(frame) == plan.summarize(tmp_path / "paths.csv")
    masked = np.ma.array(data, mask=False)
    masked[3, 1, 2] = np.ma.masked
    with pytest.raises(dp.errors.RecordError, match="missing"):
        plan.summarize(masked)
    for wrong in (data.transpose(0, 2, 1), data[:, :, :-1], data[:, :1]):
        with pytest.raises(dp.errors.RecordError, match="shape \\(n, 2, 25\\)"):
            plan.summarize(wrong)
    square = planned(n=50, grid=dp.spaces.ComponentGrid(2, dp.Grid([0.0, 1.0])))
    with pytest.raises(dp.errors.RecordError, match="rows of 4 values"):
        square.summarize(np.zeros((50, 2, 2)))


def test_gaps_are_filled_within_a_component():
    plan, data = planned(n=4, fill=2, bound=dp.L2Ball(1e3), invalid="center"), np.ones((4, 2, 25))
    data[:, 1] = 7.0
    filled = data.copy()
    filled[0, 0, -2:] = filled[0, 1, :2] = np.nan  # next to each other in the row, and yet two gaps of two
    assert plan.summarize(filled) == plan.summarize(data)
    filled[0, 0] = np.nan
    without = data.copy()
    without[0] = 0.0
    assert plan.summarize(filled) == plan.summarize(without)


def test_standardized_curves_have_no_level_in_any_component_and_norm_one():
    plan = planned(n=2, standardize=True, method=dp.methods.KNorm(), bound=dp.L2Ball(1.0))
    record = np.concatenate([5 + np.cos(LINE.points), -3 + 2 * LINE.points])
    found, _ = plan.problem.curves(Block(record[None]))
    assert GRID.apart(found[0]) @ LINE.weights == pytest.approx([0, 0], abs=1e-12)
    assert norm(found) == pytest.approx(1.0)


def test_functional_data_in_and_out():
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    data = paths()
    facts = {"grid_points": LINE.points, "domain_range": [(0, 2)], "coordinate_names": ("x", None)}
    functional = skfda.FDataGrid(data.transpose(0, 2, 1), **facts)
    release = dp.mean(functional, epsilon=4, bound=dp.L2Ball(3.0))
    assert isinstance(release, dp.results.ComponentRelease)
    assert release.names == ("x", "2")
    assert release.grid.line == dp.Grid.uniform(0, 2, 25)
    assert norm(release.values - data.mean(axis=0)) < 0.3
    assert release.plan.summarize(functional) == release.plan.summarize(data)
    back = release.to_fdatagrid()
    assert back.dim_codomain == 2
    assert back.coordinate_names == ("x", "2")
    assert release.values == pytest.approx(back.data_matrix[0].T)
    assert dp.suggest_radius(functional, epsilon=1, bound=dp.L2Ball(8.0, [0.1, 0.2])).bound.center.size == 50
    with pytest.raises(dp.errors.RecordError, match="plan's 3 components"):
        planned(grid=dp.spaces.ComponentGrid(3, LINE)).summarize(functional)
    with pytest.raises(dp.errors.RecordError, match="on its grid"):
        planned(grid=dp.spaces.ComponentGrid(2, dp.Grid.uniform(0, 1, 25))).summarize(functional)
    with pytest.raises(dp.errors.RecordError, match="one component"):
        planned(grid=LINE).summarize(functional)
    with pytest.raises(dp.errors.RecordError, match="plan's 2 components"):
        planned().summarize(skfda.FDataGrid(data.reshape(2000, 50), np.linspace(0, 2, 50)))


def test_data_with_one_component_stays_plain():
    class Functional:
        data_matrix, grid_points = np.zeros((5, 25, 1)), (LINE.points,)

    assert components.with_components(LINE, Functional()) is LINE


# -- releases -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [None, dp.methods.KNorm(12), dp.methods.Minimax(), dp.methods.Staged(dp.methods.KNorm(12))], ids=repr
)
def test_a_private_mean_is_near_the_mean_of_the_clipped(method):
    """The tolerance, four times the expected error, holds by far."""
    data = paths()
    release = dp.mean(data, epsilon=4, bound=dp.L2Ball(3.0), grid=GRID, method=method)
    assert norm(release.values - data.mean(axis=0)) < 4 * np.sqrt(release.plan.expected_risk)


def test_values_by_name_and_at_times(release):
    assert release.values.shape == (2, 25)
    assert release["x"].tolist() == release.values[0].tolist() == release.component(0).tolist()
    assert [component.tolist() for component in release] == release.values.tolist()
    t = [0.1, 0.7, 1.3]
    assert release(t).shape == (2, 3)
    assert release(0.7) == pytest.approx(release(t)[:, 1])
    assert release([[0, 0.7], [1, 0.1]]) == pytest.approx([release(t)[0, 1], release(t)[1, 0]])
    assert release.component("y", t).tolist() == release(t)[1].tolist()
    assert release(LINE.points) == pytest.approx(release.values)
    for wrong in ("z", 2, -1, True, None, 0.5):
        with pytest.raises(dp.errors.ParameterError, match="2 components"):
            release[wrong]
    with pytest.raises(dp.errors.ParameterError, match="domain"):
        release([0.5, 3.0])
    assert repr(release).startswith("ComponentRelease(mean curve with 2 components (x, y) on [0, 2], epsilon 4")
    assert "curves with 2 components (x, y)" in release.statement
    assert "over all components together" in release.statement


def test_a_centre_that_the_basis_misses_comes_back(release):
    steps = np.where(LINE.points > 1, 5.0, 0.0)
    centre = np.array([steps, -steps])
    found = planned(bound=dp.L2Ball(3.0, centre), method=dp.methods.KNorm(4)).release(np.tile(centre, (2000, 1, 1)))
    assert found.values == pytest.approx(centre, abs=0.2)
    assert found(LINE.points) == pytest.approx(found.values)
    assert found.derivative().values.shape == (2, 25)
    slope = release.derivative()
    assert "derivative of the mean curve with 2 components" in repr(slope)
    t = np.array([0.3, 0.9, 1.7])
    assert slope(t) == pytest.approx((release(t + 1e-4) - release(t - 1e-4)) / 2e-4, abs=1e-2)
    assert slope.noise_band(0.9).lower.shape == (2, 25)


def test_bands_hold_all_components_at_once(release):
    band = release.noise_band(0.95)
    assert band.lower.shape == (2, 25)
    assert band.t.tolist() == LINE.points.tolist()
    some = release.noise_band(0.95, [0.5, 1.0])
    assert some.lower.shape == (2, 2)
    assert some.t.tolist() == [0.5, 1.0]
    assert release.noise_band(0.95, [[1, 0.5]]).lower.shape == (1,)
    wide = release.confidence_band(0.95)
    assert (wide.half_width > release.noise_band(0.95).half_width).all()
    assert release.confidence_band(0.95, [0.5, 1.0]).lower.shape == (2, 2)


def test_confidence_bands_tell_components_apart():
    """One component varies ten times as much as the other; its band is wider."""
    rng, n = np.random.default_rng(0), 50_000
    data = rng.normal(size=(n, 2, 1)) * np.array([[1.0], [0.1]]) * np.ones(25)
    method = dp.methods.Staged(dp.methods.KNorm(24), check="1/20")
    release = dp.mean(data, epsilon=50, bound=dp.L2Ball(4.0), grid=GRID, method=method)
    found = GRID.apart(release.terms.sampling_sd) ** 2
    assert 0.7 / n < found[0].mean() < 4 / n
    assert found[0].mean() > 4 * found[1].mean()
    wide = release.confidence_band(0.95).half_width.mean(axis=1)
    assert wide[0] > 1.5 * wide[1]


def test_pictures_name_the_components(release):
    for ax, covers in ((release.plot(), "mean of the population"), (release.derivative().plot(), "noise only")):
        _, labels = ax.get_legend_handles_labels()
        assert labels[:2] == ["x", "y"]
        assert labels[2] == f"95 % band, {covers}"
        assert len(ax.lines) == 2
        assert ax.get_xlabel() == "time (s)"
    assert release.plot().get_title(loc="left") == "Mean curve, epsilon 4"
    assert "<img" in release._repr_html_()


def test_tables_and_files(release, tmp_path):
    table = release.to_dataframe()
    assert list(table.columns) == ["component", "time", "value", "lower", "upper"]
    assert table.loc[table.component == "y", "value"].to_numpy() == pytest.approx(release["y"])
    release.to_csv(tmp_path / "release.csv")
    assert pd.read_csv(tmp_path / "release.csv").value.to_numpy() == pytest.approx(release.values.ravel())
    odd = planned(grid=dp.spaces.ComponentGrid(("=1+1", "a,b"), LINE), method=dp.methods.KNorm(3)).release(paths())
    assert [line.split(",")[0] for line in odd.to_csv().splitlines()[1::25]] == ["'=1+1", "a b"]
    for made in (release, release.derivative()):
        made.save(tmp_path / "release.json")
        back = dp.load(tmp_path / "release.json")
        assert isinstance(back, dp.results.ComponentRelease)
        assert back.values == pytest.approx(made.values)
        assert back.plan == made.plan
        assert back.statement == made.statement


def test_groups_of_curves_with_components():
    plan = planned(n=1000, method=dp.methods.KNorm(8))
    parts = {"north": paths(1000, 1), "south": 0.5 * paths(1000, 2)}
    both = dp.plans.GroupPlan(tuple(parts), [plan, plan]).release({k: plan.summarize(v) for k, v in parts.items()})
    labels = both.plot().get_legend_handles_labels()[1]
    assert labels[:2] == ["north (n = 1,000) x", "north (n = 1,000) y"]
    difference = both.difference("north", "south")
    assert difference.plot().get_legend_handles_labels()[1][:2] == ["x", "y"]
    assert len(difference.to_dataframe()) == 50
