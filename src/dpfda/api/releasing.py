"""The way that all verbs share: from what was asked for to a plan, and from a plan and data to a release."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from inspect import signature
from typing import Any, Generic, TypeVar, cast

from dpfda.api.types import By, GridLike, LedgerLike, Sizes, UnitLike
from dpfda.core.checks import INVALID, check_choice, check_guess, check_value
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.core.labels import as_groups, warn_of_reading
from dpfda.core.nouns import check_record
from dpfda.plans.base import Plan
from dpfda.plans.groups import GroupPlan
from dpfda.reading.curves import Curves, Records, as_curves
from dpfda.reading.headers import FromHeader, from_header
from dpfda.release.passes import FromGroupedRecords, FromRecords, Passes
from dpfda.release.run import run, run_counted
from dpfda.results.groups import GroupRelease
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.own_times import Align, Interpolate
from dpfda.spaces.units import Unit

#: Stands in for n while the records are being counted; under `replace` n is public anyway.
PLACEHOLDER = 1000
R = TypeVar("R")


F = TypeVar("F", bound=Callable[..., object])
#: What is said to `dp.read`, and never to a verb.
OF_READING = {field.name for field in fields(Curves)} - {"data", "grid"}


def verb(function: F) -> F:
    """A function of the user's: whoever tells it how to read is told where that belongs."""

    known = signature(function).parameters

    @wraps(function)
    def call(*given: object, **options: object) -> object:
        if misplaced := sorted(OF_READING & options.keys()):
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {misplaced[0]!r}. It says how data is read: "
                f"pass dp.read(data, {misplaced[0]}=...) as the data."
            )
        if unknown := [name for name in options if name not in known]:
            close = difflib.get_close_matches(unknown[0], known, 1)
            hint = f"Did you mean {close[0]!r}?" if close else f"It takes {', '.join(known)}."
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {unknown[0]!r}. {hint}")
        return function(*given, **options)

    return cast(F, call)


@dataclass(frozen=True)
class Request(Generic[R]):
    """What a verb was asked for: how to plan for a number of records, and what is charged under which name.

    `plan_for` makes the plan for n records; for None, one that stands in while they are being counted.
    """

    plan_for: Callable[[int | None], Plan[R]]
    neighbors: str
    n: Sizes | None
    ledger: LedgerLike | None
    query: str

    def release(self, passes: Passes) -> R:
        """One release of all records; where n is public and not given, they are counted first."""
        check_guess(self.n, self.neighbors)
        if isinstance(self.n, Mapping):
            raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per record>.")
        if self.n is not None:
            released: R = run(self.plan_for(self.n), passes, self.ledger, self.query)[""]
            return released

        def plan_for(sizes: Mapping[str, int] | None) -> Plan[R]:
            return self.plan_for(None if sizes is None else sizes[""])

        counted: R = run_counted(plan_for, passes, self.ledger, self.query)[1][""]
        return counted

    def release_groups(
        self, passes_for: Callable[[tuple[str, ...] | None], Passes], groups: Sequence[object] | None
    ) -> GroupRelease[Any]:
        """One release per group, for one charge; groups that were not listed are read from the data, with a warning."""
        check_guess(self.n, self.neighbors)
        names = as_groups(groups)
        if names is None and self.neighbors == "add-remove":
            raise ParameterError(
                "with add-remove, which groups exist must be public", "no list", "Pass groups=['north', 'south', ...]."
            )
        passes = passes_for(names)
        if names is not None and self.n is not None:
            plan = self._group_plan(names, {}, True)
            return GroupRelease(plan, run(plan, passes, self.ledger, self.query))
        if names is None:
            warn_of_reading("groups")

        def plan_for(sizes: Mapping[str, int] | None) -> Plan[R] | GroupPlan[Plan[R]]:
            return self.plan_for(None) if sizes is None else self._group_plan(tuple(sizes), sizes, names is not None)

        counted, releases = run_counted(plan_for, passes, self.ledger, self.query)
        assert isinstance(counted, GroupPlan)
        return GroupRelease(counted, releases)

    def _group_plan(self, names: Sequence[str], found: Mapping[str, int], listed: bool) -> GroupPlan[Plan[R]]:
        """A plan for each group: for as many records as were said, or found."""
        if self.n is None:
            sizes = found
            if few := [name for name in names if found[name] < 2]:  # a name that was read may be a private label
                which = f"The group {few[0]!r}" if listed else f"{len(few)} of {len(names)} groups"
                raise RecordError(
                    f"{which} holds fewer than two records" if listed else f"{which} hold fewer than two records each",
                    cure="Leave it out of groups=[...], or join it with another.",
                )
        else:
            sizes = self.n if isinstance(self.n, Mapping) else dict.fromkeys(names, self.n)
        if listed and (surplus := set(sizes) - set(names)):
            raise ParameterError(
                "n must have numbers for the groups alone", shown(min(surplus)), "Drop it, or list it."
            )
        if missing := [name for name in names if name not in sizes]:
            raise ParameterError("n must have a number for every group", shown(missing[0]), "Add it.")
        plans = tuple(self.plan_for(sizes[name]) for name in names)
        return GroupPlan(tuple(names), plans, None if listed else True)


