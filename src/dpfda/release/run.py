"""The one way from a plan and data to a release: check passes and budget, read, charge, draw, seal.

Every verb, every plan, every model and every command comes through here, and :mod:`dpfda.release.door` lies behind it.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeAlias, TypeVar

from dpfda.core import watching
from dpfda.core.checks import check_name
from dpfda.core.errors import LeftOutWarning, NoiseWarning, ParameterError, PlanMismatch, outside
from dpfda.core.files import as_path
from dpfda.engines import Summary
from dpfda.ledger import Ledger
from dpfda.ledger.ledger import CURE
from dpfda.problems.contracts import Encoder
from dpfda.release import door
from dpfda.release.door import Member, Releases
from dpfda.release.passes import Passes

log = logging.getLogger("dpfda")
LedgerOrPath: TypeAlias = Ledger | str | os.PathLike[str] | None


class Verdict(Protocol):
    """What a release will be worth."""

    @property
    def word(self) -> str: ...


class Runnable(door.Charged, Protocol):
    """A plan as it is carried out: its cost, its members by name (one, without a name, or one per group or class)."""

    @property
    def query(self) -> str: ...
    @property
    def members(self) -> Mapping[str, Member]: ...
    @property
    def verdict(self) -> Verdict:
        """What a release will be worth, by public facts alone; of several, the worst."""

    def check_summaries(self, summaries: Mapping[str, Summary]) -> None:
        """Refuse summaries that together would cost more than the plan states."""


P = TypeVar("P", bound=Runnable)


def run(plan: Runnable, passes: Passes, ledger: LedgerOrPath = None, query: str | None = None) -> Releases:
    """Releases of all members of a plan, by name, under one charge."""
    watching.begin()
    opened = _check_and_open(plan, passes, ledger, query)
    passes.warn_of_owners(next(iter(plan.members.values())).stage.encoder)
    check_worth(plan)
    try:
        return _check_and_execute(plan, _read(plan, passes), passes, opened, query)
    finally:
        passes.forget()


def run_counted(
    plan_for: Callable[[Mapping[str, int] | None], P],
    passes: Passes,
    ledger: LedgerOrPath = None,
    query: str | None = None,
) -> tuple[P, Releases]:
    """The same where n is public but not known: plan for a stand-in, count, plan again.

    `plan_for` makes the plan for these numbers of records, by name; for None, the stand-in. Records that cannot be
    counted otherwise are counted while the stand-in reads them.
    """
    stand_in = plan_for(None)
    watching.begin()
    opened = _check_and_open(stand_in, passes, ledger, query)
    encoder = next(iter(stand_in.members.values())).stage.as_read(passes.rereadable).encoder
    passes.warn_of_owners(encoder)
    try:
        sizes = passes.count(encoder)
        found = _count_while_reading(passes, encoder) if sizes is None else None
        plan = plan_for(sizes if found is None else {name: summary.count for name, summary in found.items()})
        check_passes(plan, passes.single_pass_reason)
        check_worth(plan)
        if found is None:
            found = _read(plan, passes)
        elif any(encoder.key != found[name].key for name, encoder in _encoders(plan, passes).items()):
            if passes.single_pass_reason:  # for this many records another first pass is better
                raise ParameterError(
                    "without n the records are read twice",
                    passes.single_pass_reason,
                    "Pass n, the public number of records, or method=dp.Auto(passes=1, check=False).",
                )
            watching.restart()
            found = _read(plan, passes)
        return plan, _check_and_execute(plan, found, passes, opened, query)
    finally:
        passes.forget()


def check_worth(plan: Runnable) -> None:
    """Refuse what could say nothing, and warn of what will be mostly noise, once n is known."""
    for member in plan.members.values():
        member.check_worth()
    warn_of_noise(plan)


def warn_of_noise(plan: Runnable) -> None:
    """Say before the charge, from public facts alone, that a release will be mostly noise."""
    if plan.verdict.word == "mostly noise":
        message = f"{plan.verdict} Nothing is charged yet: plan again, or go on with open eyes."
        warnings.warn(message, NoiseWarning, stacklevel=outside())


def tell_cautions(releases: Releases) -> None:
    """Say what released numbers themselves say against trusting them. The charge stands: this never costs a release."""
    for caution in dict.fromkeys(
        caution for release in releases.values() for caution in getattr(release, "cautions", ())
    ):
        try:
            warnings.warn(caution, LeftOutWarning, stacklevel=outside())
        except LeftOutWarning:  # somebody wants warnings to be errors
            log.warning("%s", caution)


def check_passes(plan: Runnable, single_pass_reason: str) -> None:
    """Refuse, before any charge, records that can be read once (and why) where a plan reads them several times."""
    for member in plan.members.values():
        member.schedule.check_passes(single_pass_reason)


def _check_and_open(plan: Runnable, passes: Passes, ledger: LedgerOrPath, query: str | None) -> Ledger | None:
    """Refuse before the data is read what would be refused after."""
    check_name("names of queries", query if not isinstance(query, str | None) else query or plan.query)
    for member in plan.members.values():
        member.check_current()
    check_passes(plan, passes.single_pass_reason)
    opened = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(as_path(ledger, "ledger", CURE))
    if opened is not None:
        opened.check(plan.epsilon, plan.delta)
    return opened


def _max_records(plan: Runnable, names: Iterable[str]) -> dict[str, int]:
    return {name: max_records for name in names if (max_records := plan.members[name].max_records) is not None}


def _count_while_reading(passes: Passes, encoder: Encoder) -> Mapping[str, Summary]:
    watching.reading(None)
    return passes.summarize_all(encoder)


def _read(plan: Runnable, passes: Passes) -> Mapping[str, Summary]:
    problems = _encoders(plan, passes)
    watching.reading(_passes(plan))
    return passes.read(problems, _max_records(plan, problems))


def _encoders(plan: Runnable, passes: Passes) -> dict[str, Encoder]:
    """What the first pass reads the records for."""
    return {name: member.stage.as_read(passes.rereadable).encoder for name, member in plan.members.items()}


def _passes(plan: Runnable) -> int:
    """How often the records are read, for whichever member does so most often."""
    return max(member.schedule.passes for member in plan.members.values())


def _check_and_execute(
    plan: Runnable, found: Mapping[str, Summary], passes: Passes, ledger: Ledger | None, query: str | None
) -> Releases:
    if set(found) != set(plan.members):
        raise PlanMismatch("There must be one summary per group of the plan.")
    plan.check_summaries(found)

    def read_again(problems: Mapping[str, Encoder]) -> Mapping[str, Summary]:
        watching.reading(_passes(plan))
        return passes.read(problems, _max_records(plan, problems))

    reread = None if passes.single_pass_reason else read_again
    releases = door.execute(plan, plan.members, found, ledger, query or plan.query, reread, passes.rereadable)
    tell_cautions(releases)
    return releases
