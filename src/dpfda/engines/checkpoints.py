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

from dpfda.core import codec
from dpfda.core.errors import FileError, PlanMismatch, RecordError
from dpfda.core.files import read_text, write_whole
from dpfda.core.labels import label_text
from dpfda.core.origins import Origin, Stretch
from dpfda.problems.summary import Summary, exact_totals
from dpfda.problems.tally import Tally

VERSION = 1
NOTICE = "CONFIDENTIAL: exact totals of private records, without noise. Keep it where the data is; never publish it."
KINDS: dict[str, type[Summary]] = {"Summary": Summary, "Tally": Tally}


@dataclass(frozen=True, repr=False)
class Part:
    """One file that was added up: where it was, how it is recognised, and whose records it holds.

    `number` is the file's on its disk. Where several rows may be one person's (`keyed`), `labels` say whose (their
    column and what it is compared as) and lie in the stretch that was declared (`between`) or in which they were
    `found`. `public` parts are told apart by public facts alone.
    """

    name: str
    fingerprint: str
    address: str = ""
    site: str = ""
    number: str = ""
    keyed: bool = False
    labels: tuple[str, str] = ("", "")
    between: Stretch | None = None
    found: Stretch | None = None
    public: bool = False
    #: Which reading of the file this was; of older parts, as much as is known of it.
    reading: str = field(default_factory=lambda: Origin().reading)

    def origin(self, group: str = "") -> Origin:
        """As summaries know it."""
        files = ((self.address, self.number),)
        name = label_text(group)
        return Origin(self.reading, name, files, self.site, self.keyed, self.labels, self.between, self.found)

    def is_place(self, other: Part) -> bool:
        """Whether both are the file of one address."""
        return self.site == other.site and self.address != "" and self.address == other.address

    def is_file(self, other: Part) -> bool:
        """Whether both are one file, by where it is and never by what it holds."""
        same = self.number != "" and self.number == other.number
        return self.is_place(other) or (same and (self.site == other.site or self.address == other.address))


@dataclass(frozen=True, eq=False, repr=False)
class Saved:
    """Summaries by group (one, without a name, where there are no groups) of some files, for one plan. Confidential.

    Parameters
    ----------
    plan : str
        The digest of the plan, its `family`.
    summaries : mapping, optional
        By the name of the group. Default: none yet.
    parts : tuple, optional
        The files that were added up. Default: none yet.
    columns : tuple of str, optional
        The value columns in their order, where the files name them.
    reading : str, optional
        A digest of how they were read: columns, layout, header, labels.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=4)
    >>> dp.engines.Saved(plan.family).parts
    ()
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

    def origins(self, group: str) -> tuple[Origin, ...]:
        """Where the records of a group's summary come from.

        Parameters
        ----------
        group : str
            The name of the group; "" where there are no groups.
        """
        return tuple(part.origin(group) for part in self.parts)

    def has(self, new: Part) -> bool:
        """Whether this very file is counted already; one that has changed since then is refused.

        Where a refusal must not depend on what a file holds, it is simply not read again.

        Parameters
        ----------
        new : Part
            The file in question.
        """
        known = next((part for part in self.parts if part.is_place(new) and part.between == new.between), None)
        if known is not None and not new.public and known.fingerprint != new.fingerprint:
            raise RecordError(
                f"The file {new.name!r} changed since it was counted",
                cure="Its records would count twice. Begin a new summary, or name a site if it is another machine's.",
            )
        return known is not None

    def plus(self, other: Saved) -> Saved:
        """Both together: of one plan, of different files, of different units.

        Parameters
        ----------
        other : Saved
            Summaries of other files.
        """
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
            whole[name] = whole[name].plus(summary) if name in whole else summary
        how = self if self.parts else other
        parts = (*self.parts, *other.parts)
        return replace(self, summaries=whole, parts=parts, columns=how.columns, reading=how.reading)._named()

    def _named(self) -> Saved:
        """The same with summaries that know where their records come from."""
        known = {name: replace(summary, origins=self.origins(name)) for name, summary in self.summaries.items()}
        return replace(self, summaries=known)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it, readable by its owner only; the file is whole or absent.

        Parameters
        ----------
        path : path
            Where the file goes.
        """
        body = {
            "confidential": NOTICE,
            "plan": self.plan,
            "columns": None if self.columns is None else list(self.columns),
            "reading": self.reading,
            "files": [_plain(part) for part in self.parts],
            "summaries": {name: plain_summary(summary) for name, summary in self.summaries.items()},
        }
        return write_whole(path, codec.seal("summary", VERSION, body), 0o600)


