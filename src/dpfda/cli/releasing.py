"""`dpfda mean`, `dpfda radius` and `dpfda show`: releases, made and read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dpfda import results
from dpfda.api import curves as api
from dpfda.cli import options as opt
from dpfda.cli import parsing
from dpfda.cli import sources as src
from dpfda.cli.console import guarded, out, progress_bar
from dpfda.core import codec, files
from dpfda.core.errors import FileError, ParameterError
from dpfda.core.errors import shown as spelt
from dpfda.engines import checkpoints
from dpfda.ledger import Ledger
from dpfda.plans import MeanPlan
from dpfda.plans.base import Plan
from dpfda.results.postprocess import SHRINKAGE


@guarded
def mean_command(
    context: typer.Context,
    curves: src.Files,
    epsilon: opt.Epsilon = None,
    radius: opt.Radius = None,
    norm: opt.Norm = "l2",
    center: opt.Center = None,
    grid: opt.GridText = None,
    axis: opt.Axis = "t",
    kernel: opt.KernelText = None,
    method: opt.MethodText = None,
    neighbors: opt.Neighbors = "replace",
    invalid: opt.Invalid = "raise",
    standardize: opt.Standardize = False,
    fill: opt.Fill = None,
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
    statement: opt.StatementFile = None,
    shrink: Annotated[str | None, typer.Option(help="Shrink after the noise: bayes or james-stein.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="The numbers as drawn: no shrinkage after the noise.")] = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Release the mean of the curves in one file or many.

    Example: dpfda mean curves.csv --epsilon 1 --radius 1 --out mean.json --csv mean.csv --plot mean.png
    """
    outputs = opt.Outputs(output, csv, plot, statement)
    check_options(context, (*opt.PLAN_OPTIONS, "raw"), plan, ledger, study)
    if not outputs.paths and not as_json:
        raise FileError("A release needs a place to go. Pass --out, --csv, --plot, --statement or --json.")
    check_shrink(shrink)
    if shrink and raw:
        raise ParameterError("numbers are shrunk or raw", "--shrink and --raw", "Drop one of them.")
    book = Ledger(ledger, study) if ledger else None
    if shrink and by:
        raise ParameterError("--shrink is for one release", "--by", "Shrink each group in Python.")
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
            release = opt.released(plan, MeanPlan, data, book, by, reading)
        else:
            options = opt.plan_options(
                epsilon, radius, norm, center, grid, axis, kernel, method,
                neighbors=neighbors, invalid=invalid, standardize=standardize, fill=fill, postprocess=not raw,
                **src.rules(unit, most, order, align),
            )  # fmt: skip
            release = api.mean(data, n=n, ledger=book, by=by, groups=src.groups_of(groups), **reading, **options)
        if shrink:
            release = release.shrink(shrink)
        written = write(release)
    say(release, written, as_json, quiet)


