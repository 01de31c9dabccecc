"""Curves: their mean (or the mean of a function of each), their percentiles, their covariance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpfda.bounds import Above, TimeAbove
from dpfda.plans import CovariancePlan, MeanPlan, PercentilePlan
from dpfda.spaces.grid import Grid
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
    Kind,
    Role,
    bound,
    budget,
    colon,
    ends,
    number_of,
    pairs,
    unit,
    with_unit,
)
from dpfda.studio.said import OnePlan, Recipe, Said

WHO = Fieldset("Who and how much", (RECORD, NUMBER, KNOWN, EPSILON, PROTECT, PERSON, GROUPS))
VALUES = Fieldset(
    "What one curve can be",
    (
        Field("value", "What is measured", default="load", half=True),
        Field("value_unit", "Its unit", default="kW", half=True),
        Field("low", "Lowest possible value", "number", "0", half=True),
        Field("high", "Highest possible value", "number", "2", half=True),
    ),
)
ALONG = Fieldset(
    "Along",
    (
        Field("start", "From", "number", "0", half=True),
        Field("stop", "To", "number", "24", half=True),
        Field("points", "Values of one curve", "whole", "48", hint="columns of the file"),
        Field(
            "where", "They stand", "choice", "midpoints",
            choices=(("midpoints", "in the middle of equal stretches"), ("ends", "at both ends and between")),
        ),
        Field("axis", "What is along the curve", default="hour", half=True),
        Field("axis_unit", "Its unit", default="h", half=True),
    ),
)  # fmt: skip
EXPECT = Fieldset(
    "What you expect to see",
    (
        Field("shape", "Shape", "choice", "peaks", choices=tuple(shapes.CURVES.items())),
        Field("curve", "A public curve", "lines", hint="numbers along the curve, an earlier study's say",
              when=("shape", ("own",))),
        Field("least", "Its lowest value", "number", "0.2", half=True),
        Field("most", "Its highest value", "number", "1", half=True),
        Field("differ", "One curve differs from it by about", "number", "", hint="empty: a quarter of the bound"),
    ),
    hint="a public guess, never the data",
)  # fmt: skip


def along(facts: Facts) -> list[Said]:
    """The grid, with its name and unit."""
    start, stop = ends(facts, "start", "stop", "place along the curve")
    size, name, named_unit = facts.whole("points", "the number of values", 2), facts["axis"] or "t", facts["axis_unit"]
    way = "midpoints" if facts.choice("where", ("midpoints", "ends")) == "midpoints" else "uniform"
    make = Grid.midpoints if way == "midpoints" else Grid.uniform
    if size > 2000:
        raise WrongField("points", "the page plans for up to 2,000 values", str(size), "Use Python for more.")
    python = f"dp.Grid.{way}({to_text(start)}, {to_text(stop)}, {size}, name={name!r}, unit={named_unit!r})"
    text = f"{colon(start, stop)}:{size}" + (":midpoints" if way == "midpoints" else "")
    words = ("--grid", text, "--axis", with_unit(name, named_unit))
    return [Said("grid", make(start, stop, size, name=name, unit=named_unit), python, words)]


def value(facts: Facts) -> list[Said]:
    """What values are, with their unit."""
    text = with_unit(facts["value"], facts["value_unit"])
    return [Said("value", text, command=("--value", text))] if text else []


def expected(facts: Facts, points: np.ndarray) -> np.ndarray:
    """The guessed curve at the grid's points."""
    low, high = ends(facts, "low", "high", "value")
    places = (points - points[0]) / (points[-1] - points[0])
    if facts.choice("shape", shapes.CURVES) == "own":
        given = facts.numbers("curve", "numbers along a public curve")
        _check_within(facts, "curve", given, low, high)
        return np.interp(places, np.linspace(0, 1, given.size), given)
    least, most = (facts.number(name, "a value that you expect") for name in ("least", "most"))
    if most < least:
        raise WrongField(
            "most", "the highest value that you expect is not below the lowest", facts["most"], "Raise it."
        )
    for name, value in (("least", least), ("most", most)):
        _check_within(facts, name, np.array([value]), low, high)
    return least + (most - least) * shapes.curve(facts["shape"], places)


def _check_within(facts: Facts, name: str, values: np.ndarray, low: float, high: float) -> None:
    """Refuse a guess that the bound would cut: no budget could help."""
    if values.min() < low or values.max() > high:
        raise WrongField(
            name, f"what you expect to see lies between {to_text(low)} and {to_text(high)}, as values can",
            f"{values.min():g} to {values.max():g}" if values.size > 1 else facts[name],
            "Change what you expect, or what values can be.",
        )  # fmt: skip


