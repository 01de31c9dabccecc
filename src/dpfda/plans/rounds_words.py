"""Rounds in words: what is done in each draw, and what came of the private choices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpfda.methods import Staged
from dpfda.plans.shares import COUNT, Cost

#: The draws in words.
WORDS = {
    "radius": "a private choice of the radius that holds most curves, by permute and flip",
    "centre": "a rough centre",
    "choose": "a private choice of the ellipsoid about it that holds most curves, by permute and flip",
    "refine": "the mean of curves clipped to an ellipsoid about the centre so far",
    "vary": "how much curves vary, for confidence bands",
    "check": "how much of the mean was left out, for all bands",
}


#: The same for a table of shares.
STEPS = {
    "radius": "a radius that holds most curves",
    "centre": "a rough centre",
    "choose": "an ellipsoid about the centre that holds most curves",
    "refine": "the mean of curves clipped about the centre",
    "vary": WORDS["vary"],
    "check": WORDS["check"],
}


def costs(method: Staged, epsilon: Fraction, count: Fraction) -> list[Cost]:
    """What each draw costs, and in which pass it is; `count` is for a private count, beside what draws divide."""
    found, reading, one_round = [], 0, len(method.shares) == 1
    for number, step in enumerate(method.steps):
        reading = 1 if one_round else reading + (step not in ("vary", "check"))
        words = "the mean of clipped curves" if one_round and step == "centre" else STEPS[step]
        found.append(Cost(words, reading, epsilon * method.share(number)))
        found += [Cost(COUNT, reading, count)] if step == "centre" else []
    return found


def explanation(method: Staged, count_is_private: bool) -> str:
    """What is done in each pass, for which share of the budget."""
    steps, one_round = [], len(method.shares) == 1
    for number, step in enumerate(method.steps):
        words = WORDS[step]
        if one_round and step == "centre":
            words = f"the mean of curves clipped to {'it' if method.radius else 'the bound'}"
        steps.append(f"{words} ({method.share(number)} of epsilon)")
    count = (
        f" {method.count_share} of epsilon goes to the private count first; these are shares of the rest."
        if count_is_private
        else ""
    )
    draws = "; ".join(steps)
    if one_round:
        return f"The data is read once, for {len(steps)} draws: {draws}. The shares of epsilon add up.{count}"
    spread = (
        f"Curves stray from their mean by at most {method.spread:g}: a public assumption, for accuracy only."
        if method.spread is not None
        else "How far curves stray from their mean is found privately."
    )
    return (
        f"The data is read {method.passes} times, for {len(steps)} draws: {draws}. Each time every record is clipped "
        f"again, alone, and the shares of epsilon add up.{count} {spread}"
    )


def outcome(noise: float, radius: float | None, axes: np.ndarray | None) -> str:
    """What the private choices came to: the radius that was found, and the last ellipsoid."""
    size = f"the noise has a root mean squared L2 size of {noise:.3g}"
    found = "" if radius is None else f"The radius that was found is {radius:.3g}"
    if axes is None:
        return f"{found}; with it {size}." if found else f"{size[:1].upper()}{size[1:]}."
    last = f"The last ellipsoid has semi-axes from {axes.min():.3g} to {axes.max():.3g}; with it {size}."
    return f"{found}. {last}" if found else last


def numbers(steps: tuple[str, ...], size: int, radii: int, ellipsoids: int) -> str:
    """How many numbers leave, draw by draw."""
    sizes = {
        "radius": f"one of {radii} radii",
        "centre": f"{size}",
        "choose": f"one of {ellipsoids} ellipsoids",
        "refine": f"{size}",
        "vary": "sizes of variation",
        "check": "the length of what was left out",
    }
    return ", then ".join(sizes[step] for step in steps)
