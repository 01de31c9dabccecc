"""Saved plans and releases of any kind, by what their file says that it is."""

from __future__ import annotations

import os
from pathlib import Path

from dpfda import results
from dpfda.core import codec, files
from dpfda.core.errors import FileError
from dpfda.plans import ClassPlan, GroupPlan
from dpfda.plans.base import Plan
from dpfda.plans.sealed import VERSION
from dpfda.reports.words import Planned
from dpfda.results.saved import Saved

#: What files of releases say that they are.
RELEASES = ("release", "releases", "radius", "difference")


def read_any_plan(path: str | os.PathLike[str]) -> Planned:
    """A plan, or one per group or class."""
    name = Path(path).name
    body = codec.unseal(files.read_text(path, "plan"), "plan", VERSION, name)
    plan = codec.from_plain(body.get("plan"))
    if not isinstance(plan, Plan | GroupPlan | ClassPlan):
        raise FileError(f"{name[:60]!r} holds no plan. Check the path.")
    plan.take_choice(body.get("chosen"))
    return plan


def read_subject(path: str | os.PathLike[str]) -> Planned | Saved:
    """A plan, or a release, which has one."""
    kind = codec.kind_of(files.read_text(path, "plan or a release"))
    return results.load(path) if kind in RELEASES else read_any_plan(path)
