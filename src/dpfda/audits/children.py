"""Work in forked children: many draws on all cores, and whether children share what should be random.

No child outlives its parent: each holds the end of a pipe that closes when the parent is gone, however it went.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence

import numpy as np

Work = Callable[[], dict[str, np.ndarray]]
#: Where a process can be forked and go on computing; the linear algebra of macOS cannot.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"


def at_once(works: Sequence[Work]) -> list[dict[str, np.ndarray]]:
    """The arrays that each work returns, all of them in children side by side (in turn, where nothing can fork)."""
    if not CAN_FORK:
        return [work() for work in works]
    children: list[Child] = []
    try:
        for work in works:
            children.append(Child(work))
        return [child.answer() for child in children]
    finally:
        for child in children:
            child.end()


class Child:
    """One forked process and the pipe on which it answers."""

    def __init__(self, work: Work):
        reading, writing = os.pipe()
        watching, living = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which hold nothing that a child needs
            self.number = os.fork()
        if self.number == 0:
            os.close(reading)
            os.close(living)
            _live(work, writing, watching)
        os.close(writing)
        os.close(watching)
        self.reading, self.living = reading, living

    def answer(self) -> dict[str, np.ndarray]:
        """Wait for the arrays of the child; its error, by name, if it had one."""
        with os.fdopen(self.reading, "rb", closefd=False) as pipe:
            answer = pipe.read()
        if not answer:
            raise ChildProcessError("A child of the audit was killed.")
        with np.load(io.BytesIO(answer), allow_pickle=False) as arrays:
            found = dict(arrays)
        if "error" in found:
            raise ChildProcessError(f"A child of the audit stopped with {found['error']}.")
        return found

    def end(self) -> None:
        """Whatever it does, it stops now, and leaves nothing behind."""
        os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)
        os.close(self.reading)
        os.close(self.living)


def _live(work: Work, writing: int, watching: int) -> None:
    """What a child does: its work, its answer, and nothing else of what its parent would have done."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        threading.Thread(target=_outlive_nobody, args=(watching,), daemon=True).start()
        try:
            found = work()
        except Exception as error:  # its name alone: what it says is for this process
            found = {"error": np.array(type(error).__name__)}
        buffer = io.BytesIO()
        np.savez(buffer, **found)  # type: ignore[arg-type]
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(buffer.getvalue())
    finally:
        os._exit(0)


def _outlive_nobody(watching: int) -> None:
    """Nothing is ever written to this pipe; it ends when the parent does."""
    os.read(watching, 1)
    os._exit(1)
