"""What was found in some files: counts and places, never cells or labels. For the data holder, never for a release."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from dpfda.reading.text_layout import TextLayout

#: Places that are named of each kind of trouble.
NAMED = 5


@dataclass
class Tally:
    """How often something was found, and where first: files and lines (or rows), counted from 1."""

    count: int = 0
    where: list[tuple[str, int]] = field(default_factory=list)

    def add(self, file: str, places: np.ndarray) -> None:
        self.count += int(places.size)
        self.where += [(file, int(place)) for place in places[: max(0, NAMED - len(self.where))]]


@dataclass
class FileFacts:
    """One file: how it is written and what it has, as far as its header says."""

    name: str
    kind: str = ""  # what it is, where it is no text file and could be read
    layout: TextLayout | None = None  # of a text file
    names: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    records: int = 0
    problem: str = ""
    types: dict[str, str] = field(default_factory=dict)  # of columns that hold no numbers


@dataclass
class Report:
    """What was found in all files."""

    files: list[FileFacts] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)
    cells: dict[str, dict[str, Tally]] = field(default_factory=dict)  # by what is wrong, then by column
    commas: int = 0
    decimal_commas: bool = False  # found, and read as such from then on
    guessed: str = ""  # the encoding, where nobody said it and it is not the usual one
    roles: str = ""  # what is wrong with the columns that were named
    unsure: bool = False  # whether the first line is names
    shows_names: bool = True  # which are surely no record's, or were said to be names
    texts: list[str] = field(default_factory=list)  # columns that hold texts
    others: list[str] = field(default_factory=list)  # columns that are neither values nor named
    repeated_names: list[int] = field(default_factory=list)
    longest: Counter[int] = field(default_factory=Counter)  # rows with gaps, by the longest of them
    never: int = 0  # rows without any value
    groups: Counter[str] = field(default_factory=Counter)
    many_groups: bool = False
    units: int = 0
    several: int = 0
    torn: int = 0  # units in more than one group
    all_units: bool = True
    in_order: bool = True

    @property
    def records(self) -> int:
        return sum(file.records for file in self.files)

    def tally(self, name: str) -> Tally:
        return self.tallies.setdefault(name, Tally())

    def column(self, what: str, name: str) -> Tally:
        return self.cells.setdefault(what, {}).setdefault(name, Tally())
