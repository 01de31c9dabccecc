"""`dpfda density`: a density from points or counts, one for all or one per group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpfda.api.densities import density
from dpfda.cli import options as opt
from dpfda.cli import sources as src
from dpfda.cli.console import guarded, progress_bar
from dpfda.cli.releasing import check_options, say, split
from dpfda.core.errors import FileError, ParameterError, RecordError
from dpfda.core.labels import Coder, as_groups, warn_of_reading
from dpfda.ledger import Ledger
from dpfda.plans import DensityPlan
from dpfda.reading import source as readers

#: What a plan file settles, by the names of the options.
SETTLED = (
    "epsilon", "domain", "cells", "edges", "axis", "kernel", "bandwidth", "eta", "method", "neighbors", "invalid",
    "outside", "raw", "n", "by", "groups",
)  # fmt: skip


@guarded
def density_command(
    context: typer.Context,
    points: Annotated[
        list[str],
        typer.Argument(help="CSV or Parquet files, one row a point (or one file, a row a bin, with --counts)."),
    ],
    epsilon: opt.Epsilon = None,
    domain: opt.Domain = None,
    cells: opt.Cells = None,
    counts: Annotated[str | None, typer.Option(help="Column of counts: the file is a table, one row a bin.")] = None,
    edges: opt.Edges = None,
    axis: opt.Names = None,
    kernel: Annotated[str | None, typer.Option(help="gaussian, exponential or matern:nu; :length for a scale.")] = None,
    bandwidth: opt.Bandwidth = None,
    eta: opt.Eta = None,
    method: opt.MethodText = None,
    neighbors: opt.Neighbors = "replace",
    invalid: Annotated[
        str, typer.Option(help="raise: stop at an unusable point; center: count it as spread evenly.")
    ] = "raise",
    outside: opt.Outside = "raise",
    raw: opt.Raw = False,
    by: Annotated[str | None, typer.Option(help="Column of public labels: one density per group.")] = None,
    groups: Annotated[str | None, typer.Option(help="The groups, separated by commas (needed for add-remove).")] = None,
    n: opt.N = None,
    plan: opt.PlanFile = None,
    columns: opt.ValueColumns = None,
    header: opt.Header = None,
    ledger: opt.Book = None,
    study: opt.Study = None,
    output: opt.Out = None,
    csv: opt.Csv = None,
    plot: opt.Picture = None,
    surface: Annotated[Path | None, typer.Option(help="Write a surface in space (PNG); two dimensions.")] = None,
    statement: opt.StatementFile = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Release a density of points, or of a table of counts.

    Example: dpfda density ages.csv --epsilon 1 --domain 0:110 --out density.json --plot density.png
    """
    outputs = opt.Outputs(output, csv, plot, statement, surface)
    check_options(context, SETTLED, plan, ledger, study)
    if not outputs.paths and not as_json:
        raise FileError("A release needs a place to go. Pass --out, --csv, --plot, --surface, --statement or --json.")
    book = Ledger(ledger, study) if ledger else None
    saved = None if plan is None else opt.read_plan(plan, DensityPlan)
    if surface is not None and len(domain or ()) != 2 and (saved is None or saved.dimension != 2):
        raise ParameterError("--surface is for two dimensions", "another number", "Use --plot.")
    if surface is not None and by is not None:
        raise ParameterError("--surface shows one density", "--by", "Use --plot.")
    with outputs.reserved(*src.local(points), ledger, plan) as write, progress_bar(quiet or as_json) as progress:
        if saved is not None:
            table = None if counts is None else _table(points, counts, None, None, header)
            summary = src.data_of(points) if table is None else saved.summarize_counts(table)
            reading: dict[str, Any] = {} if table is not None else {"columns": split(columns), "header": header}
            release: Any = saved.release(summary, book, progress=progress, **reading)
        else:
            facts = opt.density_options(
                epsilon, domain, cells, edges, axis, kernel, bandwidth, eta, method,
                neighbors=neighbors, invalid=invalid, outside=outside, postprocess=not raw,
            )  # fmt: skip
            named = None if groups is None else groups.split(",")
            if counts is not None:
                table = _table(points, counts, by, named, header)
                data: dict[str, Any] = {"counts": table, "groups": named}
            else:
                data = {
                    "points": src.data_of(points),
                    "by": by,
                    "groups": named,
                    "columns": split(columns),
                    "header": header,
                }
            release = density(**data, n=n, ledger=book, progress=progress, **facts)
        written = write(release)
    say(release, written, as_json, quiet)


def _table(paths: list[str], counts: str, by: str | None, groups: list[str] | None, header: bool | None) -> Any:
    """The column of counts, one row a bin; with labels, one such column per group."""
    if len(paths) > 1:
        raise ParameterError("a table of counts is one file", f"{len(paths)} files", "Join them.")
    path = paths[0]
    if by is None:
        source = readers.Source(path, [counts], header)
        rows = np.concatenate([np.empty((0, 1)), *source.batches()])[:, 0]
        return rows
    if groups is None:
        warn_of_reading("groups")
    coder = Coder(as_groups(groups))
    source = readers.Source(path, [counts], header, by=by, coder=coder)
    parts: dict[str, list[float]] = {name: [] for name in coder.names}
    for batch, codes in source.labelled():
        if np.isnan(codes).any():
            raise RecordError("A label is missing or names no group", cure="Check --by and --groups.")
        for code, value in zip(codes.astype(int).tolist(), batch[:, 0].tolist(), strict=True):
            parts.setdefault(coder.names[code], []).append(value)
    return parts
