"""Files that are whole or absent, and places that are reserved before any charge.

An output is written aside, synced and renamed. Reserving it makes the aside file first, so that a
folder that cannot be written, a name that is too long or a full disk is found while nothing has
been charged yet.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dpfda.core.errors import FileError, ParameterError, shown

Name = str | os.PathLike[str]
#: Bytes that a reservation takes, enough for most outputs, so that a full disk is found before the charge.
ROOM = 1 << 20
DATABASE = b"SQLite format 3\0"
#: Bytes of a plan, a release or a summary: beyond what the largest grids and lattices need.
MOST_TEXT = 1 << 29


class Reserved:
    """A place for one output: an open file beside it, waiting for content."""

    def __init__(self, path: Name, room: int = ROOM):
        self.path = Path(path)
        self._aside: Path | None = None
        self._handle: int | None = None
        try:
            if self.path.is_dir():
                raise FileError(f"The output {self.path.name!r} is a folder. Name a file.")
            if not self.path.parent.is_dir():
                raise FileError(f"The folder of the output {self.path.name[:60]!r} does not exist. Make it first.")
            if self.path.exists():
                self._check_replaceable()
            self._handle, aside = tempfile.mkstemp(dir=self.path.parent, prefix=".dpfda-")
            self._aside = Path(aside)
            _take_room(self._handle, room)
        except FileError:
            raise
        except OSError as error:
            self.drop()
            raise FileError(
                f"The output {self.path.name[:60]!r} cannot be written here: {error.strerror}. Choose another place."
            ) from None

    def _check_replaceable(self) -> None:
        if not self.path.is_file():
            raise FileError(f"The output {self.path.name!r} is not an ordinary file. Name one.")
        if not os.access(self.path, os.W_OK):
            raise PermissionError(13, "the file is write-protected")
        with self.path.open("rb") as file:
            if file.read(len(DATABASE)) == DATABASE:
                raise FileError(f"The output {self.path.name!r} is a database, perhaps a ledger. Choose another name.")

    def write(self, content: str | bytes, mode: int = 0o644) -> Path:
        """All of the content, or an error and no file."""
        assert self._aside is not None
        assert self._handle is not None
        handle, self._handle = self._handle, None  # closed once, and never under a number that is somebody else's
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.truncate()  # only now: the room that was taken is kept until the content is in it
                os.fsync(file.fileno())
            os.chmod(self._aside, mode)
            os.replace(self._aside, self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise FileError(f"The output {self.path.name[:60]!r} could not be written: {error.strerror}.") from None
        self._aside = None
        return self.path

    def drop(self) -> None:
        """Remove what was reserved and not written."""
        if self._aside is not None:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
            self._aside.unlink(missing_ok=True)
            self._aside = None


@contextmanager
def reserved(
    paths: Sequence[Name | None], besides: Sequence[Name | None] = (), room: int = ROOM
) -> Iterator[dict[Path, Reserved]]:
    """Places for several outputs of so many bytes, all different and none of the files `besides` that are in use."""
    wanted = check_apart(paths, besides)
    places: dict[Path, Reserved] = {}
    try:
        for path in wanted:
            places[path] = Reserved(path, room)
        yield places
    finally:
        for place in places.values():
            place.drop()


def check_apart(paths: Sequence[Name | None], besides: Sequence[Name | None]) -> list[Path]:
    """The paths, all different and none of those in use."""
    wanted = [Path(path) for path in paths if path is not None]
    used = {_identity(Path(path)) for path in besides if path is not None}
    used |= {f"{path}{ending}" for path in used for ending in ("-journal", "-wal", "-shm")}
    for path in wanted:
        if _identity(path) in used:
            raise FileError(f"The output {path.name!r} is used twice, or is an input or a ledger. Choose another name.")
        used.add(_identity(path))
    return wanted


def _take_room(handle: int, room: int) -> None:
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, 0, room)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that cannot say
                raise


def _sync_folder(folder: Path) -> None:
    """Names are on disk too; where a folder cannot be synced, the system does it in its time."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _identity(path: Path) -> str:
    return os.path.realpath(path)


def as_path(path: object, what: str, cure: str) -> Path:
    """The place of a file; `what` says of which."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ParameterError(f"{what} is the path of a file", shown(path), cure)
    return Path(path)


def read_text(path: Name, kind: str) -> str:
    """All of a file that should hold a `kind` of sealed text; never a device or a pipe, which might not end."""
    with _opened(path, kind) as (file, size, name):
        content = file.read(MOST_TEXT + 1) if size <= MOST_TEXT else b""
        if max(size, len(content)) > MOST_TEXT:
            raise FileError(f"{name!r} is no {kind}: one has at most {MOST_TEXT >> 20} MB. Check the path.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        found_instead = "a database, such as a ledger" if content.startswith(DATABASE) else "not text"
        raise FileError(f"{name!r} is not a {kind}: it is {found_instead}. Check the path.") from None


def read_head(path: Name, kind: str, size: int) -> bytes:
    """The first bytes of a file that may be a `kind` of file, or something else altogether."""
    with _opened(path, kind) as (file, _, _):
        return file.read(size)


@contextmanager
def _opened(path: Name, kind: str) -> Iterator[tuple[BinaryIO, int, str]]:
    """An ordinary file, its size and how it is called in errors; what cannot be read is said in one line."""
    name = (as_path(path, f"a {kind}", f"Pass the file of a {kind}.").name or str(path))[:60]
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise FileError(f"{name!r} is not an ordinary file. Name a {kind}.")
            yield file, found.st_size, name
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{name!r} cannot be read: {error.strerror}. Check the path.") from None
    except ValueError:  # a name that no file system has
        raise FileError(f"{name!r} is not the name of a file. Check the path.") from None


def digest_of(path: Name) -> str:
    """SHA-256 of a file's content."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{Path(path).name[:60]!r} cannot be read: {error.strerror}. Check the path.") from None


def write_whole(path: Name, content: str | bytes, mode: int = 0o644) -> Path:
    """All of the content at `path`, or no file."""
    with reserved([path]) as places:
        return places[Path(path)].write(content, mode)
