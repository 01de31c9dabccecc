"""Who may speak to the studio: every threat of the page "studio", by requests as an attacker would write them."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import invented

from dpfda.studio import guard
from studio.visitors import HOURLY, Answer, Home, at_home

STRICT = {
    "content-security-policy": guard.POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
OTHERS = ("http://evil.test", "null", "", "http://127.0.0.1", "https://127.0.0.1:{port}", "http://localhost:{port}")
SECRETS = ("invented-study", "planted.csv", "dpfda studio", "spent")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One studio for tests that change nothing."""
    folder = tmp_path_factory.mktemp("guarded")
    invented.write_planted(folder)
    with at_home(folder) as found:
        found.make_ledger("invented-study")
        yield found


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Home]:
    """A studio for one test."""
    invented.write_planted(tmp_path / "data")
    with at_home(tmp_path / "data") as found:
        yield found


def assert_strict(answer: Answer) -> None:
    found = {name: answer.headers.get_all(name) for name in STRICT}
    assert found == {name: [value] for name, value in STRICT.items()}


def assert_silent(answer: Answer) -> None:
    """What a stranger gets is a short text that says nothing of what is inside."""
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert len(answer.body) < 120
    assert not [word for word in SECRETS if word in answer.all]
    assert answer.headers.get("set-cookie") is None
    assert_strict(answer)


# -- names of the host ------------------------------------------------------------------------------

REBOUND = (
    "evil.test", "evil.test:{port}", "127.0.0.1.evil.test:{port}", "127.0.0.1:{port}.evil.test", "127.0.0.1",
    "127.0.0.1:1", "LOCALHOST:{port}", "localhost.:{port}", "127.0.0.1.:{port}", "127.1:{port}", "0.0.0.0:{port}",
    "2130706433:{port}", "[::ffff:127.0.0.1]:{port}", "user@127.0.0.1:{port}", "127.0.0.1:{port}@evil.test",
    "127.0.0.1:{port},evil.test", "127.0.0.1:0{port}", "",
)  # fmt: skip


@pytest.mark.parametrize("name", REBOUND)
def test_another_name_of_the_host_is_refused_with_the_session_too(home: Home, name: str) -> None:
    answer = home.get("/plan", host=name.format(port=home.port))
    assert answer.status in (400, 421)
    if answer.status == 421:
        assert_silent(answer)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_own_names_of_the_host_are_let_through(home: Home, name: str) -> None:
    assert home.get("/ledger", host=f"{name}:{home.port}").status == 200


def test_no_host_and_two_hosts_are_refused(home: Home) -> None:
    line, cookie = f"GET {home.base}/ledger HTTP/1.", f"Cookie: {home.cookie}\r\n"
    ours, theirs = f"Host: 127.0.0.1:{home.port}\r\n", "Host: evil.test\r\n"
    for request in (
        f"{line}1\r\n{cookie}\r\n", f"{line}0\r\n{cookie}\r\n", f"{line}1\r\n{ours}{theirs}{cookie}\r\n",
        f"{line}1\r\n{theirs}{ours}{cookie}\r\n", f"{line}1\r\n{ours}{ours}{cookie}\r\n",
    ):  # fmt: skip
        found = home.raw(request.encode(), 1.0)
        assert found.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 421 ")), found
        assert b"invented-study" not in found


def test_an_address_with_a_host_of_its_own_leads_nowhere(home: Home) -> None:
    for host in ("evil.test", f"127.0.0.1:{home.port}"):
        request = f"GET http://{host}{home.base}/ledger HTTP/1.1\r\nHost: 127.0.0.1:{home.port}\r\n"
        found = home.raw(f"{request}Cookie: {home.cookie}\r\nConnection: close\r\n\r\n".encode())
        assert found.startswith(b"HTTP/1.1 403 ")


# -- other sites and ports --------------------------------------------------------------------------


@pytest.mark.parametrize("origin", OTHERS)
@pytest.mark.parametrize("place", ["/release", "/ledger/create", "/ledger/backup", "/job/x/cancel"])
def test_forms_of_other_pages_are_refused(home: Home, origin: str, place: str) -> None:
    answer = home.post(place, {"ticket": "x"}, origin=origin.format(port=home.port))
    assert answer.status == 403
    assert_silent(answer)


def test_a_form_that_does_not_say_where_it_comes_from_is_refused(home: Home) -> None:
    answer = home.ask(f"{home.base}/ledger/create", "POST", b"", origin=None, Referer=f"{home.origin}/")
    assert answer.status == 403
    assert_silent(answer)


