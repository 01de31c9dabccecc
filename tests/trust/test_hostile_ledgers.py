"""Ledger files that somebody made with care: a clear refusal in bounded time, whatever they hold."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.ledger import home, store
from dpfda.ledger.entries import seal

GUARDS = ("entry_fixed", "entry_kept", "study_fixed", "study_kept", "home_fixed", "home_kept")


@pytest.fixture
def book(tmp_path):
    made = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="sleep")
    made.charge("1/4", plan="p", query="mean")
    return made


def forge(book, *statements, rows=()):
    """Change the file as its owner could: without the guards, which stand again afterwards."""
    with closing(sqlite3.connect(book.path, isolation_level=None)) as db:
        kept = [db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0] for name in GUARDS]
        for name in GUARDS:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("BEGIN")
        for statement in statements:
            db.execute(statement)
        for row in rows:
            db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        db.execute("COMMIT")
        for sql in kept:
            db.execute(sql)


def sealed(book, *facts):
    """A next entry of any content, with the seal that belongs to it."""
    last = book.history()[-1]
    row = (last.number + 1, *facts)
    return (*row, seal(last.seal, row))


def refused(book, match="not an intact|was altered|nobody can have made"):
    for use in (lambda: dp.Ledger(book.path), lambda: book.charge("1/8", plan="p", query="q"), book.history):
        with pytest.raises(dp.LedgerError, match=match):
            use()


SCHEMAS = {
    "a trigger that takes charges back": [
        "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE number = new.number; END"
    ],
    "a trigger that changes charges": [
        "CREATE TRIGGER t AFTER INSERT ON entry BEGIN UPDATE entry SET epsilon = '0' WHERE number = new.number; END"
    ],
    "a view of no charges": [
        "CREATE TABLE hidden AS SELECT * FROM entry",
        "DROP TABLE entry",
        "CREATE VIEW entry AS SELECT * FROM hidden WHERE 0",
        "CREATE TRIGGER entry_fixed INSTEAD OF UPDATE ON entry BEGIN SELECT 1; END",
        "CREATE TRIGGER entry_kept INSTEAD OF DELETE ON entry BEGIN SELECT 1; END",
    ],
    "an endless view": [
        "CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    ],
    "another column": ["ALTER TABLE entry ADD COLUMN note TEXT"],
    "another table": ["CREATE TABLE more (x)"],
    "an index": ["CREATE INDEX i ON entry (epsilon)"],
    "many tables": [f"CREATE TABLE t{i} (x)" for i in range(200)],
}


@pytest.mark.parametrize("statements", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_that_is_not_ours_is_refused(book, statements):
    with closing(sqlite3.connect(book.path, isolation_level=None)) as db:
        for statement in ("BEGIN", *statements, "COMMIT"):
            db.execute(statement)
    refused(book, "not an intact")


@pytest.mark.parametrize("guard", GUARDS)
def test_a_ledger_without_its_guards_is_refused(book, guard):
    with closing(sqlite3.connect(book.path)) as db:
        db.execute(f"DROP TRIGGER {guard}")
    refused(book, "not an intact")


NUMBERS = {
    "negative": "-1/4", "zero": "0", "over nothing": "1/0", "beyond the budget": "10000", "infinite": "inf",
    "a float": "0.25", "an exponent": "1e9", "underscores": "1_0", "spaces": " 1/4", "other digits": "١/٤",
    "a million digits": "1/" + "9" * 10**6, "ninety thousand digits": "9" * 90_000, "nothing": "",
}  # fmt: skip


@pytest.mark.parametrize("epsilon", NUMBERS.values(), ids=NUMBERS)
def test_a_charge_of_nonsense_is_refused_though_its_seal_is_right(book, epsilon):
    forge(book, rows=[sealed(book, "t", "p", "mean", epsilon, "0")])
    refused(book)


@pytest.mark.parametrize("delta", ["-1/4", "1", "1/1000"])
def test_a_delta_beyond_its_budget_is_refused(book, delta):
    forge(book, rows=[sealed(book, "t", "p", "mean", "1/4", delta)])
    refused(book)


def test_texts_that_cannot_be_printed_are_refused(book):
    forge(book, rows=[sealed(book, "t", "p", "\x1b[2J mean", "1/4", "0")])
    refused(book)


def test_many_fractions_without_a_common_denominator_take_bounded_time(book):
    """Their total would have half a million digits."""
    previous, rows = book.history()[-1].seal, []
    for number in range(2, 2500):
        row = (number, "t", "p", "q", f"1/{10**200 + number * (number + 1) + 1}", "0")
        previous = seal(previous, row)
        rows.append((*row, previous))
    forge(book, rows=rows)
    refused(book)


def test_charges_that_would_make_such_a_ledger_are_refused(tmp_path):
    book = dp.Ledger.create(tmp_path / "long.ledger", epsilon=100, study="s")
    odd = (Fraction(10**27 + 1, 10**28 + 7 * number * number + number) for number in range(1, 1000))
    with store.writing(book.path) as db:
        held = store.load(db, "long.ledger", None)
        for epsilon, _ in zip(odd, range(80), strict=False):
            held = held.charged(epsilon, Fraction(0), "p", "q")
            db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", held.entries[-1].row)

    def go_on():
        for epsilon in odd:
            book.charge(epsilon, plan="p", query="q")

    with pytest.raises(dp.ParameterError, match="rounder epsilon"):
        go_on()
    assert 80 < len(book.history()) < 100
    book.charge("1/4", plan="p", query="q")  # the ledger is as usable as before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entry SET epsilon = NULL",
        "UPDATE entry SET epsilon = x'00ff'",
        "UPDATE entry SET query = CAST(x'ff' AS TEXT)",
        "UPDATE entry SET query = hex(zeroblob(20000000))",
        "UPDATE entry SET number = 5",
        "UPDATE entry SET number = -1",
        "UPDATE study SET epsilon = '100'",
        "UPDATE study SET name = 'other'",
        "UPDATE study SET seal = ''",
        "INSERT INTO study SELECT * FROM study",
        "DELETE FROM study",
        "DELETE FROM entry",
        "DELETE FROM home",
        "UPDATE home SET place = '1'",
    ],
)
def test_changed_cells_are_noticed(book, change):
    book.charge("1/4", plan="p", query="mean")
    try:
        forge(book, change)
    except sqlite3.IntegrityError:  # the schema itself refuses nothing in place of text
        return
    if change == "DELETE FROM entry":  # the chain of a younger file: only the file system knows better
        if home.testimony(book.path) is None:
            pytest.skip("this file system keeps no extended attributes")
        with pytest.raises(dp.LedgerError, match="lacks charges"):
            book.check("1/4")
        return
    refused(book)


@pytest.mark.parametrize("epsilon", ["-1", "0", "1e9", "10001", "1/0"])
def test_a_budget_of_nonsense_is_refused_though_its_seal_is_right(book, epsilon):
    row = ("dpfda-ledger-1", "sleep", epsilon, "0", "t")
    forge(
        book,
        "DELETE FROM entry",
        "DELETE FROM home",
        "DELETE FROM study",
        f"INSERT INTO study VALUES ('dpfda-ledger-1', 'sleep', '{epsilon}', '0', 't', '{seal('', row)}')",
    )
    refused(book)


def test_what_is_no_file_of_ours_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("date,epsilon\n" * 1000)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "magic").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    kinds = {
        "pipe": "not an ordinary file", "folder": "not an ordinary file", "text": "not an intact",
        "loop": "cannot be used", "magic": "not an intact", "text/inside": "There is no ledger",
        "a\0b": "There is no ledger", "/dev/zero": "not an ordinary file",
    }  # fmt: skip
    for name, words in kinds.items():
        with pytest.raises(dp.LedgerError, match=words):
            dp.Ledger(tmp_path / name)
    for name in ("folder", "loop", "text", "a\0b", "nowhere/x", "n" * 300):
        with pytest.raises(dp.LedgerError, match=r"never overwritten|cannot be created"):
            dp.Ledger.create(tmp_path / name, epsilon=1, study="s")


def test_the_command_refuses_in_one_line(book):
    forge(book, rows=[sealed(book, "t", "p", "mean", "-1/4", "0")])
    done = CliRunner().invoke(app, ["ledger", "show", str(book.path)])
    assert done.exit_code == 3
    assert done.output.startswith("Error: 'study.ledger' is not an intact dpfda ledger. Restore it from a backup.")


def test_a_vacuumed_ledger_is_the_same_ledger(book):
    """Ordinary housekeeping with SQLite's own tools is no damage."""
    with closing(sqlite3.connect(book.path)) as db:
        db.execute("VACUUM")
    assert book.charge("1/4", plan="p", query="mean").number == 2


def test_a_ledger_in_write_ahead_mode_keeps_its_charges(book):
    with closing(sqlite3.connect(book.path)) as db:
        assert db.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    book.charge("1/4", plan="p", query="mean")
    assert [entry.number for entry in book.history()] == [1, 2]


def test_what_we_ask_of_sqlite_is_in_force(book):
    with store.reading(book.path) as db:
        asked = {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("trusted_schema", "cell_size_check")}
        assert asked == {"trusted_schema": 0, "cell_size_check": 1}
        assert db.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA: file and folder are synced
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            db.execute("DROP TABLE entry")
