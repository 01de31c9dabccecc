"""`dpfda percentiles`: percentile curves, one set for all or one per group."""

from __future__ import annotations

from typing import Any

import typer

from dpfda import api
from dpfda.cli import options, outputs, planfiles, sources
from dpfda.cli.commands import command
from dpfda.core.checks import check_value
from dpfda.core.nouns import check_record
from dpfda.plans import PercentilePlan

#: What a plan file settles about percentiles, by the names of the options.
SETTLED = (
    *options.Protection.settled(), *options.Ranks.names(), *sources.Gaps.names(), *sources.Units.names(), "groups",
)  # fmt: skip


@command(first="epsilon range levels grid columns by unit ledger out plot")
def percentiles_command(
    context: typer.Context,
    curves: sources.Files,
    *,
    plan: options.PlanFile = None,
    protection: options.Protection,
    ranks: options.Ranks,
    value: options.Value = None,
    units: sources.Units,
    labels: sources.Labels,
    gaps: sources.Gaps,
    reading: sources.Reading,
    charge: options.Charge,
    output: outputs.Outputs,
    display: outputs.Display,
) -> None:
    """Release percentile curves: at each time, the values below which 5, 25, 50, 75 and 95 % of the curves lie.

    Example: dpfda percentiles curves.csv --epsilon 1 --range 0:2 --levels 5,25,50,75,95 --plot profile.png
    """
    planfiles.check_settled(context, plan, SETTLED)
    output.check_given(display)
    check_value(value)
    check_record(protection.record)
    ledger = charge.opened()
    with (
        output.reserved(*sources.local(curves), charge.ledger, plan) as write,
        reading.opened(curves, display.silent, **gaps.keywords()) as records,
    ):
        release: Any
        if plan is not None:
            release = planfiles.release_by_plan(
                plan, PercentilePlan, records, ledger, labels.by, value, protection.record
            )
        else:
            keywords = protection.keywords() | ranks.keywords() | units.keywords() | labels.keywords(protection.n)
            release = api.percentiles(records, ledger=ledger, value=value, **keywords)
        written = write(release, ledger)
    display.say(release, written)
