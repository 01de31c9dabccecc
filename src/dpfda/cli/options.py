"""The options that several verbs share, and how they become plans and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import typer

from dpfda.cli import parsing
from dpfda.core import codec, files
from dpfda.core.errors import FileError, ParameterError
from dpfda.plans import DensityPlan, GroupPlan, MeanPlan
from dpfda.plans.base import VERSION, Plan
from dpfda.release import door
from dpfda.results import plots

AnyPlan = TypeVar("AnyPlan", bound=Plan)
N = Annotated[int | None, typer.Option("--n", help="Number of records (public), or a public guess under add-remove.")]
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
        help="auto, minimax, qr, frl, knorm, blocks, ar (not for densities), bernstein:lattice=20,order=5 (not for "
        "covariances) or gaussianprocess:delta=1e-6 (not pure); options as qr:psi=0.01 or auto:spread=1,passes=1 (a "
        "public radius about the mean; read the file once). Default: auto, by expected risk.",
    ),
]
Domain = Annotated[
    list[str] | None, typer.Option(help="Public range of a coordinate, low:high; once per coordinate. No default.")
]
Cells = Annotated[str | None, typer.Option(help="Cells per coordinate: 512, or 64x64.")]
Names = Annotated[list[str] | None, typer.Option("--axis", help="Name of a coordinate, 'age (years)'; once each.")]
Bandwidth = Annotated[
    float | None,
    typer.Option(
        help="Bandwidth of the kernel for qr, bernstein, gaussianprocess (default width times n^(-1/(4+d))); "
        "giving it makes qr the default method."
    ),
]
Eta = Annotated[
    float | None, typer.Option(help="Power of the kernel for the same; giving it makes qr the default method.")
]
Edges = Annotated[
    str | None, typer.Option(help="Edges of bins of counts: 0,1,5,10 or start:stop:step, joined by commas.")
]
Raw = Annotated[bool, typer.Option("--raw", help="No shrinkage and no projection after the noise.")]
ValueColumns = Annotated[str | None, typer.Option("--columns", help="Value columns: a pattern (hh*) or a comma list.")]
Header = Annotated[
    bool | None, typer.Option(help="Whether a text file begins with names. Default: look at its first line.")
]
Book = Annotated[Path | None, typer.Option("--ledger", help="Ledger to charge.")]
Study = Annotated[str | None, typer.Option(help="The study the ledger must belong to.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write the release as JSON.")]
Csv = Annotated[Path | None, typer.Option(help="Write values and band as CSV.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG).")]
StatementFile = Annotated[Path | None, typer.Option("--statement", help="Write the privacy statement as text.")]
Outside = Annotated[str, typer.Option(help="raise: stop at a point outside the domain; clip: move it to the edge.")]
Axis = Annotated[str, typer.Option(help="Name of the domain, with its unit: 'hour (h)'.")]
Neighbors = Annotated[str, typer.Option(help="replace (n public) or add-remove (n private).")]
Invalid = Annotated[str, typer.Option(help="raise: stop at an unusable curve; center: count it as the centre.")]
Standardize = Annotated[bool, typer.Option("--standardize", help="Each curve minus its mean, over its norm.")]
Fill = Annotated[int | None, typer.Option(help="Interpolate a curve's own gaps up to this many points.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="Use a plan written by 'dpfda plan --out'.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar and no summary.")]


#: What a plan file settles, by the names of the options.
PLAN_OPTIONS = (
    "epsilon", "radius", "norm", "center", "grid", "axis", "kernel", "method", "neighbors", "invalid", "standardize",
    "fill", "n", "unit", "most", "order", "align", "groups",
)  # fmt: skip


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


def density_options(
    epsilon: str | None,
    domain: list[str] | None,
    cells: str | None,
    edges: str | None,
    axis: list[str] | None,
    kernel: str | None,
    bandwidth: float | None,
    eta: float | None,
    method: str | None,
    **rest: Any,
) -> dict[str, Any]:
    """The words of the command line as the keywords of `DensityPlan` and `dp.density`."""
    return {
        "epsilon": epsilon,
        "domain": parsing.parse_domain(domain),
        "cells": parsing.parse_cells(cells) if cells else None,
        "edges": parsing.parse_edges(edges) if edges else None,
        "axes": axis or None,
        "kernel": parsing.parse_kernel(kernel) if kernel else None,
        "bandwidth": bandwidth,
        "eta": eta,
        "method": parsing.parse_method(method) if method else None,
        **rest,
    }


def density_without_data(n: int | None, **options: Any) -> DensityPlan:
    if n is None:
        raise ParameterError("a plan needs the public number of points", "none", "Pass --n 1000.")
    return DensityPlan(n=n, **options)


def plan_without_data(n: int | None, kind: Any = MeanPlan, **options: Any) -> Any:
    if options["grid"] is None:
        raise ParameterError("a plan needs a grid", "none", "Pass --grid start:stop:size, for example --grid 0:24:48.")
    if n is None:
        raise ParameterError("a plan needs the public number of curves", "none", "Pass --n 1000.")
    return kind(n=n, **options)


def read_plan(path: Path, kind: type[AnyPlan]) -> AnyPlan:
    return kind.from_json(files.read_text(path, "plan"))


def read_any_plan(path: Path) -> Any:
    """A plan, or one per group."""
    plan = codec.from_plain(codec.unseal(files.read_text(path, "plan"), "plan", VERSION).get("plan"))
    if not isinstance(plan, Plan | GroupPlan):
        raise FileError("The file holds no plan.")
    return plan


def released(path: Path, kind: type[Plan], data: Any, book: Any, by: str | None, reading: dict[str, Any]) -> Any:
    """A release by a plan file: of one plan, or of one plan per group."""
    plan = read_any_plan(path)
    if isinstance(plan, GroupPlan) and all(isinstance(part, kind) for part in plan.plans):
        return plan.release(data, book, by=by, **reading)
    if not isinstance(plan, kind):
        raise FileError(f"The file holds no {kind.__name__}.")
    if by is not None:
        raise ParameterError("this plan has no groups", "--by", "Drop it, or use a plan of groups.")
    return plan.release(data, book, **reading)


def figures(plan: Plan) -> dict[str, Any]:
    """The numbers of a plan, for --json."""
    return {
        "plan": plan.digest,
        "n": plan.n,
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "method": repr(plan.chosen),
        "expected_error": plan.expected_error,
        "expected_risk": plan.expected_risk,
        "relative_error": float(np.sqrt(plan.expected_risk) / plan.wording.size),
        "numbers_released": int(sum(part.where.size for part in plan.stage.parts)),
    }


@dataclass(frozen=True)
class Outputs:
    """Where a release goes. Places are reserved before the charge and filled after it."""

    out: Path | None = None
    csv: Path | None = None
    plot: Path | None = None
    statement: Path | None = None
    surface: Path | None = None
    components: Path | None = None

    @property
    def paths(self) -> list[Path]:
        wanted = (self.out, self.csv, self.plot, self.statement, self.surface, self.components)
        return [path for path in wanted if path is not None]

    @contextmanager
    def reserved(self, *in_use: Path | None) -> Iterator[Callable[[Any], list[str]]]:
        """Reserve every place (none of them a file that is in use); yields what fills them."""
        check_picture(self.plot)
        check_picture(self.surface)
        check_picture(self.components)
        with files.reserved(self.paths, in_use) as places:

            def write(release: Any) -> list[str]:
                contents: list[tuple[Path | None, Callable[[], str | bytes]]] = [
                    (self.out, release.to_json),
                    (self.csv, release.to_csv),
                    (self.plot, lambda: plots.png(release.plot())),
                    (self.statement, lambda: release.statement + "\n"),
                    (self.surface, lambda: plots.png(release.plot(kind="surface"))),
                    (self.components, lambda: plots.png(release.plot_eigenfunctions())),
                ]
                with door.note_charge_stands(release.entry, release.study):
                    return [str(places[path].write(content())) for path, content in contents if path is not None]

            yield write


def check_picture(path: Path | None) -> None:
    if path is not None and path.suffix.lower() != ".png":
        raise FileError(f"The picture {path.name!r} must end in .png.")