def _check_apart(part: Part, known: Part) -> None:
    if not part.origin().clash(known.origin()):
        return
    if part.is_file(known):
        raise RecordError(
            f"The file {part.name!r} is counted already, as {known.name!r}",
            cure="A record must count once; leave one of them out.",
        )
    raise RecordError(
        f"The files {known.name!r} and {part.name!r} may hold the same unit",
        cure="Files that are summarised apart must hold each unit whole, in one of them, between labels that no other "
        "file has: sort and split them so (where no labels in the data may lead to a refusal, declare the stretch of "
        "each with between=('A', 'Mzz')), release them in one go, or name a site of its own for each if no unit is in "
        "two.",
    )


def _plain(part: Part) -> dict[str, Any]:
    facts = {name: getattr(part, name) for name in ("name", "fingerprint", "address", "site", "number", "reading")}
    stretches = {name: plain_stretch(getattr(part, name)) for name in ("between", "found")}
    return {**facts, "keyed": part.keyed, "labels": list(part.labels), "public": part.public, **stretches}


def plain_stretch(stretch: Stretch | None) -> dict[str, Any] | None:
    """A stretch as plain data."""
    if stretch is None:
        return None
    return {kind: None if (ends := getattr(stretch, kind)) is None else list(ends) for kind in ("texts", "numbers")}


def stretch_of(plain: Mapping[str, Any] | None) -> Stretch | None:
    """The stretch that :func:`plain_stretch` wrote."""
    if plain is None:
        return None
    texts, numbers = plain["texts"], plain["numbers"]
    return Stretch(
        None if texts is None else (str(texts[0]), str(texts[1])),
        None if numbers is None else (float(numbers[0]), float(numbers[1])),
    )


def plain_summary(summary: Summary) -> dict[str, Any]:
    """A summary as plain data: exact integers."""
    totals = summary.totals
    return {
        "kind": type(summary).__name__,
        "key": summary.key,
        "count": summary.count,
        "shape": list(totals.shape),
        "totals": totals.ravel().tolist(),
    }


def load(path: str | os.PathLike[str]) -> Saved:
    """The summaries that :meth:`Saved.save` wrote; damaged, edited and foreign files are refused.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Saved
        Confidential. Its `summary` is what a plan releases.

    Raises
    ------
    dpfda.errors.FileError
        Where it is not a whole summary.

    Examples
    --------
    >>> import tempfile, dpfda as dp
    >>> plan = dp.MeanPlan(n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=4)
    >>> path = Path(tempfile.mkdtemp()) / "north.json"
    >>> saved = dp.engines.Saved(plan.family).save(path)
    >>> dp.engines.load_summary(path).plan == plan.family
    True
    """
    text = read_text(path, "summary")
    name = Path(path).name
    body = codec.unseal(text, "summary", VERSION, name)
    try:
        parts = tuple(_part(entry) for entry in body["files"])
        summaries = {str(group): summary_of(entry) for group, entry in body["summaries"].items()}
        columns = None if body["columns"] is None else tuple(str(name) for name in body["columns"])
        return Saved(_digest(body["plan"]), summaries, parts, columns, str(body["reading"]))._named()
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError):
        raise FileError(f"{name!r} does not hold a whole summary.") from None


def _digest(text: str) -> str:
    """The digest of a family of plans, which is shown: sixty-four digits and nothing else."""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError
    return text


def _part(entry: Mapping[str, Any]) -> Part:
    facts: dict[str, Any] = {name: str(entry[name]) for name in ("name", "fingerprint", "address", "site")}
    if "units" in entry:  # older files: all labels lie between the first and the last, in these orders
        ends, orders = (entry["units"] or ())[:2], (entry["units"] or ((), (), ()))[2]
        texts = (min(ends), max(ends)) if False in orders else None
        numbers = sorted(float(end) for end in ends) if True in orders else None
        plain = {"texts": texts, "numbers": numbers} if ends else None
        old = codec.digest([facts["site"], facts["address"], facts["fingerprint"]])
        return Part(**facts, keyed=plain is not None, found=stretch_of(plain), reading=old)
    facts |= {name: bool(entry[name]) for name in ("keyed", "public")}
    facts |= {name: stretch_of(entry[name]) for name in ("between", "found")}
    name, kind = entry["labels"]
    facts |= {role: str(entry[role]) for role in ("number", "reading")}
    return Part(**facts, labels=(str(name), str(kind)))


def summary_of(entry: Mapping[str, Any]) -> Summary:
    """The summary that :func:`plain_summary` wrote; whatever is none is an error."""
    if not all(type(number) is int for number in [entry["count"], *entry["shape"], *entry["totals"]]):
        raise ValueError
    totals = exact_totals(entry["totals"]).reshape(entry["shape"])
    if entry["count"] < 0 or min(entry["shape"], default=0) < 0:
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
