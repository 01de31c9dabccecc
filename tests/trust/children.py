"""Forked children that tell what they did, and steps of the code at which they are killed.

A step is a line of the package, or the moment right before or right after a call into C. It is known by its place
and by how often it has come, so that loops of random length do not move the steps behind them.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dpfda as dp

PACKAGE = str(Path(dp.__file__).parent)
#: A child that takes longer hangs.
PATIENCE = 120
Say = Callable[..., None]
Step = tuple[str, str, int, str]


class RefusedError(Exception):
    """The command said why on standard error and ended with an exit code."""


class Steps:
    """Counts the steps of a child and kills it at one of them; without one it writes them down."""

    def __init__(self, victim: tuple[Step, int] | None = None):
        self.victim, self.counts, self.order = victim, Counter[Step](), list[tuple[Step, int]]()

    def watch(self) -> None:
        sys.setprofile(self._call)
        sys.settrace(self._enter)

    def stop(self) -> None:
        sys.settrace(None)
        sys.setprofile(None)

    def _enter(self, frame: Any, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def _line(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self._step(frame, "line")
        return self._line

    def _call(self, frame: Any, event: str, argument: Any) -> None:
        if event.startswith("c_") and frame.f_code.co_filename.startswith(PACKAGE):
            self._step(frame, f"{event} {argument.__name__}")

    def _step(self, frame: Any, what: str) -> None:
        step = (frame.f_code.co_filename[len(PACKAGE) + 1 :], frame.f_code.co_name, frame.f_lineno, what)
        self.counts[step] += 1
        now = (step, self.counts[step])
        if self.victim is None:
            self.order.append(now)
        elif self.victim == now:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Child:
    """A forked process that tells what it did, one line of JSON at a time."""

    pid: int
    pipe: int
    told: bytes = b""
    code: int | None = None

    def listen(self, seconds: float = 0.0) -> bool:
        """Take what was told; whether more may come."""
        if not select.select([self.pipe], [], [], seconds)[0]:
            return True
        more = os.read(self.pipe, 1 << 16)
        self.told += more
        return bool(more)

    def heard(self, word: str) -> bool:
        return f'"{word}"'.encode() in self.told

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)  # our own child, not waited for yet: its number is its own

    def finish(self) -> list[dict[str, Any]]:
        """Everything it told, once it is gone."""
        while self.listen(PATIENCE):
            pass
        os.close(self.pipe)
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return [json.loads(line) for line in self.told.splitlines(keepends=True) if line.endswith(b"\n")]


def forked(work: Callable[[Say], None]) -> Child:
    """A child that works and leaves without any clean-up; its errors are told, not shown."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some versions warn of forks beside threads
        pid = os.fork()
    if pid:
        os.close(theirs)
        return Child(pid, ours)
    code = 1
    try:
        os.close(ours)
        signal.alarm(PATIENCE)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)

        def say(**facts: Any) -> None:
            os.write(theirs, json.dumps(facts).encode() + b"\n")

        try:
            _telling_charges(say)
            work(say)
            code = 0
        except (dp.DpfdaError, RefusedError) as error:
            say(refused=type(error).__name__, text=str(error)[:300])
        except BaseException as error:
            say(unclear=type(error).__name__, text=str(error)[:300])
    finally:
        os._exit(code)


def _telling_charges(say: Say) -> None:
    """In the child: every charge is told before it begins and as soon as it has returned."""
    charge = dp.Ledger.charge

    def told(*args: Any, **options: Any) -> Any:
        say(charging=True)
        entry = charge(*args, **options)
        say(charged=entry.number, seal=entry.seal)
        return entry

    dp.Ledger.charge = told  # type: ignore[method-assign]


def steps_of(job: Callable[[Say], None]) -> list[tuple[Step, int]]:
    """Every step of a job, by a dry run in a child."""
    with tempfile.NamedTemporaryFile("r") as listing:

        def work(say: Say) -> None:
            steps = Steps()
            steps.watch()
            job(say)
            steps.stop()
            Path(listing.name).write_text(json.dumps(steps.order))

        child = forked(work)
        told = child.finish()
        assert child.code == 0, told
        return [((s[0], s[1], s[2], s[3]), n) for s, n in json.load(listing)]
