"""`dpfda ledger`: make, show, list, verify, back up and adopt the budget of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from dpfda import results
from dpfda.cli import options, outputs
from dpfda.cli.commands import command
from dpfda.cli.console import out
from dpfda.ledger import Ledger

LedgerPath = Annotated[Path, typer.Argument(help="A ledger file.")]


@command()
def ledger_create(
    path: Annotated[Path, typer.Argument(help="The new ledger file.")],
    epsilon: options.Epsilon = None,
    study: Annotated[str, typer.Option(help="Name of the study.")] = "",
    delta: Annotated[str, typer.Option(help="Budget for delta; 0 for pure privacy.")] = "0",
) -> None:
    """Make a ledger with a total budget.

    Example: dpfda ledger create study.ledger --epsilon 2 --study "load curves"
    """
    made = Ledger.create(path, epsilon=epsilon, study=study, delta=delta)
    out.print(f"Ledger {path.name} for study {made.name!r}: budget epsilon {made.budget}.")


@command()
def ledger_show(path: LedgerPath, as_json: outputs.AsJson = False) -> None:
    """Show budget, spent and remaining.

    Example: dpfda ledger show study.ledger
    """
    ledger = Ledger(path)
    data = {
        "study": ledger.name,
        "budget": str(ledger.budget),
        "spent": str(ledger.spent),
        "remaining": str(ledger.remaining),
        "delta": f"{ledger.delta_spent} of {ledger.delta_budget}" if ledger.delta_budget else "0 (pure releases only)",
        "entries": len(ledger.history()),
    }
    out.print_json(data=data) if as_json else out.print("\n".join(f"{key:<10} {value}" for key, value in data.items()))


@command()
def ledger_history(path: LedgerPath, as_json: outputs.AsJson = False) -> None:
    """List every charge, oldest first.

    Example: dpfda ledger history study.ledger --json
    """
    entries = Ledger(path).history()
    if as_json:
        out.print_json(
            data=[
                {
                    "number": e.number,
                    "time": e.time,
                    "plan": e.plan,
                    "query": e.query,
                    "epsilon": str(e.epsilon),
                    "delta": str(e.delta),
                }
                for e in entries
            ]
        )
        return
    table = Table()
    for name in ("#", "time", "query", "epsilon", "delta", "plan"):
        table.add_column(name)
    for e in entries:
        table.add_row(str(e.number), e.time, e.query, str(e.epsilon), str(e.delta), e.plan[:12])
    out.print(table)


@command()
def ledger_verify(
    path: LedgerPath,
    releases: Annotated[list[Path] | None, typer.Argument(help="Saved releases whose charges it must hold.")] = None,
) -> None:
    """Check the ledger in use: every seal, that it is no copy, and that it holds the charges of saved releases.

    Example: dpfda ledger verify study.ledger mean.json
    """
    ledger = Ledger(path)
    held = ledger.verify(results.load(file) for file in releases or ())
    count = len(ledger.history())
    out.print(f"Intact: {count} charge{'' if count == 1 else 's'}, epsilon {ledger.spent} of {ledger.budget}.")
    if held:
        out.print(f"Holds the charges of {len(held)} release{'' if len(held) == 1 else 's'}.")


@command()
def ledger_backup(
    path: LedgerPath,
    copy: Annotated[Path, typer.Argument(help="The new file.")],
) -> None:
    """Copy the ledger into a new file, consistent while others charge. The copy refuses charges until it is adopted.

    Example: dpfda ledger backup study.ledger study.backup
    """
    ledger = Ledger(path)
    ledger.backup(copy)
    out.print(f"Written: {copy}")


@command()
def ledger_adopt(
    path: Annotated[Path, typer.Argument(help="A copied or restored ledger, now the only one in use.")],
    release: Annotated[list[Path] | None, typer.Option(help="A saved release that it may lack; repeat.")] = None,
    spent: Annotated[str | None, typer.Option(help="Epsilon released since the copy, apart from --release.")] = None,
) -> None:
    """Use a copied or restored ledger from now on, after writing in what was released since it was copied.

    Never adopt a copy while another is in use: two copies are two budgets.

    Example: dpfda ledger adopt study.ledger --release mean.json --spent 0
    """
    ledger = Ledger(path)
    written = ledger.adopt(releases=[results.load(file) for file in release or ()], spent=spent)
    out.print(f"Adopted {path.name}; charges written in: {len(written)}. Left: epsilon {ledger.remaining}.")
