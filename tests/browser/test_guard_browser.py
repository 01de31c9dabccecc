"""The guard of the studio, seen from a browser: other names of the host, other ports, other windows, hostile names."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import pytest

from browser import invented
from browser.ground import Watch, expect
from browser.studios import Studio
from dpfda.ledger import Ledger

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Response

HOURLY = {"what": "mean", "n": "200", "points": "24", "low": "0", "high": "2"}
COOKIE = "dpfda"


class Stranger:
    """A server on another port of this host, which notes all that browsers send to it."""

    def __init__(self) -> None:
        noted: list[tuple[str, dict[str, str]]] = []
        pages: dict[str, tuple[dict[str, str], str]] = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                noted.append((f"{self.command} {self.path}", {k.lower(): v for k, v in self.headers.items()}))
                self.rfile.read(int(self.headers.get("content-length", 0)))
                headers, page = pages.get(
                    self.path, ({}, "<!doctype html><title>other</title><link rel=icon href=data:,>")
                )
                self.send_response(200)
                for name, value in {"content-type": "text/html", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(page.encode())

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.noted, self.pages = noted, pages
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def cookies(self) -> list[str]:
        """What cookies came, with any request."""
        return [headers["cookie"] for _, headers in self.noted if "cookie" in headers]


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    found = Stranger()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def loose(browser: Browser) -> Iterator[BrowserContext]:
    """A context that nobody watches: pages of attackers are noisy."""
    context = browser.new_context(service_workers="block")
    context.set_default_timeout(15_000)
    yield context
    context.close()


def enter(page: Page, studio: Studio) -> str:
    """Open the link; where the pages of the studio lie."""
    page.goto(studio.link)
    expect(page.locator("h1")).to_be_visible()
    return page.url.partition("/plan")[0]


FETCH = """async ([place, options]) => {
  try { const answer = await fetch(place, options); return [answer.type, answer.status, await answer.text()]; }
  catch (error) { return ["error", 0, error.name]; }
}"""


# -- the link ---------------------------------------------------------------------------------------


def test_the_link_leaves_no_token_behind(page: Page, studio: Studio) -> None:
    base = enter(page, studio)
    token = studio.link.partition("token=")[2]
    seen = page.evaluate(
        "() => [location.href, document.referrer, document.cookie, document.documentElement.outerHTML,"
        "       ...performance.getEntries().map((each) => each.name), String(history.length)]"
    )
    assert not [text for text in seen if token in text]
    assert page.evaluate("document.cookie") == ""
    page.goto(page.url.replace("/plan", "/ledger"))
    page.go_back()
    page.go_back()
    assert "token" not in page.url
    assert studio.output.count(token) == 1
    (cookie,) = page.context.cookies()
    assert cookie["name"] == COOKIE
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert len(cookie["path"].strip("/")) == 43  # 256 bits
    assert base.endswith(cookie["path"].rstrip("/"))


def test_another_browser_needs_the_fresh_link(
    new_page: Callable[..., Page], studio: Studio, loose: BrowserContext
) -> None:
    base = enter(new_page(), studio)
    other = loose.new_page()
    for place in (studio.link, f"{base}/plan", f"{base}/ledger", f"{studio.origin}/"):
        answer = other.goto(place)
        assert answer is not None
        assert answer.status == 403
    assert other.goto(studio.next_link(1)).status == 200
    expect(other.locator("h1")).to_be_visible()


# -- other names of the host ------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1.evil.test"])
def test_a_name_that_was_made_to_lead_here_is_refused(loose: BrowserContext, studio: Studio, host: str) -> None:
    page = loose.new_page()
    base = enter(page, studio).removeprefix(studio.origin)
    rebound = f"http://{host}:{studio.port}"
    for place in ("/", f"{base}/plan", f"{base}/static/studio.js", f"/?token={studio.next_link(1).partition('=')[2]}"):
        answer = page.goto(rebound + place)
        assert answer is not None
        assert answer.status == 421
    kind, status, _ = page.evaluate(
        FETCH, [f"{base}/ledger", {"credentials": "include"}]
    )  # its own origin, as it thinks
    assert (kind, status) == ("basic", 421)


# -- other ports and sites --------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.test"])
def test_another_port_gets_no_cookie_and_reads_nothing(
    loose: BrowserContext, studio: Studio, stranger: Stranger, host: str
) -> None:
    victim = loose.new_page()
    base = enter(victim, studio)
    page = loose.new_page()
    page.goto(f"http://{host}:{stranger.port}/")
    for place in ("/", "/plan", "/ledger", "/static/studio.js", "/?token=x", "/deep/er/plan"):
        page.goto(f"http://{host}:{stranger.port}{place}")
    # The worst case: the stranger knows where the pages lie.
    for mode in ("cors", "no-cors"):
        for place in (f"{base}/ledger", f"{base}/static/studio.js", f"{base}/plan/plan.json"):
            found = page.evaluate(FETCH, [place, {"credentials": "include", "mode": mode}])
            assert found[0] in ("error", "opaque")
            assert found[2] in ("", "TypeError")
    form = {"headers": {"content-type": "application/x-www-form-urlencoded"}, "body": "study=x&epsilon=9"}
    options = {"method": "POST", "credentials": "include", "mode": "no-cors", **form}
    sent = page.evaluate(FETCH, [f"{base}/ledger/create", options])
    assert sent[0] in ("error", "opaque")
    assert not [cookie for cookie in stranger.cookies() if COOKIE in cookie]
    assert len(stranger.noted) >= 6
    assert victim.goto(f"{base}/ledger").status == 200
    expect(victim.locator("#epsilon")).to_be_visible()  # no ledger was made


@pytest.mark.parametrize("host", ["127.0.0.1", "evil.test"])
@pytest.mark.parametrize("how", ["form", "frame form", "no origin"])
def test_forms_of_another_port_do_nothing(
    loose: BrowserContext, studio: Studio, stranger: Stranger, study: Path, host: str, how: str
) -> None:
    base = enter(loose.new_page(), studio)
    fields = '<input name="study" value="x"><input name="epsilon" value="9"><input name="ticket" value="0">'
    form = f'<form method="post" action="{base}/ledger/create">{fields}<button>go</button></form>'
    headers = {"referrer-policy": "no-referrer"} if how == "no origin" else {}
    if how == "frame form":
        submit = "<script>document.forms[0].submit()</script>"
        form = f"<iframe sandbox='allow-forms allow-scripts' srcdoc='{form}{submit}'></iframe>"
    stranger.pages["/form"] = (headers, f"<!doctype html><link rel=icon href=data:,>{form}")
    page = loose.new_page()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer) if answer.url.endswith("/create") else None)
    if how == "frame form":  # a browser may stop it by itself
        page.goto(f"http://{host}:{stranger.port}/form", wait_until="networkidle")
        assert {answer.status for answer in answers} <= {403}
    else:
        with page.expect_response(lambda answer: answer.url.endswith("/create")):
            page.goto(f"http://{host}:{stranger.port}/form")
            page.get_by_role("button").click()
        assert [answer.status for answer in answers] == [403]
    assert not list(study.glob("*.ledger"))


@pytest.mark.parametrize("host", ["127.0.0.1", "evil.test"])
def test_another_page_cannot_frame_load_or_hold_the_studio(
    loose: BrowserContext, studio: Studio, stranger: Stranger, host: str
) -> None:
    base = enter(loose.new_page(), studio)
    stranger.pages["/hold"] = ({}, (
        f"<!doctype html><link rel=icon href=data:,><iframe src='{base}/plan'></iframe><img src='{base}/ledger'>"
        f"<script src='{base}/static/studio.js' onload='window.ran=1' onerror='window.refused=1'></script>"
        f"<link rel=stylesheet href='{base}/static/style.css' onload='window.styled=1' onerror='window.plain=1'>"
    ))  # fmt: skip
    page = loose.new_page()
    page.goto(f"http://{host}:{stranger.port}/hold")
    assert page.evaluate("[window.ran, window.refused, window.styled, window.plain]") == [None, 1, None, 1]
    frame = page.frames[1]
    assert frame.url.startswith("chrome-error:")
    assert "dpfda" not in frame.content()
    with page.context.expect_page() as opened:
        page.evaluate("(place) => { window.held = window.open(place); }", f"{base}/plan")
    opened.value.wait_for_load_state()
    assert "private" in opened.value.content() or "did not come" in opened.value.content()
    held = (
        "() => { try { return window.held.closed || window.held.document.title } catch (error) { return error.name } }"
    )
    assert page.evaluate(held) in (True, "SecurityError")


def test_why_pages_of_the_studio_say_where_forms_come_from(loose: BrowserContext, stranger: Stranger) -> None:
    """With no-referrer a browser sends `Origin: null` with a page's own form; with same-origin it tells."""
    told = {}
    for policy in ("no-referrer", "same-origin"):
        stranger.pages["/own"] = (
            {"referrer-policy": policy},
            "<form method=post action=/own><button>go</button></form>",
        )
        page = loose.new_page()
        page.goto(f"http://127.0.0.1:{stranger.port}/own")
        with page.expect_navigation():
            page.get_by_role("button").click()
        told[policy] = [headers["origin"] for line, headers in stranger.noted if line == "POST /own"][-1]
    assert told == {"no-referrer": "null", "same-origin": f"http://127.0.0.1:{stranger.port}"}


