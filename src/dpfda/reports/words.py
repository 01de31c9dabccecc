"""The sentences of a report: what was released, who is protected, what is not. Every number is the release's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dpfda.plans import ClassPlan, GroupPlan
from dpfda.plans.base import Plan
from dpfda.plans.joint import JointPlan
from dpfda.reports.nouns import (
    counted,
    had_been_different,
    had_that_been_different,
    one,
    record,
    records,
    several,
    whatever,
)
from dpfda.results import (
    ClassRelease,
    ComponentRelease,
    CovarianceRelease,
    DensityRelease,
    Difference,
    FunctionRelease,
    GroupRelease,
    MeanRelease,
    PercentileRelease,
    RadiusRelease,
    RegressionRelease,
    Release,
    SurvivalRelease,
)
from dpfda.results.measures import Measure
from dpfda.results.methods_text import exact
from dpfda.results.percentiles import percent_words
from dpfda.results.saved import Saved
from dpfda.results.statements import chance_factor, unusable

#: Any plan: of one release, of several under one charge, or of one for each group or class.
OnePlan: TypeAlias = Plan[Any]
Together: TypeAlias = JointPlan[Any]
Planned: TypeAlias = OnePlan | GroupPlan[Any] | ClassPlan


def parts_of(thing: Saved) -> Mapping[str, Release | RadiusRelease]:
    """The releases that something is made of, by name; one has none."""
    if isinstance(thing, Difference):
        return {thing.first: thing.left, thing.second: thing.right}
    return thing.releases if isinstance(thing, GroupRelease | ClassRelease) else {"": thing}


def plan_of(thing: Saved | Planned) -> OnePlan:
    """The plan whose words describe one of its records."""
    if isinstance(thing, Plan):
        return thing
    if isinstance(thing, JointPlan):
        first: OnePlan = thing.plans[0]
        return first
    found: OnePlan = next(iter(parts_of(thing).values())).plan
    return found


def price_of(thing: Saved | Planned) -> OnePlan | Together:
    """The plan whose budget was charged."""
    return thing if isinstance(thing, Plan | JointPlan) else thing.plan


def budget(thing: Saved | Planned) -> str:
    """What it costs.

    >>> import dpfda as dp
    >>> budget(dp.MeanPlan(n=50, epsilon=0.5, bound=dp.L2Ball(1.0), grid=8))
    'epsilon 0.5'
    """
    plan = price_of(thing)
    return f"epsilon {exact(plan.epsilon)}" + (f" and delta {float(plan.delta):g}" if plan.delta else "")


# -- what was released ----------------------------------------------------------------------


def what(release: Release | RadiusRelease) -> str:
    """What a release is, in a few words that lead to "of 1,000 curves"."""
    if isinstance(release, RadiusRelease):
        return f"One number: a radius meant to hold a share of {release.plan.quantile:.3g} of the curves"
    value = Measure.of(release.plan.value).name if release.plan.value else ""
    axes = " and ".join(axis.name for axis in release.grid.domain.axes)
    if isinstance(release, CovarianceRelease):
        name = f" of {value}" if value else ""
        return f"One surface: the covariance{name}, how values at two points of {release.plan.grid.name} vary together,"
    if isinstance(release, PercentileRelease):
        return f"Percentile curves ({percent_words(release.levels)}){f' of {value}' if value else ''} by {axes}"
    if isinstance(release, SurvivalRelease):
        return f"One survival curve: the share without an event up to each {axes}, up to {release.horizon:g},"
    if isinstance(release, DensityRelease):
        return f"{_form(release)}: the {'slope of the ' if release.order else ''}density of {axes}"
    if isinstance(release, RegressionRelease):
        names = ", ".join(release.names)
        return f"{len(release.names)} curves: {names}, as functions of {release.plan.grid.name} that explain the curves"
    if isinstance(release, FunctionRelease):
        learnt = (
            f"tells {' from '.join(release.class_names)}"
            if release.class_names
            else f"predicts {value or 'a response'}"
        )
        return f"One function of {axes}, which {learnt}, learnt from the records"
    if isinstance(release, ComponentRelease):
        names = ", ".join(release.names)
        return f"{len(release.names)} curves under one guarantee: the {_mean(release, value)} of {names} by {axes}"
    return f"{_form(release)}: the {_mean(release, value)} by {axes}"


def _form(release: Release) -> str:
    return "One curve" if release.dimension == 1 else "One surface" if release.dimension == 2 else "One function"


def _mean(release: Release, value: str) -> str:
    if value and isinstance(release, MeanRelease) and release.plan.of is None:
        return f"{'slope of the ' if release.order else ''}mean {value}"
    return release.title


def released(thing: Saved) -> str:
    """What was released, in a sentence or two."""
    plan, first = plan_of(thing), next(iter(parts_of(thing).values()))
    hidden = f"with noise added so that no single {record(plan)} shows through"
    if isinstance(thing, Difference):
        return (
            f"A comparison of two groups, {thing.first} ({counted(thing.left.plan)}) and {thing.second} "
            f"({counted(thing.right.plan)}): what {thing.first} has more than {thing.second}. Of each group this was "
            f"released: {_lower(what(first))}, {hidden}. A difference of two releases costs nothing of its own."
        )
    if isinstance(thing, ClassRelease):
        return (
            f"{len(thing)} functions, one for each class ({', '.join(thing)}), learnt from {counted(plan)}, {hidden}. "
            "The class whose function is highest is predicted."
        )
    if isinstance(thing, GroupRelease):
        sizes = ", ".join(f"{name} ({counted(part.plan)})" for name, part in thing.releases.items())
        return f"The same for each of {len(thing)} groups: {sizes}. Of each: {_lower(what(first))}, {hidden}."
    return f"{what(first)} of {counted(plan)}, {hidden}."


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:].rstrip(",")


def source(thing: Saved) -> str:
    """Where the numbers of a report come from, and whether that of records is public."""
    plan = plan_of(thing)
    if plan.problem.count_is_private:
        guess = f"How many {records(plan)} there are is protected as well: the number here is a guess made beforehand. "
    else:
        guess = ""
    return f"{guess}All numbers in this report are those of the release, its plan and the ledger."


# -- who is protected -----------------------------------------------------------------------


def protected(thing: Saved | Planned, future: bool = False) -> list[str]:
    """The guarantee in plain words: whom it is for, what it bounds, and which kind it is."""
    plan, price = plan_of(thing), price_of(thing)
    factor, noun = chance_factor(float(price.epsilon)), record(plan)
    most = f"at most {factor}" if factor[0].isdigit() else factor
    bound, kind = f"by a factor of {most}", f"pure differential privacy, epsilon = {exact(price.epsilon)}"
    rest = "This is a mathematical bound, not an estimate."
    if price.delta:
        delta = f"{float(price.delta):g}"
        kind = f"approximate, not pure, differential privacy, epsilon = {exact(price.epsilon)}, delta = {delta}"
        bound += f", and by up to {delta} beyond that"
    chance, told = ("any result", "a release") if future else ("this very result", "this report")
    private = plan.problem.count_is_private
    times = f"{most} times, plus {delta}," if price.delta else f"{most} times"
    found = [
        f"Each {noun} in the data, {whatever(plan)} and whatever else anyone knows. {had_been_different(plan)}, the "
        f"chance of {chance} would differ {bound} ({kind}). So the chance that anyone concludes something about "
        f"one {noun} from {told} is {times} what it would be {had_that_been_different(plan)}. {rest}"
    ]
    if private:
        far = chance_factor(2 * float(price.epsilon))
        twice = "" if price.delta else f" What it holds is protected at twice epsilon, a factor of at most {far}."
        found.append(f"Whether {one(plan)} is in the data at all, and so their number, is protected so.{twice}")
    if isinstance(price, JointPlan):
        found.append(price.composition)
    return found


# -- what is not ----------------------------------------------------------------------------


def not_protected(thing: Saved | Planned) -> list[str]:
    """What the guarantee does not promise."""
    plan, price = plan_of(thing), price_of(thing)
    many, target = records(plan), plan.wording.target
    grouped = isinstance(price, JointPlan) and price.member_word == "group"
    found = [f"What the {target} itself says about people like these, whether they are in the data or not."]
    if not plan.problem.count_is_private:
        if grouped:
            found.append(f"How many {many} each group has, and which group {one(plan)} belongs to: that is public.")
        else:
            found.append(f"That there are {plan.n:,} {many}: this number is public.")
    found += [
        f"{several(plan)}: the protection weakens in proportion to their number.",
        "Other releases from the same data: their epsilons add up (see the budget).",
        "The time a run takes, and the computer that it runs on.",
        unusable(plan, "group" if grouped else ""),
    ]
    return found
