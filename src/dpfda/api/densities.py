"""`dp.density`: a density of points, or of a table of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from dpfda.api.releasing import PLACEHOLDER, Request, verb
from dpfda.api.types import By, DensityOptions, Epsilon, Invalid, LedgerLike, Neighbors, Outside, Sizes
from dpfda.core.checks import check_guess
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.core.labels import as_groups
from dpfda.core.nouns import check_record
from dpfda.methods import KNorm, Method
from dpfda.plans.density import DensityPlan
from dpfda.reading.curves import Records, as_curves
from dpfda.release.passes import FromGroupedRecords, FromRecords, FromSummaries
from dpfda.results.density import DensityRelease
from dpfda.results.groups import GroupRelease
from dpfda.spaces.kernels import Kernel

Edges = ArrayLike | Sequence[ArrayLike]
Domain = Sequence[tuple[float, float]]


@overload
def density(
    points: Records = None, *, epsilon: Epsilon, domain: Domain, counts: ArrayLike | None = None, by: None = None,
    n: int | None = None, **options: Unpack[DensityOptions],
) -> DensityRelease: ...  # fmt: skip
@overload
def density(
    points: Records = None, *, epsilon: Epsilon, domain: Domain, counts: Mapping[str, ArrayLike], by: None = None,
    groups: Sequence[str] | None = None, n: Sizes | None = None, **options: Unpack[DensityOptions],
) -> GroupRelease[DensityRelease]: ...  # fmt: skip
@overload
def density(
    points: Records = None, *, epsilon: Epsilon, domain: Domain, counts: None = None, by: By,
    groups: Sequence[str] | None = None, n: Sizes | None = None, **options: Unpack[DensityOptions],
) -> GroupRelease[DensityRelease]: ...  # fmt: skip
@verb
def density(
    points: Records = None,
    *,
    epsilon: Epsilon | None = None,
    domain: Domain | None = None,
    counts: ArrayLike | Mapping[str, ArrayLike] | None = None,
    by: By | None = None,
    groups: Sequence[str] | None = None,
    cells: int | Sequence[int] | None = None,
    edges: Edges | None = None,
    axes: Sequence[str] | None = None,
    kernel: Kernel | None = None,
    bandwidth: float | Sequence[float] | None = None,
    eta: float | None = None,
    method: Method | None = None,
    neighbors: Neighbors = "replace",
    invalid: Invalid = "raise",
    outside: Outside = "raise",
    n: Sizes | None = None,
    ledger: LedgerLike | None = None,
    query: str = "density",
    postprocess: bool = True,
    record: str | None = None,
) -> DensityRelease | GroupRelease[DensityRelease]:
    """Release a density of points in one to three dimensions under pure differential privacy.

    (Every method but `GaussianProcess` is pure; that one has a delta, and says so.)

    Parameters
    ----------
    points : Curves or anything that :func:`read` takes, optional
        A vector, or one row per point.
    epsilon : float or str
        The privacy budget. It has no default: it is a decision.
    domain : sequence of (low, high)
        One public range per coordinate. It has no default and is never read from data.
    counts : array or mapping, optional
        Instead of points, a table of whole numbers with bin `edges` (or one count per cell), or one table per group.
    by : str or sequence, optional
        A column of public labels, or one label per point: one release per group, for one charge.
    groups : sequence of str, optional
        The groups that there are. With ``add-remove`` they must be listed; without a list they are read from the data,
        with a warning.
    cells : int or sequence, optional
        How finely points are told apart along each coordinate.
    edges : sequence, optional
        Edges of the bins of a table of counts, for each coordinate.
    axes : sequence of str, optional
        Names of the coordinates.
    kernel, bandwidth, eta : optional
        A smoothing, for methods that smooth by a kernel.
    method : Method, optional
        Default: Histogram in one dimension; in more, whichever of KNorm and Minimax is more accurate over a public
        class of densities.
    neighbors : "replace" or "add-remove"
        Whether the number of records is public, or protected too.
    invalid : "raise" or "center"
        Whether an unusable point stops the run (outside the guarantee), or counts as spread evenly over the domain.
    outside : "raise" or "clip"
        Whether a point outside the domain is wrong, or is moved to its edge.
    n : int or mapping, optional
        The public number of points (of each group); with ``add-remove`` a guess, which must be given.
    ledger : Ledger or path, optional
        What is charged, before noise is drawn.
    query : str
        The name of the release in the ledger and in its statement.
    postprocess : bool
        Whether the release is shrunk and projected onto densities, which is free of privacy cost.
    record : str, optional
        What one record is called, such as ``record="home"``, or ``"person/people"`` for a plural of its own.

    Returns
    -------
    DensityRelease
        Or, with groups, a GroupRelease: one DensityRelease for each.

    Raises
    ------
    dpfda.errors.ParameterError
        Where an argument is wrong. Nothing is charged then.
    dpfda.errors.RecordError
        Where a record is wrong and ``invalid="raise"``. Nothing is charged then.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> ages = np.random.default_rng(0).gamma(9.0, 8.0, 3000).clip(0, 110)
    >>> dp.density(ages, epsilon=1.0, domain=[(0, 110)]).values.min() >= 0
    np.True_
    """
    _check_given(points, counts, domain)
    check_guess(n, neighbors)
    check_record(record)
    facts: dict[str, Any] = {
        "epsilon": epsilon, "domain": domain, "cells": cells, "edges": edges, "axes": axes, "kernel": kernel,
        "bandwidth": bandwidth, "eta": eta, "neighbors": neighbors, "invalid": invalid, "outside": outside,
        "postprocess": postprocess, "record": record,
    }  # fmt: skip

    def plan_for(size: int | None) -> DensityPlan:
        if size is None:  # while points are being counted the method does not matter
            return DensityPlan(n=PLACEHOLDER, method=KNorm(1) if method is None else method, **facts)
        if n is None and size < 2:
            raise RecordError("The data holds fewer than two points", cure="A density of one point is that point.")
        return DensityPlan(n=size, method=method, **facts)

    request = Request(plan_for, neighbors, n, ledger, query)
    if counts is not None:
        return _of_counts(request, counts, by, groups)
    curves = as_curves(points)
    curves.check_rules(None, None, None)  # points lie where they are
    if by is not None:
        return request.release_groups(lambda names: FromGroupedRecords(curves, by=by, groups=names), groups)
    if groups is not None:
        raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per point>.")
    if n is None:  # public under `replace`, and most sources know it
        hint = curves.source().size_hint()
        request = Request(plan_for, neighbors, hint if hint is not None and hint >= 2 else None, ledger, query)
    return request.release(FromRecords(curves))


def _check_given(points: object, counts: object, domain: Domain | None) -> None:
    if (points is None) == (counts is None):
        raise ParameterError("a density needs points or counts", "both or neither", "Pass one of them.")
    if domain is None:
        raise ParameterError(
            "a density needs a public domain", "none", "Pass domain=[(0, 110)]: it is never read from the data."
        )


def _of_counts(
    request: Request[DensityRelease],
    counts: ArrayLike | Mapping[str, ArrayLike],
    by: By | None,
    groups: Sequence[str] | None,
) -> DensityRelease | GroupRelease[DensityRelease]:
    """The same from tables of counts, which are summaries already."""
    stand_in = request.plan_for(None)
    assert isinstance(stand_in, DensityPlan)
    if by is not None:
        raise ParameterError("counts by group are a mapping", shown(by), "Pass counts={'north': [...], ...}.")
    if not isinstance(counts, Mapping):
        if groups is not None:
            raise ParameterError("groups need labels", "none", "Pass counts={'north': [...], ...}.")
        return request.release(FromSummaries({"": stand_in.summarize_counts(counts)}))
    tables = {str(name): table for name, table in counts.items()}
    if len(tables) < len(counts):
        raise ParameterError("groups must have different names", "two that are spelt alike", "Rename one.")
    names = as_groups(groups)
    if names is None and stand_in.problem.count_is_private:
        raise ParameterError(
            "with add-remove, which groups exist must be public", "no list", "Pass groups=['north', 'south', ...]."
        )
    if names is not None and (missing := set(tables) - set(names)):
        raise ParameterError("groups must hold those of the counts", shown(min(missing)), "Add it to groups.")
    nothing = np.zeros(stand_in.problem.bins, dtype=int)
    found = {name: stand_in.summarize_counts(tables.get(name, nothing)) for name in names or tables}
    return request.release_groups(lambda _: FromSummaries(found), names or tuple(tables))
