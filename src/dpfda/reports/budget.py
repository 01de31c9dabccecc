"""The budget of a study in a report: what its ledger holds, in a sentence and a bar; or what a release says itself."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, cast

from dpfda.core.errors import LedgerError, printable
from dpfda.ledger import Ledger
from dpfda.ledger.entries import Book, Entry, Output
from dpfda.ledger.releases import Charged, Priced
from dpfda.ledger.tables import cost, spelt
from dpfda.pages.bars import Bar
from dpfda.reports.numbers import moment
from dpfda.reports.parts import Block, Note, Pictures, Section, Table, Words
from dpfda.reports.words import Planned
from dpfda.results import RadiusRelease, Release
from dpfda.results.joint import JointRelease
from dpfda.results.saved import Saved
from dpfda.results.statements import Released, charged_to

#: A ledger, or where it is.
LedgerOrPath: TypeAlias = Ledger | str | os.PathLike[str] | None
TITLE = "Budget of the study"
#: What a charge is made for; a difference is made of it later.
WRITTEN = (Release, RadiusRelease, JointRelease)


def opened(ledger: LedgerOrPath) -> Ledger | None:
    """The ledger, if one is given."""
    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(Path(ledger))


def of_release(release: Saved, ledger: Ledger | None) -> Section:
    """What was charged for a release, and what that leaves of the budget."""
    charged = cast(Charged, release)
    if ledger is None:
        return Section(TITLE, [Words(charged_to(cast(Released, release)))])
    (finding,) = ledger.examine([charged], copy=True)
    if finding.entry is None:
        raise LedgerError(finding.problem)
    book, own = ledger.book(), finding.entry
    took = f"This release, entry {own.number} with seal {own.seal[:16]}, took epsilon {spelt(own.epsilon)}."
    if own.delta:
        took = f"{took[:-1]} and delta {float(own.delta):g}."
    renewed = [Words(str(release.renewal))] if release.renewal else []
    return Section(TITLE, [Words(f"{balance(book)} {took}"), Pictures((bar(book, own.number),)), *renewed])


def told_of_file(release: Saved, ledger: Ledger | None, digest: str) -> str:
    """That a file is not the one that was written for its charge, by the digest that the ledger noted; else nothing."""
    if ledger is None or not digest or not isinstance(release, WRITTEN):
        return ""
    (finding,) = ledger.examine([cast(Charged, release)], copy=True)
    return "" if finding.entry is None else not_as_noted(finding.entry, release.plan, digest, ledger.outputs())


def not_as_noted(entry: Entry, plan: Priced, digest: str, outputs: Iterable[Output]) -> str:
    """That no file of this digest was noted for a charge, and another one was; else nothing.

    Nothing either of a part, such as one group: it has another plan, and a file that nobody notes.
    """
    noted = [output for output in outputs if output.charge == entry.number]
    if plan.digest != entry.plan or not noted or any(output.sha256 == digest for output in noted):
        return ""
    return (
        f"This is not the file that was written under entry {entry.number}: the ledger noted another digest for "
        f"“{printable(noted[-1].file)}”. It was changed since, or made from it."
    )


def of_plan(plan: Planned, ledger: Ledger) -> Section:
    """What a plan would take of the budget, and whether there is enough."""
    book = ledger.book()
    left = book.balance_now.left
    taken = f"This plan would take epsilon {spelt(plan.epsilon)}"
    blocks: list[Block] = [Words(balance(book)), Pictures((bar(book, planned=plan.epsilon),))]
    if plan.delta:
        taken += f" and delta {float(plan.delta):g}"
    if plan.delta > book.balance_now.delta - book.balance_now.last.spent_delta:
        short = f"{taken}, and there is not as much delta left: it would be refused."
        return Section(TITLE, [*blocks, Note(short, "poor")])
    if plan.epsilon <= left:
        return Section(TITLE, [*blocks, Words(f"{taken}, and leave {spelt(left - plan.epsilon)}.")])
    return Section(TITLE, [*blocks, Note(f"{taken}, which is more than what is left: it would be refused.", "poor")])


def of_ledger(book: Book) -> list[Section]:
    """A whole ledger: the budget, and every charge with the file that was written for it."""
    written = {output.charge: output.file for output in book.outputs}
    rows = tuple(
        (str(e.number), moment(e.time), e.query, cost(e.epsilon, e.delta), e.note, written.get(e.number, ""))
        for e in book.entries
    )
    head = ("entry", "time", "what", "cost", "note", "file")
    charges = [Section("Charges", [Table(head, rows, "Oldest first.")])] if rows else []
    return [Section(TITLE, [Words(balance(book)), Pictures((bar(book),))]), *charges]


def balance(book: Book) -> str:
    """How much is spent and left, in a sentence or two."""
    now = book.balance_now
    spent, count = now.last.period_spent, len(book.entries)
    every = f" every {now.period}" if now.period else ""
    within = f" in {now.last.period}" if now.period else ""
    charges = f"{count} charge{'' if count == 1 else 's'}" + (
        f" so far, epsilon {spelt(now.last.spent)} over all periods" if now.period else ""
    )
    rest = f"{spelt(now.left)} left" if now.left >= 0 else f"{spelt(-now.left)} more than there was"
    return (
        f"Study “{now.study}” may spend epsilon {spelt(now.epsilon)}{every}: {spelt(spent)} spent{within} in "
        f"{charges}, {rest} when this report was written."
    )


def bar(book: Book, own: int | None = None, planned: Fraction = Fraction(0)) -> Bar:
    """Charges of the period (or all, where a budget does not renew) as a bar; the own one darker."""
    now = book.balance_now
    entries = [entry for entry in book.entries if not now.period or entry.period == now.last.period]
    place = next((i for i, entry in enumerate(entries) if entry.number == own), None)
    words = f"{spelt(now.last.period_spent)} of {spelt(now.epsilon)} spent, {spelt(max(now.left, Fraction(0)))} left"
    return Bar([float(entry.epsilon) for entry in entries], float(now.epsilon), place, words, float(planned))
