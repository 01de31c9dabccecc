"""A studio in this process, and whoever knocks at it: requests as bytes, so that nothing tidies them on the way."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from urllib.parse import urlencode

from dpfda.ledger import Ledger
from dpfda.studio import server
from dpfda.studio.jobs import Job
from dpfda.studio.state import Studio

#: A mean of the 24 values of an hour, for the files of `browser.invented`.
HOURLY = {"what": "mean", "n": "200", "points": "24", "low": "0", "high": "2", "record": "home"}
COLUMNS = {"values.first": "2", "values.last": "25"}
PATIENCE = 30.0


@dataclass(frozen=True)
class Answer:
    """What came back: as bytes too, to look for what should not be there."""

    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def location(self) -> str:
        return self.headers.get("location", "")

    @property
    def all(self) -> str:
        """Headers and body."""
        return f"{self.headers}\n{self.body.decode('utf-8', 'replace')}"


@dataclass
class Home:
    """A studio that runs in a thread: as `dpfda studio` does, but for signals."""

    folder: Path
    said: list[str]
    server: server.Server
    studio: Studio
    answers: list[Answer] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(re.search(r"127\.0\.0\.1:(\d+)", self.said[0])[1])

    @property
    def base(self) -> str:
        return self.studio.keys.path

    @property
    def cookie(self) -> str:
        return f"dpfda={self.studio.keys.session}"

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def raw(self, request: bytes, wait: float = 5.0) -> bytes:
        """Bytes sent, and all that comes back until the other side is silent or closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as wire:
            wire.sendall(request)
            found = b""
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                while piece := wire.recv(1 << 16):
                    found += piece
            return found

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes | None = None,
        cookie: str | None = "ours",
        origin: str | None = "ours",
        host: str | None = "ours",
        **headers: str,
    ) -> Answer:
        """One request, as our own pages send it if nothing else is said; None leaves a header out."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {} if cookie is None else {"Cookie": self.cookie if cookie == "ours" else cookie}
        sent |= {} if host is None else {"Host": f"127.0.0.1:{self.port}" if host == "ours" else host}
        if method == "POST" and origin is not None:
            sent["Origin"] = self.origin if origin == "ours" else origin
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            wire.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                wire.putheader(name, value)
            if body is not None:
                wire.putheader("Content-Length", str(len(body)))
            wire.endheaders(body)
            found = wire.getresponse()
            answer = Answer(found.status, found.headers, found.read())
        finally:
            wire.close()
        self.answers.append(answer)
        return answer

    def get(self, place: str, said: Mapping[str, str] | None = None, **more: str) -> Answer:
        """A screen of the studio, by its place and what its address says."""
        return self.ask(f"{self.base}{place}" + (f"?{urlencode(said)}" if said else ""), **more)

    def post(self, place: str, form: Mapping[str, str], **more: str) -> Answer:
        return self.ask(f"{self.base}{place}", "POST", urlencode(form).encode(), **more)

    def id_of(self, name: str) -> str:
        """The id by which a file is known to pages."""
        return next(each.id for each in self.studio.folder.files() if each.place.name == name)

    def make_ledger(self, study: str = "invented", epsilon: str = "9") -> Ledger:
        ledger = Ledger.create(self.folder / "study.ledger", epsilon=epsilon, study=study)
        self.studio.account.path = ledger.path
        return ledger

    def confirm(self, file: str, output: str, said: Mapping[str, str] = HOURLY, **more: str) -> Answer:
        """The page that asks for a last word."""
        told = {**said, **({} if "values.first" in said else COLUMNS), **more}
        return self.get("/release", {**told, "file": self.id_of(file), "output": output})

    def release(self, file: str, output: str, said: Mapping[str, str] = HOURLY, **more: str) -> Job:
        """Plan, confirm, and the last word; the job that followed."""
        page = self.confirm(file, output, said, **more)
        ticket = re.search(r'name="ticket" value="(\w+)"', page.text)
        assert ticket, page.text
        study = self.studio.account.need().name
        sent = self.post("/release", {"ticket": ticket[1], "study": study, "anyway": "yes", "again": "yes"})
        assert sent.status == 303, sent.text
        job = self.studio.jobs.find(sent.location.rpartition("/")[2])
        assert job is not None
        return job

    def finish(self, job: Job) -> Answer:
        """Look at a job's page until it is over; the last page."""
        end = time.monotonic() + PATIENCE
        while not job.done.wait(0.02):
            self.get(f"/job/{job.id}/part")
            assert time.monotonic() < end, "the job did not end"
        return self.get(f"/job/{job.id}/part")


@contextlib.contextmanager
def at_home(folder: Path, ledger: Path | None = None) -> Iterator[Home]:
    """A studio in a folder, stopped at the end."""
    said: list[str] = []
    started: list[tuple[server.Server, Studio]] = []
    ready, mask = threading.Event(), os.umask(0o022)
    kept = server._stop_on_signals

    def note(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            ready.set()

    def no_signals(found: server.Server, studio: Studio, say: object) -> None:
        started.append((found, studio))  # threads have no signals

    server._stop_on_signals = no_signals
    thread = threading.Thread(target=server.serve, args=(folder, ledger, None, False, note))
    try:
        thread.start()
        assert ready.wait(PATIENCE)
        home = Home(folder, said, *started[0])
        yield home
    finally:
        server._stop_on_signals = kept
        if started:
            started[0][0].should_exit = True
        thread.join(PATIENCE)
        os.umask(mask)
    assert not thread.is_alive()
