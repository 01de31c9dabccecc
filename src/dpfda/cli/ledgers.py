"""`dpfda ledger`: make, show and list the budget of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..ledger import Ledger
from .console import guarded, out
from .options import AsJson, Epsilon


@guarded
def ledger_create(
    path: Annotated[Path, typer.Argument(help="The new ledger file.")],
    epsilon: Epsilon = None,
    study: Annotated[str, typer.Option(help="Name of the study.")] = "",
    delta: Annotated[str, typer.Option(help="Budget for delta; 0 for pure privacy.")] = "0",
) -> None:
    """Make a ledger with a total budget.

    Example: dpfda ledger create study.ledger --epsilon 2 --study "load curves"
    """
    made = Ledger.create(path, epsilon=epsilon, study=study, delta=delta)
    out.print(f"Ledger {path.name} for study {made.name!r}: budget epsilon {made.budget}.")


@guarded
def ledger_show(path: Annotated[Path, typer.Argument(help="A ledger file.")], as_json: AsJson = False) -> None:
    """Show budget, spent and remaining.

    Example: dpfda ledger show study.ledger
    """
    book = Ledger(path)
    data = {
        "study": book.name,
        "budget": str(book.budget),
        "spent": str(book.spent),
        "remaining": str(book.remaining),
        "delta": f"{book.delta_spent} of {book.delta_budget}" if book.delta_budget else "0 (pure releases only)",
        "entries": len(book.history()),
    }
    out.print_json(data=data) if as_json else out.print("\n".join(f"{key:<10} {value}" for key, value in data.items()))


@guarded
def ledger_history(path: Annotated[Path, typer.Argument(help="A ledger file.")], as_json: AsJson = False) -> None:
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
