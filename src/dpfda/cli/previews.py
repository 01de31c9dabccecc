"""The plan of a release before its data: what `dpfda run` checks and shows before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from dpfda.cli import options, parsing, sources
from dpfda.cli.commands import Keywords, Options
from dpfda.cli.densities import smoothing
from dpfda.cli.models import covariate_facts
from dpfda.core.checks import check_guess
from dpfda.core.errors import ParameterError
from dpfda.core.labels import as_groups
from dpfda.plans import CovariancePlan, DensityPlan, GroupPlan, MeanPlan, PercentilePlan, RegressionPlan, SurvivalPlan
from dpfda.plans.base import Plan
from dpfda.plans.radius import RadiusPlan
from dpfda.reading.places import TEXT, Place
from dpfda.spaces.grid import Grid

Given = Mapping[str, Any]
G = TypeVar("G", bound=Options)
#: Stand in for what only the data tells; plans made with them are checked and never shown.
SOME_N, SOME_GRID = 1000, Grid.uniform(0.0, 1.0, 48)


@dataclass(frozen=True)
class Preview:
    """A plan without data, and what of it only the data will tell."""

    plan: Plan | GroupPlan
    unknown: tuple[str, ...] = ()


def preview(kind: str, given: Given) -> Preview:
    """The plan of a command with these parameters; a wrong one is refused as the command would."""
    _check_header(given)
    keywords = _group(options.Protection, given).keywords()
    check_guess(keywords["n"], keywords["neighbors"])
    unknown = [] if keywords["n"] is not None else ["n"]
    keywords["n"] = keywords["n"] or SOME_N
    more = KINDS[kind](given)
    if "grid" in more and not isinstance(more["grid"], Grid):
        unknown.append("the grid")
        more["grid"] = SOME_GRID
    plan = PLANS[kind](**keywords, **more)
    if given.get("by") is None:
        return Preview(plan, tuple(unknown))
    if given["groups"] is None:
        return Preview(plan, (*unknown, "the groups"))
    return _grouped(kind, given, keywords | more, unknown)


def _check_header(given: Given) -> None:
    """Where no record may stop a run, none may decide how a text file is read: not the first one either."""
    files = given.get("curves") or given.get("points") or given.get("files") or [given.get("records")]
    text = any(Place(str(path)).suffix in TEXT for path in sources.local([str(path) for path in files]))
    if text and given["invalid"] == "center" and given.get("header") is None:
        raise ParameterError(
            "with invalid='center' a text file must say whether it begins with names",
            "no word",
            "Pass header=True.",
        )


def _grouped(kind: str, given: Given, keywords: Keywords, unknown: list[str]) -> Preview:
    """The same for groups that are listed, each with its number of records if that is said."""
    n = sources.Labels(groups=given["groups"]).keywords(given["n"])["n"]
    names = as_groups(sources.groups_of(given["groups"])) or ()
    sizes = n if isinstance(n, dict) else dict.fromkeys(names, n or SOME_N)
    plans = tuple(PLANS[kind](**keywords | {"n": sizes[name]}) for name in names)
    return Preview(GroupPlan(names, plans), tuple(what for what in unknown if what != "n" or n is None))


def _group(kind: type[G], given: Given) -> G:
    """A group of options, out of all parameters of a command."""
    return kind(**{name: given[name] for name in kind.names()})


def _curves(given: Given) -> Keywords:
    rules = _group(sources.Units, given).keywords() | _group(sources.Gaps, given).keywords()
    function = parsing.parse_function(given.get("above"), given.get("time_above"))
    estimate = _group(options.Estimate, given).keywords(given.get("norm", "l2"), function)
    return estimate | rules | {"value": given["value"]}


def _density(given: Given) -> Keywords:
    return _group(options.Bins, given).keywords() | smoothing(*(given[k] for k in ("axis", "kernel", "method", "raw")))


def _regression(given: Given) -> Keywords:
    facts = covariate_facts(given["covariates"], given["covariate_range"], given["covariate_bound"])
    more = {"split": given["share"], "passes": given["passes"], "value": given["value"]}
    return _group(options.Space, given).keywords() | facts | more


def _radius(given: Given) -> Keywords:
    grid, bound = parsing.if_given(parsing.parse_grid, given["grid"]), _group(options.Limits, given).bound()
    facts = {"bound": bound, "grid": grid, "quantile": given["quantile"], "smallest": given["smallest"]}
    return facts | _group(sources.Units, given).keywords() | _group(sources.Gaps, given).keywords()


def _percentiles(given: Given) -> Keywords:
    rules = _group(sources.Units, given).keywords() | _group(sources.Gaps, given).keywords()
    return _group(options.Ranks, given).keywords() | rules | {"value": given["value"]}


def _survival(given: Given) -> Keywords:
    return _group(options.Horizon, given).keywords() | _group(sources.Units, given).keywords()


#: What a study can release, and how its options become a plan.
KINDS: dict[str, Callable[[Given], Keywords]] = {
    "mean": _curves, "covariance": _curves, "density": _density, "regress": _regression, "radius": _radius,
    "survival": _survival, "percentiles": _percentiles,
}  # fmt: skip
PLANS: dict[str, Callable[..., Plan]] = {
    "mean": MeanPlan, "covariance": CovariancePlan, "density": DensityPlan, "regress": RegressionPlan,
    "radius": RadiusPlan, "survival": SurvivalPlan, "percentiles": PercentilePlan,
}  # fmt: skip
