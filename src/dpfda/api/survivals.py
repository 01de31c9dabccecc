"""`dp.survival`: a survival curve of times to an event, some of them censored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from dpfda.api.releasing import PLACEHOLDER, Request, split_unit, verb
from dpfda.api.types import By, Epsilon, Invalid, LedgerLike, Neighbors, Sizes, SurvivalOptions, UnitLike
from dpfda.core.checks import INVALID, check_choice, check_guess
from dpfda.core.errors import ParameterError, RecordError
from dpfda.methods import Method
from dpfda.plans.survival import SurvivalPlan
from dpfda.reading.arrays import unmasked
from dpfda.reading.curves import Curves, Records, as_curves
from dpfda.reading.places import is_path
from dpfda.release.passes import FromGroupedRecords, FromRecords
from dpfda.results.groups import GroupRelease
from dpfda.results.survival import SurvivalRelease

TWO = "Pass times and events of one length, or dp.read('patients.csv', columns=['days', 'died'])."


@overload
def survival(
    times: Records, events: ArrayLike | None = None, *, epsilon: Epsilon, horizon: float, by: None = None,
    n: int | None = None, **options: Unpack[SurvivalOptions],
) -> SurvivalRelease: ...  # fmt: skip
@overload
def survival(
    times: Records, events: ArrayLike | None = None, *, epsilon: Epsilon, horizon: float, by: By,
    groups: Sequence[str] | None = None, n: Sizes | None = None, **options: Unpack[SurvivalOptions],
) -> GroupRelease[SurvivalRelease]: ...  # fmt: skip
@verb
def survival(
    times: Records,
    events: ArrayLike | None = None,
    *,
    epsilon: Epsilon | None = None,
    horizon: float | None = None,
    by: By | None = None,
    groups: Sequence[str] | None = None,
    unit: UnitLike | None = None,
    axis: str = "time",
    method: Method | None = None,
    neighbors: Neighbors = "replace",
    invalid: Invalid = "raise",
    n: Sizes | None = None,
    ledger: LedgerLike | None = None,
    query: str = "survival",
    record: str | None = None,
) -> SurvivalRelease | GroupRelease[SurvivalRelease]:
    """Release a survival curve under pure differential privacy.

    With it come the cumulative hazard, the cumulative incidence, mean and median survival times and numbers at risk,
    all with intervals and all from the same noisy counts of events and censorings.

    Parameters
    ----------
    times : array, or Curves or anything that :func:`read` takes
        Times to the event or to the end of observation, from 0. Or, without `events`, records of two columns in this
        order: the time, and whether the event came then.
    events : array, optional
        1 (or True) where the event came at that time, 0 where observation ended before it.
    epsilon : float or str
        The privacy budget. It has no default: it is a decision.
    horizon : float
        Up to when the curve is released: public, without a default, and never read from data. Who is still there has
        reached it.
    by : str or sequence, optional
        A column of public labels, or one label per record: one release per group, for one charge.
    groups : sequence of str, optional
        The groups that there are. With ``add-remove`` they must be listed; without a list they are read from the data,
        with a warning.
    unit : str, Unit or sequence, optional
        Whose a record is: a column, a rule, or one label per record. The guarantee is then about all that one has; the
        records of a unit count by their shares.
    axis : str, optional
        What time is called, with its unit in brackets: "time (days)".
    method : Method, optional
        `EventCounts` with other numbers of bins. Default: chosen from n and epsilon.
    neighbors : "replace" or "add-remove"
        Whether the number of records is public, or protected too.
    invalid : "raise" or "center"
        What an unusable record (a missing, infinite or negative time, an event that is neither 0 nor 1) does: it stops
        the run, or it counts as censored at 0.
    n : int or mapping, optional
        The public number of records (of each group); with ``add-remove`` a guess, which must be given.
    ledger : Ledger or path, optional
        What is charged, before noise is drawn.
    query : str
        The name of the release in the ledger and in its statement.
    record : str, optional
        What one record is called, such as ``record="home"``, or ``"person/people"`` for a plural of its own.

    Returns
    -------
    SurvivalRelease
        Or, with groups, a GroupRelease: one SurvivalRelease for each.

    Raises
    ------
    dpfda.errors.ParameterError
        Where an argument is wrong. Nothing is charged then.
    dpfda.errors.RecordError
        Where a record is wrong and ``invalid="raise"``. Nothing is charged then.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> days, died, _ = dp.datasets.survival(2000, np.random.default_rng(0))
    >>> release = dp.survival(days, died, epsilon=1.0, horizon=900, axis="time (days)")
    >>> release(0), 0.3 < release(900) < 0.6
    (np.float64(1.0), np.True_)
    """
    check_guess(n, neighbors)
    check_choice("invalid", invalid, INVALID)
    if by is None and groups is not None:
        raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per record>.")
    rule, units = split_unit(unit)
    facts: dict[str, Any] = {
        "epsilon": epsilon, "horizon": horizon, "method": method, "neighbors": neighbors, "invalid": invalid,
        "unit": rule, "axis": axis, "record": record,
    }  # fmt: skip

    def plan_for(size: int | None) -> SurvivalPlan:
        return SurvivalPlan(n=PLACEHOLDER if size is None else size, **facts)

    plan_for(None)  # a wrong fact is refused before anything is read
    curves = as_curves(times if events is None else paired(times, events))
    curves.check_rules(None, None, None)  # times are what they are
    request = Request(plan_for, neighbors, n, ledger, query)
    if by is None:
        return request.release(FromRecords(curves, units))
    return request.release_groups(lambda names: FromGroupedRecords(curves, units, by=by, groups=names), groups)


def paired(times: object, events: object) -> np.ndarray:
    """Times and events as rows; a cell that is no number stays what it is, and is judged alone when it is read."""
    if isinstance(times, Curves) or is_path(times) or isinstance(events, str):
        raise ParameterError("events go with times in memory", "a file, or the name of a column", TWO)
    columns = [_column(times, "times"), _column(events, "events")]
    if len(columns[0]) != len(columns[1]):
        raise RecordError("Times and events must have the same length", cure=TWO)
    if all(column.dtype.kind in "fiub" for column in columns):
        with np.errstate(all="ignore"):  # what a value does in a cast is nobody's business
            return np.column_stack([column.astype(float) for column in columns])
    rows = np.empty((len(columns[0]), 2), dtype=object)
    rows[:, 0], rows[:, 1] = columns
    return rows


def _column(values: object, what: str) -> np.ndarray:
    """A vector; durations and dates have no unit that could be guessed."""
    if isinstance(values, Sequence) and not isinstance(values, bytes | bytearray | memoryview):
        column = np.empty(len(values), dtype=object)  # an array of these would read one by what another holds
        for place, value in enumerate(values):
            column[place] = None if isinstance(value, np.timedelta64) else value
        if all(isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating) for value in column):
            with suppress(Exception), np.errstate(all="ignore"):  # one that no float holds: each is read alone
                column = column.astype(float)
    else:
        column = unmasked(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if column.ndim != 1:
        raise RecordError(f"The {what} must be a list of numbers, of one dimension", cure=TWO)
    if column.dtype.kind in "mM":
        cure = "Divide durations by their unit: times / np.timedelta64(1, 'D')."
        raise RecordError(f"The {what} must be numbers, not durations or dates", cure=cure)
    return column
