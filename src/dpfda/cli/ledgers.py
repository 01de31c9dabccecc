"""`dpfda ledger`: make, show, list, export, back up and adopt the budget of a study."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.table import Table

from dpfda import results
from dpfda.cli import options, outputs
from dpfda.cli.commands import Keywords, command
from dpfda.cli.console import out
from dpfda.core.errors import FileError, ParameterError, printable
from dpfda.core.files import reserved
from dpfda.ledger import Ledger, Output, tables
from dpfda.ledger.entries import Balance, Entry
from dpfda.ledger.releases import Charged
from dpfda.results.columns import no_formula


@command()
def ledger_create(
    path: Annotated[Path, typer.Argument(envvar=options.LEDGER_VARIABLE, help="The new ledger file.")],
    epsilon: options.Epsilon = None,
    study: Annotated[str, typer.Option(help="Name of the study.")] = "",
    delta: Annotated[str, typer.Option(help="Budget for delta; 0 for pure privacy.")] = "0",
    period: Annotated[
        str | None,
        typer.Option(help="Renew the budget every year, quarter, month, week or day (UTC). Default: one budget."),
    ] = None,
) -> None:
    """Make a ledger with a total budget, or with one that renews by the calendar.

    What one person can lose adds up over periods: statements give the sum.

    Example: dpfda ledger create study.ledger --epsilon 2 --study "load curves"
    """
    made = Ledger.create(path, epsilon=epsilon, study=study, delta=delta, period=period)
    every = f" every {made.period}" if made.period else ""
    out.print(
        f"Ledger {printable(path.name)} for study {made.name!r}: budget epsilon {tables.spelt(made.budget)}{every}."
    )


@command()
def ledger_show(path: options.LedgerPath, as_json: outputs.AsJson = False) -> None:
    """Show budget, spent and remaining.

    Example: dpfda ledger show study.ledger
    """
    show_ledger(path, as_json)


def show_ledger(path: Path, as_json: bool) -> None:
    """What is left of a budget, in decimals and percent, with a bar."""
    book = Ledger(path).book()
    balance, count = book.balance_now, len(book.entries)
    if as_json:
        out.print_json(data=_figures(balance, count))
        return
    rows = tables.budget(balance, count)
    width = max(len(name) for name, _ in rows)
    out.print(f"{printable(path.name)}: a ledger, the privacy budget of a study")
    out.print("\n".join(f"  {name:<{width}}  {value}" for name, value in rows))
    out.print(f"  {'':<{width}}  {tables.bar(float(balance.last.period_spent / balance.epsilon))}")


def _figures(balance: Balance, count: int) -> Keywords:
    last = balance.last
    return {
        "file": "ledger",
        "study": balance.study,
        "budget": float(balance.epsilon),
        "spent": float(last.spent),
        "remaining": float(balance.left),
        "spent_percent": float(100 * last.period_spent / balance.epsilon),
        "delta_budget": float(balance.delta),
        "delta_spent": float(last.spent_delta),
        "period": balance.period or None,
        "current_period": last.period or None,
        "period_spent": float(last.period_spent),
        "entries": count,
        "exact": {"budget": str(balance.epsilon), "spent": str(last.spent), "remaining": str(balance.left)},
    }


@command()
def ledger_history(path: options.LedgerPath, as_json: outputs.AsJson = False) -> None:
    """List every charge, oldest first, with the file that was written for it.

    Example: dpfda ledger history study.ledger --json
    """
    book = Ledger(path).book()
    written = {output.charge: output for output in book.outputs}
    if as_json:
        rows = [tables.as_data(entry) | _written(written.get(entry.number)) for entry in book.entries]
        out.print_json(data=rows)
        return
    columns = {
        "#": [str(e.number) for e in book.entries],
        "time": [e.time[:16].replace("T", " ") for e in book.entries],
        "query": [_named(e) for e in book.entries],
        "epsilon": [tables.spelt(e.epsilon) for e in book.entries],
        "delta": [f"{float(e.delta):g}" if e.delta else "" for e in book.entries],
        "note": [e.note for e in book.entries],
        "operator": [e.operator for e in book.entries],
        "output": [written[e.number].file if e.number in written else "" for e in book.entries],
    }
    table = Table()
    said = {name: cells for name, cells in columns.items() if any(cells) or name in ("#", "time", "query", "epsilon")}
    for name in said:
        table.add_column(name, no_wrap=name in ("#", "time", "epsilon"), overflow="fold")
    for row in zip(*said.values(), strict=True):
        table.add_row(*row)
    out.print(table)


def _named(entry: Entry) -> str:
    """What was released, and the name of the release where a job made it."""
    parts = entry.run.split("/")
    return f"{entry.query}: {parts[1]}" if len(parts) == 3 else entry.query


def _written(output: Output | None) -> Keywords:
    return {"output": output and output.file, "sha256": output and output.sha256}


@command()
def ledger_export(
    path: options.LedgerPath,
    output: Annotated[Path | None, typer.Option("--out", help="Write .csv or .json. Default: print CSV.")] = None,
    as_json: outputs.AsJson = False,
) -> None:
    """List every charge and every file that was written for one, for spreadsheets and other programs.

    Example: dpfda ledger export study.ledger --out charges.csv
    """
    ending = ".json" if as_json else ".csv"
    if output is not None and as_json:
        raise ParameterError("--json prints, and --out writes by its ending", "both", "Drop one of them.")
    if output is not None:
        ending = output.suffix.lower()
        if ending not in (".csv", ".json"):
            raise FileError(f"The list {output.name!r} must end in .csv or .json.")
    book = Ledger(path).book()
    if ending == ".json":
        data = _figures(book.balance_now, len(book.entries)) | {"history": tables.listed(book)}
        text = json.dumps(data, indent=1) + "\n"
    else:
        text = _as_csv(tables.listed(book))
    if output is None:
        out.print(text, end="")
        return
    with reserved([output], [path]) as places:
        places[output].write(text)
    out.print(f"Written: {printable(str(output))}")


def _as_csv(rows: list[dict[str, object]]) -> str:
    """Rows under their columns; a text is never a formula."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, tables.COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: no_formula(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    return buffer.getvalue()


def _loaded(file: Path) -> Charged:
    """A saved release; a saved difference has a plan, and with it all that a ledger asks for."""
    return cast(Charged, results.load(file))


@command()
def ledger_backup(
    path: options.LedgerPath,
    copy: Annotated[Path, typer.Argument(help="The new file.")],
) -> None:
    """Copy the ledger into a new file, consistent while others charge. The copy refuses charges until it is adopted.

    Example: dpfda ledger backup study.ledger study.backup
    """
    ledger = Ledger(path)
    ledger.backup(copy)
    out.print(f"Written: {printable(str(copy))}")


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
    healthy = ledger.in_use
    written = ledger.adopt(releases=[_loaded(file) for file in release or ()], spent=spent)
    left = f"Left: epsilon {tables.spelt(ledger.remaining)}."
    if healthy and not written:
        out.print(
            f"Nothing to be done: {printable(path.name)} is the ledger in use and lacks nothing that was named. {left}"
        )
    else:
        out.print(f"Adopted {printable(path.name)}; charges written in: {len(written)}. {left}")
