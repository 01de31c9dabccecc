"""What a ledger says: a study with a budget, its charges in order, and where the file has lived.

Rows are sealed in one chain: a seal covers its row and the seal before it. A change of home is a link
too, so two copies that go on each for itself never have a seal in common. Order is by number and seal,
never by time: times state what the clock said, and a clock may go back.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..errors import BudgetExceeded, LedgerError, ParameterError

FORMAT = "dpfda-ledger-1"
#: The longest fraction that a charge can be spelt with, and the largest denominator of a total, in bits:
#: adding up takes bounded time.
NUMBER = re.compile(r"[0-9]{1,250}(/[0-9]{1,250})?")
DENOMINATOR_BITS = 1 << 13
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Entry:
    """One charge: when, for which plan and query, how much."""

    number: int
    time: str
    plan: str
    query: str
    epsilon: Fraction
    delta: Fraction
    seal: str

    @property
    def row(self) -> Row:
        return (self.number, self.time, self.plan, self.query, str(self.epsilon), str(self.delta), self.seal)


@dataclass(frozen=True)
class Home:
    """Where the file lived from some entry on: its place on the disk, and whether the disk keeps a witness."""

    number: int
    time: str
    place: str
    witness: str
    head: str
    seal: str

    @property
    def row(self) -> Row:
        return (self.number, self.time, self.place, self.witness, self.head, self.seal)


@dataclass(frozen=True)
class Book:
    """A whole ledger, read and verified."""

    study: str
    epsilon: Fraction
    delta: Fraction
    seal: str
    entries: tuple[Entry, ...] = ()
    homes: tuple[Home, ...] = ()
    spent: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)

    @property
    def last(self) -> str:
        """The seal of the last entry, of the study itself before the first."""
        return self.entries[-1].seal if self.entries else self.seal

    @property
    def head(self) -> str:
        """The seal that the next row builds on."""
        link, homes = self.last, {home.head: home for home in self.homes}
        while link in homes:
            link = homes[link].seal
        return link

    def seal_of(self, number: int) -> str | None:
        """The seal of an entry, of the study itself for 0, and none for what is not there."""
        if number == 0:
            return self.seal
        return self.entries[number - 1].seal if 0 < number <= len(self.entries) else None

    def charged(self, epsilon: Fraction, delta: Fraction, plan: str, query: str) -> Book:
        """The book with one more charge, or a refusal."""
        self.refuse_excess(epsilon, delta)
        row = (len(self.entries) + 1, now(), plan, query, str(epsilon), str(delta))
        entry = Entry(row[0], row[1], plan, query, epsilon, delta, seal(self.head, row))
        total, small = self.spent + epsilon, self.spent_delta + delta
        return replace(self, entries=(*self.entries, entry), spent=total, spent_delta=small)

    def settled(self, place: str, witness: str) -> Home:
        """The row that says where the file lives from now on."""
        row = (len(self.homes) + 1, now(), place, witness, self.head)
        return Home(*row, seal(self.head, row))

    def refuse_excess(self, epsilon: Fraction, delta: Fraction) -> None:
        total, small = self.spent + epsilon, self.spent_delta + delta
        if total > self.epsilon:
            raise BudgetExceeded(
                f"This release costs epsilon {epsilon} and study {self.study!r} has "
                f"{self.epsilon - self.spent} left of {self.epsilon}. Nothing was charged; "
                f"use a smaller epsilon or ask for a new budget."
            )
        if small > self.delta:
            raise BudgetExceeded(
                f"This release costs delta {delta} and study {self.study!r} has "
                f"{self.delta - self.spent_delta} left. Nothing was charged."
            )
        if not _simple(total) or not _simple(small):
            raise ParameterError(
                "charges must add up to a fraction that can be written", "one with thousands of digits",
                "Pass a rounder epsilon.",
            )  # fmt: skip


def verified(name: str, heads: list[Row], entries: Iterable[Row], homes: Iterable[Row]) -> Book:
    """The book that these rows of the file `name` hold; anything that is not one is refused."""
    if len(heads) != 1 or not all(isinstance(x, str) for x in heads[0]):
        raise broken(name)
    form, study, epsilon, delta, created, sealed = heads[0]
    if form != FORMAT or sealed != seal("", heads[0][:5]) or not f"{study}{created}".isprintable():
        raise broken(name)
    budget, small = _number(epsilon, name), _number(delta, name)
    if not (0 < budget <= 10**4 and small < 1):
        raise broken(name)
    rows, lived = _chained(list(entries), list(homes), sealed, name)
    spent, spent_delta = (_total(Counter(row[column] for row in rows), name) for column in (4, 5))
    charges = tuple(
        Entry(n, time, plan, query, _number(e, name), _number(d, name), end) for n, time, plan, query, e, d, end in rows
    )
    if spent > budget or spent_delta > small or not all(entry.epsilon for entry in charges):
        raise LedgerError(f"{name!r} holds charges that nobody can have made. Restore the ledger from a backup.")
    return Book(study, budget, small, sealed, charges, lived, spent, spent_delta)


def _chained(entries: list[Row], homes: list[Row], first: str, name: str) -> tuple[list[Row], tuple[Home, ...]]:
    """All rows, once each is seen to follow: numbers in order, texts, and a seal on the seal before."""
    link, moved = first, 0
    for number, row in enumerate([*entries, None], start=1):
        while moved < len(homes) and homes[moved][4] == link:
            moved += 1
            link = _link(homes[moved - 1], moved, link, f"Home {moved} of {name!r}")
        if row is not None:
            link = _link(row, number, link, f"Entry {number} of {name!r}")
    if moved < len(homes):
        raise broken(name)
    return entries, tuple(Home(*row) for row in homes)


def _link(row: Row, number: int, previous: str, what: str) -> str:
    texts = all(isinstance(x, str) for x in row[1:]) and "".join(row[1:]).isprintable()
    if row[0] != number or not texts or row[-1] != seal(previous, row[:-1]):
        raise LedgerError(f"{what} was altered. Restore the ledger from a backup.")
    return str(row[-1])


def _total(times: Counter[str], name: str) -> Fraction:
    """The sum of numbers that occur so many times each."""
    total = Fraction(0)
    for text, count in times.items():
        total += count * _number(text, name)
        if not _simple(total):
            raise broken(name)
    return total


def _number(text: str, name: str) -> Fraction:
    found = _parsed(text)
    if found is None:
        raise broken(name)
    return found


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Fraction | None:
    try:
        return Fraction(text) if NUMBER.fullmatch(text) else None
    except ZeroDivisionError:
        return None


def _simple(total: Fraction) -> bool:
    return total.denominator.bit_length() <= DENOMINATOR_BITS


def seal(previous: str, row: Row) -> str:
    return hashlib.sha256("\x1f".join([previous, *map(str, row)]).encode()).hexdigest()


def broken(name: str) -> LedgerError:
    return LedgerError(f"{name!r} is not an intact dpfda ledger. Restore it from a backup.")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
