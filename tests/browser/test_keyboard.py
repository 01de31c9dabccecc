"""From the plan to the result with the keyboard alone, and without script."""

from __future__ import annotations

import re
from dataclasses import replace

import dpfda as dp
from browser import walks
from browser.ground import expect
from browser.walks import MEAN


def has_focus(one) -> bool:
    return bool(one.evaluate("each => each === document.activeElement"))


def tab_to(page, one, key: str = "Tab") -> None:
    """Tab until something has the focus; what has it can be seen."""
    for _ in range(120):
        page.keyboard.press(key)
        if has_focus(one):
            outline = one.evaluate("each => getComputedStyle(each).outlineStyle")
            assert outline != "none", "nobody sees where the focus is"
            return
    raise AssertionError(f"the keyboard does not reach {one}")


def write(page, one, text: str) -> None:
    tab_to(page, one)
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def press(page, one, key: str = "Tab", heading: bool = True) -> None:
    """Reach a link or a button, and press it: the heading of the next page has the focus."""
    tab_to(page, one, key)
    page.keyboard.press("Enter")
    if heading:
        walks.arrived(page)


def test_from_plan_to_result_by_keyboard_alone(page, studio, study):
    page.goto(studio.link)
    walks.arrived(page)
    screens = page.get_by_role("navigation", name="Screens")
    press(page, screens.get_by_role("link", name="Ledger"), "Shift+Tab")
    write(page, page.locator("#study"), walks.STUDY)
    write(page, page.locator("#epsilon"), "3")
    press(page, page.get_by_role("button", name="Make the ledger"))
    press(page, screens.get_by_role("link", name="Plan"), "Shift+Tab")

    write(page, page.locator("#record"), "home")
    tab_to(page, page.get_by_role("slider", name="epsilon"))
    page.keyboard.press("ArrowRight")
    expect(page.locator("#epsilon")).to_have_value("1.5")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#epsilon")).to_have_value("1")
    write(page, page.locator("#high"), "6")
    expect(page.locator("#carried")).to_have_value("what=mean&record=home&high=6")
    expect(page.locator("#result")).to_have_attribute("aria-busy", "false")
    press(page, page.get_by_role("link", name="Go on to the data"))

    first, homes = page.get_by_role("radio").first, page.get_by_role("radio", name="homes.csv")
    tab_to(page, first)
    page.keyboard.press("Space")
    for _ in range(30):
        if homes.is_checked():
            break
        page.keyboard.press("ArrowDown")
    expect(homes).to_be_checked()
    press(page, page.get_by_role("button", name="Show its columns"))
    write(page, page.locator("#output"), "typed")
    press(page, page.get_by_role("button", name="Go on"))

    write(page, page.locator("#study"), walks.STUDY)
    press(page, walks.button(page), heading=False)
    walks.wait_for_result(page)
    walks.arrived(page)
    press(page, page.locator("summary", has_text="Python and command"), heading=False)
    expect(page.get_by_text("dp.load('typed.json')")).to_be_visible()
    assert dp.load(study / "typed.json").plan.n == 1000


def test_another_kind_is_chosen_by_keys_without_a_page_for_each_arrow(page, studio):
    page.goto(studio.link)
    walks.arrived(page)
    what, before = page.locator("#what"), page.url
    tab_to(page, what)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = what.input_value()
    assert chosen != "mean"
    page.wait_for_timeout(300)
    assert page.url == before
    assert has_focus(what)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"what={chosen}"))
    expect(what).to_be_focused()
    expect(what).to_have_value(chosen)
    page.keyboard.press("Home")
    page.keyboard.press("Tab")  # on the way out it is asked for, too
    page.wait_for_url(re.compile("what=mean"))
    expect(what).to_be_focused()


def test_the_skip_link_is_first_and_leads_past_the_head(page, studio):
    page.goto(studio.link)
    walks.arrived(page)
    skip = page.get_by_role("link", name="Skip to the content")
    assert page.locator("a, button, input, select, textarea, summary, [tabindex='0']").first.evaluate(
        "(each) => each.classList.contains('skip')"
    )
    tab_to(page, skip, "Shift+Tab")
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_the_mean_without_script(new_page, studio, study):
    page = new_page(script=False)
    walks.enter(page, studio)
    walks.make_ledger(page)
    shown = walks.release(page, MEAN, "plain")
    walks.arrived(page)
    expect(page.locator("main svg[role=img]").first).to_be_visible()
    assert dp.load(study / "plain.json").plan.digest.startswith(shown)
    walks.go(page, "Ledger")
    expect(page.get_by_role("link", name="result here")).to_be_visible()


def test_every_question_can_be_reached_without_script(new_page, studio):
    page = new_page(script=False)
    walks.enter(page, studio)
    expect(page.get_by_role("slider")).to_have_count(0)
    page.locator("#protect").select_option("all")
    page.get_by_role("button", name="Update").click()
    walks.arrived(page)
    person = page.locator("#person")
    expect(person).to_be_visible()
    expect(person).to_have_attribute("aria-invalid", "true")
    person.fill("home")
    page.get_by_role("button", name="Update").click()
    walks.arrived(page)
    expect(page.locator("[aria-invalid]")).to_have_count(0)
    page.locator("#what").select_option("survival")
    page.get_by_role("button", name="Update").click()
    expect(page.locator("#horizon")).to_be_visible()
    walks.arrived(page, "#what")


def test_cancel_without_script(new_page, studio, study):
    head, _, rest = (study / "homes.csv").read_bytes().partition(b"\n")
    (study / "many.csv").write_bytes(head + b"\n" + rest * 300)
    page = new_page(script=False)
    walks.enter(page, studio)
    walks.make_ledger(page)
    walks.to_last_word(page, replace(MEAN, file="many.csv", facts={**MEAN.facts, "n": "300000"}), "never")
    walks.button(page).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_contain_text("Nothing was charged")
    assert not dp.Ledger(study / "study.ledger").history()
