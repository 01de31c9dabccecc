"""`dpfda covariance`: the covariance surface of a file of curves, and its principal components."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dpfda.api import curves as api
from dpfda.cli import options as opt
from dpfda.cli import sources as src
from dpfda.cli.console import guarded, out, progress_bar
from dpfda.cli.releasing import check_options, shown, shown_release, split
from dpfda.core.errors import FileError
from dpfda.ledger import Ledger
from dpfda.plans import CovariancePlan

#: What a plan file settles, by the names of the options.
SETTLED = (*(name for name in opt.PLAN_OPTIONS if name != "norm"), "raw")
SHOWN = 3


@guarded
def covariance_command(
    context: typer.Context,
    curves: src.Files,
    epsilon: opt.Epsilon = None,
    radius: opt.Radius = None,
    center: opt.Center = None,
    grid: opt.GridText = None,
    axis: opt.Axis = "t",
    kernel: opt.KernelText = None,
    method: opt.MethodText = None,
    neighbors: opt.Neighbors = "replace",
    invalid: opt.Invalid = "raise",
    standardize: opt.Standardize = False,
    fill: opt.Fill = None,
    raw: Annotated[bool, typer.Option("--raw", help="No shrinkage and no projection onto covariances.")] = False,
    unit: src.UnitName = None,
    most: src.Most = None,
    order: src.OrderName = None,
    align: src.AlignText = None,
    by: src.By = None,
    groups: src.Groups = None,
    n: opt.N = None,
    plan: opt.PlanFile = None,
    columns: opt.ValueColumns = None,
    header: opt.Header = None,
    layout: src.Layout = None,
    engine: src.Engine = None,
    scheduler: src.Scheduler = None,
    ledger: opt.Book = None,
    study: opt.Study = None,
    output: opt.Out = None,
    csv: opt.Csv = None,
    plot: opt.Picture = None,
    surface: Annotated[Path | None, typer.Option(help="Write the surface in space (PNG).")] = None,
    components: Annotated[
        Path | None, typer.Option(help="Write a picture of the three leading principal components (PNG).")
    ] = None,
    statement: opt.StatementFile = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Release the covariance surface of a file of curves, and with it private principal components.

    Example: dpfda covariance curves.csv --epsilon 1 --radius 5 --out covariance.json --plot covariance.png
    """
    outputs = opt.Outputs(output, csv, plot, statement, surface, components)
    check_options(context, SETTLED, plan, ledger, study)
    if not outputs.paths and not as_json:
        raise FileError(
            "A release needs a place to go. Pass --out, --csv, --plot, --components, --statement or --json."
        )
    if by is not None and (surface or components):
        raise FileError("--surface and --components show one covariance. Use --plot, or drop --by.")
    book = Ledger(ledger, study) if ledger else None
    data, lies = src.data_of(curves), src.parse_layout(layout)
    with (
        outputs.reserved(*src.local(curves), ledger, plan) as write,
        src.cluster(engine, scheduler),
        progress_bar(quiet or as_json) as progress,
    ):
        reading: dict[str, Any] = {"columns": split(columns), "header": header, "layout": lies, "engine": engine}
        reading["progress"] = progress
        release: Any
        if plan is not None:
            release = opt.released(plan, CovariancePlan, data, book, by, reading)
        else:
            options = opt.plan_options(
                epsilon, radius, "l2", center, grid, axis, kernel, method,
                neighbors=neighbors, invalid=invalid, standardize=standardize, fill=fill, postprocess=not raw,
                **src.rules(unit, most, order, align),
            )  # fmt: skip
            release = api.covariance(data, n=n, ledger=book, by=by, groups=src.groups_of(groups), **reading, **options)
        written = write(release)
    if as_json and by is not None:
        out.print_json(data={**shown(release), "written": written})
    elif as_json:
        count = min(SHOWN, release.rank)
        explained = release.explained_variance(count).tolist() if count else []
        shares = release.explained_variance_ratio(count).tolist() if count else []
        figures = {"explained_variance": explained, "explained_variance_ratio": shares}
        out.print_json(data={**shown_release(release), **figures, "written": written})
    elif not quiet:
        out.print(repr(release.plan))
        out.print(f"Written: {', '.join(written)}")
