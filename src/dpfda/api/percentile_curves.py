"""`dp.percentiles`: percentile curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, overload

from dpfda.api.releasing import release_curves, verb
from dpfda.api.types import By, Epsilon, GridLike, Invalid, LedgerLike, Neighbors, PercentileOptions, Sizes, UnitLike
from dpfda.bounds import Range
from dpfda.plans.percentiles import USUAL, PercentilePlan
from dpfda.reading.curves import Records
from dpfda.results.groups import GroupRelease
from dpfda.results.percentiles import PercentileRelease


@overload
def percentiles(
    curves: Records,
    *,
    epsilon: Epsilon,
    range: Range | tuple[float, float],
    by: None = None,
    n: int | None = None,
    **options: Unpack[PercentileOptions],
) -> PercentileRelease: ...
@overload
def percentiles(
    curves: Records,
    *,
    epsilon: Epsilon,
    range: Range | tuple[float, float],
    by: By,
    groups: Sequence[str] | None = None,
    n: Sizes | None = None,
    **options: Unpack[PercentileOptions],
) -> GroupRelease[PercentileRelease]: ...
@verb
def percentiles(
    curves: Records,
    *,
    epsilon: Epsilon | None = None,
    range: Range | tuple[float, float] | None = None,
    levels: Sequence[float] = USUAL,
    by: By | None = None,
    groups: Sequence[str] | None = None,
    unit: UnitLike | None = None,
    grid: GridLike | None = None,
    cells: int | None = None,
    neighbors: Neighbors = "replace",
    invalid: Invalid = "raise",
    n: Sizes | None = None,
    ledger: LedgerLike | None = None,
    query: str = "percentiles",
    value: str | None = None,
    record: str | None = None,
) -> PercentileRelease | GroupRelease[PercentileRelease]:
    """Release percentile curves under pure differential privacy: at each time, below what given shares of values lie.

    All percentiles are released at once, whatever `levels` are shown; they are smooth in time and never cross. Their
    bands are for the population.

    Parameters
    ----------
    curves : Curves or anything that :func:`read` takes
        One record per person: an array, a table, a path, a Dask or Spark collection. Say with :func:`read` which
        columns, in which layout.
    epsilon : float or str
        The privacy budget. It has no default: it is a decision.
    range : Range or (low, high)
        The public range of values, such as ``(40, 400)``; what lies beyond counts as its ends. It has no default and is
        never read from data.
    levels : sequence of float, optional
        The percentiles to show, as shares strictly between 0 and 1.
    by : str or sequence, optional
        A column of public labels, or one label per curve: one release per group, for one charge.
    groups : sequence of str, optional
        The groups that there are. With ``add-remove`` they must be listed; without a list they are read from the
        data, with a warning.
    unit : str, Unit or sequence, optional
        Whose a curve is: a column, a rule, or one label per curve. The guarantee is then about all that one has, and
        the curves of one share its weight.
    grid : Grid, int or "header", optional
        Where the values of a curve are; "header": at the numbers that name their columns. Default: equally spaced on
        [0, 1], or what the data itself says.
    cells : int, optional
        Into how many equal cells the range is divided, a power of two. Default: 1,024, or 256 with a unit.
    neighbors : "replace" or "add-remove"
        Whether the number of records is public, or protected too.
    invalid : "raise" or "center"
        Whether an unusable curve stops the run (outside the guarantee), or counts as mid-range.
    n : int or mapping, optional
        The public number of curves (of each group); with ``add-remove`` a guess, which must be given.
    ledger : Ledger or path, optional
        What is charged, before noise is drawn.
    query : str
        The name of the release in the ledger and in its statement.
    value : str, optional
        What values are, with their unit in brackets, such as ``value="glucose (mg/dL)"``: pictures show it, files keep
        it, and the plan's digest leaves it out.
    record : str, optional
        What one record is called, such as ``record="home"``, or ``"person/people"`` for a plural of its own: plans and
        statements speak of it so, files keep it, and the plan's digest leaves it out.

    Returns
    -------
    PercentileRelease
        Or, with `by`, a GroupRelease: one PercentileRelease for each group.

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
    >>> curves = np.random.default_rng(0).normal(100, 20, (1000, 24))
    >>> release = dp.percentiles(curves, epsilon=1.0, range=(0, 300))
    >>> bool(release.curve(0.25).mean() < release.curve(0.75).mean())
    True
    """
    facts = {
        "epsilon": epsilon, "range": range, "levels": levels, "cells": cells, "neighbors": neighbors,
        "invalid": invalid, "value": value, "record": record,
    }  # fmt: skip
    return release_curves(PercentilePlan, curves, facts, grid, unit, n, by, groups, ledger, query)
