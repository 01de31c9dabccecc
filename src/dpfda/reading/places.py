"""Where files are: on this machine, or anywhere fsspec reaches (``s3://``, ``gs://``, ``memory://``).

Lists, globs and folders become files in a fixed order. A place can be opened, measured and recognised again;
it never holds what the file holds.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from dpfda.core.births import born
from dpfda.core.errors import DpfdaError, FileError, ParameterError, shown

PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".txt")
#: Characters of a name in messages.
LONGEST_NAME = 60
#: Stores that an address may name. Others (archives, caches, repositories, chains of them) may fetch, unpack or write
#: what nobody asked for.
STORES = (
    "file", "local", "memory", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "hdfs", "webhdfs",
    "http", "https", "ftp", "sftp", "ssh", "smb", "dbfs", "hf",
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """One file, by its path or address."""

    path: str

    @property
    def remote(self) -> bool:
        return "://" in self.path

    @property
    def name(self) -> str:
        """For messages: the last part of the path."""
        return ((PurePosixPath(self.path) if self.remote else Path(self.path)).name or self.path)[:LONGEST_NAME]

    @property
    def suffix(self) -> str:
        return os.path.splitext(self.path)[1].lower()

    def open(self) -> IO[bytes]:
        """The file as bytes, from its beginning."""
        missing = FileError(f"There is no file {self.name!r} to read. Check the path.")
        try:
            if not self.remote:
                if not Path(self.path).is_file():
                    raise missing
                return Path(self.path).open("rb")
            system, path = _system(self.path)
            if not system.isfile(path):
                raise missing
            return system.open(path, "rb")
        except FileError:
            raise
        except (OSError, ValueError) as error:
            raise FileError(f"{self.name!r} cannot be read: {_reason(error)}.") from None

    def text(self, end: str = "\n") -> IO[str]:
        """The file as text, with these line ends; what is not UTF-8 shows as a replacement character."""
        return io.TextIOWrapper(self.open(), encoding="utf-8", errors="replace", newline=end)

    def fingerprint(self) -> str:
        """By which a file is recognised: SHA-256 of all of it. Confidential, as the file is."""
        with self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

    def stamp(self) -> str:
        """What changes when the file does, without reading it: its size and time."""
        try:
            if not self.remote:
                found = os.stat(self.path)
                return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
            system, inner = _system(self.path)
            facts = system.info(inner)
            return " ".join(str(facts.get(name)) for name in ("size", "mtime", "ETag", "LastModified", "created"))
        except OSError:
            return ""

    @property
    def address(self) -> str:
        """One spelling of where it is."""
        if not self.remote:
            return os.path.realpath(self.path)
        system, inner = _system(self.path)
        return os.path.realpath(inner) if _is_local(system) else system.unstrip_protocol(inner)

    @property
    def file(self) -> tuple[str, str]:
        """Which file it is, whatever it is called and holds: its address, and its number on this machine's disks.

        Numbers of removed files are given to new ones, which are younger, where the disk tells births.
        """
        try:
            address = self.address
        except ValueError:  # a name that no file system has
            return self.path, ""
        try:
            found = os.stat(address)
        except (OSError, ValueError):
            return address, ""
        return address, f"{found.st_dev}:{found.st_ino}:{born(Path(address), found)}"


def _reason(error: Exception) -> str:
    """What went wrong, in words that quote nothing."""
    return getattr(error, "strerror", None) or type(error).__name__


def _system(address: str) -> tuple[Any, str]:
    store = address.split("://")[0].lower()
    if store not in STORES or "::" in address:
        raise ParameterError(
            f"an address begins with one of {', '.join(f'{name}://' for name in STORES)}",
            shown(address),
            "Copy the file to one of these, or to this machine.",
        )
    try:
        import fsspec
    except ImportError:
        raise ParameterError(
            "addresses such as s3:// need fsspec", address.split("://")[0] + "://", "Install dpfda[remote]."
        ) from None
    try:
        return fsspec.core.url_to_fs(address)
    except (ValueError, ImportError) as error:
        raise FileError(
            f"Addresses of this kind cannot be opened: {type(error).__name__}. Install its fsspec."
        ) from None


def is_path(data: object) -> bool:
    """Whether data is a path, or a list of them."""
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(_names_file(p) for p in data)


def _names_file(item: object) -> bool:
    """Whether an item of a list is a path and not a (wrong) record."""
    if isinstance(item, os.PathLike):
        return True
    if not isinstance(item, str):
        return False
    return "://" in item or any(c in item for c in "*/") or Place(item).suffix in PARQUET + TEXT


def expanded(data: Any) -> list[Place]:
    """The files that a path, a glob, a folder or a list of these names, each once, in a fixed order."""
    given: Sequence[Any] = [data] if isinstance(data, str | os.PathLike) else data
    places: list[Place] = []
    for path in given:
        try:
            places += _expanded(os.fsdecode(path))
        except (OSError, ValueError, NotImplementedError) as error:
            if isinstance(error, DpfdaError):
                raise
            raise FileError(f"{Path(os.fsdecode(path)).name[:60]!r} cannot be read: {_reason(error)}.") from None
    if len({_identity(place) for place in places}) < len(places):
        raise ParameterError("a file must be named once", "one that is named twice", "Its records would count twice.")
    return places


def _expanded(path: str) -> list[Place]:
    if not path.strip():
        raise ParameterError("a path names a file, a pattern or a folder", "an empty text", "Write . for this folder.")
    pattern = any(c in path for c in "*?[")
    if "://" in path:
        system, inner = _system(path)
        found = system.glob(inner) if pattern else _listed(system, inner) if system.isdir(inner) else None
        if found is None:
            return [Place(path)]
        return _some([Place(system.unstrip_protocol(p)) for p in sorted(found) if _readable(p)], path)
    if pattern and not Path(path).exists():
        anchor = Path(path).anchor
        found = Path(anchor or ".").glob(str(Path(path).relative_to(anchor) if anchor else path))
        return _some([Place(str(p)) for p in sorted(found) if p.is_file()], path)
    if Path(path).is_dir():
        return _some([Place(str(p)) for p in sorted(Path(path).iterdir()) if p.is_file() and _readable(p.name)], path)
    return [Place(path)]


def _listed(system: Any, folder: str) -> list[str]:
    return [entry["name"] for entry in system.ls(folder, detail=True) if entry["type"] == "file"]


def _readable(name: str) -> bool:
    base = PurePosixPath(name).name
    return base.lower().endswith(PARQUET + TEXT) and not base.startswith(("_", "."))


def _some(places: list[Place], path: str) -> list[Place]:
    if not places:
        raise FileError(f"No file matches {Path(path).name!r}. Check the path.")
    return places


def _is_local(system: Any) -> bool:
    return "file" in ([system.protocol] if isinstance(system.protocol, str) else system.protocol)


def _identity(place: Place) -> Any:
    """The same for every name of one file of this machine, links included."""
    try:
        address = place.address
    except ValueError:  # a name that no file system has
        return place.path
    try:
        found = os.stat(address)
        return found.st_dev, found.st_ino
    except OSError:
        return address
