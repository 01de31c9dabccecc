"""Work in forked children: many draws on all cores, and whether children share what should be random."""

from __future__ import annotations

import io
import os
import signal
import warnings
from collections.abc import Callable

import numpy as np

CAN_FORK = hasattr(os, "fork")


def forked(work: Callable[[], dict[str, np.ndarray]]) -> Callable[[], dict[str, np.ndarray]]:
    """Begin some work in a child; what is returned waits for its arrays, and raises if the child failed."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads of this process hold nothing a child needs
        child = os.fork()
    if child == 0:
        _answer(work, reading, writing)
    os.close(writing)

    def wait() -> dict[str, np.ndarray]:
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        if not answer:
            raise ChildProcessError("A child of the audit stopped without an answer.")
        with np.load(io.BytesIO(answer), allow_pickle=False) as arrays:
            return dict(arrays)

    return wait


def _answer(work: Callable[[], dict[str, np.ndarray]], reading: int, writing: int) -> None:
    """What a child does: its work, its answer, and nothing else of what its parent would have done."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(reading)
        buffer = io.BytesIO()
        np.savez(buffer, **work())  # type: ignore[arg-type]
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(buffer.getvalue())
        status = 0
    finally:
        os._exit(status)
