"""Which engine reads which data: map a task over parts, merge what comes back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dpfda.core import codec
from dpfda.core.errors import ParameterError, PlanMismatch, RecordError, shown
from dpfda.core.labels import as_groups
from dpfda.core.origins import as_site, as_stretch
from dpfda.engines import dask_engine as cluster
from dpfda.engines import spark_engine as spark
from dpfda.engines.checkpoints import Part, Saved, load
from dpfda.engines.task import ALL, Partial, Task, summarize_file, summarize_local
from dpfda.problems.base import Problem, Summary
from dpfda.reading.functional import cluster_of
from dpfda.reading.layouts import as_layout
from dpfda.reading.places import Place, is_path
from dpfda.reading.source import Source

ENGINES = ("dask", "spark")


@dataclass(frozen=True)
class Checkpoint:
    """A summary file that grows with every file that is read, and knows which it has."""

    path: str | os.PathLike[str]
    plan: str


def summarize(problem: Problem, records: Any, *, most: int | None = None, **reading: Any) -> Summary:
    """Exact totals of all records of a source, wherever it is, or of the first `most` of them. Confidential."""
    return _run(Task(problem, most=None if most is None else {ALL: most}), records, None, **reading)[ALL]


def summarize_groups(
    problem: Problem | Mapping[str, Problem], records: Any, by: Any, groups: Any, *,
    most: Mapping[str, int] | None = None, **reading: Any,
) -> dict[str, Summary]:  # fmt: skip
    """The same for each group, by its name; `problem` may be one for each."""
    several = problem if isinstance(problem, Mapping) else None
    first = problem if not isinstance(problem, Mapping) else next(iter(problem.values()))
    return _run(Task(first, several, True, as_groups(groups), most), records, by, **reading)


def _run(
    task: Task, records: Any, by: Any, *, engine: str | None = None, checkpoint: Checkpoint | None = None,
    progress: Any = None, between: Any = None, site: str = "", **reading: Any,
) -> dict[str, Summary]:  # fmt: skip
    if engine is not None and engine not in ENGINES:
        raise ParameterError(f"engine is one of {', '.join(ENGINES)}, or none", shown(engine), "Pass engine='dask'.")
    found = cluster_of(records)
    if engine is not None and found is not None and engine != found:
        raise ParameterError(f"data of {found} is read by its own engine", shown(engine), f"Pass engine={found!r}.")
    engine = engine or found
    if engine and (reading.get("units") is not None or not (by is None or isinstance(by, str))):
        raise ParameterError("labels beside the data are for this process", f"engine={engine!r}", "Name their column.")
    task = replace(task, between=as_stretch(between), site=as_site(site))
    source = task.source(None if found else records, by, **reading)
    if task.between is not None and not task.keyed_in(source):
        raise ParameterError("between is a stretch of units", "a plan without a unit", "Drop it, or plan with unit=...")
    _check_kept(task, source, engine)
    if checkpoint is not None:
        return _resumed(task, source, checkpoint, engine, progress)
    if engine == "dask":
        return task.finished(cluster.partial(task, records, source), source)
    if engine == "spark":
        return task.finished(spark.partial(task, records, source), source)
    return summarize_local(task, source, progress)


def _check_kept(task: Task, source: Source, engine: str | None) -> None:
    """On an engine rows have no order of their own, so a rule that keeps some needs labels."""
    unit = task.problem.alignment.unit if task.problem.alignment is not None else None
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
    files = source.parts()
    if len(files) > 1 and task.keyed_in(source) and task.by_public_facts:
        raise ParameterError(
            "where no labels in the data may lead to a refusal (add-remove, or invalid='center'), a checkpoint takes "
            "files one by one, each with its declared stretch of labels",
            f"{len(files)} files",
            "Call it for each file with between=('A', 'Mzz'), say; or release all of them in one go.",
        )
    saved = _begun(task, checkpoint)
    columns = None if as_layout(source.layout) is not None else files[0].value_names(Place(files[0].data))
    named = isinstance(source.columns, list | tuple)  # in an order of their own
    if columns is not None and not named and set(columns) == set(saved.columns or ()):
        columns = list(saved.columns or ())  # by name, in the order of the files before
        files = [replace(part, columns=columns) for part in files]
    reading = _digest_of(task, source, files, columns)
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
            entry = _entry(task, part)
            if saved.has(entry):
                done += 1
            else:
                yield part, (entry, stamp)

    def note(part: Source, mark: tuple[Part, str], found: Partial) -> None:
        nonlocal saved, done
        entry, stamp = mark
        if not stamp or Place(part.data).stamp() != stamp:
            raise RecordError(f"The file {entry.name!r} changed while it was read", cure="Run again.")
        ordered = None if columns is None else tuple(columns)
        entry = replace(entry, found=found.found)
        saved = saved.plus(Saved(checkpoint.plan, task.filled(found.summaries), (entry,), ordered, reading))
        saved.save(checkpoint.path)
        done += 1
        if hasattr(progress, "file"):
            progress.file(done, len(files))

    if engine == "dask":
        cluster.each(task, list(new()), note)
    else:
        for part, mark in new():
            note(part, mark, summarize_file(task, part))
    whole = task.finished(Partial(saved.summaries), source)
    return {name: replace(summary, origins=saved.origins(name)) for name, summary in whole.items()}


def _begun(task: Task, checkpoint: Checkpoint) -> Saved:
    """What the checkpoint holds so far: nothing, or summaries for this task."""
    if not os.path.exists(checkpoint.path):
        return Saved(checkpoint.plan)
    saved = load(checkpoint.path)
    if saved.plan != checkpoint.plan:
        raise PlanMismatch("The summary at this place was made with another plan. Name another file.")
    if any(summary.key != task.key(name) for name, summary in saved.summaries.items()):
        raise PlanMismatch("The summary at this place was made in another way. Name another file.")
    return saved


def _digest_of(task: Task, source: Source, files: list[Source], columns: Any) -> str:
    """How files are read: parts that are read differently are not put together."""
    facts = [repr(as_layout(source.layout)), source.header, columns, source.by, source.unit, source.order]
    if task.grouped or task.keyed_in(source):
        facts.append(files[0].label_kinds(Place(files[0].data)))
    return codec.digest(facts)


def _entry(task: Task, part: Source) -> Part:
    place, keyed = Place(part.data), task.keyed_in(part)
    address, number = place.file
    return Part(
        place.name, place.fingerprint(), address, task.site, number, keyed, part.labels if keyed else ("", ""),
        task.between, public=task.by_public_facts,
    )  # fmt: skip
