"""Records and how to read them: what `dp.read` returns, and what every verb and every plan takes.

Nothing is read here. What is said about the reading is public, and the same for a verb, a plan and the command.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from dpfda.core.checks import check_choice, check_integer
from dpfda.core.errors import ParameterError, PlanMismatch, shown
from dpfda.reading.databases import as_query, as_scan
from dpfda.reading.dialect import Dialect
from dpfda.reading.functional import cluster_of, grid_of
from dpfda.reading.headers import FromHeader, check_unsaid, from_header, header_grid, same_points
from dpfda.reading.layouts import Lists, Long, as_layout
from dpfda.reading.roles import Columns
from dpfda.reading.scans import Scan
from dpfda.reading.source import Source
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.own_times import Align, as_align
from dpfda.spaces.units import Unit

#: Records of any kind that :func:`read` takes: arrays, tables, streams, iterators, paths, objects of other libraries
#: (scikit-fda, xarray, Dask, Spark), or :class:`Curves`. What they have in common has no type.
Records: TypeAlias = Any
Engine: TypeAlias = Literal["dask", "spark"]
Progress: TypeAlias = Callable[[int, int | None], None]
ENGINES: tuple[str, ...] = get_args(Engine)


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """Records and how to read them, as :func:`dpfda.read` says. Nothing is read before a release needs it.

    Parameters
    ----------
    data : array, table, stream, path, or data of an engine
        As for :func:`dpfda.read`.
    columns, layout, grid, align, fill, header, engine, progress, ignore, separator, decimal, encoding : optional
        As for :func:`dpfda.read`.

    Examples
    --------
    >>> import dpfda as dp
    >>> dp.read("days.csv", columns="h*")
    Curves(days.csv, columns 'h*')
    """

    data: Records
    columns: Columns = None
    layout: Lists | Long | None = None
    grid: AnyGrid | int | Literal["header"] | FromHeader | None = None
    align: Align | None = None
    fill: int | None = None
    header: bool | None = None
    engine: Engine | None = None
    progress: Progress | None = None
    ignore: Columns = None
    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", as_scan(self.data))
        object.__setattr__(self, "layout", as_layout(self.layout))
        object.__setattr__(self, "align", as_align(self.align))
        if self.fill is not None:
            fill = check_integer("fill", self.fill, 1, "It is the longest gap, in points, that may be interpolated.")
            object.__setattr__(self, "fill", fill)
        _check_columns("columns", self.columns)
        _check_columns("ignore", self.ignore)
        if isinstance(self.grid, str):
            object.__setattr__(self, "grid", from_header(self.grid))
        _ = self.text  # which checks what was said
        check_choice("header", self.header, (None, True, False))
        if self.engine is not None and not (isinstance(self.engine, str) and self.engine in ENGINES):
            raise ParameterError(
                f"engine is one of {', '.join(ENGINES)}, or none", shown(self.engine), "Pass engine='dask'."
            )
        if self.engine is not None and self.cluster is not None and self.engine != self.cluster:
            raise ParameterError(
                f"data of {self.cluster} is read by its own engine",
                shown(self.engine),
                f"Pass engine={self.cluster!r}.",
            )
        if self.engine is not None and isinstance(self.data, Scan):
            raise ParameterError(
                "an engine reads files, or its own collections",
                f"a {self.data.what}",
                "Leave engine= out, or name files.",
            )
        if self.progress is not None and not callable(self.progress):
            raise ParameterError(
                "progress is a function, called with how many rows are done and how many there are",
                shown(self.progress),
                "Pass progress=print, say, or leave it out.",
            )

    def __repr__(self) -> str:
        named = isinstance(self.data, str | os.PathLike | Scan)
        what = str(self.data) if named else type(self.data).__name__
        asked = {
            name: getattr(self, name)
            for name in (
                "columns", "ignore", "layout", "grid", "align", "fill", "header", "engine", "separator", "decimal",
                "encoding",
            )
        }  # fmt: skip
        said = [f"{name} {value!r}" for name, value in asked.items() if value not in (None, ".")]
        return f"Curves({', '.join([what.rpartition('/')[2], *said])})"

    @property
    def cluster(self) -> str | None:
        """The engine whose data this is, if it is an engine's."""
        return cluster_of(self.data)

    @property
    def text(self) -> Dialect:
        """How text files are written."""
        return Dialect(self.separator, self.decimal, self.encoding)

    @property
    def single_pass_reason(self) -> str:
        """Why the records can be read only once, if so: reading uses them up."""
        return "a source that can be read once" if self.cluster is None and self.source().single_use else ""

    @property
    def irregular(self) -> bool:
        """Whether curves come at their own times."""
        return self.cluster is None and self.source().irregular

    def source(self) -> Source:
        """The records as this process would read them."""
        return Source(self.data, self.columns, self.header, layout=self.layout, ignore=self.ignore, text=self.text)

    def public_grid(
        self, asks_no_record: bool, by: object = None, unit: Unit | None = None, axis: FromHeader | None = None,
        lenient: bool = False,
    ) -> AnyGrid:  # fmt: skip
        """The grid that the data lives on, or that its header says, where that is asked for.

        Parameters
        ----------
        asks_no_record : bool
            Whether names, types and shapes alone decide it.
        by : str or sequence, optional
            Labels of groups. A string names a column without values.
        unit : Unit, optional
            Whose a record is: it names columns without values.
        axis : FromHeader, optional
            That the numbers in the header are asked for.
        lenient : bool
            Whether not even what is refused, and why, depends on a record. Default: False.
        """
        if axis is None and (own := grid_of(self.data)) is not None:
            return own
        named, order = (None, None) if unit is None else (unit.name, unit.order)
        read = replace(self.source(), lenient=lenient)
        source = replace(read, by=by if isinstance(by, str) else None, unit=named, order=order).first()
        names = None if source.layout is not None else source.value_names()
        if axis is not None:
            return header_grid(names, self.decimal, axis)
        check_unsaid(names, self.decimal)
        if (width := source.curve_width()) is not None:
            return Grid.uniform(0, 1, width)
        if not (source.single_use or self.cluster or (asks_no_record and source.by_records)):
            columns = self.columns if names is None else names
            return Grid.uniform(0, 1, replace(read, columns=columns).values_per_curve())
        raise ParameterError(
            "the grid must be given where a record could decide it, or reading would use the data up",
            "none",
            "Pass grid=dp.Grid.uniform(0, 1, size), where size is the number of values of a curve.",
        )

    def check_rules(self, align: Align | None, fill: int | None, grid: AnyGrid | None, lenient: bool = False) -> None:
        """Refuse a grid, or rules about gaps and times, that a plan does not have: its digest covers what was done.

        Parameters
        ----------
        align : Align, optional
            The plan's rule for curves at their own times.
        fill : int, optional
            The plan's longest gap, in points, that is interpolated.
        grid : Grid, or a product of grids, optional
            The plan's grid.
        lenient : bool
            Whether not even what is refused, and why, depends on a record. Default: False.
        """
        own: object = Grid.uniform(0, 1, self.grid) if isinstance(self.grid, int) else self.grid
        if isinstance(own, FromHeader) and self._has_points(grid, lenient):
            own = None
        for name, said, planned in (("align", self.align, align), ("fill", self.fill, fill), ("grid", own, grid)):
            if said is not None and said != planned:
                raise PlanMismatch(
                    f"The plan has {name}={planned!r} and the data is read with {name}={said!r}. The plan decides: "
                    f"plan with it, or leave it out of dp.read."
                )

    def _has_points(self, grid: AnyGrid | None, lenient: bool) -> bool:
        return same_points(grid, replace(self.source(), lenient=lenient).first().value_names(), self.decimal)


