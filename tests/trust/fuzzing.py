"""Hostile files and texts, by the thousand: what comes of them is counted.

`measure` runs mutated cases of each target in processes of their own, so that even a crash of the interpreter is
counted and survived.

    python tests/trust/fuzzing.py 1000 csv plan
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import resource
import select
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from fuzz_doors import PARSERS, TARGETS, Defect, drop_scratch, run_command, scratch
from fuzz_mutators import mutated
from fuzz_seeds import SEEDS

from dpfda.core.errors import DpfdaError, NoiseWarning, NotPrivateWarning, UnitWarning

__all__ = ["PARSERS", "SEEDS", "TARGETS", "drop_scratch", "limited", "measure", "outcome", "run_command", "strict"]
#: Time that a case may take, and memory that all cases of a process may add to what it had before.
SECONDS, MOST_BYTES = 5.0, 2 << 30


class Hang(BaseException):
    """A case took too long."""


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Warnings are errors, but for those that are meant for the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NoiseWarning)  # tiny data
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
    scratch.cache_clear()  # that of the parent stays its own; all children share this one
    scratch()
    while (first := STATE.unpack_from(state)[0]) < cases:
        child = os.fork()
        if not child:
            try:
                sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (of a process about to end)
                _child(name, first, cases, seed, state, report)
            finally:
                os._exit(0)
        hung = _waited(child, state)
        done = list(STATE.unpack_from(state))
        if done[0] < cases:
            done[4 if hung else 3] += 1
            _tell(report, name, done[0], "hang without end" if hung else "the process died")
            done[0] += 1
            STATE.pack_into(state, 0, *done)
    drop_scratch()
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
