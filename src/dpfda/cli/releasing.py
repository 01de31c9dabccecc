"""`dpfda mean` and `dpfda radius`: the release of a mean, and of a radius for its bound."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from dpfda import api
from dpfda.bounds import BallLike
from dpfda.cli import options, outputs, parsing, planfiles, sources
from dpfda.cli.commands import Keywords, command
from dpfda.cli.console import out
from dpfda.core.checks import check_value
from dpfda.core.errors import ParameterError, shown
from dpfda.core.nouns import check_record
from dpfda.plans import MeanPlan
from dpfda.plans.radius import RadiusPlan
from dpfda.reading.headers import FromHeader
from dpfda.results.postprocess import SHRINKAGE
from dpfda.spaces.grid import Grid

#: What a plan file settles about curves, by the names of the options.
SETTLED = (
    *options.Protection.settled(), *options.Estimate.names(), *sources.Gaps.names(), *sources.Units.names(), "groups",
)  # fmt: skip


@command(first="epsilon range radius above grid columns by unit ledger out plot")
def mean_command(
    context: typer.Context,
    curves: sources.Files,
    *,
    plan: options.PlanFile = None,
    protection: options.Protection,
    norm: options.Norm = "l2",
    functions: options.Functions,
    estimate: options.Estimate,
    shrink: Annotated[str | None, typer.Option(help="Shrink after the noise: bayes or james-stein.")] = None,
    value: options.Value = None,
    units: sources.Units,
    labels: sources.Labels,
    gaps: sources.Gaps,
    reading: sources.Reading,
    charge: options.Charge,
    output: outputs.Outputs,
    display: outputs.Display,
) -> None:
    """Release the mean of the curves in one file or many.

    Example: dpfda mean curves.csv --epsilon 1 --range 0:2 --out mean.json --csv mean.csv --plot mean.png
    """
    planfiles.check_settled(context, plan, (*SETTLED, *options.Functions.names(), "norm"))
    output.check_given(display)
    check_value(value)
    check_record(protection.record)
    _check_shrink(shrink, estimate.raw, labels.by)
    ledger = charge.opened()
    with (
        output.reserved(*sources.local(curves), charge.ledger, plan) as write,
        reading.opened(curves, display.silent, **gaps.keywords()) as records,
    ):
        if plan is not None:
            release = planfiles.release_by_plan(plan, MeanPlan, records, ledger, labels.by, value, protection.record)
        else:
            keywords = protection.keywords() | estimate.keywords(norm, functions.function()) | units.keywords()
            keywords |= labels.keywords(protection.n)
            release = api.mean(records, ledger=ledger, value=value, **keywords)
        if shrink:
            release = release.shrink(shrink)
        written = write(release, ledger)
    display.say(release, written)


def _check_shrink(method: str | None, raw: bool, by: str | None) -> None:
    if method is None:
        return
    if method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", shown(method), "Write --shrink bayes.")
    if raw:
        raise ParameterError("numbers are shrunk or raw", "--shrink and --raw", "Drop one of them.")
    if by:
        raise ParameterError("--shrink is for one release", "--by", "Shrink each group in Python.")


@command(first="epsilon range quantile grid columns unit ledger out")
def radius_command(
    curves: sources.Files,
    *,
    quantile: Annotated[float, typer.Option(help="Share of the curves that the radius should hold.")] = 0.95,
    limits: options.Limits,
    smallest: Annotated[
        float | None, typer.Option(help="Smallest radius on offer, public. Default: a 32nd of the bound's.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how far off it can be, from --n, epsilon and the bound.")
    ] = False,
    grid: options.GridText = None,
    axis: options.Axis = "t",
    protection: options.Protection,
    units: sources.Units,
    gaps: sources.Gaps,
    reading: sources.Reading,
    charge: options.Charge,
    output: outputs.TextOutputs,
    display: outputs.Display,
) -> None:
    """Suggest a radius for a bound: a private quantile of the curves' norms.

    It is looked for within a wide public bound that surely holds the curves, and costs epsilon, which is charged. Where
    it could be anything it is refused, and nothing is charged. With --dry-run no file is opened.

    Example: dpfda radius curves.csv --epsilon 0.1 --range 0:400
    """
    bound = _wide_bound(limits)
    public = parsing.parse_grid(grid, axis) if grid else None
    if dry_run:
        facts = protection.keywords() | units.keywords() | {"bound": bound, "quantile": quantile, "smallest": smallest}
        _say_what_it_is_worth(facts, public, display.as_json)
        return
    ledger = charge.opened()
    with (
        output.reserved(*sources.local(curves), charge.ledger) as write,
        reading.opened(curves, display.silent, **gaps.keywords()) as records,
    ):
        release = api.suggest_radius(
            records, bound=bound, quantile=quantile, smallest=smallest, ledger=ledger,
            grid=public, **protection.keywords(), **units.keywords(),
        )  # fmt: skip
        written = write(release, ledger)
    if display.as_json:
        out.print_json(data={**outputs.shown(release), "written": written})
    elif display.quiet:
        out.print(f"{release.radius:.6g}")
    else:
        out.print(outputs.told(release))


def _say_what_it_is_worth(facts: Keywords, grid: Grid | FromHeader | None, as_json: bool) -> None:
    """The plan of a radius, before data."""
    if facts["n"] is None or not isinstance(grid, Grid):
        raise ParameterError(
            "before data a radius needs the public number of curves and their grid",
            "none, or one in a header",
            "Pass --n 1000 --grid 0:24:48, say.",
        )
    plan = RadiusPlan(grid=grid, **facts)
    plan.check_worth()
    out.print_json(data=outputs.figures(plan)) if as_json else out.print(repr(plan))


def _wide_bound(limits: options.Limits) -> BallLike:
    if limits.range is limits.radius is limits.rms is None:
        raise ParameterError(
            "a radius is looked for within a public bound that surely holds the curves",
            "none",
            "Pass --range LOW:HIGH for values between two public numbers; it may be wide.",
        )
    return cast(BallLike, limits.bound())
