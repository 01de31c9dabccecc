"""`dpfda ledger verify`: a ledger held against saved releases, with an answer for every file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

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
from dpfda.reports.budget import told_of_file
from dpfda.results.saved import Saved

#: Files of ours that hold no release.
OTHERS = ("plan", "summary", "audit")


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

    A release that was never charged, or whose charge is missing, a damaged file, and one that is not what the ledger
    noted for its charge are findings: exit code 4. Files
    that are no releases are skipped. A copy, such as an officer gets, is checked with --copy.

    Example: dpfda ledger verify study.ledger mean.json
    """
    found = Verification(Ledger(path), copy)
    found.look_at(releases or ())
    out.print_json(data=found.data()) if as_json else out.print("\n".join(found.lines()))
    if found.problems:
        raise typer.Exit(FOUND)


@dataclass
class Verification:
    """What a ledger says of files: the entry of each release, what is wrong, and what was skipped."""

    ledger: Ledger
    copy: bool
    entries: dict[Path, int] = field(default_factory=dict)
    problems: dict[Path, str] = field(default_factory=dict)
    skipped: dict[Path, str] = field(default_factory=dict)

    def look_at(self, files: Iterable[Path]) -> None:
        """Read all files, then hold the releases among them against the ledger."""
        loaded: dict[Path, Charged] = {}
        for file in files:
            kind = codec.kind_of(read_text(file, "release"))
            if kind in OTHERS:
                self.skipped[file] = codec.KINDS[kind]
                continue
            try:
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
            if told := told_of_file(cast(Saved, loaded[file]), self.ledger, digest_of(file)):
                self.problems[file] = told

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
            "findings": {str(file): problem for file, problem in self.problems.items()},
            "skipped": [str(file) for file in self.skipped],
            "not_shown": self.unseen,
        }
