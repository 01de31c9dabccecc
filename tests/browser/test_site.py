"""The built site in a browser: pages of every kind, wide and narrow, light and dark, with the network watched.

`make docs` builds it. Where it has not been built the tests skip, or fail where `DPFDA_REQUIRE_BROWSER=1`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from browser.ground import axe, expect, give_up

BUILT = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = [
    "index.html",
    "tutorial/README.html",
    "how-to/README.html",
    "how-to/choose-epsilon.html",
    "gallery_out/index.html",
    "gallery_out/curves/plot_percentiles.html",
    "explanations/what-epsilon-means.html",
    "explanations/threat-model.html",
    "reference/README.html",
    "reference/api/index.html",
    "reference/api/dpfda.mean.html",
    "reference/api/dpfda.MeanPlan.html",
    "reference/commands.html",
    "reference/glossary.html",
    "derivations/bounded-records.html",
    "evidence/accuracy.html",
    "project/changes.html",
    "_modules/dpfda/api/means.html",
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *parts: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    if not (BUILT / "index.html").exists():
        give_up("the site is not built: run `make docs`")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=BUILT)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def _the_theme_tells_what_it_does(watches):
    """Its notes on the console, of which every page has one, are no errors."""
    yield
    for watch in watches:
        watch.expect_note(r"^console log: \[PST\]: ")


def test_pages_ask_for_nothing_outside_and_fit(site, page_in_each_look):
    page = page_in_each_look
    wide = []
    for name in PAGES:
        answer = page.goto(f"{site}/{name}")
        assert answer.ok, name
        expect(page.locator("h1").first).to_be_visible()
        page.wait_for_load_state("load")
        found = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]")
        wide += [(name, found)] if max(found[:2]) > found[2] else []
    assert wide == []


def test_the_colours_can_be_chosen_and_are_kept(site, page):
    page.goto(f"{site}/index.html")
    switch = page.locator(".theme-switch-button:visible").first
    seen = set()
    for name in ("light", "dark"):
        while page.locator("html").get_attribute("data-mode") != name:
            _choose(page, switch, name)
        seen.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.goto(f"{site}/reference/README.html")
        expect(page.locator("html")).to_have_attribute("data-theme", name)
        page.goto(f"{site}/index.html")
        switch = page.locator(".theme-switch-button:visible").first
    assert len(seen) == 2


def _choose(page, switch, name):
    """Themes have had a button that goes round, and one with a menu."""
    switch.click()
    item = page.locator(f"[data-mode-value={name}]:visible, .dropdown-menu [data-mode={name}]:visible")
    if item.count():
        item.first.click()


def test_a_name_is_found_by_searching(site, page):
    page.goto(f"{site}/search.html?q=confidence_band")
    expect(page.locator("#search-results li").first).to_be_visible()


@pytest.mark.parametrize("name", ["index.html", "reference/api/dpfda.mean.html", "how-to/choose-epsilon.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(site, new_page, name, scheme):
    page = new_page(1280, scheme)
    page.goto(f"{site}/{name}")
    axe(page, preload=False)  # it would look for imported style sheets beside the page
