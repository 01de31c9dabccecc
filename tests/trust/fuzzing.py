"""Hostile files and texts, by the thousand: every reader through the door that a user takes.

A target is a function of bytes. It returns, or raises an error of the package: anything else (another exception, a
warning, a dead process, more than a few seconds) is a defect. `measure` counts what comes of mutated files, in
processes of their own, so that even a crash of the interpreter is counted and survived.

    python tests/trust/fuzzing.py 1000 csv plan
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import mmap
import os
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from fuzz_mutators import mutated
from fuzz_seeds import SEEDS, mean_plan
from typer.main import get_command

import dpfda as dp
from dpfda import checkpoints, codec
from dpfda.cli import app, parsing, sources
from dpfda.errors import DpfdaError, NotPrivateWarning, UnitWarning
from dpfda.estimators import predictions
from dpfda.intake import Interpolate
from dpfda.labels import Coder, as_groups, label_text
from dpfda.layouts import Long, zone_of
from dpfda.plan import Plan
from dpfda.plans import GroupPlan
from dpfda.protocol import as_epsilon
from dpfda.tables import pick

SECONDS = 5.0
#: Memory that a case may add to what the process had before it.
MOST_BYTES = 2 << 30
INPUTS = np.linspace(0, 1, 6)


class Hang(BaseException):
    """A case took too long."""


class Defect(Exception):
    """A command ended in a way that none may."""


# -- doors ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def scratch() -> Path:
    """A folder of this process, in memory where the machine has such a place; deep, so that ``..`` stays within."""
    base = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="fuzz-", dir=base if os.access(base, os.W_OK) else None)
    deep = Path(folder) / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    atexit.register(drop_scratch)
    return deep


def drop_scratch() -> None:
    if scratch.cache_info().currsize:
        shutil.rmtree(scratch().parents[3], ignore_errors=True)
        scratch.cache_clear()


def file_of(data: bytes, name: str) -> Path:
    path = scratch() / name
    path.write_bytes(data)
    return path


@lru_cache(maxsize=None)
def plan_for(door: str) -> dp.MeanPlan:
    """A plan that any number of records fits."""
    options: dict[str, Any] = {"neighbors": "add-remove"}
    if door == "csv-center":
        options["invalid"] = "center"
    if door == "csv-days":
        options["grid"] = dp.Grid.uniform(0, 24, 4)
    if door in ("csv-long", "csv-days"):
        options |= {"align": Interpolate(gap=1.0, least=1), "unit": dp.Unit("id") if door == "csv-long" else None}
    plan = mean_plan(**options)
    plan.stage  # noqa: B018
    return plan


def read_table(door: str, name: str, **reading: Any) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        plan_for(door).release(file_of(data, name), **reading)

    return run


def read_groups(data: bytes) -> None:
    problem = plan_for("csv").stage.problem
    dp.summaries.summarize_groups(problem, file_of(data, "g.csv"), "side", Coder(("north", "south")), header=True)


def read_parquet(data: bytes) -> None:
    path = file_of(data, "x.parquet")
    with contextlib.suppress(DpfdaError):
        read_groups_of(path)
    plan_for("csv").release(path)


def read_groups_of(records: Any) -> None:
    problem = plan_for("csv").stage.problem
    columns = ["h1", "h2", "h3", "h4"]
    dp.summaries.summarize_groups(problem, records, "side", Coder(), columns=columns)


def read_arrow(data: bytes) -> None:
    """What Arrow itself refuses to open never reaches us; what it opens may still be damaged."""
    try:
        reader = pa.ipc.open_file(data) if data[:6] == b"ARROW1" else pa.ipc.open_stream(data)
        table = reader.read_all()
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        raise dp.FileError("Arrow refuses it.") from error
    with contextlib.suppress(DpfdaError):
        read_groups_of(table)
    plan_for("csv").release(table)


def read_npy(data: bytes) -> None:
    """A path that ends so is refused; an array that numpy opens is read as any other."""
    with contextlib.suppress(DpfdaError):
        plan_for("csv").release(file_of(data, "x.npy"))
        raise Defect("a file of an array was read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy, about headers
            array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError, MemoryError, TypeError, SyntaxError, OverflowError, KeyError) as error:
        raise dp.FileError("numpy refuses it.") from error
    except Exception as error:  # of its tokenizer
        if type(error).__module__ != "tokenize":
            raise
        raise dp.FileError("numpy refuses it.") from error
    plan_for("csv-center").summarize(array)
    plan_for("csv").release(array)


def read_plan(data: bytes) -> None:
    """A plan, and all that is shown of it."""
    text = data.decode("utf-8", "surrogateescape")
    plan = codec.revive(codec.unseal(text, "plan", 1).get("plan"))
    if not isinstance(plan, Plan | GroupPlan):
        raise dp.FileError("No plan.")
    repr(plan)
    assert codec.revive(codec.unseal(plan.to_json(), "plan", 1)["plan"]) == plan
    if isinstance(plan, Plan):
        plan.explain()
        plan._repr_html_()


def read_release(data: bytes) -> None:
    release = dp.load(file_of(data, "x.json"))
    repr(release)
    release.statement  # noqa: B018
    assert type(dp.load(release.save(scratch() / "y.json"))) is type(release)


def read_summary(data: bytes) -> None:
    saved = checkpoints.load(file_of(data, "x.summary"))
    repr(saved)
    with contextlib.suppress(dp.PlanMismatch, dp.RecordError):
        checkpoints.merged([saved, saved])
    with contextlib.suppress(dp.PlanMismatch):
        plan_for("csv").release(saved.summary)
    checkpoints.load(saved.save(scratch() / "y.summary"))


def read_ledger(data: bytes) -> None:
    for old in scratch().glob("x.ledger-*"):
        old.unlink()
    book = dp.Ledger(file_of(data, "x.ledger"))
    facts = (book.name, book.budget, book.spent, book.remaining, book.delta_budget, book.delta_spent)
    str(facts), repr(book.history())
    with contextlib.suppress(dp.LedgerError):  # too much, or a copy
        book.charge("1/7", plan="c" * 64, query="mean")


PARSERS: dict[str, Callable[[str], Any]] = {
    "grid": parsing.parse_grid,
    "axis": lambda text: parsing.parse_grid("0:1:4", text),
    "kernel": parsing.parse_kernel,
    "method": parsing.parse_method,
    "domain": lambda text: parsing.parse_domain(text.split(" ")),
    "cells": parsing.parse_cells,
    "edges": parsing.parse_edges,
    "layout": sources.parse_layout,
    "align": sources.parse_align,
    "groups": lambda text: as_groups(sources.groups_of(text)),
    "epsilon": as_epsilon,
    "zone": zone_of,
    "columns": lambda text: pick(["h1", "h2"], text),
    "unit": lambda text: sources.parse_unit(*_three(text)),
    "bound": lambda text: parsing.parse_bound(*_bound(text)),
}


def _bound(text: str) -> tuple[float | None, str, float | None]:
    """As the command line brings them, which reads numbers itself."""
    radius, norm, center = [*text.split(" "), "", ""][:3]
    try:
        return float(radius or 1), norm, float(center or 0)
    except ValueError as error:
        raise dp.ParameterError("a radius is a number", "another", "Correct it.") from error


def _three(text: str) -> tuple[str, int | None, str | None]:
    name, most, order = [*text.split(" "), "", ""][:3]
    return name, int(most) if most.isascii() and most.isdigit() and len(most) < 30 else None, order or None


def read_words(data: bytes) -> None:
    name, _, text = data.decode("utf-8", "surrogateescape").partition(" ")
    if name not in PARSERS:
        raise dp.ParameterError("a parser has a name", "another", "Choose one.")
    repr(PARSERS[name](text))


def read_labels(data: bytes) -> None:
    try:
        labels = json.loads(data)
    except (ValueError, RecursionError):
        labels = [data, data.decode("utf-8", "replace"), *data.split(b",")]
    labels = labels if isinstance(labels, list) else [labels]
    for label in labels:
        assert label_text(label_text(label)) == label_text(label)
    names = Coder().column(labels)
    assert names.shape == (len(labels),)
    as_groups([label for label in labels if isinstance(label, str)] or ["a"])


@lru_cache(maxsize=1)
def _command() -> Any:
    return get_command(app)


def run_command(words: list[str]) -> str:
    """The command in this process; a refusal is an exit code and a paragraph."""
    said, code = io.StringIO(), 0
    with contextlib.chdir(scratch()), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            _command()(args=words, prog_name="dpfda")
        except SystemExit as end:
            code = int(end.code or 0)
    output = said.getvalue()
    if code not in (0, 1, 2, 3):
        raise Defect(f"{words} ends with {code}")
    if "Traceback" in output or "unforeseen" in output:
        raise Defect(f"{words} speaks of a defect: {output[-300:]}")
    # A wrong command line is repeated to the one who wrote it; anything else comes from files.
    if code != 2 and not all(line.isprintable() for line in output.split("\n")):
        raise Defect(f"{words} steers the terminal: {output[-300:]!r}")
    if code:
        raise dp.ParameterError("a command line must be right", "another", "Try --help.")
    return output


def read_command(data: bytes) -> None:
    run_command(data.decode("utf-8", "surrogateescape").split("\0")[:20])


def show(data: bytes) -> None:
    run_command(["show", str(file_of(data, "x.json"))])


def predict(data: bytes) -> None:
    release = dp.load(file_of(data, "x.json"))
    for width in (1, 2):
        with contextlib.suppress(DpfdaError):
            predictions(release, np.repeat(INPUTS[:, None], width, axis=1))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "csv": read_table("csv", "x.csv"),
    "csv-center": read_table("csv-center", "x.csv", header=True),
    "csv-long": read_table("csv-long", "x.csv", layout=Long()),
    "csv-days": read_table("csv-days", "x.csv", layout=Long(day="Australia/Adelaide")),
    "csv-groups": read_groups,
    "tsv": read_table("csv", "x.tsv", columns="h*", header=True),
    "parquet": read_parquet,
    "arrow": read_arrow,
    "npy": read_npy,
    "plan": read_plan,
    "release": read_release,
    "summary": read_summary,
    "ledger": read_ledger,
    "words": read_words,
    "labels": read_labels,
    "command": read_command,
    "show": show,
    "predict": predict,
}


# -- counting ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Warnings are errors, but for those that are meant for the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UnitWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def outcome(name: str, data: bytes) -> str:
    """What comes of one case: accepted or refused; anything else is raised."""
    try:
        TARGETS[name](data)
    except DpfdaError as error:
        if not str(error).isprintable() or len(str(error)) > 2000:
            raise Defect(f"an error that is no printable paragraph: {str(error)[:200]!r}") from error
        return "refused"
    return "accepted"


def case(name: str, seed: int, number: int) -> bytes:
    """The hostile file of a number: the same in every run."""
    return mutated(name, Random(f"{seed}/{name}/{number}"), SEEDS[name])


def _alarm(*_: Any) -> None:
    raise Hang


def limited(work: Callable[[], Any], most: int = 1 << 30, seconds: float = 4 * SECONDS) -> str:
    """What comes of some work in a child that may take so much memory and time: a word and a message."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        word = "died"
        try:
            _hold(most)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            with strict():
                word = f"accepted {str(work())[:200]}"
        except DpfdaError as error:
            word = f"refused {error}"
        except BaseException as error:
            word = f"crashed {error!r}"
        finally:
            os.write(write, word[:3000].encode("utf-8", "replace"))
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text or "killed"


