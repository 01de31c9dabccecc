"""`dpfda density`: a density from points or counts, one for all or one per group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpfda import api
from dpfda.cli import options, outputs, parsing, planfiles, sources
from dpfda.cli.commands import Keywords, command
from dpfda.core.errors import ParameterError, RecordError
from dpfda.core.labels import Coder, as_groups, warn_of_reading
from dpfda.core.nouns import check_record
from dpfda.plans import DensityPlan
from dpfda.reading.curves import Records
from dpfda.reading.source import Source

#: What a plan file settles about points, by the names of the options.
SETTLED = (
    *options.Protection.settled(), *options.Bins.names(), "groups", "axis", "kernel", "method", "raw",
)  # fmt: skip


@command(first="epsilon domain columns by ledger out plot")
def density_command(
    context: typer.Context,
    points: Annotated[
        list[str],
        typer.Argument(help="CSV or Parquet files, one row a point (or one file, a row a bin, with --counts)."),
    ],
    *,
    plan: options.PlanFile = None,
    counts: Annotated[str | None, typer.Option(help="Column of counts: the file is a table, one row a bin.")] = None,
    protection: options.Protection,
    bins: options.Bins,
    axis: options.Axes = None,
    kernel: options.KernelText = None,
    method: options.MethodText = None,
    raw: options.Raw = False,
    labels: sources.Labels,
    table: sources.Table,
    charge: options.Charge,
    output: outputs.DensityOutputs,
    display: outputs.Display,
) -> None:
    """Release a density of points, or of a table of counts.

    Example: dpfda density ages.csv --epsilon 1 --domain 0:110 --out density.json --plot density.png
    """
    planfiles.check_settled(context, plan, SETTLED)
    output.check_given(display)
    check_record(protection.record)
    ledger = charge.opened()
    saved = None if plan is None or labels.by is not None else _read_plan(plan, protection.record)
    if output.surface is not None:
        _check_surface(len(bins.domain or ()) if saved is None else saved.dimension, labels.by)
    keywords = {} if plan else protection.keywords() | bins.keywords() | smoothing(axis, kernel, method, raw)
    with (
        output.reserved(*sources.local(points), charge.ledger, plan) as write,
        table.opened(points, display.silent) as records,
    ):
        counted = None if counts is None else _counts(records.data, counts, labels, table)
        release: Any
        if plan is not None and labels.by is not None:
            if counted is not None:
                raise ParameterError("counts by group are told without a plan", "--plan", "Drop it, or drop --counts.")
            record = protection.record
            release = planfiles.release_by_plan(plan, DensityPlan, records, ledger, labels.by, record=record)
        elif saved is not None:
            release = saved.release(records if counted is None else None, ledger, counts=counted)
        elif counted is not None:  # one table per group already
            release = api.density(counts=counted, groups=sources.groups_of(labels.groups), ledger=ledger, **keywords)
        else:
            release = api.density(records, ledger=ledger, **keywords | labels.keywords(protection.n))
        written = write(release, ledger)
    display.say(release, written)


def _read_plan(path: Path, record: str | None) -> DensityPlan:
    return planfiles.renamed(planfiles.read_plan(path, DensityPlan), record=record)


def smoothing(axis: list[str] | None, kernel: str | None, method: str | None, raw: bool) -> Keywords:
    """How a density is smoothed, and what its coordinates are called."""
    return {
        "axes": axis or None,
        "kernel": parsing.if_given(parsing.parse_kernel, kernel),
        "method": parsing.if_given(parsing.parse_method, method),
        "postprocess": not raw,
    }


def _check_surface(dimension: int, by: str | None) -> None:
    if dimension != 2:
        raise ParameterError("--surface is for two dimensions", "another number", "Use --plot.")
    if by is not None:
        raise ParameterError("--surface shows one density", "--by", "Use --plot.")


def _counts(data: Records, column: str, labels: sources.Labels, table: sources.Table) -> Any:
    """The column of counts, one row a bin; with labels, one such column per group."""
    if isinstance(data, list):
        raise ParameterError("a table of counts is one file", f"{len(data)} files", "Join them.")
    if labels.by is None:
        return np.concatenate([np.empty((0, 1)), *Source(data, [column], **table.facts).batches()])[:, 0]
    if labels.groups is None:
        warn_of_reading("groups")
    coder = Coder(as_groups(sources.groups_of(labels.groups)))
    parts: dict[str, list[float]] = {name: [] for name in coder.names}
    for batch, codes in Source(data, [column], **table.facts, by=labels.by, coder=coder).labelled():
        if np.isnan(codes).any():
            rows = np.flatnonzero(np.isnan(codes)).tolist()
            raise RecordError("A label is missing or names no group", rows, "Check --by and --groups.")
        for code, value in zip(codes.astype(int).tolist(), batch[:, 0].tolist(), strict=True):
            parts.setdefault(coder.names[code], []).append(value)
    return parts
