"""The file of a ledger: SQLite, opened with suspicion.

The file may have been made by anybody, so nothing is read from it before its schema is exactly ours: no
view stands for a table and no trigger undoes a charge. Every commit is synced to the disk, folder included.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from dpfda.core.errors import FileError, LedgerError
from dpfda.ledger import verified
from dpfda.ledger.entries import Balance, Book, Entry, Home, Output, broken

WAIT_SECONDS = 30.0
PAUSE_SECONDS = 0.004
#: The clock by which files are born goes at least as fast.
TICK_SECONDS = 0.01
#: No cell of a ledger is longer, in bytes.
LONGEST_CELL = 100_000
#: Ledgers that are named where one is missing.
MOST_SHOWN = 3
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
#: A younger table, and younger columns: ledgers without them get them with their next charge.
HOME = (
    "CREATE TABLE home (number INTEGER PRIMARY KEY, time TEXT NOT NULL, place TEXT NOT NULL, witness TEXT NOT NULL,"
    " head TEXT NOT NULL, seal TEXT NOT NULL)",
    "CREATE TRIGGER home_fixed BEFORE UPDATE ON home BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TRIGGER home_kept BEFORE DELETE ON home BEGIN SELECT RAISE(ABORT, 'append-only'); END",
)
TOTALS = ("ALTER TABLE entry ADD COLUMN spent TEXT", "ALTER TABLE entry ADD COLUMN spent_delta TEXT")
#: Still younger: what an entry says beside its charge, and what became of it. Made when there is something to say.
DETAILS = (
    "CREATE TABLE detail (number INTEGER PRIMARY KEY, note TEXT NOT NULL, operator TEXT NOT NULL, run TEXT NOT NULL,"
    " period TEXT NOT NULL, period_spent TEXT NOT NULL, period_spent_delta TEXT NOT NULL)",
    "CREATE TRIGGER detail_fixed BEFORE UPDATE ON detail BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TRIGGER detail_kept BEFORE DELETE ON detail BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TABLE output (number INTEGER PRIMARY KEY, time TEXT NOT NULL, charge INTEGER NOT NULL, file TEXT NOT NULL,"
    " sha256 TEXT NOT NULL, seal TEXT NOT NULL)",
    "CREATE TRIGGER output_fixed BEFORE UPDATE ON output BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TRIGGER output_kept BEFORE DELETE ON output BEGIN SELECT RAISE(ABORT, 'append-only'); END",
)
#: Errors that are about the disk and its permissions, not about the content.
OUTSIDE = {
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOLFS,
}  # fmt: skip


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """One state of the file, whatever others write meanwhile."""
    with _connection(path) as db:
        db.execute("PRAGMA query_only = ON")
        db.execute("BEGIN")
        yield db


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """The only writer; what was written is on disk when this ends well, and undone otherwise."""
    with _connection(path) as db:
        _take_turn(db)
        yield db
        db.execute("COMMIT")


def _take_turn(db: sqlite3.Connection) -> None:
    """Become the writer. SQLite waits longer and longer between its attempts, and whoever came late would win."""
    end = time.monotonic() + WAIT_SECONDS
    db.execute("PRAGMA busy_timeout = 0")
    while not db.in_transaction:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(PAUSE_SECONDS)
    db.execute(f"PRAGMA busy_timeout = {round(1000 * WAIT_SECONDS)}")


@contextmanager
def making(path: Path) -> Iterator[sqlite3.Connection]:
    """A new file that nobody else may read or write; if its making fails there is none."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise LedgerError(
            f"{path.name!r} exists already; a ledger is never overwritten. Choose another name."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such name is possible"
        raise FileError(f"The ledger {path.name[:60]!r} cannot be made here: {reason}. Choose another place.") from None
    try:
        began = time.monotonic()
        with _connection(path) as db:
            yield db
        time.sleep(max(0.0, began + TICK_SECONDS - time.monotonic()))  # whatever copies it is born later
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def load_balance(db: sqlite3.Connection, name: str, study: str | None) -> Balance:
    """Read and verify what a charge must know, in the same time however many entries there are."""
    start, entries = _opened(db, name, study)
    tail = db.execute(f"{entries} ORDER BY number DESC LIMIT 2").fetchall()
    if tail and tail[0][verified.TOTALS] == verified.UNKNOWN:  # not charged since totals are kept
        return load_book(db, name, study).balance
    return verified.balance(name, start, tail)


