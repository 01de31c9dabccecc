"""Where a release goes, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import typer

from dpfda import results
from dpfda.bounds import L2Ball
from dpfda.cli.commands import Options
from dpfda.cli.console import out, say
from dpfda.core import files
from dpfda.core.errors import FileError, LedgerError, ParameterError
from dpfda.ledger import Ledger
from dpfda.ledger.releases import Charged
from dpfda.plans import CovariancePlan, MeanPlan, RegressionPlan
from dpfda.plans.base import Plan
from dpfda.plans.curves import has_units
from dpfda.plans.joint import JointPlan
from dpfda.plans.radius import RadiusPlan
from dpfda.release import door
from dpfda.results import plots
from dpfda.results.joint import JointRelease
from dpfda.results.pictures import check_ending
from dpfda.results.saved import Saved
from dpfda.results.survival_curves import check_picture as check_survival_picture
from dpfda.results.survival_difference import SurvivalDifference
from dpfda.results.wording import bound_in_units

Out = Annotated[Path | None, typer.Option(help="Write the release as JSON.")]
Csv = Annotated[Path | None, typer.Option(help="Write values and band as CSV.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Write a picture: .png, .pdf or .svg.")]
StatementFile = Annotated[Path | None, typer.Option("--statement", help="Write the privacy statement as text.")]
MethodsFile = Annotated[
    Path | None, typer.Option("--methods-text", help="Write the methods paragraph of a paper as text.")
]
SurfacePicture = Annotated[
    Path | None,
    typer.Option("--surface", help="Write the surface in space (.png, .pdf, .svg); of a density, in two dimensions."),
]
ComponentsPicture = Annotated[
    Path | None,
    typer.Option("--components", help="Write a picture of the three leading principal components (.png, .pdf, .svg)."),
]
PictureKind = Annotated[str | None, typer.Option(help="Draw survival smooth (default) or in steps.")]
PictureOf = Annotated[str | None, typer.Option(help="Draw survival (default), its incidence or hazard.")]
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
            for line in survival_lines(release):
                out.print(line)
            out.print(f"Written: {', '.join(written)}")


@dataclass(frozen=True)
class SurvivalPicture(Options):
    """How a picture shows survival."""

    kind: PictureKind = None
    of: PictureOf = None

    def words(self, plot: Path | None) -> dict[str, str]:
        """What a picture is told, where there is one."""
        given = {name: word for name, word in vars(self).items() if word is not None}
        check_survival_picture(given.get("kind", "smooth"), given.get("of", "survival"), True)
        if given and plot is None:
            raise ParameterError(f"--{next(iter(given))} is for a picture", "none", "Add --plot survival.png.")
        return given


@dataclass(frozen=True)
class TextOutputs(Options):
    """Where a release goes. Places are reserved before the charge and filled after it."""

    out: Out = None
    statement: StatementFile = None
    methods_text: MethodsFile = None

    @property
    def places(self) -> dict[str, Path]:
        """Those that were given, by the names of their options."""
        return {name: path for name, path in vars(self).items() if path is not None}

    def contents(self, release: Any) -> Contents:
        """What goes where."""
        return {
            "out": lambda: release.to_json(),
            "csv": lambda: release.to_csv(),
            "plot": lambda: self.drawn("plot", release.plot()),
            "statement": lambda: release.statement + "\n",
            "methods_text": lambda: release.methods_text() + "\n",
        }

    def drawn(self, name: str, ax: plots.Axes) -> bytes:
        """A picture in the format of its place."""
        return plots.picture(ax, self.places[name].suffix)

    def check_given(self, display: Display, what: str = "A release") -> None:
        if not self.places and not display.as_json:
            wanted = ", ".join(f"--{name}" for name in self.names()).replace("_", "-")
            raise FileError(f"{what} needs a place to go. Pass {wanted} or --json.")

    @contextmanager
    def reserved(self, *in_use: Path | None, **picture: str) -> Iterator[Callable[..., list[str]]]:
        """Reserve every place (none of them a file that is in use); yields what fills them.

        A picture is drawn with the words in `picture`.
        """
        for name, path in self.places.items():
            if name in ("plot", "surface", "components"):
                check_picture(path)
        with files.reserved(list(self.places.values()), in_use) as places:

            def write(release: Any, ledger: Ledger | None = None) -> list[str]:
                contents = self.contents(release)
                if picture:
                    contents["plot"] = lambda: self.drawn("plot", release.plot(**picture))
                with door.note_charge_stands(release.entry, release.study):
                    written = [str(places[path].write(contents[name]())) for name, path in self.places.items()]
                if ledger is not None and written:
                    _record(ledger, release, next(iter(self.places.values())))
                return written

            yield write


@dataclass(frozen=True)
class Outputs(TextOutputs):
    """The same for something that has values to list and to draw."""

    csv: Csv = None
    plot: Picture = None


@dataclass(frozen=True)
class DensityOutputs(Outputs):
    """The same for something that can be a surface."""

    surface: SurfacePicture = None

    def contents(self, release: Any) -> Contents:
        return super().contents(release) | {"surface": lambda: self.drawn("surface", release.plot(kind="surface"))}


@dataclass(frozen=True)
class CovarianceOutputs(DensityOutputs):
    """The same for something that has principal components."""

    components: ComponentsPicture = None

    def contents(self, release: Any) -> Contents:
        picture = {"components": lambda: self.drawn("components", release.plot_eigenfunctions())}
        return super().contents(release) | picture


def check_picture(path: Path) -> None:
    """A picture has a name that says so, and what draws it is loaded before anything is charged."""
    check_ending(path.name, path.suffix)
    plots.load()


def _record(ledger: Ledger, release: Charged, path: Path) -> None:
    """Name the first output in the ledger, with its digest. The release is made: this never costs it."""
    try:
        ledger.record_output(release, path)
    except (LedgerError, OSError) as error:
        say("warning", f"{path.name!r} is written, but the ledger could not note it: {error}")


def figures(plan: Plan | JointPlan) -> dict[str, Any]:
    """The numbers of a plan, or of one plan per group, for --json."""
    if isinstance(plan, RadiusPlan):
        return _radius_figures(plan)
    if isinstance(plan, JointPlan):
        groups = {name: figures(part) for name, part in plan.members.items()}
        return {"plan": plan.digest, "epsilon": float(plan.epsilon), "verdict": plan.verdict.word, "groups": groups}
    units = {}
    if isinstance(plan, MeanPlan | CovariancePlan | RegressionPlan) and has_units(plan):
        units = {"bound_in_units": bound_in_units(cast(L2Ball, plan.bound), plan.grid)}
    return {
        "plan": plan.digest,
        "n": plan.n,
        "epsilon": float(plan.epsilon),
        "delta": float(plan.delta),
        "method": repr(plan.chosen),
        "expected_error": plan.expected_error,
        "expected_risk": plan.expected_risk,
        "risk_range": list(plan.risk_range),
        "verdict": plan.verdict.word,
        "verdict_ratio": plan.verdict.ratio,
        "verdict_cure": plan.verdict.cure,
        "relative_error": float(np.sqrt(plan.expected_risk) / plan.wording.accuracy.size),
        "numbers_released": int(sum(part.where.size for part in plan.stage.parts)),
        **units,
    }


def _radius_figures(plan: RadiusPlan) -> dict[str, object]:
    """What a radius promises; nothing where that would mean nothing."""
    promised = {"holds_at_least": plan.held, "at_most_times": plan.times} if plan.means_something else {}
    return {
        "plan": plan.digest,
        "n": plan.n,
        "epsilon": float(plan.epsilon),
        "quantile": plan.quantile,
        "smallest": float(plan.radii[0]),
        "largest": plan.largest,
        **promised,
        "verdict": plan.verdict.word,
        "verdict_cure": plan.verdict.cure,
    }


def shown(release: results.Release | results.RadiusRelease | JointRelease[Any]) -> dict[str, Any]:
    """A release, or one per group, for --json."""
    if isinstance(release, JointRelease):
        return {
            "plan": release.plan.digest,
            "epsilon": float(release.plan.epsilon),
            "delta": float(release.plan.delta),
            "composition": release.plan.composition,
            "groups": {name: shown(part) for name, part in release.items()},
        }
    made = {"created": release.created, "study": release.study, "entry": release.entry}
    if isinstance(release, results.RadiusRelease):
        return {**figures(release.plan), **made, "radius": release.radius}
    return {
        **figures(release.plan),
        **made,
        "steps": list(release.steps),
        "cautions": list(release.cautions),
        "bound_too_small": release.bound_too_small,
        "grid": release.grid.points.tolist(),
        "values": release.values.ravel().tolist(),
        **_survival_times(release),
    }


def survival_lines(release: object) -> list[str]:
    """Median and mean survival in lines: of one curve, of groups, or the difference of means of two."""
    if isinstance(release, results.SurvivalRelease):
        return [f"Median: {release.median()}", f"Mean up to the horizon: {release.rmst()}"]
    if isinstance(release, SurvivalDifference):
        between = f"{release.first} minus {release.second}"
        return [f"Difference of means up to the horizon, {between}: {release.rmst()}"]
    if isinstance(release, JointRelease):
        return [f"{name}: {line}" for name, part in release.items() for line in survival_lines(part)]
    return []


def _survival_times(release: results.Release) -> dict[str, list[float | None]]:
    """Median and mean survival, with their intervals; a time that is not reached is none."""
    if not isinstance(release, results.SurvivalRelease):
        return {}
    found = {"median": release.median(), "rmst": release.rmst()}
    return {
        name: [x if np.isfinite(x) else None for x in (each.value, each.lower, each.upper)]
        for name, each in found.items()
    }


def told(release: Saved) -> str:
    """The statement of a release; a radius is a number as well, and survival has two."""
    if lines := survival_lines(release):
        return "\n".join([f"{release.statement}\n", *lines])
    if not isinstance(release, results.RadiusRelease):
        return release.statement
    center = "" if release.plan.center is None else f" about {release.about}"
    return f"{release.statement}\n\nRadius: {release.radius:.6g}{center}"
