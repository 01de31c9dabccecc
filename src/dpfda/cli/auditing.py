"""`dpfda audit`: try to show that a plan breaks its promise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from dpfda import audits
from dpfda.cli import outputs, planfiles
from dpfda.cli.commands import command
from dpfda.cli.console import FOUND, err, out
from dpfda.core import files
from dpfda.core.errors import FileError

#: What --quick tries.
QUICK = {"draws": 40_000, "releases": 200, "effort": 800}


@command()
def audit_command(
    plan: Annotated[Path, typer.Argument(help="A plan, or a release of any kind, whose plan it is.")],
    *,
    draws: Annotated[int, typer.Option(help="How often the noise step is drawn, for each pass.")] = 400_000,
    releases: Annotated[int, typer.Option(help="How many whole releases run through the exit.")] = 1000,
    effort: Annotated[int, typer.Option(help="How many pairs of neighbours are tried, for each pass.")] = 3000,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the draws, a fifth of the rest.")] = False,
    seed: Annotated[int, typer.Option(help="Where the search begins; noise has no seed.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--out", help="Write the report (.md, .html, .json or .txt, by its ending).")
    ] = None,
    display: outputs.Display,
) -> None:
    """Try to show that a plan breaks its promise: search the worst neighbours, test real noise and releases.

    Of a release its own plan is audited, and the report says so. No data is read.

    Exit code 4 if anything speaks against the plan.

    Example: dpfda audit plan.json --quick --out audit.html
    """
    wanted = QUICK if quick else {"draws": draws, "releases": releases, "effort": effort}
    subject = planfiles.read_subject(plan)
    if output is not None and output.suffix.lower() not in audits.Audit.endings:
        raise FileError(f"A report ends in {', '.join(audits.Audit.endings)}, not in {output.suffix or 'nothing'!r}.")
    with files.reserved([output] if output else [], (plan,)) as places:
        with _progress(display.silent) as progress:
            found = audits.audit(subject, seed=seed, progress=progress, **wanted)
        if output is not None:
            places[output].write(found.text(output.suffix))
    if display.as_json:
        out.print_json(data=found.body())
    elif not display.quiet:
        out.print(str(found))
    if not found.passed:
        raise typer.Exit(FOUND)


@contextmanager
def _progress(silent: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """How far the audit has come, on standard error, when a person is watching."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=err, transient=True
    ) as bar:
        task = bar.add_task("", total=None)
        last = ""

        def tell(what: str, done: int, total: int) -> None:
            nonlocal last
            if what != last:
                bar.reset(task, description=what, total=total)
                last = what
            bar.update(task, completed=done)

        yield tell
