"""`dpfda studio`: the page on this machine, from its first line in the terminal to its end."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import warnings
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType

import uvicorn

from dpfda.core.errors import FileError, ParameterError, printable
from dpfda.studio.accounts import Account
from dpfda.studio.app import application
from dpfda.studio.folder import Folder
from dpfda.studio.guard import MOST_WRONG, Keys
from dpfda.studio.state import Studio

HOST = "127.0.0.1"


def listening(port: int | None) -> socket.socket:
    """A socket on this machine alone: a free port, or the one that was asked for."""
    # Named as TCP, or asyncio would not send answers at once: each would wait 40 ms for the receipt of its head.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port or 0))
        found.listen(64)  # a browser that is quicker than the server waits
    except OSError as error:
        found.close()
        raise ParameterError(
            "the port is free and may be used", f"{port}: {error.strerror}",
            "Leave --port out for a free one, or stop what uses it.",
        ) from None  # fmt: skip
    return found


class Server(uvicorn.Server):
    """A server that leaves signals to the studio."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield


def serve(folder: Path, ledger: Path | None, port: int | None, browser: bool, say: Callable[[str], None]) -> None:
    """Run the studio until somebody stops it; a charged release is finished first."""
    if not folder.is_dir():
        raise FileError(f"The data folder {folder.name[:60]!r} does not exist. Name a folder.")
    os.umask(0o077)
    warnings.simplefilter("ignore")  # pages say what the library would warn of; texts of others may quote data
    place = Folder(folder)
    account = Account.found(place, ledger)
    with listening(port) as found:
        number = found.getsockname()[1]

        def link(token: str) -> str:
            return f"http://{HOST}:{number}/?token={token}"

        def on_link(token: str) -> None:
            say(f"dpfda studio: {link(token)}   (the link before was used; this one is for another browser)")

        def on_attack() -> None:
            say(f"{MOST_WRONG} wrong links were tried: the studio stops.")
            server.should_exit = True

        keys = Keys(on_link, on_attack)
        studio = Studio(place, account, keys)
        config = uvicorn.Config(
            application(studio, lambda: number), log_level="critical", access_log=False, lifespan="off",
            timeout_graceful_shutdown=2, server_header=False, date_header=False, limit_concurrency=100, ws="none",
        )  # fmt: skip
        server = Server(config)
        _stop_on_signals(server, studio, say)
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        studio.planner.warm_up()
        say(f"dpfda studio: {link(keys.token)}   (works once, in one browser)")
        say(
            f"Data folder: {printable(place.root.name)}. Ctrl-C stops the studio; a release that is charged is "
            "finished first."
        )
        try:
            with _shown(link(keys.token)) if browser else nullcontext():
                server.run([found])
        finally:
            _finish(studio, say)


@contextmanager
def _shown(link: str) -> Iterator[None]:
    """The page in a browser, if this machine can; the line in the terminal does as well.

    A browser is given a file that only its owner reads, which leads to the link: what stands in a command line, anybody
    on the machine can see.
    """
    if sys.platform not in ("win32", "darwin") and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="dpfda-") as folder:
        page = Path(folder, "studio.html")
        page.write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={link}"><title>dpfda studio</title>'
        )
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
        yield


def _stop_on_signals(server: Server, studio: Studio, say: Callable[[str], None]) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        if server.should_exit and studio.jobs.charged():
            say("A charged release is being finished; the studio ends after it.")
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)


def _finish(studio: Studio, say: Callable[[str], None]) -> None:
    """Cancel what is not charged; finish what is, and say so."""
    studio.planner.stop()
    pending = [job for job in studio.jobs.latest().values() if not job.over]
    if charged := studio.jobs.charged():
        say(f"Finishing the release that is charged as entry {charged[0].entry} ...")
    studio.jobs.stop()
    for job in pending:
        if job.entry is not None:
            done = f"written to {job.order.output.name}" if job.state == "done" else f"lost: {job.words}"
            say(f"Entry {job.entry}: {done}")
    say("The studio has ended.")
