"""Ledgers from before totals and homes were kept: they open, are converted by one charge, and keep their seals."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.ledger import home, store

PLAN = dp.MeanPlan(n=20, epsilon="1/4", bound=dp.L2Ball(1.0), grid=6, method=dp.methods.QR(eta=2.0, psi=1e-3))
#: To the letter what earlier versions wrote; never to be changed.
TABLES = """
CREATE TABLE study (format TEXT NOT NULL, name TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,
                    created TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TABLE entry (number INTEGER PRIMARY KEY, time TEXT NOT NULL, plan TEXT NOT NULL, query TEXT NOT NULL,
                    epsilon TEXT NOT NULL, delta TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TRIGGER study_fixed BEFORE UPDATE ON study BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER study_kept BEFORE DELETE ON study BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entry_fixed BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""
HOMES = (
    "CREATE TABLE home (number INTEGER PRIMARY KEY, time TEXT NOT NULL, place TEXT NOT NULL, witness TEXT NOT NULL,"
    " head TEXT NOT NULL, seal TEXT NOT NULL);"
    "CREATE TRIGGER home_fixed BEFORE UPDATE ON home BEGIN SELECT RAISE(ABORT, 'append-only'); END;"
    "CREATE TRIGGER home_kept BEFORE DELETE ON home BEGIN SELECT RAISE(ABORT, 'append-only'); END;"
)
TIME = "2026-05-01T00:00:00Z"


def seal(previous, row):
    return hashlib.sha256("\x1f".join([previous, *map(str, row)]).encode()).hexdigest()


def old_ledger(path: Path, charges=("1/4", "1/8", "1/8"), homes=True) -> dp.Ledger:
    """The file that an earlier version would have made here; the oldest kept no homes and no witness."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    row = ("dpfda-ledger-1", "sleep", "2", "1/100", TIME)
    link = last = seal("", row)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(TABLES)
        db.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?)", (*row, link))
        if homes:
            known = home.testify(path, "adopting")
            row = (1, TIME, home.place_of(path), "yes" if known else "no", link)
            link = seal(link, row)
            db.executescript(HOMES)
            db.execute("INSERT INTO home VALUES (?, ?, ?, ?, ?, ?)", (*row, link))
        for number, epsilon in enumerate(charges, start=1):
            row = (number, TIME, PLAN.digest, "mean", epsilon, "1/1000")
            link = last = seal(link, row)
            db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, link))
    if homes:
        home.testify(path, f"{len(charges)} {last}")
    return dp.Ledger(path)


@pytest.fixture(params=[True, False], ids=["with homes", "without homes"])
def book(request, tmp_path):
    return old_ledger(tmp_path / "study.ledger", homes=request.param)


def columns(book):
    with closing(sqlite3.connect(book.path)) as db:
        return [name for _, name, *_ in db.execute("PRAGMA table_info(entry)")]


def totals(book):
    with closing(sqlite3.connect(book.path)) as db:
        return db.execute("SELECT spent, spent_delta FROM entry ORDER BY number").fetchall()


def charge(book, epsilon="1/2"):
    return book.charge(epsilon, plan="p", query="q", delta="1/500")


def test_an_old_ledger_is_read_and_left_as_it_is(book):
    before = book.path.read_bytes()
    book.check("1/4")
    assert (book.name, book.budget, book.spent, book.remaining) == ("sleep", 2, Fraction(1, 2), Fraction(3, 2))
    assert (book.delta_budget, book.delta_spent) == (Fraction(1, 100), Fraction(3, 1000))
    assert [entry.spent for entry in book.history()] == [Fraction(1, 4), Fraction(3, 8), Fraction(1, 2)]
    assert book.verify() == ()
    assert book.path.read_bytes() == before


def test_the_first_charge_converts_it_once(book):
    old = book.history()
    entry = charge(book)
    assert columns(book)[-2:] == ["spent", "spent_delta"]
    assert totals(book) == [(None, None)] * 3 + [("1", "1/200")]
    schema = book.path.read_bytes()[40:44]  # SQLite counts the changes of a schema here
    later = charge(book)
    assert book.path.read_bytes()[40:44] == schema
    assert dp.Ledger(book.path).history() == (*old, entry, later)  # with the seals that releases name
    assert [e.number for e in (entry, later)] == [4, 5]
    assert (book.spent, book.delta_spent) == (Fraction(3, 2), Fraction(7, 1000))
    with pytest.raises(dp.errors.BudgetExceeded):
        charge(book, "501/1000")
    assert book.verify() == ()


def test_a_converted_ledger_is_quick_at_once(book, monkeypatch):
    charge(book)

    def whole(*facts):
        raise AssertionError("the whole ledger was read")

    monkeypatch.setattr(store, "load_book", whole)
    for _ in range(2):
        charge(dp.Ledger(book.path), "1/8")
    assert book.remaining == Fraction(3, 4)


def test_an_empty_old_ledger_is_converted_too(tmp_path):
    for homes in (True, False):
        book = old_ledger(tmp_path / f"{homes}", charges=(), homes=homes)
        assert (charge(book).number, charge(book).number) == (1, 2)
        assert totals(book) == [("1/2", "1/500"), ("1", "1/250")]
        assert len(book.history()) == 2


def test_a_refused_charge_converts_nothing(book):
    before = book.path.read_bytes()
    with pytest.raises(dp.errors.BudgetExceeded):
        charge(book, 2)
    assert book.path.read_bytes() == before


def test_old_seals_are_what_old_releases_name(book, tmp_path):
    made = PLAN.release(np.zeros((20, 6)), dp.Ledger.create(tmp_path / "other", epsilon=1, study="sleep"))
    first, *_ = book.history()
    released = replace(made, study="sleep", entry=1, seal=first.seal)
    assert book.verify([released]) == (first,)
    charge(book)
    assert book.verify([released]) == (first,)
    with pytest.raises(dp.errors.LedgerError, match="does not hold the charge"):
        book.verify([replace(released, entry=2)])


@pytest.mark.parametrize("converted", [False, True])
def test_backups_of_either_form_are_adopted_and_go_on(book, tmp_path, converted):
    if converted:
        charge(book)
    copy = dp.Ledger(book.backup(tmp_path / "copy"))
    assert copy.history() == book.history()
    with pytest.raises(dp.errors.LedgerError, match="is a copy"):
        charge(copy)
    (written,) = copy.adopt(spent="1/8")
    assert (written.number, copy.spent) == (len(book.history()) + 1, book.spent + Fraction(1, 8))
    assert charge(copy, "1/8").number == written.number + 1
    assert copy.verify() == ()
    again = dp.Ledger(shutil.copy(book.path, tmp_path / "again"))
    assert again.adopt(spent=0) == ()  # nothing to write in
    assert charge(again).number == len(book.history()) + 1


def test_a_ledger_from_before_homes_gets_one_with_its_next_charge(tmp_path):
    book = old_ledger(tmp_path / "study.ledger", homes=False)
    charge(book)
    with pytest.raises(dp.errors.LedgerError, match="is a copy"):
        charge(dp.Ledger(shutil.copy(book.path, tmp_path / "copy")))


def test_copies_and_older_contents_of_old_ledgers_are_refused(tmp_path):
    book = old_ledger(tmp_path / "study.ledger")
    copy = shutil.copyfile(book.path, tmp_path / "copy")
    with pytest.raises(dp.errors.LedgerError, match="is a copy"):
        charge(dp.Ledger(copy))
    charge(book)
    shutil.copyfile(copy, book.path)  # as it was before it was converted
    if home.testimony(book.path) is None:
        pytest.skip("this file system keeps no extended attributes")
    with pytest.raises(dp.errors.LedgerError, match="lacks charges"):
        charge(book)


CHANGES = {
    "a charge": "UPDATE entry SET epsilon = '1/1000' WHERE number = 2",
    "the last charge": "UPDATE entry SET epsilon = '1/1000' WHERE number = 3",
    "a hole": "DELETE FROM entry WHERE number = 2",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_entries_are_refused_before_the_conversion_and_found_after_it(tmp_path, change):
    for converted in (False, True):
        book = old_ledger(tmp_path / f"{converted}")
        if converted:
            charge(book)
            charge(book, "1/8")
        with closing(sqlite3.connect(book.path, isolation_level=None)) as db:
            guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in guards:
                db.execute(f"DROP TRIGGER {name}")
            db.execute(change)
            for _, text in guards:
                db.execute(text)
        if converted:
            assert book.remaining == Fraction(7, 8)
            charge(book, "1/8")
        else:
            with pytest.raises(dp.errors.LedgerError, match="was altered"):
                charge(book)
            assert "spent" not in columns(book)
        for whole in (book.verify, book.history):
            with pytest.raises(dp.errors.LedgerError, match="was altered"):
                whole()


@pytest.mark.parametrize("total", ["1/8", "1/2", "2/1", "1/0", "", None])
def test_a_first_total_of_nonsense_is_refused_though_its_seal_is_right(book, total):
    link = book._read().head
    row = (4, TIME, "p", "q", "1/2", "0", total, "3/1000")
    with closing(sqlite3.connect(book.path, isolation_level=None)) as db:
        if book._read().homes == ():
            db.executescript(HOMES)
            where = (1, TIME, home.place_of(book.path), "no", link)
            link = seal(link, where)
            db.execute("INSERT INTO home VALUES (?, ?, ?, ?, ?, ?)", (*where, link))
        for statement in store.TOTALS:
            db.execute(statement)
        db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row[:6], seal(link, row), *row[6:]))
    if total == "1/2":  # no less than the charge: only the whole chain can tell
        assert book.spent == Fraction(1, 2)
    else:
        with pytest.raises(dp.errors.LedgerError, match=r"not the sum|not an intact|was altered"):
            charge(book)
    with pytest.raises(dp.errors.LedgerError, match=r"not the sum|not an intact|was altered"):
        book.verify()


def test_a_modern_ledger_without_its_homes_is_no_old_one(tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="s")
    with closing(sqlite3.connect(book.path)) as db:
        db.execute("DROP TABLE home")
    with pytest.raises(dp.errors.LedgerError, match="not an intact"):
        dp.Ledger(book.path)


def test_a_conversion_that_is_cut_off_is_undone(tmp_path):
    book = old_ledger(tmp_path / "study.ledger")
    before = book.path.read_bytes()
    child = os.fork()
    if not child:
        with store.writing(book.path) as db:
            store.add_entry(db, store.load_balance(db, "study.ledger", None).charged(1, 0, "p", "q").last)
            os.kill(os.getpid(), 9)
    assert os.waitpid(child, 0)[1] == 9
    assert len(book.history()) == 3
    assert book.path.read_bytes() == before
    assert charge(book).number == 4


def test_many_processes_convert_it_together(tmp_path):
    book = old_ledger(tmp_path / "study.ledger")
    children = []
    for _ in range(6):
        children.append(os.fork())
        if not children[-1]:
            try:
                for _ in range(5):
                    book.charge("1/64", plan="p", query="q")
                os._exit(0)
            finally:
                os._exit(1)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    assert [entry.number for entry in book.history()] == list(range(1, 34))
    assert book.spent == Fraction(1, 2) + Fraction(30, 64)


def test_the_commands_read_an_old_ledger(book):
    for words in ("verify", "history", "show"):
        done = CliRunner().invoke(app, ["ledger", words, str(book.path)])
        assert done.exit_code == 0, done.output
