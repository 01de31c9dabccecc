"""Plans from files, for the commands that release by them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import typer

from dpfda.cli.commands import given
from dpfda.core import codec, files
from dpfda.core.errors import FileError, ParameterError
from dpfda.ledger import Ledger
from dpfda.plans import ClassPlan, GroupPlan
from dpfda.plans.base import VERSION, Plan
from dpfda.reading.curves import Curves

AnyPlan = TypeVar("AnyPlan", bound=Plan)


def read_plan(path: Path, kind: type[AnyPlan]) -> AnyPlan:
    return kind.from_json(files.read_text(path, "plan"), path.name)


def read_any_plan(path: Path) -> Plan | GroupPlan | ClassPlan:
    """A plan, or one per group or class."""
    plan = codec.from_plain(codec.unseal(files.read_text(path, "plan"), "plan", VERSION, path.name).get("plan"))
    if not isinstance(plan, Plan | GroupPlan | ClassPlan):
        raise FileError(f"{path.name[:60]!r} holds no plan. Check the path.")
    return plan


def check_settled(context: typer.Context, plan: Path | None, settled: Iterable[str]) -> None:
    """Options that would be ignored are refused: silence would release something else than was asked for."""
    if plan is not None and (ignored := given(context, settled)):
        raise ParameterError(
            "a plan file settles everything about the release", ", ".join(ignored), "Drop these, or drop --plan."
        )


def release_by_plan(path: Path, kind: type[Plan], records: Curves, ledger: Ledger | None, by: str | None) -> Any:
    """A release by a plan file: of one plan, or of one plan per group."""
    plan = read_any_plan(path)
    if isinstance(plan, GroupPlan) and all(isinstance(part, kind) for part in plan.plans):
        return plan.release(records, ledger, by=by)
    if not isinstance(plan, kind):
        raise FileError(
            f"{path.name[:60]!r} holds a {type(plan).__name__}, and a {kind.__name__} is needed. Check the path."
        )
    if by is not None:
        raise ParameterError("this plan has no groups", "--by", "Drop it, or use a plan of groups.")
    return plan.release(records, ledger)
