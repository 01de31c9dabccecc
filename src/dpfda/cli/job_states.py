"""One run of a study, and what became of each release in it, by the ledger and the files that are there.

No data is looked at. A release is done when it was charged in this run and its file holds what was charged. What was
charged and is not there is never made again by itself: that would cost a second time.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast

from dpfda import results
from dpfda.cli.study_files import Job, Study
from dpfda.core.errors import FileError
from dpfda.core.files import digest_of
from dpfda.ledger import Entry
from dpfda.ledger.entries import Book, is_written_in
from dpfda.ledger.releases import Charged, entry_of

#: What the charge of a release says of its run.
TEXT = re.compile(r"(?P<label>.+)/(?P<name>[^/]+)/(?P<attempt>[0-9]+)#(?P<digest>[0-9a-f]{12})")
#: What can be found, in the words of tables and logs; and what a run adds to that.
TO_DO, DONE, MISSING, CHANGED, OTHER = "to do", "done", "missing", "changed", "other version"
MADE, FAILED = "made", "failed"


@dataclass(frozen=True)
class State:
    """What was found of one release: a word, the charge if there is one, and a sentence for people."""

    word: str
    entry: Entry | None = None
    sentence: str = ""
    #: Whether a file holds what was charged, and the ledger does not say so yet.
    unrecorded: bool = False

    @property
    def is_finding(self) -> bool:
        """Whether somebody should look."""
        return self.word in (MISSING, CHANGED, OTHER)


@dataclass(frozen=True)
class Run:
    """Some releases of a study in one stretch of its calendar."""

    study: Study
    jobs: tuple[Job, ...]
    label: str

    @property
    def id(self) -> str:
        """By the calendar and the study file, never by data."""
        return f"{self.label}-{self.study.digest[:12]}"

    @property
    def folder(self) -> Path:
        return Path(self._filled_in(self.study.folder))

    def data(self, job: Job) -> list[str]:
        """Where the records of a release are."""
        return [self._filled_in(path) for path in job.data]

    def _filled_in(self, text: str) -> str:
        return text.replace("{run}", self.label)

    def files(self, job: Job) -> dict[str, Path]:
        """Where everything of a release goes, by what it is."""
        return job.files(self.folder)

    def file(self, job: Job) -> Path:
        """Where the release itself goes."""
        return self.files(job)["json"]

    def earlier(self) -> Path | None:
        """A release of this study, of any run and any name, that was charged to a ledger of it."""
        before, run, after = self.study.folder.partition("{run}")
        for path in sorted(glob.glob(f"{glob.escape(before)}{'*' if run else ''}{glob.escape(after)}/*.json")):
            with suppress(FileError):
                if results.load(path).study == self.study.name:
                    return Path(path)
        return None

    # -- what the ledger says -----------------------------------------------------------------

    def text(self, job: Job, attempt: int) -> str:
        """What the charge of a release says of its run: up to the # the same is charged once, by whichever file."""
        return f"{self.label}/{job.name}/{attempt}#{job.digest[:12]}"

    def next_text(self, book: Book, job: Job) -> str:
        """The same for the next charge."""
        return self.text(job, 1 + max((attempt for attempt, _, _ in self._charges(book.entries, job)), default=0))

    def _charges(self, entries: Iterable[Entry], job: Job) -> list[tuple[int, str, Entry]]:
        """The charges of a release in this run, by any version of the study file: attempt, digest and entry."""
        found = []
        for entry in entries:
            match = TEXT.fullmatch(entry.run)
            if match and (match["label"], match["name"]) == (self.label, job.name):
                found.append((int(match["attempt"]), match["digest"], entry))
        return found

    def states(self, book: Book | None) -> dict[str, State]:
        """What became of each release; nothing where there is no ledger yet."""
        return {job.name: State(TO_DO) if book is None else self._state(book, job) for job in self.jobs}

    def spent(self, book: Book) -> Fraction:
        """What all releases of this run have cost so far, whatever they were called."""
        texts = [(TEXT.fullmatch(entry.run), entry.epsilon) for entry in book.entries]
        return sum((epsilon for match, epsilon in texts if match and match["label"] == self.label), Fraction(0))

    def _written_in(self, book: Book, file: Path) -> State:
        """A release that no charge names as this run's: made before, where an adopted ledger holds its charge."""
        try:
            release = cast(Charged, results.load(file)) if file.is_file() else None
        except FileError:
            return State(TO_DO)
        if release is None or release.study != self.study.name:
            return State(TO_DO)
        entry = entry_of(book.entries, release)
        if entry is None or not is_written_in(entry.query):
            return State(TO_DO)
        return State(DONE, entry, f"charged as entry {entry.number}, by an adoption, and done")

    def _state(self, book: Book, job: Job) -> State:
        charges, file = self._charges(book.entries, job), self.file(job)
        if not charges:
            return self._written_in(book, file)
        _, digest, entry = charges[-1]
        charged = f"charged in this run as entry {entry.number}"
        if digest != job.digest[:12]:
            return State(OTHER, entry, f"{charged}, by another version of the study file")
        if not file.exists():
            return State(MISSING, entry, f"{charged}, and {file.name!r} is missing")
        try:
            release = results.load(file)
        except FileError:
            return State(CHANGED, entry, f"{charged}, and {file.name!r} is damaged")
        if (release.entry, release.seal) != (entry.number, entry.seal):
            return State(CHANGED, entry, f"{charged}, and {file.name!r} holds something else")
        noted = [output for output in book.outputs if output.charge == entry.number]
        if noted and noted[-1].sha256 != digest_of(file):
            return State(CHANGED, entry, f"{charged}, and {file.name!r} was changed since the ledger noted it")
        return State(DONE, entry, f"{charged} and done", unrecorded=not noted)
