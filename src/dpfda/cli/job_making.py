"""The releases of a run, made one after the other: first all that is charged, then whatever else is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from dpfda import results
from dpfda.cli.console import FOUND, INTERRUPTED
from dpfda.cli.job_states import DONE, FAILED, MADE, TO_DO, Run, State
from dpfda.cli.study_files import Job
from dpfda.cli.voice import journal
from dpfda.core.errors import BudgetExceeded, FileError
from dpfda.core.files import write_whole
from dpfda.ledger import Ledger
from dpfda.ledger.releases import Charged
from dpfda.results import pictures


@dataclass(frozen=True)
class Maker:
    """How a run was started: by which command line (`main`), charging which ledger, and what else is wanted."""

    run: Run
    ledger: Ledger
    main: Callable[..., Any]
    again: bool = False
    force: bool = False

    def make(self) -> tuple[int, dict[str, State]]:
        """Make what is to be made; the exit code of all, and what became of each."""
        book = self.ledger.book()
        states = self.run.states(book)
        due = [job for job in self.run.jobs if self._is_due(states[job.name])]
        self._check(due)
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
                    _write_beside(self.run.files(job), self.force and job in due)
        return next((code for code in codes if code and code != FOUND), max(codes, default=0)), states

    def _is_due(self, state: State) -> bool:
        return state.word == TO_DO or (self.again and state.is_finding)

    def _check(self, due: list[Job]) -> None:
        """Refuse, before the first charge, what would be refused later."""
        for job in due:
            if taken := [path for path in self.run.files(job).values() if path.exists() and not self.force]:
                raise FileError(
                    f"The output {str(taken[0])!r} of release {job.name!r} is there already. Nothing was charged. Move "
                    "it away, or pass --force to overwrite it."
                )
        if not due:
            return
        try:
            self.ledger.check(sum((job.epsilon for job in due), Fraction(0)))
        except BudgetExceeded as error:
            raise BudgetExceeded(f"All {len(due)} releases of this run together: {error}") from None
        try:
            self.run.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"The folder {str(self.run.folder)!r} cannot be made: {error.strerror}.") from None

    def _made(self, job: Job, text: str) -> tuple[int, State]:
        """Make one release by its command; errors are said there, and the other releases go on."""
        file, study = self.run.file(job), self.run.study
        charge = [f"--ledger={self.ledger.path}", f"--study={study.name}", f"--run={text}"]
        charge += [f"--{name}={said}" for name, said in (("note", study.note), ("operator", study.operator)) if said]
        made = [f"--epsilon={job.epsilon}", f"--out={file}", "--quiet"]
        code = self.main([job.kind, *self.run.data(job), *job.options, *charge, *made], "dpfda", standalone_mode=False)
        if code:
            journal().say("error", f"not made (exit code {code}).", FAILED, code=code)
            return code, State(FAILED)
        entry = self.ledger.history()[cast(int, results.load(file).entry) - 1]
        words = f"made, entry {entry.number} of the ledger, {file}."
        journal().say("info", words, MADE, entry=entry.number, output=str(file))
        return 0, State(MADE, entry)

    def _told(self, job: Job, state: State) -> int:
        """Say what was found of a release that is not made now; the exit code where somebody should look."""
        file = self.run.file(job)
        facts = {"entry": None if state.entry is None else state.entry.number, "output": str(file)}
        if state.is_finding:
            cure = "Nothing was charged now; --again makes it at a new charge."
            journal().say("error", f"{state.sentence}. {cure}", state.word, **facts)
            return FOUND
        if state.unrecorded:  # a run was stopped after it had written the file
            self.ledger.record_output(cast(Charged, results.load(file)), file)
        journal().say("info", f"{state.sentence}; nothing to do.", state.word, **facts)
        return 0


def _about(job: Job) -> AbstractContextManager[None]:
    return journal().about(release=job.name, epsilon=float(job.epsilon))


def _write_beside(files: Mapping[str, Path], force: bool) -> None:
    """Whatever else is made of a release, from its file: what is missing, at no cost."""
    missing = {what: path for what, path in files.items() if what != "json" and (force or not path.exists())}
    if not missing:
        return
    release: Any = results.load(files["json"])
    makers: dict[str, Callable[[], str | bytes]] = {
        "csv": lambda: release.to_csv(),
        "statement": lambda: f"{release.statement}\n",
        "methods": lambda: f"{release.methods_text()}\n",
    }
    for what, path in missing.items():
        content = makers[what]() if what in makers else pictures.picture(release.plot(), f".{what}")
        write_whole(path, content)
        journal().say("info", f"written: {path}.", "written", output=str(path))
