"""What the planning screen shows is made once for each set of facts, and pictures hold what they promise."""

from __future__ import annotations

import pytest

from dpfda.pages.charts import Chart, HeatMap
from dpfda.studio import views
from dpfda.studio.kinds import KINDS
from dpfda.studio.planner import REMEMBERED, Planner, can_vary, hypotheticals, make_plan, reach


@pytest.fixture
def planner():
    found = Planner()
    yield found
    found.stop()


def test_the_same_facts_are_planned_once(planner):
    first = planner.planned({"what": "mean", "n": "500"})
    assert planner.planned({"n": "500", "epsilon": "1"}) is first
    assert planner.planned({"n": "500", "other": "x"}) is first
    assert planner.planned({"n": "501"}) is not first


def test_wrong_facts_are_remembered_too_and_old_ones_forgotten(planner):
    first = planner.planned({"n": "wrong 0"})
    assert (first.wrong, first.plan) == ("n", None)
    for number in range(1, REMEMBERED + 1):
        planner.planned({"n": f"wrong {number}"})
    assert planner.planned({"n": "wrong 0"}) is not first


def test_steps_of_the_slider_are_made_ahead(planner):
    planner.plan_ahead({"what": "mean"})
    planner._ahead.shutdown(wait=True)
    known = {key[1] for key in planner._found}
    for name, text in (("epsilon", "1.5"), ("epsilon", "0.7"), ("n", "2000"), ("n", "500")):
        _, facts, _, _ = make_plan({"what": "mean", name: text})
        assert tuple(facts.values()) in known, (name, text)


def test_another_seed_draws_other_lines_of_the_same_plan(planner):
    one, other = planner.planned({"seed": "0"}), planner.planned({"seed": "1"})
    assert one.plan.digest == other.plan.digest
    assert one.pictures[0].svg() != other.pictures[0].svg()
    assert planner.planned({"seed": "one"}).pictures[0].svg() == one.pictures[0].svg()


@pytest.mark.parametrize("said", [{"n": "200"}, {"what": "regression"}, {"what": "classes", "n": "400"}])
def test_whoever_draws_again_reads_the_same_verdict(planner, said):
    one, other = planner.planned(said), planner.planned({**said, "seed": "5"})
    assert one.pictures[-1].svg() != other.pictures[-1].svg()
    assert (one.word, one.sentences, one.rows) == (other.word, other.sentences, other.rows)


def test_no_more_lines_are_drawn_than_can_be_told_apart(planner):
    for kind in ("mean", "regression", "density"):
        (picture, *_) = planner.planned({"what": kind}).pictures
        assert sum(line.look == "thin" for line in picture.lines) == KINDS[kind].drawn


def test_a_picture_has_the_guess_the_lines_and_the_band(planner):
    (picture,) = planner.planned({}).pictures
    assert isinstance(picture, Chart)
    assert sum(line.look == "thin" for line in picture.lines) == 10
    assert sum(line.look == "guess" for line in picture.lines) == 1
    (band,) = picture.shades
    assert (band.upper > band.lower).all()
    assert picture.xlabel == "hour (h)"


def test_groups_are_small_pictures_with_their_names(planner):
    planned = planner.planned({"groups": "north=500\nsouth=300"})
    assert [picture.title for picture in planned.pictures] == ["north", "south"]
    assert all(picture.small for picture in planned.pictures)


def test_surfaces_are_maps(planner):
    planned = planner.planned({"what": "covariance", "points": "12"})
    assert len(planned.pictures) == 1 + views.SURFACES
    assert all(isinstance(picture, HeatMap) for picture in planned.pictures)


def test_more_people_and_more_epsilon_are_a_better_verdict(planner):
    words = [planner.planned({"n": n, "epsilon": e}).word for n, e in (("50", "0.05"), ("1000000", "8"))]
    assert words == ["mostly noise", "clear"]
    poor = planner.planned({"n": "50", "epsilon": "0.05"})
    assert poor.head[0] == "poor"


def test_percentiles_have_a_band_for_each_level(planner):
    planned = planner.planned({"what": "percentiles"})
    (picture,) = planned.pictures
    assert len(picture.shades) == 5
    assert any("for the percentiles of the population" in name for name, _ in planned.rows)
    assert planner.planned({"what": "percentiles", "n": "300", "epsilon": "0.3"}).wide


def test_a_band_that_hides_the_shape_is_not_called_clear(planner):
    planned = planner.planned({"what": "density"})
    assert planned.word == "clear"
    assert planned.wide
    assert planned.head[0] == "fair"
    assert "band will not show the shape" in planned.head[1]


def test_a_wish_finds_what_is_enough():
    found, width = reach({"what": "mean"}, 0.05, "epsilon")
    assert float(found) > 1
    assert width <= 0.05
    none, narrowest = reach({"what": "mean"}, 1e-9, "epsilon")
    assert none == ""
    assert narrowest > 1e-9
    assert reach({"what": "mean"}, 1e9, "n")[0] == "50"


def test_a_wish_is_granted_between_the_steps_of_the_scale():
    steps = next(each for part in KINDS["survival"].fieldsets for each in part.fields if each.name == "n").steps
    found, width = reach({"what": "survival"}, 0.05, "n")
    assert width <= 0.05
    assert found not in steps
    assert float(found) > 0


@pytest.mark.parametrize(
    ("said", "ways"),
    [({}, ("epsilon", "n")), ({"groups": "a=500\nb=400"}, ("epsilon",)), ({"what": "density", "axis2": "y"}, ()),
     ({"what": "percentiles"}, ()), ({"what": "radius"}, ()), ({"n": "wrong"}, ())],
)  # fmt: skip
def test_a_wish_is_offered_where_it_can_be_granted(planner, said, ways):
    assert can_vary(planner.planned(said)) == ways


def test_a_wish_holds_at_every_point_of_the_band():
    said = {"what": "survival", "n": "500"}
    found, width = reach(said, 0.1, "epsilon")
    kind, facts, _, plan = make_plan({**said, "epsilon": found})
    (each,) = hypotheticals(kind, facts, plan, 2, 0).values()
    half = (each.band().upper - each.band().lower) / 2
    assert half.mean() < half.max() <= 0.1
    assert half.max() == pytest.approx(width)
