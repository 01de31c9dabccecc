"""Means of functions of curves: the function checked, its bound and its grid put into the plan, and words about it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dpfda.bounds.bodies import Bound
from dpfda.bounds.function_records import Functions
from dpfda.bounds.function_trials import values_grid
from dpfda.bounds.units import Range, UnitBound
from dpfda.core.errors import ParameterError
from dpfda.plans.curves import as_grid, by_component, curve_facts, curves_grid
from dpfda.results.wording import bound_words, describe_bound
from dpfda.spaces.alignment import unfilled
from dpfda.spaces.grid import AnyGrid

if TYPE_CHECKING:
    from dpfda.plans.mean import MeanPlan


def take_function(plan: MeanPlan) -> None:
    """What follows from the function of a plan, if it has one: where the release lives, and the bound.

    A plan that was made already has both, and its curves' own grid where they live elsewhere: they must fit.
    """
    put = partial(object.__setattr__, plan)
    if plan.of is None:
        if plan.records_grid is not None:
            raise ParameterError("records_grid belongs to a function of curves", "no function", "Pass grid alone.")
        return
    if plan.standardize:
        raise ParameterError("a function is of the curve as it is", "of with standardize=True", "Drop standardize.")
    curves = as_grid(plan.grid if plan.records_grid is None else plan.records_grid)
    grid = values_grid(plan.of, curves)
    if plan.records_grid is not None and plan.grid != grid:
        raise ParameterError(
            "the grid of a release follows from the function and the grid of the curves",
            "another one",
            "Pass grid=<where curves live>, and no records_grid.",
        )
    put("grid", grid)
    put("records_grid", None if grid == curves else curves)
    bound = _bound(plan, grid)
    if plan.bound is not None and plan.bound != bound:
        raise ParameterError("a function of a curve brings its own bound", "of with another bound", "Drop bound.")
    put("bound", bound)


def _bound(plan: MeanPlan, grid: AnyGrid) -> Bound:
    assert plan.of is not None
    bound = plan.of.bound
    return by_component(bound.on(grid) if isinstance(bound, UnitBound) else bound, grid)


def function_pooling(plan: MeanPlan) -> Functions | None:
    """What records are, where a plan is about a function of curves."""
    if plan.of is None:
        return None
    bridge = "pass align='linear' to bridge gaps, or" if plan.align is None else "pass"
    instead = "count it as the centre" if plan.unit is None else "leave it out of its average"
    return Functions(
        plan.invalid == "center", plan.unit, plan.bound.center_on(plan.grid.size), plan.bound.outer, plan.grid.weights,
        f"A curve holds missing or infinite values{unfilled(plan.fill)}",
        f"Repair it, {bridge} invalid='center' to {instead}.",
        function=plan.of, grid=curves_grid(plan), fill=plan.fill,
    )  # fmt: skip


def function_words(plan: MeanPlan, noun: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Rows of the table and the paragraph about how each record is treated, as other plans have them."""
    assert plan.of is not None
    bound, rows, facts = plan.of.bound, *curve_facts(plan, noun)
    values = f"values between {bound.low:g} and {bound.high:g}" if isinstance(bound, Range) else "its own bound"
    text = (
        f"What is used of each {noun} is {plan.of.description}: a function of that {noun} alone. It brings a public "
        f"bound ({values}), to which whatever it gives is clipped "
        f"({bound_words(plan.bound, plan.grid.volume)}). The guarantee holds whatever the data is; it does not rest on "
        f"the function being right.{facts}"
    )
    if plan.postprocess:
        text += " After the noise, the mean is brought to what every mean of such values is."
    where = () if plan.records_grid is None else ((f"grid of {noun}s", repr(plan.records_grid)),)
    named = () if plan.value is None else (("values", plan.value),)
    described = f"{values}: {describe_bound(plan.bound, plan.grid.volume)}"
    told = (("function", plan.of.description), ("bound", described), *named, ("grid", repr(plan.grid)), *where)
    return (*told, *rows), text
