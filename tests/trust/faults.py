"""Releases that are killed, starved and crowded, and what is left of the ledger and of the release file.

A whole release (open the ledger, read the file, summarise, check, charge, draw, seal, save) runs in a forked child,
through the library or through the command. The child is killed with SIGKILL at a chosen step: a line of the package,
or right before or right after a call into C (SQLite, fsync, rename). A dry run lists the steps. Other children are
killed by the clock, which also lands inside C code; others have no room on the disk. The parent then reads the ledger
with the real class and counts what must never happen.
"""

from __future__ import annotations

import random
import resource
import signal
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from children import PATIENCE, Child, RefusedError, Say, Step, Steps, forked, steps_of
from typer.main import get_command

import dpfda as dp
from dpfda.cli import app
from dpfda.ledger import store

COMMAND = get_command(app)
EPSILON = Fraction(1, 64)
#: Charges that a ledger has room for before the next one is made.
ROOM = 12
#: Entries that a ledger has before its charges are timed.
LENGTHS = (0, 1_000, 10_000, 100_000)
DOORS = ("library", "command")
#: Calls into C around which a child is always killed, by file and function: where a charge or a file comes into being.
VITAL = {
    ("ledger/store.py", "_take_turn", "execute"),  # BEGIN
    ("ledger/store.py", "writing", "execute"),  # COMMIT
    ("ledger/home.py", "testify", "setxattr"),
    ("files.py", "write", "fsync"),
    ("files.py", "write", "replace"),
    ("files.py", "_sync_folder", "fsync"),
}
NEVER = (
    "charges_lost",
    "budgets_exceeded",
    "corrupt_ledgers",
    "partial_releases",
    "releases_without_charge",
    "ledgers_refused",
    "unclear_errors",
    "hung",
)


@dataclass
class Study:
    """A folder with a ledger, a file of curves and a plan; and what of them was seen before."""

    folder: Path
    plan: Any
    charges: int = ROOM
    seen: tuple[Any, ...] = ()
    book: dp.Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.book = dp.Ledger.create(self.folder / "study.ledger", epsilon=self.charges * EPSILON, study="faults")
        (self.folder / "plan.json").write_text(self.plan.to_json())
        rows = np.random.default_rng(5).uniform(-0.5, 0.5, (self.plan.n, self.plan.grid.size))
        np.savetxt(self.folder / "curves.csv", rows, delimiter=",", header="a,b,c,d,e,f", comments="")

    @property
    def output(self) -> Path:
        return self.folder / "mean.json"


@cache
def plan() -> dp.MeanPlan:
    """A small plan, after one release by each door in this process: children find everything imported."""
    made = dp.MeanPlan(n=20, epsilon=EPSILON, bound=dp.L2Ball(1.0), grid=6, method=dp.methods.QR(eta=2.0, psi=1e-3))
    with tempfile.TemporaryDirectory() as folder:
        for door in DOORS:
            (Path(folder) / door).mkdir()
            whole_job(Study(Path(folder) / door, made), door, lambda **facts: None)
    return made


def whole_job(study: Study, door: str, say: Say, output: Path | None = None) -> None:
    """One release from the file of curves to the file of the release, by the library or by the command."""
    curves, ledger, out = str(study.folder / "curves.csv"), str(study.book.path), output or study.output
    if door == "library":
        release = study.plan.release(curves, ledger)
        say(released=release.coefficients.tolist(), entry=release.entry, seal=release.seal)
        release.save(out)
    else:
        words = ["mean", curves, "--plan", str(study.folder / "plan.json"), "--ledger", ledger, "--out", str(out)]
        if COMMAND.main([*words, "--quiet"], standalone_mode=False):
            raise RefusedError
    say(saved=True)


def vital(step: Step) -> bool:
    file, function, _, what = step
    return (file, function, what.partition(" ")[2]) in VITAL


def _time_of(job: Callable[[Say], None]) -> float:
    began = time.monotonic()
    forked(job).finish()
    return time.monotonic() - began


def inspect(study: Study, told: list[dict[str, Any]], outputs: list[Path], counts: Counter[str]) -> None:
    """What the files say after a child, or several, came to their ends; counts what must never be."""
    try:
        history = dp.Ledger(study.book.path).history()
        with closing(sqlite3.connect(study.book.path)) as db:
            if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                raise dp.errors.LedgerError("SQLite finds it corrupt.")
    except dp.errors.LedgerError:
        counts["corrupt_ledgers"] += 1
        return
    try:
        study.book.verify()
    except dp.errors.LedgerError:
        counts["ledgers_refused"] += 1
    seals = {entry.number: entry.seal for entry in history}
    counts["budgets_exceeded"] += study.book.spent > study.book.budget or study.book.spent != EPSILON * len(history)
    counts["charges_lost"] += history[: len(study.seen)] != study.seen
    counts["charges_lost"] += sum(seals.get(line["charged"]) != line["seal"] for line in told if "charged" in line)
    handed = [line for line in told if "released" in line]
    counts["releases_without_charge"] += sum(seals.get(line["entry"]) != line["seal"] for line in handed)
    counts["unclear_errors"] += sum("unclear" in line for line in told)
    counts["charges"] += len(history) - len(study.seen)
    for path in outputs:
        counts["release_files"] += path.exists()
        if path.exists():
            _inspect_release(path, seals, counts, strict=True)
            path.unlink()
    for stray in study.folder.glob(".dpfda-*"):
        counts["stray_files"] += 1
        _inspect_release(stray, seals, counts, strict=False)
        stray.unlink()
    study.seen = history


