"""What a ledger says: a study with a budget, its charges in order, and where the file has lived.

Rows are sealed in one chain: a seal covers its row and the seal before it. A change of home is a link
too, so two copies that go on each for itself never have a seal in common. Order is by number and seal,
never by time: times state what the clock said, and a clock may go back.

An entry states what all charges add up to, and its seal covers that too. So the last entry tells what is
left, and no older one can be changed to give budget back. Entries from before totals were kept have none
in the file; their seals stay as they were made, because saved releases name them. What else an entry says, if
anything (a note, who made it, which run of a job, the period of a budget that renews), its seal covers as well.

What became of a charge is told by entries of another kind, which are free: the name of a file that was written after
the draw, and the digest of that file. They have a chain of their own and nothing depends on them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from dpfda.core.errors import BudgetExceeded, LedgerError, ParameterError, shown
from dpfda.ledger.periods import PERIODS, period_after

FORMAT = "dpfda-ledger-1"
#: What a ledger says it is, by how often its budget renews: earlier versions do not know those that do.
FORMATS = {"": FORMAT} | {period: f"{FORMAT} per {period}" for period in PERIODS}
#: The largest denominator of a total, in bits: adding up takes bounded time.
DENOMINATOR_BITS = 1 << 13
#: The longest name of a plan or a query in an entry, and the longest note.
LONGEST_TEXT = 2000
Row = tuple[Any, ...]


@dataclass(frozen=True)
class About:
    """What may be said beside a charge: a note, who made it, and which run of a job it belongs to."""

    note: str = ""
    operator: str = ""
    run: str = ""

    @property
    def row(self) -> Row:
        return (self.note, self.operator, self.run)


NOTHING_SAID = About()


@dataclass(frozen=True)
class Entry:
    """One charge: when, for which plan and query, how much; and all charges up to this one, added up.

    `period` is empty where a budget does not renew; `period_spent` is what this period has cost so far, and all that
    was ever spent where there are no periods.
    """

    number: int
    time: str
    plan: str
    query: str
    epsilon: Fraction
    delta: Fraction
    seal: str
    spent: Fraction
    spent_delta: Fraction
    about: About = NOTHING_SAID
    period: str = ""
    period_spent: Fraction = Fraction(0)
    period_spent_delta: Fraction = Fraction(0)

    @property
    def note(self) -> str:
        return self.about.note

    @property
    def operator(self) -> str:
        return self.about.operator

    @property
    def run(self) -> str:
        return self.about.run

    @property
    def row(self) -> Row:
        return (*self._charge, self.seal, *self._totals)

    @property
    def details(self) -> Row:
        """What the entry says beside its charge; nothing where there is nothing to say."""
        if not self.period and self.about == NOTHING_SAID:
            return ()
        totals = (str(self.period_spent), str(self.period_spent_delta)) if self.period else ("", "")
        return (*self.about.row, self.period, *totals)

    @property
    def facts(self) -> Row:
        """All that the seal covers, besides the seal before it."""
        return (*self._charge, *self._totals, *self.details)

    @property
    def _charge(self) -> Row:
        return (self.number, self.time, self.plan, self.query, str(self.epsilon), str(self.delta))

    @property
    def _totals(self) -> Row:
        return (str(self.spent), str(self.spent_delta))


@dataclass(frozen=True)
class Output:
    """A free entry: a file that was written for a charge, and the digest of what was written."""

    number: int
    time: str
    charge: int
    file: str
    sha256: str
    seal: str

    @property
    def row(self) -> Row:
        return (self.number, self.time, self.charge, self.file, self.sha256, self.seal)

    def on(self, head: str, charge_seal: str) -> str:
        """The seal that belongs here: on the free entry before it (the study at first), and on its charge."""
        return seal(head, (self.number, self.time, self.charge, charge_seal, self.file, self.sha256))


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

    Before the first charge, the last entry is number 0: the study itself, with its seal and nothing spent. Where a
    budget renews, `epsilon` and `delta` are those of one period.
    """

    study: str
    epsilon: Fraction
    delta: Fraction
    last: Entry
    homes: tuple[Home, ...] = ()
    period: str = ""

    @classmethod
    def before_charges(
        cls, study: str, epsilon: Fraction, delta: Fraction, created: str, seal: str, period: str = ""
    ) -> Balance:
        nothing = Fraction(0)
        first = Entry(0, created, "", "", nothing, nothing, seal, nothing, nothing)
        return cls(study, epsilon, delta, replace(first, period=period_after(period, created, "")), (), period)

    def at(self, time: str) -> Balance:
        """The same at a later time: in a new period nothing is spent yet."""
        period = period_after(self.period, time, self.last.period)
        if period == self.last.period:
            return self
        nothing = Fraction(0)
        return replace(self, last=replace(self.last, period=period, period_spent=nothing, period_spent_delta=nothing))

    @property
    def left(self) -> Fraction:
        return self.epsilon - self.last.period_spent

    @property
    def left_delta(self) -> Fraction:
        return self.delta - self.last.period_spent_delta

    @property
    def head(self) -> str:
        """The seal that the next row builds on."""
        return after(self.last.seal, moves(self.homes))

    def charged(
        self, epsilon: Fraction, delta: Fraction, plan: str, query: str, about: About = NOTHING_SAID
    ) -> Balance:
        """The balance with one more charge as its last entry, or a refusal."""
        time = now()
        here = self.at(time)
        if self.period and is_written_in(query):  # was released, in whichever period: nothing is left of this one then
            here.refuse_long(epsilon, delta)
        else:
            here.refuse_excess(epsilon, delta)
        entry = here.following(time, epsilon, delta, plan, query, about)
        return replace(self, last=replace(entry, seal=seal(self.head, entry.facts)))

    def following(self, time: str, epsilon: Fraction, delta: Fraction, plan: str, query: str, about: About) -> Entry:
        """The entry that follows the last one within its period, without a seal."""
        last = self.last
        return Entry(
            last.number + 1, time, plan, query, epsilon, delta, "", last.spent + epsilon, last.spent_delta + delta,
            about, last.period, last.period_spent + epsilon, last.period_spent_delta + delta,
        )  # fmt: skip

    def settled(self, place: str, witness: str) -> Balance:
        """The balance with one more home: where the file lives from now on."""
        row = (len(self.homes) + 1, now(), place, witness, self.head)
        return replace(self, homes=(*self.homes, Home(*row, seal(self.head, row))))

    def refuse_excess(self, epsilon: Fraction, delta: Fraction) -> None:
        within = f" in {self.last.period}" if self.period else ""
        if epsilon > self.left:
            cure = "wait for the next one" if self.period else "ask for a new budget"
            raise BudgetExceeded(
                f"This release costs epsilon {epsilon} and study {self.study!r} has "
                f"{self.left} left of {self.epsilon}{within}. Nothing was charged; "
                f"use a smaller epsilon or {cure}."
            )
        if delta > self.left_delta:
            raise BudgetExceeded(
                f"This release costs delta {delta} and study {self.study!r} has "
                f"{self.left_delta} left{within}. Nothing was charged."
            )
        self.refuse_long(epsilon, delta)

    def refuse_long(self, epsilon: Fraction, delta: Fraction) -> None:
        """Refuse totals that cannot be written."""
        if not is_simple(self.last.spent + epsilon) or not is_simple(self.last.spent_delta + delta):
            raise ParameterError(
                "charges must add up to a fraction that can be written", "one with thousands of digits",
                "Pass a rounder epsilon.",
            )  # fmt: skip


