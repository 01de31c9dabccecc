"""What happens to ledgers in real life: clocks that jump, copies, restores, backups, permissions, no refunds."""

from __future__ import annotations

import os
import shutil
import stat
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.ledger import home

PLAN = dp.MeanPlan(n=20, epsilon="1/4", bound=dp.L2Ball(1.0), grid=6, method=dp.methods.QR(eta=2.0, psi=1e-3))


@pytest.fixture
def book(tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=2, study="sleep")


@pytest.fixture
def witnessed(book):
    if home.testimony(book.path) is None:
        pytest.skip("this file system keeps no extended attributes")
    return book


def release(book, query="mean"):
    return PLAN.release(np.zeros((20, 6)), book, query=query)


def refused(book, match="is a copy"):
    with pytest.raises(dp.errors.LedgerError, match=match):
        book.check("1/8")
    with pytest.raises(dp.errors.LedgerError, match=match):
        book.charge("1/8", plan="p", query="q")
    return True


# -- clocks --------------------------------------------------------------------------------------


def test_order_is_by_number_whatever_the_clock_says(book, monkeypatch):
    times = ["2026-05-01T00:00:00Z", "1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "2026-05-01T00:00:01Z"]
    clock = iter(times)
    monkeypatch.setattr("dpfda.ledger.entries.now", lambda: next(clock))
    for number in range(4):
        book.charge("1/4", plan="p", query=f"q{number}")
    history = dp.Ledger(book.path).history()
    assert [e.time for e in history] == times  # they state what the clock said
    assert [(e.number, e.query) for e in history] == [(i + 1, f"q{i}") for i in range(4)]
    assert book.spent == 1


# -- copies, restores, backups -------------------------------------------------------------------


def test_a_copy_is_read_and_never_charged(book, tmp_path):
    book.charge("1/2", plan="p", query="q")
    for copy in (shutil.copy, shutil.copy2):
        other = dp.Ledger(copy(book.path, tmp_path / copy.__name__))
        assert (other.spent, len(other.history())) == (Fraction(1, 2), 1)
        assert refused(other)
    book.charge("1/2", plan="p", query="q")


def test_a_moved_ledger_goes_on(book, tmp_path):
    book.charge("1/2", plan="p", query="q")
    (tmp_path / "there").mkdir()
    moved = book.path.rename(tmp_path / "there" / "renamed.ledger")
    assert dp.Ledger(moved).charge("1/2", plan="p", query="q").number == 2


def test_an_older_content_copied_over_the_file_is_noticed(witnessed, tmp_path):
    witnessed.charge("1/2", plan="p", query="q")
    shutil.copyfile(witnessed.path, tmp_path / "older")
    witnessed.charge("1/2", plan="p", query="q")
    shutil.copyfile(tmp_path / "older", witnessed.path)  # the same file on the disk, with less in it
    assert refused(witnessed, "lacks charges")
    witnessed.adopt(spent="1/2")
    assert witnessed.spent == 1
    witnessed.charge(1, plan="p", query="q")


def test_a_missing_witness_is_called_missing(witnessed):
    witnessed.charge("1/2", plan="p", query="q")
    os.removexattr(witnessed.path, home.WITNESS)  # by a tool, or hidden by a mount
    assert refused(witnessed, r"witness .* is missing: .* ledger history study.ledger.* ledger adopt study.ledger")
    witnessed.adopt(spent=0)
    witnessed.charge("1/2", plan="p", query="q")
    assert witnessed.spent == 1


def test_a_mount_without_witness_is_adopted_and_goes_on(witnessed, monkeypatch):
    def unsupported(*args):
        raise OSError(95, "Operation not supported")

    for act in ("getxattr", "setxattr"):
        monkeypatch.setattr(os, act, unsupported)
    assert refused(witnessed, "is missing")
    witnessed.adopt(spent=0)
    witnessed.charge("1/2", plan="p", query="q")
    monkeypatch.undo()
    witnessed.charge("1/2", plan="p", query="q")


def test_without_extended_attributes_a_ledger_works_and_copies_are_refused(tmp_path, monkeypatch):
    def unsupported(*args):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", unsupported, raising=False)
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="s")
    book.charge("1/4", plan="p", query="q")
    assert refused(dp.Ledger(shutil.copy(book.path, tmp_path / "copy")))
    book.charge("1/4", plan="p", query="q")


def test_a_witness_that_was_behind_is_no_alarm(witnessed):
    first = witnessed.charge("1/4", plan="p", query="q")
    witnessed.charge("1/4", plan="p", query="q")
    home.testify(witnessed.path, f"{first.number} {first.seal}")  # a crash between a charge and its witness
    witnessed.charge("1/4", plan="p", query="q")


