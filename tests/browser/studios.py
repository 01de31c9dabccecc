"""A studio as a person starts it: a process of its own, which prints its address and is stopped by Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import dpfda as dp

LINK = re.compile(r"^dpfda studio: (http://127\.0\.0\.1:\d+/\?token=\S+)", re.MULTILINE)
#: Seconds until the address is printed, or until it has stopped: far more than is needed, for slow machines.
PATIENCE = 30.0


class Studio:
    """A running studio.

    Everything that it prints goes to one file (`output`), and its temporary files to a folder of their own
    (`temporary`), where tests can look for what should not be there.
    """

    def __init__(
        self, command: Sequence[str | Path], place: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.log, self.temporary = place / "output.txt", place / "tmp"
        self.temporary.mkdir(exist_ok=True)
        sources = [str(Path(dp.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sources if path),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(self.temporary),
            **(environment or {}),
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*map(str, command)],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal of the tests is not for it
            )
        try:
            self.link = self.next_link()
        except BaseException:
            self.kill()
            raise

    @classmethod
    def start(
        cls, folder: Path, place: Path, *options: str | Path, environment: Mapping[str, str] | None = None
    ) -> Studio:
        """`dpfda studio FOLDER --no-browser`, with more options; `place` is where its output goes."""
        return cls([sys.executable, "-m", "dpfda", "studio", folder, "--no-browser", *options], place, environment)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return "{0.scheme}://{0.netloc}".format(urlsplit(self.link))

    @property
    def port(self) -> int:
        return urlsplit(self.link).port or 0

    @property
    def output(self) -> str:
        """What it printed so far."""
        return self.log.read_text(errors="replace")

    def next_link(self, after: int = 0) -> str:
        """A link that it prints, which works once: the first one, or the one `after` so many."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ended = self.process.poll()
            if len(links := LINK.findall(self.output)) > after:
                return links[after]
            if ended is not None:
                raise AssertionError(f"The studio ended with code {ended} and without a link:\n{self.output}")
            time.sleep(0.02)
        raise AssertionError(f"The studio printed no link in {PATIENCE:g} seconds:\n{self.output}")

    def stop(self) -> int:
        """Ctrl-C; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"The studio did not stop on Ctrl-C:\n{self.output}") from None

    def kill(self) -> None:
        """End it at once, as `kill -9` does."""
        self.process.kill()
        self.process.wait()
