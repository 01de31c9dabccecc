"""A release while it is made: one job in a thread of its own, which can be cancelled until it is charged.

The charge itself asks, under the job's lock, whether somebody has cancelled: after it nobody can. A charged release is
finished and written, or the job says that it is charged and lost.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from dpfda.core import files
from dpfda.core.checks import Epsilon
from dpfda.core.errors import AlreadyCharged, BudgetExceeded, DpfdaError
from dpfda.core.watching import Phase, watched
from dpfda.ledger import Entry, Ledger
from dpfda.studio.fields import Facts
from dpfda.studio.folder import Folder, Found
from dpfda.studio.kinds import Chosen, Kind
from dpfda.studio.phrases import for_page
from dpfda.studio.said import AnyPlan

log = logging.getLogger("dpfda")
#: Only whoever runs the studio reads what it writes.
MODE = 0o600
#: Bytes for each point of what is released, with room to spare.
BYTES = 100
CANCELLED = "The release was cancelled. Nothing was charged."


class Cancelled(DpfdaError):
    """Somebody has cancelled the job before its charge."""


@dataclass(frozen=True)
class Order:
    """What a last word is asked for: a plan, a file with its columns, a ledger and a place."""

    kind: Kind
    facts: Facts
    plan: AnyPlan
    file: Found
    chosen: Chosen
    ledger: Path
    study: str
    output: Path
    note: str = ""
    operator: str = ""
    #: The address of the page where it was chosen.
    query: str = ""

    @property
    def room(self) -> int:
        """Bytes that its result may take."""
        sizes = (getattr(member, "problem", None) for member in self.plan.members.values())
        return files.ROOM + BYTES * sum(problem.grid.size for problem in sizes if problem is not None)


@dataclass
class Job:
    """An order that is being carried out: what it does now, and what became of it."""

    order: Order
    folder: Folder
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    #: "waiting" for another one, "checking", "reading", "charging", "charged"; in the end "done", "cancelled", "failed"
    #: (before the charge) or "lost" (after it).
    state: str = "waiting"
    phase: Phase | None = None
    entry: int | None = None
    words: str = ""
    #: Whether the charge was begun and ended with an error: the ledger alone knows.
    unsure: bool = False
    cautions: list[str] = field(default_factory=list)
    _cancelled: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def over(self) -> bool:
        return self.state in ("done", "cancelled", "failed", "lost")

    @property
    def cancellable(self) -> bool:
        return self.entry is None and not self.over and not self.cancelling and self.state != "charging"

    @property
    def cancelling(self) -> bool:
        """Whether it will stop as soon as it looks up."""
        return self._cancelled and not self.over

    def cancel(self) -> bool:
        """Stop before the charge; False where it is too late."""
        with self._lock:
            if self.entry is not None or self.over:
                return False
            self._cancelled = True
            if self.state == "waiting":  # nobody carries it out yet
                self._end_cancelled()
            return True

    def _end_cancelled(self) -> None:
        self.state, self.words = "cancelled", CANCELLED
        self.done.set()

    def _begin(self) -> bool:
        """Whether it is to be carried out: not where it was cancelled while it waited."""
        with self._lock:
            if self.over:
                return False
            self.state = "checking"
            return True

    def watch(self, phase: Phase) -> None:
        """Told by the release what it does."""
        if self._cancelled and self.entry is None:
            raise Cancelled(CANCELLED)
        self.phase = phase
        if phase.name == "reading" and self.entry is None:
            self.state = "reading"

    def charged(self, charge: Callable[[], Entry]) -> Entry:
        """The charge, unless somebody has cancelled: one or the other, never both."""
        with self._lock:
            if self._cancelled:
                raise Cancelled(CANCELLED)
            self.folder.check_same(self.order.file)  # nor exchanged while it was read
            self.state = "charging"
            try:
                entry = charge()
            except (BudgetExceeded, AlreadyCharged):
                raise
            except BaseException:
                self.unsure = True  # it may have been written down before whatever went wrong
                raise
            self.entry, self.state = entry.number, "charged"
            return entry

    def run(self) -> None:
        """Carry it out; whatever happens, it is said what became of the budget."""
        if not self._begin():
            return
        try:
            self._run()
            self.state, self.words = "done", ""
        except Cancelled:
            self._end_cancelled()
        except DpfdaError as error:
            self._fail(for_page(str(error)))
        except Exception as error:  # its text may quote data: only its kind is told
            log.warning("a job of the studio stopped with %s", type(error).__name__)
            self._fail(f"The run stopped with an unforeseen {type(error).__name__}.")
        finally:
            self.done.set()

    def _fail(self, words: str) -> None:
        self.state, self.words = ("failed" if self.entry is None else "lost"), words

    def _run(self) -> None:
        order = self.order
        ledger = WatchedLedger(order.ledger, order.study, order.note, order.operator, job=self)
        with files.reserved([order.output], [order.file.place, order.ledger], order.room) as places:
            self.folder.check_same(order.file)
            if os.path.lexists(order.output):
                raise DpfdaError("There is a file of this name already. Choose another name; nothing was charged.")
            with watched(self.watch):
                release = order.kind.release(order.plan, order.chosen, order.facts, ledger, order.plan.query)
            place = places[order.output]
            place.path = self._claimed_place()
            try:
                place.write(release.to_json(), MODE)
            except DpfdaError:
                _remove_empty(place.path)
                raise
            try:
                Ledger(order.ledger).record_output(release, place.path)
            except DpfdaError as error:  # the result is there all the same
                self.cautions.append(f"The result is written, and the ledger could not note its file: {error}")

    def _claimed_place(self) -> Path:
        """Where the result goes: a new file, beside one that came there meanwhile, never over it."""
        wanted = place = self.order.output
        number = 1
        while not _claim(place):
            number += 1
            place = wanted.with_stem(f"{wanted.stem}-{number}")
        if place != wanted:
            self.order = replace(self.order, output=place)
            self.cautions.append(f"A file called {wanted.name} came meanwhile, so the result is in {place.name}.")
        return place


def _claim(place: Path) -> bool:
    """Make an empty file, which nobody else can make then; False where there is something already."""
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))
    except FileExistsError:
        return False
    except OSError:  # the writing that follows says what is wrong
        return True
    return True


def _remove_empty(place: Path) -> None:
    with suppress(OSError):
        if place.stat().st_size == 0:
            place.unlink()


@dataclass(frozen=True)
class WatchedLedger(Ledger):
    """A ledger whose charge asks the job whether somebody has cancelled."""

    job: Job = field(kw_only=True, compare=False, repr=False)

    def charge(self, epsilon: Epsilon, *, plan: str, query: str, delta: Epsilon = 0) -> Entry:
        def charge() -> Entry:
            return Ledger.charge(self, epsilon, plan=plan, query=query, delta=delta)

        return self.job.charged(charge)


@dataclass
class Jobs:
    """All jobs of a studio: one at a time."""

    folder: Folder
    _jobs: dict[str, Job] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    stopping: bool = False

    def start(self, order: Order) -> Job:
        job = Job(order, self.folder)
        self._jobs[job.id] = job
        threading.Thread(target=self._run, args=(job,), name="release").start()
        return job

    def _run(self, job: Job) -> None:
        with self._turn:
            if self.stopping:
                job.cancel()
            job.run()

    def find(self, id: str) -> Job | None:
        return self._jobs.get(id)

    def latest(self) -> Mapping[str, Job]:
        return dict(self._jobs)

    def charged(self) -> list[Job]:
        """Jobs that are charged and not over."""
        return [job for job in self.latest().values() if job.entry is not None and not job.over]

    def under_way(self, digest: str) -> bool:
        """Whether a plan is being released by another page."""
        return any(job.order.plan.digest == digest and not job.over for job in self.latest().values())

    def stop(self) -> None:
        """Cancel what is not charged, and wait for what is."""
        self.stopping = True
        for job in self.latest().values():
            job.cancel()
        for job in self.latest().values():
            job.done.wait()
