"""Where a release goes, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpfda import results
from dpfda.cli.commands import Options
from dpfda.cli.console import out
from dpfda.core import files
from dpfda.core.errors import FileError
from dpfda.plans.base import Plan
from dpfda.plans.joint import JointPlan
from dpfda.release import door
from dpfda.results import plots
from dpfda.results.joint import JointRelease

Out = Annotated[Path | None, typer.Option(help="Write the release as JSON.")]
Csv = Annotated[Path | None, typer.Option(help="Write values and band as CSV.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG).")]
StatementFile = Annotated[Path | None, typer.Option("--statement", help="Write the privacy statement as text.")]
SurfacePicture = Annotated[
    Path | None, typer.Option("--surface", help="Write the surface in space (PNG); of a density, in two dimensions.")
]
ComponentsPicture = Annotated[
    Path | None,
    typer.Option("--components", help="Write a picture of the three leading principal components (PNG)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar and no summary.")]

Contents = dict[str, Callable[[], str | bytes]]


@dataclass(frozen=True)
class Display(Options):
    """What is printed."""

    as_json: AsJson = False
    quiet: Quiet = False

    @property
    def silent(self) -> bool:
        """Whether nobody should see progress."""
        return self.as_json or self.quiet

    def say(self, release: Any, written: list[str], **more: Any) -> None:
        """What was released, and where it went."""
        if self.as_json:
            out.print_json(data={**shown(release), **more, "written": written})
        elif not self.quiet:
            out.print(repr(release.plan))
            out.print(f"Written: {', '.join(written)}")


@dataclass(frozen=True)
class Outputs(Options):
    """Where a release goes. Places are reserved before the charge and filled after it."""

    out: Out = None
    csv: Csv = None
    plot: Picture = None
    statement: StatementFile = None

    @property
    def places(self) -> dict[str, Path]:
        """Those that were given, by the names of their options."""
        return {name: path for name, path in vars(self).items() if path is not None}

    def contents(self, release: Any) -> Contents:
        """What goes where."""
        return {
            "out": release.to_json,
            "csv": release.to_csv,
            "plot": lambda: plots.png(release.plot()),
            "statement": lambda: release.statement + "\n",
        }

    def check_given(self, display: Display, what: str = "A release") -> None:
        if not self.places and not display.as_json:
            wanted = ", ".join(f"--{name}" for name in self.names())
            raise FileError(f"{what} needs a place to go. Pass {wanted} or --json.")

    @contextmanager
    def reserved(self, *in_use: Path | None) -> Iterator[Callable[[Any], list[str]]]:
        """Reserve every place (none of them a file that is in use); yields what fills them."""
        for name, path in self.places.items():
            if name in ("plot", "surface", "components"):
                check_picture(path)
        with files.reserved(list(self.places.values()), in_use) as places:

            def write(release: Any) -> list[str]:
                contents = self.contents(release)
                with door.note_charge_stands(release.entry, release.study):
                    return [str(places[path].write(contents[name]())) for name, path in self.places.items()]

            yield write


@dataclass(frozen=True)
class DensityOutputs(Outputs):
    """The same for something that can be a surface."""

    surface: SurfacePicture = None

    def contents(self, release: Any) -> Contents:
        return super().contents(release) | {"surface": lambda: plots.png(release.plot(kind="surface"))}


@dataclass(frozen=True)
class CovarianceOutputs(DensityOutputs):
    """The same for something that has principal components."""

    components: ComponentsPicture = None

    def contents(self, release: Any) -> Contents:
        return super().contents(release) | {"components": lambda: plots.png(release.plot_eigenfunctions())}


def check_picture(path: Path) -> None:
    """A picture has a name that says so, and what draws it is loaded before anything is charged."""
    plots.load()
    if path.suffix.lower() != ".png":
        raise FileError(f"The picture {path.name!r} must end in .png.")


def figures(plan: Plan | JointPlan) -> dict[str, Any]:
    """The numbers of a plan, or of one plan per group, for --json."""
    if isinstance(plan, JointPlan):
        groups = {name: figures(part) for name, part in plan.members.items()}
        return {"plan": plan.digest, "epsilon": str(plan.epsilon), "verdict": plan.verdict.word, "groups": groups}
    return {
        "plan": plan.digest,
        "n": plan.n,
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "method": repr(plan.chosen),
        "expected_error": plan.expected_error,
        "expected_risk": plan.expected_risk,
        "risk_range": list(plan.risk_range),
        "verdict": plan.verdict.word,
        "verdict_ratio": plan.verdict.ratio,
        "verdict_cure": plan.verdict.cure,
        "relative_error": float(np.sqrt(plan.expected_risk) / plan.wording.accuracy.size),
        "numbers_released": int(sum(part.where.size for part in plan.stage.parts)),
    }


def shown(release: results.Release | JointRelease[Any]) -> dict[str, Any]:
    """A release, or one per group, for --json."""
    if isinstance(release, JointRelease):
        return {
            "plan": release.plan.digest,
            "epsilon": str(release.plan.epsilon),
            "delta": str(release.plan.delta),
            "composition": release.plan.composition,
            "groups": {name: shown(part) for name, part in release.items()},
        }
    return {
        **figures(release.plan),
        "created": release.created,
        "study": release.study,
        "entry": release.entry,
        "steps": list(release.steps),
        "grid": release.grid.points.tolist(),
        "values": release.values.ravel().tolist(),
    }
