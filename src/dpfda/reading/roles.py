"""Which column is what: values, whose record, which group, when. Names alone decide it."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.core.labels import Coder, owners
from dpfda.reading.absent import no_column, no_long_column
from dpfda.reading.blocks import Block, Raw, Rows
from dpfda.reading.lakes import offered
from dpfda.reading.layouts import DAY, Layout, Long, days_and_hours
from dpfda.reading.names import is_common, owners_among
from dpfda.spaces.own_times import Pieces

#: Columns by a pattern, or by their names.
Columns: TypeAlias = str | Sequence[str] | None


@dataclass(frozen=True)
class Roles:
    """Which column is what."""

    layout: Layout = None
    columns: Columns = None
    by: str | None = None
    unit: str | None = None
    order: str | None = None
    coder: Coder | None = None
    lenient: bool = False
    width: int | None = None
    ignore: Columns = None
    folders: tuple[str, ...] = ()  # names of labels that are folders, not columns

    @property
    def asides(self) -> list[str]:
        """Columns that are texts."""
        wanted = [self.by, self.unit, self.order, self.layout.id if isinstance(self.layout, Long) else None]
        return list(dict.fromkeys(name for name in wanted if name is not None))

    @property
    def owners(self) -> list[str]:
        """Columns that say whose a row is: a person, or one curve."""
        wanted = (self.unit, self.layout.id if isinstance(self.layout, Long) else None)
        return [name for name in wanted if name is not None]

    @property
    def stamped(self) -> str | None:
        """The column of timestamps, where they are cut into days."""
        return self.layout.time if isinstance(self.layout, Long) and self.layout.day is not None else None

    @property
    def zone(self) -> str:
        """Where these days are."""
        return self.layout.day or "" if isinstance(self.layout, Long) else ""

    def values(self, names: Sequence[str]) -> list[str]:
        """Columns that are numbers: those asked for, or all that have no other role."""
        for name in self.asides:
            if name not in names and name not in self.folders:
                role = {self.by: "by", self.unit: "unit", self.order: "order"}.get(name)
                raise no_long_column(name) if role is None else no_column(role, name, names)
        if self.layout is not None:
            layout: Any = self.layout
            pair = [layout.time, layout.value] if isinstance(layout, Long) else [layout.values, layout.times]
            if set(pair) & set(self.asides):
                raise ParameterError("a column has one role", "times or values with another", "Name another column.")
            known = [*names, *self.folders]
            if isinstance(layout, Long) and (lost := set(pair) - set(known)):
                raise no_long_column(min(lost))
            return pick(known, [name for name in pair if name is not None])
        apart = [*self.asides, *self.ignored(names)]
        values = pick(offered(names, self.folders, apart, self.columns), self.columns)
        if self.columns is None and len(values) > 1 and (owner := owners_among(values)):
            if self.ignore is not None:
                pick(names, self.ignore, "ignore")  # which may be misspelt
            called = f" called {owner[0]!r}" if is_common(owner[0]) else ""
            raise ParameterError(
                f"a column{called} says whose a record is",
                "it among the values",
                "Name it in unit=, name columns that play no part in ignore=, or the value columns in columns='hh*'.",
            )
        return values

    def ignored(self, names: Sequence[str]) -> list[str]:
        """Columns that play no part, because the user says so."""
        if self.ignore is None:
            return []
        if isinstance(self.ignore, str):
            found = [name for name in names if fnmatch.fnmatchcase(name, self.ignore)]
        else:
            found = [name for name in names if name in self.ignore]
        listed = [] if self.columns is None or isinstance(self.columns, str) else [str(name) for name in self.columns]
        if set(found) & {*self.asides, *listed}:
            raise ParameterError("a column has one role", "one in ignore= and another", "Name it once.")
        return found

    def unnamed(self, names: Sequence[str]) -> list[str]:
        """Columns of which nothing was said: neither values nor labels nor ignored."""
        ignored = [] if self.ignore is None else pick(names, self.ignore, "ignore")
        used = {*self.values(names), *self.asides, *ignored}
        return [name for name in names if name not in used]

    def block(self, columns: Any, aside: dict[str, np.ndarray], first: int, file: str = "") -> Raw:
        """Numbers (a matrix, or curves at their own times) and texts as a block, by role."""
        rows = np.arange(first, first + len(columns))
        found: dict[str, Any] = {} if self.unit is None else {"units": owners(aside[self.unit])}
        if self.order is not None:
            found["order"] = aside[self.order]
        if self.by is not None:
            assert self.coder is not None
            found["groups"] = self.coder.column(aside[self.by])
        if not isinstance(self.layout, Long):
            if isinstance(columns, Pieces):
                return Block(columns.values, rows, columns.times, columns.starts, file=file, **found)
            return Block(columns, rows, file=file, **found)
        times, values, days = columns[:, 0], columns[:, 1], None
        if self.layout.day is not None:
            days, times = _days(times)
        ids = found["units"] if self.unit == self.layout.id else owners(aside[self.layout.id])
        return Rows(ids, times, values, rows, days, file=file, **found)


def _days(wall: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Days and hours of wall-clock microseconds; a missing stamp is a missing time, on no day."""
    known = np.isfinite(wall)
    days, hours = days_and_hours(np.where(known, wall, -DAY))
    return np.where(known, days, np.iinfo(np.int64).min // DAY).astype(np.int64), np.where(known, hours, np.nan)


def pick(names: Sequence[str], columns: Columns, role: str = "columns") -> list[str]:
    """Column names chosen by a list, or by a pattern such as ``hh*``; None takes all."""
    if columns is None:
        return list(names)
    # Names may be a first record that was taken for names: they are counted, never shown.
    offer = f"The data has {len(names)} columns; check the spelling, and header=False if there are no names."
    if isinstance(columns, str):
        chosen = [name for name in names if fnmatch.fnmatchcase(name, columns)]
    else:
        chosen = [str(name) for name in columns]
        if missing := [name for name in chosen if name not in names]:
            raise ParameterError(f"{role} must name columns of the data", shown(missing[0]), offer)
        if len(set(chosen)) < len(chosen):
            raise ParameterError(f"{role} must be different columns", "one that is named twice", "Name each once.")
    if not chosen:
        raise ParameterError(f"{role} must match at least one column", shown(columns), offer)
    return chosen
