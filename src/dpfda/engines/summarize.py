"""Which engine reads which data: map a task over parts, merge what comes back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dpfda.core import codec, watching
from dpfda.core.errors import ParameterError, PlanMismatch, RecordError
from dpfda.core.labels import as_groups
from dpfda.core.origins import Between, as_site, as_stretch
from dpfda.engines import dask_engine, spark_engine
from dpfda.engines.aligned import Aligned
from dpfda.engines.checkpoints import Part, Saved, load
from dpfda.engines.local import count_local, summarize_local
from dpfda.engines.task import ALL, Labels, Partial, Task, summarize_file
from dpfda.problems.contracts import Encoder
from dpfda.problems.summary import Summary
from dpfda.reading.curves import Curves, Progress, Records, as_curves
from dpfda.reading.places import Place, is_path
from dpfda.reading.scans import Scan
from dpfda.reading.source import Source


@dataclass(frozen=True)
class Checkpoint:
    """A summary file that grows with every file that is read, and knows which it has.

    Parameters
    ----------
    path : str or path
        The summary file; begun where there is none.
    plan : str
        The digest of the plan that it is for, its `family`.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=4)
    >>> dp.engines.Checkpoint("north.json", plan.family).path
    'north.json'
    """

    path: str | os.PathLike[str]
    plan: str


@dataclass(frozen=True)
class Declared:
    """What the data holder says of part of the data, so that parts can be put together, and where it is kept.

    Parameters
    ----------
    between : pair of labels, optional
        The labels of its units lie between these two. Default: nothing is said.
    site : str, optional
        A name: its units are nobody's outside this site. Default: none.
    checkpoint : Checkpoint, optional
        Where every file that is done is saved. Default: nowhere.

    Examples
    --------
    >>> import dpfda as dp
    >>> dp.engines.Declared(site="north").between is None
    True
    """

    between: Between = None
    site: str = ""
    checkpoint: Checkpoint | None = None


#: Nothing was said of where the data belongs.
NOTHING = Declared()


def summarize(
    problem: Encoder,
    records: Records,
    *,
    max_records: int | None = None,
    units: Labels = None,
    declared: Declared = NOTHING,
    aligned: Aligned | None = None,
) -> Summary:
    """Exact totals of all records of a source, wherever it is, or of the first `max_records` of them. Confidential.

    Parameters
    ----------
    problem : problem of a plan
        How records are encoded: ``plan.problem``.
    records : Curves or anything that :func:`dpfda.read` takes
        The records.
    max_records : int, optional
        How many are used at most. Default: all.
    units : str or sequence, optional
        Whose each record is: a column, or one label per record.
    declared : Declared, optional
        What is said of where the data belongs. Default: nothing.
    aligned : Aligned, optional
        What several passes over the same records share, where they are in memory. Default: nothing.

    Returns
    -------
    Summary
        Confidential: treat it as the data itself.

    Raises
    ------
    dpfda.errors.ParameterError
        Where labels or a checkpoint do not go with the data.
    dpfda.errors.RecordError
        Where a record cannot be used and the plan does not forgive it.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> plan = dp.MeanPlan(n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=4, method=dp.methods.KNorm(2))
    >>> dp.engines.summarize(plan.problem, np.zeros((3, 4))).count
    3
    """
    task = Task(problem, max_records=None if max_records is None else {ALL: max_records})
    return _run(task, as_curves(records), None, units, declared, aligned)[ALL]


def summarize_groups(
    problem: Encoder | Mapping[str, Encoder], records: Records, by: Labels, groups: Sequence[object] | None, *,
    max_records: Mapping[str, int] | None = None, units: Labels = None, declared: Declared = NOTHING,
    aligned: Aligned | None = None,
) -> dict[str, Summary]:  # fmt: skip
    """Exact totals of the records of each group. Confidential.

    Parameters
    ----------
    problem : problem of a plan, or a mapping of them
        How records are encoded, for all groups or for each by its name.
    records : Curves or anything that :func:`dpfda.read` takes
        The records.
    by : str or sequence
        Which group each record belongs to: a column, or one label per record.
    groups : sequence of str
        The public names of the groups.
    max_records : mapping of int, optional
        How many of each group are used at most. Default: all.
    units, declared, aligned : optional
        As for :func:`summarize`.

    Returns
    -------
    dict of Summary
        By the name of the group. Confidential.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> plan = dp.MeanPlan(n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=4, method=dp.methods.KNorm(2))
    >>> found = dp.engines.summarize_groups(plan.problem, np.zeros((3, 4)), ["a", "b", "a"], ["a", "b"])
    >>> found["a"].count, found["b"].count
    (2, 1)
    """
    several = problem if isinstance(problem, Mapping) else None
    first = problem if not isinstance(problem, Mapping) else next(iter(problem.values()))
    task = Task(first, several, True, as_groups(groups), max_records)
    return _run(task, as_curves(records), by, units, declared, aligned)


def count(
    task: Task, curves: Curves, by: Labels, units: Labels, declared: Declared, aligned: Aligned
) -> dict[str, int] | None:
    """How many records of each group there are, where that is public and takes no reading of files and no encoding."""
    if curves.engine or curves.cluster or declared.checkpoint is not None:
        return None
    task = replace(task, between=as_stretch(declared.between), site=as_site(declared.site))
    return count_local(task, task.source(curves, by, units), aligned)


def _run(
    task: Task, curves: Curves, by: Labels, units: Labels, declared: Declared, aligned: Aligned | None
) -> dict[str, Summary]:
    engine = curves.engine or curves.cluster
    if engine and (units is not None or not (by is None or isinstance(by, str))):
        raise ParameterError("labels beside the data are for this process", f"engine={engine!r}", "Name their column.")
    task = replace(task, between=as_stretch(declared.between), site=as_site(declared.site))
    source = task.source(curves, by, units)
    if task.between is not None and not task.keyed_in(source):
        raise ParameterError("between is a stretch of units", "a plan without a unit", "Drop it, or plan with unit=...")
    _check_kept(task, source, engine)
    _check_declared(task, source)
    if declared.checkpoint is not None:
        return _resumed(task, source, declared.checkpoint, engine, curves.progress)
    if engine == "dask":
        return task.finished(dask_engine.partial(task, curves.data, source), source)
    if engine == "spark":
        return task.finished(spark_engine.partial(task, curves.data, source), source)
    return summarize_local(task, source, curves.progress, aligned)


def _check_kept(task: Task, source: Source, engine: str | None) -> None:
    """On an engine rows have no order of their own, so a rule that keeps some needs labels."""
    unit = task.problem.alignment.unit if task.problem.alignment is not None else None
    if engine and unit is not None and unit.most is not None and unit.order is None and not task.long(source):
        raise ParameterError(
            "on an engine, curves of a unit are kept by their labels",
            "no order",
            "Pass unit=dp.Unit(..., order='day').",
        )


def _check_declared(task: Task, source: Source) -> None:
    """Where nothing may depend on what another record holds, types must not be guessed from rows."""
    if task.must_ignore_labels and isinstance(source.data, Scan) and (guessed := source.data.guessed):
        what, _, cure = guessed.partition(". ")
        raise ParameterError(
            "where no record may decide how others are read (add-remove, or invalid='center'), columns have declared "
            "types",
            what,
            f"{cure}.",
        )


def _resumed(
    task: Task, source: Source, checkpoint: Checkpoint, engine: str | None, progress: Progress | None
) -> dict[str, Summary]:
    """File by file, each saved as soon as it is done; what is there already is not read again."""
    if not is_path(source.data) or engine == "spark" or source.labels_beside:
        raise ParameterError("a checkpoint is about files", "other data", "Pass paths, and name columns for labels.")
    files = source.parts()
    if len(files) > 1 and task.keyed_in(source) and task.must_ignore_labels:
        raise ParameterError(
            "where no labels in the data may lead to a refusal (add-remove, or invalid='center'), a checkpoint takes "
            "files one by one, each with its declared stretch of labels",
            f"{len(files)} files",
            "Call it for each file with between=('A', 'Mzz'), say; or release all of them in one go.",
        )
    saved = _begun(task, checkpoint)
    columns = None if source.layout is not None else files[0].value_names()
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
    sizes = [Place(part.data).size for part in files]
    told = watching.on_file(lambda: sizes, getattr(progress, "file", None))

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
        if told is not None:
            told(done, len(files))

    if engine == "dask":
        dask_engine.each(task, list(new()), note)
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


def _digest_of(task: Task, source: Source, files: list[Source], columns: object) -> str:
    """How files are read: parts that are read differently are not put together."""
    facts = [repr(source.layout), source.header, columns, source.by, source.unit, source.order]
    if task.grouped or task.keyed_in(source):
        facts.append(files[0].label_kinds())
    if (source.text.decimal, source.text.encoding) != (".", None):  # separators lead to the same cells, or to none
        facts.append([source.text.decimal, source.text.encoding])
    return codec.digest(facts)


def _entry(task: Task, part: Source) -> Part:
    place, keyed = Place(part.data), task.keyed_in(part)
    address, number = place.file
    return Part(
        place.name, place.fingerprint(), address, task.site, number, keyed, part.labels if keyed else ("", ""),
        task.between, public=task.must_ignore_labels,
    )  # fmt: skip
