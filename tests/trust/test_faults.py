"""Killed, crowded and starved releases: a crash may cost budget, never privacy; files are whole or absent."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import tempfile
from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path

import children
import faults
import numpy as np
import pytest

import dpfda as dp
from dpfda.core import files
from dpfda.core.checks import as_epsilon
from dpfda.ledger.entries import Balance


def assert_nothing_happened(counts):
    assert {name: counts[name] for name in faults.NEVER} == dict.fromkeys(faults.NEVER, 0)


@pytest.mark.long
def test_a_release_killed_at_any_step_loses_no_charge_and_leaves_no_half_file():
    counts = faults.kills(50, seed=8)
    assert_nothing_happened(counts)
    assert counts["attempted"] == 50
    assert counts["killed"] >= 30  # a point in a loop of random length may not come again; a clock may be late
    assert counts["steps_library"] > 1000
    assert counts["charges"] > counts["release_files"] > 0  # some kills came between the charge and the file


def test_eight_processes_some_of_them_killed_never_overspend_together():
    counts = faults.crowd(processes=8, rounds=2, seed=8)
    assert_nothing_happened(counts)
    assert counts["killed"] > 0
    assert counts["used_up"] == 2
    assert counts["charges"] == 2 * 40


def test_a_full_disk_is_a_clear_error_before_or_after_the_charge():
    counts = faults.full_disk(limits=24)
    assert_nothing_happened(counts)
    assert counts["finished"] + counts["refused"] == 24
    assert min(counts["finished"], counts["refused"], counts["charges"]) > 0


def test_many_processes_get_their_turn():
    rates = faults.throughput(processes=8, seconds=0.25, lengths=(0, 100))
    for key in ("1 on 0 entries", "8 on 0 entries", "1 on 100 entries", "8 on 100 entries"):
        assert (rates[key]["failures"], rates[key]["charges_lost"]) == (0, 0)
        assert rates[key]["charges_per_second"] > 0


def test_the_cost_of_length_is_measured():
    found = faults.cost_of_length(short=5, long=50, charges=3)
    assert set(found) == {"ms_per_charge_at_5", "ms_per_charge_at_50", "cost_at_50_over_5"}
    assert min(found.values()) > 0


# -- the harness can see what it looks for -------------------------------------------------------


def test_a_charge_that_is_handed_out_before_it_is_on_disk_is_caught(monkeypatch):
    def early(self, epsilon, *, plan, query, delta=0):
        return self._read().charged(as_epsilon(epsilon), 0, plan, query).last

    faults.plan()
    monkeypatch.setattr(dp.Ledger, "charge", early)
    counts = faults.kills(10, seed=1)
    assert counts["charges_lost"] > 0
    assert counts["releases_without_charge"] > 0


def test_a_release_file_that_is_written_in_place_is_caught(tmp_path, monkeypatch):
    def in_place(self, content, mode=0o644):
        with open(self.path, "w") as file:
            for line in content.splitlines(keepends=True):
                file.write(line)
                file.flush()
                Path(self.path).stat()
        return self.path

    faults.plan()
    in_place.__code__ = in_place.__code__.replace(co_filename=files.__file__)  # its lines are steps too
    monkeypatch.setattr(files.Reserved, "write", in_place)
    study, counts = faults.Study(tmp_path, faults.plan()), Counter()
    steps = [now for now in children.steps_of(partial(faults.whole_job, study, "library")) if now[0][1] == "in_place"]
    faults.inspect(study, [], [study.output], counts)
    child = children.forked(partial(faults.watched_job, study, "library", steps[len(steps) // 2]))
    faults.inspect(study, child.finish(), [study.output], counts)
    assert counts["partial_releases"] == 1


def test_a_ledger_that_forgets_its_budget_is_caught(monkeypatch):
    faults.plan()
    monkeypatch.setattr(Balance, "refuse_excess", lambda self, epsilon, delta: None)
    counts = faults.crowd(processes=3, rounds=1, seed=1)
    assert counts["corrupt_ledgers"] == 1


# -- other jobs on a ledger, killed --------------------------------------------------------------


def killed(job, points):
    """Run `job(number)` in children, each killed at one of so many steps; the numbers."""
    job("warm")  # what is computed once per process is computed before the steps are counted
    steps = children.steps_of(lambda say: job("dry"))
    vital = [
        now for now in steps if now[0][3].split(" ")[0] == "c_return" and now[0][3].endswith(("execute", "backup"))
    ]
    chosen = vital + steps[:: max(len(steps) // points, 1)]
    for number, victim in enumerate(chosen[:: max(len(chosen) // points, 1)]):

        def work(say, n=number, v=victim):
            children.Steps(v).watch()
            job(n)

        child = children.forked(work)
        child.finish()
        assert child.code == -signal.SIGKILL
        yield number


def state_of(path):
    try:
        dp.Ledger(path).check("1/1000")
        return "ledger"
    except dp.errors.LedgerError as error:
        return "empty" if "is empty" in str(error) else "refused" if "adopt" in str(error) else str(error)


def test_a_killed_create_leaves_a_ledger_nothing_or_an_empty_file(tmp_path):
    def create(number):
        dp.Ledger.create(tmp_path / f"{number}", epsilon=1, study="s")

    found = []
    for number in killed(create, points=12):
        path = tmp_path / f"{number}"
        if not path.exists():
            found.append("nothing")
            continue
        found.append(state_of(path))
        if found[-1] == "empty":
            path.unlink()
            create(number)
        dp.Ledger(path).charge(1, plan="p", query="q")
    assert {"ledger", "empty"} <= set(found)


def test_a_killed_backup_or_adoption_never_makes_a_second_budget(tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="s")
    book.charge("1/2", plan="p", query="q")
    for number in killed(lambda n: book.backup(tmp_path / f"b{n}"), points=8):
        path = tmp_path / f"b{number}"
        assert not path.exists() or state_of(path) in ("empty", "refused")
    states = set()
    for number in killed(lambda n: dp.Ledger(book.backup(tmp_path / f"a{n}")).adopt(spent="1/4"), points=16):
        path = tmp_path / f"a{number}"
        if path.exists():
            states.add(state_of(path))
            assert states <= {"empty", "refused", "ledger"}
            assert state_of(path) != "ledger" or dp.Ledger(path).spent == Fraction(3, 4)
    assert "refused" in states
    assert book.spent == Fraction(1, 2)
    book.verify()


# -- files that cannot be written ----------------------------------------------------------------


@pytest.mark.parametrize("protected", ["file", "folder"])
def test_a_protected_ledger_is_read_and_never_charged(protected):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = dp.Ledger.create(folder / "study.ledger", epsilon=1, study="s")
        book.charge("1/2", plan="p", query="q")
        if os.getuid() == 0:  # permissions do not bind root: the child is nobody
            os.chown(book.path, 65534, 65534)
        book.path.chmod(0o400 if protected == "file" else 0o600)
        folder.chmod(0o555 if protected == "folder" else 0o777)

        def work(say):
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            say(spent=str(dp.Ledger(book.path).spent))
            dp.Ledger(book.path).charge("1/4", plan="p", query="q")

        told = children.forked(work).finish()
        folder.chmod(0o700)
        assert told[0] == {"spent": "1/2"}
        assert "cannot be used" in told[-1]["text"]
        assert "permissions" in told[-1]["text"]
        assert len(book.history()) == 1


def test_a_hot_journal_is_rolled_back(tmp_path):
    """A writer that dies with half of its pages in the file: the next reader undoes them."""
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="s")
    book.charge("1/2", plan="p", query="q")
    before = book.path.read_bytes()

    def half_write(say):
        db = sqlite3.connect(book.path, isolation_level=None)
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        for number in range(2, 400):
            row = (number, "t", "p", "q" * 500, "1/4", "0", "seal", "1/2", "0")
            db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        os.kill(os.getpid(), signal.SIGKILL)

    children.forked(half_write).finish()
    assert (tmp_path / "study.ledger-journal").exists()
    assert book.path.read_bytes() != before
    assert len(book.history()) == 1
    assert book.charge("1/2", plan="p", query="q").number == 2
    assert not (tmp_path / "study.ledger-journal").exists()


def test_the_journal_is_as_private_as_the_ledger(tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="s")
    with faults.store.writing(book.path) as db:
        db.execute("CREATE TABLE t (x)")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()]
        db.execute("DROP TABLE t")
    assert modes == [0o600, 0o600]


@pytest.mark.parametrize("cut", [1, 100, 4095, 4096, 5000, 8192, 12288])
def test_a_truncated_ledger_is_refused(tmp_path, cut):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="s")
    book.charge("1/2", plan="p", query="q")
    assert book.path.stat().st_size > cut
    with book.path.open("r+b") as file:
        file.truncate(cut)
    for use in (book.history, lambda: book.charge("1/4", plan="p", query="q")):
        with pytest.raises(dp.errors.LedgerError, match=r"not an intact|is empty"):
            use()


def test_flipped_bytes_are_noticed_or_change_nothing(tmp_path):
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="s")
    for _ in range(3):
        book.charge("1/8", plan="p" * 64, query="mean")
    whole, history, noticed = book.path.read_bytes(), book.history(), 0
    rng = np.random.default_rng(1)
    inhabited = np.flatnonzero(np.frombuffer(whole, np.uint8))
    for place in rng.choice(inhabited, 120, replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        book.path.write_bytes(damaged)
        try:
            assert book.history() == history
        except dp.errors.LedgerError:
            noticed += 1
    assert noticed > 90  # the rest are counters of SQLite that mean nothing here
