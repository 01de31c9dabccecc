"""Spark: a DataFrame through ``mapInArrow``, or files one by one, added up where they are.

Rows of a DataFrame come through Spark's own reader and are written as Arrow for Python, which takes most of the time.
Files that are named to `dp.read` are read by the workers' Python itself.

Rows that belong together meet by their label as this package spells it, so that two spellings of one label
are one here as anywhere. Tasks are pure: one that is run again gives the same bits.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from dpfda.core.errors import ParameterError
from dpfda.core.labels import Coder, texts
from dpfda.engines.answers import Answer, died, guarded, opened, read, to_text
from dpfda.engines.checkpoints import plain_stretch, plain_summary, stretch_of, summary_of
from dpfda.engines.task import Partial, Task, added_up, summarize_file
from dpfda.reading.arrow import pa
from dpfda.reading.items import Batches
from dpfda.reading.places import is_path
from dpfda.reading.source import Source
from dpfda.reading.tables import cells_of

#: A worker's answer as a table: a row per group, or one with an error.
SCHEMA = "name string, summary string, found string, error string"
#: The label by which rows meet, spelt in one way.
KEY = "dpfda_key"
Work: TypeAlias = "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


def partial(task: Task, frame: Any, source: Source) -> Partial:
    """What all partitions came to, added up."""
    keyed = task.keyed_in(source)
    if is_path(frame) and not keyed:
        parts = source.parts()
        return _collected(_numbers(len(parts)), lambda batches: _of_files(task, parts, batches))
    if not hasattr(frame, "mapInArrow"):
        given = "files whose rows belong together" if is_path(frame) else type(frame).__name__
        raise ParameterError("engine='spark' reads a Spark DataFrame", given, "Read files with Spark.")
    frame = frame.select(*[f"`{name}`" for name in source.chosen(list(frame.columns))])
    if keyed:
        labelled = type(frame.schema)(list(frame.schema.fields)).add(KEY, "string")  # a copy: `add` changes its own
        frame = frame.mapInArrow(lambda batches: _labelled(source.key_name, batches), labelled).repartition(KEY)
    return _collected(frame, lambda batches: _of_rows(task, source, batches, keyed))


class Mapped(Protocol):
    """A DataFrame, as far as it is needed here."""

    def mapInArrow(self, func: Work, schema: str) -> Mapped: ...
    def collect(self) -> Sequence[object]: ...


def _numbers(count: int) -> Mapped:
    """A DataFrame of the first numbers, each in a task of its own."""
    try:
        import pyspark.sql
    except ImportError:
        raise ParameterError("engine='spark' needs Spark", "none installed", "Install dpfda[spark].") from None
    session = pyspark.sql.SparkSession.getActiveSession()
    if session is None:
        raise ParameterError("engine='spark' needs a session", "none", "Start one: SparkSession.builder.getOrCreate().")
    numbers: Mapped = session.range(0, count, 1, count)
    return numbers


def _collected(frame: Mapped, work: Work) -> Partial:
    """What workers made of a frame's batches, added up here."""
    try:
        rows = frame.mapInArrow(work, SCHEMA).collect()
    except Exception as error:  # of Spark, after it tried again; its text may quote data
        failed = error
    else:
        return added_up(_opened(row) for row in rows)
    raise died("Spark", failed)


def _opened(row: Any) -> Partial:
    opened(Answer(None, None if row["error"] is None else read(row["error"])))
    found = None if row["found"] is None else stretch_of(json.loads(row["found"]))
    if row["summary"] is None:
        return Partial(found=found)
    return Partial({row["name"]: summary_of(json.loads(row["summary"]))}, found)


# -- on the executors ----------------------------------------------------------------------------


def _labelled(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        labels = pa.array(texts(cells_of(batch.column(batch.schema.names.index(name)))).tolist(), pa.string())
        yield pa.RecordBatch.from_arrays([*batch.columns, labels], names=[*batch.schema.names, KEY])


def _of_rows(task: Task, source: Source, batches: Iterable[pa.RecordBatch], keyed: bool) -> Iterator[pa.RecordBatch]:
    plain = (batch.select([n for n in batch.schema.names if n != KEY]) for batch in batches)
    own = _own(replace(source, data=Batches(plain)))
    yield _answer(guarded(lambda: task.read(own, own.blocks(), gather=keyed)))


def _of_files(task: Task, parts: list[Source], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            own = _own(parts[number])
            yield _answer(guarded(functools.partial(summarize_file, task, own)))


def _own(source: Source) -> Source:
    """The source with nothing that another task of this worker would share."""
    return source if source.coder is None else replace(source, coder=Coder(source.coder.groups))


def _answer(answer: Answer) -> pa.RecordBatch:
    whole = Partial() if answer.found is None else answer.found
    rows: dict[str, list[Any]] = {name: [] for name in ("name", "summary", "found", "error")}
    for name, summary in whole.summaries.items():
        _add(rows, name, json.dumps(plain_summary(summary)), None, None)
    found = None if whole.found is None else json.dumps(plain_stretch(whole.found))
    error = None if answer.error is None else to_text(answer.error)
    _add(rows, None, None, found, error)
    return pa.RecordBatch.from_pydict(rows, schema=pa.schema([(name, pa.string()) for name in rows]))


def _add(rows: dict[str, list[Any]], *cells: Any) -> None:
    for column, cell in zip(rows.values(), cells, strict=True):
        column.append(cell)
