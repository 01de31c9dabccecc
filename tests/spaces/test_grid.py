import numpy as np
import pytest

import dpfda as dp


def test_weights_integrate():
    grid = dp.Grid.uniform(0, 2, 201)
    assert grid.inner(grid.points, np.ones(201)) == pytest.approx(2.0)
    irregular = dp.Grid([0.0, 0.1, 0.5, 2.0])
    assert irregular.weights.sum() == pytest.approx(2.0)
    assert irregular.norm(np.ones(4)) == pytest.approx(np.sqrt(2))
    assert dp.Grid.uniform(0, 2, 4, weights="equal").weights == pytest.approx(0.5)
    assert dp.Grid([0, 1, 3], [1.0, 2.0, 0.5]).rule == "given"


def test_midpoints_are_the_home_of_cosines():
    grid = dp.Grid.midpoints(-1, 1, 8)
    assert grid.is_midpoints
    assert grid.points[0] == pytest.approx(-0.875)
    assert not dp.Grid.uniform(-1, 1, 8).is_midpoints
    assert grid.weights.sum() == pytest.approx(2.0)


def test_product_grid_integrates_surfaces():
    grid = dp.Grid.product(dp.Grid.uniform(0, 1, 5), dp.Grid.uniform(0, 2, 7))
    assert grid.points.shape == (35, 2)
    assert grid.weights.sum() == pytest.approx(2.0)
    assert tuple(grid.points[1]) == (0.0, pytest.approx(1 / 3))
    basis = dp.kernels.Matern(1.5, 0.5).basis(grid, 6)
    assert basis.vectors.T @ basis.vectors == pytest.approx(np.eye(6), abs=1e-10)


def test_grids_are_values():
    a, b = dp.Grid.uniform(0, 1, 5), dp.Grid([0, 0.25, 0.5, 0.75, 1.0])
    assert a == b
    assert hash(a) == hash(b)
    assert a != dp.Grid.uniform(0, 1, 5, name="hour")
    with pytest.raises(ValueError, match="read-only"):
        a.points[0] = 3
    assert dp.Grid.uniform(0, 24, 5, name="hour", unit="h").label == "hour (h)"


@pytest.mark.parametrize(
    ("points", "weights", "rule"),
    [
        ([0, 0, 1], "trapezoid", "strictly increasing"),
        ([1, 0], "trapezoid", "strictly increasing"),
        ([0, np.nan], "trapezoid", "finite"),
        ([0.0], "trapezoid", "at least two points"),
        ([0, 1], "simpson", "weights must be one of"),
        ([0, 1], [1.0, -1.0], "positive and finite"),
        ([0, 1], [1.0], "one per point"),
    ],
)
def test_bad_grids_are_refused(points, weights, rule):
    with pytest.raises(dp.errors.ParameterError, match=rule):
        dp.Grid(points, weights)


def test_bad_sizes_are_refused():
    with pytest.raises(dp.errors.ParameterError, match="larger stop"):
        dp.Grid.uniform(1, 0, 5)
    with pytest.raises(dp.errors.ParameterError, match="between 2 and"):
        dp.Grid.midpoints(0, 1, 1)
