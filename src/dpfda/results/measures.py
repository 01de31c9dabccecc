"""What the numbers of a release are, and in which unit: the words beside the values of a picture."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A name with its unit in brackets at the end.
NAMED = re.compile(r"(.*\S)\s*\(([^()]+|[^()]*\([^()]*\)[^()]*)\)")
#: A unit, or two with a stroke between them, whose square can be written without brackets.
SIMPLE = re.compile(r"[^\W\d_]+(/[^\W\d_]+)?")


@dataclass(frozen=True)
class Measure:
    """A name and a unit.

    >>> str(Measure.of("glucose (mmol/L)").squared("covariance of"))
    'covariance of glucose (mmol²/L²)'
    >>> str(Measure.of("load (kW)").slope("h")), str(Measure("mean").more("difference in"))
    ('slope of load (kW per h)', 'difference in mean')
    """

    name: str
    unit: str = ""

    @classmethod
    def of(cls, value: str) -> Measure:
        """What a user calls values, with the unit in brackets if there is one."""
        found = NAMED.fullmatch(value.strip())
        return cls(value.strip()) if found is None else cls(found[1], found[2])

    def more(self, words: str) -> Measure:
        """The same, with words before the name."""
        return Measure(f"{words} {self.name}", self.unit)

    def squared(self, words: str) -> Measure:
        """In squares of the unit."""
        simple = SIMPLE.fullmatch(self.unit)
        unit = self.unit.replace("/", "²/") + "²" if simple else f"({self.unit})²" if self.unit else ""
        return Measure(f"{words} {self.name}", unit)

    def slope(self, along: str) -> Measure:
        """By the unit of the axis, where both are known."""
        return Measure(f"slope of {self.name}", f"{self.unit} per {along}" if self.unit and along else "")

    def __str__(self) -> str:
        if self.unit.startswith("("):
            return f"{self.name}, {self.unit}"
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def attributes(self) -> dict[str, str]:
        """As tables of numbers with axes keep them."""
        return {"long_name": self.name} | ({"units": self.unit} if self.unit else {})