def test_a_backup_is_refused_wherever_it_is_put_until_it_is_adopted(book, tmp_path):
    release(book)
    copy = book.backup(tmp_path / "study.backup")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with pytest.raises(dp.errors.LedgerError, match="never overwritten"):
        book.backup(copy)
    later = release(book, "later")
    assert refused(dp.Ledger(copy))
    shutil.copyfile(copy, book.path)  # restored in place, where the file keeps its number on the disk
    assert refused(book)
    (written,) = book.adopt(releases=[later])
    assert (written.epsilon, written.plan) == (Fraction(1, 4), PLAN.digest)
    assert "later (restored: entry 2" in written.query
    assert book.verify([later])[0] == written
    assert book.adopt(releases=[later], spent=0) == ()  # nothing is written in twice
    assert book.spent == Fraction(1, 2)
    assert release(book).entry == 3


def test_a_backup_is_consistent_while_others_charge(book, tmp_path):
    child = os.fork()
    if not child:
        for _ in range(30):
            book.charge("1/64", plan="p", query="q")
        os._exit(0)
    copies = [dp.Ledger(book.backup(tmp_path / f"copy{i}")).history() for i in range(10)]
    assert os.waitpid(child, 0)[1] == 0
    whole = book.history()
    assert len(whole) == 30
    assert all(copy == whole[: len(copy)] for copy in copies)


def test_adoption_says_what_was_spent_and_stays_within_the_budget(book, tmp_path):
    copy = dp.Ledger(book.backup(tmp_path / "copy"))
    with pytest.raises(dp.errors.ParameterError, match="must be said"):
        copy.adopt()
    with pytest.raises(dp.errors.ParameterError, match="spent must be"):
        copy.adopt(spent=-1)
    with pytest.raises(dp.errors.BudgetExceeded):
        copy.adopt(spent=3)
    assert refused(copy)
    foreign = release(dp.Ledger.create(tmp_path / "other", epsilon=1, study="other"))
    with pytest.raises(dp.errors.LedgerError, match="study 'other'"):
        copy.adopt(releases=[foreign])
    with pytest.raises(dp.errors.LedgerError, match="no ledger"):
        copy.adopt(releases=[release(None)])
    (written,) = copy.adopt(spent="3/2")
    assert (written.number, copy.remaining) == (1, Fraction(1, 2))
    copy.charge("1/2", plan="p", query="q")


def test_verify_notices_a_ledger_that_was_rolled_back_or_forked(book, tmp_path):
    first = release(book)
    assert [e.number for e in book.verify([first])] == [1]
    copy = dp.Ledger(book.backup(tmp_path / "copy"))
    second = release(book)
    with pytest.raises(dp.errors.LedgerError, match="is a copy"):
        copy.verify()
    copy.adopt(spent=0)
    with pytest.raises(dp.errors.LedgerError, match=r"does not hold the charge of a mean .*entry 2"):
        copy.verify([first, second])
    other = release(copy)  # the fork has an entry 2 of its own
    assert (other.entry, other.seal == second.seal) == (2, False)
    with pytest.raises(dp.errors.LedgerError, match="does not hold"):
        book.verify([other])


def test_group_releases_are_verified_by_their_one_charge(book, tmp_path):
    groups = np.array(["a", "b"] * 10)
    both = dp.mean(np.zeros((20, 6)), by=groups, groups=["a", "b"], epsilon="1/4", bound=dp.L2Ball(1.0), ledger=book)
    assert (both.study, both.entry, both.seal) == ("sleep", 1, book.history()[0].seal)
    both.save(tmp_path / "both.json")
    assert len(book.verify([dp.load(tmp_path / "both.json"), both["a"]])) == 2


# -- permissions and names -----------------------------------------------------------------------


def test_a_ledger_is_private_and_one_that_everybody_may_write_is_refused(book):
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    book.path.chmod(0o660)
    book.charge("1/4", plan="p", query="q")  # a group may share one
    book.path.chmod(0o602)
    with pytest.raises(dp.errors.LedgerError, match=r"chmod o-w study.ledger"):
        book.history()


