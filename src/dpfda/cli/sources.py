"""Where records come from, on the command line: files, columns, layouts, units, groups and engines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dpfda import api
from dpfda.cli import databases
from dpfda.cli.commands import Keywords, Options
from dpfda.cli.console import progress_bar
from dpfda.cli.parsing import keywords
from dpfda.core.errors import ParameterError, shown
from dpfda.engines.spark_session import session
from dpfda.reading import places
from dpfda.reading.curves import Curves
from dpfda.reading.dialect import Dialect
from dpfda.reading.layouts import Lists, Long
from dpfda.reading.roles import pick
from dpfda.reading.scans import Scan
from dpfda.spaces.own_times import Align, Interpolate, Smooth
from dpfda.spaces.units import Unit

Files = Annotated[
    list[str],
    typer.Argument(
        help="CSV (also .gz, .zst) or Parquet files, one row a curve: paths, globs in quotes, folders, s3:// addresses."
    ),
]
Columns = Annotated[str | None, typer.Option(help="Value columns: a pattern (hh*) or a comma list.")]
Ignore = Annotated[
    str | None, typer.Option(help="Columns that play no part (dates, notes): a pattern, or a comma list.")
]
Header = Annotated[
    bool | None, typer.Option(help="Whether a text file begins with names. Default: look at its first line.")
]
Separator = Annotated[
    str | None,
    typer.Option(help="Between the cells of a text file: ';', ',', '|' or tab. Default: by its header line."),
]
Decimal = Annotated[str, typer.Option(help="Mark before decimals in a text file: '.' or ','.")]
Encoding = Annotated[str | None, typer.Option(help="Of a text file: cp1252, latin-1, utf-16, ... Default: UTF-8.")]
Layout = Annotated[
    str | None,
    typer.Option(
        help="wide; lists:values=curve[,times=t]; long:id=meter,time=t,value=kwh[,day=Australia/Adelaide] (one row per "
        "observation; day cuts timestamps into days of that zone). Default: wide.",
    ),
]
Sql = Annotated[
    str | None, typer.Option("--sql", help="The query, where the file is a database of DuckDB or SQLite: 'select ...'.")
]
Engine = Annotated[
    str | None,
    typer.Option(help="dask or spark: read files there, the rows of a unit in any order. Default: this process."),
]
Master = Annotated[str | None, typer.Option(help="Address of the Spark cluster. Default: local[*], this machine.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of the Dask cluster. Default: threads of this machine.")]
UnitName = Annotated[
    str | None,
    typer.Option("--unit", help="Column that says whose a curve is: the guarantee is about all that one has."),
]
Most = Annotated[int | None, typer.Option(help="Keep at most so many curves of a unit.")]
OrderName = Annotated[str | None, typer.Option("--order", help="Column by which they are kept, such as the day.")]
AlignText = Annotated[
    str | None,
    typer.Option(
        "--align",
        help="linear or smooth: brings curves at their own times, or with gaps, to the grid; linear:gap=0.25,least=2, "
        "smooth:penalty=0.001.",
    ),
]
Fill = Annotated[int | None, typer.Option(help="Interpolate a curve's own gaps up to this many points.")]
By = Annotated[str | None, typer.Option(help="Column of public labels: one release per group, for one charge.")]
Groups = Annotated[
    str | None,
    typer.Option(help="The groups, separated by commas (needed for add-remove); north=500,south=800 says n of each."),
]

ALIGNS: dict[str, type[Align]] = {"linear": Interpolate, "smooth": Smooth}
LAYOUTS: dict[str, type[Lists | Long]] = {"long": Long, "lists": Lists}


@dataclass(frozen=True)
class Written(Options):
    """How a text file is written."""

    header: Header = None
    separator: Separator = None
    decimal: Decimal = "."
    encoding: Encoding = None

    def keywords(self) -> Keywords:
        """As `api.read` spells them."""
        written = {"separator": self.separator, "decimal": self.decimal, "encoding": self.encoding}
        return {"header": self.header, **written}

    @property
    def facts(self) -> Keywords:
        """As a source spells them."""
        return {"header": self.header, "text": Dialect(self.separator, self.decimal, self.encoding)}


@dataclass(frozen=True)
class Chosen(Options):
    """Which columns hold values."""

    columns: Columns = None
    ignore: Ignore = None


@dataclass(frozen=True)
class Table(Written, Chosen):
    """How a table is read: a file, or the rows of a query."""

    sql: Sql = None

    def keywords(self) -> Keywords:
        return super().keywords() | {"columns": self.chosen, "ignore": self.ignored}

    @property
    def chosen(self) -> str | list[str] | None:
        """The columns: a pattern, or their names."""
        return _listed(self.columns)

    @property
    def ignored(self) -> str | list[str] | None:
        """The columns that play no part, in the same way."""
        return _listed(self.ignore)

    def values_among(self, names: Sequence[str]) -> list[str]:
        """The value columns among those that have no other role."""
        ignored = pick(names, self.ignored, "ignore") if self.ignore else []
        return pick([name for name in names if name not in ignored], self.chosen)

    @contextmanager
    def opened(self, files: list[str], silent: bool, **rules: Any) -> Iterator[Curves]:
        """The records of the files, to be read while this is open; unless `silent`, progress is shown."""
        with self.data(files) as data, progress_bar(silent) as progress:
            yield api.read(data, progress=progress, **self.keywords(), **rules)

    @contextmanager
    def data(self, files: list[str]) -> Iterator[str | list[str] | Scan]:
        """The files, or the rows of a query while the database is open."""
        databases.check_sql(files, self.sql)
        if self.sql is None:
            yield data_of(files)
        else:
            with databases.asked(files[0], self.sql) as rows:
                yield rows


@dataclass(frozen=True)
class Reading(Table):
    """How curves are read, and where."""

    layout: Layout = None
    engine: Engine = None
    scheduler: Scheduler = None
    master: Master = None

    def keywords(self) -> Keywords:
        return super().keywords() | {"layout": parse_layout(self.layout), "engine": self.engine}

    @contextmanager
    def opened(self, files: list[str], silent: bool, **rules: Any) -> Iterator[Curves]:
        databases.check_sql(files, self.sql)
        with (
            cluster(self.engine, self.scheduler, self.master),
            super().opened(files, silent, **rules) as curves,
        ):
            yield curves


@dataclass(frozen=True)
class Gaps(Options):
    """What becomes of gaps, and of curves at their own times."""

    align: AlignText = None
    fill: Fill = None

    def keywords(self) -> Keywords:
        return {"align": parse_align(self.align), "fill": self.fill}


@dataclass(frozen=True)
class Units(Options):
    """Whose a curve is."""

    unit: UnitName = None
    most: Most = None
    order: OrderName = None

    def keywords(self) -> Keywords:
        return {"unit": parse_unit(self.unit, self.most, self.order)}


@dataclass(frozen=True)
class Labels(Options):
    """One release per group."""

    by: By = None
    groups: Groups = None

    def keywords(self, n: int | None) -> Keywords:
        """With the number of records of each group where groups say it, else `n`."""
        sizes = sizes_of(self.groups)
        if sizes is not None and n is not None:
            raise ParameterError("groups have their own n, or share one", "--groups with n, and --n", "Drop --n.")
        return {"by": self.by, "groups": groups_of(self.groups), "n": n if sizes is None else sizes}


def _listed(text: str | None) -> str | list[str] | None:
    return text.split(",") if text and "," in text else text


def parse_layout(text: str | None) -> Lists | Long | None:
    """``wide``, ``lists:values=curve`` or ``long:id=...,time=...,value=...``."""
    if text is None or text == "wide":
        return None
    name, _, options = text.partition(":")
    if name not in LAYOUTS:
        raise ParameterError("layout is wide, lists or long", shown(text), "Write --layout long:id=id,time=t,value=y.")
    return keywords(LAYOUTS[name], name, options, "--layout")


def parse_align(text: str | None) -> Align | None:
    """``linear`` or ``smooth``, with options."""
    if text is None:
        return None
    name, _, options = text.partition(":")
    if name not in ALIGNS:
        raise ParameterError("align is linear or smooth", shown(text), "Write --align linear:gap=0.25.")
    return keywords(ALIGNS[name], name, options, "--align")


def parse_unit(name: str | None, most: int | None, order: str | None) -> Unit | None:
    if name is None:
        if most is not None or order is not None:
            raise ParameterError("--most and --order are about units", "no --unit", "Pass --unit household, say.")
        return None
    return Unit(name, most, order)


def groups_of(text: str | None) -> list[str] | None:
    """The names of groups, with or without their numbers of records."""
    sizes = sizes_of(text)
    return None if text is None else text.split(",") if sizes is None else list(sizes)


def sizes_of(text: str | None) -> dict[str, int] | None:
    """How many records each group has, where all of them say it.

    >>> sizes_of("north=500,south=800"), sizes_of("north,south")
    ({'north': 500, 'south': 800}, None)
    """
    pairs = [part.rpartition("=") for part in (text or "").split(",")]
    if not all(name and size.isdigit() for name, _, size in pairs) or len({name for name, _, _ in pairs}) < len(pairs):
        return None
    return {name: int(size) for name, _, size in pairs}


def data_of(files: list[str]) -> str | list[str]:
    """One path or several, as the readers take them."""
    return files[0] if len(files) == 1 else files


def local(files: list[str]) -> list[Path]:
    """Files of this machine that are in use, so that no output takes their place."""
    local = [path for path in files if "://" not in path]
    plain = [path for path in local if os.path.isfile(path)]  # not of Path: a name that no file can have is no file
    patterns = [path for path in local if path not in plain and (os.path.isdir(path) or set(path) & set("*?["))]
    return [Path(path) for path in plain] + [Path(place.path) for p in patterns for place in places.expanded(p)]


@contextmanager
def cluster(engine: str | None, scheduler: str | None, master: str | None) -> Iterator[None]:
    """A connection to a cluster of Dask, or a session of Spark, where one is asked for."""
    if master is not None and engine != "spark":
        raise ParameterError("--master is the address of a Spark cluster", "no --engine spark", "Pass it too.")
    if scheduler is None:
        with session(master or "local[*]") if engine == "spark" else nullcontext():
            yield
        return
    if engine != "dask":
        raise ParameterError("--scheduler is the address of a Dask cluster", "no --engine dask", "Pass it too.")
    try:
        import distributed
    except ImportError:
        raise ParameterError("a cluster needs Dask", "none installed", "Install dpfda[dask].") from None
    try:
        client = distributed.Client(scheduler, timeout=10)
    except (OSError, ValueError):
        raise ParameterError("--scheduler must be a running Dask cluster", shown(scheduler), "Check it.") from None
    with client:
        yield
