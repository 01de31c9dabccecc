"""Forms as data: what a screen asks, and what came back, as texts of an address.

Whatever stands in an address is read here and nowhere else: a field that does not fit says so by its name, and the
page shows the words beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from urllib.parse import urlencode

import numpy as np

from dpfda.core.codec import exact_fraction
from dpfda.core.errors import ParameterError, shown

#: Characters of one field: enough for a public curve of a thousand numbers.
LONGEST = 20_000
#: Digits of a whole number: more than there are people.
DIGITS = 12


@dataclass(frozen=True)
class Field:
    """One question of a form.

    `kind` is "number", "whole", "text", "lines" or "choice"; a choice has pairs of a value and its words. Where there
    are `steps`, a slider moves along them.
    """

    name: str
    label: str
    kind: str = "text"
    default: str = ""
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    steps: tuple[str, ...] = ()
    #: Asked only where another field has one of these values.
    when: tuple[str, tuple[str, ...]] | None = None
    #: Short: stands beside the next one.
    half: bool = False


@dataclass(frozen=True)
class Fieldset:
    """Questions that belong together; `closed` ones are folded away at first."""

    legend: str
    fields: tuple[Field, ...]
    hint: str = ""
    closed: bool = False


class WrongField(ParameterError):
    """What was written into one field breaks a rule."""

    def __init__(self, name: str, rule: str, given: object, cure: str):
        super().__init__(rule, given, cure)
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.rule, self.given, self.cure)


@dataclass(frozen=True)
class Facts(Mapping[str, str]):
    """What a form says: texts by name, with the defaults of its fields where nothing was said."""

    said: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[str, str], fieldsets: Iterable[Fieldset]) -> Facts:
        fields = {each.name: each for part in fieldsets for each in part.fields}
        known = {name: text.strip() for name, text in said.items() if name in fields and len(text) <= LONGEST}
        return cls(known, {name: each.default for name, each in fields.items()})

    def __getitem__(self, name: str) -> str:
        return self.said[name] if name in self.said else self.defaults[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.defaults)

    def __len__(self) -> int:
        return len(self.defaults)

    def query(self, **more: str) -> str:
        """As the query of an address: what differs from the defaults."""
        kept = {name: self[name] for name in self if self[name] != self.defaults[name]}
        return urlencode({**kept, **more})

    def number(self, name: str, what: str) -> float:
        try:
            value = float(decimal_point(self[name]))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise WrongField(name, f"{what} is a number", shown(self[name]), "Write 0.5 or 12, say.")
        return value

    def whole(self, name: str, what: str, least: int = 1) -> int:
        text = self[name].replace(",", "").replace(" ", "")
        if not (text.isascii() and text.isdigit()) or len(text) > DIGITS or int(text) < least:
            raise WrongField(name, f"{what} is a whole number of at least {least}", shown(self[name]), "Write 1000.")
        return int(text)

    def amount(self, name: str, what: str) -> Fraction:
        value = exact_fraction(decimal_point(self[name])) if len(self[name]) <= 40 else None
        if value is None or value <= 0:
            raise WrongField(name, f"{what} is above 0", shown(self[name]), "Write 1, 0.5 or 1/4.")
        return value

    def choice(self, name: str, choices: Iterable[str]) -> str:
        listed = tuple(choices)
        if self[name] not in listed:
            raise WrongField(name, f"{name} is one of {', '.join(listed)}", shown(self[name]), "Choose one.")
        return self[name]

    def listed(self, name: str) -> list[str]:
        """Names, one a line or separated by commas."""
        return [part.strip() for line in self[name].splitlines() for part in line.split(",") if part.strip()]

    def numbers(self, name: str, what: str) -> np.ndarray:
        """Numbers, separated by anything that people put between them."""
        parts = self[name].replace(";", " ").replace(",", " ").split()
        try:
            found = np.array([float(part) for part in parts])
        except ValueError:
            found = np.array([])
        if found.size < 2 or not np.isfinite(found).all():
            raise WrongField(name, f"{what} are at least two numbers", f"{len(parts)} of them", "Write 0.2 0.5 0.3.")
        return found

    def sizes(self, name: str) -> dict[str, int]:
        """Groups with their public numbers: ``north=500``, one a line."""
        found: dict[str, int] = {}
        for part in self.listed(name):
            group, mark, size = part.rpartition("=")
            counted = size.strip().isascii() and size.strip().isdigit() and len(size.strip()) <= DIGITS
            if not mark or not group.strip() or not counted or group.strip() in found:
                raise WrongField(
                    name, "groups are names with their numbers, each once", shown(part), "Write north=500, one a line."
                )
            found[group.strip()] = int(size)
        if len(found) == 1:
            raise WrongField(name, "there are at least two groups", "one", "Add another, or leave this empty.")
        return found

    def ranges(self, name: str, what: str) -> dict[str, tuple[float, float]]:
        """Names with public ranges: ``age 0:110``, one a line."""
        found: dict[str, tuple[float, float]] = {}
        for line in self[name].splitlines():
            words, _, ends = line.strip().rpartition(" ")
            low, _, high = ends.partition(":")
            if not line.strip():
                continue
            try:
                sides = float(low), float(high)
            except ValueError:
                sides = math.nan, math.nan
            if not -math.inf < sides[0] < sides[1] < math.inf:
                raise WrongField(
                    name, f"{what} are names with their ranges, low:high", shown(line), "Write age 0:110, one a line."
                )
            found[words.strip()] = sides
        if not found or "" in found:
            raise WrongField(name, f"{what} are named, with a range each", "none", "Write age 0:110, one a line.")
        return found


def decimal_point(text: str) -> str:
    """A number as Python writes it, where somebody wrote one decimal comma.

    >>> decimal_point("0,8"), decimal_point("1.5")
    ('0.8', '1.5')
    """
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


def ladder(low: float, high: float) -> tuple[str, ...]:
    """Round numbers from low to high, as people count: 1, 2, 5, 10, ...

    >>> ladder(100, 2000)
    ('100', '200', '500', '1000', '2000')
    """
    found, power = [], 10.0 ** math.floor(math.log10(low))
    while power <= high:
        found += [step * power for step in (1, 2, 5) if low <= step * power <= high * (1 + 1e-9)]
        power *= 10
    return tuple(f"{value:.10g}" for value in found)


def spelt(value: float) -> str:
    """A number as it is written in Python and on the command line.

    >>> spelt(2.0), spelt(0.1)
    ('2', '0.1')
    """
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
