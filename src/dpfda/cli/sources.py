"""The words of the command line about where records come from: files, layouts, units, groups and engines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from dpfda.cli.parsing import keywords
from dpfda.core.errors import ParameterError, shown
from dpfda.reading import places
from dpfda.reading.layouts import Lists, Long
from dpfda.spaces.alignment import Align, Interpolate, Smooth, Unit

Files = Annotated[
    list[str],
    typer.Argument(help="CSV or Parquet files, one row a curve: paths, globs in quotes, folders, s3:// addresses."),
]
Layout = Annotated[
    str | None,
    typer.Option(
        "--layout",
        help="wide; lists:values=curve[,times=t]; long:id=meter,time=t,value=kwh[,day=Australia/Adelaide] (one row per "
        "observation; day cuts timestamps into days of that zone). Default: wide.",
    ),
]
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
By = Annotated[str | None, typer.Option(help="Column of public labels: one release per group, for one charge.")]
Groups = Annotated[str | None, typer.Option(help="The groups, separated by commas (needed for add-remove).")]
Engine = Annotated[str | None, typer.Option(help="dask: read files on a Dask cluster. Default: this process.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of the Dask cluster. Default: threads of this machine.")]

ALIGNS: dict[str, type[Align]] = {"linear": Interpolate, "smooth": Smooth}


def parse_layout(text: str | None) -> Lists | Long | None:
    """``wide``, ``lists:values=curve`` or ``long:id=...,time=...,value=...``."""
    if text is None or text == "wide":
        return None
    name, _, options = text.partition(":")
    kinds: dict[str, Any] = {"long": Long, "lists": Lists}
    if name not in kinds:
        raise ParameterError("layout is wide, lists or long", shown(text), "Write --layout long:id=id,time=t,value=y.")
    return keywords(kinds[name], name, options, "--layout")  # type: ignore[no-any-return]


def parse_align(text: str | None) -> Align | None:
    """``linear`` or ``smooth``, with options."""
    if text is None:
        return None
    name, _, options = text.partition(":")
    if name not in ALIGNS:
        raise ParameterError("align is linear or smooth", shown(text), "Write --align linear:gap=0.25.")
    return keywords(ALIGNS[name], name, options, "--align")  # type: ignore[no-any-return]


def parse_unit(name: str | None, most: int | None, order: str | None) -> Unit | None:
    if name is None:
        if most is not None or order is not None:
            raise ParameterError("--most and --order are about units", "no --unit", "Pass --unit household, say.")
        return None
    return Unit(name, most, order)


def rules(unit: str | None, most: int | None, order: str | None, align: str | None) -> dict[str, Any]:
    """What a plan says about how records come about."""
    return {"unit": parse_unit(unit, most, order), "align": parse_align(align)}


def groups_of(text: str | None) -> list[str] | None:
    return None if text is None else text.split(",")


def data_of(files: list[str]) -> Any:
    """One path or several, as the readers take them."""
    return files[0] if len(files) == 1 else files


def local(files: list[str]) -> list[Path]:
    """Files of this machine that are in use, so that no output takes their place."""
    local = [path for path in files if "://" not in path]
    plain = [path for path in local if os.path.isfile(path)]  # not of Path: a name that no file can have is no file
    patterns = [path for path in local if path not in plain and (os.path.isdir(path) or "*" in path)]
    return [Path(path) for path in plain] + [Path(place.path) for p in patterns for place in places.expanded(p)]


@contextmanager
def cluster(engine: str | None, scheduler: str | None) -> Iterator[None]:
    """A connection to a Dask cluster, where one is asked for."""
    if scheduler is None:
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
