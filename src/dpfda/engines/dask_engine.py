"""Dask: arrays, data frames and files, on a `distributed` cluster or the local scheduler.

Each part is added up where it is and only summaries travel, except for rows that belong together: they are
dealt into buckets by a hash of their label, so that a unit's rows meet in one place. Tasks are pure: one that
is run again, because its worker died, gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpfda.core.errors import DpfdaError, ParameterError
from dpfda.core.labels import Coder
from dpfda.engines.answers import Answer, died, guarded, opened
from dpfda.engines.shipping import recoded
from dpfda.engines.task import Partial, Task, added_up, summarize_file
from dpfda.reading.blocks import Raw
from dpfda.reading.places import Place
from dpfda.reading.shares import shares
from dpfda.reading.source import Source

#: Buckets of rows that belong together, per part that is read.
BUCKETS = 2
#: Summaries that meet in one place at a time.
FAN = 16


def partial(task: Task, records: object, source: Source) -> Partial:
    """What all parts came to, added up."""
    dask = _dask()
    parts = _parts(records, source)
    shared = dask.delayed(task, traverse=False)  # once for all parts
    if task.keyed_in(source):
        count = max(2, BUCKETS * len(parts))
        dealt = [dask.delayed(_deal, nout=count)(part, data, count) for part, data in parts]
        tasks = [dask.delayed(_bucket)(shared, source, [row[i] for row in dealt]) for i in range(count)]
    else:
        tasks = [dask.delayed(_added)(shared, part, data) for part, data in parts]
    while len(tasks) > FAN:
        tasks = [dask.delayed(_merge)(shared, tasks[i : i + FAN]) for i in range(0, len(tasks), FAN)]
    return added_up(opened(answer) for answer in _computed(dask, tasks))


def each(task: Task, waiting: list[tuple[Source, Any]], note: Callable[..., None]) -> None:
    """Every file on its own, noted as soon as it is done; an error is raised when all others are noted."""
    dask = _dask()
    tasks = [dask.delayed(_one)(task, part) for part, _ in waiting]
    failed: Exception | None = None
    for place, answer in _as_completed(dask, tasks):
        try:
            note(*waiting[place], opened(answer))
        except DpfdaError as error:
            failed = failed or error
    if failed is not None:
        raise failed


def _dask() -> Any:
    try:
        import dask
    except ImportError:
        raise ParameterError("engine='dask' needs Dask", "none installed", "Install dpfda[dask].") from None
    return dask


def _parts(records: Any, source: Source) -> list[tuple[Source, Any]]:
    """Pieces to read apart: delayed partitions of a collection, or files."""
    if not hasattr(records, "to_delayed"):
        return [(part, None) for part in source.parts()]
    if hasattr(records, "chunks") and not hasattr(records, "columns"):  # an array: curves must be whole
        if records.ndim != 2:
            raise ParameterError("an array of curves has two dimensions", f"{records.ndim}", "Reshape it.")
        pieces = records.rechunk({1: -1}).to_delayed().ravel().tolist()
    else:
        pieces = list(records.to_delayed())
    return [(source, piece) for piece in pieces]


def _computed(dask: Any, tasks: list[Any]) -> list[Any]:
    try:
        return list(dask.compute(*tasks))
    except Exception as error:  # of the cluster: a worker that died too often, a lost connection
        raise died("Dask", error) from None


def _as_completed(dask: object, tasks: list[Any]) -> Iterator[tuple[int, Answer]]:
    try:
        import distributed

        client = distributed.default_client()
    except (ImportError, ValueError):
        for place, task in enumerate(tasks):
            yield place, _computed(dask, [task])[0]
        return
    futures = client.compute(tasks)
    places = {future.key: place for place, future in enumerate(futures)}
    for future in distributed.as_completed(futures):
        try:
            answer = future.result()
        except Exception as error:  # of the cluster; the other files are noted all the same
            answer = Answer(error=died("Dask", error))
        yield places[future.key], answer


# -- on the workers ------------------------------------------------------------------------------


def _with(source: Source, data: Any) -> Source:
    """The source with its partition in place, where it has one, and nothing that threads would share."""
    own = source if source.coder is None else replace(source, coder=Coder(source.coder.groups))
    return own if data is None else replace(own, data=data)


def _named(source: Source) -> Iterable[Raw]:
    """Blocks that know their file."""
    for raw in source.blocks():
        yield replace(raw, file=Place(source.data).name) if isinstance(source.data, str) else raw


def _added(task: Task, source: Source, data: object) -> Answer:
    own = _with(source, data)
    return guarded(lambda: task.read(own, _named(own)))


def _one(task: Task, source: Source) -> Answer:
    own = _with(source, None)
    return guarded(lambda: summarize_file(task, own))


def _deal(source: Source, data: object, count: int) -> list[Answer]:
    """The rows of a part by bucket: equal labels fall into the same one, on every machine."""
    own = _with(source, data)

    def dealt() -> list[list[Raw]]:
        buckets: list[list[Raw]] = [[] for _ in range(count)]
        for raw in _named(own):
            place = shares(raw.keys[0], count)
            for i in np.unique(place).tolist():
                buckets[i].append(raw.take(np.flatnonzero(place == i)))
        return buckets

    answer = guarded(dealt)
    if answer.error is not None:
        return [answer] * count
    names = () if own.coder is None else own.coder.names  # each part numbers its groups as they come
    return [replace(answer, found=(names, part)) for part in answer.found]


def _bucket(task: Task, source: Source, dealt: list[Answer]) -> Answer:
    own = _with(source, None)

    def added() -> Partial:
        raws = [recoded(raw, names, own.coder) for names, part in map(opened, dealt) for raw in part]
        return task.read(own, raws, gather=True)

    return guarded(added)


def _merge(task: Task, answers: list[Answer]) -> Answer:
    return guarded(lambda: added_up(opened(answer) for answer in answers))
