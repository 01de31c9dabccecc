"""`dp.suggest_radius`: a radius for a bound, where none is known."""

from __future__ import annotations

from typing import cast

from numpy.typing import ArrayLike

from dpfda.api.releasing import release_curves, verb
from dpfda.api.types import Epsilon, GridLike, Invalid, LedgerLike, Neighbors, UnitLike
from dpfda.plans.radius import RadiusPlan
from dpfda.reading.curves import Records
from dpfda.results.radius import RadiusRelease


@verb
def suggest_radius(
    curves: Records,
    *,
    epsilon: Epsilon | None = None,
    quantile: float = 0.95,
    center: ArrayLike | None = None,
    unit: UnitLike | None = None,
    grid: GridLike | None = None,
    smallest: float | None = None,
    largest: float | None = None,
    standardize: bool = False,
    neighbors: Neighbors = "replace",
    invalid: Invalid = "raise",
    n: int | None = None,
    ledger: LedgerLike | None = None,
    query: str = "radius",
) -> RadiusRelease:
    """A radius for a bound, where none is known: a private quantile of the curves' norms about a public `center`.

    It costs `epsilon`, which is charged like any release's. A good bound is worth a tenth of the budget; it need not
    hold every curve.

    Parameters
    ----------
    curves, epsilon, unit, grid, standardize, neighbors, invalid, n, ledger, query
        As for :func:`mean`.
    quantile : float
        The share of curves that the ball should hold.
    center : float or array, optional
        The public centre of the ball. Default: zero.
    smallest, largest : float, optional
        Where, publicly, the radius is looked for.

    Returns
    -------
    RadiusRelease
        A number that is public now; its ``bound`` is the ball.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> curves = np.random.default_rng(0).uniform(0, 1, (2000, 24))
    >>> radius = dp.suggest_radius(curves, epsilon=0.2, center=0.5)
    >>> dp.mean(curves, epsilon=0.8, bound=radius.bound).grid.size
    24
    """
    facts = {
        "epsilon": epsilon, "quantile": quantile, "center": center, "neighbors": neighbors, "invalid": invalid,
        "standardize": standardize,
    }  # fmt: skip
    facts |= {name: value for name, value in (("smallest", smallest), ("largest", largest)) if value is not None}
    return cast(RadiusRelease, release_curves(RadiusPlan, curves, facts, grid, unit, n, None, None, ledger, query))
