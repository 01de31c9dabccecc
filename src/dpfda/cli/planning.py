"""`dpfda plan` and `dpfda compare`: accuracy before data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from dpfda.api import curves as api
from dpfda.cli import options as opt
from dpfda.cli import parsing
from dpfda.cli import sources as src
from dpfda.cli.console import guarded, out
from dpfda.core import files
from dpfda.core.errors import ParameterError, shown
from dpfda.plans import CovariancePlan, GroupPlan
from dpfda.results import plots, statements


@guarded
def plan_command(
    context: typer.Context,
    n: opt.N = None,
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
    groups: Annotated[
        str | None, typer.Option(help="One plan per group, with its n: north=500,south=800 (means, covariances).")
    ] = None,
    domain: opt.Domain = None,
    cells: opt.Cells = None,
    bandwidth: opt.Bandwidth = None,
    eta: opt.Eta = None,
    outside: opt.Outside = "raise",
    edges: opt.Edges = None,
    raw: opt.Raw = False,
    covariance: Annotated[bool, typer.Option("--covariance", help="Plan a covariance surface instead.")] = False,
    output: Annotated[Path | None, typer.Option("--out", help="Write the plan.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say in plain words what it means.")] = False,
    target: Annotated[
        float | None, typer.Option(help="Also find the epsilon and the n whose expected risk (squared L2) is this.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Plan a mean curve, a covariance or (with --domain) a density before touching data: how accurate will it be?

    Example: dpfda plan --n 1000 --epsilon 1 --radius 1 --grid 0:1:48 --explain
    """
    plan: Any
    if domain:
        others: tuple[str, ...] = (
            "radius", "norm", "center", "grid", "standardize", "fill", "covariance", "unit", "most", "order", "align",
            "groups",
        )  # fmt: skip
        check_kind(context, others, "a density", "--domain")
        names = None if axis == "t" else axis.split(",")
        plan = opt.density_without_data(
            n,
            **opt.density_options(
                epsilon, domain, cells, edges, names, kernel, bandwidth, eta, method,
                neighbors=neighbors, invalid=invalid, outside=outside, postprocess=not raw,
            ),
        )  # fmt: skip
    else:
        others = ("cells", "bandwidth", "eta", "outside", "edges", *(("norm",) if covariance else ("raw",)))
        check_kind(context, others, "a covariance" if covariance else "a mean curve", "no --domain")
        more: dict[str, Any] = {"kind": CovariancePlan, "postprocess": not raw} if covariance else {}
        facts = opt.plan_options(
            epsilon, radius, norm, center, grid, axis, kernel, method,
            neighbors=neighbors, invalid=invalid, standardize=standardize, fill=fill,
            **src.rules(unit, most, order, align),
        )  # fmt: skip
        if groups is not None:
            plan_groups(n, groups, {**more, **facts}, output, as_json, explain, target)
            return
        plan = opt.plan_without_data(n, **more, **facts)
    if output:  # a target out of reach must not cost the plan
        files.write_whole(output, plan.to_json())
    if not as_json:
        out.print(plan.explain() if explain else repr(plan))
    reach = (
        {}
        if target is None
        else {"target": target, "epsilon_for_target": plan.solve(target), "n_for_target": plan.solve(target, vary="n")}
    )
    if as_json:
        out.print_json(data={**opt.figures(plan), **reach})
        return
    if reach:
        epsilon_needed = np.ceil(reach["epsilon_for_target"] * 1e4) / 1e4
        out.print(
            f"  risk {target:g} needs epsilon {epsilon_needed:g} at this n, "
            f"or n {reach['n_for_target']:,} at this epsilon"
        )
    if output:
        out.print(f"Written: {output}")


