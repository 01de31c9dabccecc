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
            db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        db.execute("COMMIT")
        for sql in kept:
            db.execute(sql)


def sealed(book, *facts, totals=None):
    """A next entry of any content, with the seal that belongs to it, and with the totals that do if there are any."""
    balance = balance_of(book)
    row = (balance.last.number + 1, *facts)
    if totals is None:
        totals = (added(balance.last.spent, facts[3]), added(balance.last.spent_delta, facts[4]))
    return (*row, seal(balance.head, (*row, *(() if totals == (None, None) else totals))), *totals)


def balance_of(book):
    with store.reading(book.path) as db:
        return store.load_balance(db, book.path.name, None)


def added(total, text):
    try:
        return str(total + Fraction(text))
    except (ValueError, ZeroDivisionError):
        return str(total)


def refused(book, match="not an intact|was altered|nobody can have made"):
    for use in (lambda: dp.Ledger(book.path), lambda: book.charge("1/8", plan="p", query="q"), book.history):
        with pytest.raises(dp.errors.LedgerError, match=match):
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


@pytest.mark.parametrize("totals", [(), ("1/2", "0")], ids=["without totals", "with totals that are wrong"])
def test_many_fractions_without_a_common_denominator_take_bounded_time(tmp_path, totals):
    """Their total would have half a million digits."""
    book = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="sleep")
    previous, rows = balance_of(book).head, []
    for number in range(1, 2500):
        row = (number, "t", "p", "q", f"1/{10**200 + number * (number + 1) + 1}", "0")
        previous = seal(previous, (*row, *totals))
        rows.append((*row, previous, *(totals or (None, None))))
    forge(book, rows=rows)
    refused(book, "not an intact|not the sum")


def test_charges_that_would_make_such_a_ledger_are_refused(tmp_path):
    book = dp.Ledger.create(tmp_path / "long.ledger", epsilon=100, study="s")
    odd = (Fraction(10**27 + 1, 10**28 + 7 * number * number + number) for number in range(1, 1000))
    with store.writing(book.path) as db:
        held = store.load_balance(db, "long.ledger", None)
        for epsilon, _ in zip(odd, range(80), strict=False):
            held = held.charged(epsilon, Fraction(0), "p", "q")
            store.add_entry(db, held.last)

    def go_on():
        for epsilon in odd:
            book.charge(epsilon, plan="p", query="q")

    with pytest.raises(dp.errors.ParameterError, match="rounder epsilon"):
        go_on()
    assert 80 < len(book.history()) < 100
    assert len(str(book.spent)) > 4500  # as long as a total can be, and it is read again
    book.charge("1/4", plan="p", query="q")  # the ledger is as usable as before


TOTALS = {
    "no number": "many", "not a number": "nan", "negative": "-1/2", "over nothing": "1/0", "a float": "0.5",
    "an exponent": "5e-1", "spaces": " 1/2", "other digits": "١/٢", "nothing": "", "not in lowest terms": "2/4",
    "too many digits": "9" * 2501, "ninety thousand digits": "1/" + "9" * 90_000, "a million digits": "9" * 10**6,
    "bytes": b"1/2", "beyond the budget": "2", "less than the charge": "1/8", "none spent": "0",
    "the total before": "1/4", "NULL": None,
}  # fmt: skip


@pytest.mark.parametrize("total", TOTALS.values(), ids=TOTALS)
def test_a_total_of_nonsense_is_refused_though_its_seal_is_right(tmp_path, total):
    """In epsilon and in delta, in the last of two entries and in the only one."""
    wrong = "not an intact|was altered|not the sum"
    for number, totals in enumerate([(total, "0"), ("1/2", total)]):
        if totals == ("1/2", "0"):
            continue  # that is right
        fresh = dp.Ledger.create(tmp_path / f"{number}", epsilon=1, study="sleep", delta="1/2")
        fresh.charge("1/4", plan="p", query="mean")
        row = sealed(fresh, "t", "p", "mean", "1/4", "0", totals=totals)
        forge(fresh, rows=[row])
        refused(fresh, wrong)
        forge(fresh, "DELETE FROM entry")
        forge(fresh, rows=[sealed(fresh, "t", "p", "mean", "1/2", "0", totals=totals)])
        refused(fresh, wrong)


