"""`dpfda ledger verify`: a ledger held against saved releases, with an answer for every file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from dpfda import results
from dpfda.cli import options, outputs
from dpfda.cli.commands import Keywords, command
from dpfda.cli.console import FOUND, out
from dpfda.core import codec
from dpfda.core.errors import FileError, LedgerError, printable
from dpfda.core.files import digest_of, read_text
from dpfda.ledger import Ledger, tables
from dpfda.ledger.releases import Charged
from dpfda.reports.budget import WRITTEN, told_of_file
from dpfda.reports.saved import read_any_plan
from dpfda.results.joint import JointRelease
from dpfda.results.saved import Saved

#: Files of ours that hold no release.
OTHERS = ("summary", "audit")


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

    Findings (exit code 4) are: a release that was never charged, or whose charge is missing; a damaged file; one that
    is not what the ledger noted for its charge; two different results of one charge; and, where releases are shown, a
    plan that nothing was charged for. Audits and summaries are skipped. A copy, such as an officer gets, is checked
    with --copy. It cannot tell of files that it is not shown, nor of a ledger that its owner made anew.

    Example: dpfda ledger verify study.ledger mean.json
    """
    found = Verification(Ledger(path), copy)
    found.look_at(releases or ())
    out.print_json(data=found.data()) if as_json else out.print("\n".join(found.lines()))
    if found.problems:
        raise typer.Exit(FOUND)


def draws(release: object) -> list[bytes]:
    """What was drawn for a release, member by member; what is made of it afterwards does not matter."""
    members: list[Any] = list(release.values()) if isinstance(release, JointRelease) else [release]
    return [array.tobytes() for member in members for array in (member.raw, *member.drawn)]


@dataclass
class Verification:
    """What a ledger says of files: the entry of each release, what is wrong, and what was skipped.

    `noted` are the releases whose file is the very one that the ledger noted, `plans` the charges made for each plan.
    """

    ledger: Ledger
    copy: bool
    entries: dict[Path, int] = field(default_factory=dict)
    noted: set[Path] = field(default_factory=set)
    plans: dict[Path, list[int]] = field(default_factory=dict)
    problems: dict[Path, str] = field(default_factory=dict)
    skipped: dict[Path, str] = field(default_factory=dict)

    def look_at(self, files: Iterable[Path]) -> None:
        """Read all files, then hold the releases and plans among them against the ledger."""
        loaded: dict[Path, Charged] = {}
        planned: dict[Path, str] = {}
        for file in files:
            kind = codec.kind_of(read_text(file, "release"))
            if kind in OTHERS:
                self.skipped[file] = codec.KINDS[kind]
                continue
            try:
                if kind == "plan":
                    planned[file] = read_any_plan(file).digest
                    continue
                loaded[file] = cast(Charged, results.load(file))  # a saved difference has a plan too
            except FileError as error:
                self.problems[file] = str(error)
        try:
            answers = self.ledger.examine(loaded.values(), copy=self.copy)
        except LedgerError as error:
            if self.copy or self.ledger.in_use:
                raise
            raise LedgerError(f"To look at a copy without using it, pass --copy. {error}") from None
        for file, answer in zip(loaded, answers, strict=True):
            if answer.entry is None:
                self.problems[file] = answer.problem
                continue
            self.entries[file] = answer.entry.number
            digest = digest_of(file)
            if told := told_of_file(cast(Saved, loaded[file]), self.ledger, digest):
                self.problems[file] = told
            elif any(output.sha256 == digest for output in self.ledger.outputs()):
                self.noted.add(file)
        self._look_for_twins(loaded)
        self._look_at_plans(planned)

    def _look_for_twins(self, loaded: Mapping[Path, Charged]) -> None:
        """One charge pays for one draw: two results of it that differ are told of both."""
        paid = {entry.number: entry.plan for entry in self.ledger.history()}
        first: dict[int, Path] = {}
        for file, release in loaded.items():
            number = self.entries.get(file, 0)
            if not isinstance(release, WRITTEN) or paid.get(number) != release.plan.digest:
                continue  # a difference or a member, made from what was charged
            twin = first.setdefault(number, file)
            if draws(release) != draws(loaded[twin]):
                for one, other in ((file, twin), (twin, file)):
                    told = f"It and {printable(other.name)} hold different results under one charge, entry {number}"
                    self.problems.setdefault(one, f"{told}. A charge pays for one draw: one of them was not charged.")

    def _look_at_plans(self, planned: Mapping[Path, str]) -> None:
        """Which charges were made for each plan that is shown."""
        for file, digest in planned.items():
            self.plans[file] = [entry.number for entry in self.ledger.history() if entry.plan == digest]
            if not self.plans[file] and self.entries:
                self.problems[file] = "nothing was charged for this plan, so none of these releases was made by it."

    @property
    def unseen(self) -> list[int]:
        """Charges of which no release was shown."""
        seen = set(self.entries.values())
        return [entry.number for entry in self.ledger.history() if entry.number not in seen]

    def lines(self) -> list[str]:
        """For people."""
        ledger, held = self.ledger, len(set(self.entries.values()))
        count, budget = len(ledger.history()), tables.spelt(ledger.budget)
        of = f"over all periods, of {budget} every {ledger.period}" if ledger.period else f"of {budget}"
        which = "A copy, and intact" if self.copy and not ledger.in_use else "Intact"
        found = [f"{which}: {count} charge{'' if count == 1 else 's'}, epsilon {tables.spelt(ledger.spent)} {of}."]
        found += [f"Holds the charges of {held} release{'' if held == 1 else 's'}."] if held else []
        for file, number in self.entries.items():
            if file not in self.problems:
                how = "the very file that was noted" if file in self.noted else "by its seal; this file was not noted"
                found.append(f"{printable(file.name)}: entry {number}, {how}.")
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
            "charges": len(self.ledger.history()),
            "spent": float(self.ledger.spent),
            "entries": {str(file): number for file, number in self.entries.items()},
            "noted": [str(file) for file in self.entries if file in self.noted],
            "plans": {str(file): numbers for file, numbers in self.plans.items()},
            "findings": {str(file): problem for file, problem in self.problems.items()},
            "skipped": [str(file) for file in self.skipped],
            "not_shown": self.unseen,
        }