def test_two_origins_are_refused_where_one_is_not_ours(home: Home) -> None:
    request = (
        f"POST {home.base}/ledger/backup HTTP/1.1\r\nHost: 127.0.0.1:{home.port}\r\nCookie: {home.cookie}\r\n"
        f"Origin: {home.origin}\r\nOrigin: http://evil.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    assert home.raw(request.encode()).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "SAME-ORIGIN", "same-origin, cross-site", ""])
def test_requests_that_a_browser_says_are_of_other_sites_are_refused(home: Home, site: str) -> None:
    for answer in (
        home.get("/plan", Sec_Fetch_Site=site),
        home.get("/static/studio.js", Sec_Fetch_Site=site),
        home.post("/ledger/backup", {"ticket": "x"}, Sec_Fetch_Site=site),
        home.ask(f"/?token={'x' * 43}", Sec_Fetch_Site=site),
    ):
        assert answer.status == 403
        assert_silent(answer)
    assert home.studio.keys.wrong == 0  # another site cannot stop the studio by wrong links


def test_the_page_that_opens_the_browser_leads_inside_by_a_step_of_our_own(fresh: Home) -> None:
    """A file is another site: the right link is let in, and the cookie comes along on the next step."""
    answer = fresh.ask(f"/?token={fresh.studio.keys.token}", cookie=None, Sec_Fetch_Site="cross-site")
    assert answer.status == 200
    assert answer.headers["refresh"] == f"0; url={fresh.studio.keys.path}/plan"
    assert "SameSite=strict" in answer.headers["set-cookie"]


def test_an_origin_of_another_name_of_ours_is_not_ours(home: Home) -> None:
    answer = home.post("/ledger/backup", {"ticket": "x"}, host=f"localhost:{home.port}")
    assert answer.status == 403  # from 127.0.0.1 to localhost: another site


# -- the cookie -------------------------------------------------------------------------------------


def test_the_cookie_belongs_to_a_random_path_and_is_hidden_from_scripts_and_sites(fresh: Home) -> None:
    answer = fresh.ask(f"/?token={fresh.studio.keys.token}", cookie=None)
    parts = [part.strip() for part in answer.headers["set-cookie"].split(";")]
    assert answer.status == 303
    assert answer.location == f"{fresh.base}/plan"
    assert parts[0] == fresh.cookie
    assert {part.lower() for part in parts[1:]} == {"httponly", f"path={fresh.base.lower()}/", "samesite=strict"}
    assert len(fresh.base) > 40  # 256 bits
    assert len(fresh.studio.keys.session) > 40
    assert fresh.base.strip("/") not in fresh.studio.keys.session
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert_strict(answer)


@pytest.mark.parametrize("place", ["/", "/plan", "/static/studio.js", "/ledger/ledger.csv", "/nothing"])
@pytest.mark.parametrize("cookie", [None, "dpfda=", "dpfda=guess", "other={session}", "dpfda={session}x", "a,b=1", '"'])
def test_whoever_knows_the_path_and_has_no_session_sees_nothing(home: Home, place: str, cookie: str | None) -> None:
    answer = home.get(place, cookie=cookie and cookie.format(session=home.studio.keys.session))
    assert answer.status == 403
    assert_silent(answer)


@pytest.mark.parametrize(
    "cookies",
    ["a,b=1; {ours}", "bad name=1; {ours}", "{ours}; dpfda=evil", "dpfda=evil; {ours}", '{ours}; x="', "=; {ours}"],
)
def test_cookies_that_other_ports_leave_do_not_lock_out(home: Home, cookies: str) -> None:
    assert home.get("/ledger", cookie=cookies.format(ours=home.cookie)).status == 200


def test_the_session_of_an_earlier_run_is_nothing(tmp_path: Path) -> None:
    with at_home(tmp_path) as first:
        base, cookie, token = first.base, first.cookie, first.studio.keys.token
    with at_home(tmp_path) as second:
        for answer in (
            second.ask(f"{base}/plan", cookie=cookie),
            second.get("/plan", cookie=cookie),
            second.ask(f"/?token={token}", cookie=cookie),
        ):
            assert answer.status == 403
            assert_silent(answer)


# -- the token --------------------------------------------------------------------------------------


def test_a_link_works_once_and_the_next_is_for_another_browser(fresh: Home) -> None:
    first = fresh.studio.keys.token
    assert len(first) > 40  # 256 bits
    assert first in fresh.said[0]
    assert fresh.ask(f"/?token={first}", cookie=None).status == 303
    again = fresh.ask(f"/?token={first}", cookie=None)
    assert again.status == 403
    assert_silent(again)
    second = fresh.studio.keys.token
    assert second != first
    assert second in fresh.said[-1]
    assert fresh.ask(f"/?token={second}", cookie=None).status == 303


@pytest.mark.parametrize("place", ["/?token={0}x", "/?token={1}", "/?token={0}&x=1", "/?Token={0}", "//?token={0}",
                                   "/plan?token={0}", "/?x=1&token={0}", "/?token=", "/?token=%FF"])  # fmt: skip
def test_what_is_nearly_the_link_is_not_the_link(fresh: Home, place: str) -> None:
    token = fresh.studio.keys.token
    answer = fresh.ask(place.format(token, token[:-1]), cookie=None)
    assert answer.status == 403
    assert_silent(answer)
    assert fresh.studio.keys.token == token  # and it still works
    assert fresh.ask(f"/?token={token}", cookie=None).status == 303


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_a_link_is_opened_and_nothing_else(fresh: Home, method: str) -> None:
    token = fresh.studio.keys.token
    assert fresh.ask(f"/?token={token}", method, cookie=None).status == 403
    assert fresh.studio.keys.token == token


def test_twenty_wrong_links_stop_the_studio(tmp_path: Path) -> None:
    with at_home(tmp_path) as home:
        for count in range(guard.MOST_WRONG):
            assert not home.server.should_exit
            assert home.ask(f"/?token=wrong-{count}", cookie=None).status == 403
        assert home.server.should_exit
        assert f"{guard.MOST_WRONG} wrong links" in home.said[-1]
        assert not home.studio.keys.used(home.studio.keys.token)  # the right one comes too late
    assert "has ended" in home.said[-1]


def test_secrets_are_compared_in_constant_time_only() -> None:
    """No secret of `Keys` stands beside == or in anything but compare_digest and addresses."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(guard.Keys)))
    compared = [ast.unparse(each) for each in ast.walk(tree) if isinstance(each, ast.Compare)]
    assert not [text for text in compared if re.search(r"token|session", text)]
    assert inspect.getsource(guard.Keys).count("compare_digest(") == 3


def test_tokens_are_not_told_again(fresh: Home) -> None:
    token = fresh.studio.keys.token
    fresh.ask(f"/?token={token}", cookie=None)
    for place in ("/", "/plan", "/data", "/release", "/results", "/ledger", "/nothing"):
        answer = fresh.get(place)
        assert token not in answer.all
        assert fresh.studio.keys.token not in answer.all
        assert fresh.studio.keys.session not in answer.all
    assert [token in line for line in fresh.said].count(True) == 1


# -- headers on every answer ------------------------------------------------------------------------


def test_every_answer_has_the_headers_of_safety(home: Home) -> None:
    part = {**HOURLY, "file": home.id_of("planted.csv")}
    answers = {
        "screen": (home.get("/plan"), 200), "home": (home.get("/"), 303), "part": (home.get("/plan/part"), 200),
        "data": (home.get("/data", part), 200), "empty release": (home.get("/release"), 200),
        "wrong release": (home.get("/release", part), 422), "static": (home.get("/static/studio.js"), 200),
        "style": (home.get("/static/style.css"), 200), "no static": (home.get("/static/..%2fguard.py"), 404),
        "download": (home.get("/plan/plan.json"), 200), "wrong download": (home.get("/plan/plan.exe"), 404),
        "wrong plan": (home.get("/plan/plan.json", {"epsilon": "x"}), 422), "ledger": (home.get("/ledger"), 200),
        "table": (home.get("/ledger/ledger.csv"), 200), "nothing": (home.get("/nothing"), 404),
        "no job": (home.get("/job/x"), 404), "no result": (home.get("/results/x"), 404),
        "no file": (home.get("/results/x/csv"), 404), "stale": (home.post("/release", {"ticket": "x"}), 409),
        "outside": (home.ask("/"), 403), "icon": (home.ask("/favicon.ico"), 403),
        "large": (home.post("/release", {"x": "y" * guard.MOST_BODY}), 413),
        "long": (home.get("/plan", {"x": "y" * guard.MOST_ADDRESS}), 414),
        "method": (home.ask(f"{home.base}/plan", "DELETE"), 405), "host": (home.get("/plan", host="evil.test"), 421),
        "options": (home.ask(f"{home.base}/plan", "OPTIONS", Origin=home.origin), 405),
        "many fields": (home.post("/release", dict.fromkeys(map(str, range(300)), "")), 422),
        "slash": (home.get("/ledger/"), 307), "wrong method": (home.post("/plan", {}), 404),
    }  # fmt: skip
    assert {name: answer.status for name, (answer, _) in answers.items()} == {
        name: status for name, (_, status) in answers.items()
    }
    for answer, _ in answers.values():
        assert_strict(answer)
        assert answer.headers["referrer-policy"] == "same-origin"
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]
        assert "server" not in answer.headers
        assert "<script>" not in answer.text or "attachment" in answer.headers.get("content-disposition", "")


def test_an_unforeseen_error_tells_its_kind_alone(
    fresh: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError(f"a value: {invented.PLANTED_TEXT}")

    monkeypatch.setattr(fresh.studio.planner, "planned", failing)
    answer = fresh.get("/plan")
    assert answer.status == 500
    assert "RuntimeError" in answer.text
    assert_strict(answer)
    assert invented.PLANTED_TEXT not in answer.all
    assert invented.PLANTED_TEXT not in "".join([*capfd.readouterr(), *fresh.said])


def test_the_policy_is_the_promised_one() -> None:
    said = dict(part.strip().split(" ", 1) for part in guard.POLICY.split(";"))
    assert said["default-src"] == "'none'"
    for name in ("script-src", "style-src", "connect-src", "form-action"):
        assert said[name] == "'self'"
    assert said["frame-ancestors"] == said["base-uri"] == "'none'"
    assert "unsafe" not in guard.POLICY
    assert "*" not in guard.POLICY


# -- bodies, methods, addresses ---------------------------------------------------------------------


def _post(home: Home, more: str, body: bytes) -> bytes:
    head = (
        f"POST {home.base}/release HTTP/1.1\r\nHost: 127.0.0.1:{home.port}\r\nOrigin: {home.origin}\r\n"
        f"Cookie: {home.cookie}\r\nConnection: close\r\n{more}\r\n\r\n"
    )
    return home.raw(head.encode() + body, 2.0)


def test_large_bodies_are_refused_whatever_they_say_of_their_length(home: Home) -> None:
    large = b"a" * (guard.MOST_BODY + 1)
    piece = b"%x\r\n%s\r\n" % (len(large), large)
    assert _post(home, f"Content-Length: {len(large)}", large).startswith(b"HTTP/1.1 413 ")
    assert _post(home, f"Content-Length: {10**15}", b"a").startswith(b"HTTP/1.1 413 ")
    assert _post(home, "Transfer-Encoding: chunked", piece + b"0\r\n\r\n").startswith(b"HTTP/1.1 413 ")
    assert _post(home, "Transfer-Encoding: chunked", b"3\r\na=b\r\n0\r\n\r\n").startswith(b"HTTP/1.1 409 ")


@pytest.mark.parametrize("said", ["Content-Length: -1", "Content-Length: +5", "Content-Length: 0x5",
                                  "Content-Length: 5\r\nContent-Length: 6", "Transfer-Encoding: gzip",
                                  "Content-Length: 5\r\nTransfer-Encoding: chunked"])  # fmt: skip
def test_odd_lengths_do_nothing(home: Home, said: str) -> None:
    found = _post(home, said, b"hello")
    assert not found or found.split()[1] in (b"400", b"409", b"413", b"501"), found


def test_a_body_that_does_not_come_is_given_up(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SLOWEST", 0.2)
    began = time.monotonic()
    assert _post(home, "Content-Length: 50", b"ticket=").startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize("body", [b"\xff\xfe\x00ticket", b"ticket=%FF%00%0A", b"ticket", b"&=;", b"\x1f\x8b\x08" * 9])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded; charset=utf-7", "multipart/form-data; boundary=x",
                                  "application/json", "text/plain"])  # fmt: skip
def test_odd_encodings_do_nothing(home: Home, body: bytes, kind: str) -> None:
    answer = home.ask(f"{home.base}/release", "POST", body, Content_Type=kind)
    assert answer.status == 409
    assert "nothing was done" in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"])
def test_other_methods_are_refused(home: Home, method: str) -> None:
    answer = home.ask(f"{home.base}/ledger", method)
    assert answer.status == 405
    assert_silent(answer)


def test_a_web_socket_is_not_opened(home: Home) -> None:
    found = home.raw(
        f"GET {home.base}/plan HTTP/1.1\r\nHost: 127.0.0.1:{home.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode(),
        1.0,
    )
    assert found.startswith(b"HTTP/1.1 403 ")  # a request like any other: without a session


def test_a_reading_by_head_has_no_body(home: Home) -> None:
    answer = home.ask(f"{home.base}/ledger", "HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert_strict(answer)


@pytest.mark.parametrize(
    "place", ["/job/%0d%0aSet-Cookie:x=1/cancel", "/job/..%5c..%5c/cancel", "/job/%00/cancel", "/job/@evil.test/cancel"]
)
def test_where_an_answer_leads_stays_here(home: Home, place: str) -> None:
    answer = home.post(place, {})
    assert answer.status in (303, 404)
    assert answer.location.startswith(f"{home.base}/job/") or not answer.location
    assert answer.headers.get("set-cookie") is None


def test_addresses_that_end_in_a_slash_lead_to_our_own(home: Home) -> None:
    for place in ("/ledger/", "/plan//evil.test/", "//evil.test/"):
        answer = home.get(place)
        assert answer.status in (307, 404)
        assert answer.location.startswith(home.origin) or not answer.location
