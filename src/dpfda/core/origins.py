"""Where the records of a summary come from, so that nobody is added up twice.

Two summaries may be put together only if it can be shown that nobody is in both. What can show it: different groups of
one reading; different files, where a record is a row; and where several rows may be one person's, stretches of labels
that do not meet, or sites that are said to share nobody. Stretches that were declared are public. Stretches that were
found in the data are used only where a refusal is outside the guarantee anyway (derivations: parts).
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Real
from typing import TypeAlias, TypeGuard, TypeVar, cast

from dpfda.core.errors import ParameterError, RecordError, shown


@dataclass(frozen=True, repr=False)
class Stretch:
    """Labels from one to another: in the order of texts, in the order of numbers, or in both."""

    texts: tuple[str, str] | None = None
    numbers: tuple[float, float] | None = None

    @classmethod
    def over(cls, labels: Iterable[str]) -> Stretch | None:
        """The shortest stretch that holds all of these labels; None for none."""
        found = list(labels)
        if not found:
            return None
        numbers: list[float] = []
        for label in found:
            number = as_number(label)
            if not math.isfinite(number):
                numbers = []
                break
            numbers.append(number)
        return cls((min(found), max(found)), (min(numbers), max(numbers)) if numbers else None)

    def joined(self, other: Stretch) -> Stretch:
        """The shortest stretch that holds both."""
        return Stretch(_hull(self.texts, other.texts), _hull(self.numbers, other.numbers))

    def meets(self, other: Stretch) -> bool:
        """Whether the same label could be in both; in doubt, yes."""
        return not (_apart(self.texts, other.texts) or _apart(self.numbers, other.numbers))

    def holds(self, label: str) -> bool:
        """Whether a label lies in it."""
        if self.texts is not None:
            return self.texts[0] <= label <= self.texts[1]
        return self.numbers is not None and self.numbers[0] <= as_number(label) <= self.numbers[1]


#: What may be said of the labels of part of the data: the two that they lie between, texts or numbers.
Between: TypeAlias = Stretch | Sequence[str] | Sequence[float] | None
#: Labels of one kind.
L = TypeVar("L", str, float)


def _hull(one: tuple[L, L] | None, two: tuple[L, L] | None) -> tuple[L, L] | None:
    return None if one is None or two is None else (min(one[0], two[0]), max(one[1], two[1]))


def _apart(one: tuple[L, L] | None, two: tuple[L, L] | None) -> bool:
    return one is not None and two is not None and (one[1] < two[0] or two[1] < one[0])


def as_number(label: str) -> float:
    """A label as a number, where it is one."""
    try:
        return float(label)
    except ValueError:
        return math.nan


#: Labels are no larger numbers.
HUGE = 10**300


def _is_number(x: object) -> TypeGuard[float]:
    return isinstance(x, int | float | Real) and not isinstance(x, bool) and bool(-HUGE < cast(float, x) < HUGE)


def as_stretch(between: Between) -> Stretch | None:
    """A public pair of labels: two texts (in the order of texts) or two numbers.

    >>> as_stretch(("a", "mzz")).holds("m12"), as_stretch((1, 500)).holds("0501")
    (True, False)
    """
    if between is None or isinstance(between, Stretch):
        return between
    cure = "Pass between=('A', 'Mzz'), or between=(1, 5000) for labels that are numbers."
    if isinstance(between, str) or not hasattr(between, "__len__") or len(between) != 2:
        raise ParameterError("between is a pair of labels", shown(between), cure)
    first, last = between
    if isinstance(first, str) and isinstance(last, str) and first.strip() <= last.strip():
        return Stretch(texts=(first.strip(), last.strip()))
    if _is_number(first) and _is_number(last) and first <= last:
        return Stretch(numbers=(float(first), float(last)))
    raise ParameterError("between runs from a label to a later one, both texts or both numbers", shown(between), cure)


def as_site(site: object) -> str:
    """The public name of a site whose people are nobody's elsewhere."""
    if not isinstance(site, str) or len(site) > 200:
        raise ParameterError("a site is a short name", shown(site), "Pass site='north', say.")
    return site


#: A file by its address, and by its number on the disk where it has one.
File = tuple[str, str]


@dataclass(frozen=True, repr=False)
class Origin:
    """One reading of some data, or the part of it that went to one group.

    `keyed` says that several rows may be one person's. Then `labels` are the column that says whose and what it is
    compared as (nothing for labels in memory), `between` is the stretch that was declared for them, and `found` the
    one that they were found in (None where a proof must rest on public facts). `limited` says that a public number of
    records were asked for, and no more would have been kept; `kept` is that number, where there were more.
    """

    reading: str = field(default_factory=lambda: uuid.uuid4().hex)
    group: str = ""
    files: tuple[File, ...] = ()
    site: str = ""
    keyed: bool = False
    labels: tuple[str, str] = ("", "")
    between: Stretch | None = None
    found: Stretch | None = None
    kept: int | None = None
    limited: bool = False

    def clash(self, other: Origin) -> str:
        """Why somebody could be in both; empty where nobody can."""
        if self._apart(self.between, other, other.between):
            return ""
        if self.reading == other.reading:
            return "the same records are in both" if self.group == other.group else ""
        if self._shares_file(other):
            return "the same file is in both"
        if not (self.keyed or other.keyed) or self.site != other.site:
            return ""
        return "" if self._apart(self.found, other, other.found) else "the same person may be in both"

    def _apart(self, ours: Stretch | None, other: Origin, theirs: Stretch | None) -> bool:
        """Whether stretches show that nobody is in both: only labels that mean the same can."""
        (name, kind), (their_name, their_kind) = self.labels, other.labels
        alike = name == their_name and (kind == their_kind or not kind or not their_kind)
        return alike and ours is not None and theirs is not None and not ours.meets(theirs)

    def _shares_file(self, other: Origin) -> bool:
        """The same address or number on the disk; at another site (another machine) both must be the same."""
        if set(self.files) & set(other.files):
            return True
        if self.site != other.site:
            return False
        return any({f[i] for f in self.files} & {f[i] for f in other.files} - {""} for i in (0, 1))


def check_apart(ours: Sequence[Origin], theirs: Sequence[Origin]) -> None:
    """Refuse to put together what cannot be shown to share nobody: by public facts, wherever those must do."""
    for one in ours:
        for two in theirs:
            if reason := one.clash(two):
                raise RecordError(f"These summaries cannot be put together: {reason}", cure=_cure(one, two))


def _cure(one: Origin, two: Origin) -> str:
    if not (one.keyed or two.keyed):
        return "A record must count once; leave one of them out."
    return (
        "Everybody must be whole in one part. Declare which labels a part may hold, with between=('A', 'Mzz') when it "
        "is summarised, or name a site of its own for each if nobody is at two; or read all parts in one go."
    )


def check_groups_apart(groups: Sequence[Sequence[Origin]]) -> None:
    """The same for summaries of different groups: what went to one of them went to no other."""
    seen: dict[tuple[str, str], list[Origin]] = {}
    for origins in groups:
        for origin in origins:
            known = seen.setdefault((origin.reading, origin.group), [])
            check_apart([origin], known)
            known.append(origin)
    # Readings that stand side by side in one summary were shown to be apart when they were put together.
    different = {frozenset(origin.reading for origin in origins): origins for origins in groups}
    for ours, theirs in combinations(different.values(), 2):
        for one in ours:
            check_apart([one], [two for two in theirs if two.reading != one.reading])
