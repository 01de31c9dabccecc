"""`dpfda summarize` and `dpfda release`: read parts of the data anywhere, on any day; release them together once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from dpfda.cli import options as opt
from dpfda.cli import sources as src
from dpfda.cli.console import err, guarded, out, progress_bar
from dpfda.cli.parsing import parse_between
from dpfda.cli.releasing import check_options, say, split
from dpfda.core import files
from dpfda.core.errors import FileError, ParameterError, PlanMismatch
from dpfda.engines import checkpoints
from dpfda.ledger import Ledger
from dpfda.plans import GroupPlan


@guarded
def summarize_command(
    records: src.Files,
    output: Annotated[Path, typer.Option("--out", "-o", help="The summary: confidential, as the data itself.")],
    plan: Annotated[Path, typer.Option(help="The plan that all parts share.")] = Path("plan.json"),
    columns: opt.ValueColumns = None,
    header: opt.Header = None,
    layout: src.Layout = None,
    by: src.By = None,
    site: Annotated[
        str, typer.Option(help="Name of a site whose units are nobody's elsewhere; units are looked for within it.")
    ] = "",
    between: Annotated[
        str | None, typer.Option(help="Declared stretch of unit labels, first:last; no unit outside it is used.")
    ] = None,
    engine: src.Engine = None,
    scheduler: src.Scheduler = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Add up some files for a plan: exact, confidential, resumable. No charge, no noise, no release yet.

    Every file that is done is saved at once; files that the summary has already are not read again.

    Example: dpfda summarize part*.parquet --plan plan.json -o part.summary
    """
    planned = opt.read_any_plan(plan)
    planned.check_passes("a summary")
    if isinstance(planned, GroupPlan) != (by is not None):
        raise ParameterError("a plan of groups goes with --by, any other without", "otherwise", "Check the plan.")
    if os.path.exists(output):
        checkpoints.load(output)  # whatever else is there stays
    files.check_apart([output], [*src.local(records), plan])
    reading: dict[str, Any] = {"columns": split(columns), "header": header, "layout": src.parse_layout(layout)}
    with src.cluster(engine, scheduler), progress_bar(quiet or as_json) as progress:
        reading |= {"engine": engine, "progress": progress, "checkpoint": output, "site": site}
        reading["between"] = parse_between(between)
        data = src.data_of(records)
        planned.summarize(data, by, **reading) if by is not None else planned.summarize(data, **reading)
    saved = checkpoints.load(output)
    if as_json:
        names = [part.name for part in saved.parts]
        out.print_json(data={"plan": planned.digest, "files": names, "confidential": True})
    elif not quiet:
        err.print(f"{checkpoints.NOTICE}")
        out.print(f"Written: {output} ({len(saved.parts)} files)")


@guarded
def release_command(
    context: typer.Context,
    plan: Annotated[Path, typer.Argument(help="The plan, as JSON.")],
    summaries: Annotated[list[Path], typer.Argument(help="Summaries of all parts, each once.")],
    ledger: opt.Book = None,
    study: opt.Study = None,
    output: opt.Out = None,
    csv: opt.Csv = None,
    plot: opt.Picture = None,
    statement: opt.StatementFile = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Release what `dpfda summarize` added up: merge, check, charge once, draw.

    Example: dpfda release plan.json *.summary --ledger study.ledger --out mean.json --plot mean.png
    """
    outputs = opt.Outputs(output, csv, plot, statement)
    check_options(context, (), None, ledger, study)
    if not outputs.paths and not as_json:
        raise FileError("A release needs a place to go. Pass --out, --csv, --plot, --statement or --json.")
    planned = opt.read_any_plan(plan)
    book = Ledger(ledger, study) if ledger else None
    with outputs.reserved(*summaries, ledger, plan) as write:
        saved = checkpoints.merged(checkpoints.load(path) for path in summaries)
        if saved.plan != planned.family:
            raise PlanMismatch("These summaries were made with another plan. Release them with their own.")
        found: Any = dict(saved.summaries) if isinstance(planned, GroupPlan) else saved.summary
        release: Any = planned.release(found, book)
        written = write(release)
    say(release, written, as_json, quiet)
