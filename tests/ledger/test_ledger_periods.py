"""Budgets that renew by the calendar: never early, never twice, and with a sum over all periods."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.ledger import store
from dpfda.ledger.entries import seal
from dpfda.ledger.periods import PERIODS, name_of

PLAN = dp.MeanPlan(n=20, epsilon="1/4", bound=dp.L2Ball(1.0), grid=6, method=dp.methods.QR(eta=2.0, psi=1e-3))


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = ["2026-05-01T00:00:00Z"]
    monkeypatch.setattr("dpfda.ledger.entries.now", lambda: now[0])

    def put(day):
        now[0] = f"{day}T12:00:00Z"

    return put


@pytest.fixture
def book(clock, tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, delta="1/10", study="sleep", period="year")


def charge(book, epsilon="1/2", delta=0):
    return book.charge(epsilon, plan="p", query="q", delta=delta)


@pytest.mark.parametrize("period", PERIODS)
def test_names_follow_each_other_as_their_periods_do(period):
    days = [date(2019, 12, 1) + timedelta(days=i) for i in range(3000)]
    names = [name_of(period, day) for day in days]
    assert names == sorted(names)
    stretches = {name: names.count(name) for name in names[400:2600]}
    longest = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[period]
    assert max(stretches.values()) == longest


def test_a_budget_renews_with_the_calendar_and_not_before(book, clock):
    charge(book), charge(book)
    with pytest.raises(dp.errors.BudgetExceeded, match=r"0 left of 1 in 2026.*wait for the next one"):
        charge(book, "1/1000")
    clock("2026-12-31")
    assert (book.remaining, book.current_period) == (0, "2026")
    clock("2027-01-01")
    assert (book.remaining, book.current_period, book.period_spent, book.spent) == (1, "2027", 0, 1)
    book.check(1)
    entry = charge(book, 1)
    assert (entry.period, entry.period_spent, entry.spent) == ("2027", 1, 2)
    assert (book.spent, book.remaining) == (2, 0)
    assert dp.Ledger(book.path).history()[-1] == entry
    assert book.verify() == ()


def test_what_a_year_leaves_over_is_not_kept_for_the_next(book, clock):
    charge(book, "1/4")
    clock("2027-06-01")
    with pytest.raises(dp.errors.BudgetExceeded):
        charge(book, "5/4")
    charge(book, 1)


def test_a_clock_that_goes_back_opens_no_budget_again(book, clock):
    charge(book, "1/4")
    clock("2027-02-01")
    charge(book, 1)
    for earlier in ("2026-06-01", "2027-01-01", "1970-01-01"):
        clock(earlier)
        assert (book.current_period, book.remaining) == ("2027", 0)
        with pytest.raises(dp.errors.BudgetExceeded):
            charge(book, "1/4")
    clock("2025-01-01")
    young = dp.Ledger.create(book.path.with_name("young"), epsilon=1, study="s", period="day")
    clock("2024-12-31")
    assert charge(young, 1).period == "2025-01-01"  # its own beginning counts too
    clock("2025-01-01")
    with pytest.raises(dp.errors.BudgetExceeded):
        charge(young)


def test_a_clock_that_was_ahead_keeps_its_period_until_the_calendar_has_caught_up(book, clock):
    clock("2030-01-01")
    charge(book, "3/4")
    for day in ("2026-05-02", "2029-12-31", "2030-12-31"):
        clock(day)
        assert (book.current_period, book.remaining) == ("2030", Fraction(1, 4))
    clock("2031-01-01")
    assert book.remaining == 1
    assert book.verify() == ()


def test_delta_renews_too(book, clock):
    charge(book, "1/4", "1/10")
    with pytest.raises(dp.errors.BudgetExceeded, match="delta"):
        charge(book, "1/4", "1/1000")
    clock("2027-01-01")
    assert charge(book, "1/4", "1/10").spent_delta == Fraction(1, 5)


def test_statements_give_the_sum_over_periods(book, clock, tmp_path):
    charge(book, "3/4")
    clock("2027-03-01")
    release = PLAN.release(np.zeros((20, 6)), book)
    said = (
        "Its budget renews every year; this charge is in that of 2027. Over all periods the study has spent epsilon 1 "
    )
    assert said in release.statement
    again = dp.load(release.save(tmp_path / "mean.json"))
    assert again.statement == release.statement
    assert again.renewal == release.renewal
    both = dp.mean(
        np.zeros((40, 6)), epsilon="1/8", bound=dp.L2Ball(1.0), by=["a", "b"] * 20, groups=["a", "b"], ledger=book
    )
    both.save(tmp_path / "both.json")
    assert "has spent epsilon 1.125 " in both.statement
    assert "has spent epsilon 1.125 " in dp.load(tmp_path / "both.json").statement
    plain = dp.Ledger.create(tmp_path / "plain.ledger", epsilon=1, study="s")
    assert "periods" not in PLAN.release(np.zeros((20, 6)), plain).statement


def test_a_long_sum_is_saved_and_loaded(book, clock, tmp_path):
    for number in range(1, 60):
        book.charge(Fraction(1, 10**8 + 2 * number + 1), plan="p", query="q")
    release = PLAN.release(np.zeros((20, 6)), book)
    assert len(str(release.renewal.spent)) > 500
    assert dp.load(release.save(tmp_path / "mean.json")).renewal == release.renewal


def test_charges_read_the_last_rows_alone(book, clock, monkeypatch):
    charge(book, "1/4")

    def whole(*facts):
        raise AssertionError("the whole ledger was read")

    monkeypatch.setattr(store, "load_book", whole)
    charge(book, "1/4")
    clock("2027-01-01")
    charge(book, "1/4")
    assert (book.remaining, book.spent) == (Fraction(3, 4), Fraction(3, 4))


CHANGES = {
    "a period": "UPDATE detail SET period = '2027' WHERE number = 3",
    "less in a period": "UPDATE detail SET period_spent = '0' WHERE number = 3",
    "a time": "UPDATE entry SET time = '2031-01-01T00:00:00Z' WHERE number = 3",
    "no details": "DELETE FROM detail WHERE number = 3",
    "a note": "UPDATE detail SET note = 'approved' WHERE number = 3",
    "a total, one before": "UPDATE detail SET period_spent = '0' WHERE number = 2",
    "no budget that renews": "UPDATE study SET format = 'dpfda-ledger-1'",
    "a budget that renews sooner": "UPDATE study SET format = 'dpfda-ledger-1 per day'",
}


def forge(book, *statements):
    with closing(sqlite3.connect(book.path, isolation_level=None)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        for _, text in guards:
            db.execute(text)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_period_is_refused_at_once(book, clock, change):
    for _ in range(3):
        charge(book, "1/4")
    forge(book, change)
    for use in (lambda: dp.Ledger(book.path), lambda: charge(book, "1/8"), book.history):
        with pytest.raises(dp.errors.LedgerError, match=r"was altered|not an intact|not the sum"):
            use()


@pytest.mark.parametrize(
    ("period", "spent", "time"),
    [
        ("2027", "1/4", "2026-05-01T00:00:00Z"),  # a year that has not come
        ("2026", "1/4", "2026-05-01T00:00:00Z"),  # the year forgets what it has cost
        ("2026", "1", "2027-05-01T00:00:00Z"),  # a year that is over
        ("2025", "1/4", "2025-05-01T00:00:00Z"),  # back
        ("2026", "1", "yesterday"),
    ],
)
def test_an_entry_that_breaks_the_rule_is_refused_though_its_seal_is_right(book, clock, period, spent, time):
    charge(book, "3/4")
    with store.reading(book.path) as db:
        head = store.load_balance(db, "study.ledger", None).head
    details = ("", "", "", period, spent, "0")
    facts = (2, time, "p", "q", "1/4", "0", "1", "0", *details)
    entry = (*facts[:6], seal(head, facts), *facts[6:8])
    forge(book, f"INSERT INTO entry VALUES {entry}", f"INSERT INTO detail VALUES {(2, *details)}")
    for use in (lambda: dp.Ledger(book.path), lambda: charge(book, "1/8"), book.history):
        with pytest.raises(dp.errors.LedgerError, match=r"not an intact|not the sum"):
            use()


def test_wrong_periods_are_refused(tmp_path):
    for wrong in ("decade", 1, "Year"):
        with pytest.raises(dp.errors.ParameterError, match="a budget renews every day, week, month, quarter, year"):
            dp.Ledger.create(tmp_path / "x", epsilon=1, study="s", period=wrong)
    assert not (tmp_path / "x").exists()


def test_backups_keep_the_periods(book, clock, tmp_path):
    charge(book, "3/4")
    copy = dp.Ledger(book.backup(tmp_path / "copy"))
    copy.adopt(spent="1/4")
    assert (copy.remaining, copy.period) == (0, "year")
    clock("2027-01-01")
    assert charge(copy, 1).period == "2027"
    assert copy.verify() == ()


def test_what_was_lost_over_many_periods_can_be_written_in(clock, tmp_path):
    book = dp.Ledger.create(tmp_path / "nights.ledger", epsilon="1/2", study="nights", period="day")
    copy = dp.Ledger(book.backup(tmp_path / "copy"))
    lost = []
    for day in range(2, 6):
        clock(f"2026-05-0{day}")
        lost += [PLAN.release(np.zeros((20, 6)), book, query=f"night {day}") for _ in range(2)]
    copy.adopt(releases=lost)
    assert (copy.spent, copy.remaining) == (2, Fraction(-3, 2))  # more than one day has: nothing is left of this one
    assert len(copy.verify(lost)) == 8
    with pytest.raises(dp.errors.BudgetExceeded):
        charge(copy, "1/4")
    assert CliRunner().invoke(app, ["ledger", "show", str(copy.path)]).exit_code == 0
    clock("2026-05-06")
    assert charge(copy).period_spent == Fraction(1, 2)
    assert copy.verify() == ()


@pytest.mark.parametrize(
    "query", ["released before this file was adopted", f"mean (restored: entry 1, seal {'a' * 64})"]
)
def test_no_charge_is_called_as_adoptions_call_theirs(book, query):
    """Those alone may go beyond a period's budget."""
    with pytest.raises(dp.errors.ParameterError, match="only an adoption calls charges so"):
        book.charge("1/4", plan="p", query=query)
    for near in ("mean (restored: entry 0", "(restored: entry 1, seal x)"):
        charge_of = {"plan": "p", "query": near}
        book.charge("1/2", **charge_of)
    with pytest.raises(dp.errors.BudgetExceeded):
        book.charge("1/4", plan="p", query="mean (restored: entry 0")


def test_the_command_shows_periods(book, clock):
    charge(book, "3/4")
    clock("2027-01-01")
    charge(book, "1/4")
    said = CliRunner().invoke(app, ["ledger", "show", str(book.path)]).output
    rows = [" ".join(line.split()) for line in said.splitlines()]
    assert "budget epsilon 1, delta 0.1 every year (UTC calendar)" in rows
    assert "spent in 2027 epsilon 0.25 (25.0 %)" in rows
    assert "spent over all periods epsilon 1" in rows
    assert "[##########------------------------------]" in rows
