"""Plans of percentile curves: public facts, what is refused, and accuracy before data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpfda as dp
from dpfda.problems.rank_design import RankDesign

GRID = dp.Grid.midpoints(0, 24, 24)
FACTS = {"n": 2000, "epsilon": 1.0, "range": (40, 400), "grid": GRID}


def test_facts_travel_as_json():
    for more in ({}, {"levels": (0.5,)}, {"unit": "who", "align": "linear"}, {"neighbors": "add-remove", "fill": 2}):
        plan = dp.PercentilePlan(**(FACTS | more), value="glucose (mg/dL)")
        again = dp.PercentilePlan.from_json(plan.to_json())
        assert again == plan
        assert again.digest == plan.digest
        assert again.value == plan.value
        assert again.chosen == plan.chosen
    assert dp.PercentilePlan(**(FACTS | {"range": dp.Range(40, 400)})) == dp.PercentilePlan(**FACTS)


def test_the_stages_of_a_file_decide():
    """A later version may choose others: what was reviewed is carried out."""
    plan = dp.PercentilePlan(**FACTS)
    other = RankDesign(("1/2", "1/2"), ((4, 2), (5, 3, 2)))
    plan.take_choice(dp.core.codec.to_plain(other))
    assert plan.chosen == other
    again = dp.PercentilePlan.from_json(plan.to_json())
    assert again.chosen == other
    assert [stage.epsilon for stage in again.schedule.stages(())] == [Fraction(1, 2)] * 2
    with pytest.raises(dp.errors.ParameterError, match="suit their plan"):
        plan.take_choice(dp.core.codec.to_plain(other.with_count(Fraction(1, 10))))
    tiny = Fraction(1, 10**20)  # noise that could not be drawn: known before anything is charged
    with pytest.raises(dp.errors.ParameterError, match="coarser than the lattice"):
        plan.take_choice(dp.core.codec.to_plain(RankDesign((1 - tiny,), ((4, 2),), pooled=tiny)))
    assert plan.chosen == other


@pytest.mark.parametrize(
    ("shares", "functions"),
    [(("1/2", "1/3"), ((4,), (5,))), (("1",), ((4,), (5,))), (("3/2", "-1/2"), ((4,), (5,))), (("1",), ((3, 4),))],
)
def test_stages_that_spend_another_budget_are_refused(shares, functions):
    with pytest.raises(dp.errors.ParameterError):
        RankDesign(shares, functions)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"range": None}, "need a public range"),
        ({"range": (400, 40)}, r"Pass range=\(40, 400\)"),
        ({"range": (40, 40)}, "to a larger one"),
        ({"range": (0, np.inf)}, "two finite numbers"),
        ({"range": 400}, "pair of numbers"),
        ({"range": ("a", "b")}, "two finite numbers"),
        ({"levels": ()}, "between 1 and 99 levels"),
        ({"levels": (0.0, 0.5)}, "strictly between 0 and 1"),
        ({"levels": (0.5, 1.0)}, "strictly between 0 and 1"),
        ({"levels": (5, 50, 95)}, "Pass 0.05 for 5 %"),
        ({"levels": (0.5, 0.5)}, "each given once"),
        ({"levels": (0.9, 0.1)}, "levels increase"),
        ({"levels": (np.nan,)}, "strictly between 0 and 1"),
        ({"levels": "0.5"}, "levels"),
        ({"levels": [["a"]]}, "shares between 0 and 1"),
        ({"grid": dp.Grid.product(GRID, GRID)}, "curves on a line"),
        ({"grid": dp.spaces.ComponentGrid(("x", "y"), GRID)}, "curves on a line"),
        ({"grid": 5000}, "up to 2,048 points"),
        ({"grid": [1, 2, 3]}, "grid must be"),
        ({"cells": 100}, "power of two"),
        ({"cells": 2**20}, "power of two"),
        ({"cells": 8}, "at least 64"),
        ({"n": 1}, "privacy needs company"),
        ({"epsilon": 0}, "epsilon"),
        ({"fill": 0}, "fill"),
        ({"unit": 3}, "a unit is a column"),
        ({"align": "cubic"}, "align is"),
        ({"invalid": "drop"}, "invalid"),
        ({"neighbors": "swap"}, "neighbors"),
    ],
)
def test_wrong_facts_are_refused_with_a_cure(wrong, match):
    with pytest.raises(dp.errors.ParameterError, match=match):
        dp.PercentilePlan(**(FACTS | wrong))


def test_one_level_is_fine_as_a_number_too():
    assert dp.PercentilePlan(**FACTS, levels=0.5).levels == (0.5,)


def test_more_records_or_budget_mean_smaller_errors():
    plans = [dp.PercentilePlan(**(FACTS | {"n": n})) for n in (50, 500, 5000, 50_000, 500_000)]
    errors = [plan.accuracy.typical_error for plan in plans]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 5 * errors[-1]
    noise = [plan.expected_error for plan in plans]
    assert all(a < b for a, b in zip(noise, [plan.expected_risk for plan in plans], strict=True))
    assert plans[0].verdict.word == "mostly noise"
    assert set(plans[0].verdict.needs) == {"epsilon", "n"}
    assert plans[-1].verdict.word == "clear"
    plan, target = plans[2], plans[2].expected_risk / 3
    needed = plan.solve(target)
    assert dp.PercentilePlan(**(FACTS | {"n": 5000, "epsilon": needed})).expected_risk <= target * 1.001
    assert plan.accuracy.pointwise_sd().shape == (5, 24)
    assert plan.accuracy.pointwise_sd([3.0]).shape == (5, 1)


def test_errors_scale_with_the_range():
    small, large = (dp.PercentilePlan(**(FACTS | {"range": (0, high)})) for high in (1.0, 1000.0))
    assert large.accuracy.typical_error == pytest.approx(1000 * small.accuracy.typical_error)


def test_the_count_pays_for_itself():
    plan = dp.PercentilePlan(**FACTS, neighbors="add-remove")
    assert 0 < plan.design.count < Fraction(1, 4)
    assert sum(stage.epsilon for stage in plan.schedule.stages(())) == plan.epsilon
    assert "noisy count" in plan.explain()
    assert plan.stage.problem.needs_count


def test_groups_share_their_range_and_grid():
    plans = [dp.PercentilePlan(**(FACTS | more)) for more in ({"n": 500}, {"n": 800})]
    assert dp.plans.GroupPlan(("a", "b"), plans).epsilon == 1
    with pytest.raises(dp.errors.ParameterError, match="share what their plans make of a record"):
        dp.plans.GroupPlan(("a", "b"), (plans[0], dp.PercentilePlan(**(FACTS | {"range": (0, 400)}))))


def test_rules_of_reading_are_part_of_a_summary():
    rules = ({}, {"fill": 2}, {"fill": 3}, {"align": "linear"}, {"unit": "who"}, {"invalid": "center"}, {"cells": 512})
    assert len({dp.PercentilePlan(**FACTS, **more).problem.key for more in rules}) == len(rules)


def test_opendp_takes_it(rng):
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib", "honest-but-curious")
    facts = FACTS | {"n": 30, "epsilon": "1/2"}
    measured = dp.PercentilePlan(**facts, invalid="center").to_opendp()
    assert measured.map(1) == 0.5
    assert measured(rng.normal(150, 20, (30, 24))).values.shape == (5, 24)
    units = dp.PercentilePlan(**facts, invalid="center", unit="who").to_opendp()
    assert units([rng.normal(150, 20, (1 + i % 3, 24)) for i in range(30)]).values.shape == (5, 24)
