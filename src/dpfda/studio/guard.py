"""Who may speak to the page: one browser on this machine, from pages of our own, with small requests.

Everything that is served passes through here. What is refused gets a short page that says nothing of what is inside.
See docs/how-to/studio.md for the threats, one by one.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "dpfda"
#: Bytes of a request's body, and of its address.
MOST_BODY, MOST_ADDRESS = 1 << 16, 1 << 16
#: Seconds in which a body must have come.
SLOWEST = 10.0
#: Wrong tokens that end the studio.
MOST_WRONG = 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    # Not no-referrer: with it a browser sends forms of our own pages without saying where they come from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


@dataclass
class Keys:
    """The secrets of one studio: where its pages lie, who is let in, and links that work once."""

    #: Called with a fresh link when one was used, and when too many wrong ones came.
    on_link: Callable[[str], None]
    on_attack: Callable[[], None]
    path: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(32)}")
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    wrong: int = 0

    def opens(self, token: str | None) -> bool:
        """Whether this is the token of the link: nothing else is let in from elsewhere, and nothing is counted."""
        right = hmac.compare_digest((token or "").encode(), self.token.encode())
        return right and self.wrong < MOST_WRONG

    def used(self, token: str) -> bool:
        """Whether this is the link's token, which then works no more."""
        if self.wrong < MOST_WRONG and hmac.compare_digest(token.encode(), self.token.encode()):
            self.token = secrets.token_urlsafe(32)
            self.on_link(self.token)
            return True
        self.wrong += 1
        if self.wrong == MOST_WRONG:
            self.on_attack()
        return False

    def knows(self, cookies: list[str]) -> bool:
        """Whether a request carries the session."""
        found = False
        for cookie in cookies:
            found |= hmac.compare_digest(cookie.encode(), self.session.encode())
        return found


class Guard:
    """Lets requests of our own pages through, and puts the headers of safety on every answer."""

    def __init__(self, app: ASGIApp, keys: Keys, port: Callable[[], int]):
        self.app, self.keys, self.port = app, keys, port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answer = self._refusal(scope)
        if answer is None and not scope["path"].startswith(f"{self.keys.path}/"):
            answer = self._entrance(scope)
        if answer is not None:
            await answer(scope, receive, _safe(send))
            return
        try:
            body = await asyncio.wait_for(_body(scope, receive), SLOWEST)
        except TimeoutError:
            await _refuse(408, "This request took too long. Nothing was done.")(scope, receive, _safe(send))
            return
        if body is None:
            await _refuse(413, "This request is too large. Nothing was done.")(scope, receive, _safe(send))
            return
        scope["state"] = {"body": body}
        await self.app(scope, receive, _safe(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """Where a request comes from: refused unless it is one of ours."""
        headers, port = Headers(scope=scope), self.port()
        hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        host = headers.getlist("host")
        if len(host) != 1 or host[0] not in hosts:
            return _refuse(421, "This address is not the studio's.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refuse(405, "Pages are read and sent, nothing else.")
        if len(scope["path"]) + len(scope["query_string"]) > MOST_ADDRESS:
            return _refuse(414, "This address is too long.")
        origins = headers.getlist("origin")
        if any(origin != f"http://{host[0]}" for origin in origins) or (scope["method"] == "POST" and not origins):
            return _refuse(403, "This request did not come from a page of the studio. Nothing was done.")
        strange = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if strange and not self.keys.opens(_token(scope)):
            return _refuse(403, "This request did not come from a page of the studio. Nothing was done.")
        return None

    def _entrance(self, scope: Scope) -> Response:
        """The one page outside: it takes a link's token, and leads inside."""
        token = _token(scope)
        if token is None:
            done = " Nothing was done." if scope["method"] == "POST" else ""  # an old page, sent to a new studio
            return _refuse(403, f"This is a private page. Open the link that the terminal shows.{done}")
        if not self.keys.used(token):
            return _refuse(403, "This link was used, or is not right. The terminal shows a fresh one.")
        if Headers(scope=scope).get("sec-fetch-site", "none") == "none":
            answer: Response = RedirectResponse(f"{self.keys.path}/plan", 303, {"referrer-policy": "no-referrer"})
        else:  # from the page that opened the browser: a step of our own, so that the cookie comes along
            headers = {"refresh": f"0; url={self.keys.path}/plan", "referrer-policy": "no-referrer"}
            answer = PlainTextResponse("The studio opens.\n", 200, headers)
        answer.set_cookie(
            COOKIE, self.keys.session, path=f"{self.keys.path}/", httponly=True, samesite="strict"
        )  # no Secure: there is no TLS on loopback
        return answer


class Members:
    """Behind the guard: pages for whoever carries the session."""

    def __init__(self, app: ASGIApp, keys: Keys):
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self.keys.knows(_cookies(Headers(scope=scope).getlist("cookie"))):
            answer = _refuse(403, "This browser is not let in. Open the link that the terminal shows.")
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _token(scope: Scope) -> str | None:
    """The token of a link, where a request is for one."""
    query = scope["query_string"].decode("latin-1")
    asked = scope["path"] == "/" and scope["method"] == "GET" and query.startswith("token=")
    return query.removeprefix("token=") if asked else None


def _cookies(headers: list[str]) -> list[str]:
    """What stands in every cookie of our name. Other ports of this host leave cookies too, also of our name, or such
    that a reader of all of them stumbles: ours is found among them."""
    pairs = (pair.strip().partition("=") for text in headers for pair in text.split(";"))
    return [value for name, _, value in pairs if name == COOKIE]


def _refuse(status: int, words: str) -> Response:
    return PlainTextResponse(f"{words}\n", status)


def _safe(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """All of a small body; None where it is too large."""
    said = Headers(scope=scope).get("content-length", "0")
    if not (said.isascii() and said.isdigit()) or int(said) > MOST_BODY:
        return None
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if len(body) > MOST_BODY:
            return None
    return body
