"""The sentence about densities: one call from points or counts to a release."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpfda import engines
from dpfda.api.curves import PLACEHOLDER
from dpfda.core.checks import check_guess
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.core.labels import as_groups, warn_of_reading
from dpfda.ledger import Ledger
from dpfda.methods import KNorm, Method
from dpfda.plans import DensityPlan, GroupPlan
from dpfda.problems.base import Summary
from dpfda.reading import source as readers
from dpfda.release import door
from dpfda.spaces.kernels import Kernel


def density(
    points: Any = None,
    *,
    epsilon: Any = None,
    domain: Sequence[tuple[float, float]] | None = None,
    cells: int | Sequence[int] | None = None,
    counts: Any = None,
    edges: Any = None,
    axes: Sequence[str] | None = None,
    kernel: Kernel | None = None,
    bandwidth: float | Sequence[float] | None = None,
    eta: float | None = None,
    method: Method | None = None,
    neighbors: str = "replace",
    invalid: str = "raise",
    outside: str = "raise",
    postprocess: bool = True,
    by: Any = None,
    groups: Sequence[str] | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    n: int | Mapping[str, int] | None = None,
    columns: readers.Columns = None,
    header: bool | None = None,
    engine: str | None = None,
    query: str = "density",
    progress: readers.Progress | None = None,
) -> Any:
    """Release a density of points in one to three dimensions under pure differential privacy.

    (Every method but `GaussianProcess` is pure; that one has a delta, and says so.)

    `points` is an array (a vector, or one row per point), a table, a stream, paths of CSV or Parquet files, or a
    Dask or Spark collection, as for :func:`mean`. Instead, `counts` is a table of whole numbers with bin `edges`
    (or one count per cell), or one such table per group. `epsilon` and `domain` have no default: they are decisions.
    `by` is a column of public labels, or one label per point, and gives one density per group; with ``add-remove``
    the list of `groups` must be given, and `n` is a guess of each group's size.

    >>> import numpy as np, dpfda as dp
    >>> ages = np.random.default_rng(0).gamma(9.0, 8.0, 3000).clip(0, 110)
    >>> dp.density(ages, epsilon=1.0, domain=[(0, 110)]).values.min() >= 0
    np.True_
    """
    _check_given(points, counts, domain)
    check_guess(n, neighbors)
    facts: dict[str, Any] = {
        "epsilon": epsilon, "domain": domain, "cells": cells, "edges": edges, "axes": axes, "kernel": kernel,
        "bandwidth": bandwidth, "eta": eta, "neighbors": neighbors, "invalid": invalid, "outside": outside,
        "postprocess": postprocess,
    }  # fmt: skip
    grouped = by is not None or isinstance(counts, Mapping)
    if not grouped and (groups is not None or isinstance(n, Mapping)):
        raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per point>.")
    if n is None and points is not None and not grouped:
        hint = readers.Source(points).size_hint()  # public under `replace`, and most sources know it
        n = hint if hint is not None and hint >= 2 else None
    book = door.open_ledger(ledger)
    if not grouped and n is not None:
        plan = DensityPlan(n=n, method=method, **facts)  # type: ignore[arg-type]
        door.check_budget(book, plan)
        summary = plan.summarize(points, counts=counts, **_reading(counts, columns, header, engine, progress))
        return door.execute(plan, summary, book, query)
    probe = DensityPlan(n=PLACEHOLDER, method=KNorm(1) if method is None else method, **facts)
    door.check_budget(book, probe)
    facts["method"] = method
    reading = _reading(counts, columns, header, engine, progress)
    if not grouped:
        if counts is None:  # while points are being counted, all are used
            summary = engines.summarize(probe.problem, points, **reading)
        else:
            summary = probe.summarize(counts=counts)
        return door.execute(_planned(summary, None, facts), summary, book, query)
    parts = _grouped(probe, points, counts, by, groups, n, reading)
    sizes = n if isinstance(n, Mapping) else dict.fromkeys(parts, n)
    if missing := [name for name in parts if name not in sizes]:
        raise ParameterError("n must have a guess for every group", shown(missing[0]), "Add it.")
    plans = [_planned(part, sizes[name], facts, name) for name, part in parts.items()]
    read = True if counts is None and groups is None else None
    return GroupPlan(tuple(parts), tuple(plans), read).release(parts, book, query)


def _check_given(points: Any, counts: Any, domain: Any) -> None:
    if (points is None) == (counts is None):
        raise ParameterError("a density needs points or counts", "both or neither", "Pass one of them.")
    if domain is None:
        raise ParameterError(
            "a density needs a public domain", "none", "Pass domain=[(0, 110)]: it is never read from the data."
        )


def _reading(counts: Any, columns: Any, header: Any, engine: Any, progress: Any) -> dict[str, Any]:
    reading = {"columns": columns, "header": header, "engine": engine, "progress": progress}
    return {} if counts is not None else reading


def _planned(summary: Summary, n: Any, facts: dict[str, Any], group: str = "") -> DensityPlan:
    """The plan for as many points as there are (where that is public)."""
    if n is None and summary.count < 2:
        where = f"The group {group!r}" if group else "The data"
        raise RecordError(f"{where} holds fewer than two points", cure="A density of one point is that point.")
    return DensityPlan(n=summary.count if n is None else n, **facts)


def _grouped(
    probe: DensityPlan,
    points: Any,
    counts: Any,
    by: Any,
    groups: Sequence[str] | None,
    n: Any,
    reading: dict[str, Any],
) -> dict[str, Summary]:
    """One summary per group: labels on points, or one table of counts each."""
    names = as_groups(groups)
    if counts is not None:
        if by is not None or not isinstance(counts, Mapping):
            raise ParameterError("counts by group are a mapping", shown(by), "Pass counts={'north': [...], ...}.")
        tables = {str(name): table for name, table in counts.items()}
        if len(tables) < len(counts):
            raise ParameterError("groups must have different names", "two that are spelt alike", "Rename one.")
        if names is None and not probe.problem.count_is_private:
            return {name: probe.summarize_counts(table) for name, table in tables.items()}
        if names is not None:
            if missing := set(tables) - set(names):
                raise ParameterError("groups must hold those of the counts", shown(min(missing)), "Add it to groups.")
            nothing = np.zeros(probe.problem.bins, dtype=int)
            return {name: probe.summarize_counts(tables.get(name, nothing)) for name in names}
    if names is None and probe.problem.count_is_private:
        raise ParameterError(
            "with add-remove, which groups exist must be public", "no list", "Pass groups=['north', 'south', ...]."
        )
    if names is None:
        warn_of_reading("groups")
    most = None
    if names is not None and n is not None and probe.most is not None:  # no record may stop a run: no more are used
        most = {name: n[name] for name in names if name in n} if isinstance(n, Mapping) else dict.fromkeys(names, n)
    return engines.summarize_groups(probe.problem, points, by, names, most=most, **reading)