def _check_columns(role: str, columns: object) -> None:
    """A pattern, or names: never data that was passed by mistake, which a message would show."""
    listed = isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)
    if not (columns is None or isinstance(columns, str) or listed):
        raise ParameterError(
            f"{role} is a pattern, or a list of names", type(columns).__name__, f"Pass {role}='h*', say."
        )


def as_curves(records: Records) -> Curves:
    """Records of any kind, with how to read them."""
    return records if isinstance(records, Curves) else Curves(records)


def read(
    data: Records,
    *,
    columns: Columns = None,
    ignore: Columns = None,
    layout: Lists | Long | Literal["wide", "long"] | None = None,
    grid: AnyGrid | int | Literal["header"] | FromHeader | None = None,
    align: Align | Literal["linear", "smooth"] | None = None,
    fill: int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Curves:
    """Say how records are read. Nothing is read yet, and nothing private is looked at.

    Parameters
    ----------
    data : array, table, stream, path, or data of an engine
        A numpy array, a pandas, polars or Arrow table, an Arrow stream, an iterator of batches, a scikit-fda
        ``FDataGrid`` or ``FDataIrregular``, an xarray ``DataArray``, a Dask or Spark collection, a dataset of
        ``pyarrow.dataset``, a relation of DuckDB, or paths of CSV (also packed: ``.csv.gz``, ``.csv.zst``) or Parquet
        files: one, a list, a glob, a folder, or addresses that fsspec knows. Folders called ``name=value`` are columns
        of labels for ``by=`` and ``unit=``.
    columns : str or sequence of str, optional
        Value columns of a table or file: a pattern such as ``"h*"``, or their names. Default: all that have no other
        role.
    ignore : str or sequence of str, optional
        Columns that play no part: a date, a note, an id of which each has one record.
    layout : Long, Lists, "wide" or "long", optional
        How curves lie in a table: one row each (the default), one row per observation (:class:`Long`), or one cell
        each (:class:`Lists`).
    grid : Grid, int or "header", optional
        Where the values of a curve are; "header": at the numbers that name their columns. Default: equally spaced on
        [0, 1], or what the data itself says.
    align : Align, "linear" or "smooth", optional
        Brings curves at their own times, or with gaps, to the grid.
    fill : int, optional
        The longest gap, in points, that is interpolated within a curve.
    header : bool, optional
        Whether a text file begins with names. Default: its first line is looked at, which ``invalid="center"`` must
        not do.
    separator : ";", ",", "|" or "tab", optional
        What stands between the cells of a text file. Default: what its header line has most of. Where a file begins
        with a record and ``invalid="center"``: a tab in ``.tsv``, else a comma.
    decimal : "." or ",", optional
        The mark before decimals in a text file. Default: a point. Marks between thousands are not read.
    encoding : str, optional
        Of a text file: ``"cp1252"``, ``"latin-1"``, ``"utf-16"`` or another one that Python knows. Default: UTF-8, or
        what the mark at its very beginning says.
    engine : "dask" or "spark", optional
        Where files are read. Default: in this process, or where the data is.
    progress : callable, optional
        Called with the number of rows read and, where it is known, of all rows.

    Returns
    -------
    Curves
        For :func:`mean`, the other verbs, and ``plan.release``.

    Raises
    ------
    dpfda.errors.ParameterError
        Where an option is not one of those above.

    Examples
    --------
    >>> import dpfda as dp
    >>> dp.read("days.csv", columns="h*", fill=2)
    Curves(days.csv, columns 'h*', fill 2)
    >>> dp.read("visits.csv.gz", columns="h*", separator=";", decimal=",")
    Curves(visits.csv.gz, columns 'h*', separator ';', decimal ',')
    """
    return Curves(
        data, columns, as_layout(layout), grid, as_align(align), fill, header, engine, progress, ignore, separator,
        decimal, encoding,
    )  # fmt: skip


def sql(
    query: str,
    connection: Records,
    *,
    columns: Columns = None,
    ignore: Columns = None,
    layout: Lists | Long | Literal["wide", "long"] | None = None,
    grid: AnyGrid | int | None = None,
    align: Align | Literal["linear", "smooth"] | None = None,
    fill: int | None = None,
    progress: Progress | None = None,
) -> Curves:
    """Rows of a query as records. Nothing is run before a release needs it; memory holds a batch at a time.

    A release that reads its records several times (the default mean does) runs the query as often: it must give the
    same rows each time, in any order (no ``random()``, no ``LIMIT`` without ``ORDER BY``). Where the table changes in
    between, every stage is still private for the rows that it read, and all of them are charged; under ``replace``,
    where the number of records is public, another number is an error. A transaction keeps the rows as they are.

    Parameters
    ----------
    query : str
        One query that gives rows. It is your own: where it makes one row of several people's rows, or stops at a cell
        (a cast, an overflow: prefer ``TRY_CAST``), the guarantee is about the rows that it gives, and an error of the
        database tells whoever runs it that there is such a cell. Types must be declared: a table, or a CSV file with
        its types, not one whose types are guessed from rows.
    connection : connection of DuckDB, or of an ADBC driver
        ``duckdb.connect("study.duckdb", read_only=True)``, ``adbc_driver_sqlite.dbapi.connect("study.db")``,
        ``adbc_driver_postgresql.dbapi.connect(uri)``, and the like. It stays open, and yours.
    columns, ignore, layout, grid, align, fill, progress : optional
        As for :func:`read`.

    Returns
    -------
    Curves
        For :func:`mean`, the other verbs, and ``plan.release``. With ``unit=`` (or a long layout) the rows of a unit
        must meet: add ``ORDER BY`` that column. Rows in another order are gathered in memory where they are few, and
        always under ``add-remove`` and ``invalid="center"``, where no order may be asked for.

    Raises
    ------
    dpfda.errors.ParameterError
        Where the connection is of another kind; the message says how to open it.

    Examples
    --------
    >>> import duckdb, dpfda as dp
    >>> con = duckdb.connect()
    >>> _ = con.execute("create table days as select random() as h0, random() as h1 from range(500)")
    >>> release = dp.mean(dp.sql("select * from days", con), epsilon=1, bound=dp.L2Ball(1.0))
    >>> release.values.shape
    (2,)
    """
    found = as_query(query, connection)
    return Curves(found, columns, as_layout(layout), grid, as_align(align), fill, progress=progress, ignore=ignore)
