"""Encode and add up: the only place where records are touched.

Each record is encoded alone and added exactly, so the order of records, the size of batches
and the number of machines cannot change a bit of the result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from . import readers
from .errors import RecordError
from .labels import Coder
from .protocol import Problem, Summary

log = logging.getLogger("dpfda")


def empty(problem: Problem) -> Summary:
    """The summary of no records: merging it changes nothing."""
    return problem.kind(problem.key, 0, problem.total(np.empty((0, problem.width))))


def reads_once(records: Any) -> str:
    """Why records can be read only once, if so: a summary, or a source that is used up by reading it."""
    if isinstance(records, Summary):
        return "a summary"
    return "a source that can be read once" if readers.Source(records).spends_itself else ""


def summarize(
    problem: Problem,
    records: Any,
    *,
    columns: readers.Columns = None,
    header: bool | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Summary:
    """Exact totals of all records of a source. Confidential.

    `progress(done, total)` is called after each batch; `total` is None where the source cannot say.
    """
    summary = empty(problem)
    points = None if problem.record_grid is None else problem.record_grid.points
    source = readers.Source(records, columns, header, problem.invalid == "center", problem.width, points)
    hint = source.size_hint() if progress else None
    for batch in source.batches():
        if batch.shape[1] != problem.width:
            raise RecordError(
                f"A {problem.record} has {batch.shape[1]} values and the plan expects {problem.width}",
                cure="Choose the value columns with columns=..., or build the plan on the data's grid or domain.",
            )
        try:
            totals = problem.total(batch)
        except RecordError as error:
            raise error.shifted(summary.count) from None
        summary = summary.merge(problem.kind(problem.key, len(batch), totals))
        if progress and not problem.adds:  # a count of records is private there
            progress(summary.count, hint)
    if not summary.count and not problem.adds:
        raise RecordError(f"The data holds no {problem.record}s", cure="Check the path and the columns.")
    log.info("summarised a source of %ss", problem.record)
    return summary


def summarize_groups(
    problem: Problem,
    records: Any,
    by: Any,
    coder: Coder,
    *,
    columns: readers.Columns = None,
    header: bool | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> dict[str, Summary]:
    """Exact totals of each group's records, by the name of the group. Confidential.

    A record whose label is on no list is an error; under add-remove with ``invalid="center"`` it belongs
    to no group.
    """
    found: dict[int, Summary] = {}
    source = readers.Source(records, columns, header, problem.invalid == "center", problem.width, None, by, coder)
    done, hint = 0, source.size_hint() if progress else None
    for batch, codes in source.labelled():
        if batch.shape[1] != problem.width:
            raise RecordError(
                f"A {problem.record} has {batch.shape[1]} values and the plan expects {problem.width}",
                cure="Choose the value columns with columns=....",
            )
        lost = np.flatnonzero(np.isnan(codes))
        if lost.size and (problem.invalid == "raise" or not problem.adds):
            # Where n is public so are labels, and a record without one would change a published n.
            raise RecordError("A label is missing or names no group", (lost + done).tolist(), "Check by= and groups=.")
        for code in np.unique(codes[~np.isnan(codes)]).astype(int).tolist():
            rows = np.flatnonzero(codes == code)
            try:
                totals = problem.total(batch[rows])
            except RecordError as error:
                raise RecordError(error.problem, (rows[list(error.rows)] + done).tolist(), error.cure) from None
            part = problem.kind(problem.key, rows.size, totals)
            found[code] = found[code].merge(part) if code in found else part
        done += len(batch)
        if progress and not problem.adds:
            progress(done, hint)
    if not done and not problem.adds:
        raise RecordError(f"The data holds no {problem.record}s", cure="Check the path and the columns.")
    names = coder.names if coder.groups is not None else sorted(coder.names)  # whoever came first does not matter
    return {name: found.get(coder.codes[name], empty(problem)) for name in names}
