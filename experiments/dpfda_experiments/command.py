"""`python -m dpfda_experiments`: the paper's experiments, run again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import dpfda as dp

from . import NAMES, study
from .reproduce import Outcome, reproduce

out, err = (Console(stderr=errors, highlight=False, soft_wrap=True, markup=False) for errors in (False, True))
CHOICES = {"both": study.MODES, **{mode: (mode,) for mode in study.MODES}}


app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def main(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments; none lists them.", metavar="NAME")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them, and one page of everything.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder with the real data sets, if you have them.")] = None,
    full: Annotated[bool, typer.Option("--full/--quick", help="The paper's replication counts, or minutes.")] = False,
    folder: Annotated[Path, typer.Option("--out", help="Folder for pages, pictures, tables.")] = Path("reproduction"),
    mode: Annotated[
        str, typer.Option(help="paper (its mechanisms, valid noise), dpfda (our defaults) or both.")
    ] = "both",
    workers: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Run the experiments of the paper again: which of its claims hold, with valid noise, and how we do.

    A run that was interrupted goes on where it stopped. Most data are simulated; curves and mortality need real
    data sets, which are not shipped (docs/evidence/reproduction.md says which).

    Example: python -m dpfda_experiments timing --quick --out reproduction
    """
    try:
        _run(names or [], everything, data, study.FULL if full else study.QUICK, folder, mode, workers, as_json)
    except dp.DpfdaError as error:
        err.print(f"Error: {error}", style="bold red")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        err.print("Interrupted. What is finished is kept: run the same command to go on.", style="bold red")
        raise typer.Exit(130) from None


def _run(
    names: list[str], everything: bool, data: Path | None, scale: study.Scale, folder: Path, mode: str, workers: int,
    as_json: bool,
) -> None:  # fmt: skip
    wanted = list(NAMES) if everything else list(dict.fromkeys(names))
    _check(wanted, everything and bool(names), data, mode)
    if not wanted:
        _list(as_json)
        return
    if not everything:
        _check_data(wanted, data)
    _check_folder(folder)
    with _watching(as_json) as watch:
        outcome = reproduce(wanted, scale, folder, data, CHOICES[mode], workers, watch)
    _tell(outcome, as_json)


def _check(wanted: list[str], twice: bool, data: Path | None, mode: str) -> None:
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        raise dp.errors.ParameterError(
            f"experiments are {', '.join(NAMES)}", repr(unknown[0]), "Write python -m dpfda_experiments timing, say."
        )
    if twice:
        raise dp.errors.ParameterError("experiments are named, or --all", "both", "Drop one of them.")
    if mode not in CHOICES:
        raise dp.errors.ParameterError(f"mode is one of {', '.join(CHOICES)}", repr(mode), "Write --mode both.")
    if data is not None and not data.is_dir():
        raise dp.errors.FileError(f"The data folder {data.name!r} is not there.")


def _check_data(wanted: list[str], data: Path | None) -> None:
    """What was named must run; --all skips what cannot."""
    for name in wanted:
        if why := study.missing(name, data):
            raise dp.errors.FileError(f"The experiment {name!r} cannot run: {why}.")


def _check_folder(folder: Path) -> None:
    """Hours later would be too late."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        study.write(folder / "report.md.part", "")
        (folder / "report.md.part").unlink()
    except OSError as error:
        raise dp.errors.FileError(f"The folder {folder.name!r} cannot be written to: {error.strerror}.") from None


def _list(as_json: bool) -> None:
    found = [(name, study.module(name).TITLE, study.module(name).FILES) for name in NAMES]
    if as_json:
        out.print(json.dumps([{"name": n, "title": t, "files": list(f)} for n, t, f in found], indent=1))
        return
    table = Table("name", "what it reproduces", "data files it needs")
    for name, title, files in found:
        table.add_row(name, title, ", ".join(files) or "none")
    out.print(table)
    out.print("python -m dpfda_experiments NAME... runs some of them, python -m dpfda_experiments --all everything.")


@contextmanager
def _watching(silent: bool) -> Iterator[study.Watch | None]:
    """A bar of cells on standard error for a person; a line for each tenth in a log."""
    if silent:
        yield None
    elif sys.stderr.isatty():
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TimeRemainingColumn(), console=err, transient=True,
        ) as bar:  # fmt: skip
            task = bar.add_task("starting", total=None)
            yield lambda done, total, name: bar.update(
                task, completed=done, total=total, description=name or "starting"
            )
    else:
        said = [-1]

        def say(done: int, total: int, name: str) -> None:
            tenth = 10 * done // total
            if tenth > said[-1]:
                said.append(tenth)
                err.print(f"{done} of {total} cells are done{f' (last: {name})' if name else ''}")

        yield say


def _tell(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        claims = [{"experiment": name, **asdict(claim)} for name, some in outcome.claims.items() for claim in some]
        written = [str(path) for path in outcome.written]
        tables = {name: [asdict(table) for table in some] for name, some in outcome.tables.items()}
        told = {"how": outcome.how, "claims": claims, "tables": tables, "skipped": outcome.skipped, "written": written}
        out.print(json.dumps(told, indent=1))
        return
    table = Table("experiment", "claim", "verdict", "the number that shows it", show_lines=True)
    for name, some in outcome.claims.items():
        for claim in some:
            table.add_row(name, f"(ours) {claim.text}" if claim.ours else claim.text, claim.verdict, claim.number)
    out.print(table)
    for name, why in outcome.skipped.items():
        out.print(f"{name} was skipped: {why}.")
    for path in outcome.written:
        out.print(f"wrote {path}")