def _hold(most: int) -> None:
    """Let this process take no more memory than it has and `most` bytes."""
    if (table := Path("/proc/self/statm")).exists():
        used = int(table.read_text().split()[0]) * mmap.PAGESIZE
        resource.setrlimit(resource.RLIMIT_AS, (used + most, resource.RLIM_INFINITY))


#: What a child tells: the number of the case it is at, then counts and figures.
STATE = struct.Struct("qqqqqdd")


def _child(name: str, first: int, cases: int, seed: int, state: mmap.mmap, report: int) -> None:
    """Cases one after the other, with the state in shared memory before and after each."""
    scratch.cache_clear()  # that of the parent stays its own
    done = list(STATE.unpack_from(state))
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _hold(MOST_BYTES)
    signal.signal(signal.SIGALRM, _alarm)
    with strict():
        for number in range(first, cases):
            done[0] = number
            STATE.pack_into(state, 0, *done)
            data = case(name, seed, number)
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            began = time.perf_counter()
            try:
                done[1 if outcome(name, data) == "accepted" else 2] += 1
            except Hang:
                done[4] += 1
                _tell(report, name, number, "hang")
            except Exception:
                done[3] += 1
                _tell(report, name, number, traceback.format_exc())
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            done[5] = max(done[5], 1000 * (time.perf_counter() - began))
            done[6] = max(done[6], (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) / 1024)
        done[0] = cases
        STATE.pack_into(state, 0, *done)


