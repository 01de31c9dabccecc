"""The planning screen while it is used: sliders, addresses, tabs, wrong fields, wishes."""

from __future__ import annotations

import re

import pytest

from browser import walks
from browser.ground import expect
from browser.walks import Person


@pytest.fixture
def planner(person: Person):
    """The planning screen, as it is at first."""
    page = person.page
    page.goto(f"{walks.base(page)}/plan")
    walks.arrived(page)
    yield page
    for tab in page.context.pages[1:]:
        tab.close()
    person.watch.check()


def picture(page) -> str:
    return page.locator("#result svg").first.inner_html()


def settled(page, part: str) -> None:
    """The page shows what the address says, and the address says this."""
    expect(page).to_have_url(re.compile(re.escape(part)))
    expect(page.locator("#result")).to_have_attribute("aria-busy", "false")


def test_a_slider_changes_picture_numbers_and_address_without_a_new_page(planner):
    before, digest = picture(planner), walks.digest_shown(planner)
    planner.evaluate("window.same = true")
    slider = planner.get_by_role("slider", name="epsilon")
    slider.focus()
    planner.keyboard.press("ArrowLeft")
    settled(planner, "epsilon=0.7")
    expect(planner.locator("#epsilon")).to_have_value("0.7")
    expect(slider).to_have_attribute("aria-valuetext", "0.7")
    assert picture(planner) != before
    assert walks.digest_shown(planner) != digest
    assert planner.evaluate("window.same")
    slider.fill("12")  # the last step, as by a mouse
    settled(planner, "epsilon=8")


def test_a_field_moves_its_slider_and_the_picture(planner):
    before = picture(planner)
    planner.locator("#n").fill("50000")
    settled(planner, "n=50000")
    expect(planner.get_by_role("slider", name="How many")).to_have_value("9")
    assert picture(planner) != before


def test_what_the_address_says_is_what_is_shown_again(planner):
    planner.locator("#n").fill("5000")
    planner.locator("#value").fill("heat")
    settled(planner, "value=heat")
    expect(planner.locator("#result svg").first).to_contain_text("heat")
    shown, digest = picture(planner), walks.digest_shown(planner)
    planner.reload()
    walks.arrived(planner)
    expect(planner.locator("#n")).to_have_value("5000")
    assert (picture(planner), walks.digest_shown(planner)) == (shown, digest)


def test_back_leads_to_the_plan_as_it_was(planner):
    planner.locator("#n").fill("5000")
    settled(planner, "n=5000")
    planner.get_by_role("link", name="Go on to the data").click()
    walks.arrived(planner)
    planner.go_back()
    expect(planner.locator("#n")).to_have_value("5000")
    planner.locator("#what").select_option("density")
    expect(planner.locator("#n")).to_have_value("5000")
    expect(planner.locator("input[name=was]")).to_have_value("density")
    planner.go_back()
    expect(planner.locator("input[name=was]")).to_have_value("mean")
    expect(planner.locator("#what")).to_have_value("mean")


def test_two_tabs_are_two_plans(planner):
    other = planner.context.new_page()
    other.goto(planner.url)
    walks.arrived(other)
    planner.locator("#n").fill("2000")
    settled(planner, "n=2000")
    other.locator("#n").fill("300")
    settled(other, "n=300")
    first = walks.digest_shown(planner)
    planner.reload()
    expect(planner.locator("#n")).to_have_value("2000")
    assert walks.digest_shown(planner) == first != walks.digest_shown(other)


def test_another_kind_keeps_how_many_and_epsilon(planner):
    planner.locator("#n").fill("2500")
    planner.locator("#epsilon").fill("0.7")
    planner.locator("#high").fill("9")
    settled(planner, "high=9")
    for what in ("percentiles", "density", "survival", "regression", "classes", "radius", "mean"):
        planner.locator("#what").select_option(what)
        expect(planner.locator("input[name=was]")).to_have_value(what)
        walks.arrived(planner, "#what")
        expect(planner.locator("#n")).to_have_value("2500")
        expect(planner.locator("#epsilon")).to_have_value("0.7")
        expect(planner.locator("#result [role=alert]")).to_have_count(0)
    expect(planner.locator("#high")).to_have_value("2")  # what is special to a kind is not carried to another


WRONG = [
    ("mean", "n", "many"),
    ("mean", "epsilon", "0"),
    ("mean", "high", "-1"),
    ("mean", "points", "1"),
    ("mean", "groups", "north"),
    ("mean", "least", "low"),
    ("percentiles", "levels", "half"),
    ("survival", "horizon", "-5"),
    ("survival", "left", "2"),
    ("classes", "inputs", "age"),
    ("classes", "classes", "yes"),
    ("radius", "quantile", "95"),
]


