"""Releases held against a ledger: which charge paid for each, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from dpfda.core.errors import LedgerError, ParameterError, shown
from dpfda.ledger.entries import RESTORED, Entry


class Priced(Protocol):
    """What a ledger needs of a plan."""

    @property
    def digest(self) -> str: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def delta(self) -> Fraction: ...


class Charged(Protocol):
    """What a ledger needs of a release: what it is, and which charge paid for it."""

    @property
    def query(self) -> str: ...
    @property
    def created(self) -> str: ...
    @property
    def study(self) -> str | None: ...
    @property
    def entry(self) -> int | None: ...
    @property
    def seal(self) -> str | None: ...
    @property
    def plan(self) -> Priced: ...


T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """What a ledger says of a release: its charge, or what is wrong."""

    entry: Entry | None
    problem: str = ""


def as_releases(given: Iterable[T]) -> list[T]:
    """Saved releases, each of which says where it was charged."""
    found = list(given) if isinstance(given, Iterable) else None
    if found is None or not all(hasattr(release, "seal") and hasattr(release, "study") for release in found):
        raise ParameterError("these are releases", shown(given), "Pass releases=[dp.load('mean.json'), ...].")
    return found


def restored(release: Charged) -> str:
    """The name under which an adoption writes the charge of a release in."""
    return f"{release.query} {RESTORED}{release.entry}, seal {release.seal})"


def entry_of(entries: Sequence[Entry], release: Charged) -> Entry | None:
    """The charge of a release of this study: its own, or the one that an adoption wrote in."""
    number = release.entry or 0
    if 0 < number <= len(entries) and entries[number - 1].seal == release.seal:
        return entries[number - 1]
    written_in = restored(release)
    return next((e for e in entries if (e.plan, e.query) == (release.plan.digest, written_in)), None)


def foreign(release: Charged, study: str | None) -> str:
    """Where a release was charged, if not to this study."""
    if release.study == study:
        return ""
    made = f"A {release.query} released {release.created}"
    if release.study is None:
        return f"{made} was never charged: it was charged to no ledger. Account for its epsilon elsewhere."
    return f"{made} was charged to the ledger of study {release.study!r}. Leave it out."


def check_own(release: Charged, study: str | None) -> None:
    """Refuse a release that was not charged to this study."""
    if other := foreign(release, study):
        raise LedgerError(other)


def examine(entries: Sequence[Entry], release: Charged, study: str | None, name: str) -> Finding:
    """The charge of a release in the ledger of this name, or what speaks against it."""
    if other := foreign(release, study):
        return Finding(None, other)
    entry = entry_of(entries, release)
    if entry is not None:
        return Finding(entry)
    return Finding(
        None,
        f"{name!r} does not hold the charge of a {release.query} released {release.created} "
        f"(entry {release.entry}, seal {(release.seal or '')[:16]}): an older copy took its place, or there are "
        f"two. Write it in: dpfda ledger adopt {name} --release FILE.",
    )
