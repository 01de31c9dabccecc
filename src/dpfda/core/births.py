"""When a file was made: what tells it from a later one that got its number on the disk.

A file that is moved, linked or written to keeps its birth; a copy has its own.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from functools import cache
from pathlib import Path
from typing import Any

#: Linux: relative paths begin at the working folder; the bit of a birth; the bytes of an answer.
AT_FDCWD, STATX_BTIME, STATX_BYTES = -100, 0x800, 256


def born(path: Path, found: os.stat_result) -> str:
    """When the file was made; Python's own word where it has one, else that of Linux."""
    if (time := getattr(found, "st_birthtime", None)) is not None:
        return f"{time:.6f}"
    answer = ctypes.create_string_buffer(STATX_BYTES)
    if _statx() is None or _statx()(AT_FDCWD, os.fsencode(path), 0, STATX_BTIME, answer) != 0:
        return ""
    (known,), (seconds, nanoseconds) = struct.unpack_from("=I", answer), struct.unpack_from("=qI", answer, 80)
    return f"{seconds}.{nanoseconds:09d}" if known & STATX_BTIME else ""


@cache
def _statx() -> Any:
    """The function of the C library that tells a birth, if there is one."""
    return getattr(ctypes.CDLL(None), "statx", None) if sys.platform == "linux" else None
