"""The box of a density: its domain, cells, bins and names, as a user may give them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dpfda.core.checks import check_integer, check_name, check_positive
from dpfda.core.errors import ParameterError, shown
from dpfda.problems.density import spread
from dpfda.spaces.grid import AnyGrid, Grid

#: Cells per axis by default: fine in one dimension, all pairs comparable in two and three.
CELLS = {1: 512, 2: 64, 3: 16}
#: Cells along one axis, and altogether.
MOST_ALONG, MOST_CELLS = 4096, 2**20


def as_domain(domain: Any) -> tuple[tuple[float, float], ...]:
    cure = "Pass domain=[(0, 110)], one (low, high) per coordinate: public, never read from data."
    try:
        single = np.ndim(domain[0]) == 0
        pairs: Any = tuple(tuple(float(x) for x in pair) for pair in ([domain] if single else domain))
    except (TypeError, ValueError, IndexError, KeyError):
        raise ParameterError("domain must be a list of (low, high) pairs", shown(domain), cure) from None
    if not 1 <= len(pairs) <= 3 or any(len(pair) != 2 for pair in pairs):
        raise ParameterError("domain must hold one to three (low, high) pairs", shown(domain), cure)
    if not all(np.isfinite(pair).all() and pair[0] < pair[1] for pair in pairs):
        raise ParameterError("a domain runs from a finite low to a larger finite high", shown(pairs), cure)
    if not all(1e-15 <= high - low <= 1e15 for low, high in pairs):
        raise ParameterError("a domain is between 1e-15 and 1e15 wide", shown(pairs), "Change the unit.")
    return tuple((low, high) for low, high in pairs)


def as_cells(cells: int | Sequence[int] | np.ndarray | None, dimension: int) -> tuple[int, ...]:
    if cells is None:
        return (CELLS[dimension],) * dimension
    given = tuple(cells) if isinstance(cells, Sequence | np.ndarray) else (cells,) * dimension
    if len(given) != dimension:
        raise ParameterError(f"cells must be one number, or {dimension} of them", shown(cells), "Pass cells=64, say.")
    sizes = tuple(check_integer("cells", c, 2, "Pass cells=512.") for c in given)
    if max(sizes) > MOST_ALONG or np.prod(sizes, dtype=float) > MOST_CELLS:
        raise ParameterError(
            f"a box has at most {MOST_ALONG:,} cells along one side and {MOST_CELLS:,} altogether",
            shown(sizes),
            "Ask for fewer.",
        )
    return sizes


def as_axis_names(axes: str | Sequence[str] | None, dimension: int) -> tuple[str, ...]:
    if axes is None:
        return ("x", "y", "z")[:dimension]
    names = (axes,) if isinstance(axes, str) else tuple(axes) if isinstance(axes, Iterable) else ()
    if len(names) != dimension:
        count = "one name" if dimension == 1 else f"{dimension} names"
        raise ParameterError(f"axes must be {count}", f"{len(names)} of them", "Pass axes=['age (years)'], say.")
    for name in names:
        check_name("names of axes", name)
    return names


def as_bandwidth(bandwidth: float | Sequence[float] | np.ndarray, dimension: int) -> tuple[float, ...]:
    given = tuple(bandwidth) if isinstance(bandwidth, Sequence | np.ndarray) else (bandwidth,) * dimension
    if len(given) != dimension:
        raise ParameterError(f"bandwidth must be one number, or {dimension} of them", shown(bandwidth), "Pass one.")
    for h in given:
        check_positive("bandwidth", h)
    return tuple(float(h) for h in given)


def as_edges(edges: Sequence[Any], grid: AnyGrid) -> tuple[tuple[float, ...], ...]:
    cure = "Pass edges=[0, 5, 10, ..., 110]: increasing, from the domain's low to its high, an open last bin closed."
    try:
        single = len(grid.axes) == 1 and np.ndim(edges[0]) == 0
        lines = [np.asarray(e, dtype=float) for e in ([edges] if single else edges)]
    except (TypeError, ValueError, LookupError):
        raise ParameterError("edges must be numbers, one list per coordinate", shown(edges), cure) from None
    if len(lines) != len(grid.axes) or any(line.ndim != 1 or line.size < 3 for line in lines):
        raise ParameterError("edges must make at least two bins along each coordinate", shown(edges), cure)
    for axis, line in zip(grid.axes, lines, strict=True):
        if not np.isfinite(line).all():
            raise ParameterError("edges must be finite: close an open bin by an explicit edge", "one that is not", cure)
        if not (np.diff(line) > 0).all():
            raise ParameterError("edges must increase", "edges that do not", cure)
        low, high = axis.span
        slack = 1e-9 * axis.length
        if abs(line[0] - low) > slack or abs(line[-1] - high) > slack:
            raise ParameterError(
                f"edges must cover the domain [{low:g}, {high:g}] exactly", f"[{line[0]:g}, {line[-1]:g}]", cure
            )
        if np.isnan(_spread_or_nan(axis, line)).any():
            raise ParameterError("every bin must hold the centre of a cell", "a bin without one", "Pass more cells.")
    return tuple(tuple(line.tolist()) for line in lines)


def _spread_or_nan(axis: Grid, edges: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return spread(axis, edges)
