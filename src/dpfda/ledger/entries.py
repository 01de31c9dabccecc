"""What a ledger says: a study with a budget, its charges in order, and where the file has lived.

Rows are sealed in one chain: a seal covers its row and the seal before it. A change of home is a link
too, so two copies that go on each for itself never have a seal in common. Order is by number and seal,
never by time: times state what the clock said, and a clock may go back.

An entry states what all charges add up to, and its seal covers that too. So the last entry tells what is
left, and no older one can be changed to give budget back. Entries from before totals were kept have none
in the file; their seals stay as they were made, because saved releases name them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from dpfda.core.errors import BudgetExceeded, LedgerError, ParameterError

FORMAT = "dpfda-ledger-1"
#: The largest denominator of a total, in bits: adding up takes bounded time.
DENOMINATOR_BITS = 1 << 13
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Entry:
    """One charge: when, for which plan and query, how much; and all charges up to this one, added up."""

    number: int
    time: str
    plan: str
    query: str
    epsilon: Fraction
    delta: Fraction
    seal: str
    spent: Fraction
    spent_delta: Fraction

    @property
    def row(self) -> Row:
        charge = (self.number, self.time, self.plan, self.query, str(self.epsilon), str(self.delta), self.seal)
        return (*charge, str(self.spent), str(self.spent_delta))


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
class Balance:
    """All that a charge must know: the budget, the last entry with its totals, and the homes.

    Before the first charge, the last entry is number 0: the study itself, with its seal and nothing spent.
    """

    study: str
    epsilon: Fraction
    delta: Fraction
    last: Entry
    homes: tuple[Home, ...] = ()

    @classmethod
    def before_charges(cls, study: str, epsilon: Fraction, delta: Fraction, created: str, seal: str) -> Balance:
        nothing = Fraction(0)
        return cls(study, epsilon, delta, Entry(0, created, "", "", nothing, nothing, seal, nothing, nothing))

    @property
    def left(self) -> Fraction:
        return self.epsilon - self.last.spent

    @property
    def head(self) -> str:
        """The seal that the next row builds on."""
        return after(self.last.seal, moves(self.homes))

    def charged(self, epsilon: Fraction, delta: Fraction, plan: str, query: str) -> Balance:
        """The balance with one more charge as its last entry, or a refusal."""
        self.refuse_excess(epsilon, delta)
        number, time = self.last.number + 1, now()
        total, small = self.last.spent + epsilon, self.last.spent_delta + delta
        facts = (number, time, plan, query, str(epsilon), str(delta), str(total), str(small))
        entry = Entry(number, time, plan, query, epsilon, delta, seal(self.head, facts), total, small)
        return replace(self, last=entry)

    def settled(self, place: str, witness: str) -> Balance:
        """The balance with one more home: where the file lives from now on."""
        row = (len(self.homes) + 1, now(), place, witness, self.head)
        return replace(self, homes=(*self.homes, Home(*row, seal(self.head, row))))

    def refuse_excess(self, epsilon: Fraction, delta: Fraction) -> None:
        total, small = self.last.spent + epsilon, self.last.spent_delta + delta
        if total > self.epsilon:
            raise BudgetExceeded(
                f"This release costs epsilon {epsilon} and study {self.study!r} has "
                f"{self.left} left of {self.epsilon}. Nothing was charged; "
                f"use a smaller epsilon or ask for a new budget."
            )
        if small > self.delta:
            raise BudgetExceeded(
                f"This release costs delta {delta} and study {self.study!r} has "
                f"{self.delta - self.last.spent_delta} left. Nothing was charged."
            )
        if not is_simple(total) or not is_simple(small):
            raise ParameterError(
                "charges must add up to a fraction that can be written", "one with thousands of digits",
                "Pass a rounder epsilon.",
            )  # fmt: skip


@dataclass(frozen=True)
class Book:
    """A whole ledger, read and verified: its balance and every charge."""

    balance: Balance
    entries: tuple[Entry, ...]


def moves(homes: Iterable[Home]) -> dict[str, str]:
    """The seal of each home, by the seal that it builds on."""
    return {home.head: home.seal for home in homes}


def after(link: str, moved: Mapping[str, str]) -> str:
    """The seal that the next entry builds on: this one, or that of the last home which follows it."""
    while link in moved:
        link = moved[link]
    return link


def is_simple(total: Fraction) -> bool:
    return total.denominator.bit_length() <= DENOMINATOR_BITS


def seal(previous: str, row: Row) -> str:
    return hashlib.sha256("\x1f".join([previous, *map(str, row)]).encode()).hexdigest()


def broken(name: str) -> LedgerError:
    return LedgerError(f"{name!r} is not an intact dpfda ledger. Restore it from a backup.")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
