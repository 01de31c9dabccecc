import sqlite3
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpfda as dp
from dpfda.ledger import store


@pytest.fixture
def ledger(tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="sleep")


def test_ten_tenths_exhaust_one_exactly(ledger):
    for _ in range(10):
        ledger.charge(0.1, plan="p", query="mean")
    assert ledger.remaining == 0
    with pytest.raises(dp.errors.BudgetExceeded):
        ledger.charge("1/1000000", plan="p", query="mean")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(charges=st.lists(st.fractions(Fraction(1, 1000), 2, max_denominator=10**12), max_size=8))
def test_charges_add_exactly_and_never_exceed_the_budget(charges, tmp_path_factory):
    ledger = dp.Ledger.create(tmp_path_factory.mktemp("l") / "x", epsilon=3, study="s")
    taken = Fraction(0)
    for charge in charges:
        if taken + charge > 3:
            with pytest.raises(dp.errors.BudgetExceeded):
                ledger.charge(charge, plan="p", query="q")
        else:
            ledger.charge(charge, plan="p", query="q")
            taken += charge
    assert ledger.spent == taken
    assert [e.number for e in ledger.history()] == list(range(1, len(ledger.history()) + 1))


def test_entries_record_what_and_when(ledger):
    plan = dp.MeanPlan(n=30, epsilon="1/4", bound=dp.L2Ball(1.0), grid=8)
    release = plan.release(np.zeros((30, 8)), ledger)
    (entry,) = ledger.history()
    assert (entry.plan, entry.query, entry.epsilon, entry.delta) == (plan.digest, "mean", Fraction(1, 4), 0)
    assert entry.time.endswith("Z")
    assert (release.study, release.entry) == ("sleep", 1)
    assert "study 'sleep' as entry 1" in release.statement


def test_entries_cannot_be_changed_and_edits_are_noticed(ledger):
    ledger.charge(0.5, plan="p", query="mean")
    with closing(sqlite3.connect(ledger.path)) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("UPDATE entry SET epsilon = '0'")
    with closing(sqlite3.connect(ledger.path)) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("DELETE FROM entry")
    with closing(sqlite3.connect(ledger.path)) as db, db:
        (guard,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'entry_fixed'").fetchone()
        db.execute("DROP TRIGGER entry_fixed")
        db.execute("UPDATE entry SET epsilon = '1/1000'")
    with pytest.raises(dp.errors.LedgerError, match="not an intact"):
        _ = ledger.remaining
    with closing(sqlite3.connect(ledger.path)) as db, db:
        db.execute(guard)
    with pytest.raises(dp.errors.LedgerError, match=r"Entry 1 .* was altered"):
        _ = ledger.remaining


def test_a_ledger_is_never_overwritten_and_needs_a_name(ledger, tmp_path):
    with pytest.raises(dp.errors.LedgerError, match="never overwritten"):
        dp.Ledger.create(ledger.path, epsilon=5, study="again")
    with pytest.raises(dp.errors.ParameterError, match="printable name"):
        dp.Ledger.create(tmp_path / "y", epsilon=5, study=" ")
    with pytest.raises(dp.errors.ParameterError, match="delta must be"):
        dp.Ledger.create(tmp_path / "y", epsilon=5, study="s", delta=1)
    with pytest.raises(dp.errors.FileError, match="cannot be made here"):
        dp.Ledger.create(tmp_path / "no" / "y", epsilon=5, study="s")
    assert not (tmp_path / "y").exists()


def test_the_charge_is_on_disk_before_noise_is_drawn(ledger, monkeypatch):
    """A crash in the noise step costs budget, and releases nothing."""
    seen = []

    def crash(self, settled):
        seen.append(dp.Ledger(ledger.path).spent)
        raise RuntimeError("power cut")

    monkeypatch.setattr(dp.noise.Laplace, "draw", crash)
    plan = dp.MeanPlan(n=30, epsilon="1/4", bound=dp.L2Ball(1.0), grid=8, method=dp.methods.QR())
    with pytest.raises(RuntimeError, match="power cut"):
        plan.release(np.zeros((30, 8)), ledger)
    assert seen == [Fraction(1, 4)]
    assert ledger.spent == Fraction(1, 4)


# -- the cost of a charge ------------------------------------------------------------------------


def lengthen(book, entries):
    """Many charges in one transaction."""
    with store.writing(book.path) as db:
        balance = store.load_balance(db, book.path.name, None)
        for number in range(entries):
            balance = balance.charged(Fraction(1, 10**5), Fraction(0), "p", f"q{number}")
            store.add_entry(db, balance.last)


def steps_of(monkeypatch, act):
    """Everything that SQLite does in `act`: its own instructions, and the statements."""
    steps, statements = [0], []
    real = sqlite3.connect

    def step():
        steps[0] += 1

    def watched(*args, **options):
        db = real(*args, **options)
        db.set_progress_handler(step, 1)
        db.set_trace_callback(statements.append)
        return db

    with monkeypatch.context() as patch:
        patch.setattr(store.sqlite3, "connect", watched)
        act()
    return steps[0], len(statements)


@pytest.mark.parametrize("act", ["open", "check", "charge", "remaining"])
def test_a_charge_takes_as_many_steps_on_a_long_ledger_as_on_a_short_one(tmp_path, monkeypatch, act):
    acts = {
        "open": lambda book: dp.Ledger(book.path),
        "check": lambda book: book.check("1/8"),
        "charge": lambda book: book.charge("1/8", plan="p", query="mean"),
        "remaining": lambda book: book.remaining,
    }
    found = {}
    for entries in (10, 5000):
        book = dp.Ledger.create(tmp_path / f"{entries}", epsilon=1, study="s")
        lengthen(book, entries)
        acts[act](book)
        found[entries] = steps_of(monkeypatch, lambda b=book: acts[act](b))
        whole = steps_of(monkeypatch, book.history)
        assert (whole[0] > 5 * 5000) == (entries == 5000)  # the counter counts
    assert found[10] == found[5000]
    assert found[10][0] > 10


def test_entries_state_what_was_spent_up_to_them(ledger):
    charges = ["1/8", "1/3", "1/7"]
    made = [ledger.charge(charge, plan="p", query="mean") for charge in charges]
    assert [entry.spent for entry in made] == [Fraction(1, 8), Fraction(11, 24), Fraction(101, 168)]
    assert ledger.history() == tuple(made)
    with closing(sqlite3.connect(ledger.path)) as db, db:
        assert db.execute("SELECT spent, spent_delta FROM entry WHERE number = 3").fetchone() == ("101/168", "0")
