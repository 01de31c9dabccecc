"""Records and how to read them: what `dp.read` returns, and what every verb and every plan takes.

Nothing is read here. What is said about the reading is public, and the same for a verb, a plan and the command.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from dpfda.core.checks import check_choice, check_integer
from dpfda.core.errors import ParameterError, PlanMismatch, shown
from dpfda.reading.functional import cluster_of, grid_of
from dpfda.reading.layouts import Lists, Long, as_layout
from dpfda.reading.source import Source
from dpfda.reading.tables import Columns
from dpfda.spaces.alignment import Align, as_align
from dpfda.spaces.grid import AnyGrid, Grid

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
    data, columns, layout, grid, align, fill, header, engine, progress, ignore
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
    grid: AnyGrid | int | None = None
    align: Align | None = None
    fill: int | None = None
    header: bool | None = None
    engine: Engine | None = None
    progress: Progress | None = None
    ignore: Columns = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", as_layout(self.layout))
        object.__setattr__(self, "align", as_align(self.align))
        if self.fill is not None:
            fill = check_integer("fill", self.fill, 1, "It is the longest gap, in points, that may be interpolated.")
            object.__setattr__(self, "fill", fill)
        _check_columns("columns", self.columns)
        _check_columns("ignore", self.ignore)
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
        if self.progress is not None and not callable(self.progress):
            raise ParameterError("progress is a function", shown(self.progress), "Pass one of (done, total).")

    def __repr__(self) -> str:
        what = str(self.data) if isinstance(self.data, str | os.PathLike) else type(self.data).__name__
        asked = {
            name: getattr(self, name)
            for name in ("columns", "ignore", "layout", "grid", "align", "fill", "header", "engine")
        }
        said = [f"{name} {value!r}" for name, value in asked.items() if value is not None]
        return f"Curves({', '.join([what.rpartition('/')[2], *said])})"

    @property
    def cluster(self) -> str | None:
        """The engine whose data this is, if it is an engine's."""
        return cluster_of(self.data)

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
        return Source(self.data, self.columns, self.header, layout=self.layout, ignore=self.ignore)

    def public_grid(self, asks_no_record: bool) -> AnyGrid:
        """The grid that the data lives on. Where it `asks_no_record`, names, types and shapes alone decide it."""
        if (own := grid_of(self.data)) is not None:
            return own
        if self.cluster is not None:
            shape: Any = getattr(self.data, "shape", ())
            if hasattr(self.data, "chunks") and len(shape) == 2:
                return Grid.uniform(0, 1, int(shape[1]))
        else:
            source = self.source()
            if not (source.single_use or (asks_no_record and source.by_records)):
                return Grid.uniform(0, 1, source.values_per_curve(asks_no_record))
        raise ParameterError(
            "the grid must be given where a record could decide it, or reading would use the data up",
            "none",
            "Pass grid=dp.Grid.uniform(0, 1, <values per curve>).",
        )

    def check_rules(self, align: Align | None, fill: int | None, grid: AnyGrid | None) -> None:
        """Refuse a grid, or rules about gaps and times, that a plan does not have: its digest covers what was done."""
        own = Grid.uniform(0, 1, self.grid) if isinstance(self.grid, int) else self.grid
        for name, said, planned in (("align", self.align, align), ("fill", self.fill, fill), ("grid", own, grid)):
            if said is not None and said != planned:
                raise PlanMismatch(
                    f"The plan has {name}={planned!r} and the data is read with {name}={said!r}. The plan decides: "
                    f"plan with it, or leave it out of dp.read."
                )


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
    grid: AnyGrid | int | None = None,
    align: Align | Literal["linear", "smooth"] | None = None,
    fill: int | None = None,
    header: bool | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Curves:
    """Say how records are read. Nothing is read yet, and nothing private is looked at.

    Parameters
    ----------
    data : array, table, stream, path, or data of an engine
        A numpy array, a pandas, polars or Arrow table, an Arrow stream, an iterator of batches, a scikit-fda
        ``FDataGrid`` or ``FDataIrregular``, an xarray ``DataArray``, a Dask or Spark collection, or paths of CSV or
        Parquet files: one, a list, a glob, a folder, or addresses that fsspec knows.
    columns : str or sequence of str, optional
        Value columns of a table or file: a pattern such as ``"h*"``, or their names. Default: all that have no other
        role.
    ignore : str or sequence of str, optional
        Columns that play no part: a date, a note, an id of which each has one record.
    layout : Long, Lists, "wide" or "long", optional
        How curves lie in a table: one row each (the default), one row per observation (:class:`Long`), or one cell
        each (:class:`Lists`).
    grid : Grid or int, optional
        Where the values of a curve are. Default: equally spaced on [0, 1], or what the data itself says.
    align : Align, "linear" or "smooth", optional
        Brings curves at their own times, or with gaps, to the grid.
    fill : int, optional
        The longest gap, in points, that is interpolated within a curve.
    header : bool, optional
        Whether a text file begins with names. Default: its first line is looked at, which ``invalid="center"`` must
        not do.
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
    """
    return Curves(data, columns, as_layout(layout), grid, as_align(align), fill, header, engine, progress, ignore)
