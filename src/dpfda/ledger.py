"""The privacy budget of a study: one SQLite file, exact fractions, entries that never change.

A charge is written and synced before any noise is drawn, inside one exclusive transaction, so
processes that share a ledger can never overspend together, and a crash can cost budget but
never privacy. Entries form a hash chain, so damage and careless edits are noticed; whoever can
rewrite the whole file can forge it, and the seal printed in each statement is what would tell.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from .codec import exact_fraction
from .errors import BudgetExceeded, LedgerError, ParameterError, shown
from .protocol import as_epsilon

FORMAT = "dpfda-ledger-1"
WAIT_SECONDS = 30.0
SCHEMA = """
CREATE TABLE study (format TEXT NOT NULL, name TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
                    created TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TABLE entry (number INTEGER PRIMARY KEY, time TEXT NOT NULL, plan TEXT NOT NULL, query TEXT NOT NULL,
                    epsilon TEXT NOT NULL, delta TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TRIGGER study_fixed BEFORE UPDATE ON study BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER study_kept BEFORE DELETE ON study BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entry_fixed BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""


@dataclass(frozen=True)
class Entry:
    """One charge: when, for which plan and query, how much."""

    number: int
    time: str
    plan: str
    query: str
    epsilon: Fraction
    delta: Fraction
    seal: str


@dataclass(frozen=True)
class Ledger:
    """A study's ledger. Make one with :meth:`create`; opening checks it.

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
        object.__setattr__(self, "path", Path(self.path).absolute())  # another working directory is another place
        self._read()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, epsilon: Any, study: str, delta: Any = 0) -> Ledger:
        """A new ledger file with a total budget; never overwrites one."""
        budget, small = as_epsilon(epsilon), _as_delta(delta)
        if not isinstance(study, str) or not study.strip() or not study.isprintable():
            raise ParameterError(
                "a ledger belongs to a study with a printable name", shown(study), "Pass study='load-2026'."
            )
        target = Path(path)
        try:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise LedgerError(
                f"{target.name!r} exists already; a ledger is never overwritten. Choose another name."
            ) from None
        except OSError as error:
            raise LedgerError(f"The ledger {target.name!r} cannot be created: {error.strerror}.") from None
        created = _now()
        row = (FORMAT, study, str(budget), str(small), created)
        with _connection(target) as db:
            db.executescript("BEGIN IMMEDIATE;" + SCHEMA)
            db.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?)", (*row, _seal("", row)))
            db.execute("COMMIT")
        return cls(target, study)

    def charge(self, epsilon: Any, *, plan: str, query: str, delta: Any = 0) -> Entry:
        """Write a charge down, or refuse it; when this returns, the charge is on disk."""
        cost, small = as_epsilon(epsilon), _as_delta(delta)
        with _connection(self.path) as db:
            db.execute("BEGIN IMMEDIATE")
            book = _load(db, self.path.name, self.study)
            _refuse_excess(book, cost, small)
            entry = _entry(book, cost, small, plan, query)
            db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", _row(entry))
            db.execute("COMMIT")
        return entry

    def check(self, epsilon: Any, delta: Any = 0) -> None:
        """Refuse now what :meth:`charge` would refuse later; charges nothing."""
        _refuse_excess(self._read(), as_epsilon(epsilon), _as_delta(delta))

    def history(self) -> tuple[Entry, ...]:
        return self._read().entries

    @property
    def name(self) -> str:
        """The study this ledger belongs to."""
        return self._read().study

    @property
    def budget(self) -> Fraction:
        return self._read().epsilon

    @property
    def spent(self) -> Fraction:
        return self._read().spent

    @property
    def remaining(self) -> Fraction:
        book = self._read()
        return book.epsilon - book.spent

    @property
    def delta_budget(self) -> Fraction:
        """The budget for delta; zero where only pure releases are allowed."""
        return self._read().delta

    @property
    def delta_spent(self) -> Fraction:
        return self._read().spent_delta

    def _read(self) -> _Book:
        with _connection(self.path) as db:
            return _load(db, self.path.name, self.study)


@dataclass(frozen=True)
class _Book:
    study: str
    epsilon: Fraction
    delta: Fraction
    seal: str
    entries: tuple[Entry, ...]

    @property
    def spent(self) -> Fraction:
        return sum((e.epsilon for e in self.entries), Fraction(0))

    @property
    def spent_delta(self) -> Fraction:
        return sum((e.delta for e in self.entries), Fraction(0))


def _refuse_excess(book: _Book, epsilon: Fraction, delta: Fraction) -> None:
    if book.spent + epsilon > book.epsilon:
        raise BudgetExceeded(
            f"This release costs epsilon {epsilon} and study {book.study!r} has "
            f"{book.epsilon - book.spent} left of {book.epsilon}. Nothing was charged; "
            f"use a smaller epsilon or ask for a new budget."
        )
    if book.spent_delta + delta > book.delta:
        raise BudgetExceeded(
            f"This release costs delta {delta} and study {book.study!r} has "
            f"{book.delta - book.spent_delta} left. Nothing was charged."
        )


def _entry(book: _Book, epsilon: Fraction, delta: Fraction, plan: str, query: str) -> Entry:
    previous = book.entries[-1].seal if book.entries else book.seal
    row = (len(book.entries) + 1, _now(), plan, query, str(epsilon), str(delta))
    return Entry(row[0], row[1], plan, query, epsilon, delta, _seal(previous, row))


def _row(entry: Entry) -> tuple[Any, ...]:
    return (entry.number, entry.time, entry.plan, entry.query, str(entry.epsilon), str(entry.delta), entry.seal)


def _seal(previous: str, row: tuple[Any, ...]) -> str:
    return hashlib.sha256("\x1f".join([previous, *map(str, row)]).encode()).hexdigest()


def _load(db: sqlite3.Connection, name: str, study: str | None) -> _Book:
    """Read and verify the whole file: format, study, and the chain of seals."""
    heads = db.execute("SELECT format, name, epsilon, delta, created, seal FROM study").fetchall()
    if len(heads) != 1 or heads[0][0] != FORMAT or heads[0][5] != _seal("", heads[0][:5]):
        raise LedgerError(f"{name!r} is not an intact dpfda ledger. Restore it from a backup.")
    head = heads[0]
    if study is not None and head[1] != study:
        raise LedgerError(f"{name!r} is the ledger of study {head[1]!r}, not of {study!r}. Pass the right file.")
    entries, seal = [], head[5]
    for number, row in enumerate(
        db.execute("SELECT number, time, plan, query, epsilon, delta, seal FROM entry ORDER BY number"), start=1
    ):
        if row[0] != number or row[6] != _seal(seal, row[:6]):
            raise LedgerError(f"Entry {number} of {name!r} was altered. Restore the ledger from a backup.")
        seal = row[6]
        entries.append(Entry(number, row[1], row[2], row[3], Fraction(row[4]), Fraction(row[5]), seal))
    return _Book(head[1], Fraction(head[2]), Fraction(head[3]), head[5], tuple(entries))


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that syncs every commit, waits for others, and speaks our errors."""
    name = path.name
    if not path.is_file():
        raise LedgerError(
            f"There is no ledger {name!r}. Make one: dpfda ledger create {name} --epsilon 1 --study NAME."
        )
    try:
        db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = EXTRA")
            yield db
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
            db.close()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "no such column" in str(error):
            raise LedgerError(f"{name!r} is not an intact dpfda ledger. Restore it from a backup.") from None
        if "locked" in str(error) or "busy" in str(error):
            raise LedgerError(f"The ledger {name!r} is locked by another process. Try again when it is done.") from None
        raise LedgerError(
            f"The ledger {name!r} cannot be used ({error}). Check the disk and its permissions."
        ) from None
    except (sqlite3.DatabaseError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        raise LedgerError(f"{name!r} is not an intact dpfda ledger. Restore it from a backup.") from None


def _as_delta(value: Any) -> Fraction:
    delta = exact_fraction(value)
    if delta is None or not 0 <= delta < 1:
        raise ParameterError("delta must be at least 0 and below 1", shown(value), "Pass delta=0 for pure privacy.")
    return delta


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
