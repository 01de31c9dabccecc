"""The commands, put together."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from dpfda import __version__
from dpfda.cli import auditing, covariances, demo, densities, ledgers, models, parts, planning, releasing
from dpfda.cli.commands import GroupedCommand
from dpfda.cli.console import err, out

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
    help="Publish curves, surfaces, densities and models under pure differential privacy.",
    epilog="Exit codes: 0 done, 1 input or file wrong, 2 command line wrong, 3 ledger refused, 130 interrupted.",
)
ledger_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Keep the privacy budget of a study.")
COMMANDS = {
    "plan": planning.plan_command,
    "compare": planning.compare_command,
    "mean": releasing.mean_command,
    "radius": releasing.radius_command,
    "density": densities.density_command,
    "covariance": covariances.covariance_command,
    "regress": models.regress_command,
    "fit": models.fit_command,
    "predict": models.predict_command,
    "summarize": parts.summarize_command,
    "release": parts.release_command,
    "show": releasing.show_command,
    "demo": demo.demo_command,
    "audit": auditing.audit_command,
}
LEDGER_COMMANDS = {
    "create": ledgers.ledger_create,
    "show": ledgers.ledger_show,
    "history": ledgers.ledger_history,
    "verify": ledgers.ledger_verify,
    "backup": ledgers.ledger_backup,
    "adopt": ledgers.ledger_adopt,
}
for name, function in COMMANDS.items():
    app.command(name, cls=GroupedCommand)(function)
for name, function in LEDGER_COMMANDS.items():
    ledger_app.command(name, cls=GroupedCommand)(function)
app.add_typer(ledger_app, name="ledger")


@app.command("reproduce", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reproduce() -> None:
    """Where the paper's experiments went."""
    err.print("The paper's experiments are a program of their own: python -m dpfda_experiments (make reproduce).")
    raise typer.Exit(2)


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
