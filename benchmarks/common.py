"""What the benchmarks share: a clock, a table on the screen, and the same figures as JSON."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import digests
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
#: Real data for experiments; absent on most machines, and nothing in the package depends on it.
DATA = ROOT.parent / "shared" / "data"
PACKAGES = ("numpy", "scipy", "opendp", "python-flint", "numba", "scikit-learn", "scikit-fda")


def best_time(run: Callable[[], Any], seconds: float = 1.0, most: int = 4000, least: int = 2) -> float:
    """Shortest of several runs: what the machine can do when nothing disturbs it."""
    best, spent, count = float("inf"), 0.0, 0
    while count < least or (spent < seconds and count < most):
        start = time.perf_counter()
        run()
        took = time.perf_counter() - start
        best, spent, count = min(best, took), spent + took, count + 1
    return best


def show(title: str, head: list[str], rows: list[list[Any]]) -> None:
    table = Table(title=title, title_justify="left")
    for i, name in enumerate(head):
        table.add_column(name, justify="right" if i else "left")
    for row in rows:
        table.add_row(*(f"{x:.4g}" if isinstance(x, float) else str(x) for x in row))
    Console(width=150).print(table)


def digest() -> str:
    """Which package the figures are of."""
    return digests.of_package()


def save(name: str, figures: dict[str, Any], say: bool = True) -> None:
    RESULTS.mkdir(exist_ok=True)
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    content = {"python": platform.python_version(), "packages": found, "code": digest(), **figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if say:
        Console().print(f"saved {(RESULTS / name).relative_to(ROOT)}.json", markup=False)
