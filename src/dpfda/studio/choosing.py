"""Which columns of a file play which part: what is suggested where only one choice fits, and what was chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpfda.core.errors import FileError, ParameterError
from dpfda.plans import GroupPlan
from dpfda.reading import columns_of
from dpfda.reading.columns import FileColumns
from dpfda.studio.fields import Facts
from dpfda.studio.folder import Found
from dpfda.studio.kinds import Chosen, Kind, Role
from dpfda.studio.said import AnyPlan

SEPARATORS = {"": None, "comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16")
NUMBERS = ("number", "whole number")
HERE = "Choose it on the page of the data."


def look(found: Found, said: Mapping[str, str]) -> FileColumns:
    """Names and kinds of a file's columns."""
    return columns_of(os.fspath(found.place), **dialect(said))


def dialect(said: Mapping[str, str]) -> dict[str, Any]:
    """How a text file is written, as it was said."""
    header = {"yes": True, "no": False}.get(said.get("header", ""))
    decimal = "," if said.get("decimal") == "comma" else "."
    encoding = said.get("encoding", "")
    return {
        "header": header,
        "separator": SEPARATORS.get(said.get("separator", "")),
        "decimal": decimal,
        "encoding": encoding if encoding in ENCODINGS else None,
    }


def names_of(columns: FileColumns) -> list[str]:
    """Names of columns; numbers where a file has none."""
    if columns.names is not None:
        return list(columns.names)
    return [f"{place + 1}" for place in range(len(columns.kinds))]


def suggested(roles: Sequence[Role], columns: FileColumns, facts: Facts, said: Mapping[str, str]) -> dict[str, str]:
    """What stands in the form: what was said, else the one choice that fits; nothing where several would."""
    if columns.header is None:
        return {}
    names, kinds = names_of(columns), columns.kinds
    width = how_many_values(facts) or 0
    found: dict[str, str] = {}
    for role in roles:
        if role.many:
            first, last = stretch(names, kinds, width) or ("", "")
            found |= {f"{role.name}.first": str(first), f"{role.name}.last": str(last)}
        else:
            wanted = role.name.removeprefix("input ").lower()
            named = [i for i, name in enumerate(names) if name.lower() == wanted]
            fits = [i for i, kind in enumerate(kinds) if (kind in NUMBERS) == (role.prefers == "number")]
            only = named or (fits if len(fits) == 1 else [])
            found[role.name] = str(only[0]) if only else ""
    found["by"] = ""
    return found | {key: text for key, text in said.items() if key in found and text in map(str, range(len(names)))}


def how_many_values(facts: Facts) -> int | None:
    """How many values a curve has, where the kind has curves."""
    return facts.whole("points", "the number of values", 2) if "points" in facts else None


def hints(roles: Sequence[Role], columns: FileColumns, facts: Facts) -> list[str]:
    """Why nothing is suggested for the values, where kinds of columns tell."""
    numbers = sum(kind in NUMBERS for kind in columns.kinds)
    if columns.header is None or not any(role.prefers == "number" for role in roles):
        return []
    if not numbers:
        return ["No column holds numbers. If decimals stand after a comma, say so under “How the file is written”."]
    width = how_many_values(facts)
    if width is not None and numbers < width:
        return [f"The plan has {width} values of one curve, and only {numbers} columns of this file hold numbers."]
    if width is not None and stretch(names_of(columns), columns.kinds, width) is None:
        return [f"No {width} columns stand together that could only be the values: choose the first and the last."]
    return []


def stretch(names: Sequence[str], kinds: Sequence[str], width: int) -> tuple[int, int] | None:
    """The first and last of as many columns of numbers as the plan has, if only one stretch of them fits.

    Columns that are called alike (h0, h1, ...) go before others.

    >>> stretch(["id", "h0", "h1", "age"], ["whole number"] + ["number"] * 3, 2)
    (1, 2)
    """
    stem = [
        re.sub(r"[\d.,:_-]+", "", name) if kind in NUMBERS else None for name, kind in zip(names, kinds, strict=True)
    ]
    alike = [run for run in _runs(stem) if run[1] - run[0] + 1 == width]
    numbers = _runs(["" if kind in NUMBERS else None for kind in kinds])
    fits = alike or [run for run in numbers if run[1] - run[0] + 1 == width]
    return fits[0] if len(fits) == 1 else None


def _runs(marks: Sequence[str | None]) -> list[tuple[int, int]]:
    """First and last places of stretches with the same mark."""
    found: list[tuple[int, int]] = []
    for place, mark in enumerate(marks):
        if mark is not None and place and marks[place - 1] == mark:
            found[-1] = found[-1][0], place
        elif mark is not None:
            found.append((place, place))
    return found


def chosen_in(said: Mapping[str, str], kind: Kind, facts: Facts, found: Found, plan: AnyPlan) -> Chosen:
    """The columns that were chosen, as a release reads them; what cannot be right says so."""
    columns = look(found, said)
    if columns.header is None:
        raise ParameterError("the first line may be names or a record", "nothing", "Say which on the page of the data.")
    names, picked = names_of(columns), dict[str, tuple[str, ...]]()
    for role in kind.roles(facts):
        places = _places(names, role, said)
        strict = role.prefers == "number" and facts["invalid"] == "raise"  # else no record may stop anything
        if strict and (text := [i for i in places if columns.kinds[i] in ("text", "date")]):
            raise ParameterError(
                f"{role.label}: these are columns of numbers",
                f"{names[text[0]]!r}, which holds {columns.kinds[text[0]]}",
                "Choose others, or say under “How the file is written” that decimals stand after a comma.",
            )  # fmt: skip
        if role.many and len(places) != (wanted := how_many_values(facts)):
            raise ParameterError(
                f"the plan has {wanted} values of one curve", f"{len(places)} columns",
                "Choose as many columns, or change the plan.",
            )  # fmt: skip
        picked[role.name] = tuple(names[place] for place in places)
    grouped = isinstance(plan, GroupPlan)
    by = names[_place(names, said.get("by", ""), Role("by", "Column of the groups"))] if grouped else ""
    person = facts["person"] if facts.get("protect") == "all" else ""
    if person and person not in names:
        raise ParameterError("the column that says whose a row is must be in the file", repr(person), "Mend the plan.")
    used = {*(name for role in picked.values() for name in role), by, person}
    ignored: tuple[str, ...] | None = tuple(name for name in names if name not in used)
    if columns.names is None:
        if ignored or by:
            raise ParameterError(
                "a file without names of columns is used whole", "some of its columns", "Add a line of names to it."
            )
        ignored = None
    return Chosen(found.place, found.name, picked, by, ignored, **dialect(said))


def _places(names: list[str], role: Role, said: Mapping[str, str]) -> list[int]:
    """The numbers of the columns of a role."""
    if not role.many:
        return [_place(names, said.get(role.name, ""), role)]
    first, last = (_place(names, said.get(f"{role.name}.{end}", ""), role) for end in ("first", "last"))
    if first > last:
        raise ParameterError("the first column comes before the last", "the other way round", "Exchange them.")
    return list(range(first, last + 1))


def _place(names: list[str], text: str, role: Role) -> int:
    """The number of a column: addresses hold no names."""
    if text not in map(str, range(len(names))):
        raise FileError(f"No column was chosen for “{role.label}”. {HERE}")
    return int(text)
