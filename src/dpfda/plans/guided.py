"""How a regression works by default: find the scale, find the centre, spend the rest there, shrink by Bayes.

First a radius that holds most responses, however large the public bound is. Then, by how many records there are for
each coefficient function: the mean alone (slopes could not be told from noise), the mean and then what residuals about
it show, or moments and twice residuals. All of it is decided before data.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpfda.plans.settled import Guided

if TYPE_CHECKING:
    from dpfda.plans.moments import MomentPlan

    Regression: TypeAlias = MomentPlan[Any]  # of any release

#: The rule that plans are made by now. Files of older plans name none, and mean what they meant.
RULE = 2
#: The same with a check for bands in the last stage, which regressions of curves have now.
CHECKED = 3
#: Slopes are looked for from this many records times epsilon on, for each coefficient function, and four stages of
#: moments serve better than a mean and its residuals from that many on. Measured: on invented curves with 1, 2 and 5
#: covariates of four kinds slopes pay from about 100 on, on real ones from 150 to 250 (they are smaller there).
SLOPES, MANY = 150.0, 500.0
#: The radius gets this much over the root of n times epsilon (less where more stages follow), and a fourth at most.
RADIUS, RADIUS_BEFORE_MOMENTS, MOST_RADIUS = 2.0, 1.0, Fraction(1, 4)
#: It leaves out up to this share of the responses, and fewer the more there are (fewer still before moments, whose
#: corrections start from there); an octave more costs as many records as noise may misplace (in units of one over
#: epsilon), and no more than a tenth of them.
OUTSIDE, OUTSIDE_ROOT, BEFORE_MOMENTS, OCTAVE, MOST_OCTAVE = 0.3, 3.0, 0.5, 4.0, 0.1
#: Radii on offer for responses, and for residuals: each the last over the root of two.
STEPS, RESIDUAL_STEPS = 11, 18
#: Residuals left out when theirs is chosen.
RESIDUALS_OUTSIDE = Fraction(3, 20)
#: Shares of what the radius leaves: of the mean where slopes are first looked for (less and less from there on, as the
#: root of records), of the first moment, of the size of residuals. On four real sets a mean of .3 is worse.
MEAN, FIRST, SIZE = 0.5, Fraction(3, 20), Fraction(1, 10)
#: The same of a private number of records: it multiplies the mean, so that a few percent of error do no harm.
COUNT = Fraction(1, 20)
#: Functions of the mean and of residuals, over the root of n times their epsilon (and over rows, for residuals): where
#: ball noise on one more costs what a curve of middling roughness has there.
MEAN_FUNCTIONS, RESIDUAL_FUNCTIONS = 0.8, 0.25
#: Weight of no signal at all, before anything is seen; and the same where there are next to no records.
NOTHING, NOTHING_OF_FEW, FEW = 0.8, 0.9, 30.0


def records(plan: Regression) -> float:
    """The number of records times epsilon: what everything here is decided by."""
    return plan.n * float(plan.epsilon)


def nothing(plan: Regression) -> float:
    """Prior weight of no signal."""
    return NOTHING_OF_FEW if records(plan) < FEW else NOTHING


def outside(plan: Regression, guided: Guided) -> Fraction:
    """The share of responses that a radius may leave out."""
    root = OUTSIDE_ROOT if guided.moments is None else BEFORE_MOMENTS
    return Fraction(round(1000 * min(OUTSIDE, root / sqrt(records(plan) * float(guided.left)))), 1000)


def price(plan: Regression, share: Fraction) -> float:
    """What an octave of radius more costs, in records."""
    return min(OCTAVE / float(plan.epsilon * share), MOST_OCTAVE * plan.n)


def ladder(largest: float, steps: int) -> np.ndarray:
    """Radii on offer, the smallest first."""
    values: np.ndarray = largest * 2.0 ** (-np.arange(steps)[::-1] / 2)
    return values


def settle(plan: Regression) -> Guided:
    """The way, its shares and its functions."""
    x = records(plan)
    way = plan.way(x)
    root = RADIUS_BEFORE_MOMENTS if way == "moments" else RADIUS
    radius = (
        Fraction(0) if plan.radius_is_public else Fraction(round(1000 * min(float(MOST_RADIUS), root / sqrt(x))), 1000)
    )
    check = (1 - radius) * plan.check_share if way != "mean" else Fraction(0)
    left = 1 - radius - check
    if way == "moments":
        moments = plan.moments_for(1 - radius)
        if moments.passes == 1 or not check:  # in one pass nothing is left that a check could go with
            return Guided(way, radius, moments=moments)
        return Guided(way, radius, moments=plan.moments_for(left, 4), check=check)
    count_share = left * COUNT if plan.problem.count_is_private else Fraction(0)
    mean = left - count_share
    if way != "mean":
        mean = left * Fraction(round(100 * MEAN * sqrt(SLOPES * plan.design.size / x)), 100)
    most = plan.response.size
    count = min(most, max(3, round(MEAN_FUNCTIONS * sqrt(x * float(mean)))))
    if way == "mean":
        return Guided(way, radius, count_share, mean, components=count)
    first, size = left * FIRST, left * SIZE
    last = float(left - count_share - mean - first - size)
    refined = min(most, max(1, round(RESIDUAL_FUNCTIONS * sqrt(x * last / plan.design.size))))
    return Guided(way, radius, count_share, mean, first, size, count, refined, check=check or None)


def expected_risk(plan: Regression, guided: Guided) -> float:
    """Expected squared error of predictions under the public guesses: shrinkage leaves no more than the signal."""
    if guided.moments is not None:
        return plan.risk_of(guided.moments, guided.left)
    forecast = plan.forecast
    centre = forecast.signal * float(forecast.energies[0] / forecast.energies.sum())
    far = forecast.problem.diameter * forecast.problem.response.outer / float(plan.epsilon * guided.mean)
    noise = guided.components * (guided.components + 1) * far**2
    alone = forecast.signal - centre + centre * noise / (noise + centre)
    if guided.way == "mean":
        return alone
    return min(alone, forecast.refined(guided.refined, float(guided.last), alone, float(guided.first)))


def words(guided: Guided) -> str:
    """What is done in which order, for which share of the budget, and why."""
    found = []
    if guided.radius:
        found.append(
            f"First a radius that holds most responses is chosen privately ({guided.radius} of epsilon), so that a "
            "loose bound costs little."
        )
    if guided.way == "mean":
        found.append(
            f"Then the mean response is released ({guided.mean}). There are too few records for slopes: they stay at "
            f"zero, since noise would make them worse (fewer than {SLOPES:g} records times epsilon for each function)."
        )
    elif guided.way == "residuals":
        found.append(
            f"Then the mean response ({guided.mean}) and the first moment of the inputs ({guided.first}), the size of "
            f"residuals about the mean ({guided.size}), and the moments of residuals clipped to it ({guided.last})."
        )
    if guided.count:
        found.append(f"The number of records is private and released with it ({guided.count}).")
    if guided.check and guided.moments is None:
        found.append(check_words(guided))
    if guided.moments is None:
        found.append(
            "What was drawn is shrunk to its posterior mean, for signals of every size and smoothness: what looks like "
            "noise becomes zero. These shares add up to epsilon."
        )
    return " ".join(found)


def check_words(guided: Guided) -> str:
    """What the check for bands is, for its share."""
    return (
        "With the last of them leave the lengths of what they leave out and the energies of residuals, for bands "
        f"({guided.check} of epsilon)."
    )