class OfCurves(Kind):
    """What kinds of curves share."""

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        return (Role("values", "Columns of the values", many=True),)

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        assert isinstance(plan, MeanPlan | PercentilePlan | CovariancePlan)
        return expected(facts, plan.grid.points)

    def spread(self, facts: Facts) -> float | None:
        if not facts["differ"]:
            return None
        found = facts.number("differ", "how far one curve differs")
        if found <= 0:
            raise WrongField("differ", "curves differ by more than 0", facts["differ"], "Write 0.2, say, or nothing.")
        return found


class Mean(OfCurves):
    """The mean curve, or the mean of a function of each curve."""

    key, title, verb, quick = "mean", "The average curve", "mean", True
    drawn = 10
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        WHO,
        VALUES,
        ALONG,
        EXPECT,
        Fieldset(
            "More",
            (
                Field(
                    "of", "Average", "choice", "curve",
                    choices=(("curve", "the curves themselves"), ("above", "the share of curves above a level"),
                             ("time", "the share of time above each level")),
                ),
                Field("level", "Level, or levels", default="", hint="1.5, or 0.5, 1, 1.5",
                      when=("of", ("above", "time"))),
                *MORE.fields,
            ),
            closed=True,
        ),
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        n, groups = number_of(facts)
        function = self._function(facts)
        limits = [] if function else [bound(facts)]
        named = [] if function else value(facts)  # shares have no unit
        said = (*budget(facts), *limits, *function, *along(facts), *named, *unit(facts))
        return Recipe(MeanPlan, "MeanPlan", said, n, groups)

    def _function(self, facts: Facts) -> list[Said]:
        of = facts.choice("of", ("curve", "above", "time"))
        if of == "curve":
            return []
        levels = facts.each("level", "a level")
        if not levels or (of == "above" and len(levels) > 1):
            raise WrongField("level", "a share is of one level, time of one or more", facts["level"], "Write 1.5.")
        if of == "above":
            text = to_text(levels[0])
            return [Said("of", Above(levels[0]), f"dp.Above({text})", ("--above", text))]
        listed = ", ".join(map(to_text, levels))
        return [Said("of", TimeAbove(levels), f"dp.TimeAbove([{listed}])", ("--time-above", listed.replace(" ", "")))]

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        assert isinstance(plan, MeanPlan)
        if plan.of is None:
            return expected(facts, plan.grid.points)
        points, low, high = (plan.records_grid or plan.grid).points, *ends(facts, "low", "high", "value")
        mean = expected(facts, points)
        shifts = np.sin(np.arange(240) * 2.4)[:, None] * 0.2 * (high - low)
        waves = 0.1 * (high - low) * np.sin(2 * np.pi * (np.linspace(0, 1, points.size) + np.arange(240)[:, None] / 9))
        return np.asarray(np.clip(mean + shifts + waves, low, high))

    def spread(self, facts: Facts) -> float | None:
        return None if facts["of"] != "curve" else super().spread(facts)


class Percentiles(OfCurves):
    """Percentile curves."""

    key, title, verb = "percentiles", "Percentile curves", "percentiles"
    judged = 2  # slow, and much alike
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        WHO,
        Fieldset(VALUES.legend, (
            *VALUES.fields,
            Field("levels", "Percentiles to show", default="5, 25, 50, 75, 95", hint="in per cent"),
        )),
        ALONG,
        EXPECT,
        MORE,
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        n, groups = number_of(facts)
        low, high = ends(facts, "low", "high", "value")
        shown = facts.each("levels", "a percentile")
        levels = tuple(round(each / 100, 12) for each in shown)
        said = (
            *budget(facts),
            Said("range", (low, high), pairs([(low, high)]), ("--range", colon(low, high))),
            Said("levels", levels, repr(levels), ("--levels", ",".join(map(to_text, shown)))),
            *along(facts), *value(facts), *unit(facts),
        )  # fmt: skip
        return Recipe(PercentilePlan, "PercentilePlan", said, n, groups)


class Covariance(OfCurves):
    """How curves vary together."""

    key, title, verb = "covariance", "How curves vary together (covariance)", "covariance"
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (WHO, VALUES, ALONG, EXPECT, MORE)

    def recipe(self, facts: Facts) -> Recipe:
        n, groups = number_of(facts)
        said = (*budget(facts), bound(facts), *along(facts), *value(facts), *unit(facts))
        return Recipe(CovariancePlan, "CovariancePlan", said, n, groups, ("plan", "--covariance"))
