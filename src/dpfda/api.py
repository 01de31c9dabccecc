"""The sentences a user writes: one call from data to a release."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from . import readers
from . import release as exits
from . import summaries as data
from .bounds import Bound, L2Ball
from .errors import ParameterError
from .grid import Grid
from .kernels import Kernel
from .ledger import Ledger
from .methods import AR, FRL, QR, Auto, KNorm, Method, Minimax
from .plans import CovariancePlan, DensityPlan, MeanPlan, RadiusPlan
from .release import CovarianceRelease, RadiusRelease, Release

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
    n: int | None = None,
    columns: readers.Columns = None,
    header: bool | None = None,
    standardize: bool = False,
    fill: int | None = None,
    postprocess: bool = True,
    query: str = "mean",
    progress: readers.Progress | None = None,
) -> Release:
    """Release the mean of a set of curves under pure differential privacy.

    `curves` is an array, a pandas or Arrow table, a scikit-fda ``FDataGrid``, or the path of a CSV
    or Parquet file with one row per curve. `epsilon` and `bound` have no default: they are
    decisions. The method is ``Auto()`` unless given: it may read the data several times, in batches
    (``Auto(passes=1)`` reads them once).

    >>> import numpy as np, dpfda as dp
    >>> curves = np.random.default_rng(0).uniform(0, 1, (300, 24))
    >>> dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0), method=dp.KNorm()).grid.size
    24
    """
    facts = {
        "epsilon": epsilon, "bound": bound, "kernel": kernel, "method": method, "neighbors": neighbors,
        "invalid": invalid, "standardize": standardize, "fill": fill, "postprocess": postprocess,
    }  # fmt: skip
    reading = {"columns": columns, "header": header, "progress": progress}
    return _released(MeanPlan, curves, facts, grid, n, ledger, query, reading)


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
    n: int | None = None,
    columns: readers.Columns = None,
    header: bool | None = None,
    standardize: bool = False,
    fill: int | None = None,
    postprocess: bool = True,
    query: str = "covariance",
    progress: readers.Progress | None = None,
) -> CovarianceRelease:
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
        "invalid": invalid, "standardize": standardize, "fill": fill, "postprocess": postprocess,
    }  # fmt: skip
    reading = {"columns": columns, "header": header, "progress": progress}
    return _released(CovariancePlan, curves, facts, grid, n, ledger, query, reading)


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
        "standardize": standardize, "fill": fill,
    }  # fmt: skip
    facts |= {name: value for name, value in (("smallest", smallest), ("largest", largest)) if value is not None}
    reading = {"columns": columns, "header": header, "progress": progress}
    return _released(RadiusPlan, curves, facts, grid, n, ledger, query, reading)


def _released(
    kind: Any, curves: Any, facts: dict[str, Any], grid: Any, n: Any, ledger: Any, query: str, reading: dict[str, Any]
) -> Any:
    """Plan, check, read once, plan again for the number of curves there are, and release."""
    columns, header = reading["columns"], reading["header"]
    check_guess(n, facts["neighbors"])
    if grid is None:
        if readers.Source(curves).spends_itself or (facts["invalid"] == "center" and readers.Source(curves).by_records):
            raise ParameterError(
                "the grid must be given where a record could decide it, or reading would use the data up",
                "none",
                "Pass grid=dp.Grid.uniform(0, 1, <values per curve>).",
            )
        grid = _grid_of(curves, columns, header)
    plan = kind(n=PLACEHOLDER if n is None else n, grid=grid, **facts)
    book = exits.open_ledger(ledger)
    exits.check_budget(book, plan)
    spent = data.reads_once(curves)
    plan.check_passes(spent)
    summary = plan.summarize(curves, **reading)
    if n is None:
        plan = kind(n=summary.count, grid=grid, **facts)
        plan.check_passes(spent)
        if plan.stage.problem.key != summary.key:  # for this many curves another first pass is better
            summary = plan.summarize(curves, **reading)
    again = lambda problem: data.summarize(problem, curves, **reading)  # noqa: E731
    return exits.execute(plan, summary, book, query, again)


def check_guess(n: Any, neighbors: str) -> None:
    """Where n is private, a plan needs a public guess of it."""
    if n is None and neighbors == "add-remove":
        raise ParameterError(
            "add-remove keeps n private, so the plan needs a public guess of it",
            "none",
            "Pass n=<a round number you would publish>.",
        )


def _grid_of(curves: Any, columns: readers.Columns, header: bool | None) -> Grid:
    points = getattr(curves, "grid_points", None)
    if points is not None and hasattr(curves, "data_matrix"):
        span = getattr(curves, "domain_range", [None])[0]
        return Grid(np.asarray(points[0], dtype=float), span=span)
    return Grid.uniform(0, 1, readers.Source(curves, columns, header).values_per_curve())


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
