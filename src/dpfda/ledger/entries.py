"""What a ledger says: a study with a budget, its charges in order, and where the file has lived.

Rows are sealed in chains: a seal covers its row and the seal before it. Order is by number and
seal, never by time: times state what the clock said, and a clock may go back.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
    """Where the file lived from some entry on: its number on the disk, and whether the disk keeps a witness."""

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
    def head(self) -> str:
        """The seal that the next charge builds on."""
        return self.entries[-1].seal if self.entries else self.seal

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
        return Book(self.study, self.epsilon, self.delta, self.seal, (*self.entries, entry), self.homes, total, small)

    def settled(self, place: str, witness: str) -> Home:
        """The row that says where the file lives from now on."""
        row = (len(self.homes) + 1, now(), place, witness, self.head)
        return Home(*row, seal(self.homes[-1].seal if self.homes else self.seal, row))

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
    rows = list(_chained(entries, sealed, f"Entry {{}} of {name!r}"))
    spent, spent_delta = (_total(Counter(row[column] for row in rows), name) for column in (4, 5))
    charges = tuple(
        Entry(n, time, plan, query, _number(e, name), _number(d, name), end) for n, time, plan, query, e, d, end in rows
    )
    if spent > budget or spent_delta > small or not all(entry.epsilon for entry in charges):
        raise LedgerError(f"{name!r} holds charges that nobody can have made. Restore the ledger from a backup.")
    lived = tuple(Home(*row) for row in _chained(homes, sealed, f"Home {{}} of {name!r}"))
    return Book(study, budget, small, sealed, charges, lived, spent, spent_delta)


def _chained(rows: Iterable[Row], previous: str, what: str) -> Iterator[Row]:
    """The rows, each a number that follows, texts, and a seal on the seal before."""
    for number, row in enumerate(rows, start=1):
        texts = all(isinstance(x, str) for x in row[1:]) and "".join(row[1:]).isprintable()
        if row[0] != number or not texts or row[-1] != seal(previous, row[:-1]):
            raise LedgerError(f"{what.format(number)} was altered. Restore the ledger from a backup.")
        previous = row[-1]
        yield row


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