def _tell(report: int, name: str, number: int, what: str) -> None:
    os.write(report, f"{name} {number}: {what[-1500:]}\n".encode("utf-8", "replace")[:4000])


def _watched(name: str, cases: int, seed: int, report: int) -> dict[str, Any]:
    """All cases of one target. A child that dies, or that no alarm can wake, is one crash or hang; another goes on."""
    state = mmap.mmap(-1, STATE.size)
    STATE.pack_into(state, 0, 0, 0, 0, 0, 0, 0.0, 0.0)
    SEEDS[name]
    while (first := STATE.unpack_from(state)[0]) < cases:
        child = os.fork()
        if not child:
            try:
                sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (of a process about to end)
                _child(name, first, cases, seed, state, report)
            finally:
                drop_scratch()
                os._exit(0)
        hung = _waited(child, state)
        done = list(STATE.unpack_from(state))
        if done[0] < cases:
            done[4 if hung else 3] += 1
            _tell(report, name, done[0], "hang without end" if hung else "the process died")
            done[0] += 1
            STATE.pack_into(state, 0, *done)
    _, accepted, refused, crashes, hangs, slowest, peak = STATE.unpack_from(state)
    counts = {"cases": cases, "accepted": accepted, "refused": refused, "crashes": crashes, "hangs": hangs}
    return counts | {"slowest_ms": round(slowest, 1), "peak_mb": round(peak, 1)}


