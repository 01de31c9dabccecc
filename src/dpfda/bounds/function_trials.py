"""A new function of a record, tried on invented curves before any data: what is wrong with it is said then, in full."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache

import numpy as np

from dpfda.bounds.bodies import Bound
from dpfda.bounds.functions import RecordFunction, numbers
from dpfda.bounds.units import Range, UnitBound
from dpfda.core import codec
from dpfda.core.checks import check_name, check_value
from dpfda.core.errors import DpfdaError, ParameterError, shortened, shown
from dpfda.core.silence import silence
from dpfda.spaces.grid import AnyGrid

#: Heights of the invented curves, which are flat or rise from zero.
HEIGHTS = (0.0, 1.0, -1.0, 100.0)


def values_grid(function: object, grid: AnyGrid) -> AnyGrid:
    """Where the values of a function live, once it has shown that it can be used on this grid."""
    if not isinstance(function, RecordFunction):
        raise ParameterError(
            "of is a function of one record, which brings its bound",
            shown(function),
            'Pass of=dp.Above(140), or one of your own ("Extending" in the documentation).',
        )
    if not _travels(function):
        raise ParameterError(
            "a function of a record is a frozen dataclass of numbers, texts and arrays, all of them compared, with a "
            "name of its own",
            type(function).__name__,
            "Write @dataclass(frozen=True, eq=False) above the class, or rename it.",
        )
    return _tried(function, grid)


def _travels(function: RecordFunction) -> bool:
    """Whether files and other processes get the same function, and keys and digests know all of it."""
    if not all(field.compare for field in fields(function)):
        return False
    try:
        return bool(codec.from_plain(codec.to_plain(function)) == function) and hash(function) is not None
    except (DpfdaError, TypeError):
        return False


@lru_cache(maxsize=64)
def _tried(function: RecordFunction, grid: AnyGrid) -> AnyGrid:
    name = type(function).__name__
    check_name("descriptions of functions", function.description)
    check_value(function.value)
    found, bound = function.grid_of(grid), function.bound
    if not isinstance(found, AnyGrid) or not isinstance(bound, Bound | UnitBound):
        what = "bound is dp.Range(low, high), say" if isinstance(found, AnyGrid) else "grid_of gives a grid"
        raise ParameterError(f"in a function of a record {what}", f"something else in {name}", "Change it.")
    failures = _failures(function, grid, found)
    if len(failures) == 2 * len(HEIGHTS):
        said = f"{type(failures[0]).__name__}: {failures[0]}"
        raise ParameterError(
            f"{name} must give {found.size} numbers for a curve on {grid!r}",
            shortened(f"failures on all invented ones ({said})"),
            "Change encode or grid_of.",
        )
    _check_finish(function, found)
    return found


def _failures(function: RecordFunction, grid: AnyGrid, found: AnyGrid) -> list[Exception]:
    """How it fails on invented curves; one on which it leaves its own range is an error."""
    failures: list[Exception] = []
    bound, shapes = function.bound, (np.ones(grid.size), np.linspace(0, 1, grid.size))
    for curve in (height * shape for height in HEIGHTS for shape in shapes):
        try:
            with silence():
                values = numbers(function.encode(curve.reshape(grid.shape).copy(), grid), found.size)
            if not np.isfinite(values).all():
                raise ValueError("it gives numbers that are not finite")
        except Exception as error:
            failures.append(error)
            continue
        if isinstance(bound, Range) and not ((values >= bound.low) & (values <= bound.high)).all():
            raise ParameterError(
                f"values of {type(function).__name__} lie between {bound.low:g} and {bound.high:g}, as its bound says",
                "others for an invented curve",
                "Change its bound, or what it gives.",
            )
    return failures


def _check_finish(function: RecordFunction, grid: AnyGrid) -> None:
    """A release must not end in an error after its charge: `finish` takes any values."""
    for height in HEIGHTS:
        try:
            values = numbers(function.finish(np.linspace(0, height, grid.size), grid), grid.size)
            whole = bool(np.isfinite(values).all())
        except Exception:
            whole = False
        if not whole:
            raise ParameterError(
                f"finish of {type(function).__name__} must give {grid.size} finite numbers for any values",
                "something else for invented ones",
                "Change finish, or leave it out.",
            )
