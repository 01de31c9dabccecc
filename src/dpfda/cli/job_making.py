"""The releases of a run, made one after the other: first all that is charged, then whatever else is made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from dpfda import results
from dpfda.cli.console import FOUND, INTERRUPTED
from dpfda.cli.job_states import DONE, FAILED, MADE, TO_DO, Run, State
from dpfda.cli.sources import local
from dpfda.cli.study_files import Job
from dpfda.cli.voice import journal
from dpfda.core.errors import BudgetExceeded, DpfdaError, FileError
from dpfda.core.files import check_apart, write_whole
from dpfda.ledger import Ledger
from dpfda.ledger.entries import Book
from dpfda.ledger.releases import Charged
from dpfda.results import pictures


@dataclass(frozen=True)
class Maker:
    """How a run was started: by which command line (`main`), charging which ledger, and what else is wanted."""

    run: Run
    ledger: Ledger
    main: Callable[..., Any]
    deltas: Mapping[str, Fraction]
    again: bool = False
    force: bool = False

    def make(self) -> tuple[int, dict[str, State]]:
        """Make what is to be made; the exit code of all, and what became of each."""
        book = self.ledger.book()
        states = self.run.states(book)
        due = [job for job in self.run.jobs if self._is_due(states[job.name])]
        self._check(book, due)
        codes = []
        for job in self.run.jobs:
            with _about(job):
                if job in due:
                    code, states[job.name] = self._made(job, self.run.next_text(book, job))
                else:
                    code = self._told(job, states[job.name])
            codes.append(code)
            if code == INTERRUPTED:
                return code, states
        for job in self.run.jobs:  # after all charges: whatever fails here can be had again, for nothing
            if states[job.name].word in (MADE, DONE):
                with _about(job):
                    codes.append(_write_beside(self.run.files(job)))
        return next((code for code in codes if code and code != FOUND), max(codes, default=0)), states

    def _is_due(self, state: State) -> bool:
        return state.word == TO_DO or (self.again and state.is_finding)

    def _check(self, book: Book, due: list[Job]) -> None:
        """Refuse, before the first charge, what would be refused later."""
        check_places(self.run, due, self.force, self.ledger.path)
        if not due:
            return
        total = sum((job.epsilon for job in due), Fraction(0))
        before, most = self.run.spent(book), self.run.study.per_run
        if before + total > most and not self.again:
            raise BudgetExceeded(
                f"One run may spend epsilon {most}, {before} was charged in this one, and {total} more is to come. "
                "Nothing was charged now; wait for the next run, or pass --again to charge it all the same."
            )
        try:
            self.ledger.check(total, sum((self.deltas[job.name] for job in due), Fraction(0)))
        except BudgetExceeded as error:
            together = f"All {len(due)} releases of this run together: " if len(due) > 1 else ""
            raise BudgetExceeded(f"{together}{error}") from None

    def _made(self, job: Job, text: str) -> tuple[int, State]:
        """Make one release by its command; errors are said there, and the other releases go on."""
        files, study = self.run.files(job), self.run.study
        charge = [f"--ledger={self.ledger.path}", f"--study={study.name}", f"--run={text}"]
        charge += [f"--{name}={said}" for name, said in (("note", study.note), ("operator", study.operator)) if said]
        made = [f"--epsilon={job.epsilon}", f"--out={files['json']}", "--quiet"]
        code = self.main(
            [job.kind, *job.options, *charge, *made, "--", *self.run.data(job)], "dpfda", standalone_mode=False
        )
        if code:
            journal().say("error", f"not made (exit code {code}).", FAILED, code=code)
            return code, State(FAILED)
        for what, path in files.items():  # nothing that was made of an older release stays beside the new one
            if what != "json":
                path.unlink(missing_ok=True)
        entry = self.ledger.history()[cast(int, results.load(files["json"]).entry) - 1]
        words = f"made, entry {entry.number} of the ledger, {files['json']}."
        journal().say("info", words, MADE, entry=entry.number, output=str(files["json"]))
        return 0, State(MADE, entry)

    def _told(self, job: Job, state: State) -> int:
        """Say what was found of a release that is not made now; the exit code where somebody should look."""
        file = self.run.file(job)
        facts = {"entry": None if state.entry is None else state.entry.number, "output": str(file)}
        if state.is_finding:
            there = any(path.exists() for path in self.run.files(job).values())
            cure = f"Nothing was charged now; --again{' --force' if there else ''} makes it at a new charge."
            journal().say("error", f"{state.sentence}. {cure}", state.word, **facts)
            return FOUND
        if state.unrecorded:  # a run was stopped after it had written the file
            self.ledger.record_output(cast(Charged, results.load(file)), file)
        journal().say("info", f"{state.sentence}; nothing to do.", state.word, **facts)
        return 0


def _about(job: Job) -> AbstractContextManager[None]:
    return journal().about(release=job.name, epsilon=float(job.epsilon))


def _write_beside(files: Mapping[str, Path]) -> int:
    """Whatever else is made of a release, from its file: what is missing, at no cost. The exit code."""
    missing = {what: path for what, path in files.items() if what != "json" and not path.is_file()}
    if not missing:
        return 0
    release: Any = results.load(files["json"])
    makers: dict[str, Callable[[], str | bytes]] = {
        "csv": lambda: release.to_csv(),
        "statement": lambda: f"{release.statement}\n",
        "methods": lambda: f"{release.methods_text()}\n",
    }
    code = 0
    for what, path in missing.items():
        try:
            write_whole(path, makers[what]() if what in makers else pictures.picture(release.plot(), f".{what}"))
        except Exception as error:  # one that cannot be made costs no other
            why = str(error) if isinstance(error, DpfdaError) else f"an unforeseen {type(error).__name__}"
            journal().say("error", f"not written: {path}: {why}", FAILED, output=str(path))
            code = 1
        else:
            journal().say("info", f"written: {path}.", "written", output=str(path))
    return code


def check_places(run: Run, due: Sequence[Job], force: bool, ledger: Path) -> None:
    """Refuse outputs that are in the way, or that would take the place of data; then make their folder."""
    for job in due:
        if taken := [path for path in run.files(job).values() if os.path.lexists(path) and not force]:
            raise FileError(
                f"The output {str(taken[0])!r} of release {job.name!r} is there already, and is not overwritten. Move "
                "it away, or pass --force."
            )
    used = [path for job in run.jobs for path in local(run.data(job))]
    check_apart([path for job in due for path in run.files(job).values()], [*used, ledger, run.study.path.name])
    try:
        if due:
            run.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder {str(run.folder)[:60]!r} cannot be made: {error.strerror}.") from None
