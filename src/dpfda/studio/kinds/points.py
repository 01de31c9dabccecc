"""Single numbers: how they are distributed, and times to an event."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpfda.plans import DensityPlan, SurvivalPlan
from dpfda.studio import shapes
from dpfda.studio.fields import Facts, Field, Fieldset, WrongField, to_text
from dpfda.studio.kinds.base import (
    EPSILON,
    GROUPS,
    KNOWN,
    MORE,
    NUMBER,
    PERSON,
    PROTECT,
    RECORD,
    Chosen,
    Kind,
    Role,
    budget,
    ends,
    number_of,
    pairs,
    repeated,
    unit,
    with_unit,
)
from dpfda.studio.said import OnePlan, Recipe, Said

#: The domain of the first coordinate: no record lies beyond it.
ONE = (
    Field("axis", "What is measured", default="age", half=True),
    Field("axis_unit", "Its unit", default="years", half=True),
    Field("low", "Lowest possible value", "number", "0", hint="from knowledge, not from the data", half=True),
    Field("high", "Highest possible value", "number", "110", half=True),
)
TWO = (
    Field("axis2", "A second number", hint="empty for one", half=True),
    Field("axis2_unit", "Its unit", half=True),
    Field("low2", "Its lowest possible value", "number", "0", half=True),
    Field("high2", "Its highest possible value", "number", "1", half=True),
)


class Density(Kind):
    """How one or two numbers of each person are distributed."""

    key, title, verb = "density", "How a number is distributed (density)", "density"
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        Fieldset("Who and how much", (RECORD, NUMBER, KNOWN, EPSILON, GROUPS),
                 hint="one row each: a second row of a person is not protected with the first"),
        Fieldset("What the number can be", (*ONE, *TWO)),
        Fieldset("What you expect to see",
                 (Field("shape", "Shape", "choice", "hump", choices=tuple(shapes.DENSITIES.items())),),
                 hint="a public guess, never the data"),
        Fieldset("More", (
            Field("outside", "A number beyond these limits", "choice", "raise",
                  choices=(("raise", "stops the run"), ("clip", "counts as the limit"))),
            *MORE.fields,
        ), closed=True),
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        n, groups = number_of(facts)
        sides = [ends(facts, "low", "high", "value")]
        axes = [with_unit(facts["axis"] or "x", facts["axis_unit"])]
        if facts["axis2"]:
            sides.append(ends(facts, "low2", "high2", "value"))
            axes.append(with_unit(facts["axis2"], facts["axis2_unit"]))
        said = [
            *budget(facts),
            Said("domain", sides, f"[{pairs(sides)}]", repeated("--domain", sides)),
            Said("axes", axes, repr(axes), ("--axis", ",".join(axes))),
        ]
        if facts.choice("outside", ("raise", "clip")) == "clip":
            said.append(Said("outside", "clip", command=("--outside", "clip")))
        return Recipe(DensityPlan, "DensityPlan", tuple(said), n, groups)

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        assert isinstance(plan, DensityPlan)
        shape = facts.choice("shape", shapes.DENSITIES)
        sides = [
            shapes.density(shape, (axis.points - axis.span[0]) / (axis.span[1] - axis.span[0]))
            for axis in plan.grid.axes
        ]
        return sides[0] if len(sides) == 1 else np.outer(sides[0], sides[1])

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        first = Role("x", f"Column of {facts['axis'] or 'the number'}")
        return (first, Role("y", f"Column of {facts['axis2']}")) if facts["axis2"] else (first,)


class Survival(Kind):
    """Times to an event, some of them censored."""

    key, title, verb = "survival", "A survival curve", "survival"
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        Fieldset("Who and how much", (RECORD, NUMBER, KNOWN, EPSILON, PROTECT, PERSON, GROUPS)),
        Fieldset("Time", (
            Field("axis", "What time is called", default="time"),
            Field("axis_unit", "Its unit", default="days"),
            Field("horizon", "Up to when", "number", "365", hint="public, never read from the data"),
        )),
        Fieldset("What you expect to see", (
            Field("shape", "Shape", "choice", "steady", choices=tuple(shapes.SURVIVALS.items())),
            Field("left", "Share that reaches the end", "number", "0.4", steps=("0.05", "0.1", "0.2", "0.3", "0.4",
                  "0.5", "0.6", "0.7", "0.8", "0.9", "0.95")),
        ), hint="a public guess, never the data"),
        MORE,
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        n, groups = number_of(facts)
        horizon, axis = facts.number("horizon", "the horizon"), with_unit(facts["axis"] or "time", facts["axis_unit"])
        if horizon <= 0:
            raise WrongField("horizon", "the horizon is above 0", facts["horizon"], "Write 365, say.")
        said = (
            *budget(facts),
            Said("horizon", horizon, to_text(horizon), ("--horizon", to_text(horizon))),
            Said("axis", axis, command=("--axis", axis)),
            *unit(facts),
        )
        return Recipe(SurvivalPlan, "SurvivalPlan", said, n, groups)

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        assert isinstance(plan, SurvivalPlan)
        left = facts.number("left", "the share that reaches the end")
        if not 0 < left < 1:
            raise WrongField("left", "a share lies between 0 and 1", facts["left"], "Write 0.4, say.")
        return shapes.survival(facts.choice("shape", shapes.SURVIVALS), plan.grid.points / plan.horizon, left)

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        return (Role("time", "Column of times"), Role("event", "Column of events (1: it came, 0: not)"))

    def column_words(self, chosen: Chosen, facts: Facts) -> list[str]:
        return ["--time", chosen.columns["time"][0], "--event", chosen.columns["event"][0]]
