"""Which engine reads which data: map a task over parts, merge what comes back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import codec
from ..checkpoints import Part, Saved, load
from ..errors import ParameterError, PlanMismatch, RecordError, shown
from ..functional import cluster_of
from ..labels import as_groups
from ..layouts import as_layout
from ..places import Place, is_path
from ..protocol import Problem, Summary
from ..readers import Source
from ..summaries import ALL, Task, here
from . import cluster, spark

ENGINES = ("dask", "spark")


@dataclass(frozen=True)
class Checkpoint:
    """A summary file that grows with every file that is read, and knows which it has."""

    path: str | os.PathLike[str]
    plan: str
    site: str = ""


def summarize(problem: Problem, records: Any, **reading: Any) -> Summary:
    """Exact totals of all records of a source, wherever it is. Confidential."""
    return _run(Task(problem), records, None, **reading)[ALL]


def summarize_groups(
    problem: Problem | Mapping[str, Problem], records: Any, by: Any, groups: Any, **reading: Any
) -> dict[str, Summary]:
    """The same for each group, by its name; `problem` may be one for each."""
    names = as_groups(groups)
    if isinstance(problem, Mapping):
        task = Task(next(iter(problem.values())), problem, True, names)
    else:
        task = Task(problem, None, True, names)
    return _run(task, records, by, **reading)


def _run(
    task: Task, records: Any, by: Any, *, engine: str | None = None, checkpoint: Checkpoint | None = None,
    progress: Any = None, **reading: Any,
) -> dict[str, Summary]:  # fmt: skip
    if engine is not None and engine not in ENGINES:
        raise ParameterError(f"engine is one of {', '.join(ENGINES)}, or none", shown(engine), "Pass engine='dask'.")
    found = cluster_of(records)
    if engine is not None and found is not None and engine != found:
        raise ParameterError(f"data of {found} is read by its own engine", shown(engine), f"Pass engine={found!r}.")
    engine = engine or found
    if engine and (reading.get("units") is not None or not (by is None or isinstance(by, str))):
        raise ParameterError("labels beside the data are for this process", f"engine={engine!r}", "Name their column.")
    source = task.source(None if found else records, by, **reading)
    _check_kept(task, source, engine)
    if checkpoint is not None:
        return _resumed(task, source, checkpoint, engine, progress)
    if engine == "dask":
        return task.finished(task.merged(cluster.partial(task, records, source)))
    if engine == "spark":
        return task.finished(task.merged(spark.partial(task, records, source)))
    return here(task, source, progress)


def _check_kept(task: Task, source: Source, engine: str | None) -> None:
    """On an engine rows have no order of their own, so a rule that keeps some needs labels."""
    unit = task.problem.intake.unit if task.problem.intake is not None else None
    if engine and unit is not None and unit.most is not None and unit.order is None and not task.long(source):
        raise ParameterError(
            "on an engine, curves of a unit are kept by their labels",
            "no order",
            "Pass dp.Unit(..., order='day').",
        )


def _resumed(
    task: Task, source: Source, checkpoint: Checkpoint, engine: str | None, progress: Any
) -> dict[str, Summary]:
    """File by file, each saved as soon as it is done; what is there already is not read again."""
    if not is_path(source.data) or engine == "spark" or source.labels_beside:
        raise ParameterError("a checkpoint is about files", "other data", "Pass paths, and name columns for labels.")
    saved = Saved(checkpoint.plan)
    if os.path.exists(checkpoint.path):
        saved = load(checkpoint.path)
        if saved.plan != checkpoint.plan:
            raise PlanMismatch("The summary at this place was made with another plan. Name another file.")
    if any(summary.key != task.key(name) for name, summary in saved.summaries.items()):
        raise PlanMismatch("The summary at this place was made in another way. Name another file.")
    files = source.parts()
    columns = None if as_layout(source.layout) is not None else files[0].value_names(Place(files[0].data))
    named = isinstance(source.columns, list | tuple)  # in an order of their own
    if columns is not None and not named and set(columns) == set(saved.columns or ()):
        columns = list(saved.columns or ())  # by name, in the order of the files before
        files = [replace(part, columns=columns) for part in files]
    facts = [repr(as_layout(source.layout)), source.header, columns, source.by, source.unit, source.order]
    reading = codec.digest(facts)
    if saved.parts and saved.reading != reading:
        raise PlanMismatch(
            "The files of this summary have other columns, or were read in another way (layout, header, labels). Read "
            "these alike, or name another file."
        )
    done = 0

    def new() -> Iterator[tuple[Source, tuple[Part, str]]]:
        """Files that are not counted yet, recognised one by one as their turn comes."""
        nonlocal done
        for part in files:
            stamp = Place(part.data).stamp()  # before the hash: whatever changes from here on is seen
            entry = _entry(part, checkpoint.site)
            if saved.has(entry):
                done += 1
            else:
                yield part, (entry, stamp)

    def note(part: Source, mark: tuple[Part, str], found: dict[str, Summary], span: Any) -> None:
        nonlocal saved, done
        entry, stamp = mark
        if not stamp or Place(part.data).stamp() != stamp:
            raise RecordError(f"The file {entry.name!r} changed while it was read", cure="Run again.")
        ordered = None if columns is None else tuple(columns)
        saved = saved.plus(Saved(checkpoint.plan, found, (replace(entry, span=span),), ordered, reading))
        saved.save(checkpoint.path)
        done += 1
        if hasattr(progress, "file"):
            progress.file(done, len(files))

    if engine == "dask":
        cluster.each(task, list(new()), note)
    else:
        for part, mark in new():
            note(part, mark, *task.one(part))
    return task.finished(saved.summaries)


def _entry(part: Source, site: str) -> Part:
    place = Place(part.data)
    return Part(place.name, place.fingerprint(), place.address, site)
