"""The options that several verbs share, and how they become plans and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


#: What a plan file settles, by the names of the options.
PLAN_OPTIONS = (
    "epsilon", "radius", "norm", "center", "grid", "axis", "kernel", "method", "neighbors", "invalid", "standardize",
    "fill", "n",
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


def plan_without_data(n: int | None, **options: Any) -> MeanPlan:
    if options["grid"] is None:
        raise ParameterError("a plan needs a grid", "none", "Pass --grid start:stop:size, for example --grid 0:24:48.")
    if n is None:
        raise ParameterError("a plan needs the public number of curves", "none", "Pass --n 1000.")
    return MeanPlan(n=n, **options)


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path.name!r} is not a text file: it is neither a plan nor a release.") from None
    except OSError as error:
        raise FileError(f"{path.name or str(path)!r} cannot be read: {error.strerror}. Check the path.") from None


def read_plan(path: Path) -> MeanPlan:
    return MeanPlan.from_json(read_text(path))


def figures(plan: MeanPlan) -> dict[str, Any]:
    """The numbers of a plan, for --json."""
    return {
        "plan": plan.digest,
        "n": plan.n,
        "epsilon": str(plan.epsilon),
        "method": repr(plan.chosen),
        "expected_error": plan.expected_error,
        "expected_risk": plan.expected_risk,
        "relative_error": float(np.sqrt(plan.expected_risk) / plan.bound.outer),
        "numbers_released": int(sum(part.where.size for part in plan.stage.parts)),
    }


@dataclass(frozen=True)
class Outputs:
    """Where a release goes. Places are reserved before the charge and filled after it."""

    out: Path | None = None
    csv: Path | None = None
    plot: Path | None = None
    statement: Path | None = None

    @property
    def paths(self) -> list[Path]:
        return [path for path in (self.out, self.csv, self.plot, self.statement) if path is not None]

    @contextmanager
    def reserved(self, *in_use: Path | None) -> Iterator[Callable[[exits.Release], list[str]]]:
        """Reserve every place (none of them a file that is in use); yields what fills them."""
        check_picture(self.plot)
        with files.reserved(self.paths, in_use) as places:

            def write(release: exits.Release) -> list[str]:
                contents: list[tuple[Path | None, Callable[[], str | bytes]]] = [
                    (self.out, release.to_json),
                    (self.csv, release.to_csv),
                    (self.plot, lambda: plots.png(release.plot())),
                    (self.statement, lambda: release.statement + "\n"),
                ]
                return [str(places[path].write(content())) for path, content in contents if path is not None]

            yield write


def check_picture(path: Path | None) -> None:
    if path is not None and path.suffix.lower() != ".png":
        raise FileError(f"The picture {path.name!r} must end in .png.")
