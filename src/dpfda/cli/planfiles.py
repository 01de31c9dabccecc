"""Plans from files, for the commands that release by them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import typer

from dpfda.cli.commands import given
from dpfda.core import files
from dpfda.core.errors import FileError, ParameterError
from dpfda.ledger import Ledger
from dpfda.plans import ClassPlan, GroupPlan
from dpfda.plans.base import Plan
from dpfda.reading.curves import Curves
from dpfda.reports.saved import read_any_plan as read_any_plan
from dpfda.reports.saved import read_subject as read_subject
from dpfda.results.statements import counted
from dpfda.results.wording import cost

AnyPlan = TypeVar("AnyPlan", bound=Plan)


def read_plan(path: Path, kind: type[AnyPlan]) -> AnyPlan:
    return kind.from_json(files.read_text(path, "plan"), path.name)


def described(plan: Plan | GroupPlan | ClassPlan) -> str:
    """What a file of it is, in a few words."""
    if isinstance(plan, Plan):
        return f"a plan: {plan.wording.release} of {counted(plan)}, {cost(plan)}"
    names, first = ", ".join(plan.names), plan.plans[0]
    return f"a plan: {first.wording.release} for each {plan.member_word} ({names}), {cost(plan)} together"


def check_settled(context: typer.Context, plan: Path | None, settled: Iterable[str]) -> None:
    """Options that would be ignored are refused: silence would release something else than was asked for."""
    if plan is not None and (ignored := given(context, settled)):
        raise ParameterError(
            "a plan file settles everything about the release", ", ".join(ignored), "Drop these, or drop --plan."
        )


def renamed(plan: AnyPlan, value: str | None = None, record: str | None = None) -> AnyPlan:
    """A plan with other words beside it, where any are given."""
    words = {name: word for name, word in (("value", value), ("record", record)) if word is not None}
    return replace(plan, **words) if words else plan


def release_by_plan(
    path: Path, kind: type[Plan], records: Curves, ledger: Ledger | None, by: str | None, value: str | None = None,
    record: str | None = None,
) -> Any:  # fmt: skip
    """A release by a plan file: of one plan, or of one plan per group; `value` and `record` name those anew."""
    plan = read_any_plan(path)
    if isinstance(plan, GroupPlan):
        plan = replace(plan, plans=tuple(renamed(part, value, record) for part in plan.plans))
    elif isinstance(plan, kind):
        plan = renamed(plan, value, record)
    if isinstance(plan, GroupPlan) and all(isinstance(part, kind) for part in plan.plans):
        return plan.release(records, ledger, by=by)
    if not isinstance(plan, kind):
        raise FileError(
            f"{path.name[:60]!r} holds a {type(plan).__name__}, and a {kind.__name__} is needed. Check the path."
        )
    if by is not None:
        raise ParameterError("this plan has no groups", "--by", "Drop it, or use a plan of groups.")
    return plan.release(records, ledger)
