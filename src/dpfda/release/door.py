"""Check, load, charge, draw, seal: in this order, once.

`execute` is the only function that turns a confidential summary into something public. The charge is on disk before
noise is drawn; a failure after it is not refunded, because a crash may cost budget and never privacy. What comes out
is sealed with public things only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np

from dpfda.core import watching
from dpfda.core.checks import check_name
from dpfda.core.errors import PlanMismatch
from dpfda.core.renewal import Renewal
from dpfda.ledger import Ledger
from dpfda.problems.contracts import Encoder
from dpfda.problems.stage import Stage
from dpfda.problems.summary import Summary
from dpfda.release.ready import load_all

log = logging.getLogger("dpfda")
#: Reads the records again, once for all encoders, each by its name.
Reread: TypeAlias = Callable[[Mapping[str, Encoder]], Mapping[str, Summary]]
Releases: TypeAlias = dict[str, Any]


class Charged(Protocol):
    """What the ledger is told of a plan, and how the costs of its members come together."""

    @property
    def epsilon(self) -> Fraction: ...
    @property
    def delta(self) -> Fraction: ...
    @property
    def digest(self) -> str: ...
    def total_cost(self, costs: Iterable[Fraction]) -> Fraction: ...


class Stages(Protocol):
    """What follows the first stage."""

    @property
    def passes(self) -> int: ...
    def check_passes(self, single_pass_reason: str) -> None:
        """Refuse what can be read once where there are several passes."""

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        """The stage that follows what was drawn so far; None if that was all."""


class Member(Protocol):
    """One of the plans that a charge is for: its stages, and what becomes of what they draw."""

    @property
    def epsilon(self) -> Fraction: ...
    @property
    def delta(self) -> Fraction: ...
    @property
    def stage(self) -> Stage: ...
    @property
    def schedule(self) -> Stages: ...
    @property
    def max_records(self) -> int | None:
        """How many records are used at most, where that is public."""

    def check_current(self) -> None:
        """Refuse to carry out what an earlier version would have done in another way."""

    def check_worth(self) -> None:
        """Refuse, by public facts alone, what could say nothing at all."""

    def build_release(self, drawn: Sequence[np.ndarray], receipt: Receipt) -> Any:
        """The release that these draws come to."""


@dataclass(frozen=True)
class Receipt:
    """What a release says of its making: when, under which name, and which charge paid for it."""

    query: str
    created: str
    study: str | None = None
    entry: int | None = None
    seal: str | None = None
    renewal: Renewal | None = None


def execute(
    joint_plan: Charged,
    plans: Mapping[str, Member],
    summaries: Mapping[str, Summary],
    ledger: Ledger | None,
    query: str,
    reread: Reread | None,
    rereadable: bool = False,
) -> Releases:
    """Summaries, each through its own plan, under the one charge that `joint_plan` states for all of them.

    A plan of several stages reads the records again for each of them, through the problem it is given. Where
    records are easily read again (`rereadable`), no stage is read with what may not be needed.
    """
    check_name("names of queries", query)
    on_lattice = {}
    for name, plan in plans.items():
        if reread is None and plan.schedule.passes > 1:
            raise PlanMismatch("This plan reads the records several times: pass them, or plan with passes=1.")
        first = plan.stage.as_read(rereadable)
        first.check(summaries[name])
        on_lattice[name] = first.to_lattice(summaries[name])
    account = Account(joint_plan, plans)
    account.add({name: plan.stage for name, plan in plans.items()})
    load_all()
    receipt = _charge(joint_plan, ledger, query)
    with note_charge_stands(receipt.entry, receipt.study):
        _tell_charged(receipt)
        drawn = {name: [_draw(plan.stage, on_lattice[name])] for name, plan in plans.items()}
        _draw_later_stages(plans, summaries, drawn, account, reread, rereadable)
        releases = {name: plan.build_release(drawn[name], receipt) for name, plan in plans.items()}
        watching.tell("done")
    log.info("released %s for plan %s at epsilon %s", query, joint_plan.digest[:12], joint_plan.epsilon)
    return releases


def _charge(plan: Charged, ledger: Ledger | None, query: str) -> Receipt:
    """Write the charge down. When this returns, it is on disk."""
    if ledger is None:
        return Receipt(query, _now())
    study, every = ledger.name, ledger.period
    watching.tell("charging")  # whoever watches may stop it here, and nowhere after
    entry = ledger.charge(plan.epsilon, delta=plan.delta, plan=plan.digest, query=query)
    renewal = Renewal(every, entry.period, entry.spent) if every else None
    return Receipt(query, _now(), study, entry.number, entry.seal, renewal)


def _tell_charged(receipt: Receipt) -> None:
    """From here on nothing that a watcher raises costs the release."""
    if receipt.entry is not None:
        watching.tell("charged", receipt.entry)
    watching.tell("drawing")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Account:
    """What the stages of a release have cost so far, held against its one charge before each draw."""

    def __init__(self, joint_plan: Charged, plans: Mapping[str, Member]):
        self.joint_plan, self.plans = joint_plan, plans
        self.spent = {name: (Fraction(0), Fraction(0)) for name in plans}

    def add(self, stages: Mapping[str, Stage]) -> None:
        """The next stages, which are about to be drawn; refused if all together would cost more than is charged."""
        for name, stage in stages.items():
            epsilon, delta = self.spent[name]
            self.spent[name] = epsilon + stage.epsilon, delta + stage.delta
            self._hold(self.spent[name], self.plans[name])
        epsilons, deltas = zip(*self.spent.values(), strict=True)
        self._hold((self.joint_plan.total_cost(epsilons), self.joint_plan.total_cost(deltas)), self.joint_plan)

    @staticmethod
    def _hold(cost: tuple[Fraction, Fraction], plan: Charged | Member) -> None:
        if cost[0] > plan.epsilon or cost[1] > plan.delta:
            raise PlanMismatch(
                f"The stages of this plan cost epsilon {float(cost[0]):g} and delta {float(cost[1]):g}, and it charges "
                f"{float(plan.epsilon):g} and {float(plan.delta):g}: its method does not keep to its budget. Nothing "
                "more is drawn."
            )


@contextmanager
def note_charge_stands(entry: int | None, study: str | None) -> Iterator[None]:
    """No refund: whatever fails after a charge says that it stands."""
    try:
        yield
    except BaseException as error:
        if entry is not None:
            error.add_note(f"Entry {entry} in the ledger of study {study!r} stands: a charge is never refunded.")
        raise


def _draw_later_stages(
    plans: Mapping[str, Member],
    summaries: Mapping[str, Summary],
    drawn: dict[str, list[np.ndarray]],
    account: Account,
    reread: Reread | None,
    rereadable: bool,
) -> None:
    """Later stages, one pass over the records for all plans together; a stage may share the pass before it."""
    pending, latest = plans, dict(summaries)
    while pending:
        following = {name: plan.schedule.next(drawn[name]) for name, plan in pending.items()}
        stages = {name: stage.as_read(rereadable) for name, stage in following.items() if stage is not None}
        others = {n: stage.encoder for n, stage in stages.items() if stage.encoder.key != latest[n].key}
        if others and reread is None:
            raise PlanMismatch("This plan reads the records several times: pass them, or plan with passes=1.")
        account.add(stages)
        read = reread(others) if others and reread is not None else {}
        if read:
            watching.tell("drawing")
        for name, stage in stages.items():
            summary = latest[name] = read.get(name, latest[name])
            # A private count may differ: every stage is private for what it read, and a refusal would tell.
            if summary.count != summaries[name].count and not stage.problem.count_is_private:
                raise PlanMismatch("The records changed between two passes. Release from data that stays as it is.")
            stage.check(summary)
            drawn[name].append(_draw(stage, stage.to_lattice(summary)))
        pending = {name: plans[name] for name in stages}


def _draw(stage: Stage, on_lattice: Sequence[Sequence[Any]]) -> np.ndarray:
    """The noisy statistic of one stage, its public entries in place."""
    noisy = stage.spread([part.law.draw(s) for part, s in zip(stage.parts, on_lattice, strict=True)])
    noisy[: stage.problem.n_public] = stage.problem.center_coefficients[: stage.problem.n_public]
    return noisy
