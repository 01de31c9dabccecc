"""Functions of one record: those that ship, what is asked of new ones, and the ten-line example's kind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from conftest import hostile

import dpfda as dp
from dpfda.bounds import RecordFunction
from dpfda.bounds.function_trials import values_grid

GRID = dp.Grid(np.array([0.0, 1.0, 1.5, 4.0, 6.0, 6.25]))
SURFACE = dp.Grid.product(dp.Grid.uniform(0, 1, 3), dp.Grid.uniform(0, 2, 4))
LEVELS = [-1.0, 0.0, 0.5, 7.0]
SHIPPED = [dp.Above(0.5), dp.TimeAbove(LEVELS), dp.TimeAbove(dp.Grid.uniform(-2, 8, 11, name="glucose"))]


def records(size, rng):
    finite = [record for record in hostile(size) if np.isfinite(record).all()]
    return np.vstack([*finite, rng.normal(0, 2, (40, size)), np.full(size, 0.5), np.full(size, 7.0)])


@pytest.mark.parametrize("grid", [GRID, SURFACE], ids=["curve", "surface"])
@pytest.mark.parametrize("function", SHIPPED, ids=repr)
def test_a_block_has_the_bits_of_its_records_alone(function, grid, rng):
    rows = records(grid.size, rng)
    size = function.grid_of(grid).size
    together = function._each(rows, grid, size)
    alone = [np.ravel(function.encode(row.reshape(grid.shape), grid)) for row in rows]
    one_by_one = RecordFunction._each(function, rows, grid, size)
    assert np.array_equal(together, np.array(alone, dtype=float))
    assert np.array_equal(together, one_by_one)
    assert 0 <= together.min() < together.max() <= 1


def test_what_they_give(rng):
    rows, share = records(GRID.size, rng), GRID.weights / GRID.weights.sum()
    assert np.array_equal(dp.Above(0.5)._each(rows, GRID, GRID.size), rows > 0.5)
    found = dp.TimeAbove(LEVELS)._each(rows, GRID, 4)
    slow = np.array([[share[row > level].sum() for level in LEVELS] for row in rows])
    assert np.allclose(found, slow, rtol=0, atol=1e-12)
    assert (np.diff(found, axis=1) <= 0).all()


def test_what_is_published_is_a_share_that_falls(rng):
    noisy = rng.normal(0.5, 0.6, 11)
    assert np.array_equal(dp.Above(1).finish(noisy, GRID), np.clip(noisy, 0, 1))
    levels = dp.Grid.uniform(0, 1, 11)
    finished = dp.TimeAbove(levels).finish(noisy, levels)
    assert (np.diff(finished) <= 0).all()
    assert 0 <= finished.min() <= finished.max() <= 1
    for truth in (np.linspace(1, 0, 11), np.full(11, 0.3), np.linspace(0.4, 0.1, 11) ** 2):  # a projection comes nearer
        assert levels.norm(finished - truth) <= levels.norm(noisy - truth) + 1e-12
        assert np.allclose(dp.TimeAbove(levels).finish(truth, levels), truth)


@pytest.mark.parametrize("level", ["140", None, np.nan, np.inf, True, [140], 1e61])
def test_levels_are_numbers(level):
    with pytest.raises(dp.errors.ParameterError, match=r"a level is a finite number.*Pass dp\.Above\(140\)"):
        dp.Above(level)


@pytest.mark.parametrize("levels", [12, "70", [70], [], [180, 70], [70, 70], [70, np.nan], [70, "140"], None])
def test_levels_are_several_in_order(levels):
    with pytest.raises(dp.errors.ParameterError, match=r"levels are .*Pass dp\.TimeAbove\(\[70, 140, 180\]\)"):
        dp.TimeAbove(levels)


def test_time_above_is_that_of_one_curve():
    grid = dp.spaces.ComponentGrid(("x", "y"), dp.Grid.uniform(0, 1, 4))
    with pytest.raises(dp.errors.ParameterError, match="one curve"):
        values_grid(dp.TimeAbove(LEVELS), grid)
    assert values_grid(dp.Above(1), grid) == grid


# -- functions of one's own -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Peak(RecordFunction):
    """Where the curve is largest."""

    most: float = 1.0
    bound = dp.Range(0, 1)
    description = "1 where it is largest"

    def encode(self, values, grid):
        return values == values.max()


@dataclass(frozen=True, eq=False)
class Short(Peak):
    def encode(self, values, grid):
        return values[:-1] > 0


@dataclass(frozen=True, eq=False)
class Broken(Peak):
    def encode(self, values, grid):
        raise ZeroDivisionError("by a sum of zero")


@dataclass(frozen=True, eq=False)
class Loud(Peak):
    def encode(self, values, grid):
        return values


@dataclass(frozen=True, eq=False)
class Unfinished(Peak):
    def finish(self, values, grid):
        return np.sqrt(values)


@dataclass(frozen=True, eq=False)
class Boundless(Peak):
    bound = (0, 1)


@dataclass(frozen=True, eq=False)
class Homeless(Peak):
    def grid_of(self, grid):
        return 4


@dataclass(frozen=True, eq=False)
class Wordy(Peak):
    description = "a\nb"


@dataclass(frozen=True, eq=False)
class Changing(Peak):
    many: object = None


@dataclass(frozen=True, eq=False)
class Hidden(Peak):
    """What neither keys nor digests would know."""

    power: float = field(default=1.0, compare=False)


class Range(Peak):
    """A name that the library has."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda values, grid: values, "of is a function of one record"),
        (140, "of is a function of one record.*got 140"),
        (Short(), r"Short must give 6 numbers.*ValueError: it gives 5 values"),
        (Broken(), r"Broken must give 6 numbers.*ZeroDivisionError: by a sum of zero"),
        (Loud(), "values of Loud lie between 0 and 1"),
        (Unfinished(), "finish of Unfinished must give 6 finite numbers"),
        (Boundless(), r"bound is dp\.Range"),
        (Homeless(), "grid_of gives a grid"),
        (Wordy(), "descriptions of functions are printable"),
        (Changing(many=[1, 2]), "a frozen dataclass of numbers"),
        (Hidden(power=2.0), "all of them compared"),
        (Range(), "a frozen dataclass of numbers.*with a name of its own"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_wrong_with_a_function_is_said_before_data(function, said):
    with pytest.raises(dp.errors.ParameterError, match=said):
        dp.MeanPlan(n=100, epsilon=1, grid=GRID, of=function)


def test_a_class_that_is_defined_again_takes_its_own_place():
    """As in a notebook, whose cells run twice."""

    def define():
        @dataclass(frozen=True, eq=False)
        class Again(Peak):
            pass

        return Again()

    for _ in range(2):
        function = define()
        plan = dp.MeanPlan(n=100, epsilon=1, grid=GRID, of=function)
        assert type(dp.MeanPlan.from_json(plan.to_json()).of) is type(function)


def test_a_function_that_fails_on_some_curves_is_taken():
    assert values_grid(Peak(), GRID) == GRID
    assert Peak(2.0) != Peak(1.0) == Peak(1.0)
    assert len({Peak(1.0), Peak(1.0), Peak(2.0)}) == 2
