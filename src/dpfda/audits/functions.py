"""The neighbour contract, applied to a function of a record: yours, before it meets data."""

from __future__ import annotations

import numpy as np

from dpfda.audits.people import hostile, space_of
from dpfda.bounds.functions import RecordFunction
from dpfda.bounds.units import Range
from dpfda.core.errors import ParameterError
from dpfda.methods import KNorm
from dpfda.plans import MeanPlan
from dpfda.problems.mean import MeanProblem
from dpfda.spaces.grid import AnyGrid

#: Invented records beside hostile ones, and the others among whom they are tried.
RECORDS, OTHERS, SEED = 24, 8, 20261101


def check_function(function: RecordFunction, grid: AnyGrid | int) -> float:
    """Try a function of a record on hostile and ordinary records, through the code that real data would go through.

    It must give the same bits for a record alone, among others, in another order and again; its values must stay within
    its bound; and no neighbour, replaced or added, may lose more than epsilon. The last cannot fail, whatever the
    function does: its values are clipped.

    Parameters
    ----------
    function : RecordFunction
        The function.
    grid : Grid, a product of grids, or int
        Where records have their values; a number of points lies on [0, 1].

    Returns
    -------
    float
        The largest privacy loss that was found, as a share of epsilon.

    Raises
    ------
    dpfda.errors.ParameterError
        Where it breaks one of these rules.

    Examples
    --------
    >>> import dpfda as dp
    >>> 0.5 < check_function(dp.Above(140), grid=24) <= 1
    True
    """
    plans = [
        MeanPlan(n=OTHERS + 1, epsilon=1, grid=grid, of=function, method=KNorm(), neighbors=relation, invalid="center")
        for relation in ("replace", "add-remove")
    ]
    problem, rng = plans[0].problem, np.random.default_rng(SEED)
    space = space_of(problem)
    usual = np.vstack([space.inside(rng, RECORDS // 2), space.scattered(rng, RECORDS // 2)])
    records = np.vstack([*(record for _, record in hostile(usual.shape[1])), usual, space.low, space.high])
    _check_alone(problem, function, records, rng)
    _check_bound(problem, function, records)
    loss = max(_largest_loss(plan, records, usual[:OTHERS]) for plan in plans)
    if not loss <= 1:
        raise ParameterError(
            "neighbours lose at most epsilon", f"{loss:.9g} times that", "Report it: it is our mistake."
        )
    return loss


def _check_alone(problem: MeanProblem, function: RecordFunction, records: np.ndarray, rng: np.random.Generator) -> None:
    """Bits do not depend on company, on order or on what came before."""
    assert problem.alignment is not None
    each = problem.alignment.each
    together, order = each(records), rng.permutation(len(records))
    others = {
        "alone": np.vstack([each(record[None]) for record in records]),
        "in another order": each(records[order])[np.argsort(order)],
        "twice in a row": each(np.repeat(records, 2, axis=0))[1::2],
    }
    for how, found in others.items():
        if not np.array_equal(found, together, equal_nan=True):
            raise ParameterError(
                "a function looks at one record and at nothing else, and keeps nothing between calls",
                f"other values of {type(function).__name__} for a record {how}",
                "Compute them from `values` and `grid` alone.",
            )


def _check_bound(problem: MeanProblem, function: RecordFunction, records: np.ndarray) -> None:
    """Values stay within the bound that the function brings, and encoded ones within the lattice body anyway."""
    assert problem.alignment is not None
    found, bound, name = problem.alignment.each(records), function.bound, type(function).__name__
    values = found[np.isfinite(found).all(axis=1)]
    if not len(values):
        raise ParameterError("a function gives numbers for some records", "none", f"Change encode of {name}.")
    if isinstance(bound, Range) and (values.min() < bound.low or values.max() > bound.high):
        rule = f"values of {name} lie between {bound.low:g} and {bound.high:g}, as its bound says"
        raise ParameterError(rule, "others for an invented record", "Change its bound, or what it gives.")
    encoded = problem.encode(found)
    if not np.array_equal(problem.bound.clip_lattice(encoded), encoded):
        raise ParameterError("encoded records lie inside the bound", "others", "Report it: it is our mistake.")


def _largest_loss(plan: MeanPlan, records: np.ndarray, others: np.ndarray) -> float:
    """Of every record against the next, or against none, among the same others."""

    def statistic(*more: np.ndarray) -> np.ndarray:
        return plan.statistic(plan.summarize(np.vstack([others, *more])))

    found = [statistic(record) for record in records]
    partners = [statistic()] * len(found) if plan.problem.count_is_private else [*found[1:], found[0]]
    return max(plan.loss(one - two) for one, two in zip(found, partners, strict=True))
