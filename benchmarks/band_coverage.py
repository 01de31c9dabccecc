"""Do the error bars of means hold? Coverage and width of bands, forecasts, and tests of differences.

    python benchmarks/band_coverage.py                         # all cells: about half an hour on two cores
    python benchmarks/band_coverage.py --only glucose --runs 50 --name coverage_try
    python benchmarks/band_coverage.py --only judge:           # populations that nothing was tuned on
    python benchmarks/band_coverage.py --report                # tables of what is saved, without a run

Every figure goes through the default plan of somebody who sets nothing. `band` is held against the mean of the records,
`confidence_band` against the mean of their population, `noise_band` (the only band of earlier versions) against that
of the records. A band holds a curve if the whole of it lies inside; over 200 runs the share of those has a standard
error of .015. Widths stand beside those of an oracle that knows the law of the error of the published curve.
Populations, their bounds and which of them are for judging only are in `populations.py`. Finished cells are kept, and
used again as long as neither the package nor the populations have changed; else a file is begun anew (pass --name to
keep the old one).
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import common
import coverage_cells
import coverage_groups
import coverage_tables
from coverage_cells import quiet
from populations import cells, populations

Cell = dict[str, Any]
#: What the figures follow from, beside the package.
SETTING = ("populations.py", "classes.py", "coverage_cells.py", "coverage_groups.py")


def setting() -> str:
    """SHA-256 of populations and measures."""
    folder = Path(__file__).parent
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in SETTING)).hexdigest()


def keys(folder: Path) -> dict[str, tuple[Any, ...]]:
    """All cells by what they are called, and where to find them."""
    found = populations(folder)
    single = {
        f"{'judge: ' * (one.kind == 'judge')}{one.name} | n {n} | eps {eps:g}": ("cell", one.name, n, eps)
        for one, n, eps in cells(found)
    }
    pairs = {
        f"difference: {key} | eps {eps:g}": ("difference", key, eps)
        for key, one in coverage_groups.comparisons(found).items()
        for eps in one.epsilons
    }
    return single | pairs


def work(folder: Path, where: tuple[Any, ...], runs: int) -> Cell:
    """One cell, in a process of its own."""
    found = populations(folder)
    if where[0] == "cell":
        return quiet(coverage_cells.measure, found[where[1]], *where[2:], runs)
    return quiet(coverage_groups.measure, coverage_groups.comparisons(found)[where[1]], where[2], runs)


def finished(todo: dict[str, tuple[Any, ...]], folder: Path, runs: int, jobs: int) -> Iterator[tuple[str, Cell]]:
    """Cells as they get ready."""
    if jobs == 1:
        yield from ((key, work(folder, where, runs)) for key, where in todo.items())
        return
    workers = ProcessPoolExecutor(jobs)
    try:
        waiting = {workers.submit(work, folder, where, runs): key for key, where in todo.items()}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    finally:
        workers.shutdown(cancel_futures=True)  # whoever stops a run waits for no more than what has begun


def saved(name: str) -> dict[str, Any]:
    path = common.RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def wanted(key: str, patterns: list[str]) -> bool:
    return not patterns or any(pattern in key or fnmatch(key, pattern) for pattern in patterns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="cells with this in their name, or of this pattern")
    parser.add_argument("--runs", type=int, default=200, help="releases per cell")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--fresh", action="store_true", help="use no saved cell")
    parser.add_argument("--report", action="store_true", help="show what is saved, and run nothing")
    parser.add_argument("--name", default="coverage", help="the file under benchmarks/results")
    parser.add_argument("--data", type=Path, default=common.DATA, help="folder with the real data sets")
    options = parser.parse_args()
    facts, before = {"code": common.digest(), "setting": setting()}, saved(options.name)
    if options.report:
        coverage_tables.summary(before.get("cells", {}))
        return
    if not (options.data / "real").exists():
        print("Real sets: left out, there is no folder 'real' in the data folder (pass --data DIR).")
    same = not options.fresh and all(before.get(name) == value for name, value in facts.items())
    known = before.get("cells", {}) if same else {}
    order = keys(options.data)
    todo = {key: where for key, where in order.items() if wanted(key, options.only)}
    todo = {key: where for key, where in todo.items() if known.get(key, {"runs": 0})["runs"] < options.runs}
    print(f"{len(todo)} cells to run, {len(known)} of {len(order)} are saved")
    for count, (key, cell) in enumerate(finished(todo, options.data, options.runs, options.jobs), 1):
        known[key] = cell
        print(f"  {count}/{len(todo)} {key}: {cell['seconds']:.0f} s", flush=True)
        common.save(options.name, {**facts, "cells": known}, say=False)
    known = {key: known[key] for key in order if key in known}
    common.save(options.name, {**facts, "summary": coverage_tables.summary(known), "cells": known})


if __name__ == "__main__":
    main()
