"""`dpfda summarize` and `dpfda release`: read parts of the data anywhere, on any day; release them together once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dpfda.cli import options, outputs, planfiles, sources
from dpfda.cli.commands import command
from dpfda.cli.console import err, out
from dpfda.cli.parsing import parse_between
from dpfda.core import files
from dpfda.core.errors import ParameterError, PlanMismatch
from dpfda.engines import checkpoints
from dpfda.plans import ClassPlan, GroupPlan
from dpfda.release.run import check_passes


@command(first="plan output columns by")
def summarize_command(
    records: sources.Files,
    output: Annotated[Path, typer.Option("--out", "-o", help="The summary: confidential, as the data itself.")],
    *,
    plan: Annotated[Path, typer.Option(help="The plan that all parts share.")] = Path("plan.json"),
    by: sources.By = None,
    site: Annotated[
        str, typer.Option(help="Name of a site whose units are nobody's elsewhere; units are looked for within it.")
    ] = "",
    between: Annotated[
        str | None, typer.Option(help="Declared stretch of unit labels, first:last; no unit outside it is used.")
    ] = None,
    reading: sources.Reading,
    display: outputs.Display,
) -> None:
    """Add up some files for a plan: exact, confidential, resumable. No charge, no noise, no release yet.

    Every file that is done is saved at once; files that the summary has already are not read again.

    Example: dpfda summarize part*.parquet --plan plan.json -o part.summary
    """
    planned = planfiles.read_any_plan(plan)
    if isinstance(planned, ClassPlan):
        raise ParameterError(
            "a summary in a file is of one release, or of groups", "a plan of classes", "Use dpfda fit."
        )
    check_passes(planned, "a summary")
    if isinstance(planned, GroupPlan) != (by is not None):
        grouped = by is None
        raise ParameterError(
            "a plan of groups goes with --by, any other without",
            f"a plan {'of' if grouped else 'without'} groups and {'no ' if grouped else ''}--by",
            "Pass --by COLUMN." if grouped else "Drop --by, or plan with --groups.",
        )
    if os.path.exists(output):
        checkpoints.load(output)  # whatever else is there stays
    files.check_apart([output], [*sources.local(records), plan])
    with reading.opened(records, display.silent) as data:
        stretch = parse_between(between)
        if isinstance(planned, GroupPlan):
            planned.summarize(data, by, between=stretch, site=site, checkpoint=output)
        else:
            planned.summarize(data, between=stretch, site=site, checkpoint=output)
    saved = checkpoints.load(output)
    if display.as_json:
        names = [part.name for part in saved.parts]
        out.print_json(data={"plan": planned.digest, "files": names, "confidential": True})
    elif not display.quiet:
        err.print(f"{checkpoints.NOTICE}")
        out.print(f"Written: {output} ({len(saved.parts)} files)")


@command(first="ledger out plot")
def release_command(
    plan: Annotated[Path, typer.Argument(help="The plan, as JSON.")],
    summaries: Annotated[list[Path], typer.Argument(help="Summaries of all parts, each once.")],
    charge: options.Charge,
    output: outputs.Outputs,
    display: outputs.Display,
) -> None:
    """Release what `dpfda summarize` added up: merge, check, charge once, draw.

    Example: dpfda release plan.json *.summary --ledger study.ledger --out mean.json --plot mean.png
    """
    output.check_given(display)
    planned = planfiles.read_any_plan(plan)
    ledger = charge.opened()
    with output.reserved(*summaries, charge.ledger, plan) as write:
        saved = checkpoints.merged(checkpoints.load(path) for path in summaries)
        if saved.plan != planned.family:
            raise PlanMismatch("These summaries were made with another plan. Release them with their own.")
        release = planned.release(dict(saved.summaries) if isinstance(planned, GroupPlan) else saved.summary, ledger)
        written = write(release, ledger)
    display.say(release, written)
