"""Spark: a DataFrame through ``mapInArrow``, or files one by one, added up where they are.

Rows of a DataFrame come through Spark's own reader and are written as Arrow for Python, which takes most of the time.
Files that are named to `dp.read` are read by the workers' Python itself, as everywhere; where rows belong together,
they are dealt into buckets by a hash of their label, and Spark brings the pieces of a bucket to one place.

Rows that belong together meet by their label as this package spells it, so that two spellings of one label
are one here as anywhere. Tasks are pure: one that is run again gives the same bits.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.core.labels import Coder, texts
from dpfda.engines.answers import Answer, died, guarded, opened, read, to_text
from dpfda.engines.checkpoints import plain_stretch, plain_summary, stretch_of, summary_of
from dpfda.engines.shipping import packed, recoded, unpacked
from dpfda.engines.task import Partial, Task, added_up, summarize_file
from dpfda.reading.arrow import pa
from dpfda.reading.blocks import Raw
from dpfda.reading.items import Batches
from dpfda.reading.places import Place, is_path
from dpfda.reading.shares import shares
from dpfda.reading.source import Source
from dpfda.reading.tables import cells_of

#: A worker's answer as a table: a row per group, or one with an error.
SCHEMA = "name string, summary string, found string, error string"
#: The label by which rows meet, spelt in one way.
KEY = "dpfda_key"
#: Rows of a bucket: which, from which file, in which order, and the block itself, or an error instead.
PIECES = "bucket int, part int, number int, block binary, error string"
#: Bytes of files in a bucket, about: they are gathered in a worker's memory.
BUCKET_BYTES = 1 << 26
Work: TypeAlias = "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


def partial(task: Task, frame: Any, source: Source) -> Partial:
    """What all partitions came to, added up."""
    keyed = task.keyed_in(source)
    if is_path(frame):
        parts = source.parts()
        if not keyed:
            return _collected(_numbers(len(parts)), lambda batches: _of_files(task, parts, batches))
        count = _buckets(parts)
        dealt = _numbers(len(parts)).mapInArrow(lambda batches: _dealt(parts, count, batches), PIECES)
        return _collected(dealt.repartition(count, "bucket"), lambda batches: _of_pieces(task, source, batches))
    if not hasattr(frame, "mapInArrow"):
        raise ParameterError("engine='spark' reads a Spark DataFrame, or files", type(frame).__name__, "Name files.")
    frame = frame.select(*[f"`{name}`" for name in source.chosen(list(frame.columns))])
    if keyed:
        labelled = type(frame.schema)(list(frame.schema.fields)).add(KEY, "string")  # a copy: `add` changes its own
        frame = frame.mapInArrow(lambda batches: _labelled(source.key_name, batches), labelled).repartition(KEY)
    return _collected(frame, lambda batches: _of_rows(task, source, batches, keyed))


class Mapped(Protocol):
    """A DataFrame, as far as it is needed here."""

    def mapInArrow(self, func: Work, schema: str) -> Mapped: ...
    def repartition(self, count: int, name: str) -> Mapped: ...
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


def _buckets(parts: Sequence[Source]) -> int:
    """How many buckets there are: two for each file, more for large ones."""
    size = sum(Place(part.data).size for part in parts)
    return max(2, 2 * len(parts), size // BUCKET_BYTES)


def _dealt(parts: Sequence[Source], count: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a file, some of them at a time, by bucket: equal labels fall into the same one, on every machine."""
    for batch in batches:
        for part in batch.column(0).to_pylist():
            own = _own(parts[part])
            raws, number = iter(own.blocks()), 0
            while True:
                answer = guarded(functools.partial(_pieces, raws, own, count))
                if answer.error is not None:
                    yield _rows(PIECES, [(0, part, number, None, to_text(answer.error))])
                if not answer.found:
                    break
                yield _rows(PIECES, [(bucket, part, number, block, None) for bucket, block in answer.found])
                number += 1


def _pieces(raws: Iterator[Raw], own: Source, count: int) -> list[tuple[int, bytes]]:
    """The next block in pieces; none where that was all."""
    raw = next(raws, None)
    if raw is None:
        return []
    names = () if own.coder is None else own.coder.names
    named = replace(raw, file=Place(own.data).name)
    place = shares(raw.keys[0], count)
    return [(i, packed(named.take(np.flatnonzero(place == i)), names)) for i in np.unique(place).tolist()]


def _of_pieces(task: Task, source: Source, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows of some buckets, in the order of their files."""
    own = _own(source)

    def added() -> Partial:
        rows = [row for batch in batches for row in batch.to_pylist()]
        rows.sort(key=itemgetter("part", "number", "bucket"))
        if errors := [row["error"] for row in rows if row["error"] is not None]:
            raise read(errors[0])
        found = (unpacked(row["block"]) for row in rows)
        return task.read(own, [recoded(raw, names, own.coder) for raw, names in found], gather=True)

    yield _answer(guarded(added))


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


def _rows(schema: str, rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
    """Rows as a batch of a table with these columns."""
    kinds = {"int": pa.int32(), "binary": pa.binary(), "string": pa.string()}
    columns = [column.split() for column in schema.split(", ")]
    arrays = [pa.array([row[i] for row in rows], kinds[kind]) for i, (_, kind) in enumerate(columns)]
    return pa.RecordBatch.from_arrays(arrays, names=[name for name, _ in columns])


def _add(rows: dict[str, list[Any]], *cells: Any) -> None:
    for column, cell in zip(rows.values(), cells, strict=True):
        column.append(cell)
