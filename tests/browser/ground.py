"""What all tests in a browser share: how it starts, what may not happen on any page, and the check by axe.

Tests import `expect` and `axe` from here, so that they are collected where playwright is not installed: there they
skip. Pages have a strict policy for scripts, which tests keep: `expect(locator)` waits, and neither
`wait_for_function` with a string nor `bypass_csp` is used.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

import pytest

try:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    Axe = expect = sync_playwright = None
if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request, WebError, WebSocket

__all__ = ["FLAGS", "LOOKS", "Axe", "Watch", "axe", "expect", "give_up", "sync_playwright"]

#: Widths and colours in which every screen is looked at.
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
#: Nothing but the page is asked for. Names that end in .test lead to this machine, so that a test can be another site;
#: all other names lead nowhere.
FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]


def give_up(reason: str) -> NoReturn:
    """Skip the test, or fail it where `DPFDA_REQUIRE_BROWSER=1` says that there is a browser."""
    if os.environ.get("DPFDA_REQUIRE_BROWSER") == "1":
        pytest.fail(f"DPFDA_REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


class Watch:
    """Notes what may not happen in a browser context: console messages, page errors, dialogs, requests that leave.

    `check` raises if anything was noted; fixtures call it when a test ends. A test that wants such a thing says so:
    `allow` another host, `expect_note` for one that must come.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.hosts = {"127.0.0.1"}
        self.noted: list[str] = []
        self.expected: list[str] = []
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("dialog", self._dialog)
        context.on("request", self._request)
        context.on("page", self._page)

    def allow(self, *hosts: str) -> None:
        """Requests to these hosts are no harm, as for a test that is another site under a name in .test."""
        self.hosts |= set(hosts)

    def expect_note(self, pattern: str) -> None:
        """Something that matches must be noted before `check`, such as the console's message on a refused request."""
        self.expected.append(pattern)

    def check(self) -> None:
        """Raise if anything was noted that was not expected, or the reverse; then begin anew."""
        if self.context.pages:
            self.context.pages[0].wait_for_timeout(50)  # messages of other processes may be on their way
        noted, expected = self.noted, self.expected
        self.noted, self.expected = [], []
        harm = [note for note in noted if not any(re.search(pattern, note) for pattern in expected)]
        assert not harm, "Not allowed on any page:\n" + "\n".join(harm)
        missed = [pattern for pattern in expected if not any(re.search(pattern, note) for note in noted)]
        assert not missed, f"Expected, and not seen: {missed}"

    def _console(self, message: ConsoleMessage) -> None:
        self.noted.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _error(self, error: WebError) -> None:
        self.noted.append(f"page error: {error.error}")

    def _dialog(self, dialog: Dialog) -> None:
        self.noted.append(f"dialog {dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        self._address("request", request.url)

    def _page(self, page: Page) -> None:
        page.on("websocket", self._websocket)
        page.on("crash", lambda _: self.noted.append("the page crashed"))

    def _websocket(self, websocket: WebSocket) -> None:
        self._address("websocket", websocket.url)

    def _address(self, kind: str, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("about", "blob", "data") and parts.hostname not in self.hosts:
            self.noted.append(f"{kind} leaves: {address}")


def axe(page: Page, **options: object) -> None:
    """Assert that axe finds nothing on a page; what it finds is told with its rule, its place and its cure.

    Options are those of axe itself, such as `preload=False`, where it looks for style sheets in a wrong place.
    """
    assert not page.evaluate("matchMedia('(scripting: none)').matches"), "axe would wait for ever where script is off"
    found = Axe().run(page, options=options or None).response["violations"]
    told = [
        f"{rule['id']} ({rule['impact']}) at {node['target']}: {node['html']}\n{node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]
    assert not told, f"axe on {page.url}:\n" + "\n".join(told)
