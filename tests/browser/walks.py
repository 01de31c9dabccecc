"""A person who walks through the studio, and the walks: one for each kind of release, on the invented files.

Pages are asked by roles, labels and ids, so that their words and their looks may change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import dpfda as dp
from browser.ground import LOOKS, Watch, axe, expect
from browser.studios import LINK, Studio

if TYPE_CHECKING:
    from playwright.sync_api import Page

STUDY = "demo homes"
#: Milliseconds for a whole release, on a slow machine.
PATIENCE = 90_000


@dataclass(frozen=True)
class Walk:
    """One release: what the form of the plan is told, the file, how it is written and its columns."""

    name: str
    what: str
    file: str
    facts: Mapping[str, str] = field(default_factory=dict)
    #: How the file is written: values by the ids of the choices.
    written: Mapping[str, str] = field(default_factory=dict)
    #: Columns by the names of their choices, where what is suggested is not enough.
    columns: Mapping[str, str] = field(default_factory=dict)
    #: Another file, or another option, of a kind that is walked already.
    variant: bool = False


HOMES = {"record": "home", "high": "6"}
TWENTY = {"start": "0", "stop": "1", "points": "20", "where": "ends", "axis": "t", "axis_unit": ""}
INPUTS = "x1 -1:1\nx2 -1:1"
WALKS = (
    Walk("mean", "mean", "homes.csv", HOMES),
    Walk(
        "mean by groups",
        "mean",
        "homes.csv",
        {**HOMES, "epsilon": "2", "groups": "north=579\nsouth=421"},
        columns={"by": "region"},
    ),
    Walk("share above a level", "mean", "homes.csv", {**HOMES, "of": "above", "level": "0.8"}),
    Walk("share of time", "mean", "homes.csv", {**HOMES, "of": "time", "level": "0.5, 1, 1.5"}, variant=True),
    Walk("percentiles", "percentiles", "homes.csv", HOMES),
    Walk("covariance", "covariance", "homes.csv", {**HOMES, "epsilon": "4"}),
    Walk("density", "density", "ages.csv", {"n": "3000"}, {"header": "yes"}),
    Walk(
        "density of two numbers",
        "density",
        "points.csv",
        {
            "n": "2000",
            "record": "place",
            "axis": "x",
            "axis_unit": "",
            "low": "-5",
            "high": "5",
            "axis2": "y",
            "low2": "-5",
            "high2": "5",
        },
    ),
    Walk(
        "survival by arm",
        "survival",
        "trial.csv",
        {"record": "patient", "horizon": "1095", "groups": "new=500\nold=500"},
        columns={"by": "arm"},
    ),
    Walk(
        "regression",
        "regression",
        "growth.csv",
        {
            "n": "400",
            "record": "child/children",
            "inputs": INPUTS,
            "value": "growth",
            "value_unit": "",
            "low": "-3",
            "high": "3",
            "epsilon": "4",
            **TWENTY,
        },
    ),
    Walk(
        "number from inputs",
        "model",
        "growth.csv",
        {
            "n": "400",
            "inputs": "x1 -1:1",
            "value": "growth",
            "value_unit": "",
            "low": "-3",
            "high": "3",
            "epsilon": "4",
        },
        columns={"target": "y10"},
    ),
    Walk("classes from inputs", "classes", "labels.csv", {"inputs": INPUTS, "classes": "no\nyes"}),
    Walk("radius", "radius", "homes.csv", {"record": "home"}),
    Walk(
        "all days of a home",
        "mean",
        "days.csv",
        {**HOMES, "n": "200", "protect": "all", "person": "home", "points": "24"},
    ),
    Walk("parquet", "mean", "homes.parquet", {**HOMES, "epsilon": "0.7"}, variant=True),
    Walk(
        "decimal commas",
        "mean",
        "homes_eu.csv",
        {**HOMES, "n": "300"},
        {"separator": "semicolon", "decimal": "comma"},
        variant=True,
    ),
    Walk("no header", "mean", "bare/curves.csv", {**HOMES, "n": "300", "epsilon": "2"}, {"header": "no"}, variant=True),
)
MEAN = WALKS[0]
KINDS = tuple(walk for walk in WALKS if not walk.variant)


@dataclass
class Person:
    """Somebody with a browser, before a studio that has a ledger."""

    page: Page
    watch: Watch
    studio: Studio
    folder: Path

    @property
    def ledger(self) -> dp.Ledger:
        return dp.Ledger(self.folder / "study.ledger")

    @property
    def charges(self) -> int:
        return len(self.ledger.history())


# -- steps ----------------------------------------------------------------------------------------


def enter(page: Page, studio: Studio) -> None:
    """Open the last link that the studio has printed: each works once."""
    page.goto(LINK.findall(studio.output)[-1])
    arrived(page)


def arrived(page: Page, on: str = "h1") -> None:
    """A new page is there: its heading has the focus, or what was asked for. Earlier a field would take it away, which
    no person is fast enough for."""
    expect(page.locator(on)).to_be_focused()


def base(page: Page) -> str:
    """The address that all screens of this studio begin with."""
    found = re.match(r"http://[^/]+/[^/]+", page.url)
    assert found, page.url
    return found[0]


def go(page: Page, screen: str) -> None:
    page.get_by_role("navigation", name="Screens").get_by_role("link", name=screen).click()
    expect(page.get_by_role("navigation", name="Screens").locator("[aria-current=page]")).to_contain_text(screen)
    arrived(page)


def make_ledger(page: Page, epsilon: str = "10", study: str = STUDY) -> None:
    go(page, "Ledger")
    page.locator("#study").fill(study)
    page.locator("#epsilon").fill(epsilon)
    page.get_by_role("button", name="Make the ledger").click()
    arrived(page)
    expect(page.get_by_role("link", name="Check it")).to_be_visible()


def plan(page: Page, walk: Walk) -> str:
    """Tell the form of the plan all that a walk says; what is shown of the plan's digest is returned."""
    go(page, "Plan")
    page.get_by_role("link", name="Start again").click()
    arrived(page)
    if page.locator("#what").input_value() != walk.what:
        page.locator("#what").select_option(walk.what)
        expect(page.locator("input[name=was]")).to_have_value(walk.what)
        arrived(page, "#what")
    for each in page.locator("#planner details:has(fieldset)").all():
        each.evaluate("each => { each.open = true }")
    for name, text in walk.facts.items():
        one = page.locator(f"#{name}")
        if one.evaluate("each => each.tagName") == "SELECT":
            one.select_option(text)
        else:
            one.fill(text)
    page.get_by_role("button", name="Update").click()
    arrived(page)
    wrong = page.locator("[aria-invalid], #result [role=alert]")
    assert wrong.count() == 0, page.locator("#result").inner_text()
    return digest_shown(page)


