"""Every figure of the README and the documentation, measured on one code base, part by part.

    python benchmarks/evidence.py                 # runs what is missing or stale, then writes the figures into pages
    python benchmarks/evidence.py --status        # what is fresh and what is not; exit code 1 where a part is not
    python benchmarks/evidence.py --only accuracy --only trust-fuzz
    python benchmarks/evidence.py --collect       # runs nothing: evidence.json and the pages, from what is saved

A part is one script with its arguments (`parts.py`). It is fresh as long as the code that it runs of the package, its
own code and what it left are those of its last whole run; a run that was stopped goes on with the next part. Two parts
of one script never run at a time, because they write one file. Parts that read a clock (`clock`) come last, one by one:
let nothing else run then. The whole takes some hours on two cores. What is done with the figures is in `figures/`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import common
from figures import pages
from parts import PARTS, of_package, why_stale

RUNS = common.RESULTS / "runs.json"
#: One thread of linear algebra for each part, because two parts run at a time.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def runs() -> dict[str, dict[str, Any]]:
    """What is known of the last whole run of each part."""
    return dict(json.loads(RUNS.read_text(encoding="utf-8"))) if RUNS.exists() else {}


def stale(known: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The parts that are not fresh, and why."""
    package = of_package()
    found = {name: why_stale(part, known.get(name), package, part.code, part.left()) for name, part in PARTS.items()}
    return {name: why for name, why in found.items() if why}


def run(name: str, log: Path) -> tuple[dict[str, Any], str]:
    """Run one part, in a process of its own; what it prints goes to a file. What became of it, in a word."""
    part = PARTS[name]
    code, began = (of_package()[part.front], part.code), time.time()
    log.mkdir(parents=True, exist_ok=True)
    with (log / f"{name}.txt").open("w", encoding="utf-8") as file:
        command = [sys.executable, *part.command[1:]]
        environment = os.environ | ({} if part.clock else ALONE)
        done = subprocess.run(command, cwd=common.ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    facts = {
        "command": " ".join(part.command), "package": code[0], "benchmark": code[1], "results": part.left(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}", "seconds": round(time.time() - began),
        "machine": machine,
    }  # fmt: skip
    if done.returncode or not facts["results"]:
        return facts, "failed"
    return facts, "done" if code == (
        of_package()[part.front],
        part.code,
    ) else "not kept, its code was changed meanwhile,"


class Runner:
    """Carries out parts: those without a clock side by side, no two of one script, which write one file."""

    def __init__(self, names: list[str], log: Path) -> None:
        self.names, self.log = names, log
        self.idle, self.failed = threading.Condition(), list[str]()
        self.waiting, self.busy = [name for name in names if not PARTS[name].clock], set[str]()

    def carry_out(self, jobs: int) -> bool:
        """True where all went well."""
        with ThreadPoolExecutor(jobs) as pool:
            workers = [pool.submit(self._work) for _ in range(jobs)]
            try:
                for worker in workers:
                    worker.result()
            except BaseException:  # what was not begun is left
                with self.idle:
                    self.waiting.clear()
                    self.idle.notify_all()
                raise
        for name in self.names:
            if PARTS[name].clock:
                self._one(name)
        return not self.failed

    def _work(self) -> None:
        while (name := self._take()) is not None:
            try:
                self._one(name)
            finally:
                with self.idle:
                    self.busy.discard(PARTS[name].script)
                    self.idle.notify_all()

    def _take(self) -> str | None:
        """The next part whose script is not running."""
        with self.idle:
            while self.waiting:
                for name in self.waiting:
                    if PARTS[name].script not in self.busy:
                        self.waiting.remove(name)
                        self.busy.add(PARTS[name].script)
                        return name
                self.idle.wait()
        return None

    def _one(self, name: str) -> None:
        print(f"{name}: runs", flush=True)
        facts, became = run(name, self.log)
        with self.idle:
            if became != "done":
                self.failed.append(name)
            else:
                RUNS.write_text(json.dumps(runs() | {name: facts}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"{name}: {became} after {facts['seconds']} s ({self.log / name}.txt)", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="this part, or several")
    parser.add_argument("--status", action="store_true", help="run nothing: say what is stale")
    parser.add_argument("--collect", action="store_true", help="run nothing: write evidence.json and the pages")
    parser.add_argument("--jobs", type=int, default=2, help="parts at a time")
    parser.add_argument("--log", type=Path, default=common.ROOT / "build" / "evidence", help="where output goes")
    options = parser.parse_args()
    todo = stale(runs())
    if options.status:
        for name in PARTS:
            print(f"{name:22} {todo.get(name, 'fresh')}")
        return int(bool(todo))
    if not options.collect:
        names = [name for name in PARTS if name in todo and (not options.only or name in options.only)]
        absent = [name for name in names if PARTS[name].data and not (common.DATA / "real").exists()]
        for name in absent:
            print(f"{name}: left as it is, the real data sets are not here")
        well = Runner([name for name in names if name not in absent], options.log).carry_out(options.jobs)
        if not well:
            return 1
    pages.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
