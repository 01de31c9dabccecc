"""The sentences a user writes: one call from data to a release."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dpfda import engines
from dpfda.bounds.bodies import Bound, L2Ball
from dpfda.core.checks import check_guess
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.core.labels import as_groups, warn_of_reading
from dpfda.engines import task as data
from dpfda.ledger import Ledger
from dpfda.methods import AR, FRL, QR, Auto, KNorm, Method, Minimax
from dpfda.plans import CovariancePlan, DensityPlan, GroupPlan, MeanPlan, RadiusPlan
from dpfda.reading import functional
from dpfda.reading import source as readers
from dpfda.release import door
from dpfda.results import RadiusRelease
from dpfda.spaces.alignment import Align, Interpolate, Unit
from dpfda.spaces.grid import Grid
from dpfda.spaces.kernels import Kernel

#: Stands in for n while the records are being counted; under `replace` n is public anyway.
PLACEHOLDER = 1000


def mean(
    curves: Any,
    *,
    epsilon: Any = None,
    bound: Bound | None = None,
    kernel: Kernel | Callable[..., Any] | None = None,
    grid: Grid | None = None,
    method: Method | None = None,
    neighbors: str = "replace",
    invalid: str = "raise",
    ledger: Ledger | str | os.PathLike[str] | None = None,
    n: int | Mapping[str, int] | None = None,
    columns: readers.Columns = None,
    header: bool | None = None,
    standardize: bool = False,
    fill: int | None = None,
    postprocess: bool = True,
    by: Any = None,
    groups: Sequence[str] | None = None,
    unit: Any = None,
    align: Align | str | None = None,
    layout: Any = None,
    engine: str | None = None,
    query: str = "mean",
    progress: readers.Progress | None = None,
) -> Any:
    """Release the mean of a set of curves under pure differential privacy.

    `curves` is an array, a pandas, polars or Arrow table, an Arrow stream, an iterator of batches, a scikit-fda
    ``FDataGrid`` or ``FDataIrregular``, an xarray ``DataArray``, a Dask or Spark collection (see `engine`), or paths of
    CSV or Parquet files: one, a list, a glob, a folder, or addresses that fsspec knows. `epsilon` and `bound`
    have no default: they are decisions. Curves with several components need an ``FDataGrid`` or a
    :class:`ComponentGrid`. The method is ``Auto()`` unless given: it may read the data several times,
    in batches (``Auto(passes=1)`` reads them once).

    `layout` says how curves lie in a table: one row each, or :class:`Long`, or :class:`Lists`. `align` brings curves
    at their own times, or with gaps, to the grid. `unit` is the column that says whose a curve is (or one label
    per curve): the guarantee is then about units, whose curves are averaged first. `by` is a column of public
    labels, or one label per curve, and gives one release per group, for one charge; with ``add-remove`` the list of
    `groups` must be given, and `n` is a guess of each group's size.

    >>> import numpy as np, dpfda as dp
    >>> curves = np.random.default_rng(0).uniform(0, 1, (300, 24))
    >>> dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0), method=dp.methods.KNorm()).grid.size
    24
    """
    facts = {
        "epsilon": epsilon, "bound": bound, "kernel": kernel, "method": method, "neighbors": neighbors,
        "invalid": invalid, "standardize": standardize, "fill": fill, "postprocess": postprocess, "unit": unit,
        "align": align,
    }  # fmt: skip
    reading = {"columns": columns, "header": header, "layout": layout, "engine": engine, "progress": progress}
    return _released(MeanPlan, facts, Asked(curves, grid, n, ledger, query, reading, by, groups))


def covariance(
    curves: Any,
    *,
    epsilon: Any = None,
    bound: L2Ball | None = None,
    kernel: Kernel | Callable[..., Any] | None = None,
    grid: Grid | None = None,
    method: Method | None = None,
    neighbors: str = "replace",
    invalid: str = "raise",
    ledger: Ledger | str | os.PathLike[str] | None = None,
    n: int | Mapping[str, int] | None = None,
    columns: readers.Columns = None,
    header: bool | None = None,
    standardize: bool = False,
    fill: int | None = None,
    postprocess: bool = True,
    by: Any = None,
    groups: Sequence[str] | None = None,
    unit: Any = None,
    align: Align | str | None = None,
    layout: Any = None,
    engine: str | None = None,
    query: str = "covariance",
    progress: readers.Progress | None = None,
) -> Any:
    """Release the covariance surface of a set of curves under pure differential privacy.

    Curves come as for :func:`mean`. The release is symmetric and positive semi-definite (unless
    `postprocess` is False); its ``eigenfunctions(k)`` are private functional principal components.

    >>> import numpy as np, dpfda as dp
    >>> curves = np.random.default_rng(0).normal(0, 1, (2000, 1)) * np.sin(np.linspace(0, 3, 24))
    >>> dp.covariance(curves, epsilon=1.0, bound=dp.L2Ball(2.0)).values.shape
    (24, 24)
    """
    facts = {
        "epsilon": epsilon, "bound": bound, "kernel": kernel, "method": method, "neighbors": neighbors,
        "invalid": invalid, "standardize": standardize, "fill": fill, "postprocess": postprocess, "unit": unit,
        "align": align,
    }  # fmt: skip
    reading = {"columns": columns, "header": header, "layout": layout, "engine": engine, "progress": progress}
    return _released(CovariancePlan, facts, Asked(curves, grid, n, ledger, query, reading, by, groups))


def suggest_radius(
    curves: Any,
    *,
    epsilon: Any = None,
    quantile: float = 0.95,
    center: Any = None,
    grid: Grid | None = None,
    smallest: float | None = None,
    largest: float | None = None,
    neighbors: str = "replace",
    invalid: str = "raise",
    ledger: Ledger | str | os.PathLike[str] | None = None,
    n: int | None = None,
    columns: readers.Columns = None,
    header: bool | None = None,
    standardize: bool = False,
    fill: int | None = None,
    unit: Any = None,
    align: Align | str | None = None,
    layout: Any = None,
    engine: str | None = None,
    query: str = "radius",
    progress: readers.Progress | None = None,
) -> RadiusRelease:
    """A radius for a bound, where none is known: a private quantile of the curves' norms about a public `center`.

    It costs `epsilon`, which is charged like any release's. A good bound is worth a tenth of the budget; it
    need not hold every curve. `smallest` and `largest` limit, publicly, where the radius is looked for.

    >>> import numpy as np, dpfda as dp
    >>> curves = np.random.default_rng(0).uniform(0, 1, (2000, 24))
    >>> radius = dp.suggest_radius(curves, epsilon=0.2, center=0.5)
    >>> dp.mean(curves, epsilon=0.8, bound=radius.bound).grid.size
    24
    """
    facts: dict[str, Any] = {
        "epsilon": epsilon, "quantile": quantile, "center": center, "neighbors": neighbors, "invalid": invalid,
        "standardize": standardize, "fill": fill, "unit": unit, "align": align,
    }  # fmt: skip
    facts |= {name: value for name, value in (("smallest", smallest), ("largest", largest)) if value is not None}
    reading = {"columns": columns, "header": header, "layout": layout, "engine": engine, "progress": progress}
    return _released(RadiusPlan, facts, Asked(curves, grid, n, ledger, query, reading))


@dataclass(frozen=True)
class Asked:
    """What a sentence asks for, apart from its facts: which data, read how, charged to whom, for which groups."""

    curves: Any
    grid: Any
    n: Any
    ledger: Any
    query: str
    reading: dict[str, Any]
    by: Any = None
    groups: Any = None


def _released(kind: Any, facts: dict[str, Any], asked: Asked) -> Any:
    """Plan, check, read once, plan again for the number of records there are, and release."""
    check_guess(asked.n, facts["neighbors"])
    asked = replace(asked, by=list(asked.by)) if hasattr(asked.by, "__next__") else asked  # passes read them again
    facts, reading = _with_units(facts, dict(asked.reading))
    source = _source(asked.curves, reading)
    if facts["align"] is None and source is not None and source.irregular:
        facts["align"] = Interpolate()
    public = facts["invalid"] == "center" or facts["neighbors"] == "add-remove"
    grid = asked.grid if asked.grid is not None else _grid_of(asked.curves, source, public)
    if asked.by is not None:
        return _by_group(kind, {"grid": grid, **facts}, asked, reading)
    if asked.groups is not None or isinstance(asked.n, Mapping):
        raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per record>.")
    plan = kind(n=PLACEHOLDER if asked.n is None else asked.n, grid=grid, **facts)
    book = door.open_ledger(asked.ledger)
    door.check_budget(book, plan)
    single_pass_reason = data.reads_once(asked.curves)
    plan.check_passes(single_pass_reason)
    most = plan.most if asked.n is not None else None  # while they are being counted, all are used
    reread = lambda problem: engines.summarize(problem, asked.curves, most=most, **reading)  # noqa: E731
    summary = reread(plan.stage.problem)
    if asked.n is None:
        plan = kind(n=summary.count, grid=grid, **facts)
        plan.check_passes(single_pass_reason)
        if plan.stage.problem.key != summary.key:  # for this many curves another first pass is better
            _check_again(single_pass_reason)
            summary = reread(plan.stage.problem)
    return door.execute(plan, summary, book, asked.query, reread)


def _by_group(kind: Any, facts: dict[str, Any], asked: Asked, reading: dict[str, Any]) -> Any:
    """One release per group: a first pass counts the records of each, unless their numbers are given."""
    if facts["neighbors"] == "add-remove" and asked.groups is None:
        raise ParameterError(
            "with add-remove, which groups exist must be public", "no list", "Pass groups=['north', 'south', ...]."
        )
    single_pass_reason, book = data.reads_once(asked.curves), door.open_ledger(asked.ledger)
    first = kind(n=PLACEHOLDER, **facts)
    door.check_budget(book, first)
    first.check_passes(single_pass_reason)
    names = as_groups(asked.groups)
    if names is None:
        warn_of_reading("groups")
    sizes, read = asked.n, None
    if asked.n is None or names is None:
        read = engines.summarize_groups(first.stage.problem, asked.curves, asked.by, names, **reading)
        names = tuple(read)
    if not isinstance(sizes, Mapping):
        sizes = {name: read[name].count if asked.n is None and read else asked.n for name in names}
    if missing := [name for name in names if name not in sizes]:
        raise ParameterError("n must have a number for every group", shown(missing[0]), "Add it.")
    if few := [name for name in names if asked.n is None and sizes[name] < 2]:
        raise RecordError(f"The group {few[0]!r} holds fewer than two records", cure="Leave it out, or join it.")
    plans = tuple(kind(n=sizes[name], **facts) for name in names)
    plan = GroupPlan(names, plans, True if asked.groups is None else None)
    if read is not None and any(part.stage.problem.key != read[name].key for name, part in zip(names, plan.plans)):
        _check_again(single_pass_reason)
        read = None
    return plan.release(asked.curves, book, asked.query, by=asked.by, read=read, **reading)


def _check_again(single_pass_reason: str) -> None:
    if single_pass_reason:
        raise ParameterError(
            "without n the records are read twice", single_pass_reason, "Pass n, the public number of records."
        )


def _with_units(facts: dict[str, Any], reading: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A unit is a column, a rule, or one label per record."""
    unit = facts["unit"]
    if unit is None or isinstance(unit, str | Unit):
        return facts, reading
    return {**facts, "unit": Unit("unit")}, {**reading, "units": list(unit) if hasattr(unit, "__iter__") else unit}


