"""`dpfda survival`: a survival curve of times to an event, one for all or one per group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from dpfda import api
from dpfda.cli import options, outputs, planfiles, sources
from dpfda.cli.commands import command
from dpfda.cli.console import progress_bar
from dpfda.core.errors import ParameterError, RecordError
from dpfda.core.nouns import check_record
from dpfda.plans import SurvivalPlan
from dpfda.reading.curves import Curves

#: What a plan file settles about times, by the names of the options; who is in which group it does not.
SETTLED = (*options.Protection.settled(), *options.Horizon.names(), *sources.Units.names(), "groups")

#: How a reader says that a cell is text, and what helps where columns are named already.
NO_NUMBER = "A cell does not hold a number"
NUMBERS = (
    "Times are numbers and events 1 or 0: write 1 for yes and 0 for no, or name other columns in --time and --event."
)


@dataclass(frozen=True)
class Times(sources.Written):
    """Which columns hold times and events, and how and where they are read."""

    time: Annotated[str | None, typer.Option(help="Column of times, to the event or the end of observation.")] = None
    event: Annotated[str | None, typer.Option(help="Column of events: 1 if it came then, 0 if not.")] = None
    ignore: sources.Ignore = None
    sql: sources.Sql = None
    engine: sources.Engine = None
    scheduler: sources.Scheduler = None
    master: sources.Master = None

    @contextmanager
    def opened(self, files: list[str], silent: bool) -> Iterator[Curves]:
        """Times and events of the files, to be read while this is open; unless `silent`, progress is shown."""
        if self.time is None or self.event is None:
            raise ParameterError(
                "a survival curve needs a column of times and one of events",
                "none" if self.time is None and self.event is None else "one of them",
                "Pass --time days --event died.",
            )
        table = sources.Table(sql=self.sql, ignore=self.ignore)
        with (
            sources.cluster(self.engine, self.scheduler, self.master),
            table.data(files) as data,
            progress_bar(silent) as progress,
        ):
            how = self.keywords() | {"columns": [self.time, self.event], "ignore": table.ignored, "engine": self.engine}
            try:
                yield api.read(data, progress=progress, **how)
            except RecordError as error:
                if not error.problem.startswith(NO_NUMBER):
                    raise
                raise RecordError(error.problem, error.rows, NUMBERS, error.column) from None


@command(first="epsilon horizon time event by unit ledger out plot")
def survival_command(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(help="CSV or Parquet files, one row a time."),
    ],
    *,
    plan: options.PlanFile = None,
    protection: options.Protection,
    limits: options.Horizon,
    units: sources.Units,
    labels: sources.Labels,
    times: Times,
    charge: options.Charge,
    output: outputs.Outputs,
    picture: outputs.SurvivalPicture,
    display: outputs.Display,
) -> None:
    """Release a survival curve: the share without an event over time, some of the times being censored.

    Example: dpfda survival patients.csv --time days --event died --horizon 900 --epsilon 1 --out survival.json
    """
    planfiles.check_settled(context, plan, SETTLED)
    output.check_given(display)
    check_record(protection.record)
    words = picture.words(output.plot)
    ledger = charge.opened()
    with (
        output.reserved(*sources.local(files), charge.ledger, plan, **words) as write,
        times.opened(files, display.silent) as records,
    ):
        release: Any
        if plan is not None:
            release = planfiles.release_by_plan(
                plan, SurvivalPlan, records, ledger, labels.by, record=protection.record
            )
        else:
            keywords = protection.keywords() | limits.keywords() | units.keywords() | labels.keywords(protection.n)
            release = api.survival(records, ledger=ledger, **keywords)
        written = write(release, ledger)
    display.say(release, written)