@guarded
def radius_command(
    curves: src.Files,
    epsilon: opt.Epsilon = None,
    quantile: Annotated[float, typer.Option(help="Share of the curves that the radius should hold.")] = 0.95,
    center: opt.Center = None,
    grid: opt.GridText = None,
    smallest: Annotated[float | None, typer.Option(help="Smallest radius on offer. Default: 2^-30.")] = None,
    largest: Annotated[float | None, typer.Option(help="Largest radius on offer. Default: 2^30.")] = None,
    neighbors: opt.Neighbors = "replace",
    invalid: opt.Invalid = "raise",
    standardize: opt.Standardize = False,
    fill: opt.Fill = None,
    unit: src.UnitName = None,
    most: src.Most = None,
    order: src.OrderName = None,
    align: src.AlignText = None,
    n: opt.N = None,
    columns: opt.ValueColumns = None,
    header: opt.Header = None,
    layout: src.Layout = None,
    ledger: opt.Book = None,
    study: opt.Study = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Suggest a radius for a bound: a private quantile of the curves' norms. It costs epsilon, which is charged.

    Example: dpfda radius curves.csv --epsilon 0.1 --center 0.5
    """
    if study is not None and ledger is None:
        raise ParameterError("--study names the study of a ledger", "no ledger", "Pass --ledger too.")
    book = Ledger(ledger, study) if ledger else None
    with progress_bar(quiet or as_json) as progress:
        release = api.suggest_radius(
            src.data_of(curves), epsilon=epsilon, quantile=quantile, center=center, smallest=smallest, largest=largest,
            grid=parsing.parse_grid(grid) if grid else None, neighbors=neighbors, invalid=invalid, ledger=book, n=n,
            columns=split(columns), header=header, standardize=standardize, fill=fill, progress=progress,
            layout=src.parse_layout(layout), **src.rules(unit, most, order, align),
        )  # fmt: skip
    if as_json:
        figures = {"radius": release.radius, "quantile": quantile, "missed": release.plan.missed}
        out.print_json(data={**figures, "epsilon": str(release.plan.epsilon), "entry": release.entry})
    else:
        out.print(f"{release.radius:.6g}" if quiet else release.statement + f"\n\nRadius: {release.radius:.6g}")


def check_options(
    context: typer.Context, settled: Sequence[str], plan: Path | None, ledger: Path | None, study: str | None
) -> None:
    """Options that would be ignored are refused: silence would release something else than was asked for."""
    given = [name for name in settled if str(context.get_parameter_source(name)).endswith("COMMANDLINE")]
    if plan is not None and given:
        raise ParameterError(
            "a plan file settles everything about the release",
            ", ".join(f"--{name}" for name in given),
            "Drop these, or drop --plan.",
        )
    if study is not None and ledger is None:
        raise ParameterError("--study names the study of a ledger", "no ledger", "Pass --ledger too.")


def split(columns: str | None) -> str | list[str] | None:
    return columns.split(",") if columns and "," in columns else columns


def shown_release(release: results.Release) -> dict[str, Any]:
    """A release for --json."""
    return {
        **opt.figures(release.plan),
        "created": release.created,
        "study": release.study,
        "entry": release.entry,
        "steps": list(release.steps),
        "grid": release.grid.points.tolist(),
        "values": release.values.ravel().tolist(),
    }


def check_shrink(method: str | None) -> None:
    if method is not None and method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", spelt(method), "Write --shrink bayes.")


@guarded
def show_command(
    file: Annotated[Path, typer.Argument(help="A release, a plan or a summary, as JSON.")],
    plot: Annotated[Path | None, typer.Option(help="Write a picture of a release (PNG).")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write curve and band of a release as CSV.")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a saved release (its statement) or a plan (its table).

    Example: dpfda show mean.json --plot again.png
    """
    outputs = opt.Outputs(csv=csv, plot=plot)
    kind = codec.kind_of(files.read_text(file, "release or a plan"))
    if kind == "summary":
        saved = checkpoints.load(file)
        out.print(f"A summary of {len(saved.parts)} files for plan family {saved.plan[:12]}. {checkpoints.NOTICE}")
        return
    if kind == "plan":
        if outputs.paths:
            raise ParameterError("a plan has no curve to write", "--plot or --csv", "Show a release, or drop them.")
        plan = opt.read_plan(file, Plan)  # type: ignore[type-abstract]
        out.print_json(data=opt.figures(plan)) if as_json else out.print(repr(plan))
        return
    release = results.load(file)
    with outputs.reserved(file) as write:
        write(release)
    out.print_json(data=shown(release)) if as_json else out.print(release.statement)


def say(release: Any, written: list[str], as_json: bool, quiet: bool) -> None:
    """What was released, and where it went."""
    if as_json:
        out.print_json(data={**shown(release), "written": written})
    elif not quiet:
        out.print(repr(release.plan))
        out.print(f"Written: {', '.join(written)}")


def shown(release: Any) -> dict[str, Any]:
    """A release, or one per group, for --json."""
    if not isinstance(release, results.GroupRelease):
        return shown_release(release)
    return {
        "plan": release.plan.digest,
        "epsilon": str(release.plan.epsilon),
        "delta": str(release.plan.delta),
        "composition": release.plan.composition,
        "groups": {name: shown_release(part) for name, part in release.items()},
    }
