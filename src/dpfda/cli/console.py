"""How the command speaks: figures to standard output, progress and errors to standard error.

Exit codes: 0 done (also where a release says of itself that its bound is too small: it is charged and written, and a
last line warns), 1 the input or a file is wrong, 2 the command line is wrong or asks for mostly noise, 3 the
ledger refused or cannot be used, 4 a check found something (`audit`, `ledger verify`, `report`, and `run` where a
charged release is missing), 130 interrupted.
"""

from __future__ import annotations

import functools
import logging
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TextIO

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dpfda.cli.spelling import as_options
from dpfda.cli.voice import err as err
from dpfda.cli.voice import out as out
from dpfda.cli.voice import say as say
from dpfda.cli.voice import speaking
from dpfda.core.errors import DpfdaError, LedgerError, LeftOutWarning, NoiseWarning, NotPrivateWarning, UnitWarning
from dpfda.core.watching import Phase, watched

#: The exit codes of a check that found something, and of a run that somebody stopped.
FOUND, INTERRUPTED = 4, 130
#: What becomes of a release that will be mostly noise, without --anyway: it is not made.
ON_NOISE: Literal["error", "ignore"] = "error"


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Errors become one clear line and an exit code; with --verbose, the lines of code that led there."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        with speaking(options.get("log")):
            _run_guarded(functools.partial(command, *args, **options), bool(options.get("anyway")))

    return run


def _run_guarded(command: Callable[[], None], anyway: bool) -> None:
    cautions: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.showwarning = functools.partial(_warn, cautions)
            for kind in (UnitWarning, NotPrivateWarning, LeftOutWarning):
                warnings.simplefilter("always", kind)
            warnings.simplefilter("always" if anyway else ON_NOISE, NoiseWarning)
            command()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except DpfdaError as error:
        words = " ".join([as_options(str(error)), *getattr(error, "__notes__", ())])
        say("error", words, error=type(error).__name__)
        raise typer.Exit(3 if isinstance(error, LedgerError) else 1) from None
    except NoiseWarning as noise:  # before the charge
        say("refused", f"{noise} Pass --anyway to release it all the same.", error=type(noise).__name__)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        words = "Interrupted. 'dpfda ledger history' tells whether a release was charged."
        say("error", words, error="KeyboardInterrupt")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:  # its text may quote data: only its kind is shown, and with --verbose where it arose
        if logging.getLogger("dpfda").isEnabledFor(logging.INFO):
            err.print("".join(traceback.format_tb(error.__traceback__)).rstrip())
        say(
            "error",
            f"the run stopped with an unforeseen {type(error).__name__}. "
            "Run dpfda --verbose ... for details; if a ledger was given, its history tells whether it was charged.",
            error=type(error).__name__,
        )
        raise typer.Exit(1) from None
    finally:
        for caution in cautions:
            say("warning", as_options(caution))


def _warn(
    cautions: list[str], message: Warning | str, category: type[Warning], filename: str, lineno: int,
    file: TextIO | None = None, line: str | None = None,
) -> None:  # fmt: skip
    """What a release says against trusting it is kept for the end, when all is written; the rest is said at once."""
    if issubclass(category, LeftOutWarning):
        cautions.append(str(message))
    else:
        say("warning", as_options(str(message)))


class Bar:
    """Rows and files read so far, how fast, and how long it will take."""

    def __init__(self, bar: Progress):
        self.bar, self.task = bar, bar.add_task("Reading", total=None, files="", rate="")
        self.began, self.number = time.monotonic(), 0

    def phase(self, phase: Phase) -> None:
        """What is being done: which reading, of how many."""
        if phase.name == "reading" and phase.number != self.number:
            self.number, self.began = phase.number or 0, time.monotonic()
            self.bar.reset(self.task, total=None, files="", rate="")
        if phase.name not in ("checking", "done"):
            once = phase.name == "reading" and phase.of in (None, 1)
            self.bar.update(self.task, description="Reading" if once else phase.words)

    def __call__(self, done: int, total: int | None) -> None:
        rate = done / max(time.monotonic() - self.began, 1e-9)
        self.bar.update(self.task, completed=done, total=total, rate=f"{rate:,.0f} rows/s")

    def file(self, done: int, total: int) -> None:
        """After each of several files."""
        if total > 1:
            self.bar.update(self.task, files=f"{done}/{total} files")


@contextmanager
def progress_bar(silent: bool) -> Iterator[Bar | None]:
    """Rows and files read so far, on standard error, when a person is watching."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    with Progress(
        TextColumn("{task.description} {task.fields[files]}", markup=False), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"), TimeRemainingColumn(), console=err, transient=True,
    ) as bar:  # fmt: skip
        shown = Bar(bar)
        with watched(shown.phase):
            yield shown
