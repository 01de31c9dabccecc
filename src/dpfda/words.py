"""Plain words about a plan or a release, for the people who decide.

Every sentence is computed from public facts, so it can be read by a review board before any
data is touched and printed beside the release afterwards.
"""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np


def number(value: float) -> str:
    return f"{value:.3g}"


def odds(epsilon: float) -> str:
    """What epsilon does to the odds of any inference about one person."""
    factor = math.exp(epsilon) if epsilon < 700 else math.inf
    if factor >= 1e6:
        return "over a million (that is hardly any protection)"
    return f"{factor:.3f}" if factor < 2 else f"{factor:.2f}" if factor < 100 else f"{factor:,.0f}"


def describe_bound(bound: Any, length: float | None = None) -> str:
    """A bound in words; for an L2 ball with the typical distance it allows at one point."""
    center = bound.center
    about = "zero" if center is None else f"{float(center):g}" if center.ndim == 0 else "the public centre curve"
    if bound.on_grid:
        typical = f", {number(bound.radius / math.sqrt(length))} root mean square" if length else ""
        return f"{type(bound).__name__}: the {bound.norm} about {about} is at most {bound.radius:g}{typical}"
    size = f"at most {bound.radius:g}" if hasattr(bound, "radius") else f"limited for {bound.size} coefficients"
    return f"{type(bound).__name__}: the {bound.norm} about {about} is {size}"


def facts(plan: Any) -> list[tuple[str, str]]:
    """The rows of a plan's table: name and value."""
    scale = plan.bound.outer
    rows = [
        ("release", "mean curve"),
        ("curves (n)", f"{plan.n:,}" + (" (public guess)" if plan.problem.adds else "")),
        ("epsilon", f"{float(plan.epsilon):g}" + (f" = {plan.epsilon}" if plan.epsilon.denominator > 1 else "")),
        ("neighbours", plan.neighbors),
        ("bound", describe_bound(plan.bound, plan.grid.length)),
        ("grid", repr(plan.grid)),
        ("kernel", repr(plan.kernel)),
        ("method", f"{plan.chosen!r}"),
        ("numbers released", f"{sum(part.where.size for part in plan.stage.parts)} of {plan.problem.size}"),
        ("expected error", f"{number(plan.expected_error)} (noise only, squared L2)"),
        ("expected risk", f"{number(plan.expected_risk)} (noise plus prior bias)"),
        ("root of the risk", f"{math.sqrt(plan.expected_risk) / scale:.2%} of the bound's radius"),
        ("noise at a point", f"{number(float(np.median(plan.pointwise_sd())))} standard deviation, typically"),
    ]
    if plan.standardize:
        rows.insert(5, ("standardize", "each curve: own mean removed, own norm divided out"))
    if plan.fill is not None:
        rows.insert(5, ("fill", f"own gaps of at most {plan.fill} points, by linear interpolation"))
    return rows


def table(plan: Any) -> str:
    rows = facts(plan)
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        [f"{type(plan).__name__} {plan.digest[:12]}", *(f"  {name:<{width}}  {value}" for name, value in rows)]
    )


def html_table(plan: Any) -> str:
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in facts(plan)
    )
    return f"<table><caption>{type(plan).__name__} {plan.digest[:12]}</caption>{cells}</table>"


def protection(plan: Any) -> str:
    epsilon = float(plan.epsilon)
    factor = odds(epsilon)
    purity = "pure, no delta" if not plan.stage.delta else f"up to a probability delta of {float(plan.stage.delta):g}"
    change = (
        "one curve in the data is replaced by any other curve"
        if not plan.problem.adds
        else "one curve is added to the data or removed from it"
    )
    text = (
        f"The release is {epsilon:g}-differentially private ({purity}). If {change}, the probability of "
        f"any outcome changes by at most a factor of {factor}. So whatever anyone infers about one person from the "
        f"release, the odds of that inference are at most {factor} times what they would be had that person's "
        f"curve been a different one."
    )
    if plan.problem.adds:
        text = (
            text.replace("had that person's curve been a different one", "had that person not been in the data")
            + " The number of curves is protected too."
        )
    return text


def assumption(plan: Any) -> str:
    bound = describe_bound(plan.bound, plan.grid.length)
    text = (
        f"Each curve is clipped to a public bound before it is used ({bound}). The guarantee "
        f"holds whatever the data is; only accuracy depends on the bound being a good one."
    )
    if plan.standardize:
        text += " Before that, each curve has its own mean removed and is divided by its own norm."
    if plan.fill is not None:
        text += f" Gaps of at most {plan.fill} points are interpolated within the curve."
    return text


def limits(plan: Any) -> str:
    handled = (
        "A run stops with an error if a curve is unusable; whether it stopped is outside the guarantee."
        if plan.invalid == "raise"
        else "An unusable curve counts as the public centre, so the guarantee covers it."
    )
    size = "" if plan.problem.adds else f" The number of curves, {plan.n:,}, is public."
    return (
        f"What is not protected: facts about the population that the mean itself shows; a person who contributes "
        f"several curves is protected only as far as epsilon times their number; other releases from the same "
        f"data add their own epsilon; the time a run takes and the computer it runs on.{size} {handled}"
    )


def accuracy(plan: Any) -> str:
    rms = math.sqrt(plan.expected_error)
    scale = plan.bound.outer
    width = float(np.median(plan.pointwise_sd()))
    return (
        f"The noise has a root mean squared L2 size of {number(rms)}, {rms / scale:.1%} of the bound's radius "
        f"{scale:g}; at a typical point its standard deviation is {number(width)}. With the smoothing bias expected "
        f"from the public guess of the mean, the total is {number(math.sqrt(plan.expected_risk))} "
        f"({math.sqrt(plan.expected_risk) / scale:.1%} of the radius). These figures depend on no data."
    )


def explain(plan: Any) -> str:
    """A plan in words, before data."""
    return "\n\n".join(
        [
            f"Plan {plan.digest[:12]}: the mean of {'about ' if plan.problem.adds else ''}{plan.n:,} curves.",
            protection(plan),
            assumption(plan),
            accuracy(plan),
            limits(plan),
        ]
    )


def statement(release: Any) -> str:
    """What was protected and how, to be shown beside a release."""
    plan = release.plan
    charged = (
        f"Charged to the ledger of study {release.study!r} as entry {release.entry}, seal {release.seal[:16]}."
        if release.study
        else "No ledger was charged: whoever made this release keeps account of the budget."
    )
    after = (
        f" After the noise: {'; '.join(release.steps)} (post-processing, free of privacy cost)."
        if release.steps
        else ""
    )
    draw = " and ".join(dict.fromkeys(part.law.words for part in plan.stage.parts))
    how = (
        f"Method {plan.chosen!r} with {plan.kernel!r}: {draw}, drawn from the operating system's generator on "
        f"exact integer totals.{after}"
    )
    return "\n\n".join(
        [
            f"Privacy statement for a {release.title} released {release.created} (plan {plan.digest[:12]}).",
            protection(plan),
            assumption(plan),
            how,
            accuracy(plan),
            limits(plan),
            charged,
        ]
    )
