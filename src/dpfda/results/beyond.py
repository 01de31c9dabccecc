"""Whether most curves reach beyond the bound, as far as released numbers tell.

Where all curves are beyond the bound no radius on offer holds any, and a small one is chosen for its price. That also
happens where the bound is very much too large. So something else must agree: the mean reaches all of that radius and
what was left out may be all that can be measured, or curves fill all of the length up to which they are measured. All
of it was released already, so saying it costs no privacy (derivations: honest bands).
"""

from __future__ import annotations

from dpfda.results.mean_bands import SEEN, Evidence

TOO_SMALL = "Most curves reach beyond the bound: it is too small. Plan again with a larger one."
NOT_MEASURED = (
    "Nothing was measured about the bound that could tell whether it is too small: if many curves reach beyond it, the "
    "release is too flat and does not say so."
)
#: From these shares of the chosen radius on, and of the public one, a mean lies at its edge.
AT_THE_RADIUS, AT_THE_BOUND = 0.85, 0.8
#: Below this n epsilon a radius that holds no curve may be a slip, and its draw tells nothing.
ENOUGH = 80.0
#: How much of a mean's reach, as a square, may be noise: beyond, it tells nothing.
MOST_NOISY = 0.2
#: Curves that are nearly all cut fill more than this of the length they are cut to, as a mean square, by more than the
#: noise; which tells nothing where its standard deviation is larger than this.
FILLED, MOST_NOISE = 0.65, 0.3


def words_about(too_small: bool | None) -> str:
    """What a statement says of the bound; nothing where all is well."""
    return NOT_MEASURED if too_small is None else TOO_SMALL if too_small else ""


def beyond_the_bound(evidence: Evidence, of_radius: float, of_bound: float, strength: float) -> bool | None:
    """Whether most curves reach beyond the bound; None where nothing was measured that could tell.

    `of_radius` is the share of the private radius (the public one where there is none) that the mean reaches, without
    its noise, `of_bound` the share of the public one that the published mean reaches; `strength` is n epsilon.
    """
    tells = evidence.chosen and strength >= ENOUGH
    if not tells and evidence.left is None:
        return None
    left = evidence.left
    seen = left is not None and left.drawn > SEEN * left.scale
    if evidence.lost and seen and (evidence.smallest or of_bound > AT_THE_BOUND):
        return True
    if not (evidence.smallest and tells):
        return False
    if evidence.lost and of_radius > AT_THE_RADIUS:
        return True
    return _all_filled(evidence, of_radius)


def _all_filled(evidence: Evidence, of_radius: float) -> bool:
    """Whether curves are cut all around the centre, so that neither their mean nor what it leaves out shows it."""
    if evidence.filled is None:
        return False
    mean_square, sd = evidence.filled
    common = of_radius**2 if evidence.about is None else 0.0  # sizes about the public centre hold the mean's own
    return sd < MOST_NOISE and mean_square - common - sd > FILLED
