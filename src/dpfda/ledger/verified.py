"""Rows of a ledger, believed once they are seen to fit: texts, numbers, seals and totals.

A balance is verified from the study, the homes and the last two entries, so that it takes the same time
however long the ledger is: the last seal covers the totals. A book is every entry, each with its seal on
the seal before it and with the total of all charges up to it (and of its period, where a budget renews), and every free
entry on a charge that is there. Whatever does not fit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpfda.core.errors import LedgerError
from dpfda.ledger.entries import (
    FORMATS,
    NOTHING_SAID,
    About,
    Balance,
    Book,
    Entry,
    Home,
    Output,
    Row,
    after,
    broken,
    is_simple,
    is_written_in,
    moves,
    seal,
)

#: The longest fraction that a charge can be spelt with, and the longest that charges can add up to.
NUMBER = re.compile(r"[0-9]{1,250}(/[0-9]{1,250})?")
TOTAL = re.compile(r"[0-9]{1,2500}(/[0-9]{1,2500})?")
#: Where the totals stand in the row of an entry, and what stands there in one from before they were kept.
TOTALS = slice(7, 9)
UNKNOWN = (None, None)
#: Where stands what an entry says beside its charge, and what stands there in one that says nothing.
DETAILS = slice(9, 15)
SILENT = (None,) * 6
PERIOD_OF = {form: period for period, form in FORMATS.items()}
DIGEST = re.compile(r"[0-9a-f]{64}")


def opened(name: str, heads: list[Row], homes: list[Row]) -> Balance:
    """The balance before the first charge, from the row of the study and those of the homes."""
    if len(heads) != 1 or not all(isinstance(x, str) for x in heads[0]):
        raise broken(name)
    form, study, epsilon, delta, created, sealed = heads[0]
    if form not in PERIOD_OF or sealed != seal("", heads[0][:5]) or not f"{study}{created}".isprintable():
        raise broken(name)
    budget, small = _number(epsilon, name), _number(delta, name)
    if not (0 < budget <= 10**4 and small < 1):
        raise broken(name)
    try:
        start = Balance.before_charges(study, budget, small, created, sealed, PERIOD_OF[form])
    except ValueError:  # a time that is none
        raise broken(name) from None
    return replace(start, homes=_homes(homes, name))


def balance(name: str, start: Balance, tail: list[Row]) -> Balance:
    """The balance after the last entry, from its row and, behind it, the row before it if there is one."""
    if not tail:
        return start
    before, (row, *earlier) = start.last, tail
    if earlier:
        before = replace(before, number=earlier[0][0], seal=str(earlier[0][6]))
    _refuse_altered(row, before, after(before.seal, moves(start.homes)), name)
    if earlier:
        before = _one_before(row, earlier[0], before, start, name)
    return replace(start, last=_added(row, before, start, name))


def _one_before(row: Row, earlier: Row, before: Entry, start: Balance, name: str) -> Entry:
    """The entry before the last one, with the totals that the last one leaves for it."""
    charge = _number(row[4], name), _number(row[5], name)
    spent, small = (_total(total, name) - cost for total, cost in zip(row[TOTALS], charge, strict=True))
    if min(spent, small) < 0 or earlier[TOTALS] not in (UNKNOWN, (str(spent), str(small))):
        raise _unsummed(row[0], name)
    before = replace(before, spent=spent, spent_delta=small)
    if not start.period:
        return replace(before, period_spent=spent, period_spent_delta=small)
    said, was = row[DETAILS], earlier[DETAILS]
    if SILENT in (said, was):
        raise broken(name)
    if was[3] != said[3]:  # the last entry begins a period
        return replace(before, period=was[3])
    spent, small = (_total(total, name) - cost for total, cost in zip(said[4:], charge, strict=True))
    if min(spent, small) < 0 or was[4:] != (str(spent), str(small)):
        raise _unsummed(row[0], name)
    return replace(before, period=was[3], period_spent=spent, period_spent_delta=small)


def book(name: str, start: Balance, rows: Iterable[Row]) -> Book:
    """The whole ledger with these rows of entries, in order."""
    entries, last, moved, totalled = [], start.last, moves(start.homes), False
    for row in rows:
        _refuse_altered(row, last, after(last.seal, moved), name)
        if totalled and row[TOTALS] == UNKNOWN:
            raise broken(name)
        last, totalled = _added(row, last, start, name), row[TOTALS] != UNKNOWN
        entries.append(last)
    _refuse_misplaced(start, entries, name)
    return Book(replace(start, last=last), tuple(entries))


def _homes(rows: list[Row], name: str) -> tuple[Home, ...]:
    """Each by its own seal: homes in order, no two of which follow the same row."""
    for number, row in enumerate(rows, start=1):
        if row[0] != number or not _is_text(row[1:]) or row[5] != seal(row[4], row[:5]):
            raise LedgerError(f"Home {number} of {name!r} was altered. Restore the ledger from a backup.")
    homes = tuple(Home(*row) for row in rows)
    if len(moves(homes)) < len(homes):
        raise broken(name)
    return homes


def _refuse_misplaced(start: Balance, entries: list[Entry], name: str) -> None:
    """Every home follows a row that is there, in order."""
    numbers, latest = {entry.seal: entry.number for entry in (start.last, *entries)}, 0
    for home in start.homes:
        if numbers.get(home.head, -1) < latest:
            raise broken(name)
        latest = numbers[home.seal] = numbers[home.head]


def outputs(name: str, head: str, entries: tuple[Entry, ...], rows: Iterable[Row]) -> tuple[Output, ...]:
    """Every free entry: its charge is there, and its seal is on that and on the free entry before it, the first on
    the `head`."""
    found = list[Output]()
    for row in rows:
        whole = isinstance(row[2], int) and 0 < row[2] <= len(entries) and _is_text((row[1], *row[3:]))
        if not whole or row[0] != len(found) + 1 or not DIGEST.fullmatch(row[4]):
            raise broken(name)
        output = Output(*row)
        if output.seal != output.on(head, entries[output.charge - 1].seal):
            raise LedgerError(f"Output {output.number} of {name!r} was altered. Restore the ledger from a backup.")
        found.append(output)
        head = output.seal
    return tuple(found)


def _refuse_altered(row: Row, before: Entry, link: str, name: str) -> None:
    """An entry has the next number, is made of texts, and its seal is on the link before it."""
    facts = row[:6] if row[TOTALS] == UNKNOWN else (*row[:6], *row[TOTALS])
    facts = facts if row[DETAILS] == SILENT else (*facts, *row[DETAILS])
    if row[0] != before.number + 1 or not _is_text((*facts[1:], row[6])) or row[6] != seal(link, facts):
        raise LedgerError(f"Entry {before.number + 1} of {name!r} was altered. Restore the ledger from a backup.")


def _added(row: Row, before: Entry, start: Balance, name: str) -> Entry:
    """The entry of a row, added to what was spent before it, in its period and in all."""
    number, time, plan, query = row[:4]
    epsilon, delta = _number(row[4], name), _number(row[5], name)
    said = NOTHING_SAID if row[DETAILS] == SILENT else About(*row[DETAILS][:3])
    try:
        here = replace(start, last=before).at(time)
    except ValueError:  # a time that is none
        raise broken(name) from None
    entry = replace(here.following(time, epsilon, delta, plan, query, said), seal=row[6])
    if not is_simple(entry.spent) or not is_simple(entry.spent_delta):
        raise broken(name)
    if row[TOTALS] not in (UNKNOWN, (str(entry.spent), str(entry.spent_delta))):
        raise _unsummed(number, name)
    if row[DETAILS] != (entry.details or SILENT):
        raise _unsummed(number, name) if start.period and row[DETAILS][3:4] == (entry.period,) else broken(name)
    beyond = entry.period_spent > start.epsilon or entry.period_spent_delta > start.delta
    if (beyond and not (start.period and is_written_in(query))) or not epsilon:
        raise LedgerError(f"{name!r} holds charges that nobody can have made. Restore the ledger from a backup.")
    return entry


def _is_text(cells: Row) -> bool:
    return all(isinstance(cell, str) for cell in cells) and "".join(cells).isprintable()


def _number(text: str, name: str) -> Fraction:
    found = _parsed(text)
    if found is None:
        raise broken(name)
    return found


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Fraction | None:
    return _fraction(text, NUMBER)


def _total(text: str, name: str) -> Fraction:
    found = _fraction(text, TOTAL)
    if found is None:
        raise broken(name)
    return found


def _fraction(text: str, pattern: re.Pattern[str]) -> Fraction | None:
    try:
        return Fraction(text) if isinstance(text, str) and pattern.fullmatch(text) else None
    except ZeroDivisionError:
        return None


def _unsummed(number: int, name: str) -> LedgerError:
    return LedgerError(
        f"Entry {number} of {name!r} states a total that is not the sum of all charges. "
        "Restore the ledger from a backup."
    )
