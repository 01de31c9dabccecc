"""Possible releases in words and numbers: how far off, against what, what the band covers, what epsilon means."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpfda.plans import CovariancePlan, GroupPlan
from dpfda.plans.classes import ClassPlan
from dpfda.plans.hypothetical import Hypothetical
from dpfda.results.bands import Band
from dpfda.results.measures import Measure
from dpfda.results.statements import chance_factor
from dpfda.studio.said import AnyPlan, OnePlan

Rows = tuple[tuple[str, str], ...]


def unit_of(plan: OnePlan) -> str:
    """The unit of what is released, as it follows a number."""
    found = Measure.of(plan.value or "")
    unit = found.squared("").unit if isinstance(plan, CovariancePlan) else found.unit
    return f" {unit}" if unit else ""


def sentence(found: Hypothetical, name: str, plan: AnyPlan) -> str:
    """How far off a release would be, and how that compares with what there is to see."""
    member, unit = found.plan, unit_of(found.plan)
    lead = f"{name}: with" if name else "With"
    off = f"a release is typically off by {found.error:.2g}{unit} (root mean square)"
    who = f"{lead} {member.n:,} {member.wording.records} and epsilon {float(plan.epsilon):g}, {off}"
    if not math.isfinite(found.ratio):
        return f"{who}. What you expect is flat, so there is no shape to see."
    factor = f"{1 / found.ratio:.2g} times that" if found.ratio < 1 else f"{1 / found.ratio:.0%} of that"
    return f"{who}. What there is to see varies by {found.signal:.2g}{unit}, {factor}."


def rows(plan: AnyPlan, found: Mapping[str, Hypothetical], bands: Mapping[str, Band]) -> Rows:
    """The same in numbers."""
    made: list[tuple[str, str]] = []
    for name, each in found.items():
        unit, label = unit_of(each.plan), f" ({name})" if name else ""
        made.append((f"Typical error{label}", f"{each.error:.2g}{unit}"))
        if name in bands:
            half = (bands[name].upper - bands[name].lower) / 2
            widest = f"± {half.mean():.2g}{unit} on average, {half.max():.2g} at most"
            made.append((f"95 % band{label}, for the {bands[name].covers}, everywhere at once", widest))
    made += chance_rows(plan, next(iter(plan.members.values())))
    if isinstance(plan, GroupPlan | ClassPlan):
        made.append(("Together", plan.composition))
    elif (passes := plan.schedule.passes) > 1:
        made.append(("The data is read", f"{passes} times"))
    return (*made, ("Plan", plan.digest[:12]))


def chance_rows(plan: AnyPlan, first: OnePlan) -> list[tuple[str, str]]:
    """How many times as likely one of those who are protected can make any result."""
    epsilon, record = float(plan.epsilon), first.wording.record
    if plan.neighbors == "replace":
        return [(f"One {record} changes the chance of a result by at most", f"{chance_factor(epsilon)} times")]
    return [
        (f"One {record} in or out changes the chance of a result by at most", f"{chance_factor(epsilon)} times"),
        (f"What one {record} holds changes it by at most", f"{chance_factor(2 * epsilon)} times"),
    ]
