"""The ground that tests in a browser stand on: what must be caught is caught, under the page's own strict policy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from browser.chromium import find_chromium
from browser.ground import axe, expect, sync_playwright
from browser.studios import Studio

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'"
HEAD = '<!doctype html><html lang="en"><head><title>Ground</title><link rel="stylesheet" href="/look.css"></head>'
GOOD = f"{HEAD}<body><main><h1>Ground</h1><p id=out>old</p></main>"
#: Address to kind, text, and whether the page has the strict policy.
FILES = {
    "/": ("text/html", GOOD, True),
    "/favicon.ico": ("image/x-icon", "", True),  # browsers ask for it
    "/look.css": ("text/css", "body { color: #111; background: #fff } .pale { color: #ddd }", True),
    "/script": ("text/html", GOOD + "<script src=/ours.js></script>", True),
    "/ours.js": ("text/javascript", "document.getElementById('out').textContent = 'new'", True),
    "/unnamed": ("text/html", f"{HEAD}<body><main><h1>Ground</h1><input type=text></main>", True),
    "/pale": ("text/html", GOOD + "<p class=pale>pale</p>", True),
    "/inline": ("text/html", GOOD + "<script>console.log('never')</script>", True),
    "/console": ("text/html", GOOD + "<script>console.log('a word')</script>", False),
    "/throws": ("text/html", GOOD + "<script>throw new Error('broken')</script>", False),
    "/asks": ("text/html", GOOD + "<script>alert('hello')</script>", False),
    "/outside": ("text/html", GOOD + "<script>fetch('http://192.0.2.1/x').catch(() => 0)</script>", False),
    "/socket": ("text/html", GOOD + "<script>new WebSocket('ws://elsewhere.example/')</script>", False),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, text, strict = FILES.get(self.path, ("text/html", GOOD, True))
        asked = self.path in FILES or self.path == "/favicon.ico"  # which a browser asks for by itself
        self.send_response(200 if asked else 409)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if strict:
            self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *parts: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_page_without_fault_passes_in_each_look(page_in_each_look, site):
    page_in_each_look.goto(f"{site}/script")
    expect(page_in_each_look.locator("#out")).to_have_text("new")
    axe(page_in_each_look)


def test_the_look_is_what_was_asked_for(new_page, site):
    for width, scheme in ((390, "dark"), (1280, "light")):
        page = new_page(width, scheme)
        page.goto(site)
        assert page.evaluate("innerWidth") == width
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")


def test_without_script_the_page_is_as_it_was_sent(new_page, site):
    page = new_page(script=False)
    page.goto(f"{site}/script")
    expect(page.locator("#out")).to_have_text("old")
    with pytest.raises(AssertionError, match="script is off"):
        axe(page)


@pytest.mark.parametrize(
    ("address", "told"),
    [("/unnamed", r"label \(critical\) at \['input'\]"), ("/pale", r"color-contrast \(serious\) at \['\.pale'\]")],
)
def test_axe_catches_a_field_without_a_name_and_pale_text(page, site, address, told):
    page.goto(site + address)
    with pytest.raises(AssertionError, match=rf"(?s)axe on {site}{address}.*{told}.*Fix any"):
        axe(page)


@pytest.mark.parametrize(
    ("address", "note"),
    [
        ("/console", "console log: a word"),
        ("/throws", "page error: .*broken"),
        ("/asks", "dialog alert: hello"),
        ("/outside", "request leaves: http://192.0.2.1/x"),
        ("/socket", "websocket leaves: ws://elsewhere.example/"),
        ("/inline", "console error: .*Content Security Policy"),
        ("/refused", "console error: .*409"),
    ],
)
def test_what_may_not_happen_is_caught(page, watch, site, address, note):
    page.goto(site + address)
    with pytest.raises(AssertionError, match=note):
        watch.check()


def test_a_second_tab_is_watched_too(page, watch, site):
    page.goto(site)
    watch.check()
    page.context.new_page().goto(f"{site}/console")
    with pytest.raises(AssertionError, match="a word"):
        watch.check()


def test_what_is_expected_must_come(page, watch, site):
    watch.expect_note("status of 409")
    page.goto(f"{site}/refused")
    watch.check()
    watch.expect_note("status of 409")
    page.goto(site)
    with pytest.raises(AssertionError, match="not seen"):
        watch.check()


def test_another_site_is_a_name_in_test_and_other_names_lead_nowhere(page, watch, site):
    other = site.replace("127.0.0.1", "other.test")
    page.goto(other)
    with pytest.raises(AssertionError, match=r"request leaves: http://other\.test"):
        watch.check()
    watch.allow("other.test")
    page.goto(other)
    expect(page.locator("h1")).to_have_text("Ground")
    watch.expect_note("request leaves: http://elsewhere.example")
    with pytest.raises(Exception, match="ERR_NAME_NOT_RESOLVED"):
        page.goto(site.replace("127.0.0.1", "elsewhere.example"))


def test_no_test_goes_round_the_policy():
    for path in Path(__file__).parent.glob("*.py"):
        assert not re.search(r"bypass_csp\s*=|\.wait_for_function\(", path.read_text()), path.name


# -- The fixtures, in a run of their own -----------------------------------------------------------

INNER = """
def test_loud(page):
    page.set_content("<p>")
    page.evaluate("console.log('loud')")

