"""What plans about curves share: the same public facts, checked and spoken of in the same way."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from dpfda.bounds.bodies import Bound, L2Ball
from dpfda.bounds.units import UnitBound
from dpfda.core.checks import (
    INVALID,
    NEIGHBORS,
    as_epsilon,
    check_choice,
    check_integer,
    check_value,
    number_of_records,
)
from dpfda.core.errors import ParameterError, shown
from dpfda.core.nouns import Nouns, a, check_record
from dpfda.plans.checks import check_method
from dpfda.results.wording import bound_meaning, bound_words, describe_bound
from dpfda.spaces.alignment import Alignment
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.kernels import as_kernel
from dpfda.spaces.own_times import Smooth, as_align
from dpfda.spaces.pooling import Pooling
from dpfda.spaces.stationary import Matern
from dpfda.spaces.units import as_unit

if TYPE_CHECKING:
    from dpfda.plans.covariance import CovariancePlan
    from dpfda.plans.mean import MeanPlan
    from dpfda.plans.radius import RadiusPlan
    from dpfda.plans.regression import RegressionPlan

    #: Plans whose records are curves, and those that say how the records come about.
    AlignedPlan: TypeAlias = MeanPlan | CovariancePlan | RadiusPlan
    CurvePlan: TypeAlias = AlignedPlan | RegressionPlan


def check_curves(plan: CurvePlan, bound: type, alone: str, length: float = 0.1) -> None:
    """Check the public facts of a plan and bring them into their final form; `alone` says why n is at least two.

    `length` is the length scale of the default kernel, as a share of the domain.
    """
    check_records(plan, bound, alone)
    default = float(f"{length * plan.grid.length:.12g}")  # a number that reads well
    kernel = Matern(length_scale=default) if plan.kernel is None else as_kernel(plan.kernel)
    object.__setattr__(plan, "kernel", kernel.on(plan.grid))
    check_method(getattr(plan, "method", None))


def check_records(plan: CurvePlan, bound: type, alone: str) -> None:
    """The same for what every plan about curves has: no kernel, no method."""
    put = partial(object.__setattr__, plan)
    check_value(plan.value)
    check_record(plan.record)
    put("epsilon", as_epsilon(plan.epsilon))
    put("n", number_of_records(plan.n, alone))
    if isinstance(plan.bound, UnitBound):
        put("bound", _ball(plan))
    ball = bound is L2Ball and type(plan.bound) is not L2Ball  # covariances and regressions square its radius
    if ball or not isinstance(plan.bound, bound):
        rule = "bound must be a public bound on one curve" + ("" if bound is Bound else ", an L2 ball")
        raise ParameterError(rule, shown(plan.bound), _bound_cure(plan.bound))
    put("grid", as_grid(plan.grid))
    check_choice("neighbors", plan.neighbors, NEIGHBORS)
    check_choice("invalid", plan.invalid, INVALID)
    check_choice("standardize", plan.standardize, (False, True))
    if plan.fill is not None:
        put("fill", check_integer("fill", plan.fill, 1, "It is the longest gap, in points, that may be interpolated."))
        if not curves_grid(plan).domain.is_line:
            raise ParameterError("gaps are filled along curves", "a surface", "Fill surfaces beforehand.")
    put("bound", by_component(plan.bound, plan.grid))
    plan.bound.center_on(plan.grid.size)


def by_component(bound: Bound, grid: AnyGrid) -> Bound:
    """A bound whose centre has one level for each component, point by point; others as they are."""
    center = bound.center
    if center is None or not center.size == grid.count > 1:
        return bound
    return replace(bound, center=np.repeat(center, grid.domain.size))


def curves_grid(plan: CurvePlan) -> AnyGrid:
    """Where curves live as they are read: elsewhere than the release, if that is of a function of them."""
    own: AnyGrid | None = getattr(plan, "records_grid", None)
    return plan.grid if own is None else own


def _ball(plan: CurvePlan) -> L2Ball:
    """What a bound in units is on the grid of the plan."""
    assert isinstance(plan.bound, UnitBound)
    if plan.standardize:
        raise ParameterError(
            "a bound in the units of the curves is for curves that keep them",
            f"dp.{type(plan.bound).__name__} with standardize=True",
            "Pass bound=dp.L2Ball(1.0): standardised curves have norm one.",
        )
    return plan.bound.on(as_grid(plan.grid))


def _bound_cure(given: object) -> str:
    """What to pass instead of this."""
    never = "there is no default, and it is never read from data"
    if isinstance(given, tuple | list) and len(given) == 2:
        return f"Pass bound=dp.Range(low, high) for values between these two: {never}."
    if given is None:
        never += " (dp.suggest_radius finds one privately, for a small budget)"
    return (
        "Pass bound=dp.Range(low, high) for values between two public numbers, or dp.L2Ball(radius, center) for a "
        f"norm: {never}."
    )


def check_alignment(plan: AlignedPlan) -> None:
    """The same for the rules by which records come about."""
    object.__setattr__(plan, "unit", as_unit(plan.unit))
    object.__setattr__(plan, "align", as_align(plan.align))
    if plan.align is not None and not curves_grid(plan).is_line:
        raise ParameterError("align is for curves on a line", "a surface", "Bring surfaces to the grid beforehand.")


def alignment_of(plan: AlignedPlan, pooling: Pooling | None = None) -> Alignment | None:
    """The rules by which records come about, if there are any; `pooling` where they are not curves."""
    if plan.unit is None and plan.align is None and pooling is None:
        return None
    grid, center = curves_grid(plan), plan.bound.center_on(plan.grid.size)
    elsewhere = isinstance(plan.align, Smooth) and grid is not plan.grid  # the plan's own kernel is not about curves
    basis = Matern().on(grid).basis(grid) if elsewhere else plan.kernel.basis(plan.grid)
    lenient = plan.invalid == "center"
    return Alignment(grid, basis, center, plan.bound.outer, lenient, plan.fill, plan.unit, plan.align, pooling)


def as_grid(grid: object) -> AnyGrid:
    """A grid, or a number of points on [0, 1]."""
    if isinstance(grid, int | np.integer) and not isinstance(grid, bool):
        return Grid.uniform(0, 1, int(grid))
    if not isinstance(grid, AnyGrid):
        times = isinstance(grid, np.ndarray | list | tuple | range)
        raise ParameterError(
            "grid must be a Grid (or a product of two) or a number of points",
            type(grid).__name__ if times else shown(grid),
            "Pass grid=dp.Grid(times), where times are these numbers."
            if times
            else "Pass grid=dp.Grid.uniform(0, 1, 48), or grid=48.",
        )
    return grid


def only_curves(grid: AnyGrid, what: str) -> None:
    """Refuse surfaces where records must be curves."""
    if not grid.is_line:
        raise ParameterError(f"{what} is for curves", grid.description or "a grid of surfaces", "Use one axis.")


def with_words(grid: AnyGrid) -> str:
    """What is said of records with several components after they are named."""
    return f" with {grid.description}" if grid.description else ""


def curve_words(plan: CurvePlan, noun: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Rows of the table and the paragraph about how each record is treated."""
    together = ", over all components together" if plan.grid.count > 1 else ""
    bound = describe_bound(plan.bound, plan.grid.volume) + together
    rows, more = curve_facts(plan, noun)
    told: tuple[tuple[str, str], ...] = ()
    if has_units(plan):
        meaning = bound_meaning(cast(L2Ball, plan.bound), plan.grid, noun)
        told, more = (("in their units", meaning),), f" {meaning[:1].upper()}{meaning[1:]}.{more}"
    text = (
        f"Each {noun} is clipped to a public bound before it is used ({bound_words(plan.bound, plan.grid.volume)}"
        f"{together}). The guarantee holds whatever the data is; only accuracy depends on the bound being a good one."
        f"{more}"
    )
    values = () if plan.value is None else (("values", plan.value),)
    return (("bound", bound), *told, *values, ("grid", repr(plan.grid)), *rows), text


