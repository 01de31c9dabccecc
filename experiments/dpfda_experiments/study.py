"""How experiments are run: cell by cell, two at a time, each kept on disk, so that a run can go on where it stopped.

A cell is a small dictionary of settings; its result is a list of rows. Both lie in one JSON file,
with a fingerprint of the code that made them: other settings or other code, and the cell runs again.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dpfda as dp

from . import NAMES

#: The paper's sensitivities, kernel noise and selection with valid noise; and our defaults.
PAPER, OURS = MODES = ("paper", "dpfda")
Row = dict[str, Any]
Watch = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Scale:
    """How much is run.

    `data_sets` per cell, with `draws` simulated releases each; `releases` of our default, which is released for
    real, pass by pass (`real` times on real curves); cross-validation on the first `validated` data sets, among
    `candidates` penalties.
    """

    name: str
    sizes: tuple[int, ...]
    data_sets: int
    draws: int
    releases: int
    validated: int
    candidates: int
    real: int


QUICK = Scale("quick", (100, 300, 1000, 3000), 20, 200, 3, 4, 5, 100)
#: The paper's counts: a hundred data sets, a thousand draws each. Our default is released a thousand times per cell.
FULL = Scale("full", (100, 200, 500, 1000, 2000, 5000, 10_000), 100, 1000, 10, 100, 9, 1000)


class Rows(list[Row]):
    """Rows of results that can be asked for."""

    def where(self, **facts: Any) -> Rows:
        return Rows(row for row in self if all(row.get(key) == value for key, value in facts.items()))

    def values(self, key: str) -> list[Any]:
        """What occurs under a key, in order, once each."""
        return list(dict.fromkeys(row[key] for row in self if key in row))

    def one(self, key: str, **facts: Any) -> float:
        """The number of the only row with these facts; not a number if there is none."""
        found = self.where(**facts)
        if len(found) > 1:
            raise ValueError(f"{len(found)} rows have {facts}")
        return float(found[0][key]) if found else float("nan")


def seed(*words: Any) -> int:
    """A seed from words, so that every cell can say its own and modes see the same data sets."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, words)).encode()).digest()[:6], "big")


def module(name: str) -> Any:
    return importlib.import_module(f"{__package__}.{name}")


#: Files that write down what came out, or how to ask for it: they change no result.
TELLING = {"pages.py", "reproduce.py", "density_figure.py", "reproducing.py"}


def fingerprint() -> str:
    """Which code made a result: the text of the package and of the experiments, wherever they are installed."""
    package, here = Path(dp.__file__).parent, Path(__file__).parent
    texts = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py") if here not in path.parents}
    texts |= {f"experiments/{path.name}": path for path in here.glob("*.py")}
    known = [name.encode() + b"\0" + texts[name].read_bytes() for name in sorted(texts)
             if texts[name].name not in TELLING]  # fmt: skip
    return hashlib.sha256(b"\0".join(known)).hexdigest()[:16]


def contents(name: str, data: Path | None) -> str:
    """Which data files an experiment reads: other contents, other results."""
    read = hashlib.sha256()
    for file in module(name).FILES:
        if data is not None and (data / file).is_file():
            read.update((data / file).read_bytes())
    return read.hexdigest()[:16]


def missing(name: str, data: Path | None) -> str:
    """Why an experiment cannot run here; empty if it can."""
    absent = [file for file in module(name).FILES if data is None or not (data / file).is_file()]
    where = "no data folder was given" if data is None else "they are not in the data folder"
    return f"it needs {' and '.join(absent)}, and {where} (--data DIR)" if absent else ""