def test_quiet(page):
    page.set_content("<p>")
"""


def inner_run(tmp_path: Path, **variables: str) -> str:
    """What pytest says of two tests that use these fixtures, one of which writes to the console."""
    (tmp_path / "test_inner.py").write_text(INNER)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser\n")
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]), **variables}
    command = [sys.executable, "-m", "pytest", "-p", "browser.conftest", "-p", "no:cacheprovider", "-rsfE", "-q"]
    done = subprocess.run(
        [*command, tmp_path], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_test_that_writes_to_the_console_fails(browser, tmp_path):
    told = inner_run(tmp_path)
    assert "2 passed, 1 error" in told
    assert "console log: loud" in told


@pytest.mark.skipif(sync_playwright is None, reason="playwright is not installed, which is said first")
def test_without_chromium_tests_skip_and_say_why_or_fail_where_it_is_required(tmp_path):
    told = inner_run(tmp_path, DPFDA_CHROMIUM="not-there", DPFDA_REQUIRE_BROWSER="")
    assert "2 skipped" in told
    assert "run `make chromium`" in told
    told = inner_run(tmp_path, DPFDA_CHROMIUM="not-there", DPFDA_REQUIRE_BROWSER="1")
    assert "2 errors" in told
    assert "DPFDA_REQUIRE_BROWSER=1, but no Chromium" in told


def test_without_playwright_tests_are_collected_and_skip(tmp_path):
    (tmp_path / "playwright").mkdir()
    (tmp_path / "playwright" / "__init__.py").write_text("raise ImportError('not installed')")
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[1]), *sys.path])
    told = inner_run(tmp_path, PYTHONPATH=paths, DPFDA_REQUIRE_BROWSER="")
    assert "2 skipped" in told
    assert "playwright or axe-playwright-python is not installed" in told


def test_chromium_is_looked_for_in_the_variable_then_the_path_then_the_environment(tmp_path):
    for place in ("named", "path/chromium-browser", "prefix/chromium/chromium"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch(0o755)
    named, path, prefix = (
        {"DPFDA_CHROMIUM": str(tmp_path / "named")},
        {"PATH": str(tmp_path / "path")},
        tmp_path / "prefix",
    )
    assert find_chromium({**named, **path}, str(prefix)) == tmp_path / "named"
    assert find_chromium(path, str(prefix)) == tmp_path / "path" / "chromium-browser"
    assert find_chromium({}, str(prefix)) == prefix / "chromium" / "chromium"
    assert find_chromium({}, str(tmp_path)) is None
    assert find_chromium({**path, "DPFDA_CHROMIUM": "not-there"}, str(prefix)) is None


# -- A process that speaks as a studio does -----------------------------------------------------------

STAND_IN = """
import os, signal, sys, tempfile
from http.server import HTTPServer, BaseHTTPRequestHandler
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have turned it off
server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
print("Something else first.")
for token in ("one", "two"):
    print(f"dpfda studio: http://127.0.0.1:{server.server_port}/?token={token}   (works once, in one browser)")
print(tempfile.gettempdir(), os.environ["MORE"])
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(7)
"""


def test_a_studio_is_started_asked_and_stopped(tmp_path):
    studio = Studio([sys.executable, "-c", STAND_IN], tmp_path, {"MORE": "more"})
    assert studio.link == f"http://127.0.0.1:{studio.port}/?token=one"
    assert studio.origin == f"http://127.0.0.1:{studio.port}"
    assert studio.next_link(after=1) == f"{studio.origin}/?token=two"
    assert studio.stop() == 7
    assert f"{studio.temporary} more" in studio.output


def test_a_studio_that_cannot_start_says_what_it_printed(tmp_path):
    with pytest.raises(AssertionError, match=r"(?s)ended with code 3 .*no room"):
        Studio([sys.executable, "-c", "import sys; print('no room'); sys.exit(3)"], tmp_path)
