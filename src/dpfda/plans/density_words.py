"""A plan of a density in words: its domain, how sure its sensitivity is, and what its numbers are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpfda.bounds.diameter import EXACT
from dpfda.core.nouns import Nouns
from dpfda.methods import Histogram
from dpfda.results.wording import AccuracyWords, Wording

if TYPE_CHECKING:
    from dpfda.plans.density import DensityPlan

#: What the expected risk counts, and what the guarantee rests on.
RISK = "noise, sampling and bias, as left by shrinkage, over a public class of densities"
HOLDS = "The guarantee holds whatever the data is; only accuracy depends on the domain being a good one."


def density_wording(plan: DensityPlan) -> Wording:
    """How a plan of a density is spoken of."""
    sides = " x ".join(f"[{low:g}, {high:g}]" for low, high in plan.domain)
    if plan.edges is None:
        resolution = f"{' x '.join(map(str, plan.cells))} cells"
    else:
        resolution = f"{' x '.join(str(len(e) - 1) for e in plan.edges)} bins on {np.prod(plan.cells):,} cells"
    exact = np.prod(plan.problem.bins) <= EXACT
    certificate = "exact: all pairs compared" if exact else f"certified, within {plan.sensitivity_gap:.2f} of exact"
    if isinstance(plan.chosen, Histogram):
        certificate = "exact: a point is in one bin of each round"
    rows = (
        ("domain", f"{sides}, {resolution}"),
        ("sensitivity", certificate),
        *((("bandwidth", ", ".join(f"{h:.3g}" for h in plan.bandwidths)),) if plan._uses_kernel else ()),
    )
    stray = "is refused" if plan.invalid == "raise" else "is unusable"
    outside = "is moved to its edge" if plan.outside == "clip" else stray
    return Wording(
        noun="density",
        release=f"density in {plan.dimension} dimension{'s' if plan.dimension > 1 else ''}",
        nouns=Nouns.of("point", plan.record),
        target="density",
        assumption=f"Each point is placed in one cell of a public grid ({rows[0][1]}) before it is used; a point "
        f"outside the domain {outside}. {HOLDS}",
        unusable="counts as spread evenly over the domain",
        rows=rows,
        method=repr(plan.chosen),
        numbers=plan.schedule.numbers_text,
        accuracy=AccuracyWords(plan, float(1 / np.sqrt(plan.grid.volume)), "the uniform density's norm", RISK),
        kernel=repr(plan.kernel) if plan._uses_kernel else "",
        passes=plan.schedule.explanation(),
        basis=_basis_words(plan),
    )


def _basis_words(plan: DensityPlan) -> str:
    """What coefficients are of; counts in bins are none."""
    if isinstance(plan.chosen, Histogram):
        return ""
    reach = ", ".join(f"{h:.3g}" for h in plan.bandwidths)
    kernel = f", with the eigenvalues of the {type(plan.kernel).__name__} kernel of bandwidth {reach}"
    return f"the cosines on the domain other than the constant{kernel if plan._uses_kernel else ''}"