def carry_out(
    names: Sequence[str],
    scale: Scale,
    folder: Path,
    data: Path | None = None,
    modes: Sequence[str] = MODES,
    workers: int = 2,
    watch: Watch | None = None,
) -> dict[str, Rows]:
    """Run what is not there yet, and return the rows of each experiment."""
    mark = fingerprint()
    tasks = {
        name: [
            _task(folder, name, cell, mark + contents(name, data))
            for cell in module(name).cells(scale)
            if cell["mode"] in modes
        ]
        for name in names
    }
    whole = {task.place: task for some in tasks.values() for task in some}
    found = {place: _kept(place) for place in whole}
    todo = [task for place, task in whole.items() if found[place] is None]
    done = len(whole) - len(todo)
    if watch:
        watch(done, len(whole), "")
    # What is timed runs alone; the rest shares the cores.
    for alone in (True, False):
        some = [task for task in todo if getattr(module(task.by), "ALONE", False) is alone]
        for task, rows in _completed(some, 1 if alone else workers, data):
            _keep(task, mark, rows)
            found[task.place], done = rows, done + 1
            if watch:
                watch(done, len(whole), task.by)
    return {
        name: Rows({**row, "part": task.by} for task in some for row in found[task.place] or [])
        for name, some in tasks.items()
    }


@dataclass(frozen=True)
class Task:
    """A cell, the experiment whose code runs it, and where its rows are kept."""

    by: str
    cell: dict[str, Any]
    place: Path


def run_cell(task: Task, data: Path | None) -> list[Row]:
    """One cell, in a process of its own."""
    rows: list[Row] = module(task.by).run(task.cell, data)
    return rows


def _completed(tasks: list[Task], workers: int, data: Path | None) -> Iterator[tuple[Task, list[Row]]]:
    if not tasks:
        return
    with (
        _one_thread_each(),
        ProcessPoolExecutor(workers, _processes(), _leave_interrupts) as pool,
    ):
        waiting: dict[Future[list[Row]], Task] = {pool.submit(run_cell, task, data): task for task in tasks}
        try:
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if waiting:  # stopped in the middle: nobody wants the cells that are under way
                for child in multiprocessing.active_children():
                    child.terminate()


def _processes() -> Any:
    """Forks of one process that has imported all of this and drawn nothing, so that each starts at once."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.{name}" for name in NAMES])
    return context


def _leave_interrupts() -> None:
    """An interrupt is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Two processes with two threads each would stand in each other's way."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _task(folder: Path, name: str, cell: dict[str, Any], mark: str) -> Task:
    """A cell may ask for another experiment's code under "part", and then shares its result."""
    by = cell.get("part", name)
    settings = {key: value for key, value in cell.items() if key != "part"}
    text = json.dumps([settings, mark], sort_keys=True)
    return Task(by, settings, folder / "cells" / by / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.json")


def _kept(place: Path) -> list[Row] | None:
    """Rows of an earlier run; a file that cannot be read counts as absent."""
    try:
        rows: list[Row] = json.loads(place.read_text(encoding="utf-8"))["rows"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None


def _keep(task: Task, mark: str, rows: list[Row]) -> None:
    content = {"experiment": task.by, "cell": task.cell, "code": mark, "rows": rows}
    write(task.place, json.dumps(content, indent=1) + "\n")


def read_table(place: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """A data file, if it has these columns and a row."""
    try:
        with place.open(encoding="utf-8", newline="") as lines:
            table = list(csv.DictReader(lines))
    except (ValueError, csv.Error):
        raise dp.errors.FileError(f"{place.name} should be a CSV file in UTF-8. Fetch it again.") from None
    absent = [column for column in columns if not table or column not in table[0]]
    if absent:
        raise dp.errors.FileError(f"{place.name} should be a CSV file with rows and the column {absent[0]!r}.")
    return table


def write(place: Path, text: str) -> None:
    """All of it or nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(place.suffix + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(place)


def moments(values: Iterable[float]) -> tuple[float, float]:
    """Mean and standard error."""
    found = list(values)
    mean = sum(found) / len(found)
    variance = sum((x - mean) ** 2 for x in found) / max(1, len(found) - 1)
    return mean, (variance / len(found)) ** 0.5
