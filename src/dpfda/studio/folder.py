"""The folder of data: what lies in it by names that say nothing, and files that stay inside it.

Addresses hold opaque ids, never names. A file is looked at again when it is used: it must still be an ordinary file
inside the folder, and the same one.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path

from dpfda.core.errors import FileError

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
#: Files that are listed, and how deep folders are looked into.
MOST_FILES, DEEPEST = 500, 4
#: What people call the units of sizes.
UNITS = ("bytes", "KB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Found:
    """A file of the folder, as the page lists it."""

    id: str
    name: str
    size: str
    date: str
    place: Path
    #: What tells it from another file, or from itself when it was changed: place on the disk, size, times.
    mark: tuple[int, int, int, int, int]


@dataclass
class Folder:
    """A folder and the files that may be used: ordinary ones inside it."""

    root: Path
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def __post_init__(self) -> None:
        self.root = Path(os.path.realpath(self.root))

    def files(self) -> list[Found]:
        """Data files in the folder and below it, by name: so many that a page can list them."""
        return list(islice(self._walk(ENDINGS), MOST_FILES))

    def saved(self) -> list[Found]:
        """Files in which releases may be, the last one first."""
        return sorted(self._walk((".json",)), key=lambda each: each.mark[3], reverse=True)

    def _walk(self, endings: tuple[str, ...]) -> Iterator[Found]:
        for place, folders, names in os.walk(self.root, followlinks=False):
            depth = len(Path(place).relative_to(self.root).parts)
            folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < DEEPEST else []
            for name in sorted(names):
                wanted = name.lower().endswith(endings) and not name.startswith(".")
                if wanted and (found := self.found(Path(place) / name)) is not None:
                    yield found

    def file(self, id: str) -> Found:
        """The file of an id, if it is still there."""
        for each in self._walk((*ENDINGS, ".json")):
            if hmac.compare_digest(each.id.encode(), id.encode()):
                return each
        raise FileError("This file is not in the data folder any more. Choose another.")

    def check_same(self, found: Found) -> None:
        """Refuse a file that was exchanged since it was chosen."""
        now = self.found(found.place)
        if now is None or now.mark != found.mark:
            raise FileError("The file was changed since it was chosen. Choose it again.")

    def found(self, place: Path) -> Found | None:
        """An ordinary file inside the folder; None for anything else."""
        try:
            name = place.relative_to(self.root).as_posix()
            told = os.lstat(place)
            if not stat.S_ISREG(told.st_mode) or Path(os.path.realpath(place)) != place:
                return None
        except (OSError, ValueError):
            return None
        sealed = hmac.new(self.key, os.fsencode(name), hashlib.sha256).hexdigest()[:32]
        date = datetime.fromtimestamp(told.st_mtime).strftime("%Y-%m-%d %H:%M")
        shown = name.encode("utf-8", "backslashreplace").decode()
        mark = (told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
        return Found(sealed, shown, _size(told.st_size), date, place, mark)


def _size(count: float) -> str:
    """A size as people say it.

    >>> _size(900), _size(1_500_000)
    ('900 bytes', '1.5 MB')
    """
    for unit in UNITS:
        if count < 1000 or unit == UNITS[-1]:
            return f"{count:.3g} {unit}"
        count /= 1000
    return ""
