"""Pictures of what could be released: the guess, possible releases about it, and the band that one would have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpfda.pages.charts import Chart, HeatMap, Line, Shade
from dpfda.plans import CovariancePlan, DensityPlan, KernelPlan, PercentilePlan, RegressionPlan, SurvivalPlan
from dpfda.plans.hypothetical import Hypothetical
from dpfda.results.bands import Band
from dpfda.spaces.grid import Grid

#: What values are where they have no name of their own.
VALUES = {SurvivalPlan: "share that survives", DensityPlan: "density"}
GUESS, POSSIBLE = "what you expect", "releases that could come out"
#: Possible surfaces beside the guess.
SURFACES = 2


def has_band(found: Hypothetical) -> bool:
    """Whether a possible release is a curve, which a band goes with."""
    return len(found.plan.problem.grid.axes) == 1 and found.truth.ndim == 1


def has_bands(found: Hypothetical) -> bool:
    """The same, or several curves with one each."""
    return has_band(found) or isinstance(found.plan, PercentilePlan)


def holds_a_flat_line(band: Band) -> bool:
    """Whether a flat line fits inside a band; of several that of the middle one."""
    lower, upper = (side.reshape(-1, side.shape[-1]) for side in (band.lower, band.upper))
    middle = len(lower) // 2
    return bool(lower[middle].max() <= upper[middle].min())


def pictures(found: Mapping[str, Hypothetical], bands: Mapping[str, Band]) -> list[Chart | HeatMap]:
    """One picture, or several: of one plan, or of one for each group."""
    small = len(found) > 1
    return [each for name, one in found.items() for each in _pictures(one, name, small, bands.get(name))]


def _pictures(found: Hypothetical, name: str, small: bool, band: Band | None) -> list[Chart | HeatMap]:
    plan, axes = found.plan, found.plan.problem.grid.axes
    if isinstance(plan, RegressionPlan):
        return _coefficients(found)
    if isinstance(plan, CovariancePlan):
        axis = plan.grid.axes[0]
        return _surfaces(found, (axis, axis), name, diverging=True)
    if isinstance(plan, PercentilePlan):
        return [_levels(found, name, small, band)]
    if len(axes) > 2:
        return []
    if len(axes) == 2:
        return _surfaces(found, (axes[0], axes[1]), name, diverging=isinstance(plan, KernelPlan) and plan.bound is None)
    return [_curve(found, name, small, band)]


def _curve(found: Hypothetical, name: str, small: bool, band: Band | None) -> Chart:
    plan, axis, count = found.plan, found.plan.problem.grid.axes[0], found.size
    lines = (
        *(Line(f"{count} {POSSIBLE}", axis.points, values, look="thin") for values in _rows(found.values)),
        *(Line(GUESS, axis.points, values, look="guess") for values in _rows(found.truth[None])),
    )
    covered = "" if band is None else f"95 % band of a release, for the {band.covers}, everywhere at once"
    shades = () if band is None else (Shade(covered, axis.points, band.lower, band.upper),)
    value = plan.value or VALUES.get(type(plan), "")
    return Chart(
        lines,
        shades,
        xlabel=axis.label,
        ylabel=value,
        title=name,
        small=small,
        span=axis.span,
        description=f"The guess as a dashed line, {count} possible releases about it as thin lines, and a band.",
    )


def _rows(values: np.ndarray) -> list[np.ndarray]:
    """Curves of one or several components, one after the other."""
    return list(values.reshape(-1, values.shape[-1]))


def _levels(found: Hypothetical, name: str, small: bool, band: Band | None) -> Chart:
    plan = found.plan
    assert isinstance(plan, PercentilePlan)
    points, axis = plan.grid.points, plan.grid.axes[0]
    lines = [
        Line(f"{found.size} {POSSIBLE}", points, values[place], look="thin", colour=place)
        for values in found.values
        for place in range(len(plan.levels))
    ]
    lines += [Line(f"{GUESS}: {_listed(plan.levels)} %", points, curve, look="guess") for curve in found.truth]
    shades = [] if band is None else [
        Shade(f"95 % bands of a release, for the {band.covers}", points, low, high, "wide", place)
        for place, (low, high) in enumerate(zip(band.lower, band.upper, strict=True))
    ]  # fmt: skip
    return Chart(
        tuple(lines), tuple(shades), xlabel=axis.label, ylabel=plan.value or "", title=name, small=small,
        span=axis.span,
        description=f"Expected percentile curves as dashed lines, {found.size} possible releases as thin lines.",
    )  # fmt: skip


def _listed(levels: tuple[float, ...]) -> str:
    return ", ".join(f"{100 * level:g}" for level in levels)


def _surfaces(found: Hypothetical, axes: tuple[Grid, Grid], name: str, diverging: bool) -> list[Chart | HeatMap]:
    across, up = axes
    size = (across.size, up.size)
    shown = [
        ("What you expect", found.truth),
        *((f"Possible release {i + 1}", found.values[i]) for i in range(SURFACES)),
    ]
    top = max(float(np.abs(values).max()) for _, values in shown[: 1 + min(SURFACES, found.size)])
    return [
        HeatMap(
            values.reshape(size).T, across.span, up.span, across.label, up.label, "",
            f"{name}: {title}" if name else title, f"{title} as a map of colours.", diverging, top=top,
        )
        for title, values in shown[: 1 + min(SURFACES, found.size)]
    ]  # fmt: skip


def _coefficients(found: Hypothetical) -> list[Chart | HeatMap]:
    plan = found.plan
    assert isinstance(plan, RegressionPlan)
    axis = plan.grid.axes[0]
    names = ["intercept", *(plan.names or [f"covariate {i + 1}" for i in range(plan.covariates)])]
    return [
        Chart(
            (
                *(Line(f"{found.size} {POSSIBLE}", axis.points, values[place], look="thin") for values in found.values),
                Line(GUESS, axis.points, found.truth[place], look="guess"),
            ),
            xlabel=axis.label, ylabel=plan.value or "", title=name, small=True, zero=place > 0, legend=place == 0,
            span=axis.span,
            description=f"The coefficient of {name}: the guess dashed, possible releases as thin lines.",
        )
        for place, name in enumerate(names)
    ]  # fmt: skip
