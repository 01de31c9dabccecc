"""How the command speaks: figures to standard output, progress and errors to standard error.

Exit codes: 0 done, 1 the input or a file is wrong, 2 the command line is wrong, 3 the ledger
refused or cannot be used.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..errors import DpfdaError, LedgerError

out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Errors on purpose become one clear line and an exit code, never a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except DpfdaError as error:
            err.print(f"Error: {error}", style="bold red", markup=False)
            raise typer.Exit(3 if isinstance(error, LedgerError) else 1) from None
        except KeyboardInterrupt:
            err.print(
                "Interrupted. Nothing more was written; 'dpfda ledger history' tells whether the release was charged.",
                style="bold red",
            )
            raise typer.Exit(130) from None

    return run


@contextmanager
def progress_bar(silent: bool) -> Iterator[Callable[[int, int | None], None] | None]:
    """Rows read so far, on standard error, when a person is watching."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    with Progress(
        TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err, transient=True
    ) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
