"""`dpfda mean`, `dpfda show` and `dpfda demo`: releases, made and read again."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .. import api, datasets, files
from .. import release as exits
from ..errors import FileError, ParameterError, shown
from ..ledger import Ledger
from ..postprocess import SHRINKAGE
from . import options as opt
from .console import guarded, out, progress_bar


@guarded
def mean_command(
    curves: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row a curve.")],
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
    n: opt.N = None,
    plan: opt.PlanFile = None,
    columns: Annotated[str | None, typer.Option(help="Value columns: a pattern (hh*) or a comma list.")] = None,
    header: Annotated[
        bool | None, typer.Option(help="Whether a text file begins with names. Default: look at its first line.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="Ledger to charge.")] = None,
    study: Annotated[str | None, typer.Option(help="The study the ledger must belong to.")] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Write the release as JSON.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write curve and band as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a picture (PNG).")] = None,
    statement: Annotated[Path | None, typer.Option(help="Write the privacy statement as text.")] = None,
    shrink: Annotated[str | None, typer.Option(help="Shrink after the noise: bayes or james-stein.")] = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Release the mean of a file of curves.

    Example: dpfda mean curves.csv --epsilon 1 --radius 1 --out mean.json --csv mean.csv --plot mean.png
    """
    chosen = columns.split(",") if columns and "," in columns else columns
    for path in filter(None, (output, csv, plot, statement)):
        files.check_writable(path)
    if plot and plot.suffix != ".png":
        raise FileError(f"The picture {plot.name!r} must end in .png.")
    check_shrink(shrink)
    book = Ledger(ledger, study) if ledger else None
    with progress_bar(quiet or as_json) as progress:
        if plan is not None:
            release = opt.read_plan(plan).release(curves, book, columns=chosen, header=header, progress=progress)
        else:
            options = opt.plan_options(
                epsilon,
                radius,
                norm,
                center,
                grid,
                axis,
                kernel,
                method,
                neighbors=neighbors,
                invalid=invalid,
                standardize=standardize,
                fill=fill,
            )
            release = api.mean(curves, n=n, ledger=book, columns=chosen, header=header, progress=progress, **options)
    if shrink:
        release = release.shrink(shrink)
    written = opt.write_outputs(release, output, csv, plot, statement)
    if as_json:
        out.print_json(
            data={
                **opt.figures(release.plan),
                "study": release.study,
                "entry": release.entry,
                "written": written,
                "grid": release.grid.points.tolist(),
                "values": release.values.tolist(),
            }
        )
    elif not quiet:
        out.print(repr(release.plan), markup=False)
        out.print(
            f"Written: {', '.join(written)}"
            if written
            else "Nothing was written: pass --out, --csv, --plot or --statement.",
            markup=False,
        )


def check_shrink(method: str | None) -> None:
    if method is not None and method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", shown(method), "Write --shrink bayes.")


@guarded
def show_command(
    file: Annotated[Path, typer.Argument(help="A release or a plan, as JSON.")],
    plot: Annotated[Path | None, typer.Option(help="Write a picture of a release (PNG).")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write curve and band of a release as CSV.")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a saved release (its statement) or a plan (its table).

    Example: dpfda show mean.json --plot again.png
    """
    if kind_of(file) == "plan":
        plan = opt.read_plan(file)
        out.print_json(data=opt.figures(plan)) if as_json else out.print(repr(plan), markup=False)
        return
    release = exits.load(file)
    for path in filter(None, (plot, csv)):
        files.check_writable(path)
    opt.write_outputs(release, None, csv, plot, None)
    if as_json:
        out.print_json(
            data={
                **opt.figures(release.plan),
                "created": release.created,
                "study": release.study,
                "entry": release.entry,
                "steps": list(release.steps),
                "grid": release.grid.points.tolist(),
                "values": release.values.tolist(),
            }
        )
    else:
        out.print(release.statement, markup=False)


def kind_of(file: Path) -> str:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{file.name!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise FileError(f"{file.name!r} is neither a release nor a plan: it is not JSON text.") from None
    return str(data.get("dpfda")) if isinstance(data, dict) else ""


@guarded
def demo_command(
    folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("demo"),
    curves: Annotated[int, typer.Option(help="How many households.")] = 1000,
) -> None:
    """Generate household load curves and release their mean with the ordinary command.

    Example: dpfda demo --out demo
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder {folder.name!r} cannot be made: {error.strerror}.") from None
    sample = datasets.load_curves(curves, np.random.default_rng(2024))
    header = ",".join(f"h{i:02d}" for i in range(sample.grid.size))
    rows = "\n".join(",".join(f"{x:.4f}" for x in row) for row in sample.curves)
    files.write_whole(folder / "curves.csv", f"{header}\n{rows}\n")
    book = folder / "study.ledger"
    if not book.exists():
        Ledger.create(book, epsilon=100, study="demo households")
    command = [
        "mean",
        str(folder / "curves.csv"),
        "--epsilon",
        "1",
        "--radius",
        "5",
        "--center",
        "0.5",
        "--grid",
        "0:24:48:midpoints",
        "--axis",
        "hour (h)",
        "--ledger",
        str(book),
        "--out",
        str(folder / "mean.json"),
        "--csv",
        str(folder / "mean.csv"),
        "--plot",
        str(folder / "mean.png"),
        "--statement",
        str(folder / "statement.txt"),
    ]
    out.print(f"$ dpfda {shlex.join(command)}", markup=False)
    done = subprocess.run([sys.executable, "-m", "dpfda", *command], check=False)
    if done.returncode:
        raise typer.Exit(done.returncode)
    out.print((folder / "statement.txt").read_text(encoding="utf-8"), markup=False)
