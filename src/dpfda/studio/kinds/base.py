"""What every kind of release brings to the page, and the questions that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpfda.api import read
from dpfda.bounds import Range
from dpfda.ledger import Ledger
from dpfda.plans import GroupPlan
from dpfda.reading.curves import Curves
from dpfda.results.saved import Saved
from dpfda.studio.fields import Facts, Field, Fieldset, WrongField, ladder, to_text
from dpfda.studio.said import AnyPlan, OnePlan, Recipe, Said, in_shell

#: Epsilons that people choose from.
EPSILONS = ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "4", "6", "8")
RECORD = Field("record", "One of those whose data it is", default="person/people", hint="home, patient, person/people")
NUMBER = Field("n", "How many there are", "whole", "1000", steps=ladder(50, 1_000_000))
EPSILON = Field("epsilon", "Privacy budget epsilon", "number", "1", hint="smaller protects more", steps=EPSILONS)
KNOWN = Field(
    "known", "Is their number public?", "choice", "public",
    choices=(("public", "yes, it is public"), ("guess", "no: this is a guess, and the number is protected too")),
)  # fmt: skip
PROTECT = Field(
    "protect", "What is protected", "choice", "record",
    choices=(("record", "one row of the data"), ("all", "all rows of one person, by a column that says whose")),
)  # fmt: skip
PERSON = Field("person", "The column that says whose a row is", hint="household", when=("protect", ("all",)))
GROUPS = Field(
    "groups", "One release for each group?", "lines",
    hint="names with their public numbers, north=500, one a line, instead of how many there are; empty for one release "
    "of all",
)  # fmt: skip
INVALID = Field(
    "invalid", "A row that cannot be used", "choice", "raise",
    choices=(("raise", "stops the run (outside the guarantee)"), ("center", "counts as the public middle")),
)  # fmt: skip
MORE = Fieldset("More", (INVALID,), closed=True)


@dataclass(frozen=True)
class Role:
    """A column that has to be chosen in a file: `many` is a stretch of columns, from the first to the last."""

    name: str
    label: str
    many: bool = False
    #: Which kind of column is offered first.
    prefers: str = "number"


@dataclass(frozen=True)
class Chosen:
    """A file and its columns, as they were chosen, and how a text file is written."""

    path: Path
    #: As it is seen from the folder of the studio.
    name: str
    columns: Mapping[str, tuple[str, ...]]
    by: str = ""
    #: Columns of the file that play no part; None where a file has no names, and all of it is read.
    ignored: tuple[str, ...] | None = ()
    header: bool | None = None
    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None

    @property
    def dialect(self) -> dict[str, Any]:
        """As :func:`dpfda.read` is told of it."""
        named = ("header", "separator", "decimal", "encoding")
        return {name: getattr(self, name) for name in named}

    def dialect_words(self) -> list[str]:
        """The same on the command line."""
        words = [] if self.header is None else ["--header" if self.header else "--no-header"]
        words += [] if self.separator is None else ["--separator", self.separator]
        words += [] if self.encoding is None else ["--encoding", self.encoding]
        return words + ([] if self.decimal == "." else ["--decimal", self.decimal])


class Kind(ABC):
    """One kind of release on the page."""

    key: ClassVar[str]
    title: ClassVar[str]
    #: The command that releases it.
    verb: ClassVar[str]
    fieldsets: ClassVar[tuple[Fieldset, ...]]
    #: Whether its plans are quick enough to follow a slider while it moves.
    quick: ClassVar[bool] = False
    #: Possible releases that a plan is judged by: as many as a person would wait for.
    judged: ClassVar[int] = 10
    #: How many of them are drawn, at most.
    drawn: ClassVar[int] = 5

    @abstractmethod
    def recipe(self, facts: Facts) -> Recipe:
        """How the plan is made."""

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray | None:
        """What is publicly expected, as the plan takes it; None where there is nothing to expect."""
        return None

    def spread(self, facts: Facts) -> float | None:
        """How far one record lies from the guess, where that was said."""
        return None

    @abstractmethod
    def roles(self, facts: Facts) -> tuple[Role, ...]:
        """The columns that it needs."""

    def facts(self, said: Mapping[str, str]) -> Facts:
        return Facts.of(said, self.fieldsets)

    # -- releasing --------------------------------------------------------------------------

    def records(self, plan: AnyPlan, chosen: Chosen, facts: Facts) -> Curves:
        """The records of a file, to be read when the release needs them."""
        return read(str(chosen.path), **self._columns(chosen, facts), **chosen.dialect)

    def _columns(self, chosen: Chosen, facts: Facts) -> dict[str, Any]:
        """The columns as :func:`dpfda.read` is told of them."""
        if chosen.ignored is None:
            return {}
        found: dict[str, Any] = {"columns": [n for role in self.roles(facts) for n in chosen.columns[role.name]]}
        return found | ({"ignore": list(chosen.ignored)} if chosen.ignored else {})

    def release(self, plan: AnyPlan, chosen: Chosen, facts: Facts, ledger: Ledger, query: str) -> Saved:
        """Check, read, charge, draw."""
        records = self.records(plan, chosen, facts)
        if isinstance(plan, GroupPlan):
            return plan.release(records, ledger, by=chosen.by, query=query)
        return plan.release(records, ledger, query=query)

    # -- the same elsewhere -------------------------------------------------------------------

    def release_command(self, chosen: Chosen, facts: Facts, ledger: str, output: str) -> list[str]:
        """Shell lines that release the same: the plan first, then the data."""
        columns = self.column_words(chosen, facts)
        by = ["--by", chosen.by] if chosen.by else []
        plan = in_shell([*self.recipe(facts).command(), "--out", "plan.json"])
        words = [self.verb, chosen.name, *columns, *by, *chosen.dialect_words(), "--plan", "plan.json"]
        return [plan, in_shell([*words, "--ledger", ledger, "--out", output])]

    def column_words(self, chosen: Chosen, facts: Facts) -> list[str]:
        """The columns on the command line."""
        said = self._columns(chosen, facts)
        return [word for name, names in said.items() for word in (f"--{name}", ",".join(names))]

    def release_python(self, chosen: Chosen, facts: Facts, ledger: str, output: str) -> list[str]:
        """Lines of Python that release the same."""
        said = {name: value for name, value in chosen.dialect.items() if value not in (None, ".")}
        how = "".join(f", {name}={value!r}" for name, value in {**self._columns(chosen, facts), **said}.items())
        by = f", by={chosen.by!r}" if chosen.by else ""
        return [
            *self.recipe(facts).python(),
            f"records = dp.read({chosen.name!r}{how})",
            f"release = plan.release(records, {ledger!r}{by})",
            f"release.save({output!r})",
        ]


# -- facts that kinds share ---------------------------------------------------------------------


def budget(facts: Facts) -> list[Said]:
    """Epsilon, neighbours, what an unusable row does, and what a record is called."""
    epsilon = facts.amount("epsilon", "epsilon")
    text = facts.decimal("epsilon")
    found = [Said("epsilon", epsilon, repr(text), ("--epsilon", text))]
    if facts.choice("known", ("public", "guess")) == "guess":
        found.append(Said("neighbors", "add-remove", command=("--neighbors", "add-remove")))
    if facts.choice("invalid", ("raise", "center")) == "center":
        found.append(Said("invalid", "center", command=("--invalid", "center")))
    if facts["record"]:
        found.append(Said("record", facts["record"], command=("--record", facts["record"])))
    return found


def unit(facts: Facts) -> list[Said]:
    """Whose a row is, where all rows of one person are protected."""
    if facts.choice("protect", ("record", "all")) == "record":
        return []
    if not facts["person"]:
        raise WrongField("person", "the column that says whose a row is has a name", "none", "Write household, say.")
    return [Said("unit", facts["person"], command=("--unit", facts["person"]))]


def ends(facts: Facts, low: str, high: str, what: str) -> tuple[float, float]:
    """Two numbers in their order."""
    found = facts.number(low, f"the lowest {what}"), facts.number(high, f"the highest {what}")
    if found[0] >= found[1]:
        raise WrongField(high, f"the highest {what} is above the lowest", facts[high], f"Write more than {facts[low]}.")
    return found


def colon(low: float, high: float) -> str:
    """A range on the command line."""
    return f"{to_text(low)}:{to_text(high)}"


def bound(facts: Facts, name: str = "bound") -> Said:
    """The range of values, as a bound of curves."""
    low, high = ends(facts, "low", "high", "value")
    return Said(name, Range(low, high), f"dp.Range({to_text(low)}, {to_text(high)})", ("--range", colon(low, high)))


def pairs(sides: Iterable[tuple[float, float]]) -> str:
    """Ranges in Python."""
    return ", ".join(f"({to_text(low)}, {to_text(high)})" for low, high in sides)


def repeated(option: str, sides: Iterable[tuple[float, float]]) -> tuple[str, ...]:
    """The same on the command line, where an option is told of each."""
    return tuple(word for side in sides for word in (option, colon(*side)))


def with_unit(name: str, unit: str) -> str:
    """What numbers are, with their unit, as axes say it."""
    return f"{name} ({unit})" if name and unit else name


def input_roles(facts: Facts, what: str) -> tuple[Role, ...]:
    """A column for each of the inputs."""
    return tuple(Role(f"input {name}", f"Column of {name}") for name in facts.ranges("inputs", what))


def how_many(facts: Facts) -> int:
    """The number of records."""
    return facts.whole("n", "the number of records", 2)


def number_of(facts: Facts) -> tuple[int, dict[str, int]]:
    """How many records there are: one number, or one for each group."""
    return how_many(facts), facts.sizes("groups")
