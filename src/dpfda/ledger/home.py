"""How a copy of a ledger is told from the original, so that it never becomes a second budget.

The file remembers its number on the disk (the inode): a file that was moved keeps it, one that was copied
or restored has another. Where the file system can, it keeps a witness of the last charge beside the content
(an extended attribute), which stays when an older content is copied over the file. The witness is written
after the charge, so a crash leaves it behind the content, never ahead.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import LedgerError
from .entries import Book, Home

WITNESS = "user.dpfda.witness"
#: The place of a backup: none, so that it is refused wherever it is put.
BACKUP = "backup"
#: No entry is called this: a ledger whose adoption was interrupted stays refused.
ADOPTING = "adopting"


def place_of(path: Path) -> str:
    try:
        return str(os.stat(path).st_ino)
    except OSError:  # removed meanwhile
        return ""


def here(path: Path, book: Book) -> Home:
    """The row for a file that lives here from now on."""
    known = testimony(path) is not None or testify(path, ADOPTING)
    return book.settled(place_of(path), "yes" if known else "no")


def mark(book: Book) -> str:
    return f"{len(book.entries)} {book.last}"


def testimony(path: Path) -> str | None:
    """What the file system remembers of the last charge."""
    try:
        return os.getxattr(path, WITNESS).decode("ascii", "replace")
    except (OSError, AttributeError):  # this system has none
        return None


def testify(path: Path, text: str) -> bool:
    """Let the file system remember; whether it can."""
    try:
        os.setxattr(path, WITNESS, text.encode())
    except (OSError, AttributeError):
        return False
    return True


def refuse_elsewhere(path: Path, book: Book, seen: str | None) -> None:
    """Refuse to charge a copy, or an original whose content was replaced by an older one.

    The witness was `seen` before the book was read: others may charge meanwhile, and it must not get ahead.
    """
    if not book.homes:
        return  # made before homes were kept: the next charge writes one down
    home = book.homes[-1]
    if home.place != place_of(path):
        raise LedgerError(
            f"{path.name!r} is a copy, a backup or was restored, and a copy is not a second budget. {_cure(path)}"
        )
    if home.witness == "yes" and not _consistent(seen, book):
        raise LedgerError(
            f"{path.name!r} lacks charges that were written to it: an older copy took its place. {_cure(path)}"
        )


def _consistent(text: str | None, book: Book) -> bool:
    number, _, sealed = (text or "").partition(" ")
    return number.isdecimal() and len(number) < 16 and book.seal_of(int(number)) == sealed


def _cure(path: Path) -> str:
    return (
        "If this file is now the only one in use, say what was released since it was copied: "
        f"dpfda ledger adopt {path.name} --release mean.json, or --spent 1/2, or --spent 0."
    )
