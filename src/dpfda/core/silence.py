"""Silence around code of others: a warning that a record causes would tell of it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class _Held:
    """How many keep silence now, and what ends it. Filters belong to the whole process, whatever thread sets them."""

    lock, holders, filters = threading.Lock(), 0, warnings.catch_warnings()


@contextmanager
def silence() -> Iterator[None]:
    """Inside, nothing warns and numpy ignores errors; filters are as before once the last thread is out.

    >>> with silence():
    ...     warnings.warn("a value", stacklevel=1)
    """
    with _Held.lock:
        if _Held.holders == 0:
            _Held.filters = warnings.catch_warnings()
            _Held.filters.__enter__()
            warnings.simplefilter("ignore")
        _Held.holders += 1
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        with _Held.lock:
            _Held.holders -= 1
            if _Held.holders == 0:
                _Held.filters.__exit__(None, None, None)
