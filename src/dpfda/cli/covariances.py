"""`dpfda covariance`: the covariance surface of a file of curves, and its principal components."""

from __future__ import annotations

import typer

from dpfda import api, results
from dpfda.cli import options, outputs, planfiles, sources
from dpfda.cli.commands import command
from dpfda.cli.releasing import SETTLED
from dpfda.core.checks import check_value
from dpfda.core.errors import FileError
from dpfda.core.nouns import check_record
from dpfda.plans import CovariancePlan

#: Principal components of which --json tells the variance.
SHOWN = 3


@command(first="epsilon range radius grid columns by unit ledger out plot")
def covariance_command(
    context: typer.Context,
    curves: sources.Files,
    *,
    plan: options.PlanFile = None,
    protection: options.Protection,
    estimate: options.Estimate,
    value: options.Value = None,
    units: sources.Units,
    labels: sources.Labels,
    gaps: sources.Gaps,
    reading: sources.Reading,
    charge: options.Charge,
    output: outputs.CovarianceOutputs,
    display: outputs.Display,
) -> None:
    """Release the covariance surface of a file of curves, and with it private principal components.

    Example: dpfda covariance curves.csv --epsilon 1 --radius 5 --out covariance.json --plot covariance.png
    """
    planfiles.check_settled(context, plan, SETTLED)
    output.check_given(display)
    check_value(value)
    check_record(protection.record)
    if labels.by is not None and (output.surface or output.components):
        raise FileError("--surface and --components show one covariance. Use --plot, or drop --by.")
    ledger = charge.opened()
    with (
        output.reserved(*sources.local(curves), charge.ledger, plan) as write,
        reading.opened(curves, display.silent, **gaps.keywords()) as records,
    ):
        if plan is not None:
            release = planfiles.release_by_plan(
                plan, CovariancePlan, records, ledger, labels.by, value, protection.record
            )
        else:
            keywords = protection.keywords() | estimate.keywords() | units.keywords() | labels.keywords(protection.n)
            release = api.covariance(records, ledger=ledger, value=value, **keywords)
        written = write(release, ledger)
    display.say(release, written, **_variances(release))


def _variances(release: object) -> dict[str, list[float]]:
    """What the leading components explain, of a single covariance."""
    if not isinstance(release, results.CovarianceRelease):
        return {}
    count = min(SHOWN, release.rank)
    return {
        "explained_variance": release.explained_variance(count).tolist() if count else [],
        "explained_variance_ratio": release.explained_variance_ratio(count).tolist() if count else [],
    }
