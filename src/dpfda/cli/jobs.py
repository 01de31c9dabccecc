"""`dpfda run`: all releases of a study file, once in each stretch of its calendar.

A second start of the same run charges nothing that was charged and overwrites nothing: it makes what was not charged
yet, and says what was charged and is missing. The whole file is checked before anything is read, and each release is
read before it is charged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

from dpfda.cli import job_tables, options, outputs
from dpfda.cli.commands import Parameters, command
from dpfda.cli.console import out
from dpfda.cli.job_making import Maker, check_places
from dpfda.cli.job_states import Run
from dpfda.cli.keys import as_keys
from dpfda.cli.previews import KINDS, Preview, preview
from dpfda.cli.sources import local
from dpfda.cli.spelling import as_options
from dpfda.cli.study_files import Job, Study, read_study
from dpfda.cli.voice import journal
from dpfda.core.checks import check_choice
from dpfda.core.errors import FileError, LedgerError, ParameterError
from dpfda.ledger import Ledger

fcntl: Any = None
with suppress(ImportError):  # another system: two starts at once are told apart by the ledger alone
    import fcntl

UsageError: type[Exception] = cast(type[Exception], typer.BadParameter.__base__)


@command()
def run_command(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="A study file (TOML).")],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the plans, what they cost and what is done. Reads no data.")
    ] = False,
    begin: Annotated[
        bool, typer.Option("--begin", help="Make the study's ledger: the first time, and never again.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat what was charged and is missing, at a new charge.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite outputs that are in the way.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Only this release; repeat.")] = None,
    log: Annotated[str, typer.Option(help="What is said on standard error: text or json.")] = "text",
    display: outputs.Display,
) -> None:
    """Make all releases of a study file, once a night (or as often as it says), without spending twice.

    A second start of the same run makes only what was not charged yet. What was charged and is missing is reported
    (exit code 4), and repeated only with --again, at a new charge.

    Example: dpfda run study.toml --dry-run
    """
    check_choice("log", log, ("text", "json"))
    commands = _commands(context)
    told = read_study(study, {kind: Parameters.of(cast(Any, commands[kind].params)) for kind in KINDS})
    run = Run(told, _chosen(told, only), told.label(clock()))
    journal().facts["run"] = run.id
    ledger_file = _ledger_file(told)
    with chdir(study.absolute().parent):  # paths in the file are seen from there
        for job in run.jobs:
            _check_source(run, job)
        previews = {job.name: _previewed(commands, run, job) for job in run.jobs}
        if dry_run:
            book = _opened(told, ledger_file, False).book() if ledger_file.exists() else None
            forecast = job_tables.Forecast(run, previews, book)
            out.print_json(data=forecast.data()) if display.as_json else out.print(str(forecast))
            if code := forecast.code:
                raise typer.Exit(code)
            return
        with _alone(ledger_file, study.name):
            if begin:
                _check_beginning(run, ledger_file)
                check_places(run, run.jobs, force, ledger_file)
            ledger = _opened(told, ledger_file, begin)
            deltas = {name: one.plan.delta for name, one in previews.items()}
            code, states = Maker(run, ledger, context.find_root().command.main, deltas, again, force).make()
        releases = job_tables.found(run, states)
    if display.as_json:
        left = {"spent": float(ledger.spent), "remaining": float(ledger.remaining)}
        out.print_json(data={"study": told.name, "run": run.id, "releases": releases, **left})
    elif not display.quiet:
        words = ", ".join(f"{one['name']} {one['state']}" for one in releases)
        out.print(f"Run {run.id}: {words}. Left in the ledger: epsilon {float(ledger.remaining):g}.")
    if code:
        raise typer.Exit(code)


def clock() -> datetime:
    """Now: which run this is follows from it and from the study file."""
    return datetime.now(UTC)


def _commands(context: typer.Context) -> Mapping[str, TyperCommand]:
    """The commands that make releases, loaded."""
    group: Any = context.find_root().command
    return {kind: group.commands[kind].loaded for kind in KINDS}


def _chosen(study: Study, only: list[str] | None) -> tuple[Job, ...]:
    names = [job.name for job in study.jobs]
    if unknown := [name for name in only or () if name not in names]:
        raise ParameterError(f"--only names one of {', '.join(names)}", repr(unknown[0][:60]), "Check the spelling.")
    return tuple(job for job in study.jobs if not only or job.name in only)


def _previewed(commands: Mapping[str, TyperCommand], run: Run, job: Job) -> Preview:
    """The plan of a release: wrong options are found here, all of them before the first release."""
    words = [*job.options, f"--epsilon={job.epsilon}", "--json", "--", *run.data(job)]
    try:
        given = commands[job.kind].make_context(job.kind, words).params
        return preview(job.kind, given)
    except UsageError as error:
        text = cast(Any, error).format_message().rstrip(".")
        raise ParameterError(f"release {job.name!r}", as_keys(text), "Mend it in the study file.") from None
    except ParameterError as error:
        rule, cure = as_keys(as_options(error.rule)), as_keys(as_options(error.cure))
        raise ParameterError(f"release {job.name!r}: {rule}", error.given, cure) from None


def _check_source(run: Run, job: Job) -> None:
    for path in run.data(job):
        if "://" not in path and not local([path]):
            raise FileError(
                f"{run.study.path.name}: there is no file {path!r} for release {job.name!r}, seen from the folder of "
                "the study file. Check data in [source]."
            )


def _ledger_file(study: Study) -> Path:
    """The ledger that the file names, else the one that the environment names, else one beside the file."""
    folder, named = study.path.absolute().parent, os.environ.get(options.LEDGER_VARIABLE)
    if study.ledger is None and named:
        return Path(named).absolute()
    return folder / (study.ledger or study.path.with_suffix(".ledger").name)


def _check_beginning(run: Run, file: Path) -> None:
    """Refuse to begin what has begun: a ledger that was lost would come back as a second budget."""
    if file.exists():
        raise LedgerError(f"{file.name!r} is there already: the study has begun. Leave --begin out.")
    if earlier := run.earlier():
        raise LedgerError(
            f"{str(earlier)!r} was charged to a ledger of study {run.study.name!r}, which is not here: the study has "
            "begun. Restore that ledger from a backup, or adopt one with all releases."
        )


def _opened(study: Study, file: Path, begin: bool) -> Ledger:
    """The study's ledger. It is made on demand only."""
    if begin:
        Ledger.create(file, epsilon=study.epsilon, study=study.name, delta=study.delta, period=study.period or None)
    elif not file.exists():
        raise LedgerError(
            f"There is no ledger {file.name!r}. If this study never ran, pass --begin once, which makes it; if it did, "
            "restore the ledger from a backup."
        )
    ledger = Ledger(file, study.name, study.note, study.operator)
    said = (study.epsilon, study.delta, study.period)
    if (ledger.budget, ledger.delta_budget, ledger.period) != said:
        every = f" every {ledger.period}" if ledger.period else ""
        raise LedgerError(
            f"The ledger {file.name!r} has a budget of epsilon {ledger.budget}{every} and delta {ledger.delta_budget}, "
            f"and {study.path.name!r} says another one. A budget is not changed: write the ledger's into the file."
        )
    return ledger


@contextmanager
def _alone(ledger: Path, study: str) -> Iterator[None]:
    """One start at a time for a ledger: what another one is making would look as if it were lost."""
    lock = ledger.with_name(f".{ledger.name}.run")  # stays, empty: a lock on a file that others replace holds nothing
    try:
        held = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise FileError(f"The folder of the ledger {ledger.name[:60]!r} cannot be used: {error.strerror}.") from None
    try:
        try:
            if fcntl is not None:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(f"Another start of {study!r} is under way. Try again when it is done.") from None
        except OSError:  # this disk keeps no locks
            pass
        yield
    finally:
        os.close(held)
