import numpy as np
import pytest

import dpfda as dp
from dpfda.problems.curves import standardize
from dpfda.spaces.alignment import fill_gaps

GRID = dp.Grid([0.0, 1.0, 2.0, 4.0, 5.0])


def test_standardized_curves_have_mean_zero_and_norm_one(rng):
    curves = standardize(rng.normal(3, 2, (20, 5)), GRID)
    assert GRID.inner(curves, np.ones(5)) == pytest.approx(0, abs=1e-12)
    assert GRID.norm(curves) == pytest.approx(1)


@pytest.mark.parametrize("value", [0.0, 7.0, 1e308, -1e308, 5e-324, 1e-300])
def test_constant_curves_become_zero(value):
    assert np.array_equal(standardize(np.full((1, 5), value), GRID), np.zeros((1, 5)))


def test_scale_does_not_matter():
    curve = np.array([[1.0, 2.0, -1.0, 0.5, 3.0]])
    for factor in (1e-300, 1e300):
        assert standardize(curve * factor, GRID) == pytest.approx(standardize(curve, GRID))


def test_standardized_curves_stay_inside_the_unit_ball(rng):
    plan = dp.MeanPlan(n=200, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, standardize=True)
    curves = rng.standard_cauchy((200, 5))
    encoded = plan.problem.encode(curves)
    assert encoded / plan.problem.lattice_weights == pytest.approx(standardize(curves, GRID), abs=1e-6)


def test_gaps_are_filled_up_to_the_longest_allowed():
    nan = np.nan
    curves = np.array(
        [[0, nan, 2, nan, 5.0], [0, nan, nan, 4, 5.0], [nan, 1, 2, 4, nan], [nan] * 5, [0, nan, nan, nan, 5]]
    )
    filled = fill_gaps(curves, GRID, 1)
    assert filled[0].tolist() == [0, 1, 2, 4, 5]
    assert np.isnan(filled[1]).sum() == 2
    assert filled[2].tolist() == [1, 1, 2, 4, 4]
    assert np.isnan(filled[3]).all()
    assert fill_gaps(curves, GRID, 3)[4].tolist() == [0, 1, 2, 4, 5]
    assert np.isnan(curves[0, 1])  # the caller's array is left alone


def test_filled_curves_are_released_and_long_gaps_refused():
    curves = np.tile([0, np.nan, 2, 4, 5.0], (10, 1))
    assert dp.mean(dp.read(curves, fill=1), epsilon=1, bound=dp.L2Ball(9.0), grid=GRID).values.shape == (5,)
    curves[4, 1:4] = np.nan
    with pytest.raises(dp.errors.RecordError, match="row 5"):
        dp.mean(dp.read(curves, fill=1), epsilon=1, bound=dp.L2Ball(9.0), grid=GRID)