def test_totals_that_are_the_sum_are_accepted(book):
    """The forger of these tests can write a true entry too."""
    forge(book, rows=[sealed(book, "t", "p", "mean", "1/4", "0")])
    assert (len(book.history()), book.remaining) == (2, Fraction(1, 2))
    assert book.charge("1/4", plan="p", query="q").spent == Fraction(3, 4)


@pytest.mark.parametrize("number", [3, 7, 2**62])
def test_a_number_that_is_not_the_next_is_refused_though_its_seal_is_right(book, number):
    row = (number, "t", "p", "mean", "1/4", "0", "1/2", "0")
    forge(book, rows=[(*row[:6], seal(balance_of(book).head, row), *row[6:])])
    refused(book, "Entry 2 .* was altered")


def test_an_entry_without_totals_after_one_with_totals_is_refused(book):
    forge(book, rows=[sealed(book, "t", "p", "mean", "1/4", "0", totals=(None, None))])
    refused(book, "not an intact")


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
        with pytest.raises(dp.errors.LedgerError, match="lacks charges"):
            book.check("1/4")
        return
    refused(book)


# -- older entries -------------------------------------------------------------------------------

OLDER = {
    "a smaller charge": "UPDATE entry SET epsilon = '1/1000' WHERE number = 2",
    "a smaller charge before the last": "UPDATE entry SET epsilon = '1/1000' WHERE number = 4",
    "another delta": "UPDATE entry SET delta = '1/9' WHERE number = 1",
    "another query": "UPDATE entry SET query = 'density' WHERE number = 3",
    "another time": "UPDATE entry SET time = '1970-01-01T00:00:00Z' WHERE number = 3",
    "a smaller total": "UPDATE entry SET spent = '0' WHERE number = 2",
    "no totals": "UPDATE entry SET spent = NULL, spent_delta = NULL WHERE number = 2",
    "another seal": "UPDATE entry SET seal = 'x' WHERE number = 3",
    "text that is none": "UPDATE entry SET query = CAST(x'ff' AS TEXT) WHERE number = 2",
    "a hole": "DELETE FROM entry WHERE number = 2",
    "a later beginning": "DELETE FROM entry WHERE number < 3",
    "an earlier beginning": "INSERT INTO entry SELECT 0, time, plan, query, epsilon, delta, seal, spent, spent_delta "
    "FROM entry WHERE number = 1",
    "a forgotten home": "DELETE FROM home WHERE number = 2",
}


@pytest.fixture
def longer(book):
    with store.writing(book.path) as db:  # a second home, in the same place
        store.add_home(db, home.settled_here(book.path, store.load_balance(db, book.path.name, None)).homes[-1])
    for _ in range(4):
        book.charge("1/8", plan="p", query="mean")
    assert book.remaining == Fraction(1, 4)
    return book


@pytest.mark.parametrize("change", OLDER.values(), ids=OLDER)
def test_a_changed_older_entry_gives_no_budget_back_and_is_found_by_verify(longer, tmp_path, change):
    forge(longer, change)
    again = dp.Ledger(longer.path)
    assert (again.spent, again.remaining) == (Fraction(3, 4), Fraction(1, 4))
    with pytest.raises(dp.errors.BudgetExceeded):
        again.charge("1/3", plan="p", query="mean")
    assert again.charge("1/4", plan="p", query="mean").number == 6
    with pytest.raises(dp.errors.BudgetExceeded):
        again.charge("1/1000000", plan="p", query="mean")
    for whole in (again.verify, again.history, lambda: again.adopt(spent=0), lambda: again.backup(tmp_path / "copy")):
        with pytest.raises(dp.errors.LedgerError, match=r"was altered|not an intact"):
            whole()
    assert not (tmp_path / "copy").exists()
    for command in ("verify", "history", "show"):
        assert CliRunner().invoke(app, ["ledger", command, str(longer.path)]).exit_code == 3