def digest_shown(page: Page) -> str:
    return (
        page.locator("table.facts tr")
        .filter(has=page.locator("th", has_text=re.compile("^Plan$")))
        .locator("td")
        .first.inner_text()
    )


def choose(page: Page, walk: Walk) -> None:
    """From the plan to the columns of the file."""
    page.get_by_role("link", name="Go on to the data").click()
    arrived(page)
    page.locator("label").filter(has=page.get_by_text(walk.file, exact=True)).get_by_role("radio").check()
    page.get_by_role("button", name="Show its columns").click()
    arrived(page)
    if walk.written:
        written = page.locator("details", has=page.locator("#header"))
        written.evaluate("each => { each.open = true }")
        for name, value in walk.written.items():
            page.locator(f"#{name}").select_option(value)
        page.get_by_role("button", name="Look again").click()
        arrived(page)
    for name, column in walk.columns.items():
        one = page.locator(f"select[name='{name}']")
        one.select_option(label=one.locator("option", has_text=re.compile(rf"^{re.escape(column)} \(")).inner_text())


def confirm(page: Page, output: str) -> None:
    """From the columns to the last word."""
    page.locator("#output").fill(output)
    page.get_by_role("button", name="Go on").click()
    arrived(page)
    expect(button(page)).to_be_visible()


def button(page: Page):  # type: ignore[no-untyped-def]
    """The button that releases."""
    return page.get_by_role("button", name=re.compile("^Charge .* and release"))


def say_it(page: Page) -> None:
    """The last word but the button: ticks that are asked for, and the name of the study."""
    for tick in page.get_by_role("checkbox").all():
        tick.check()
    page.locator("#study").fill(STUDY)


def to_last_word(page: Page, walk: Walk, output: str) -> str:
    """Plan, data, columns, up to the page that asks for the last word, and the name of the study typed there."""
    shown = plan(page, walk)
    choose(page, walk)
    confirm(page, output)
    say_it(page)
    return shown


def wait_for_result(page: Page) -> None:
    """Until the job's page has led to the result; a job that fails says why."""
    ended = re.compile("^(Not released|Charged and lost)$")
    over = page.locator("a[href$='/json']").or_(page.get_by_role("heading", level=1, name=ended))
    expect(over).to_be_visible(timeout=PATIENCE)
    assert re.search(r"/results/[0-9a-f]+$", page.url), page.locator("main").inner_text()


def release(page: Page, walk: Walk, output: str) -> str:
    """The whole walk; what the plan screen showed of the digest is returned."""
    shown = to_last_word(page, walk, output)
    button(page).click()
    wait_for_result(page)
    return shown


# -- looks ----------------------------------------------------------------------------------------


def fits(page: Page) -> None:
    """Nothing to scroll sideways for. A style sheet that is still on its way would let it look wider."""
    page.wait_for_load_state("load")
    size = page.viewport_size
    assert size, page.url
    wide = page.evaluate("document.scrollingElement.scrollWidth")
    assert wide <= size["width"], f"{page.url} is {wide} wide on a screen of {size['width']}"


def sound(page: Page) -> None:
    """Nothing for axe to find, and nothing to scroll sideways for, in each look."""
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        fits(page)
        axe(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")


def files_of(folder: Path) -> set[str]:
    """Names of all that lies in a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