def test_cookies_that_another_port_leaves_do_not_lock_out(
    loose: BrowserContext, studio: Studio, stranger: Stranger
) -> None:
    page = loose.new_page()
    base = enter(page, studio)
    stranger.pages["/toss"] = ({"set-cookie": f"{COOKIE}=evil; Path=/"}, "")
    other = loose.new_page()
    other.goto(f"http://127.0.0.1:{stranger.port}/toss")
    assert len(loose.cookies(f"{base}/plan")) == 2
    assert page.goto(f"{base}/ledger").status == 200


# -- hostile names and planted values ---------------------------------------------------------------


def test_hostile_names_on_every_screen(
    page: Page, watch: Watch, tmp_path: Path, start_studio: Callable[..., Studio]
) -> None:
    """The fixtures fail on a dialog, a console message or a request that leaves."""
    folder = tmp_path / "hostile"
    invented.write_hostile(folder, tmp_path / "outside")
    file = folder / "hostile_columns.csv"
    file.write_text(file.read_text().replace(invented.GROUPS[2], invented.GROUPS[0]))
    study = "</p><script>alert(7)</script>{{ 7*7 }}"
    Ledger.create(folder / "study.ledger", epsilon=9, study=study)
    studio = start_studio(folder)
    base = enter(page, studio)
    expect(page.locator("header")).to_contain_text(study)
    last = len(invented.COLUMN_NAMES)
    said = {
        "what": "mean", "n": "60", "points": "3", "low": "0", "high": "1", "known": "guess", "epsilon": "2",
        "groups": "\n".join(f"{name}=30" for name in invented.GROUPS[:2]), "record": "<b onclick=alert(9)>",
        "value": '"><img src=x onerror=alert(10)>', "axis": "<script>alert(11)</script>", "axis_unit": "</svg>",
    }  # fmt: skip
    page.goto(f"{base}/plan?{urlencode(said)}")
    page.get_by_role("button", name="Draw again").click()
    page.goto(f"{base}/data?{urlencode(said)}")
    expect(page.get_by_text(invented.MARKUP).first).to_be_visible()
    for value in [each.get_attribute("value") for each in page.locator("input[name=file]").all()]:
        page.goto(f"{base}/data?{urlencode({**said, 'file': value or ''})}")
        expect(page.locator("h1")).to_be_visible()
    page.goto(f"{base}/data?{urlencode(said)}")
    expect(page.locator("h1")).to_be_focused()
    page.get_by_label("hostile_columns.csv").check()
    page.get_by_role("button", name="Show its columns").click()
    if page.locator("#pick-by").count() == 0:
        page.locator("#header").select_option("yes")
        page.get_by_role("button", name="Look again").click()
    expect(page.locator("h1")).to_be_focused()
    page.locator("[name='values.first']").select_option(str(last - 2))
    page.locator("[name='values.last']").select_option(str(last))
    page.locator("[name=by]").select_option("0")
    page.locator("#output").fill("hostile")
    page.locator("#note").fill("=1+1<img src=x onerror=alert(8)>")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("h1")).to_be_focused()
    page.locator("input#study").fill(study)
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Charge").click()
    page.wait_for_url("**/results/*")
    expect(page.locator("h1")).to_be_visible()
    assert page.locator("img, main script, iframe, b").count() == 0
    for place in ("/results", "/ledger", "/ledger?check=yes", "/release"):
        page.goto(base + place)
        expect(page.locator("h1")).to_be_visible()
        assert page.locator("img, main script, iframe, b").count() == 0
    assert "hostile" not in urlsplit(page.url).query


