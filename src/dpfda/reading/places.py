"""Where files are: on this machine, or anywhere fsspec reaches (``s3://``, ``gs://``, ``memory://``).

Lists, globs and folders become files in a fixed order. A place can be opened, measured and recognised again;
it never holds what the file holds. Lakes, whose folders say something of the records in them, are in
:mod:`dpfda.reading.lakes`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

from dpfda.core.births import born
from dpfda.core.errors import DpfdaError, FileError, ParameterError, shown
from dpfda.reading.lakes import Partition, check_plain_files, is_partition, labels_of
from dpfda.reading.packed import PACKINGS, Unpacked

PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".txt")
#: Files that a program of their own reads.
DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")
#: Characters of a name in messages.
LONGEST_NAME = 60
#: Stores that an address may name. Others (archives, caches, repositories, chains of them) may fetch, unpack or write
#: what nobody asked for.
STORES = (
    "file", "local", "memory", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "hdfs", "webhdfs",
    "http", "https", "ftp", "sftp", "ssh", "smb", "dbfs", "hf",
)  # fmt: skip
#: What opens a store, where fsspec itself does not.
DRIVERS = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "abfss": "adlfs",
    "adl": "adlfs", "oss": "ossfs", "oci": "ocifs", "hdfs": "pyarrow (and Hadoop's own library)", "http": "aiohttp",
    "https": "aiohttp", "sftp": "paramiko", "ssh": "paramiko", "smb": "smbprotocol", "webhdfs": "requests",
    "dbfs": "requests", "hf": "huggingface_hub",
}  # fmt: skip
#: Folders within folders, at most: more are a link that leads back.
DEEPEST = 32


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
        """What the file is by its name, also where it is packed: ``.csv`` of ``days.csv.gz``."""
        stem, last = os.path.splitext(self.path.lower())
        inner = os.path.splitext(stem)[1]
        return inner if last in PACKINGS and inner in TEXT else last

    @property
    def packing(self) -> str:
        """The ending of a packed text file, else nothing."""
        last = os.path.splitext(self.path.lower())[1]
        return last if last != self.suffix else ""

    @property
    def partition(self) -> Partition:
        """What the folders that it lies in say of its records: names and labels."""
        return labels_of(self.path)

    @property
    def size(self) -> int:
        """Bytes, where they can be told."""
        try:
            if not self.remote:
                return os.path.getsize(self.path)
            system, inner = _system(self.path)
            return int(system.info(inner).get("size") or 0)
        except (OSError, ValueError):
            return 0

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

    def unpacked(self) -> IO[bytes] | Unpacked:
        """The same, as it is once unpacked."""
        return Unpacked(self.open(), self.packing, self.name) if self.packing else self.open()

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
        more = f" and {DRIVERS[store]}" if store in DRIVERS else ""
        raise ParameterError(
            "addresses such as s3:// need fsspec", f"{store}://", f"Install dpfda[remote]{more}."
        ) from None
    try:
        return fsspec.core.url_to_fs(address)
    except (ValueError, ImportError) as error:
        absent = isinstance(error, ImportError)
        problem = "need a driver that is not installed" if absent else f"cannot be opened: {type(error).__name__}"
    cure = (
        f"Install {DRIVERS.get(store, 'it')}: dpfda[remote] brings fsspec alone, which finds it."
        if absent
        else "Check it."
    )
    raise FileError(f"Addresses of {store}:// {problem}. {cure}")


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
            raise FileError(
                f"{Path(os.fsdecode(path)).name[:LONGEST_NAME]!r} cannot be read: {_reason(error)}."
            ) from None
    if len({_identity(place) for place in places}) < len(places):
        raise ParameterError("a file must be named once", "one that is named twice", "Its records would count twice.")
    return places


def _expanded(path: str) -> list[Place]:
    if not path.strip():
        raise ParameterError("a path names a file, a pattern or a folder", "an empty text", "Write . for this folder.")
    pattern = any(c in path for c in "*?[")
    if "://" in path:
        system, inner = _system(path)
        if pattern:
            found = [p for p in system.glob(inner) if _readable(p)]
            return _some([Place(system.unstrip_protocol(p)) for p in sorted(found)], path)
        if not system.isdir(inner):
            return [Place(path)]
        return _folder(
            [Place(system.unstrip_protocol(p)) for p in _below(inner, lambda at: _remote_entries(system, at))], path
        )
    if pattern and not Path(path).exists():
        anchor = Path(path).anchor
        found = [
            str(p) for p in sorted(Path(anchor or ".").glob(str(Path(path).relative_to(anchor) if anchor else path)))
        ]
        return _some([Place(p) for p in found if os.path.isfile(p)], path)
    if Path(path).is_dir():
        return _folder([Place(p) for p in _below(str(Path(path)), _entries)], path)
    return [Place(path)]


#: What a folder holds: the path of each thing, and whether it is a folder.
Entries: TypeAlias = list[tuple[str, bool]]


def _entries(folder: str) -> Entries:
    return [(str(p), p.is_dir()) for p in Path(folder).iterdir() if p.is_dir() or p.is_file()]


def _remote_entries(system: Any, folder: str) -> Entries:
    return [(entry["name"], entry["type"] == "directory") for entry in system.ls(folder, detail=True)]


def _below(folder: str, entries: Callable[[str], Entries], depth: int = 0) -> list[str]:
    """The readable files of a folder, and of those in it that are called ``name=value``, in a fixed order."""
    found = sorted((path.rstrip("/"), is_folder) for path, is_folder in entries(folder))
    found = [(path, is_folder) for path, is_folder in found if path != folder.rstrip("/")]  # stores may list it too
    check_plain_files(folder, [PurePosixPath(path).name for path, is_folder in found if is_folder])
    if depth > DEEPEST:
        raise FileError(f"Folders lie more than {DEEPEST} deep in each other. Check for a link that leads back.")
    files: list[str] = []
    for path, is_folder in found:
        if is_folder and is_partition(Path(path).name):
            files += _below(path, entries, depth + 1)
        elif not is_folder and _readable(path):
            files.append(path)
    return files


def _readable(name: str) -> bool:
    base = PurePosixPath(name).name
    return Place(base).suffix in PARQUET + TEXT and not base.startswith(("_", "."))


def _folder(places: list[Place], path: str) -> list[Place]:
    if not places:
        name = Path(path).name or path
        raise FileError(
            f"The folder {name!r} holds nothing that can be read. It may hold {', '.join(TEXT + PARQUET)} files, or "
            "folders called name=value (region=north) that hold them; other folders are not looked into. Name the "
            f"files, or a pattern such as '{name}/*/*.parquet'."
        )
    return places


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