def release_curves(
    kind: Callable[..., Plan[R]], curves: Records, facts: dict[str, Any], grid: GridLike | None, unit: UnitLike | None,
    n: Sizes | None, by: By | None, groups: Sequence[str] | None, ledger: LedgerLike | None, query: str,
) -> R | GroupRelease[Any]:  # fmt: skip
    """The release (or one per group) of a verb about curves."""
    check_guess(n, facts["neighbors"])
    check_choice("invalid", facts["invalid"], INVALID)
    check_value(facts.get("value"))
    check_record(facts["record"])
    if by is None and groups is not None:
        raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per record>.")
    given = as_curves(curves)
    rule, units = split_unit(unit)
    named = _grid(given, grid, facts, by, rule if units is None else None)
    facts |= {"unit": rule, "grid": named, "fill": given.fill, "align": _align(given)}
    request = Request(lambda size: kind(n=PLACEHOLDER if size is None else size, **facts), facts["neighbors"], n,
                      ledger, query)  # fmt: skip
    if by is None:
        return request.release(FromRecords(given, units))
    return request.release_groups(lambda names: FromGroupedRecords(given, units, by=by, groups=names), groups)


def _align(curves: Curves) -> Align | None:
    """Curves at their own times are brought to the grid, also where nothing was said about how."""
    return Interpolate() if curves.align is None and curves.irregular else curves.align


def split_unit(unit: UnitLike | None) -> tuple[str | Unit | None, Sequence[object] | None]:
    """A unit is a column, a rule, or one label per record."""
    if unit is None or isinstance(unit, str | Unit):
        return unit, None
    return Unit("unit"), list(unit) if hasattr(unit, "__iter__") else unit


def _grid(
    curves: Curves, grid: GridLike | None, facts: Mapping[str, object], by: By | None, unit: str | Unit | None
) -> AnyGrid | int:
    """The grid that was given, with the verb or with the data, or the data's own."""
    if isinstance(grid, str):
        grid = from_header(grid)
    if grid is not None and curves.grid is not None and grid != curves.grid:
        raise ParameterError("a grid is given once", "one with the data and another one", "Drop one of them.")
    found = grid if grid is not None else curves.grid
    if found is not None and not isinstance(found, str | FromHeader):
        return found
    lenient = facts["invalid"] == "center"
    named = Unit(unit) if isinstance(unit, str) else unit
    axis = found if isinstance(found, FromHeader) else None
    return curves.public_grid(lenient or facts["neighbors"] == "add-remove", by, named, axis, lenient)
