"""Spark: a DataFrame through ``mapInArrow``, added up where its partitions are.

Rows that belong together meet by their label as this package spells it, so that two spellings of one label
are one here as anywhere. Tasks are pure: one that is run again gives the same bits.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import ParameterError
from ..labels import Coder, texts
from ..protocol import Summary
from ..readers import Source
from ..summaries import Task
from ..tables import cells_of
from .answers import Answer, died, guarded, opened, read, spelt

#: A worker's answer as a table: a row per group, or one with an error or a warning.
SCHEMA = "name string, count long, totals binary, error string, repeats string"
#: The label by which rows meet, spelt in one way.
KEY = "dpfda_key"


def partial(task: Task, frame: Any, source: Source) -> list[dict[str, Summary]]:
    """Partial summaries of all partitions."""
    if not hasattr(frame, "mapInArrow"):
        raise ParameterError("engine='spark' reads a Spark DataFrame", type(frame).__name__, "Read files with Spark.")
    keyed = task.keyed_in(source)
    frame = frame.select(*[f"`{name}`" for name in source.chosen(list(frame.columns))])
    if keyed:
        labelled = type(frame.schema)(list(frame.schema.fields)).add(KEY, "string")  # a copy: `add` changes its own
        frame = frame.mapInArrow(lambda batches: _labelled(source.key_name, batches), labelled).repartition(KEY)
    try:
        rows = frame.mapInArrow(lambda batches: _answers(task, source, batches, keyed), SCHEMA).collect()
    except Exception as error:  # of Spark, after it tried again; its text may quote data
        failed = error
    else:
        return [_opened(task, row) for row in rows]
    raise died("Spark", failed)


def _opened(task: Task, row: Any) -> dict[str, Summary]:
    opened(Answer(None, None if row["error"] is None else read(row["error"]), row["repeats"]))
    if row["totals"] is None:
        return {}
    problem = task.problem if task.problems is None else task.problems[row["name"]]
    totals = np.load(io.BytesIO(bytes(row["totals"])), allow_pickle=False)
    return {row["name"]: problem.kind(problem.key, int(row["count"]), totals)}


# -- on the executors ----------------------------------------------------------------------------


def _labelled(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        labels = pa.array(texts(cells_of(batch.column(batch.schema.names.index(name)))).tolist(), pa.string())
        yield pa.RecordBatch.from_arrays([*batch.columns, labels], names=[*batch.schema.names, KEY])


def _answers(task: Task, source: Source, batches: Iterable[pa.RecordBatch], keyed: bool) -> Iterator[pa.RecordBatch]:
    def added() -> dict[str, Summary]:
        plain = (batch.select([n for n in batch.schema.names if n != KEY]) for batch in batches)
        own = replace(source, data=plain, coder=None if source.coder is None else Coder(source.coder.groups))
        raws = own.blocks()
        return task.added(own, task.gathered(own, raws) if keyed else task.records(own, raws))

    answer = guarded(added, source)
    rows: dict[str, list[Any]] = {name: [] for name in ("name", "count", "totals", "error", "repeats")}
    for name, summary in (answer.found or {}).items():
        buffer = io.BytesIO()
        np.save(buffer, summary.totals, allow_pickle=False)
        _add(rows, name, summary.count, buffer.getvalue(), None, None)
    if answer.error is not None or answer.repeats is not None:
        _add(rows, None, None, None, None if answer.error is None else spelt(answer.error), answer.repeats)
    kinds = [pa.string(), pa.int64(), pa.binary(), pa.string(), pa.string()]
    yield pa.RecordBatch.from_pydict(rows, schema=pa.schema(list(zip(rows, kinds, strict=True))))


def _add(rows: dict[str, list[Any]], *cells: Any) -> None:
    for column, cell in zip(rows.values(), cells, strict=True):
        column.append(cell)