def test_one_file_has_one_name_and_links_lead_to_it(book, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.ledger"
    link.symlink_to(book.path)
    dp.Ledger(link).charge("1/4", plan="p", query="q")
    assert book.spent == Fraction(1, 4)
    os.link(book.path, tmp_path / "second")
    with pytest.raises(dp.errors.LedgerError, match="several names"):
        book.charge("1/4", plan="p", query="q")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    with pytest.raises(dp.errors.LedgerError, match="never overwritten"):
        dp.Ledger.create(tmp_path / "dangling", epsilon=1, study="s")


def test_the_file_of_another_study_in_its_place_is_refused(book, tmp_path):
    def rows():
        """The ledger is replaced after the check and before the charge."""
        dp.Ledger.create(tmp_path / "other", epsilon=5, study="other")
        os.replace(tmp_path / "other", book.path)
        yield np.zeros((20, 6))

    with pytest.raises(dp.errors.LedgerError, match=r"study 'other', not of 'sleep'"):
        PLAN.release(rows(), str(book.path))
    assert dp.Ledger(book.path).history() == ()


def test_a_ledger_that_vanishes_before_the_charge_is_not_begun_anew(book):
    def rows():
        book.path.unlink()
        yield np.zeros((20, 6))

    with pytest.raises(dp.errors.LedgerError, match="There is no ledger"):
        PLAN.release(rows(), book)
    assert not book.path.exists()


@pytest.mark.parametrize(("owner", "act"), [(dp.ledger.entries.Balance, "charged"), (dp.Ledger, "_standing")])
def test_a_charge_written_into_a_removed_file_is_no_charge(book, tmp_path, monkeypatch, owner, act):
    """Replaced within the transaction, or right after it, by a file that even has the right study."""
    real = getattr(owner, act)

    def swapped(self, *args):
        dp.Ledger.create(tmp_path / "other", epsilon=5, study="sleep")
        os.replace(tmp_path / "other", book.path)
        return real(self, *args)

    monkeypatch.setattr(owner, act, swapped)
    with pytest.raises(dp.errors.LedgerError, match=r"replaced while it was"):
        release(book)


# -- no refunds ----------------------------------------------------------------------------------


def test_a_failure_after_the_charge_says_that_it_stands(book, monkeypatch):
    def broken(self, settled):
        raise MemoryError("out of memory")

    monkeypatch.setattr(dp.noise.Laplace, "draw", broken)
    with pytest.raises(MemoryError) as caught:
        release(book)
    assert caught.value.__notes__ == ["Entry 1 in the ledger of study 'sleep' stands: a charge is never refunded."]
    assert book.spent == Fraction(1, 4)


def test_the_command_says_that_the_charge_stands(book, tmp_path, monkeypatch):
    np.savetxt(tmp_path / "curves.csv", np.zeros((20, 6)), delimiter=",")
    words = ["mean", tmp_path / "curves.csv", "--epsilon", "1/4", "--radius", "1", "--ledger", book.path]

    def full(*names):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        done = CliRunner().invoke(app, [str(w) for w in [*words, "--out", tmp_path / "mean.json"]])
    assert done.exit_code == 1
    assert "could not be written: No space left" in done.output
    assert "Entry 1 in the ledger of study 'sleep' stands: a charge is never refunded." in done.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["curves.csv", "study.ledger"]


def test_there_is_no_way_to_take_a_charge_back(book):
    acts = {"create", "charge", "check", "history", "outputs", "record_output", "verify", "examine", "backup", "adopt"}
    facts = {"name", "study", "path", "budget", "spent", "remaining", "delta_budget", "delta_spent"}
    facts |= {"note", "operator", "run", "period", "current_period", "period_spent", "in_use", "book"}
    assert {name for name in dir(book) if not name.startswith("_")} == acts | facts
    for wrong in (-1, "-1/4", 0):
        with pytest.raises(dp.errors.ParameterError):
            book.charge(wrong, plan="p", query="q")


@pytest.mark.parametrize("text", [None, 3, "a\nb", "\x1b[2J", "q" * 2001])
def test_charges_are_for_printable_texts(book, text):
    with pytest.raises(dp.errors.ParameterError, match="printable texts"):
        book.charge("1/4", plan="p", query=text)
    assert book.history() == ()


# -- the command ---------------------------------------------------------------------------------


def test_backup_verify_and_adopt_by_the_command(book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(line):
        done = CliRunner().invoke(app, line.split())
        return done.exit_code, done.output

    release(book).save("first.json")
    assert run("ledger backup study.ledger study.backup") == (0, "Written: study.backup\n")
    release(book).save("second.json")
    code, output = run("ledger verify study.ledger first.json second.json")
    assert code == 0
    assert output.splitlines()[:2] == ["Intact: 2 charges, epsilon 0.5 of 2.", "Holds the charges of 2 releases."]
    shutil.move("study.backup", "study.ledger")
    code, output = run("ledger verify study.ledger")
    assert code == 3
    assert "dpfda ledger adopt study.ledger --release mean.json" in output
    code, output = run("ledger adopt study.ledger")
    assert (code, "Pass --spent 0 if nothing was" in output) == (1, True)
    code, output = run("ledger adopt study.ledger --release first.json --release second.json")
    assert (code, output) == (0, "Adopted study.ledger; charges written in: 1. Left: epsilon 1.5.\n")
    assert run("ledger verify study.ledger first.json second.json")[0] == 0
