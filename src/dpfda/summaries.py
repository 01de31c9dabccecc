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
from .protocol import Problem, Summary

log = logging.getLogger("dpfda")


def empty(problem: Problem) -> Summary:
    """The summary of no records: merging it changes nothing."""
    return Summary(problem.key, 0, problem.total(np.empty((0, problem.grid.size))))


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
    source = readers.Source(
        records, columns, header, problem.invalid == "center", problem.grid.size, problem.grid.points
    )
    hint = source.size_hint() if progress else None
    for batch in source.batches():
        if batch.shape[1] != problem.grid.size:
            raise RecordError(
                f"A curve has {batch.shape[1]} values and the plan's grid has {problem.grid.size} points",
                cure="Choose the value columns with columns=..., or build the plan on the curves' grid.",
            )
        try:
            totals = problem.total(batch)
        except RecordError as error:
            raise error.shifted(summary.count) from None
        summary = summary.merge(Summary(problem.key, len(batch), totals))
        if progress and not problem.adds:  # a count of records is private there
            progress(summary.count, hint)
    if not summary.count and not problem.adds:
        raise RecordError("The data holds no curves", cure="Check the path and the columns.")
    log.info("summarised a source on %d grid points", problem.grid.size)
    return summary
