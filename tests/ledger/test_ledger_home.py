"""The place of a ledger: what a restore cannot bring back, and what moving, remounting and crashing leave alone."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import dpfda as dp
from dpfda.ledger import home, store

#: Try to become the writer, from a process of its own.
WRITER = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"


@pytest.fixture
def book(tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=2, study="sleep")


@pytest.fixture
def born(book):
    if "born=" not in home.place_of(book.path):
        pytest.skip("this file system does not tell when a file was made")
    return book


def charge(book):
    return book.charge("1/4", plan="p", query="q")


def refused(book, match="is a copy"):
    for act in (lambda: book.check("1/4"), lambda: charge(book)):
        with pytest.raises(dp.errors.LedgerError, match=match):
            act()
    return True


def numbered(path):
    """The place as ledgers knew it first."""
    return str(os.stat(path).st_ino)


def places(book):
    with closing(sqlite3.connect(book.path)) as db:
        return [place for (place,) in db.execute("SELECT place FROM home ORDER BY number")]


# -- restores ------------------------------------------------------------------------------------


def test_an_ordinary_restore_is_refused_though_it_gets_the_old_number_and_the_witness(born, tmp_path):
    charge(born)
    number = born.path.stat().st_ino
    saved = shutil.copy2(born.path, tmp_path / "saved")  # with extended attributes, as cp -a
    charge(born)
    for _ in range(20):
        born.path.unlink()
        shutil.copy2(saved, born.path)
        assert refused(born)
        if born.path.stat().st_ino == number:  # ext4 gives it again at once, others never
            break
    born.adopt(spent="1/4")
    charge(born)


def test_files_with_one_number_are_told_apart(book, tmp_path, monkeypatch):
    """As on two memory disks, which both begin to count at the same number."""
    copy = dp.Ledger(shutil.copy2(book.path, tmp_path / "copy"))  # at once: births are told in ticks of a clock
    real = os.stat

    def same_number(path, **options):
        found = real(path, **options)
        return os.stat_result([found.st_mode, 2, *found[2:10]])

    monkeypatch.setattr(os, "stat", same_number)
    monkeypatch.setattr(home, "_disk", lambda path: path.name)  # another disk each
    for _ in range(2):
        book.adopt(spent=0)
        charge(book)
        here, there = home.place_of(book.path), home.place_of(copy.path)
        assert here.split()[0] == there.split()[0] == "2"
        assert not home.is_same(here, there)
        copy.path.write_bytes(book.path.read_bytes())
        home.testify(copy.path, home.testimony(book.path) or "")
        assert refused(copy)
        monkeypatch.setattr(home, "_born", lambda path, found: "")  # and where births are not told


@pytest.mark.parametrize(
    ("kept", "found", "same"),
    [
        ("7 born=1.5 disk=a", "7 born=1.5 disk=a", True),
        ("7 born=1.5 disk=a", "7 born=1.6 disk=a", False),
        ("7 born=1.5 disk=a", "8 born=1.5 disk=a", False),
        ("7 born=1.5 disk=a", "7 born=1.5 disk=b", True),  # a reboot numbered the devices anew
        ("7 born=1.5 disk=a", "7 disk=a", True),  # a program that cannot ask for births
        ("7 born=1.5 disk=a", "7 disk=b", False),
        ("7 disk=a", "7 born=1.5 disk=a", True),
        ("7 born=1.5", "7", True),  # a network drive that tells nothing but numbers
        ("7", "7 born=1.5 disk=a", True),  # written by an older version
        ("7", "8 born=1.5 disk=a", False),
        (home.BACKUP, "7 born=1.5 disk=a", False),
        ("", "", False),
        ("", "7", False),
    ],
)
def test_the_best_fact_that_both_know_decides(kept, found, same):
    assert home.is_same(kept, found) is same


# -- what keeps the place ------------------------------------------------------------------------


def test_the_place_is_kept_when_the_file_is_renamed_changed_vacuumed_or_its_writer_killed(book, tmp_path):
    place = home.place_of(book.path)
    charge(book)
    (tmp_path / "there").mkdir()
    book = dp.Ledger(book.path.rename(tmp_path / "there" / "renamed.ledger"))
    book.path.chmod(0o660)
    os.utime(book.path)
    with closing(sqlite3.connect(book.path)) as db:
        db.execute("VACUUM")
    child = os.fork()
    if not child:
        with store.writing(book.path) as db:
            db.execute("PRAGMA cache_spill = 1")
            db.execute("INSERT INTO entry VALUES (2, 't', 'p', 'q', '1/4', '0', 's', '1/2', '0')")
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert charge(book).number == 2
    assert home.place_of(book.path) == place
    assert places(book) == [place]


def test_asking_for_the_place_keeps_the_locks_of_the_writer(book):
    """A file that is opened and closed beside SQLite would take its locks away."""
    with store.writing(book.path):
        home.place_of(book.path)
        home.testimony(book.path)
        other = subprocess.run([sys.executable, "-c", WRITER, book.path], capture_output=True, text=True, check=False)
    assert "database is locked" in other.stderr


# -- ledgers that knew less ----------------------------------------------------------------------


def test_a_ledger_that_knows_its_number_alone_goes_on_and_learns_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(home, "place_of", numbered)
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=2, study="sleep")
    charge(book)
    monkeypatch.undo()
    book.check("1/4")
    assert refused(dp.Ledger(shutil.copy2(book.path, tmp_path / "copy")))
    for _ in range(2):
        charge(book)  # the first writes the fuller place, the second finds it written
    assert places(book) == [numbered(book.path), home.place_of(book.path)]
    assert [e.number for e in dp.Ledger(book.path).history()] == [1, 2, 3]
    assert book.verify() == ()


def test_a_program_that_knows_less_does_not_forget_what_was_known(book, monkeypatch):
    known = places(book)
    monkeypatch.setattr(home, "place_of", numbered)
    charge(book)
    monkeypatch.undo()
    charge(book)
    assert places(book) == known


def test_a_crash_while_the_place_is_written_down_leaves_a_ledger_in_use(tmp_path, monkeypatch):
    monkeypatch.setattr(home, "place_of", numbered)
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=2, study="sleep")
    monkeypatch.undo()
    with monkeypatch.context() as patch:
        patch.setattr(dp.Ledger, "_standing", lambda self, charged: None)  # killed right after the commit
        charge(book)
    assert charge(book).number == 2
