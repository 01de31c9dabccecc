"""Forms as data: what a screen asks, and what came back, as texts of an address.

Whatever stands in an address is read here and nowhere else: a field that does not fit says so by its name, and the
page shows the words beside it.
"""

from __future__ import annotations

import math
import re
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
#: Groups, each of which is planned and drawn.
MOST_GROUPS = 24
#: What people put between thousands beside a comma, a thousand and more with commas, and what may be that or a decimal.
_GAPS = re.compile(r"(?<=\d)[ \u00a0\u202f'](?=\d{3}(?!\d))")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


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
        known = {name: text.strip() for name, text in said.items() if name in fields}
        for name, text in known.items():
            if len(text) > LONGEST:
                rule = f"{fields[name].label}: a field holds up to {LONGEST:,} characters"
                raise WrongField(name, rule, f"{len(text):,}", "Use Python for more.")
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
        return self._number(name, f"{what} is a number", self[name])

    @staticmethod
    def _number(name: str, rule: str, text: str) -> float:
        value = number_in(text)
        if math.isnan(value):
            both = f"Write {text.replace(',', '')} or {text.replace(',', '.')}, whichever it is."
            raise WrongField(name, rule, shown(text), both if _EITHER.fullmatch(text) else "Write 0.5 or 12, say.")
        return value

    def whole(self, name: str, what: str, least: int = 1) -> int:
        text = _GAPS.sub("", self[name])
        text = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text
        if not (text.isascii() and text.isdigit()) or len(text) > DIGITS or int(text) < least:
            raise WrongField(
                name, f"{what} is a whole number of at least {least}", shown(self[name]), "Write 1500, say."
            )
        return int(text)

    def amount(self, name: str, what: str) -> Fraction:
        value = exact_fraction(self.decimal(name)) if len(self[name]) <= 40 else None
        if value is None or value <= 0:
            raise WrongField(name, f"{what} is above 0", shown(self[name]), "Write 1, 0.5 or 1/4.")
        return value

    def decimal(self, name: str) -> str:
        """A number as Python and the command line take it, or a fraction as it stands."""
        return self[name] if "/" in self[name] else in_python(self[name])

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
        parts = self[name].replace(";", " ").split()
        inner = [part.rstrip(",").count(",") for part in parts]
        if len(parts) < 2 or "." in self[name] or min(inner) > 1 or not any(inner):  # commas part numbers, if anything
            parts = self[name].replace(";", " ").replace(",", " ").split()
        found = np.array([number_in(part) for part in parts])  # a comma behind one, and decimal commas: nobody knows
        if found.size < 2 or not np.isfinite(found).all():
            raise WrongField(name, f"there are at least two {what}", f"{len(parts)} of them", "Write 0.2 0.5 0.3.")
        return found

    def each(self, name: str, what: str) -> list[float]:
        """Numbers that commas or lines separate."""
        return [self._number(name, f"{what} is a number", part) for part in self.listed(name)]

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
        if len(found) > MOST_GROUPS:
            rule = f"the page plans for up to {MOST_GROUPS} groups"
            raise WrongField(name, rule, f"{len(found)}", "Use the command or Python for more.")
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
            sides = number_in(low), number_in(high)
            if not -math.inf < sides[0] < sides[1] < math.inf:
                raise WrongField(
                    name, f"{what} are names with their ranges, low:high", shown(line), "Write age 0:110, one a line."
                )
            found[words.strip()] = sides
        if not found or "" in found:
            raise WrongField(name, f"{what} are named, with a range each", "none", "Write age 0:110, one a line.")
        return found


def in_python(text: str) -> str:
    """A number as Python writes it, where somebody wrote a decimal comma or marked thousands.

    >>> in_python("0,8"), in_python("1.5"), in_python("1 000"), in_python("1,000,000.5")
    ('0.8', '1.5', '1000', '1000000.5')

    What may be one or a thousand stays as it is, and is no number:

    >>> in_python("1,000"), number_in("1,000")
    ('1,000', nan)
    """
    text = _GAPS.sub("", text.strip())
    if _EITHER.fullmatch(text):
        return text
    if _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text and text[-1] != "," else text


def number_in(text: str) -> float:
    """The finite number that a text says; NaN where it says none."""
    try:
        found = float(in_python(text))
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan


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


def to_text(value: float) -> str:
    """A number as it is written in Python and on the command line.

    >>> to_text(2.0), to_text(0.1)
    ('2', '0.1')
    """
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
