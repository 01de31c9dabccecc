"""From names to pages: run what is asked for, judge it, write it down."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dpfda as dp

from . import NAMES, pages, study
from .pages import Claim, Table
from .study import MODES, Scale, Watch


@dataclass(frozen=True)
class Outcome:
    """How it was run, what was written, what was skipped and why, and the verdicts of each experiment."""

    how: str
    written: tuple[Path, ...]
    skipped: dict[str, str]
    claims: dict[str, list[Claim]]
    tables: dict[str, Sequence[Table]]


def reproduce(
    names: Sequence[str],
    scale: Scale,
    folder: Path,
    data: Path | None = None,
    modes: Sequence[str] = MODES,
    workers: int = 2,
    watch: Watch | None = None,
) -> Outcome:
    """Run experiments and write a picture, a table and a page for each; for all of them also one page together."""
    began, how = time.monotonic(), _how(scale, modes, workers)
    skipped = {name: why for name in names if (why := study.missing(name, data))}
    ready = [name for name in names if name not in skipped]
    found = study.carry_out(ready, scale, folder, data, modes, workers, watch)
    parts, written = [], []
    for name, rows in found.items():
        module = study.module(name)
        report = module.report(rows, data)
        pages.save(name, module.TITLE, module.SOURCE, how, report, rows, folder)
        parts.append((name, module.TITLE, module.SOURCE, report))
        written += [folder / f"{name}.{kind}" for kind in ("md", "csv", "png")]
    titles = {study.module(name).TITLE: why for name, why in skipped.items()}
    for name, why in skipped.items():
        pages.save_skipped(name, study.module(name).TITLE, why, folder)
    if set(names) == set(NAMES):
        took = f" The last run took {time.monotonic() - began:.0f} seconds, without the cells that were there already."
        written += pages.assemble(parts, titles, how + took, folder)
    return Outcome(
        how,
        tuple(written),
        skipped,
        {name: list(report.claims) for name, _, _, report in parts},
        {name: report.tables for name, _, _, report in parts},
    )


def _how(scale: Scale, modes: Sequence[str], workers: int) -> str:
    sizes = ", ".join(f"{n:,}" for n in scale.sizes)
    return (
        f"Run: {scale.name}; modes {' and '.join(modes)}; n of {sizes}; {scale.data_sets} data sets per cell with "
        f"{scale.draws:,} simulated releases each, cross-validation on {scale.validated} of them; our default is "
        f"released for real, {scale.releases} times per data set and {scale.real:,} times on real curves. Data sets "
        "and simulated noise come from the seeds in the tables; real releases take their randomness from the operating "
        f"system and have none. dpfda {dp.__version__}, code {study.fingerprint()}, Python "
        f"{platform.python_version()}, {workers} processes on {os.cpu_count()} cores."
    )
