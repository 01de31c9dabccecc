"""Files that are whole or absent, and checks that come before any charge."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import FileError


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """All of the text, or no file: written aside, synced, then renamed."""
    target = Path(path)
    check_writable(target)
    handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(aside, 0o644)
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    return target


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now, before any charge, if `path` cannot be written later."""
    target = Path(path)
    if target.is_dir():
        raise FileError(f"The output {target.name!r} is a folder. Name a file.")
    if not target.parent.is_dir():
        raise FileError(f"The folder of the output {target.name!r} does not exist. Make it first.")
    if not os.access(target.parent, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise FileError(f"The output {target.name!r} cannot be written here. Choose another folder.")