def load_book(db: sqlite3.Connection, name: str, study: str | None) -> Book:
    """Read and verify the whole file: every seal and every total."""
    start, entries = _opened(db, name, study)
    book = verified.book(name, start, db.execute(f"{entries} ORDER BY number"))
    if not _has_details(db):
        return book
    stray = "SELECT 1 FROM detail WHERE number NOT IN (SELECT number FROM entry) LIMIT 1"
    if db.execute(stray).fetchone():
        raise broken(name)
    rows = db.execute("SELECT number, time, charge, file, sha256, seal FROM output ORDER BY number")
    return replace(book, outputs=verified.outputs(name, start.last.seal, book.entries, rows))


def seal_of(db: sqlite3.Connection, number: int) -> str | None:
    """The seal of an entry, of the study itself for 0, and none for what is not there."""
    sought = ("SELECT seal FROM entry WHERE number = ?", (number,)) if number else ("SELECT seal FROM study", ())
    found = db.execute(*sought).fetchone()
    return found[0] if found else None


def has_run(db: sqlite3.Connection, run: str) -> bool:
    """Whether a charge belongs to this run of a job: what stands behind a # makes no other run."""
    if not _has_details(db):
        return False
    same = "SELECT 1 FROM detail WHERE run <> '' AND substr(run, 1, instr(run || '#', '#') - 1) = ?"
    return db.execute(same, (run.partition("#")[0],)).fetchone() is not None


def outputs_of(db: sqlite3.Connection, charge: int) -> list[Output]:
    """The free entries of a charge, oldest first."""
    return _outputs(db, "WHERE charge = ? ORDER BY number", charge)


def last_output(db: sqlite3.Connection) -> Output | None:
    return next(iter(_outputs(db, "ORDER BY number DESC LIMIT 1")), None)


def _outputs(db: sqlite3.Connection, which: str, *values: int) -> list[Output]:
    if not _has_details(db):
        return []
    rows = db.execute(f"SELECT number, time, charge, file, sha256, seal FROM output {which}", values)
    return [Output(*row) for row in rows]


def add_entry(db: sqlite3.Connection, entry: Entry) -> None:
    _bring_to_totals(db)
    db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", entry.row)
    if entry.details:
        _bring_to_details(db)
        db.execute("INSERT INTO detail VALUES (?, ?, ?, ?, ?, ?, ?)", (entry.number, *entry.details))


def add_output(db: sqlite3.Connection, output: Output) -> None:
    _bring_to_totals(db)
    _bring_to_details(db)
    db.execute("INSERT INTO output VALUES (?, ?, ?, ?, ?, ?)", output.row)


def _bring_to_totals(db: sqlite3.Connection) -> None:
    if len(db.execute("SELECT * FROM entry LIMIT 0").description) < verified.TOTALS.stop:
        for statement in TOTALS:
            db.execute(statement)


def _bring_to_details(db: sqlite3.Connection) -> None:
    if not _has_details(db):
        for statement in DETAILS:
            db.execute(statement)


