"""Screens that no walk passes in rest: plans as they are at first, files, results, the ledger, problems. Each is sound:
nothing for axe to find, nothing to scroll sideways for, at both widths, light and dark."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

import dpfda as dp
from browser import walks
from browser.ground import expect
from browser.walks import MEAN, Person
from dpfda.studio.kinds import KINDS


@pytest.mark.parametrize("what", KINDS)
def test_the_first_plan_of_every_kind(person: Person, what):
    page = person.page
    page.goto(f"{walks.base(page)}/plan?what={what}")
    walks.arrived(page)
    expect(page.locator("#result [role=alert]")).to_have_count(0)
    for each in page.locator("details").all():
        each.evaluate("each => { each.open = true }")
    walks.sound(page)
    person.watch.check()


@pytest.mark.parametrize("screen", ["Data", "Release", "Results", "Ledger"])
def test_screens_of_a_study_without_releases(person: Person, screen):
    walks.go(person.page, screen)
    walks.sound(person.page)
    person.watch.check()


def test_the_ledger_and_the_results_after_releases(page_in_each_look, studio, study):
    """One studio in each look, as a person has it: also the release itself."""
    page = page_in_each_look
    walks.enter(page, studio)
    walks.make_ledger(page, "5")
    walks.release(page, MEAN, "one")
    walks.release(page, replace(MEAN, facts={**MEAN.facts, "epsilon": "0.5"}), "two")
    (study / "two.json").unlink()
    changed = study / "one.json"
    changed.write_text(changed.read_text() + "\n")
    walks.go(page, "Results")
    expect(page.get_by_role("link", name="one.json")).to_be_visible()
    walks.fits(page)
    walks.axe(page)
    walks.go(page, "Ledger")
    expect(page.get_by_role("row").filter(has_text="charged, result not found here")).to_have_count(1)
    expect(page.get_by_role("row").filter(has_text="result was changed")).to_have_count(1)
    page.get_by_role("link", name="Check it").click()
    expect(page.get_by_role("heading", name="What the check found")).to_be_visible()
    walks.fits(page)
    walks.axe(page)


def test_a_folder_without_a_ledger_and_without_data(new_page, start_studio, tmp_path, watches):
    (tmp_path / "empty").mkdir()
    page = new_page()
    walks.enter(page, start_studio(tmp_path / "empty"))
    for screen in ("Data", "Release", "Results", "Ledger"):
        walks.go(page, screen)
        walks.sound(page)
    page.goto(f"{walks.base(page)}/data?what=mean")
    expect(page.get_by_role("radio")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("no CSV, TSV or Parquet file")


def test_a_release_without_a_ledger_says_what_to_do_first(new_page, studio, watches):
    page = new_page()
    walks.enter(page, studio)
    walks.plan(page, MEAN)
    walks.choose(page, MEAN)
    watches[0].expect_note("422")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("main")).to_contain_text("no ledger yet")
    walks.sound(page)


def test_no_such_page_and_no_such_job_are_sound(person: Person):
    page = person.page
    for address in ("nowhere", "job/0123", "results/0123"):
        person.watch.expect_note("404")
        page.goto(f"{walks.base(page)}/{address}")
        walks.sound(page)
        person.watch.check()


def test_a_budget_that_is_spent_is_refused_before_the_last_word(person: Person):
    page = person.page
    rich = replace(MEAN, facts={**MEAN.facts, "epsilon": "101"})
    walks.plan(page, rich)
    walks.choose(page, rich)
    person.watch.expect_note("422")
    page.get_by_role("button", name="Go on").click()
    expect(walks.button(page)).to_have_count(0)
    walks.sound(page)
    person.watch.check()
    assert person.charges == 0


def test_a_file_of_which_it_is_unclear_whether_it_has_a_header_is_asked_about(person: Person):
    page = person.page
    ages = next(walk for walk in walks.WALKS if walk.name == "density")
    walks.plan(page, ages)
    first, rows = "Zwetschge", (person.folder / ages.file).read_text().split()[1:]
    (person.folder / "unclear.csv").write_text("\n".join([first, *rows]))
    walks.choose(page, replace(ages, file="unclear.csv", written={}))
    expect(page.locator("#output")).to_have_count(0)
    expect(page.locator("#header")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(first)
    walks.sound(page)
    person.watch.check()


def test_a_ledger_is_backed_up_once_for_each_page_and_given_as_csv(person: Person):
    page = person.page
    walks.go(page, "Ledger")
    before = set(person.folder.glob("*.backup"))
    page.get_by_role("button", name="Back it up").dblclick()
    walks.arrived(page)
    (backup,) = set(person.folder.glob("*.backup")) - before
    copy = shutil.copy(backup, person.folder.parent / "copy.ledger")
    assert dp.Ledger(copy).name == walks.STUDY
    link = page.get_by_role("link", name="CSV").get_attribute("href")
    table = page.context.request.get(walks.base(page).rpartition("/")[0] + link).text()
    assert table.startswith("number,time,")