@dataclass(frozen=True)
class Book:
    """A whole ledger, read and verified: its balance, every charge, and what became of them."""

    balance: Balance
    entries: tuple[Entry, ...]
    outputs: tuple[Output, ...] = ()

    @property
    def balance_now(self) -> Balance:
        """The balance by today's calendar: in a new period nothing is spent yet."""
        return self.balance.at(now())


#: What an adoption writes in: charges that were made elsewhere.
UNKNOWN_RELEASES, RESTORED = "released before this file was adopted", "(restored: entry "
WRITTEN_IN = re.compile(r".* \(restored: entry [0-9]+, seal [0-9a-f]{64}\)")


def is_written_in(query: str) -> bool:
    """Whether an adoption wrote a charge in, by the name of it: no other charge may be called so."""
    return query == UNKNOWN_RELEASES or WRITTEN_IN.fullmatch(query) is not None


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


def check_text(rule: str, text: object, cure: str) -> None:
    """Texts of entries are printed in tables and sealed as they are."""
    if not isinstance(text, str) or not text.isprintable() or len(text) > LONGEST_TEXT:
        kind = "printable texts" if rule.endswith("are") else "a printable text"
        raise ParameterError(f"{rule} {kind} of at most {LONGEST_TEXT:,} characters", shown(text), cure)