@pytest.mark.parametrize(("what", "name", "text"), WRONG, ids=[f"{what}-{name}" for what, name, _ in WRONG])
def test_a_wrong_field_says_so_beside_it(planner, what, name, text):
    if what != "mean":
        planner.goto(f"{walks.base(planner)}/plan?what={what}")
        walks.arrived(planner)
    planner.locator(f"#{name}").fill(text)
    planner.get_by_role("button", name="Update").click()
    walks.arrived(planner)
    one = planner.locator("[aria-invalid]")
    expect(one).to_have_id(name)
    expect(one).to_have_value(text)
    expect(planner.locator(f"#{name}-error")).to_be_visible()
    expect(one).to_have_attribute("aria-describedby", re.compile(f"{name}-error"))
    expect(planner.get_by_role("link", name="Go on to the data")).to_have_count(0)


def test_a_wrong_field_says_so_while_it_is_typed_and_stops_when_it_is_right(planner):
    one = planner.locator("#high")
    one.fill("-1")
    expect(one).to_have_attribute("aria-invalid", "true")
    expect(planner.locator("#high-error")).to_be_visible()
    one.fill("5")
    expect(one).not_to_have_attribute("aria-invalid", "true")
    expect(planner.locator("#high-error")).to_have_count(0)
    expect(planner.locator("#result svg").first).to_be_visible()


def test_a_wrong_plan_is_sound_in_each_look(planner):
    planner.goto(f"{walks.base(planner)}/plan?what=mean&n=many")
    walks.sound(planner)


def test_a_wrong_plan_does_not_get_to_the_data(planner):
    planner.goto(f"{walks.base(planner)}/data?what=mean&n=many")
    expect(planner.get_by_role("alert")).to_be_visible()
    expect(planner.get_by_role("radio")).to_have_count(0)
    walks.sound(planner)


def test_draw_again_draws_other_lines_of_the_same_plan(planner):
    before, digest = picture(planner), walks.digest_shown(planner)
    planner.get_by_role("button", name="Draw again").click()
    walks.arrived(planner)
    assert picture(planner) != before
    assert walks.digest_shown(planner) == digest
    planner.goto(f"{walks.base(planner)}/plan")
    assert picture(planner) == before  # the same lines for the same plan, until others are asked for


@pytest.mark.parametrize("vary", ["epsilon", "n"])
def test_a_narrow_band_finds_what_it_takes(planner, vary):
    planner.locator("summary", has_text="band this narrow").click()
    planner.locator("#wish").fill("0.05")
    planner.locator("#vary").select_option(vary)
    planner.get_by_role("button", name="Find").click()
    walks.arrived(planner, "#found")
    expect(planner.get_by_text("on the band is at most")).to_be_in_viewport()
    planner.get_by_role("link", name="Use it").click()
    walks.arrived(planner)
    assert float(planner.locator(f"#{vary}").input_value()) > {"epsilon": 1, "n": 1000}[vary]
    told = planner.locator("#result table.facts").first.inner_text()
    half, most = re.search(r"± ([\d.]+).*?, ([\d.]+) at most", told).groups()
    assert float(half) <= float(most) <= 0.05


def test_a_wish_that_cannot_be_met_or_read_says_so(planner):
    for wish, words in (("0.00000001", "No epsilon"), ("narrow", "number above 0")):
        planner.goto(f"{walks.base(planner)}/plan?what=mean&wish={wish}&vary=epsilon")
        expect(planner.get_by_text(words)).to_be_visible()
        expect(planner.get_by_role("link", name="Use it")).to_have_count(0)


def test_questions_unfold_with_the_answers_they_depend_on(planner):
    expect(planner.locator("#person")).to_be_hidden()
    planner.locator("#protect").select_option("all")
    expect(planner.locator("#person")).to_be_visible()
    planner.locator("#protect").select_option("record")
    expect(planner.locator("#person")).to_be_hidden()


def test_a_public_curve_is_the_guess(planner):
    planner.locator("#shape").select_option("own")
    planner.locator("#curve").fill("0.1 0.2; 1.9, 0.3")
    settled(planner, "shape=own")
    expect(planner.locator("#result [role=alert]")).to_have_count(0)
    before = picture(planner)
    planner.locator("#curve").fill("1.5 0.2")
    settled(planner, "curve=1.5")
    assert picture(planner) != before
