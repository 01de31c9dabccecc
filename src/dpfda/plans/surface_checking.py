"""The last pass of a covariance: how far to look beyond the clip, and what for (derivations: covariance).

The published surface is public by then, and so is the radius that held most of the records. Both say how far records
should reach, if they are spread about as Gaussian curves are; whatever reaches further is missed by the check.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy

from dpfda.bounds.bodies import L2Ball
from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.stage import Stage
from dpfda.problems.surface_check import SurfaceCheck, pieces_of
from dpfda.results.covariance_bands import NINETY, over_pieces

#: How many records the check may cut short, if records were Gaussian, over n epsilon: at a place, where what was cut is
#: counted, and of the ball, where what is missed is a tenth of the check's own noise; and no more than a tenth of them.
AT_A_PLACE, BEYOND, AT_MOST = 100.0, 25.0, 0.1
#: Below this n epsilon a private radius may hold next to no record, and the public one is taken; beyond, a share of it
#: that falls with the square. (With 1/20 of epsilon, a radius that holds a tenth of the records instead of six tenths
#: is chosen with a chance of about 45 exp(-n epsilon / 40).)
RISKY = 200.0
#: No height is below this share of the radius over the root of the domain's length: where noise has hidden a variance,
#: records still vary.
LEAST = 0.75
#: The mean's weight in either number: twice the root of the number's own noise, so that what is missed of a mean is a
#: fourth of that noise, but within these. Large ones show a centre that is slightly off, small ones miss more of it.
MEAN, PLACES, OPERATOR = 2.0, (0.5, 1.0), (0.25, 0.5)
#: Public numbers that decide an encoding are rounded to so many bits, so that no machine sees another's last bit.
BITS = 12


def check_stage(
    problem: CovarianceProblem,
    published: np.ndarray,
    bound: L2Ball,
    outside: float,
    epsilon: Fraction,
    share: Fraction,
) -> Stage:
    """The check of a `published` covariance, whose records lie in the `problem`'s ball but for a share `outside`.

    All lie in the public `bound`, if it is right.
    """
    grid, strength = problem.code.grid, problem.n * float(epsilon)
    lengths = np.bincount(pieces_of(grid.size), grid.weights)
    surface = over_pieces(problem.basis.synthesize(published).reshape(grid.size, grid.size), grid.weights)
    values = np.maximum(np.linalg.eigvalsh(problem.basis.matrix(published)), 0.0)
    freedom = max(float(values.sum()) ** 2 / max(float((values**2).sum()), 1e-300), 1.0)
    missed = min(AT_MOST, BEYOND / strength)
    further, held = scipy.special.gammaincinv(freedom / 2, 1 - np.array([missed, max(outside, missed)]))
    public = bound.radius * min(1.0, (RISKY / strength) ** 2)
    radius = float(_rounded(np.array([max(float(problem.code.bound.outer) * np.sqrt(further / held), public)]))[0])
    normal = -float(scipy.special.ndtri(min(AT_MOST, AT_A_PLACE / strength) / 2))
    spread = normal * np.sqrt(np.maximum(np.diag(surface), 0.0))
    least = LEAST * radius * np.sqrt(lengths / lengths.sum())
    heights = np.minimum(_rounded(np.maximum(spread, least)), radius)
    each = epsilon * share / 2
    noise = NINETY / (problem.n * float(each))  # what either number is off by, but for its units
    places, operator = (
        Fraction(round(64 * float(np.clip(MEAN * np.sqrt(units * noise), *within))), 64)
        for units, within in ((2.0, PLACES), (1.0, OPERATOR))
    )
    check = SurfaceCheck(problem.code, surface, radius, heights, (places, operator))
    return check.stage((each, each))


def _rounded(values: np.ndarray) -> np.ndarray:
    """To a few bits, upwards."""
    fraction, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.ceil(fraction * 2.0**BITS), exponent - BITS))