def _inspect_release(path: Path, seals: dict[int, str], counts: Counter[str], strict: bool) -> None:
    """A release file is whole and charged; a stray temporary file is that, or no release at all."""
    try:
        release = dp.load(path)
    except dp.errors.FileError:
        counts["partial_releases"] += strict
        return
    counts["releases_without_charge"] += seals.get(release.entry) != release.seal


def _ended(child: Child, told: list[dict[str, Any]], counts: Counter[str]) -> None:
    counts["attempted"] += 1
    counts["killed"] += child.code == -signal.SIGKILL
    counts["hung"] += child.code == -signal.SIGALRM
    counts["finished"] += child.code == 0
    counts["refused"] += any("refused" in line for line in told)


def _studies(parent: Path, charges: int = ROOM) -> Iterator[Study]:
    """The same study until its budget may be used up, then a fresh one."""
    shared, number = plan(), 0
    while True:
        folder = parent / f"study{number}"
        folder.mkdir()
        study = Study(folder, shared, charges)
        while len(study.seen) < charges:
            yield study
        number += 1


def _counts(counts: Counter[str]) -> dict[str, Any]:
    first = ("attempted", "killed", "finished", "refused", "charges", "release_files", "stray_files")
    return {name: int(counts[name]) for name in (*first, *NEVER)}


