"""How a plan behaves around its noise: what is charged, when, whatever is copied; and whether chance is chance.

Noise of the right law protects nobody if it is drawn before the charge, if a copy forgets the ledger, or if it can be
drawn again. These are checked on real releases with real ledgers.
"""

from __future__ import annotations

import copy
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, cast

import numpy as np

from dpfda import noise
from dpfda.audits.children import CAN_FORK, at_once
from dpfda.audits.releases import Data, book_for
from dpfda.audits.targets import Audited, OnePlan
from dpfda.core.errors import BudgetExceeded, DpfdaError

#: Releases of a single number that are compared together.
CHOICES = 100


@dataclass(frozen=True)
class Check:
    """One thing that is or is not so."""

    name: str
    passed: bool
    detail: str


def checks(plan: Audited, data: Data, report_progress: Callable[[int], None]) -> list[Check]:
    """All of them, each on its own ledger."""
    found = []
    for check in (_charged_first, _refused, _copies, _fresh, _fresh_in_children):
        with tempfile.TemporaryDirectory() as folder:
            found.append(check(plan, data, Path(folder) / "audit.ledger"))
        report_progress(1)
    return found


def _charged_first(plan: Audited, data: Data, path: Path) -> Check:
    """Watches a release: by the first call of a law's draw, the charge must have been written."""
    book, early = book_for(plan, path, 1), []

    def draws() -> None:
        if book.spent != plan.epsilon:
            early.append(True)

    with _watched(plan, draws) as calls:
        plan.release(data.rows, book, **data.reading)
    charge = [(entry.epsilon, entry.delta, entry.plan) for entry in book.history()]
    right = charge == [(plan.epsilon, plan.delta, plan.digest)]
    passed = not early and right and calls[0] > 0
    detail = (
        "the whole charge was in the ledger at the first draw, under the plan's digest"
        if passed
        else "noise was drawn before the charge was written"
        if early
        else "no draw of a law was seen"
        if right
        else "the ledger does not hold the plan's charge"
    )
    return Check("The charge comes before the noise", passed, detail)


@contextmanager
def _watched(plan: Audited, draws: Callable[[], None]) -> Iterator[list[int]]:
    """Call `draws` whenever a law is about to draw."""
    laws: set[Any] = {noise.Laplace, noise.Ball, noise.Gaussian, noise.Choice}
    members = cast(Sequence[OnePlan], getattr(plan, "plans", (plan,)))
    laws |= {type(part.law) for member in members for part in member.stage.parts}
    codes = {law.draw.__code__ for law in laws}
    calls, before = [0], sys.getprofile()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code in codes:
            calls[0] += 1
            if calls[0] == 1:  # what is charged by then holds for all
                sys.setprofile(None)
                draws()
                sys.setprofile(watch)

    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def _refused(plan: Audited, data: Data, path: Path) -> Check:
    """A budget that is used up: nothing is released, and nothing is charged."""
    name, book = "A used-up budget releases nothing", book_for(plan, path, 1)
    plan.release(data.rows, book, **data.reading)
    try:
        plan.release(data.rows, book, **data.reading)
    except BudgetExceeded:
        spent = book.spent == plan.epsilon
        return Check(name, spent, "the second release was refused" if spent else "a refused release was charged")
    except DpfdaError as error:
        return Check(name, False, f"the second release ended in {type(error).__name__}")
    return Check(name, False, "the second release went through")


def _copies(plan: Audited, data: Data, path: Path) -> Check:
    """Copies of the plan, of every kind, charge the same ledger as much."""
    name = "Copies do not escape the ledger"
    kinds: dict[str, Callable[[], Any]] = {
        "a copy": lambda: copy.copy(plan),
        "a deep copy": lambda: copy.deepcopy(plan),
        "a replaced copy": lambda: replace(plan),
        "its text": lambda: type(plan).from_json(plan.to_json()),
    }
    made = 0
    for kind, copied in kinds.items():
        try:
            twin = copied()
        except (DpfdaError, AttributeError, TypeError):
            continue  # what cannot be copied cannot escape
        made += 1
        book = book_for(plan, path.with_name(f"{made}.ledger"), 1)
        twin.release(data.rows, copy.deepcopy(book), **data.reading)
        if (book.spent, book.delta_spent) != (plan.epsilon, plan.delta):
            return Check(name, False, f"{kind} of the plan released without its charge")
    return Check(name, made > 0, f"{made} kinds of copies were charged like the plan itself")


def _fresh(plan: Audited, data: Data, path: Path) -> Check:
    """The same release after the same seeds, of the plan and of a copy: never the same noise."""
    seen, before = set(), (random.getstate(), np.random.get_state())  # noqa: NPY002
    for twin in (plan, copy.copy(plan)) * 3:
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002  (what a careless generator would listen to)
        seen.add(_noise(twin, data))
    random.setstate(before[0])
    np.random.set_state(before[1])  # noqa: NPY002
    return Check(
        "Noise cannot be drawn again by seeding", len(seen) == 6, f"{len(seen)} of 6 seeded releases were different"
    )


def _fresh_in_children(plan: Audited, data: Data, path: Path) -> Check:
    """Two processes that begin alike must not draw alike."""
    name = "Noise differs between processes that begin alike"
    if not CAN_FORK:
        return Check(name, True, "not tested: this system cannot fork")

    def work() -> dict[str, np.ndarray]:
        return {"noise": np.frombuffer(_noise(plan, data), dtype=np.uint8)}

    seen = {found["noise"].tobytes() for found in at_once([work] * 3)}
    return Check(name, len(seen) == 3, f"{len(seen)} of 3 forked processes drew different noise")


def _noise(plan: Audited, data: Data) -> bytes:
    """The numbers of a release; of many, where one is a choice among few that may well come twice."""
    found = _numbers(plan.release(data.rows, **data.reading))
    if found.size == 1:
        found = np.concatenate([_numbers(plan.release(data.rows, **data.reading)) for _ in range(CHOICES)])
    return found.tobytes()


def _numbers(release: Any) -> np.ndarray:
    """All that leaves, of one release or of several under one charge."""
    parts = release.values() if isinstance(release, Mapping) else [release]
    return np.concatenate([np.asarray(part.raw, dtype=float).ravel() for part in parts])
