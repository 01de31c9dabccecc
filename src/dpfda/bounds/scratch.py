"""Room for numbers on the way, kept from block to block: asking the system for it each time costs more than sums do."""

from __future__ import annotations

import threading

import numpy as np

#: Numbers in a buffer that is kept, at most.
MOST = 1 << 18


class _Buffers(threading.local):
    """The buffers of one thread, by name; they go with it."""

    def __init__(self) -> None:
        self.by_name: dict[str, np.ndarray] = {}


_own = _Buffers()


def buffer(name: str, rows: int, columns: int) -> np.ndarray:
    """An array to write to, until the same name is asked for again in this thread. It holds anything."""
    size = rows * columns
    if size > MOST:
        return np.empty((rows, columns))
    if name not in _own.by_name or _own.by_name[name].size < size:
        _own.by_name[name] = np.empty(size)
    return _own.by_name[name][:size].reshape(rows, columns)
