"""The ledger in the hands of its users: make, charge, read, back up, adopt, verify.

There is no refund and no way to take an entry back: a release that fails after its charge has cost it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dpfda.core import markup
from dpfda.core.checks import Epsilon, as_epsilon
from dpfda.core.codec import exact_fraction
from dpfda.core.errors import LedgerError, ParameterError, shown
from dpfda.core.files import as_path
from dpfda.ledger import home, store
from dpfda.ledger.entries import FORMAT, Balance, Entry, now, seal

#: How many charges a notebook shows, and the longest fraction that it writes out.
SHOWN, MOST_DIGITS = 10, 20
T = TypeVar("T")
#: The longest name of a plan or a query in an entry.
LONGEST_TEXT = 2000
CURE = "Pass ledger='study.ledger', or dp.Ledger.create('study.ledger', epsilon=2, study='load-2026')."


@dataclass(frozen=True)
class Ledger:
    """A study's ledger. Make one with :meth:`create`; opening checks it.

    Parameters
    ----------
    path : path
        The file.
    study : str, optional
        The study that the file must belong to. Default: whichever it is.

    Raises
    ------
    dpfda.errors.LedgerError
        Where the file is no ledger, was edited or is damaged, or belongs to another study.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "study.ledger")
    >>> ledger = Ledger.create(path, epsilon=1, study="sleep")
    >>> for _ in range(10):
    ...     _ = ledger.charge("0.1", plan="p", query="mean")
    >>> ledger.remaining
    Fraction(0, 1)
    """

    path: Path
    study: str | None = None

    def __post_init__(self) -> None:
        if not (self.study is None or isinstance(self.study, str)):
            raise ParameterError("study is the name of a ledger's study", shown(self.study), "Pass study='load-2026'.")
        path = as_path(self.path, "a ledger", CURE)
        object.__setattr__(self, "path", path.absolute())  # another working directory is another place
        object.__setattr__(self, "study", self._read().study)  # another study's file in this place is refused

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, epsilon: Epsilon | None, study: str, delta: Epsilon = 0) -> Ledger:
        """A new ledger file with a total budget; never overwrites one."""
        budget, delta_cost = as_epsilon(epsilon), _as_delta(delta)
        if not isinstance(study, str) or not study.strip() or not study.isprintable() or len(study) > LONGEST_TEXT:
            raise ParameterError(
                "a ledger belongs to a study with a printable name", shown(study), "Pass study='load-2026'."
            )
        target = as_path(path, "a ledger", CURE).absolute()
        row = (FORMAT, study, str(budget), str(delta_cost), now())
        with store.making(target) as db:
            balance = Balance.before_charges(study, budget, delta_cost, row[-1], seal("", row))
            home.testify(target, home.mark(balance))
            db.executescript(";".join(("BEGIN IMMEDIATE", store.SCHEMA, *store.TOTALS)))
            db.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?)", (*row, balance.last.seal))
            _settle(db, home.settled_here(target, balance))
            db.execute("COMMIT")
        return cls(target, study)

    def charge(self, epsilon: Epsilon, *, plan: str, query: str, delta: Epsilon = 0) -> Entry:
        """Write a charge down, or refuse it; when this returns, the charge is on disk and stays."""
        cost, delta_cost = as_epsilon(epsilon), _as_delta(delta)
        for text in (plan, query):
            if not isinstance(text, str) or not text.isprintable() or len(text) > LONGEST_TEXT:
                raise ParameterError(
                    f"the plan and the query of a charge are printable texts of at most {LONGEST_TEXT:,} characters",
                    shown(text), "Pass query='mean'.",
                )  # fmt: skip
        with store.writing(self.path) as db:
            seen = home.testimony(self.path)
            balance = store.load_balance(db, self.path.name, self.study)
            self._refuse_elsewhere(db, balance, seen)
            if home.is_unsettled(self.path, balance):
                home.testify(self.path, home.mark(balance))
                balance = _settle(db, home.settled_here(self.path, balance))
            charged = balance.charged(cost, delta_cost, plan, query)
            store.add_entry(db, charged.last)
        return self._standing(charged)

    def check(self, epsilon: Epsilon, delta: Epsilon = 0) -> None:
        """Refuse now what :meth:`charge` would refuse later; charges nothing."""
        seen = home.testimony(self.path)
        with store.reading(self.path) as db:
            balance = store.load_balance(db, self.path.name, self.study)
            self._refuse_elsewhere(db, balance, seen)
        balance.refuse_excess(as_epsilon(epsilon), _as_delta(delta))

    def history(self) -> tuple[Entry, ...]:
        """Every charge in the order of its number; times state what the clock said."""
        with store.reading(self.path) as db:
            return store.load_book(db, self.path.name, self.study).entries

    def verify(self, releases: Iterable[Any] = ()) -> tuple[Entry, ...]:
        """The charges of these releases, if this is the ledger in use, intact to its first entry, and holds them all.

        A ledger that was rolled back or forked lacks a charge that a saved release names with its seal.
        """
        seen = home.testimony(self.path)
        with store.reading(self.path) as db:
            book = store.load_book(db, self.path.name, self.study)
            self._refuse_elsewhere(db, book.balance, seen)
        found = []
        for release in _releases(releases):
            entry = self._entry_of(book.entries, release)
            if entry is None:
                raise LedgerError(
                    f"{self.path.name!r} does not hold the charge of a {release.query} released {release.created} "
                    f"(entry {release.entry}, seal {release.seal[:16]}): an older copy took its place, or there are "
                    f"two. Write it in: dpfda ledger adopt {self.path.name} --release FILE."
                )
            found.append(entry)
        return tuple(found)

    def backup(self, path: str | os.PathLike[str]) -> Path:
        """One state of the ledger in a new file, while others go on charging; it refuses charges until adopted."""
        target = as_path(path, "a backup", "Pass path='study.backup'.").absolute()
        with store.copied(self.path, self.study) as (memory, book), store.making(target) as db:
            _settle(memory, book.balance.settled(home.BACKUP, "no"))
            memory.backup(db)
        return target

    def adopt(self, *, releases: Iterable[Any] = (), spent: Epsilon | None = None) -> tuple[Entry, ...]:
        """Make a copied or restored file the one in use, after writing in what was released since it was copied.

        `releases` are the saved releases that it may lack, `spent` is an amount (0: nothing was released). The
        act is recorded. Whoever adopts a copy says that no other is in use: the promise of the budget rests on it.
        """
        given = _releases(releases)
        if spent is None and not given:
            raise ParameterError(
                "what was released since the file was copied must be said", "nothing",
                "Pass spent=0 if nothing was, spent=1/2 for an amount, or the saved releases.",
            )  # fmt: skip
        amount = Fraction(0) if spent is None or exact_fraction(spent) == 0 else as_epsilon(spent, "spent")
        with store.writing(self.path) as db:
            book = store.load_book(db, self.path.name, self.study)
            balance, new = book.balance, list[Entry]()
            for release in given:
                if self._entry_of((*book.entries, *new), release) is None:
                    cost, delta_cost = as_epsilon(release.plan.epsilon), _as_delta(release.plan.delta)
                    balance = balance.charged(cost, delta_cost, release.plan.digest, _restored(release))
                    new.append(balance.last)
            if amount:
                balance = balance.charged(amount, Fraction(0), "unknown", "released before this file was adopted")
                new.append(balance.last)
            for entry in new:
                store.add_entry(db, entry)
            balance = _settle(db, home.settled_here(self.path, balance))
        home.testify(self.path, home.mark(balance))
        return tuple(new)

    @property
    def name(self) -> str:
        """The study this ledger belongs to."""
        return self._read().study

    @property
    def budget(self) -> Fraction:
        return self._read().epsilon

    @property
    def spent(self) -> Fraction:
        return self._read().last.spent

    @property
    def remaining(self) -> Fraction:
        return self._read().left

    @property
    def delta_budget(self) -> Fraction:
        """The budget for delta; zero where only pure releases are allowed."""
        return self._read().delta

    @property
    def delta_spent(self) -> Fraction:
        return self._read().last.spent_delta

    def _repr_html_(self) -> str:
        """The budget, and the last charges."""
        entries = self.history()
        balance = self._read()
        budget = [("study", balance.study), ("budget", _cost(balance.epsilon, balance.delta))]
        budget += [
            ("spent", _cost(balance.last.spent, balance.last.spent_delta)),
            ("left", _cost(balance.left, balance.delta - balance.last.spent_delta)),
            ("charges", f"{len(entries):,}"),
        ]
        rows = [(str(e.number), e.time, e.query, _cost(e.epsilon, e.delta), e.plan[:12]) for e in entries[-SHOWN:]]
        names = ("number", "time", "query", "cost", "plan")
        last = markup.columns(f"The last {len(rows)} charges", names, rows) if rows else ""
        return markup.facts("Ledger", budget) + last

    def _read(self) -> Balance:
        with store.reading(self.path) as db:
            return store.load_balance(db, self.path.name, self.study)

    def _refuse_elsewhere(self, db: sqlite3.Connection, balance: Balance, seen: str | None) -> None:
        home.refuse_elsewhere(self.path, balance, seen, partial(store.seal_of, db))

    def _standing(self, balance: Balance) -> Entry:
        """The last charge, once the file at our path is seen to hold it."""
        with store.reading(self.path) as db:
            found = store.seal_of(db, balance.last.number)
        if found != balance.last.seal:
            raise LedgerError(
                f"The ledger {self.path.name!r} was replaced while it was charged, so nothing is released. "
                f"See what stands now: dpfda ledger history {self.path.name}."
            )
        home.testify(self.path, home.mark(balance))
        return balance.last

    def _entry_of(self, entries: tuple[Entry, ...], release: Any) -> Entry | None:
        """The charge of a release of this study: its own, or the one that an adoption wrote in."""
        if release.study != self.study:
            other = "no ledger" if release.study is None else f"the ledger of study {release.study!r}"
            raise LedgerError(f"A {release.query} released {release.created} was charged to {other}. Leave it out.")
        if 0 < release.entry <= len(entries) and entries[release.entry - 1].seal == release.seal:
            return entries[release.entry - 1]
        restored = _restored(release)
        return next((e for e in entries if (e.plan, e.query) == (release.plan.digest, restored)), None)


def _releases(given: Iterable[T]) -> list[T]:
    """Saved releases, each of which says where it was charged."""
    found = list(given) if isinstance(given, Iterable) else None
    if found is None or not all(hasattr(release, "seal") and hasattr(release, "study") for release in found):
        raise ParameterError("these are releases", shown(given), "Pass releases=[dp.load('mean.json'), ...].")
    return found


def _restored(release: Any) -> str:
    return f"{release.query} (restored: entry {release.entry}, seal {release.seal})"


def _settle(db: sqlite3.Connection, settled: Balance) -> Balance:
    store.add_home(db, settled.homes[-1])
    return settled


def _cost(epsilon: Fraction, delta: Fraction) -> str:
    exact = str(epsilon) if len(str(epsilon)) <= MOST_DIGITS else f"about {float(epsilon):g}"
    return f"epsilon {exact}" + (f", delta {float(delta):g}" if delta else "")


def _as_delta(value: object) -> Fraction:
    delta = exact_fraction(value)
    if delta is None or not 0 <= delta < 1:
        raise ParameterError("delta must be at least 0 and below 1", shown(value), "Pass delta=0 for pure privacy.")
    return delta