def plan_groups(
    n: int | None, text: str, facts: dict[str, Any], output: Path | None, as_json: bool, explain: bool, target: Any
) -> None:
    """One plan per group, each with its own number of records."""
    cure = "Write --groups north=500,south=800."
    if n is not None or target is not None:
        raise ParameterError("groups have their own n, and no target", "--n or --target", cure)
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(size.isdigit() for _, _, size in pairs):
        raise ParameterError("groups are names with their n", shown(text), cure)
    plans = [opt.plan_without_data(int(size), **facts) for _, _, size in pairs]
    plan = GroupPlan(tuple(name for name, _, _ in pairs), tuple(plans))
    if output:
        files.write_whole(output, plan.to_json())
    if as_json:
        each = {name: opt.figures(part) for name, part in zip(plan.groups, plan.plans, strict=True)}
        out.print_json(data={"plan": plan.digest, "epsilon": str(plan.epsilon), "groups": each})
        return
    out.print(f"{plan.composition}\n\n{plan!r}" if explain else repr(plan))
    if output:
        out.print(f"Written: {output}")


def check_kind(context: typer.Context, others: Sequence[str], kind: str, because: str) -> None:
    """Options of another kind of plan are refused: silence would plan something else than was asked for."""
    given = [name for name in others if str(context.get_parameter_source(name)).endswith("COMMANDLINE")]
    if given:
        raise ParameterError(
            f"with {because} this is {kind}", ", ".join(f"--{name}" for name in given), "Drop these, or change that."
        )


@guarded
def compare_command(
    context: typer.Context,
    n: opt.N = None,
    radius: opt.Radius = None,
    norm: opt.Norm = "l2",
    center: opt.Center = None,
    grid: opt.GridText = None,
    kernel: opt.KernelText = None,
    neighbors: opt.Neighbors = "replace",
    domain: opt.Domain = None,
    cells: opt.Cells = None,
    bandwidth: opt.Bandwidth = None,
    eta: opt.Eta = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods, separated by spaces. Default: auto frl ar qr minimax knorm.")
    ] = None,
    epsilons: Annotated[str, typer.Option(help="Budgets, separated by spaces.")] = "1/8 1/4 1/2 1 2 4",
    measure: Annotated[str, typer.Option(help="risk (noise plus prior bias) or error (noise).")] = "risk",
    plot: Annotated[Path | None, typer.Option(help="Write a picture (PNG).")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare methods over budgets, without data.

    Example: dpfda compare --n 508 --radius 1 --grid 0:1:48 --epsilons "1/2 1 2" --plot compare.png
    """
    if measure not in ("risk", "error"):
        raise ParameterError("measure must be risk or error", shown(measure), "Write --measure risk.")
    budgets = epsilons.split()
    chosen = (methods or ("frl qr minimax knorm" if domain else "auto frl ar qr minimax knorm")).split()
    if not budgets or not chosen:
        raise ParameterError("a comparison needs methods and budgets", "none", "Write --epsilons '1/2 1 2'.")
    base: Any
    if domain:
        check_kind(context, ("radius", "norm", "center", "grid"), "a density", "--domain")
        base = opt.density_without_data(
            n,
            **opt.density_options(
                budgets[0], domain, cells, None, None, kernel, bandwidth, eta, "knorm", neighbors=neighbors
            ),
        )
    else:
        check_kind(context, ("cells", "bandwidth", "eta"), "a mean curve", "no --domain")
        base = opt.plan_without_data(
            n,
            **opt.plan_options(budgets[0], radius, norm, center, grid, "t", kernel, "minimax", neighbors=neighbors),
        )
    plans = api.compare(base, [parsing.parse_method(m) for m in chosen], budgets)
    marked = {name: f"{name} (not pure)" if row[0].delta else name for name, row in plans.items()}
    risks = {marked[name]: [getattr(p, f"expected_{measure}") for p in row] for name, row in plans.items()}
    if plot:
        opt.check_picture(plot)
        ax = plots.comparison([float(p.epsilon) for p in next(iter(plans.values()))], risks)
        ax.set_title(f"n = {base.n:,}, {base.wording.rows[0][1]}", loc="left", fontsize=9)
        files.write_whole(plot, plots.png(ax))
    if as_json:
        out.print_json(data={"measure": f"expected_{measure}", "epsilons": budgets, "methods": risks})
        return
    table = Table(title=f"expected {measure}, squared L2, n = {base.n:,}", title_justify="left")
    table.add_column("method")
    for budget in budgets:
        table.add_column(f"eps {budget}", justify="right")
    for name, values in risks.items():
        table.add_row(name, *(statements.number(v) for v in values))
    out.print(table)