def test_an_older_entry_whose_seal_was_made_anew_is_found_by_verify(longer):
    second = longer.history()[1]
    balance = balance_of(longer)
    facts = (2, second.time, second.plan, second.query, "1/1000", "0", "251/1000", "0")
    anew = seal(balance.homes[1].seal, facts)  # the entry builds on the second home
    assert seal(balance.homes[1].seal, (*second.row[:6], *second.row[7:])) == second.seal
    forge(longer, f"UPDATE entry SET epsilon = '1/1000', spent = '251/1000', seal = '{anew}' WHERE number = 2")
    assert longer.remaining == Fraction(1, 4)
    with pytest.raises(dp.errors.LedgerError, match=r"Entry 3 .* was altered"):
        longer.verify()


@pytest.mark.parametrize("column", ["time", "plan", "query", "epsilon", "delta", "seal", "spent", "spent_delta"])
@pytest.mark.parametrize("value", ["'7'", "'1/1000'", "NULL", "x'00'"])
def test_a_changed_last_entry_is_refused_at_once(longer, column, value):
    try:
        forge(longer, f"UPDATE entry SET {column} = {value} WHERE number = 5")
    except sqlite3.IntegrityError:  # the schema itself refuses nothing in place of text
        return
    refused(longer, "was altered")


@pytest.mark.parametrize("change", ["seal = 'x'", "spent = '0'", "spent_delta = '1/9'", "spent = NULL", "number = 9"])
def test_what_the_last_entry_builds_on_is_looked_at_too(longer, change):
    forge(longer, f"UPDATE entry SET {change} WHERE number = 4")
    refused(longer, "was altered|not the sum")


def test_a_missing_last_entry_is_noticed_by_the_witness(longer):
    if home.testimony(longer.path) is None:
        pytest.skip("this file system keeps no extended attributes")
    forge(longer, "DELETE FROM entry WHERE number = 5")
    for act in (lambda: longer.check("1/8"), lambda: longer.charge("1/8", plan="p", query="q"), longer.verify):
        with pytest.raises(dp.errors.LedgerError, match="lacks charges"):
            act()


def test_homes_in_another_order_or_upon_nothing_are_found_by_verify(longer):
    for head in ("nothing", balance_of(longer).homes[0].head):
        row = (3, "t", home.place_of(longer.path), "yes", head)
        forge(longer, f"INSERT INTO home VALUES {(*row, seal(head, row))}")
        with pytest.raises(dp.errors.LedgerError, match="not an intact"):
            longer.verify()
        forge(longer, "DELETE FROM home WHERE number = 3")
    assert longer.verify() == ()


@pytest.mark.parametrize("epsilon", ["1", "-1", "0", "1e9", "10001", "1/0"])
def test_a_budget_of_nonsense_is_refused_though_its_seal_is_right(book, epsilon):
    row = ("dpfda-ledger-1", "sleep", epsilon, "0", "t")
    where = (1, "t", home.place_of(book.path), "no", seal("", row))
    forge(
        book,
        "DELETE FROM entry",
        "DELETE FROM home",
        "DELETE FROM study",
        f"INSERT INTO study VALUES {(*row, seal('', row))}",
        f"INSERT INTO home VALUES {(*where, seal(where[4], where))}",
    )
    if epsilon == "1":
        book.charge("1/8", plan="p", query="q")
    else:
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
        with pytest.raises(dp.errors.LedgerError, match=words):
            dp.Ledger(tmp_path / name)
    for name in ("folder", "loop", "text", "a\0b", "nowhere/x", "n" * 300):
        with pytest.raises((dp.errors.LedgerError, dp.errors.FileError), match=r"never overwritten|cannot be made"):
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
