"""Release once: whatever people do with the pages of one ticket, it is charged once."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest

from browser import walks
from browser.ground import expect
from browser.walks import MEAN, Person

#: Plans that were not released before in this module.
epsilons = (f"0.{number}" for number in itertools.count(101))


@pytest.fixture
def walk():
    """A mean with a plan of its own."""
    # Large homes are expected, or so little epsilon would be mostly noise, which needs a tick of its own.
    return replace(MEAN, facts={**MEAN.facts, "epsilon": next(epsilons), "least": "0.6", "most": "3"})


@pytest.fixture
def ready(person: Person, walk, request: pytest.FixtureRequest) -> Person:
    """Before the button that releases, with all that it asks for."""
    person.before = person.charges
    person.output = re.sub(r"\W", "", request.node.name)[:60]
    walks.to_last_word(person.page, walk, person.output)
    yield person
    person.watch.check()
    for tab in person.page.context.pages[1:]:
        tab.close()


def charged(person: Person) -> int:
    return person.charges - person.before


def ticket_of(page) -> str:
    return page.locator("input[name=ticket]").input_value()


def post(page, **form: str):
    """Send a form as a page of the studio would, without following where it leads."""
    origin = walks.base(page).rpartition("/")[0]
    return page.context.request.post(
        f"{walks.base(page)}/release", form=form, headers={"Origin": origin}, max_redirects=0
    )


def test_a_double_click_is_one_release(ready):
    walks.button(ready.page).dblclick()
    walks.wait_for_result(ready.page)
    assert charged(ready) == 1


def test_a_form_that_is_sent_five_times_at_once_is_one_release(ready):
    ready.page.locator("form[method=post]").evaluate("each => { for (let i = 0; i < 5; i++) each.requestSubmit(); }")
    walks.wait_for_result(ready.page)
    assert charged(ready) == 1


def test_a_page_that_is_loaded_again_and_again_is_one_release(ready):
    page, ticket = ready.page, ticket_of(ready.page)
    walks.button(page).click()
    page.wait_for_url(re.compile("/(job|results)/"))
    for _ in range(3):
        page.reload()
    walks.wait_for_result(page)
    answers = [post(page, ticket=ticket, study=walks.STUDY) for _ in range(3)]
    assert [answer.status for answer in answers] == [303] * 3
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert charged(ready) == 1


def test_back_and_again_is_one_release(ready):
    page = ready.page
    walks.button(page).click()
    walks.wait_for_result(page)
    ready.watch.expect_note("422")  # the page is made anew, and says that the result is there already
    while "/release?" not in page.url:
        page.go_back()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if walks.button(page).is_visible():  # as the browser kept it
        walks.say_it(page)
        walks.button(page).click()
        walks.wait_for_result(page)
    assert charged(ready) == 1


def test_back_while_it_runs_and_again_is_one_release(ready):
    page = ready.page
    walks.button(page).click()
    page.wait_for_url(re.compile("/(job|results)/"))
    page.go_back()
    page.wait_for_load_state()
    ready.watch.noted.clear()  # it may say already that the result is there
    if walks.button(page).is_visible():
        walks.arrived(page)
        walks.say_it(page)
        walks.button(page).click()
        expect(page.get_by_text("Nothing was charged").or_(page.locator("h2", has_text="Statement"))).to_be_visible()
    ready.watch.noted.clear()
    expect_done(ready)
    assert charged(ready) == 1


def expect_done(person: Person) -> None:
    """The result of the only release of a test is there, in the list of results."""
    link = person.page.get_by_role("link", name=f"{person.output}.json")
    for _ in range(60):
        walks.go(person.page, "Results")
        if link.count():
            return
        person.page.wait_for_timeout(200)
    raise AssertionError("there is no result")


def test_two_tabs_with_one_ticket_are_one_release(ready):
    first, second = ready.page, ready.page.context.new_page()
    second.goto(first.url)
    walks.arrived(second)
    walks.say_it(second)
    second.locator("input[name=ticket]").evaluate("(each, value) => { each.value = value }", ticket_of(first))
    walks.button(first).click(no_wait_after=True)
    walks.button(second).click()
    walks.wait_for_result(first)
    walks.wait_for_result(second)
    assert first.url == second.url
    assert charged(ready) == 1


def test_two_tickets_for_one_file_are_one_release(ready):
    first, second = ready.page, ready.page.context.new_page()
    second.goto(first.url)
    walks.arrived(second)
    walks.say_it(second)
    walks.button(first).click()
    walks.wait_for_result(first)
    ready.watch.expect_note("422")
    walks.button(second).click()
    expect(second.get_by_role("alert")).to_be_visible()
    walks.arrived(second)
    walks.say_it(second)
    walks.button(second).click()
    expect(second.get_by_role("status")).to_contain_text("Nothing was charged")
    assert charged(ready) == 1


def test_two_tickets_are_two_releases_and_the_second_needs_its_tick(ready, walk):
    first, second = ready.page, ready.page.context.new_page()
    second.goto(f"{walks.base(first)}/plan")
    walks.to_last_word(second, walk, f"{ready.output}2")
    expect(second.get_by_role("checkbox", name="once more")).to_have_count(0)
    walks.button(first).click()
    walks.wait_for_result(first)
    ready.watch.expect_note("422")
    walks.button(second).click()
    expect(second.get_by_role("alert")).to_contain_text("Nothing was charged")
    walks.arrived(second)
    assert charged(ready) == 1
    entry = ready.ledger.history()[-1].number
    expect(second.get_by_text(f"entry {entry} on")).to_be_visible()
    second.locator("#study").fill(walks.STUDY)
    walks.button(second).click()  # without the tick
    expect(second.get_by_role("alert")).to_contain_text("Nothing was charged")
    walks.arrived(second)
    second.get_by_role("checkbox", name="once more").check()
    second.locator("#study").fill(walks.STUDY)
    walks.button(second).click()
    walks.wait_for_result(second)
    assert charged(ready) == 2
    assert first.url != second.url


def test_another_study_s_name_charges_nothing_and_the_ticket_still_works(ready):
    page, ticket = ready.page, ticket_of(ready.page)
    ready.watch.expect_note("422")
    page.locator("#study").fill("another study")
    walks.button(page).click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was charged")
    walks.arrived(page)
    assert charged(ready) == 0
    assert ticket_of(page) == ticket
    expect(page.locator("#study")).to_have_value("")
    page.locator("#study").fill(walks.STUDY)
    walks.button(page).click()
    walks.wait_for_result(page)
    assert charged(ready) == 1


def test_a_ticket_that_nobody_made_does_nothing(ready):
    page = ready.page
    ready.watch.expect_note("409")
    page.locator("input[name=ticket]").evaluate("each => { each.value = '0'.repeat(32) }")
    walks.button(page).click()
    expect(page.locator("main")).to_contain_text("nothing was done now")
    walks.sound(page)
    assert charged(ready) == 0


def test_an_old_page_does_nothing_after_a_restart(new_page, study, start_studio, watches):
    page, studio = new_page(), start_studio(study)
    walks.enter(page, studio)
    walks.make_ledger(page)
    walks.to_last_word(page, MEAN, "old")
    studio.stop()
    again = start_studio(study, "--port", str(studio.port))
    watches[0].expect_note("403")
    walks.button(page).click()
    expect(page.locator("body")).to_contain_text(re.compile("nothing was done", re.IGNORECASE))
    person = Person(page, watches[0], again, study)
    assert person.charges == 0
    walks.enter(page, again)
    walks.release(page, MEAN, "new")
    assert person.charges == 1
