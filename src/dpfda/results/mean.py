"""A released mean curve or surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpfda.results.base import Release

if TYPE_CHECKING:
    from dpfda.plans.mean import MeanPlan


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeanRelease(Release):
    """A mean curve or surface under differential privacy: what :func:`dpfda.mean` returns.

    Parameters
    ----------
    plan : MeanPlan
        The plan that was carried out.
    coefficients, raw, query, created, study, entry, seal, steps, order, drawn
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> curves = np.sin(np.linspace(0, 6, 40)) * np.ones((500, 1))
    >>> release = dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> lower, upper = release.confidence_band(0.95)
    >>> bool((lower < upper).all())
    True
    """

    plan: MeanPlan
