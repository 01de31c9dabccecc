import sqlite3
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpfda as dp


@pytest.fixture
def ledger(tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="sleep")


def test_ten_tenths_exhaust_one_exactly(ledger):
    for _ in range(10):
        ledger.charge(0.1, plan="p", query="mean")
    assert ledger.remaining == 0
    with pytest.raises(dp.BudgetExceeded):
        ledger.charge("1/1000000", plan="p", query="mean")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(charges=st.lists(st.fractions(Fraction(1, 1000), 2, max_denominator=10**12), max_size=8))
def test_charges_add_exactly_and_never_exceed_the_budget(charges, tmp_path_factory):
    ledger = dp.Ledger.create(tmp_path_factory.mktemp("l") / "x", epsilon=3, study="s")
    taken = Fraction(0)
    for charge in charges:
        if taken + charge > 3:
            with pytest.raises(dp.BudgetExceeded):
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
    with sqlite3.connect(ledger.path) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("UPDATE entry SET epsilon = '0'")
    with sqlite3.connect(ledger.path) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("DELETE FROM entry")
    with sqlite3.connect(ledger.path) as db:
        (guard,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'entry_fixed'").fetchone()
        db.execute("DROP TRIGGER entry_fixed")
        db.execute("UPDATE entry SET epsilon = '1/1000'")
    with pytest.raises(dp.LedgerError, match="not an intact"):
        _ = ledger.remaining
    with sqlite3.connect(ledger.path) as db:
        db.execute(guard)
    with pytest.raises(dp.LedgerError, match=r"Entry 1 .* was altered"):
        _ = ledger.remaining


def test_a_ledger_is_never_overwritten_and_needs_a_name(ledger, tmp_path):
    with pytest.raises(dp.LedgerError, match="never overwritten"):
        dp.Ledger.create(ledger.path, epsilon=5, study="again")
    with pytest.raises(dp.ParameterError, match="printable name"):
        dp.Ledger.create(tmp_path / "y", epsilon=5, study=" ")
    with pytest.raises(dp.ParameterError, match="delta must be"):
        dp.Ledger.create(tmp_path / "y", epsilon=5, study="s", delta=1)
    with pytest.raises(dp.LedgerError, match="cannot be created"):
        dp.Ledger.create(tmp_path / "no" / "y", epsilon=5, study="s")
    assert not (tmp_path / "y").exists()


def test_the_charge_is_on_disk_before_noise_is_drawn(ledger, monkeypatch):
    """A crash in the noise step costs budget, and releases nothing."""
    seen = []

    def crash(self, settled):
        seen.append(dp.Ledger(ledger.path).spent)
        raise RuntimeError("power cut")

    monkeypatch.setattr(dp.noise.Laplace, "draw", crash)
    plan = dp.MeanPlan(n=30, epsilon="1/4", bound=dp.L2Ball(1.0), grid=8, method=dp.QR())
    with pytest.raises(RuntimeError, match="power cut"):
        plan.release(np.zeros((30, 8)), ledger)
    assert seen == [Fraction(1, 4)]
    assert ledger.spent == Fraction(1, 4)