def _waited(child: int, state: mmap.mmap) -> bool:
    """Whether a child had to be ended because it stood still."""
    watch, last, since = os.pidfd_open(child), -1, time.monotonic()
    try:
        while not select.select([watch], [], [], 0.5)[0]:
            number = STATE.unpack_from(state)[0]
            if number != last:
                last, since = number, time.monotonic()
            elif time.monotonic() - since > 4 * SECONDS:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return True
        os.waitpid(child, 0)
        return False
    finally:
        os.close(watch)


def measure(cases: int, seed: int, targets: list[str] | None = None, workers: int | None = None) -> dict[str, dict]:
    """Mutated cases of each target: how many were accepted and refused, and every defect.

    Targets run side by side, `workers` at a time (default: one per processor). Defects are told on standard error.
    """
    names = list(TARGETS if targets is None else targets)
    waiting, running, found = names[::-1], {}, {}
    while waiting or running:
        while waiting and len(running) < (workers or os.cpu_count() or 1):
            name = waiting.pop()
            read, write = os.pipe()
            worker = os.fork()
            if not worker:
                os.close(read)
                code = 1
                try:
                    began = time.perf_counter()
                    result = _watched(name, cases, seed, 2)
                    result["per_second"] = round(cases / (time.perf_counter() - began), 1)
                    os.write(write, json.dumps(result).encode())
                    code = 0
                finally:
                    os._exit(code)
            os.close(write)
            running[read] = (name, worker)
        for read in select.select(list(running), [], [])[0]:
            name, worker = running.pop(read)
            with os.fdopen(read, "rb") as pipe:
                text = pipe.read()
            os.waitpid(worker, 0)
            found[name] = json.loads(text)
    return {name: found[name] for name in names}


if __name__ == "__main__":
    for target, figures in measure(int(sys.argv[1]), 0, sys.argv[2:] or None).items():
        print(target, json.dumps(figures), flush=True)
