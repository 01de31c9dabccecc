"""Summaries in files: confidential, sealed with their plan, and able to go on where they stopped.

A file says which files it has added up, so that none counts twice, and which plan it is for. Files of one
plan merge, across days and sites. What they hold is not private: treat them as the data itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import codec
from .blocks import Span
from .errors import FileError, PlanMismatch, RecordError
from .files import read_text, write_whole
from .protocol import MOST_RECORDS, Summary
from .tally import Tally

VERSION = 1
NOTICE = "CONFIDENTIAL: exact totals of private records, without noise. Keep it where the data is; never publish it."
KINDS: dict[str, type[Summary]] = {"Summary": Summary, "Tally": Tally}


@dataclass(frozen=True, repr=False)
class Part:
    """One file that was added up: where it was, how it is recognised, and the units it holds, where there are units."""

    name: str
    fingerprint: str
    address: str = ""
    site: str = ""
    span: Span | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Saved:
    """Summaries by group (one, without a name, where there are no groups) of some files, for one plan.

    `columns` are the value columns in their order, where the files name them; `reading` is a digest of how they were
    read: columns, layout, header, labels.
    """

    plan: str
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    columns: tuple[str, ...] | None = None
    reading: str = ""

    def __repr__(self) -> str:
        return f"Saved(confidential, {len(self.parts)} files, plan {self.plan[:12]})"

    @property
    def summary(self) -> Summary:
        """The one summary, where there are no groups."""
        if set(self.summaries) != {""}:
            raise PlanMismatch("This file holds summaries of groups, or none: release it with a plan of groups.")
        return self.summaries[""]

    def has(self, new: Part) -> bool:
        """Whether this very file is counted already; one that only resembles it is refused."""
        if any(part.address == new.address and part.fingerprint == new.fingerprint for part in self.parts):
            return True
        for part in self.parts:
            _check_apart(new, part)
        return False

    def plus(self, other: Saved) -> Saved:
        """Both together: of one plan, of different files, of different units."""
        if self.plan != other.plan:
            raise PlanMismatch("These summaries were made with different plans; they do not add up. Use one plan.")
        if (self.columns, self.reading) != (other.columns, other.reading) and self.parts and other.parts:
            raise PlanMismatch(
                "These summaries were made from other columns, or read in another way (layout, header, labels): they "
                "do not add up."
            )
        for part in other.parts:
            for known in self.parts:
                _check_apart(part, known)
        whole = dict(self.summaries)
        for name, summary in other.summaries.items():
            whole[name] = whole[name].merge(summary) if name in whole else summary
        how = self if self.parts else other
        parts = (*self.parts, *other.parts)
        return replace(self, summaries=whole, parts=parts, columns=how.columns, reading=how.reading)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it, readable by its owner only; the file is whole or absent."""
        body = {
            "confidential": NOTICE,
            "plan": self.plan,
            "columns": None if self.columns is None else list(self.columns),
            "reading": self.reading,
            "files": [_plain(part) for part in self.parts],
            "summaries": {name: _numbers(summary) for name, summary in self.summaries.items()},
        }
        return write_whole(path, codec.seal("summary", VERSION, body), 0o600)


def _check_apart(part: Part, known: Part) -> None:
    if part.fingerprint == known.fingerprint:
        raise RecordError(
            f"The file {part.name!r} is counted already, as {known.name!r}",
            cure="A record must count once; leave one of them out.",
        )
    if part.site == known.site and part.address and part.address == known.address:
        raise RecordError(
            f"The file {part.name!r} changed since it was counted",
            cure="Its records would count twice. Begin a new summary, or name a site if it is another machine's file.",
        )
    if part.site == known.site and part.span is not None and known.span is not None and part.span.meets(known.span):
        raise RecordError(
            f"The files {known.name!r} and {part.name!r} may hold the same unit",
            cure="Files that are summarised apart must hold each unit whole, in one of them, between labels that no "
            "other file has: sort and split them so, read them in one go without a checkpoint, or name a site of its "
            "own for each if no unit is in two.",
        )


def _plain(part: Part) -> dict[str, Any]:
    span = None if part.span is None else [part.span.first, part.span.last, list(part.span.numbers)]
    return {
        "name": part.name,
        "fingerprint": part.fingerprint,
        "address": part.address,
        "site": part.site,
        "units": span,
    }


def _numbers(summary: Summary) -> dict[str, Any]:
    totals = summary.totals
    return {
        "kind": type(summary).__name__,
        "key": summary.key,
        "count": summary.count,
        "shape": list(totals.shape),
        "totals": totals.ravel().tolist(),
    }


def load(path: str | os.PathLike[str]) -> Saved:
    """The summaries that :meth:`Saved.save` wrote; damaged, edited and foreign files are refused."""
    name, text = Path(path).name, read_text(path, "summary")
    try:
        body = codec.unseal(text, "summary", VERSION)
    except FileError as error:  # of many, say which
        raise FileError(f"{name!r} is refused. {error}") from None
    try:
        parts = tuple(_part(entry) for entry in body["files"])
        summaries = {str(group): _summary(entry) for group, entry in body["summaries"].items()}
        columns = None if body["columns"] is None else tuple(str(name) for name in body["columns"])
        return Saved(_digest(body["plan"]), summaries, parts, columns, str(body["reading"]))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError):
        raise FileError(f"{name!r} does not hold a whole summary.") from None


def _digest(text: str) -> str:
    """The digest of a family of plans, which is shown: sixty-four digits and nothing else."""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError
    return text


def _part(entry: Mapping[str, Any]) -> Part:
    units = entry["units"]
    span = None if units is None else Span(str(units[0]), str(units[1]), tuple(bool(x) for x in units[2]))
    return Part(str(entry["name"]), str(entry["fingerprint"]), str(entry["address"]), str(entry["site"]), span)


def _summary(entry: Mapping[str, Any]) -> Summary:
    if not all(type(number) is int for number in [entry["count"], *entry["shape"], *entry["totals"]]):
        raise ValueError
    totals = np.array(entry["totals"], dtype=np.int64).reshape(entry["shape"])
    if not 0 <= entry["count"] <= MOST_RECORDS or min(entry["shape"], default=0) < 0:
        raise ValueError
    return KINDS[entry["kind"]](str(entry["key"]), entry["count"], totals)


def merged(files: Iterable[Saved]) -> Saved:
    """Several of one plan as one."""
    whole: Saved | None = None
    for saved in files:
        whole = saved if whole is None else whole.plus(saved)
    if whole is None:
        raise PlanMismatch("There is no summary to merge.")
    return whole