def _has_details(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'detail'").fetchone() is not None


def add_home(db: sqlite3.Connection, home: Home) -> None:
    if home.number == 1:
        for statement in HOME:
            db.execute(statement)
    db.execute("INSERT INTO home VALUES (?, ?, ?, ?, ?, ?)", home.row)


@contextmanager
def copied(path: Path, study: str | None) -> Iterator[tuple[sqlite3.Connection, Book]]:
    """One state of the file in memory, verified."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        with reading(path) as db:
            book = load_book(db, path.name, study)
            db.backup(memory)
        yield memory, book


def _opened(db: sqlite3.Connection, name: str, study: str | None) -> tuple[Balance, str]:
    """The balance before the first charge, and how the entries are asked for; schema, study and homes verified."""
    age = _check_schema(db, name)
    heads = db.execute("SELECT format, name, epsilon, delta, created, seal FROM study LIMIT 2").fetchall()
    sought = "SELECT number, time, place, witness, head, seal FROM home ORDER BY number"
    homes = db.execute(sought).fetchall() if age > 0 else []
    if age > 0 and not homes:  # the table is made with its first row
        raise broken(name)
    start = verified.opened(name, heads, homes)
    if study is not None and start.study != study:
        raise LedgerError(f"{name!r} is the ledger of study {start.study!r}, not of {study!r}. Pass the right file.")
    totals = "spent, spent_delta" if age > 1 else "NULL, NULL"
    said = "note, operator, run, period, period_spent, period_spent_delta"
    said, beside = (said, " LEFT JOIN detail USING (number)") if age > 2 else (", ".join(["NULL"] * 6), "")
    return start, f"SELECT number, time, plan, query, epsilon, delta, seal, {totals}, {said} FROM entry{beside}"


def _check_schema(db: sqlite3.Connection, name: str) -> int:
    """Which of our schemas this is, the oldest first; one that is not exactly ours is refused."""
    found = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name LIMIT 20").fetchall()
    if not found:
        raise LedgerError(
            f"{name!r} is empty. If its making was interrupted, remove it and make the ledger again; "
            "if it ever held a charge, restore it from a backup."
        )
    if found not in _schemas():
        raise broken(name)
    return _schemas().index(found)


@cache
def _schemas() -> list[list[tuple[str, ...]]]:
    """What SQLite keeps of our schema: as it was first, then with homes, then with totals, then with details."""
    found = []
    with closing(sqlite3.connect(":memory:")) as db:
        for script in (SCHEMA, ";".join(HOME), ";".join(TOTALS), ";".join(DETAILS)):
            db.executescript(script)
            found.append(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall())
    return found


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that syncs every commit, waits for others, trusts no schema, and speaks our errors."""
    _inspect(path)
    try:
        # Never makes a file: one that has vanished since is missed, not begun anew.
        db = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = EXTRA"):
                db.execute(f"PRAGMA {pragma}")
            yield db
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
            db.close()
    except sqlite3.Error as error:
        raise _spoken(error, path.name) from None
    except (UnicodeError, OverflowError):
        raise broken(path.name) from None


def _inspect(path: Path) -> None:
    """An ordinary file, under one name, that not everybody may write."""
    name = path.name
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise LedgerError(f"There is no ledger {name!r}. {_beside(path)}") from None
    except OSError as error:
        raise LedgerError(f"The ledger {name!r} cannot be used: {error.strerror}. Check its permissions.") from None
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(f"{name!r} is not a ledger: it is not an ordinary file. Pass the file of a ledger.")
    if os.name == "posix" and found.st_mode & stat.S_IWOTH:
        raise LedgerError(f"Everybody may write to {name!r}, so nobody can rely on it. Run: chmod o-w {name}.")
    if found.st_nlink > 1:  # each name would have its own journal, and a crash would damage the file
        raise LedgerError(f"{name!r} has several names (hard links); a ledger has one. Remove the others.")


def _beside(path: Path) -> str:
    """Ledgers in the same folder, by their endings: one of them was meant, more often than a new one."""
    try:
        found = sorted(other.name for other in path.parent.iterdir() if other.suffix == ".ledger")
    except (OSError, ValueError):
        return f"There is no folder {path.parent.name!r} that can be read either. Check the path."
    if not found:
        return "Nothing in its folder ends in .ledger. Check the path, or make one with dpfda ledger create."
    found.sort(key=lambda name: -SequenceMatcher(None, name, path.name).ratio())
    listed = ", ".join(repr(name[:60]) for name in found[:MOST_SHOWN])
    others = f"{listed} and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else listed
    return f"In its folder there is {others}. Check the name, or make one with dpfda ledger create."


def _spoken(error: sqlite3.Error, name: str) -> Exception:
    """An error of SQLite in our words."""
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_READONLY_DBMOVED:
        return LedgerError(f"The ledger {name!r} was moved or replaced while it was used. Nothing was charged there.")
    code &= 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerError(f"The ledger {name!r} is locked by another process. Try again when it is done.")
    if code in OUTSIDE:
        return LedgerError(f"The ledger {name!r} cannot be used ({error}). Check the disk and its permissions.")
    if code == sqlite3.SQLITE_NOTADB:
        return LedgerError(
            f"{name!r} is not an intact dpfda ledger, or none at all. Check the path, or restore it from a backup."
        )
    return broken(name)
