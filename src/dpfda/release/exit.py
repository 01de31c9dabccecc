"""Check, charge, draw, seal: in this order, once.

`execute` is the only function that turns a confidential summary into something public. The charge
is on disk before noise is drawn; a failure after it is not refunded, because a crash may cost
budget and never privacy. A sealed :class:`Release` holds public things only.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import codec
from ..ledger import Ledger
from ..protocol import Summary

log = logging.getLogger("dpfda")


def open_ledger(ledger: Ledger | str | os.PathLike[str] | None) -> Ledger | None:
    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(Path(ledger))


def check_budget(ledger: Ledger | None, plan: Any) -> None:
    """Refuse before the data is read what would be refused after."""
    if ledger is not None:
        ledger.check(plan.epsilon, plan.delta)


def execute(plan: Any, summary: Summary, ledger: Ledger | None, query: str) -> Any:
    """One summary through its plan."""
    return execute_all(plan, {"": plan}, {"": summary}, ledger, query)[""]


def execute_all(
    whole: Any, plans: Mapping[str, Any], summaries: Mapping[str, Summary], ledger: Ledger | None, query: str
) -> dict[str, Any]:
    """Several summaries, each through its own plan, under the one charge that `whole` states for all of them."""
    settled = {}
    for name, plan in plans.items():
        plan.stage.problem.check(summaries[name])
        settled[name] = plan.stage.settle(summaries[name])
    entry, study = None, ledger.name if ledger else None
    if ledger is not None:
        entry = ledger.charge(whole.epsilon, delta=whole.delta, plan=whole.digest, query=query)
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    releases = {}
    for name, plan in plans.items():
        stage = plan.stage
        noisy = stage.spread([part.law.draw(s) for part, s in zip(stage.parts, settled[name], strict=True)])
        coefficients = codec.frozen_array(stage.problem.finish(noisy, stage.parts))
        sealed = plan.released(
            plan=plan,
            coefficients=coefficients,
            raw=coefficients,
            query=query,
            created=created,
            study=study,
            entry=entry.number if entry else None,
            seal=entry.seal if entry else None,
        )
        releases[name] = plan.polished(sealed)
    log.info("released %s for plan %s at epsilon %s", query, whole.digest[:12], whole.epsilon)
    return releases
