"""The commands, put together."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from dpfda import __version__
from dpfda.cli.deferred import DeferredGroup

#: Where each command is written, and the first sentence of its help: nothing else of it is loaded before it is used.
COMMANDS = {
    "check": (
        "checking.check_command",
        "Report every problem of some files at once, as counts and line numbers.",
    ),
    "plan": (
        "planning.plan_command",
        "Plan a mean, a covariance, a density (--domain), survival (--horizon) or percentiles (--levels) before data.",
    ),
    "compare": ("planning.compare_command", "Compare methods over budgets, without data."),
    "mean": ("releasing.mean_command", "Release the mean of the curves in one file or many."),
    "radius": ("releasing.radius_command", "Suggest a radius for a bound: a private quantile of the curves' norms."),
    "density": ("densities.density_command", "Release a density of points, or of a table of counts."),
    "percentiles": (
        "percentiles.percentiles_command",
        "Release percentile curves: at each time, the values below which 5, 25, 50, 75 and 95 % of the curves lie.",
    ),
    "survival": (
        "survivals.survival_command",
        "Release a survival curve: the share without an event over time, some of the times being censored.",
    ),
    "covariance": (
        "covariances.covariance_command",
        "Release the covariance surface of a file of curves, and with it private principal components.",
    ),
    "regress": (
        "models.regress_command",
        "Explain curves by covariates: an intercept and one coefficient function each.",
    ),
    "fit": ("models.fit_command", "Fit a kernel model: a function of one to ten inputs, or classes of them."),
    "predict": ("models.predict_command", "Predict with a saved model."),
    "run": (
        "jobs.run_command",
        "Make all releases of a study file, once a night (or as often as it says), without spending twice.",
    ),
    "summarize": ("parts.summarize_command", "Add up some files for a plan: exact, confidential, resumable."),
    "release": ("parts.release_command", "Release what `dpfda summarize` added up: merge, check, charge once, draw."),
    "show": (
        "showing.show_command",
        "Show any file that dpfda wrote: the statement of a release, the table of a plan, the balance of a ledger.",
    ),
    "report": (
        "reporting.report_command",
        "Write the report of a release or a plan: one page in plain words, for whoever has to decide.",
    ),
    "studio": (
        "studios.studio_command",
        "Plan, release and review on a page in your browser, on this machine alone.",
    ),
    "demo": (
        "demo.demo_command",
        "Invent load curves, homes and ages at death, and release means, surfaces, models and densities of them.",
    ),
    "audit": (
        "auditing.audit_command",
        "Try to show that a plan breaks its promise: search the worst neighbours, test real noise and releases.",
    ),
}
#: The same of `dpfda ledger`.
LEDGER_COMMANDS = {
    "create": ("ledgers.ledger_create", "Make a ledger with a total budget, or with one that renews by the calendar."),
    "show": ("ledgers.ledger_show", "Show budget, spent and remaining."),
    "history": ("ledgers.ledger_history", "List every charge, oldest first, with the file that was written for it."),
    "export": (
        "ledgers.ledger_export",
        "List every charge and every file that was written for one, for spreadsheets and other programs.",
    ),
    "verify": (
        "verifying.ledger_verify",
        "Check the ledger in use: every seal, that it is no copy, and that it holds the charges of saved releases.",
    ),
    "backup": ("ledgers.ledger_backup", "Copy the ledger into a new file, consistent while others charge."),
    "adopt": (
        "ledgers.ledger_adopt",
        "Use a copied or restored ledger from now on, after writing in what was released since it was copied.",
    ),
}


class Commands(DeferredGroup):
    deferred = COMMANDS


class LedgerCommands(DeferredGroup):
    deferred = LEDGER_COMMANDS


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
    help="Publish curves, surfaces, densities and models under pure differential privacy.",
    epilog="Exit codes: 0 done, 1 input or file wrong, 2 command line wrong, 3 ledger refused, 4 a check found "
    "something, 130 interrupted.",
)
ledger_app = typer.Typer(
    cls=LedgerCommands, no_args_is_help=True, rich_markup_mode=None, help="Keep the privacy budget of a study."
)
app.add_typer(ledger_app, name="ledger")


@app.command("reproduce", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reproduce() -> None:
    """Where the paper's experiments went."""
    typer.echo(
        "The paper's experiments are a program of their own: python -m dpfda_experiments (make reproduce).", err=True
    )
    raise typer.Exit(2)


def main() -> None:
    app()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dpfda {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log steps to standard error.")] = False,
) -> None:
    logger = logging.getLogger("dpfda")
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    if verbose:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
