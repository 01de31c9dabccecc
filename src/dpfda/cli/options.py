"""The options that several verbs share, and how they become plans and files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import files, plots
from .. import release as exits
from ..errors import FileError, ParameterError
from ..plans import MeanPlan
from . import parsing

N = Annotated[int | None, typer.Option("--n", help="Number of curves (public), or a public guess under add-remove.")]
Epsilon = Annotated[str | None, typer.Option(help="Privacy budget: 1, 0.5 or 1/4. No default.")]
Radius = Annotated[float | None, typer.Option(help="Public bound on the norm of one curve. No default.")]
Norm = Annotated[str, typer.Option(help="Norm of the bound: l2 (curve) or l1 (coefficients).")]
Center = Annotated[float | None, typer.Option(help="Public centre of the bound, a constant level.")]
GridText = Annotated[str | None, typer.Option("--grid", help="start:stop:size[:midpoints]. Default 0:1:<columns>.")]
KernelText = Annotated[
    str | None,
    typer.Option(
        "--kernel", help="matern:nu:length, gaussian:length, exponential:length; cosine-matern:nu:length for cosines."
    ),
]
MethodText = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="minimax, qr, frl, ar or knorm; options as "
        "qr:psi=0.01. Default: minimax or knorm, the smaller expected risk.",
    ),
]
Axis = Annotated[str, typer.Option(help="Name of the domain, with its unit: 'hour (h)'.")]
Neighbors = Annotated[str, typer.Option(help="replace (n public) or add-remove (n private).")]
Invalid = Annotated[str, typer.Option(help="raise: stop at an unusable curve; center: count it as the centre.")]
Standardize = Annotated[bool, typer.Option("--standardize", help="Each curve minus its mean, over its norm.")]
Fill = Annotated[int | None, typer.Option(help="Interpolate a curve's own gaps up to this many points.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="Use a plan written by 'dpfda plan --out'.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar and no summary.")]


def plan_options(
    epsilon: str | None,
    radius: float | None,
    norm: str,
    center: float | None,
    grid: str | None,
    axis: str,
    kernel: str | None,
    method: str | None,
    **rest: Any,
) -> dict[str, Any]:
    """The words of the command line as the keywords of `MeanPlan` and `dp.mean`."""
    return {
        "epsilon": epsilon,
        "bound": parsing.parse_bound(radius, norm, center),
        "grid": parsing.parse_grid(grid, axis) if grid else None,
        "kernel": parsing.parse_kernel(kernel) if kernel else None,
        "method": parsing.parse_method(method) if method else None,
        **rest,
    }


def plan_without_data(n: int | None, **options: Any) -> MeanPlan:
    if options["grid"] is None:
        raise ParameterError("a plan needs a grid", "none", "Pass --grid start:stop:size, for example --grid 0:24:48.")
    if n is None:
        raise ParameterError("a plan needs the public number of curves", "none", "Pass --n 1000.")
    return MeanPlan(n=n, **options)


def read_plan(path: Path) -> MeanPlan:
    try:
        return MeanPlan.from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"{path.name!r} is not a plan: it is not text.") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"The plan {path.name!r} cannot be read: {error.strerror}.") from None


def figures(plan: MeanPlan) -> dict[str, Any]:
    """The numbers of a plan, for --json."""
    return {
        "plan": plan.digest,
        "n": plan.n,
        "epsilon": str(plan.epsilon),
        "method": repr(plan.method),
        "expected_error": plan.expected_error,
        "expected_risk": plan.expected_risk,
        "relative_error": float(np.sqrt(plan.expected_risk) / plan.bound.outer),
        "numbers_released": int(sum(part.where.size for part in plan.stage.parts)),
    }


def write_outputs(
    release: exits.Release, output: Path | None, csv: Path | None, plot: Path | None, statement: Path | None
) -> list[str]:
    if output:
        release.save(output)
    if csv:
        release.to_csv(csv)
    if plot:
        plots.save(release.plot(), plot)
    if statement:
        files.write_whole(statement, release.statement + "\n")
    return [str(path) for path in (output, csv, plot, statement) if path]
