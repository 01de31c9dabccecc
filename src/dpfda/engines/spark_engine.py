"""Spark: a DataFrame through ``mapInArrow``, added up where its partitions are.

Rows that belong together meet by their label as this package spells it, so that two spellings of one label
are one here as anywhere. Tasks are pure: one that is run again gives the same bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from dpfda.core.errors import ParameterError
from dpfda.core.labels import Coder, texts
from dpfda.engines.answers import Answer, died, guarded, opened, read, to_text
from dpfda.engines.checkpoints import plain_stretch, plain_summary, stretch_of, summary_of
from dpfda.engines.task import Partial, Task, added_up
from dpfda.reading.arrow import pa
from dpfda.reading.items import Batches
from dpfda.reading.source import Source
from dpfda.reading.tables import cells_of

#: A worker's answer as a table: a row per group, or one with an error or a warning.
SCHEMA = "name string, summary string, found string, error string, repeats string"
#: The label by which rows meet, spelt in one way.
KEY = "dpfda_key"


def partial(task: Task, frame: Any, source: Source) -> Partial:
    """What all partitions came to, added up."""
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
        return added_up(_opened(row) for row in rows)
    raise died("Spark", failed)


def _opened(row: Any) -> Partial:
    opened(Answer(None, None if row["error"] is None else read(row["error"]), row["repeats"]))
    found = None if row["found"] is None else stretch_of(json.loads(row["found"]))
    if row["summary"] is None:
        return Partial(found=found)
    return Partial({row["name"]: summary_of(json.loads(row["summary"]))}, found)


# -- on the executors ----------------------------------------------------------------------------


def _labelled(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        labels = pa.array(texts(cells_of(batch.column(batch.schema.names.index(name)))).tolist(), pa.string())
        yield pa.RecordBatch.from_arrays([*batch.columns, labels], names=[*batch.schema.names, KEY])


def _answers(task: Task, source: Source, batches: Iterable[pa.RecordBatch], keyed: bool) -> Iterator[pa.RecordBatch]:
    def added() -> Partial:
        plain = (batch.select([n for n in batch.schema.names if n != KEY]) for batch in batches)
        own = replace(source, data=Batches(plain), coder=None if source.coder is None else Coder(source.coder.groups))
        return task.read(own, own.blocks(), gather=keyed)

    answer = guarded(added, source)
    whole = Partial() if answer.found is None else answer.found
    rows: dict[str, list[Any]] = {name: [] for name in ("name", "summary", "found", "error", "repeats")}
    for name, summary in whole.summaries.items():
        _add(rows, name, json.dumps(plain_summary(summary)), None, None, None)
    found = None if whole.found is None else json.dumps(plain_stretch(whole.found))
    error = None if answer.error is None else to_text(answer.error)
    _add(rows, None, None, found, error, answer.repeats)
    yield pa.RecordBatch.from_pydict(rows, schema=pa.schema([(name, pa.string()) for name in rows]))


def _add(rows: dict[str, list[Any]], *cells: Any) -> None:
    for column, cell in zip(rows.values(), cells, strict=True):
        column.append(cell)