def spread_points(steps: list[tuple[Step, int]], points: int, draw: random.Random) -> list[tuple[Step, int]]:
    """All vital steps, and an even spread over the others with a random start."""
    chosen = [now for now in steps if vital(now[0])]
    rest = [now for now in steps if not vital(now[0])]
    if len(chosen) > 4 * points // 5:
        chosen = draw.sample(chosen, points // 2)
    wanted = points - len(chosen)
    stride = len(rest) / max(wanted, 1)
    start = draw.random() * stride
    return chosen + [rest[int(start + i * stride)] for i in range(min(wanted, len(rest)))]


def kills(points: int, seed: int) -> dict[str, Any]:
    """Releases killed at this many points: four in five at a step of the code, the others by the clock."""
    draw, counts = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as parent:
        studies = _studies(Path(parent))
        first = next(studies)
        jobs = {door: lambda say, d=door: whole_job(first, d, say) for door in DOORS}
        listed = {door: (steps_of(job), _time_of(job)) for door, job in jobs.items()}
        inspect(first, [], [first.output], counts)
        counts.clear()
        timed = points // 5
        victims: list[tuple[str, Any]] = [(door, None) for door in DOORS for _ in range(timed // 2)]
        for door, many in zip(DOORS, _halves(points - len(victims)), strict=True):
            victims += [(door, now) for now in spread_points(listed[door][0], many, draw)]
        draw.shuffle(victims)
        for door, victim in victims:
            study = next(studies)
            child = forked(lambda say, s=study, d=door, v=victim: watched_job(s, d, v, say))
            if victim is None:
                _kill_by_clock(child, listed[door][1], draw)
            told = child.finish()
            _ended(child, told, counts)
            inspect(study, told, [study.output], counts)
    known = {f"steps_{door}": len(listed[door][0]) for door in DOORS}
    return {"points": points, **known, **_counts(counts)}


def _halves(number: int) -> tuple[int, int]:
    return number // 2, number - number // 2


def watched_job(study: Study, door: str, victim: Any, say: Say) -> None:
    """A whole release that is killed at a step."""
    say(began=True)
    if victim is not None:
        Steps(victim).watch()
    whole_job(study, door, say)


def _kill_by_clock(child: Child, took: float, draw: random.Random) -> None:
    """Somewhere in the whole release, or, every other time, somewhere in its charge."""
    if draw.random() < 0.5:
        word, wait = "began", draw.uniform(0, took)
    else:
        word, wait = "charging", draw.uniform(0, took / 4)
    going = True
    while going and not child.heard(word):
        going = child.listen(PATIENCE)
    time.sleep(wait)
    child.kill()


def crowd(processes: int, rounds: int, seed: int) -> dict[str, Any]:
    """Processes that share a ledger and release until it is used up, half of them killed somewhere."""
    draw, counts = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as parent:
        shared = plan()
        for number in range(rounds):
            folder = Path(parent) / f"crowd{number}"
            folder.mkdir()
            study = Study(folder, shared, charges=5 * processes)
            outputs = [folder / f"mean{member}.json" for member in range(processes)]
            marked = set(draw.sample(outputs, processes // 2))
            children = [
                forked(lambda say, s=study, o=output, doomed=output in marked: _greedy(s, o, say, doomed))
                for output in outputs
            ]
            doomed = [child for child, output in zip(children, outputs, strict=True) if output in marked]
            _kill_at_random(children, doomed, draw)
            told = []
            for child in children:
                heard = child.finish()
                _ended(child, heard, counts)
                told += heard
            inspect(study, told, outputs, counts)
            counts["used_up"] += len(study.seen) == study.charges
    return {"processes": processes, "rounds": rounds, "used_up": counts["used_up"], **_counts(counts)}


def _greedy(study: Study, output: Path, say: Say, doomed: bool) -> None:
    while True:
        try:
            whole_job(study, "library", say, output)
        except dp.errors.BudgetExceeded:
            if doomed:  # however busy the machine is, it is killed and does not end
                say(waiting=True)
                signal.pause()
            return


def _kill_at_random(children: list[Child], doomed: list[Child], draw: random.Random) -> None:
    """Each doomed child is killed a random while after it was seen at its first or second charge."""
    waiting = {child.pid: (draw.choice([1, 2]), draw.uniform(0, 0.02)) for child in doomed}
    going = list(children)
    while waiting and going:
        going = [child for child in going if child.listen(0.002)]
        for child in doomed:
            at, wait = waiting.get(child.pid, (0, 0.0))
            if at and (child.told.count(b'"charging"') >= at or b'"waiting"' in child.told or child not in going):
                time.sleep(wait)
                child.kill()
                del waiting[child.pid]


def full_disk(limits: int) -> dict[str, Any]:
    """Releases whose files may not grow beyond a limit: journal, ledger and release file fail in turn."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as parent:
        studies = _studies(Path(parent), charges=200)
        size = next(studies).book.path.stat().st_size
        small = np.linspace(0, 2 * size, limits - limits // 3).astype(int).tolist()
        large = np.geomspace(2 * size, 1 << 21, limits // 3).astype(int).tolist()
        for number, limit in enumerate(small + large):
            study = next(studies)
            door = DOORS[number % 2]
            child = forked(lambda say, s=study, d=door, most=limit: _without_room(s, d, most, say))
            told = child.finish()
            _ended(child, told, counts)
            inspect(study, told, [study.output], counts)
    return {"limits": limits, **_counts(counts)}


def _without_room(study: Study, door: str, most: int, say: Say) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    whole_job(study, door, say)


def throughput(processes: int = 8, seconds: float = 5, lengths: tuple[int, ...] = LENGTHS) -> dict[str, Any]:
    """Charges per second on one ledger: by one process and by several, with so many entries before."""
    found: dict[str, Any] = {"processes": processes, "seconds": seconds}
    with tempfile.TemporaryDirectory() as parent:
        for before in lengths:
            for many in (1, processes):
                book = long_ledger(Path(parent) / f"{before}-{many}", before)
                children = [forked(lambda say, b=book: _hurry(b, seconds, say)) for _ in range(many)]
                shares = [sum("charged" in line for line in child.finish()) for child in children]
                made = len(book.history()) - before
                found[f"{many} on {before} entries"] = {
                    "charges_per_second": round(made / seconds, 1),
                    "least_and_most_by_one": [min(shares), max(shares)],
                    "charges_lost": sum(shares) - made,
                    "failures": sum(child.code != 0 for child in children),
                }
    return found


def cost_of_length(short: int = 100, long: int = 100_000, charges: int = 1000) -> dict[str, float]:
    """Milliseconds of a charge (the median) on a short ledger and on a long one, charged in turns; and their ratio."""
    times: dict[int, list[float]] = {short: [], long: []}
    with tempfile.TemporaryDirectory() as parent:
        books = {entries: long_ledger(Path(parent) / f"{entries}", entries) for entries in times}
        for _ in range(charges):
            for entries, book in books.items():
                began = time.perf_counter()
                _small_charge(book)
                times[entries].append(time.perf_counter() - began)
    middle = {entries: statistics.median(taken) for entries, taken in times.items()}
    found = {f"ms_per_charge_at_{entries}": round(1000 * taken, 3) for entries, taken in middle.items()}
    return {**found, f"cost_at_{long}_over_{short}": round(middle[long] / middle[short], 3)}


def long_ledger(path: Path, entries: int) -> dp.Ledger:
    """A new ledger with a long history, written in one transaction."""
    book = dp.Ledger.create(path, epsilon=10**4, study="throughput")
    with store.writing(path) as db:
        balance = store.load_balance(db, path.name, None)
        for _ in range(entries):
            balance = balance.charged(EPSILON, Fraction(0), "p" * 64, "mean")
            store.add_entry(db, balance.last)
    return book


def _small_charge(book: dp.Ledger) -> None:
    book.charge("1/1000000", plan="p" * 64, query="mean")


def _hurry(book: dp.Ledger, seconds: float, say: Say) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        _small_charge(book)
