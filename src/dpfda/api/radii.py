"""`dp.suggest_radius`: a radius for a bound, where none is known."""

from __future__ import annotations

from typing import cast

from dpfda.api.releasing import release_curves, verb
from dpfda.api.types import Epsilon, GridLike, Invalid, LedgerLike, Neighbors, UnitLike
from dpfda.bounds import BallLike
from dpfda.plans.radius import RadiusPlan
from dpfda.reading.curves import Records
from dpfda.results.radius import RadiusRelease


@verb
def suggest_radius(
    curves: Records,
    *,
    epsilon: Epsilon | None = None,
    bound: BallLike | None = None,
    quantile: float = 0.95,
    smallest: float | None = None,
    unit: UnitLike | None = None,
    grid: GridLike | None = None,
    standardize: bool = False,
    neighbors: Neighbors = "replace",
    invalid: Invalid = "raise",
    n: int | None = None,
    ledger: LedgerLike | None = None,
    query: str = "radius",
    record: str | None = None,
) -> RadiusRelease:
    """A radius for a bound: a private quantile of the curves' norms, looked for within a wide public `bound`.

    Name a bound that surely holds the curves, in their units: `dp.Range(0, 400)`. What is bought is a smaller radius
    about the same centre, for `epsilon`, which is charged like any release's. How far off it can be is known before
    (see :class:`plans.RadiusPlan`); where it could be anything, it is refused and nothing is charged. A good bound is
    worth a tenth of the budget; it need not hold every curve.

    .. versionchanged:: 0.2
        `bound` takes the place of `center` and `largest`, and is required.

    Parameters
    ----------
    curves : Curves or anything that :func:`read` takes
        One record per person: an array, a table, a path, a Dask or Spark collection.
    epsilon : float or str
        The privacy budget. It has no default: it is a decision.
    bound : Range, RMS or L2Ball
        A public bound that surely holds the curves: it gives the centre, and the largest radius. It has no default and
        is never read from data.
    quantile : float
        The share of curves that the ball should hold. Default: 0.95.
    smallest : float, optional
        The smallest radius on offer, public. The closer it is to the bound's, the fewer records or the less epsilon it
        takes. Default: a 32nd of the bound's.
    unit : str, Unit or sequence, optional
        Whose a curve is: a column, a rule, or one label per curve. The guarantee is then about all that one has.
    grid : Grid, int or "header", optional
        Where the values of a curve are; "header": at the numbers that name their columns. Default: equally spaced on
        [0, 1], or what the data itself says.
    standardize : bool
        Whether each curve has its own mean removed and is divided by its own norm.
    neighbors : "replace" or "add-remove"
        Whether the number of records is public, or protected too.
    invalid : "raise" or "center"
        Whether an unusable curve stops the run (outside the guarantee), or counts as the public centre.
    n : int, optional
        The public number of curves; with ``add-remove`` a guess, which must be given.
    ledger : Ledger or path, optional
        What is charged, before noise is drawn.
    query : str
        The name of the release in the ledger and in its statement.
    record : str, optional
        What one record is called, such as ``record="home"``, or ``"person/people"`` for a plural of its own.

    Returns
    -------
    RadiusRelease
        A number that is public now; its ``bound`` is the ball.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or records and epsilon are too few for any radius to mean something.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> curves = np.random.default_rng(0).uniform(0, 1, (2000, 24))
    >>> radius = dp.suggest_radius(curves, epsilon=0.2, bound=dp.Range(-10, 11))
    >>> radius.bound.radius < 2.0
    True
    >>> dp.mean(curves, epsilon=0.8, bound=radius.bound).grid.size
    24
    """
    facts = {
        "epsilon": epsilon, "bound": bound, "quantile": quantile, "smallest": smallest, "neighbors": neighbors,
        "invalid": invalid, "standardize": standardize, "record": record,
    }  # fmt: skip
    return cast(RadiusRelease, release_curves(RadiusPlan, curves, facts, grid, unit, n, None, None, ledger, query))
