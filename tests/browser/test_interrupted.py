"""A release that is cancelled, killed or stopped by Ctrl-C: before the charge nothing is charged, after it nothing is
lost without a word."""

from __future__ import annotations

import re
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

import dpfda as dp
from browser import walks
from browser.ground import axe, expect
from browser.walks import MEAN, Person

#: Homes of a file whose reading takes a while, in thousands: one that takes seconds, one that takes about one.
LONG, SHORT = 300, 60


def write_many(study: Path, thousands: int) -> None:
    """The homes, many times over."""
    head, _, rest = (study / "homes.csv").read_bytes().partition(b"\n")
    (study / "many.csv").write_bytes(head + b"\n" + rest * thousands)


def walk_of(thousands: int):
    return replace(MEAN, file="many.csv", facts={**MEAN.facts, "n": f"{thousands}000"})


@pytest.fixture
def somebody(page, watch, studio, study) -> Person:
    walks.enter(page, studio)
    walks.make_ledger(page)
    return Person(page, watch, studio, study)


@pytest.fixture
def long_one(somebody: Person) -> Person:
    """Before a release that takes seconds before its charge, and seconds after it."""
    write_many(somebody.folder, LONG)
    walks.to_last_word(somebody.page, walk_of(LONG), "many")
    return somebody


@pytest.fixture
def short_one(somebody: Person) -> Person:
    """Before a release that takes a second or more after its charge."""
    write_many(somebody.folder, SHORT)
    walks.to_last_word(somebody.page, walk_of(SHORT), "many")
    return somebody


def wait_for_charge(person: Person) -> None:
    end = time.monotonic() + 60
    while not person.charges:
        assert time.monotonic() < end, "never charged"
        time.sleep(0.01)


def whole(person: Person) -> bool:
    """Whether the result is there and is the ledger's."""
    path = person.folder / "many.json"
    return path.exists() and not person.ledger.examine([dp.load(path)])[0].problem


def test_cancel_before_the_charge_charges_nothing(long_one):
    page = long_one.page
    walks.button(page).click()
    walks.arrived(page)
    job = page.url
    expect(page.get_by_role("status")).to_contain_text("Nothing is charged yet")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_contain_text("Nothing was charged")
    assert page.url == job
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    walks.sound(page)
    assert long_one.charges == 0
    assert not (long_one.folder / "many.json").exists()
    walks.go(page, "Ledger")
    expect(page.locator("header .study")).to_contain_text("0 of 10 spent")
    # The same ticket does not start it again; the file's name is free.
    page.goto(job)
    expect(page.get_by_role("status")).to_contain_text("Nothing was charged")
    page.get_by_role("link", name="Back to the data").click()
    walks.arrived(page)


def test_a_job_is_sound_while_it_runs(long_one):
    page = long_one.page
    walks.button(page).click()
    walks.arrived(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    axe(page)
    wait_for_charge(long_one)
    expect(page.get_by_role("status").filter(has_text="cannot be cancelled")).to_be_visible()
    walks.sound(page)
    page.goto("about:blank")
    long_one.studio.kill()


def test_cancel_after_the_charge_is_not_offered_and_does_nothing(long_one):
    page = long_one.page
    walks.button(page).click()
    page.wait_for_url(re.compile("/job/"))
    job = page.url
    wait_for_charge(long_one)
    # Looked at often: `expect` looks once a second in the end, and a fast machine has the result about then.
    while "cannot be cancelled" not in page.get_by_role("status").inner_text():
        page.wait_for_timeout(50)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    origin = walks.base(page).rpartition("/")[0]
    page.context.request.post(f"{job}/cancel", headers={"Origin": origin}, max_redirects=0)
    walks.wait_for_result(page)
    assert long_one.charges == 1
    assert whole(long_one)


def test_a_closed_page_does_not_stop_a_charged_release(short_one):
    page = short_one.page
    walks.button(page).click()
    page.wait_for_url(re.compile("/job/"))
    job = page.url
    wait_for_charge(short_one)
    other = page.context.new_page()
    page.close()
    other.goto(job)
    walks.wait_for_result(other)
    assert whole(short_one)


def test_killed_after_the_charge_the_ledger_says_so(short_one, start_studio):
    page = short_one.page
    walks.button(page).click()
    page.wait_for_url(re.compile("/job/"))
    wait_for_charge(short_one)
    short_one.studio.kill()  # it reads for a second after its charge
    page.goto("about:blank")
    short_one.watch.noted.clear()  # the page may have asked for the job's state meanwhile
    assert not (short_one.folder / "many.json").exists()
    again = start_studio(short_one.folder)
    walks.enter(page, again)
    walks.go(page, "Ledger")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="1", exact=True))
    expect(row).to_contain_text("charged, result not found here")
    walks.sound(page)
    assert short_one.charges == 1
    walks.release(page, replace(MEAN, facts={**MEAN.facts, "epsilon": "0.5"}), "after")  # life goes on
    assert short_one.charges == 2


def test_pages_say_when_the_studio_does_not_answer(short_one):
    page = short_one.page
    planner = page.context.new_page()
    planner.goto(page.url.replace("/release?", "/plan?"))
    walks.button(page).click()
    page.wait_for_url(re.compile("/job/"))
    short_one.studio.kill()
    expect(page.get_by_role("status")).to_contain_text("does not answer", timeout=20_000)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    planner.locator("#n").fill("2000")
    expect(planner.get_by_role("alert")).to_contain_text("does not answer")
    expect(planner.locator("#result svg[role=img]").first).to_be_visible()
    short_one.watch.noted.clear()  # what the console says of it


def test_ctrl_c_before_the_charge_charges_nothing_and_ends_promptly(long_one):
    page = long_one.page
    walks.button(page).click()
    expect(page.get_by_role("status")).to_contain_text("Nothing is charged yet")
    page.goto("about:blank")
    began = time.monotonic()
    assert long_one.studio.stop() in (0, 130)
    assert time.monotonic() - began < 10
    assert long_one.charges == 0
    assert not (long_one.folder / "many.json").exists()
    assert "The studio has ended" in long_one.studio.output


def test_ctrl_c_after_the_charge_finishes_the_release_and_says_so(short_one):
    page, studio = short_one.page, short_one.studio
    walks.button(page).click()
    page.wait_for_url(re.compile("/job/"))
    wait_for_charge(short_one)
    page.goto("about:blank")
    studio.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    studio.process.send_signal(signal.SIGINT)  # an impatient person
    studio.process.wait(60)
    assert whole(short_one)
    assert short_one.charges == 1
    assert "entry 1" in studio.output
    assert "many.json" in studio.output


def test_what_was_released_with_a_wrong_n_is_not_charged_and_says_why(somebody):
    page = somebody.page
    walks.to_last_word(page, replace(MEAN, facts={**MEAN.facts, "n": "900"}), "wrong")
    walks.button(page).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not released")
    expect(page.get_by_role("status")).to_contain_text("Nothing was charged")
    walks.sound(page)
    assert somebody.charges == 0
    assert "wrong.json" not in walks.files_of(somebody.folder)