def test_no_planted_value_in_responses_addresses_terminal_or_temporary_files(
    page: Page, tmp_path: Path, start_studio: Callable[..., Studio]
) -> None:
    folder = tmp_path / "planted"
    invented.write_planted(folder)
    Ledger.create(folder / "study.ledger", epsilon=9, study="planted study")
    studio = start_studio(folder)
    seen: list[str] = []

    def note(answer: Response) -> None:
        seen.append(f"{answer.url} {answer.headers}")
        if answer.status == 200:
            seen.append(answer.text())

    base = enter(page, studio)
    page.on("response", note)
    for known, output in (("public", "one"), ("guess", "two")):
        page.goto(f"{base}/data?{urlencode({**HOURLY, 'known': known})}")
        expect(page.locator("h1")).to_be_focused()
        page.get_by_label("planted.csv").check()
        page.get_by_role("button", name="Show its columns").click()
        expect(page.locator("h1")).to_be_focused()  # so that a page is whole before something is typed
        page.locator("#output").fill(output)
        page.get_by_role("button", name="Go on").click()
        expect(page.locator("h1")).to_be_focused()
        page.locator("input#study").fill("planted study")
        for box in page.get_by_role("checkbox").all():
            box.check()
        page.get_by_role("button", name="Charge").click()
        page.wait_for_url("**/results/*")
        seen.append(page.url)
    for place in ("/results", "/ledger", "/release"):
        page.goto(base + place)
    studio.stop()
    left = [path.read_bytes().decode("latin-1") for path in studio.temporary.rglob("*") if path.is_file()]
    left += [path.read_text("latin-1") for path in folder.iterdir() if path.suffix != ".csv"]
    assert len(seen) > 20
    found = [
        (text, place[:200]) for place in [*seen, *left, studio.output] for text in invented.PLANTED if text in place
    ]
    assert found == []
