"""`dpfda plan` and `dpfda compare`: accuracy before data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from dpfda import api
from dpfda.bounds import Range
from dpfda.cli import options, outputs, parsing, sources
from dpfda.cli.commands import Keywords, command, given
from dpfda.cli.console import out
from dpfda.core import files
from dpfda.core.errors import ParameterError, shown
from dpfda.plans import CovariancePlan, DensityPlan, GroupPlan, MeanPlan, PercentilePlan, SurvivalPlan
from dpfda.plans.base import Plan
from dpfda.plans.bound_fit import bound_fit
from dpfda.results import plots
from dpfda.results.wording import number
from dpfda.spaces.grid import Grid

#: Options of curves that a density does not have, and of densities that curves do not have.
OF_CURVES = (*options.Limits.names(), *options.Functions.names(), "norm", "grid")
OF_DENSITIES = ("cells", "bandwidth", "eta")
#: Options that survival does not have.
NOT_OF_SURVIVAL = (
    *(name for name in options.Estimate.names() if name != "axis"), *options.Bins.names(), *options.Functions.names(),
    *sources.Gaps.names(), "norm", "covariance", "value", "guess", "levels",
)  # fmt: skip
#: Options that percentiles do not have.
NOT_OF_PERCENTILES = (
    *(name for name in options.Estimate.names() if name not in options.Ranks.names()), *options.Bins.names(),
    *options.Functions.names(), "norm", "covariance", "guess",
)  # fmt: skip
#: Options of means that covariances do not have.
OF_MEANS = ("norm", *options.Functions.names())
#: Verdicts in a crowded table.
SHORT = {"mostly noise": "noise"}
RULES_OF_CURVES = (*sources.Units.names(), *sources.Gaps.names(), "standardize", "covariance", "value")


@command(first="n epsilon range radius grid domain horizon levels covariance unit explain target output")
def plan_command(
    context: typer.Context,
    *,
    protection: options.Protection,
    norm: options.Norm = "l2",
    functions: options.Functions,
    estimate: options.Estimate,
    value: options.Value = None,
    units: sources.Units,
    gaps: sources.Gaps,
    bins: options.Bins,
    horizon: options.HorizonTime = None,
    levels: options.Levels = None,
    groups: Annotated[str | None, typer.Option(help="One plan per group, with its n: north=500,south=800.")] = None,
    covariance: Annotated[bool, typer.Option("--covariance", help="Plan a covariance surface instead.")] = False,
    output: Annotated[Path | None, typer.Option("--out", help="Write the plan.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say in plain words what it means.")] = False,
    target: Annotated[
        float | None, typer.Option(help="Also find the epsilon and the n whose expected risk (squared L2) is this.")
    ] = None,
    guess: Annotated[
        str | None,
        typer.Option(
            help="Public guess: curves usually lie between low:high, or about a level. Says whether the bound suits it."
        ),
    ] = None,
    as_json: outputs.AsJson = False,
) -> None:
    """Plan a mean, a covariance, a density (--domain), survival (--horizon) or percentiles (--levels) before data.

    Example: dpfda plan --n 1000 --epsilon 1 --radius 1 --grid 0:1:48 --explain
    """
    plan: Plan | GroupPlan
    if horizon is not None:
        _check_kind(context, NOT_OF_SURVIVAL, "a survival curve", "--horizon")
        axis = {} if estimate.axis == "t" else {"axis": estimate.axis}
        keywords = protection.keywords() | units.keywords() | {"horizon": horizon, **axis}
        plan = _planned(SurvivalPlan, keywords, groups, target)
    elif levels is not None:
        _check_kind(context, NOT_OF_PERCENTILES, "percentile curves", "--levels")
        ranks = options.Ranks(estimate.range, levels, estimate.grid, estimate.axis)
        keywords = protection.keywords() | ranks.keywords() | units.keywords() | gaps.keywords() | {"value": value}
        _check_grid(keywords)
        plan = _planned(PercentilePlan, keywords, groups, target)
    elif bins.domain:
        _check_kind(context, (*OF_CURVES, *RULES_OF_CURVES, "guess"), "a density", "--domain")
        keywords = _of_density(protection, bins, estimate.kernel, estimate.method, _as_drawn(estimate))
        plan = _planned(DensityPlan, keywords, groups, target)
    else:
        others = (*OF_DENSITIES, "outside", "edges", *(OF_MEANS if covariance else ("raw",)))
        _check_kind(context, others, "a covariance" if covariance else "a mean curve", "no --domain")
        keywords = protection.keywords() | estimate.keywords(norm, functions.function())
        keywords |= units.keywords() | gaps.keywords() | {"value": value}
        _check_grid(keywords)
        plan = _planned(CovariancePlan if covariance else MeanPlan, keywords, groups, target)
    guessed = {} if guess is None else _guessed(plan, parsing.parse_guess(guess))
    if output:  # a target out of reach must not cost the plan
        files.write_whole(output, plan.to_json())
    if as_json:
        told = {"guess": guessed if isinstance(plan, GroupPlan) else guessed[""]} if guessed else {}
        out.print_json(data={**outputs.figures(plan), **_reach(plan, target), **told})
        return
    _print_plan(plan, explain, guessed)
    if reach := _reach(plan, target):
        epsilon_needed = np.ceil(reach["epsilon_for_target"] * 1e4) / 1e4
        out.print(
            f"  risk {target:g} needs epsilon {epsilon_needed:g} at this n, "
            f"or n {reach['n_for_target']:,} at this epsilon"
        )
    if output:
        out.print(f"Written: {output}")


def _as_drawn(estimate: options.Estimate) -> Keywords:
    """What the coordinates of a density are called, and whether it is shrunk."""
    return {"axes": None if estimate.axis == "t" else estimate.axis.split(","), "postprocess": not estimate.raw}


def _of_density(
    protection: options.Protection, box: options.Box, kernel: str | None, method: str | None, more: Keywords
) -> Keywords:
    """What the plan of a density is told."""
    keywords = protection.keywords() | box.keywords() | more
    keywords["kernel"] = parsing.if_given(parsing.parse_kernel, kernel)
    keywords["method"] = parsing.if_given(parsing.parse_method, method)
    return keywords


def _print_plan(plan: Plan | GroupPlan, explain: bool, guessed: dict[str, str]) -> None:
    out.print(_explained(plan) if explain else repr(plan))
    if plan.verdict.word == "coarse" or (isinstance(plan, GroupPlan) and plan.verdict.cure):
        out.print(f"  {plan.verdict.cure}")
    for name, sentences in guessed.items():
        out.print(f"  {name or 'guess'}: {sentences}")


def _planned(
    kind: Callable[..., Plan], keywords: Keywords, groups: str | None, target: float | None
) -> Plan | GroupPlan:
    """One plan, or one per group."""
    return _plan_of(kind, keywords) if groups is None else _group_plan(kind, groups, keywords, target)


def _check_grid(keywords: Keywords) -> None:
    if not isinstance(keywords["grid"], Grid):  # no file is read here, and no header
        given = "none" if keywords["grid"] is None else "--grid header"
        raise ParameterError("a plan needs a grid", given, "Pass --grid start:stop:size, for example --grid 0:24:48.")


def _plan_of(kind: Callable[..., Plan], keywords: Keywords) -> Plan:
    if keywords["n"] is None:
        record = "records" if kind is SurvivalPlan else "points" if kind is DensityPlan else "curves"
        raise ParameterError(f"a plan needs the public number of {record}", "none", "Pass --n 1000.")
    return kind(**keywords)


def _group_plan(kind: Callable[..., Plan], groups: str, keywords: Keywords, target: float | None) -> GroupPlan:
    """One plan per group, each with its own number of records."""
    cure = "Write --groups north=500,south=800."
    if keywords["n"] is not None or target is not None:
        raise ParameterError("groups have their own n, and no target", "--n or --target", cure)
    pairs = [part.partition("=") for part in groups.split(",")]
    if not all(size.isdigit() for _, _, size in pairs):
        raise ParameterError("groups are names with their n", shown(groups), cure)
    plans = tuple(_plan_of(kind, keywords | {"n": int(size)}) for _, _, size in pairs)
    return GroupPlan(tuple(name for name, _, _ in pairs), plans)


def _explained(plan: Plan | GroupPlan) -> str:
    return plan.explain() if isinstance(plan, Plan) else f"{plan.composition}\n\n{plan!r}"


def _guessed(plan: Plan | GroupPlan, guess: float | Range) -> dict[str, str]:
    """What a plan, or one per group, is for a public guess: of a mean its verdict too."""
    found = {}
    for name, member in plan.members.items():
        if isinstance(member, MeanPlan):
            found[name] = str(member.verdict_for(guess))
        elif isinstance(member, CovariancePlan):
            found[name] = bound_fit(guess, member.bound, member.grid).sentence
    return found


def _reach(plan: Plan | GroupPlan, target: float | None) -> dict[str, Any]:
    """What it takes to have a target as the expected risk."""
    if target is None or isinstance(plan, GroupPlan):
        return {}
    return {"target": target, "epsilon_for_target": plan.solve(target), "n_for_target": plan.solve(target, vary="n")}


def _check_kind(context: typer.Context, others: Iterable[str], kind: str, because: str) -> None:
    """Options of another kind of plan are refused: silence would plan something else than was asked for."""
    if foreign := given(context, others):
        raise ParameterError(f"with {because} this is {kind}", ", ".join(foreign), "Drop these, or change that.")


@command(first="n range radius grid domain methods epsilons plot")
def compare_command(
    context: typer.Context,
    *,
    n: options.N = None,
    limits: options.Limits,
    norm: options.Norm = "l2",
    grid: options.GridText = None,
    kernel: options.KernelText = None,
    neighbors: options.Neighbors = "replace",
    box: options.Box,
    methods: Annotated[
        str | None, typer.Option(help="Methods, separated by spaces. Default: auto frl ar qr minimax knorm.")
    ] = None,
    epsilons: Annotated[str, typer.Option(help="Budgets, separated by spaces.")] = "1/8 1/4 1/2 1 2 4",
    measure: Annotated[str, typer.Option(help="risk (noise plus prior bias) or error (noise).")] = "risk",
    plot: outputs.Picture = None,
    as_json: outputs.AsJson = False,
) -> None:
    """Compare methods over budgets, without data.

    Example: dpfda compare --n 508 --radius 1 --grid 0:1:48 --epsilons "1/2 1 2" --plot compare.png
    """
    if measure not in ("risk", "error"):
        raise ParameterError("measure must be risk or error", shown(measure), "Write --measure risk.")
    budgets = epsilons.split()
    chosen = (methods or ("frl qr minimax knorm" if box.domain else "auto frl ar qr minimax knorm")).split()
    if not budgets or not chosen:
        raise ParameterError("a comparison needs methods and budgets", "none", "Write --epsilons '1/2 1 2'.")
    protection = options.Protection(epsilon=budgets[0], n=n, neighbors=neighbors)
    base: Any
    if box.domain:
        _check_kind(context, OF_CURVES, "a density", "--domain")
        base = _plan_of(DensityPlan, _of_density(protection, box, kernel, "knorm", {}))
    else:
        _check_kind(context, OF_DENSITIES, "a mean curve", "no --domain")
        estimate = options.Estimate(**vars(limits), grid=grid, kernel=kernel, method="minimax")
        keywords = protection.keywords() | estimate.keywords(norm)
        _check_grid(keywords)
        base = _plan_of(MeanPlan, keywords)
    plans = api.compare(base, [parsing.parse_method(text) for text in chosen], budgets)
    marked = {name: f"{name} (not pure)" if row[0].delta else name for name, row in plans.items()}
    risks = {marked[name]: [getattr(plan, f"expected_{measure}") for plan in row] for name, row in plans.items()}
    verdicts = {marked[name]: [plan.verdict.word for plan in row] for name, row in plans.items()}
    if plot:
        outputs.check_picture(plot)
        title = f"n = {base.n:,}, {base.wording.rows[0][1]}"
        ax = plots.comparison([float(plan.epsilon) for plan in next(iter(plans.values()))], risks, title=title)
        files.write_whole(plot, plots.picture(ax, plot.suffix))
    if as_json:
        numbers = [float(plan.epsilon) for plan in next(iter(plans.values()))]
        figures = {"measure": f"expected_{measure}", "epsilons": numbers, "methods": risks, "verdicts": verdicts}
        out.print_json(data=figures)
    else:
        out.print(_risk_table(f"expected {measure}, squared L2, n = {base.n:,}", budgets, risks, verdicts))


def _risk_table(
    title: str, budgets: Sequence[str], risks: dict[str, list[float]], verdicts: dict[str, list[str]]
) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("method")
    for budget in budgets:
        table.add_column(f"eps {budget}", justify="right")
    for name, values in risks.items():
        words = (SHORT.get(word, word) for word in verdicts[name])
        table.add_row(name, *(f"{number(value)} {word}" for value, word in zip(values, words, strict=True)))
    return table
