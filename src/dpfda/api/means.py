"""`dp.mean`: the mean of curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, overload

from dpfda.api.releasing import release_curves, verb
from dpfda.api.types import (
    By,
    CurveOptions,
    Epsilon,
    GridLike,
    Invalid,
    KernelLike,
    LedgerLike,
    Neighbors,
    Sizes,
    UnitLike,
)
from dpfda.bounds import BoundLike, RecordFunction
from dpfda.methods import Method
from dpfda.plans.mean import MeanPlan
from dpfda.reading.curves import Records
from dpfda.results.groups import GroupRelease
from dpfda.results.mean import MeanRelease


@overload
def mean(
    curves: Records,
    *,
    epsilon: Epsilon,
    bound: BoundLike,
    by: None = None,
    n: int | None = None,
    **options: Unpack[CurveOptions],
) -> MeanRelease: ...
@overload
def mean(
    curves: Records,
    *,
    epsilon: Epsilon,
    bound: BoundLike,
    by: By,
    groups: Sequence[str] | None = None,
    n: Sizes | None = None,
    **options: Unpack[CurveOptions],
) -> GroupRelease[MeanRelease]: ...
@overload
def mean(
    curves: Records,
    *,
    epsilon: Epsilon,
    of: RecordFunction,
    by: None = None,
    n: int | None = None,
    **options: Unpack[CurveOptions],
) -> MeanRelease: ...
@overload
def mean(
    curves: Records,
    *,
    epsilon: Epsilon,
    of: RecordFunction,
    by: By,
    groups: Sequence[str] | None = None,
    n: Sizes | None = None,
    **options: Unpack[CurveOptions],
) -> GroupRelease[MeanRelease]: ...
@verb
def mean(
    curves: Records,
    *,
    epsilon: Epsilon | None = None,
    bound: BoundLike | None = None,
    of: RecordFunction | None = None,
    by: By | None = None,
    groups: Sequence[str] | None = None,
    unit: UnitLike | None = None,
    grid: GridLike | None = None,
    standardize: bool = False,
    kernel: KernelLike | None = None,
    method: Method | None = None,
    neighbors: Neighbors = "replace",
    invalid: Invalid = "raise",
    n: Sizes | None = None,
    ledger: LedgerLike | None = None,
    query: str = "mean",
    postprocess: bool = True,
    value: str | None = None,
    record: str | None = None,
) -> MeanRelease | GroupRelease[MeanRelease]:
    """Release the mean of a set of curves under pure differential privacy.

    Parameters
    ----------
    curves : Curves or anything that :func:`read` takes
        One record per person: an array, a table, a path, a Dask or Spark collection. Say with :func:`read` which
        columns, in which layout.
    epsilon : float or str
        The privacy budget. It has no default: it is a decision.
    bound : Bound, Range or RMS
        The public bound that every curve is clipped to, such as ``dp.Range(2, 25)`` for values between 2 and 25, or
        ``dp.L2Ball(radius)``. It has no default and is never read from data.
    of : RecordFunction, optional
        A function of each curve that is averaged instead of it: ``dp.Above(140)`` for the share of curves above 140,
        ``dp.TimeAbove([70, 140, 180])`` for the share of time above each level, or one of your own. It brings its own
        bound: pass none.
    by : str or sequence, optional
        A column of public labels, or one label per curve: one release per group, for one charge.
    groups : sequence of str, optional
        The groups that there are. With ``add-remove`` they must be listed; without a list they are read from the
        data, with a warning.
    unit : str, Unit or sequence, optional
        Whose a curve is: a column, a rule, or one label per curve. The guarantee is then about all that one has.
    grid : Grid, int or "header", optional
        Where the values of a curve are; "header": at the numbers that name their columns. Default: equally spaced on
        [0, 1], or what the data itself says.
    standardize : bool
        Whether each curve has its own mean removed and is divided by its own norm.
    kernel : Kernel, optional
        How smooth the mean is assumed to be; for accuracy only. Default: Matern 3/2.
    method : Method, optional
        How noise is shaped. Default: ``dp.Auto()``, which may read the data several times.
    neighbors : "replace" or "add-remove"
        Whether the number of records is public, or protected too.
    invalid : "raise" or "center"
        Whether an unusable curve stops the run (outside the guarantee), or counts as the public centre.
    n : int or mapping, optional
        The public number of curves (of each group); with ``add-remove`` a guess, which must be given.
    ledger : Ledger or path, optional
        What is charged, before noise is drawn.
    query : str
        The name of the release in the ledger and in its statement.
    postprocess : bool
        Whether noise is shrunk after the release by its known law, which is free of privacy cost.
    value : str, optional
        What values are, with their unit in brackets, such as ``value="glucose (mmol/L)"``: pictures show it, files keep
        it, and the plan's digest leaves it out.
    record : str, optional
        What one record is called, such as ``record="home"``, or ``"person/people"`` for a plural of its own: plans and
        statements speak of it so, files keep it, and the plan's digest leaves it out.

    Returns
    -------
    MeanRelease
        Or, with `by`, a GroupRelease: one MeanRelease for each group.

    Raises
    ------
    dpfda.errors.ParameterError
        Where an argument is wrong. Nothing is charged then.
    dpfda.errors.RecordError
        Where a record is wrong and ``invalid="raise"``. Nothing is charged then.
    dpfda.errors.BudgetExceeded
        Where the ledger does not hold as much.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> curves = np.random.default_rng(0).uniform(0, 1, (300, 24))
    >>> dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0), method=dp.methods.KNorm()).grid.size
    24
    >>> dp.mean(curves, epsilon=1.0, of=dp.Above(0.5)).title
    'mean share above 0.5'
    """
    facts = {
        "epsilon": epsilon, "bound": bound, "of": of, "kernel": kernel, "method": method, "neighbors": neighbors,
        "invalid": invalid, "standardize": standardize, "postprocess": postprocess, "value": value, "record": record,
    }  # fmt: skip
    return release_curves(MeanPlan, curves, facts, grid, unit, n, by, groups, ledger, query)