def _source(curves: Any, reading: dict[str, Any]) -> readers.Source | None:
    """How the data is read in this process; None for data of an engine."""
    if functional.cluster_of(curves) is not None:
        return None
    options = {name: reading[name] for name in ("columns", "header", "layout")}
    return readers.Source(curves, **options, watch=readers.Watch(repeated=""))


def _grid_of(curves: Any, source: readers.Source | None, public: bool) -> Any:
    """The grid that the data lives on, where that is public; in `public` planning no record may decide it."""
    if (own := functional.grid_of(curves)) is not None:
        return own
    if source is None:
        shape: Any = getattr(curves, "shape", ())
        if hasattr(curves, "chunks") and len(shape) == 2:
            return Grid.uniform(0, 1, int(shape[1]))
    elif not (source.spends_itself or (public and source.by_records)):
        return Grid.uniform(0, 1, source.values_per_curve(public))
    raise ParameterError(
        "the grid must be given where a record could decide it, or reading would use the data up",
        "none",
        "Pass grid=dp.Grid.uniform(0, 1, <values per curve>).",
    )


AnyPlan = TypeVar("AnyPlan", MeanPlan, DensityPlan, CovariancePlan)


def compare(
    plan: AnyPlan, methods: Sequence[Method] | None = None, epsilons: Sequence[Any] = (0.125, 0.25, 0.5, 1, 2, 4)
) -> dict[str, list[AnyPlan]]:
    """The plan under other methods and budgets, no data: rank them by ``expected_risk``.

    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=508, epsilon=1, bound=dp.L2Ball(1.0), grid=48)
    >>> sorted(dp.compare(plan, epsilons=[1]))
    ['AR', 'Auto', 'FRL', 'KNorm', 'Minimax', 'QR']
    """
    if methods is None:
        for_means: list[Method] = [] if plan.problem.smooths else [Auto(), AR()]
        methods = [*for_means, FRL(), QR(), Minimax(), KNorm()]
    names = [m.title for m in methods]
    labels = [name if names.count(name) == 1 else repr(m) for name, m in zip(names, methods, strict=True)]
    return {
        label: [replace(plan, method=method, epsilon=epsilon) for epsilon in epsilons]
        for label, method in zip(labels, methods, strict=True)
    }
