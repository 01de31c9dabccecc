"""How a copy of a ledger is told from the original, so that it never becomes a second budget.

A file's place is its number on the disk (the inode), the time of its birth and its disk. A file that was moved
keeps them; one that was copied or restored may get a removed file's number, but never its birth, which `cp -a`
does not carry. Births decide wherever both are known. Only where one is not (old disks, network drives) the
disk's own mark decides: some are device numbers, which change with a reboot, and then an honest user would be
refused. What a system does not tell is no evidence, and the next charge writes down what is newly known.
No fact is read through an open file: closing one drops the locks that SQLite holds on it in this process.

Where the file system can (on Linux), it keeps a witness of the last charge beside the content (an extended
attribute), which stays when an older content is copied over the file. The witness is written after the charge,
so a crash leaves it behind the content, never ahead.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dpfda.core.births import born as _born
from dpfda.core.errors import LedgerError
from dpfda.ledger.entries import Balance

WITNESS = "user.dpfda.witness"
#: The place of a backup: none, so that it is refused wherever it is put.
BACKUP = "backup"
#: No entry is called this: a ledger whose adoption was interrupted stays refused.
ADOPTING = "adopting"


def place_of(path: Path) -> str:
    """What tells this file from any other: its number, and as far as they are known its birth and its disk."""
    try:
        found = os.stat(path)
    except OSError:  # removed meanwhile
        return ""
    facts = {"born": _born(path, found), "disk": _disk(path)}
    return " ".join([str(found.st_ino), *(f"{name}={fact}" for name, fact in facts.items() if fact)])


def _disk(path: Path) -> str:
    """The mark of the file system. Only its lower half, because some C libraries drop the upper one."""
    try:
        mark = os.statvfs(path).f_fsid & 0xFFFFFFFF
    except (OSError, AttributeError):
        return ""
    return f"{mark:x}" if mark else ""


def _facts(place: str) -> dict[str, str]:
    """A place taken apart; older ledgers know the number alone."""
    return dict(fact.partition("=")[::2] for fact in f"number={place}".split(" "))


def is_same(kept: str, found: str) -> bool:
    """Whether these are one place: the same number, and the same in the best fact that both know."""
    old, new = _facts(kept), _facts(found)
    best = next((fact for fact in ("born", "disk") if fact in old and fact in new), "number")
    return found != "" and old["number"] == new["number"] and old[best] == new[best]


def is_unsettled(path: Path, balance: Balance) -> bool:
    """Whether more is known of the file's place than the ledger says."""
    return not balance.homes or len(_facts(place_of(path))) > len(_facts(balance.homes[-1].place))


def settled_here(path: Path, balance: Balance) -> Balance:
    """The balance of a file that lives here from now on."""
    known = testimony(path) is not None or testify(path, ADOPTING)
    return balance.settled(place_of(path), "yes" if known else "no")


def mark(balance: Balance) -> str:
    return f"{balance.last.number} {balance.last.seal}"


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


def refuse_elsewhere(path: Path, balance: Balance, seen: str | None, seal_of: Callable[[int], str | None]) -> None:
    """Refuse to charge a copy, or an original whose content was replaced by an older one.

    The witness was `seen` before the balance was read: others may charge meanwhile, and it must not get ahead.
    `seal_of` tells the seal of the entry that the witness saw last.
    """
    if not balance.homes:
        return  # made before homes were kept: the next charge writes one down
    home = balance.homes[-1]
    if not is_same(home.place, place_of(path)):
        raise LedgerError(
            f"{path.name!r} is a copy, a backup or was restored, and a copy is not a second budget. {_cure(path)}"
        )
    if home.witness == "yes" and seen is None:
        raise LedgerError(
            f"The witness of the last charge of {path.name!r} is missing: this mount hides extended attributes, or a "
            "tool dropped them. Use the file where they are kept, or see whether it holds the charges of all releases "
            f"(dpfda ledger history {path.name}) and go on without the witness. {_cure(path)}"
        )
    if home.witness == "yes" and not _consistent(seen, seal_of):
        raise LedgerError(
            f"{path.name!r} lacks charges that were written to it: an older copy took its place. {_cure(path)}"
        )


def _consistent(text: str | None, seal_of: Callable[[int], str | None]) -> bool:
    number, _, sealed = (text or "").partition(" ")
    return number.isdecimal() and len(number) < 16 and seal_of(int(number)) == sealed


def _cure(path: Path) -> str:
    return (
        "If this file is now the only one in use, say what was released since it was copied: "
        f"dpfda ledger adopt {path.name} --release mean.json, or --spent 1/2, or --spent 0."
    )
