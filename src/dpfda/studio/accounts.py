"""The ledger as the page shows it: the budget in words and as a bar, every charge, and where its result is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from dpfda.core.errors import DpfdaError, FileError
from dpfda.core.files import digest_of
from dpfda.ledger import Entry, Ledger
from dpfda.studio.folder import Folder

NAME = "study.ledger"


@dataclass(frozen=True)
class Row:
    """A charge, and where its result is."""

    entry: Entry
    file: Path | None
    #: "here", "changed" or "not found".
    result: str


def amount(value: Fraction) -> str:
    """An amount of epsilon: as a decimal where that is short, else as a fraction too.

    >>> amount(Fraction(1, 2)), amount(Fraction(1, 3))
    ('0.5', '0.3333 (1/3)')
    """
    text = f"{float(value):.4g}"
    return text if Fraction(text) == value else f"{text} ({value})"


@dataclass
class Account:
    """The ledger of the studio's study, if there is one."""

    folder: Folder
    path: Path | None = None
    _digests: dict[tuple[str, int, int], str] = field(default_factory=dict)

    @classmethod
    def found(cls, folder: Folder, path: Path | None) -> Account:
        """The ledger that was named, or the only one of the folder."""
        if path is not None:
            Ledger(path)
            return cls(folder, path.absolute())
        here = sorted(folder.root.glob("*.ledger"))
        if len(here) > 1:
            raise FileError(f"There are {len(here)} ledgers in this folder. Say which: --ledger {here[0].name[:60]}.")
        return cls(folder, here[0] if here else None)

    @property
    def shown(self) -> str:
        """The ledger's file as it is seen from the folder of the studio."""
        return "" if self.path is None else os.path.relpath(self.path, self.folder.root)

    def ledger(self) -> Ledger | None:
        return None if self.path is None else Ledger(self.path)

    def need(self) -> Ledger:
        ledger = self.ledger()
        if ledger is None:
            raise FileError("There is no ledger yet. Make one on the page of the ledger first.")
        return ledger

    def create(self, study: str, epsilon: str, period: str) -> Ledger:
        """A new ledger in the folder; the only one of this studio."""
        if self.path is not None or any(self.folder.root.glob("*.ledger")):
            raise FileError("This folder has a ledger already. Start the studio anew to use it.")
        place = self.folder.root / NAME
        made = Ledger.create(place, epsilon=epsilon, study=study, period=period or None)
        self.path = place
        return made

    def summary(self) -> tuple[str, str]:
        """The study and its budget in words, for the head of every page; what cannot be read says so."""
        try:
            ledger = self.ledger()
            if ledger is None:
                return "", "no ledger yet"
            spent = ledger.period_spent
            left, budget = ledger.remaining, ledger.budget
        except DpfdaError as error:
            return "", str(error)
        per = f" of {ledger.current_period}" if ledger.period else ""
        return ledger.name, f"{amount(spent)} of {amount(budget)}{per} spent, {amount(left)} left"

    def rows(self) -> list[Row]:
        """Every charge, the last one first."""
        ledger = self.need()
        book = ledger.book()
        written = {output.charge: output for output in book.outputs}
        found = []
        for entry in reversed(book.entries):
            output = written.get(entry.number)
            place = None if output is None else Path(os.path.normpath(ledger.path.parent / output.file))
            if output is None or place is None or not place.is_file():
                found.append(Row(entry, None, "not found"))
            else:
                same = self._digest(place) == output.sha256
                found.append(Row(entry, place, "here" if same else "changed"))
        return found

    def _digest(self, place: Path) -> str:
        told = place.stat()
        key = (str(place), told.st_mtime_ns, told.st_size)
        if key not in self._digests:
            self._digests[key] = digest_of(place)
        return self._digests[key]
