"""The verbs of the command, put together."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from dpfda import __version__
from dpfda.cli import auditing, covariances, demo, densities, ledgers, models, parts, planning, releasing
from dpfda.cli.console import err, out

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Publish curves, surfaces, densities and models under pure differential privacy.",
    epilog="Exit codes: 0 done, 1 input or file wrong, 2 command line wrong, 3 ledger refused, 130 interrupted.",
)
ledger_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Keep the privacy budget of a study.")
app.command("plan")(planning.plan_command)
app.command("compare")(planning.compare_command)
app.command("mean")(releasing.mean_command)
app.command("radius")(releasing.radius_command)
app.command("density")(densities.density_command)
app.command("covariance")(covariances.covariance_command)
app.command("regress")(models.regress_command)
app.command("fit")(models.fit_command)
app.command("predict")(models.predict_command)
app.command("summarize")(parts.summarize_command)
app.command("release")(parts.release_command)
app.command("show")(releasing.show_command)
app.command("demo")(demo.demo_command)
app.command("audit")(auditing.audit_command)


@app.command("reproduce", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reproduce() -> None:
    """Where the paper's experiments went."""
    err.print("The paper's experiments are a program of their own: python -m dpfda_experiments (make reproduce).")
    raise typer.Exit(2)


app.add_typer(ledger_app, name="ledger")
ledger_app.command("create")(ledgers.ledger_create)
ledger_app.command("show")(ledgers.ledger_show)
ledger_app.command("history")(ledgers.ledger_history)
ledger_app.command("verify")(ledgers.ledger_verify)
ledger_app.command("backup")(ledgers.ledger_backup)
ledger_app.command("adopt")(ledgers.ledger_adopt)


def main() -> None:
    app()


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"dpfda {__version__}")
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
