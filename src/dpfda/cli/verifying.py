"""`dpfda ledger verify`: a ledger held against saved releases, with an answer for every file."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

import typer

from dpfda import results
from dpfda.cli import options, outputs
from dpfda.cli.commands import Keywords, command
from dpfda.cli.console import FOUND, out
from dpfda.core import codec
from dpfda.core.errors import DpfdaError, LedgerError, printable
from dpfda.core.files import digest_of, read_text
from dpfda.ledger import Ledger, tables
from dpfda.ledger.entries import Book, Entry
from dpfda.ledger.releases import Charged
from dpfda.plans.joint import JointPlan
from dpfda.reports.budget import WRITTEN, not_as_noted
from dpfda.reports.saved import read_any_plan
from dpfda.reports.words import Planned
from dpfda.results.joint import JointRelease
from dpfda.results.saved import Saved

#: Files of ours that hold no release.
OTHERS = ("summary", "audit")
#: The plan of an entry that an adoption wrote for what was spent meanwhile.
UNKNOWN = "unknown"
#: The step of a release whose draw was expressed anew, on a machine that finds other eigenvectors.
REBUILT = "re-expressed in this basis"


@command()
def ledger_verify(
    path: options.LedgerPath,
    releases: Annotated[list[Path] | None, typer.Argument(help="Saved releases whose charges it must hold.")] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="It is a copy, to be looked at: what was charged since is not in it.")
    ] = False,
    as_json: outputs.AsJson = False,
) -> None:
    """Check the ledger in use: every seal, that it is no copy, and that it holds the charges of saved releases.

    Findings (exit code 4) are: a release that was never charged, or whose charge is missing; one that costs more than
    its charge; a damaged file; one that is not what the ledger noted for its charge; two different results of one
    charge; and, where releases are shown, a plan that nothing was charged for. Audits and summaries are skipped. A
    copy, such as an officer gets, is checked with --copy. It cannot tell of files that it is not shown, nor of a ledger
    that its owner made anew.

    Example: dpfda ledger verify study.ledger mean.json
    """
    found = Verification(Ledger(path), copy)
    found.look_at(releases or ())
    out.print_json(data=found.data()) if as_json else out.print("\n".join(found.lines()))
    if found.problems:
        raise typer.Exit(FOUND)


@dataclass(frozen=True)
class Shown:
    """A release that was read from a file, the file's own digest, and what was drawn for each of its members.

    Draws are taken as the file holds them: what is rebuilt from them may differ a little on another machine. There are
    none of a difference, which is made of them, nor of a release that such a machine has saved again.
    """

    release: Saved
    digest: str
    draws: list[str]


def shown(file: Path) -> Shown:
    """Read a release, or several under one charge."""
    release, body = results.load(file), json.loads(read_text(file, "release"))
    parts = list(body["releases"].values()) if isinstance(release, JointRelease) else [body]
    draws = []
    if isinstance(release, WRITTEN) and not any(REBUILT in part.get("steps", ()) for part in parts):
        draws = [json.dumps([part.get("raw", part.get("radius")), part.get("drawn")]) for part in parts]
    return Shown(release, digest_of(file), draws)


def _parts(plan: object) -> set[str]:
    """The digests of the plans that one is made of."""
    return {part.digest for part in plan.members.values()} if isinstance(plan, JointPlan) else set()


def _differ(one: Shown, other: Shown, paid: str) -> bool:
    """Whether two results under one charge, for the plan of this digest, cannot both be of one draw.

    Two parts may have one plan, and results of their own.
    """
    if one.release.plan.digest == other.release.plan.digest:
        return one.release.plan.digest == paid and one.draws != other.draws
    if len(one.draws) < len(other.draws):
        one, other = other, one
    return other.release.plan.digest in _parts(one.release.plan) and other.draws[0] not in one.draws


@dataclass
class Verification:
    """What a ledger says of files: the entry of each release, what is wrong, and what was skipped.

    `noted` are the releases whose file is the very one that the ledger noted, `parts` those of another plan than their
    charge was for, `plans` the charges made for each plan.
    """

    ledger: Ledger
    copy: bool
    entries: dict[Path, int] = field(default_factory=dict)
    noted: set[Path] = field(default_factory=set)
    parts: set[Path] = field(default_factory=set)
    plans: dict[Path, list[int]] = field(default_factory=dict)
    problems: dict[Path, str] = field(default_factory=dict)
    skipped: dict[Path, str] = field(default_factory=dict)
    book: Book = field(init=False)

    def look_at(self, files: Iterable[Path]) -> None:
        """Read all files, then hold the releases and plans among them against the ledger."""
        loaded: dict[Path, Shown] = {}
        planned: dict[Path, Planned] = {}
        for file in files:
            try:
                kind = codec.kind_of(read_text(file, "release"))
                if kind in OTHERS:
                    self.skipped[file] = codec.KINDS[kind]
                elif kind == "plan":
                    planned[file] = read_any_plan(file)
                else:
                    loaded[file] = shown(file)
            except DpfdaError as error:
                if not file.exists():
                    raise  # a slip of the pen, and no word against a release
                self.problems[file] = str(error)
        try:
            answers = self.ledger.examine([cast(Charged, each.release) for each in loaded.values()], copy=self.copy)
        except LedgerError as error:
            if self.copy or self.ledger.in_use:
                raise
            raise LedgerError(f"To look at a copy without using it, pass --copy. {error}") from None
        self.book = self.ledger.book()
        for (file, each), answer in zip(loaded.items(), answers, strict=True):
            if answer.entry is None:
                self.problems[file] = answer.problem
            else:
                self._hold_against(answer.entry, file, each)
        self._look_for_twins(loaded)
        self._look_at_plans(planned, [each.release for each in loaded.values()])

    def _hold_against(self, entry: Entry, file: Path, each: Shown) -> None:
        """What a charge says of the file that names it: what it may cost, and which file was written for it."""
        self.entries[file], price = entry.number, each.release.plan
        if price.digest != entry.plan:
            self.parts.add(file)
        if price.epsilon > entry.epsilon or price.delta > entry.delta:
            cost, paid = tables.cost(price.epsilon, price.delta), tables.cost(entry.epsilon, entry.delta)
            self.problems[file] = f"it costs {cost}, and entry {entry.number} was charged {paid} only."
        elif isinstance(each.release, WRITTEN) and (told := not_as_noted(entry, price, each.digest, self.book.outputs)):
            self.problems[file] = told
        elif any(output.sha256 == each.digest for output in self.book.outputs):
            self.noted.add(file)

    def _look_for_twins(self, loaded: Mapping[Path, Shown]) -> None:
        """One charge pays for one draw of its plan: of two that differ, and of a part that is not in its whole, both
        are told."""
        held = [(file, each) for file, each in loaded.items() if file in self.entries and each.draws]
        for (file, each), (other, beside) in itertools.combinations(held, 2):
            if self.entries[file] == self.entries[other] and _differ(each, beside, self._paid(file)):
                for one, twin in ((file, other), (other, file)):
                    told = f"It and {printable(twin.name)} hold different results under one charge"
                    why = "A charge pays for one draw: one of them was not charged."
                    self.problems.setdefault(one, f"{told}, entry {self.entries[file]}. {why}")

    def _paid(self, file: Path) -> str:
        """The digest of the plan that the charge of a file was for."""
        return self.book.entries[self.entries[file] - 1].plan

    def _look_at_plans(self, planned: Mapping[Path, Planned], releases: Iterable[Saved]) -> None:
        """Which charges were made for each plan that is shown, as a whole or as a part of one that is shown."""
        wholes: list[Planned] = [*planned.values(), *(cast(Planned, release.plan) for release in releases)]
        complete = not self.copy and all(entry.plan != UNKNOWN for entry in self.book.entries)
        for file, plan in planned.items():
            charged = {plan.digest} | {whole.digest for whole in wholes if plan.digest in _parts(whole)}
            self.plans[file] = [entry.number for entry in self.book.entries if entry.plan in charged]
            if not self.plans[file] and self.entries and complete:
                self.problems[file] = "nothing was charged for this plan, so none of these releases was made by it."

    @property
    def unseen(self) -> list[int]:
        """Charges of which no release was shown."""
        seen = set(self.entries.values())
        return [entry.number for entry in self.book.entries if entry.number not in seen]

    def lines(self) -> list[str]:
        """For people."""
        ledger, held = self.ledger, len(set(self.entries.values()))
        count, budget = len(self.book.entries), tables.spelt(ledger.budget)
        of = f"over all periods, of {budget} every {ledger.period}" if ledger.period else f"of {budget}"
        which = "A copy, and intact" if self.copy and not ledger.in_use else "Intact"
        found = [f"{which}: {count} charge{'' if count == 1 else 's'}, epsilon {tables.spelt(ledger.spent)} {of}."]
        found += [f"Holds the charges of {held} release{'' if held == 1 else 's'}."] if held else []
        for file, number in self.entries.items():
            if file not in self.problems:
                how = "the very file that was noted" if file in self.noted else "by its seal; this file was not noted"
                part = ", of another plan than that was charged for: a part of it at most" if file in self.parts else ""
                found.append(f"{printable(file.name)}: entry {number}, {how}{part}.")
        for file, numbers in self.plans.items():
            if file not in self.problems:
                charged = f"{'entry' if len(numbers) == 1 else 'entries'} {', '.join(map(str, numbers))}"
                found.append(f"{printable(file.name)}: the plan of {charged if numbers else 'no charge yet'}.")
        found += [f"Skipped: {printable(file.name)} is {what}." for file, what in self.skipped.items()]
        found += [f"Finding: {printable(file.name)}: {problem}" for file, problem in self.problems.items()]
        if (self.entries or self.problems) and self.unseen:
            found.append(f"Charges of which no release was shown: {', '.join(map(str, self.unseen))}.")
        return found

    def data(self) -> Keywords:
        """For --json."""
        return {
            "file": "verification",
            "copy": not self.ledger.in_use,
            "charges": len(self.book.entries),
            "spent": float(self.ledger.spent),
            "entries": {str(file): number for file, number in self.entries.items()},
            "noted": [str(file) for file in self.entries if file in self.noted],
            "plans": {str(file): numbers for file, numbers in self.plans.items()},
            "findings": {str(file): problem for file, problem in self.problems.items()},
            "skipped": [str(file) for file in self.skipped],
            "not_shown": self.unseen,
        }