def has_units(plan: CurvePlan) -> bool:
    """Whether the bound can be told in the units of the curves: a ball, of curves that keep theirs."""
    return type(plan.bound) is L2Ball and not plan.standardize


def curve_facts(plan: CurvePlan, noun: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Rows and sentences about what happens to each record before it is used, if anything does."""
    rows, text, mean = [], "", "own mean"
    if plan.grid.count > 1:
        rows.append(("records", f"curves{with_words(plan.grid)}, one record each"))
        text += (
            f" Records are curves{with_words(plan.grid)}: one norm, and one guarantee, for all components of a curve."
        )
        mean = "own mean of each component"
    if plan.standardize:
        rows.append(("standardize", f"each {noun}: {mean} removed, own norm divided out"))
        text += f" Before that, each {noun} has its {mean} removed and is divided by its own norm."
    align, unit = getattr(plan, "align", None), getattr(plan, "unit", None)
    if align is not None:
        rows.append(("align", align.description))
        text += f" A {noun} observed at its own times, or with gaps, is brought to the grid alone: {align.description}."
    if unit is not None:
        who = Nouns.of(noun, plan.record, unit.name).record
        rows.append(("unit", unit.described(who)))
        each = "" if getattr(plan, "of", None) is None else ", each by what the function gives for it"
        text += f" {a(who, opening=True)} contributes once: {unit.described(who)} before the clip{each}."
    if plan.fill is not None:
        rows.append(("fill", f"own gaps of at most {plan.fill} points, by linear interpolation"))
        text += f" Gaps of at most {plan.fill} points are interpolated within the curve."
    return tuple(rows), text
