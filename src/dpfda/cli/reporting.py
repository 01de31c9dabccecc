"""`dpfda report`: a release or a plan as one page for people who decide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpfda.cli import outputs, showing
from dpfda.cli.commands import command
from dpfda.cli.console import FOUND, out
from dpfda.core import files
from dpfda.plans.base import Plan
from dpfda.plans.joint import JointPlan
from dpfda.reports.budget import opened, told_of_file
from dpfda.reports.saved import read_subject
from dpfda.reports.writing import page_of


@command()
def report_command(
    file: Annotated[Path, typer.Argument(help="A release of any kind, or a plan.")],
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="The ledger that was charged: the report shows the budget.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write it. Default: FILE with the ending .report.html.")
    ] = None,
    as_json: outputs.AsJson = False,
) -> None:
    """Write the report of a release or a plan: one page in plain words, for whoever has to decide.

    One HTML file with its pictures in it: no script, nothing to load. Every number is that of the release, the plan or
    the ledger. A ledger that does not hold the charge of the release is refused; a file other than the one that the
    ledger noted for that charge is a finding, which the page shows first (exit code 4).

    Example: dpfda report mean.json --ledger study.ledger -o report.html
    """
    thing = read_subject(file)
    digest, book = files.digest_of(file), opened(ledger)
    finding = "" if isinstance(thing, Plan | JointPlan) else told_of_file(thing, book, digest)
    place = file.with_name(f"{file.stem}.report.html") if output is None else output
    with files.reserved([place], [file, ledger]) as places:
        page = page_of(thing, book, file.name, digest)
        written = str(places[place].write(page))
    if as_json:
        of = outputs.figures(thing) if isinstance(thing, Plan | JointPlan) else showing.figures(thing)
        told = {"finding": finding} if finding else {}
        out.print_json(data={"file": "report", **of, "bytes": len(page.encode()), "written": [written], **told})
    else:
        out.print(f"Written: {written}")
        if finding:
            out.print(f"Finding: {finding}")
    if finding:
        raise typer.Exit(FOUND)
