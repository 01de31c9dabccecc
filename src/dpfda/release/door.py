"""Check, charge, draw, seal: in this order, once.

`execute` is the only function that turns a confidential summary into something public. The charge
is on disk before noise is drawn; a failure after it is not refunded, because a crash may cost
budget and never privacy. A sealed :class:`Release` holds public things only.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpfda.core import codec
from dpfda.core.checks import check_name
from dpfda.core.errors import PlanMismatch
from dpfda.ledger import Entry, Ledger
from dpfda.problems.base import Stage, Summary

log = logging.getLogger("dpfda")
#: Reads the records again, once for all problems, each by its name.
Reread = Callable[[Mapping[str, Any]], Mapping[str, Summary]]


def open_ledger(ledger: Ledger | str | os.PathLike[str] | None) -> Ledger | None:
    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(Path(ledger))


def check_budget(ledger: Ledger | None, plan: Any) -> None:
    """Refuse before the data is read what would be refused after."""
    if ledger is not None:
        ledger.check(plan.epsilon, plan.delta)


def execute(
    plan: Any, summary: Summary, ledger: Ledger | None, query: str, reread: Callable[[Any], Summary] | None = None
) -> Any:
    """One summary through its plan."""
    alone: Reread | None = None if reread is None else lambda problems: {"": reread(problems[""])}
    return execute_all(plan, {"": plan}, {"": summary}, ledger, query, alone)[""]


def execute_all(
    joint_plan: Any,
    plans: Mapping[str, Any],
    summaries: Mapping[str, Summary],
    ledger: Ledger | None,
    query: str,
    reread: Reread | None = None,
) -> dict[str, Any]:
    """Several summaries, each through its own plan, under the one charge that `whole` states for all of them.

    A plan of several stages reads the records `again` for each of them, through the problem it is given.
    """
    check_name("names of queries", query)
    settled = {}
    for name, plan in plans.items():
        if reread is None and plan.passes_needed > 1:
            raise PlanMismatch("This plan reads the records several times: pass them, or plan with passes=1.")
        plan.stage.problem.check(summaries[name])
        settled[name] = plan.stage.to_lattice(summaries[name])
    account = Account(joint_plan, plans)
    account.add({name: plan.stage for name, plan in plans.items()})
    entry, study = None, ledger.name if ledger else None
    if ledger is not None:
        entry = ledger.charge(joint_plan.epsilon, delta=joint_plan.delta, plan=joint_plan.digest, query=query)
    with note_charge_stands(entry.number if entry else None, study):
        return _released(joint_plan, plans, summaries, settled, query, study, entry, reread, account)


class Account:
    """What the stages of a release have cost so far, held against its one charge before each draw."""

    def __init__(self, joint_plan: Any, plans: Mapping[str, Any]):
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
    def _hold(cost: tuple[Fraction, Fraction], plan: Any) -> None:
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


def _released(
    joint_plan: Any,
    plans: Mapping[str, Any],
    summaries: Mapping[str, Summary],
    settled: Mapping[str, Sequence[Any]],
    query: str,
    study: str | None,
    entry: Entry | None,
    reread: Reread | None,
    account: Account,
) -> dict[str, Any]:
    """Draw and seal: nothing before the charge comes here."""
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    drawn = {name: [_drawn(plan.stage, settled[name])] for name, plan in plans.items()}
    _draw_on(plans, summaries, drawn, account, reread)
    releases = {}
    for name, plan in plans.items():
        coefficients = codec.frozen_array(plan.combine(drawn[name]))
        sealed = plan.release_type(
            plan=plan,
            coefficients=coefficients,
            raw=coefficients,
            query=query,
            created=created,
            study=study,
            entry=entry.number if entry else None,
            seal=entry.seal if entry else None,
            **plan.extra_fields(drawn[name]),
        )
        releases[name] = plan.postprocessed(sealed)
    log.info("released %s for plan %s at epsilon %s", query, joint_plan.digest[:12], joint_plan.epsilon)
    return releases


def _draw_on(
    plans: Mapping[str, Any],
    summaries: Mapping[str, Summary],
    drawn: dict[str, list[np.ndarray]],
    account: Account,
    reread: Reread | None,
) -> None:
    """Later stages, one pass over the records for all plans together."""
    pending: Mapping[str, Any] = plans
    while pending:
        following = {name: plan.next(drawn[name]) for name, plan in pending.items()}
        stages: dict[str, Stage] = {name: stage for name, stage in following.items() if stage is not None}
        others = {n: stage.problem for n, stage in stages.items() if stage.problem.key != summaries[n].key}
        if others and reread is None:
            raise PlanMismatch("This plan reads the records several times. The charge stands.")
        account.add(stages)
        read = reread(others) if others and reread is not None else {}
        for name, stage in stages.items():
            summary = read.get(name, summaries[name])
            if summary.count != summaries[name].count:
                raise PlanMismatch("The records changed between two passes. The charge stands.")
            stage.problem.check(summary)
            drawn[name].append(_drawn(stage, stage.to_lattice(summary)))
        pending = {name: plans[name] for name in stages}


def _drawn(stage: Stage, settled: Sequence[Any]) -> np.ndarray:
    """The noisy statistic of one stage, its public entries in place."""
    noisy = stage.spread([part.law.draw(s) for part, s in zip(stage.parts, settled, strict=True)])
    noisy[: stage.problem.n_public] = stage.problem.center_coefficients[: stage.problem.n_public]
    return noisy
