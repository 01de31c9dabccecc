"""Files that are whole or absent, and places that are reserved before any charge.

An output is written aside, synced and renamed. Reserving it makes the aside file first, so that a
folder that cannot be written, a name that is too long or a full disk is found while nothing has
been charged yet.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import FileError

Name = str | os.PathLike[str]


class Reserved:
    """A place for one output: an open file beside it, waiting for content."""

    def __init__(self, path: Name):
        self.path = Path(path)
        try:
            if self.path.is_dir():
                raise FileError(f"The output {self.path.name!r} is a folder. Name a file.")
            if not self.path.parent.is_dir():
                raise FileError(f"The folder of the output {self.path.name[:60]!r} does not exist. Make it first.")
            if self.path.exists() and not os.access(self.path, os.W_OK):
                raise PermissionError(13, "the file is write-protected")
            self._handle, aside = tempfile.mkstemp(dir=self.path.parent, prefix=".dpfda-")
        except FileError:
            raise
        except OSError as error:
            raise FileError(
                f"The output {self.path.name[:60]!r} cannot be written here: {error.strerror}. Choose another place."
            ) from None
        self._aside: Path | None = Path(aside)

    def write(self, content: str | bytes) -> Path:
        """All of the content, or an error and no file."""
        assert self._aside is not None
        try:
            with os.fdopen(self._handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(self._aside, 0o644)
            os.replace(self._aside, self.path)
        except OSError as error:
            raise FileError(f"The output {self.path.name[:60]!r} could not be written: {error.strerror}.") from None
        self._aside = None
        return self.path

    def drop(self) -> None:
        """Remove what was reserved and not written."""
        if self._aside is not None:
            self._aside.unlink(missing_ok=True)
            self._aside = None


@contextmanager
def reserved(paths: Sequence[Name | None], besides: Sequence[Name | None] = ()) -> Iterator[dict[Path, Reserved]]:
    """Places for several outputs, all different and none of the files `besides` that are in use."""
    wanted = [Path(path) for path in paths if path is not None]
    used = {_identity(Path(path)) for path in besides if path is not None}
    for path in wanted:
        if _identity(path) in used:
            raise FileError(f"The output {path.name!r} is used twice, or is an input or a ledger. Choose another name.")
        used.add(_identity(path))
    places: dict[Path, Reserved] = {}
    try:
        for path in wanted:
            places[path] = Reserved(path)
        yield places
    finally:
        for place in places.values():
            place.drop()


def _identity(path: Path) -> str:
    return os.path.realpath(path)


def write_whole(path: Name, content: str | bytes) -> Path:
    """All of the content at `path`, or no file."""
    with reserved([path]) as places:
        return places[Path(path)].write(content)
