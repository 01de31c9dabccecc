"""Whether a bound suits a public guess of the curves: too tight, too loose, or right.

Public things alone: the bound, the grid and the guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.bodies import Bound, L2Ball
from dpfda.bounds.units import Range, root_length
from dpfda.core.errors import ParameterError, shown
from dpfda.results.wording import number
from dpfda.spaces.grid import AnyGrid

#: A curve, a level, or a range in which curves usually lie.
Guess: TypeAlias = ArrayLike | Range
#: Where a guess says nothing of how far curves stray, they lie so many times as far from the centre as their mean.
STRAY = 1.8
#: Curves of which a level is all that is guessed stray by this share of it, at least.
LEVEL = 0.25
#: A bound is too loose from this many times what the guess needs.
LOOSE = 4.0
#: A cost below this is not worth a word.
LITTLE = 1.1


@dataclass(frozen=True)
class GuessedCurves:
    """How far guessed curves lie from the centre of a bound, as root mean squares over the domain."""

    center: np.ndarray
    #: Typical curves, and the furthest that the guess lets expect.
    typical: float
    furthest: float
    #: What to compare errors with, and its name.
    size: float
    size_name: str
    #: The values between which nearly all of them lie.
    low: float
    high: float

    @property
    def size_about(self) -> float:
        """How far from the centre a curve is taken to lie where errors are forecast."""
        return max(self.typical, self.furthest / 2)

    @classmethod
    def of(cls, guess: Guess, bound: Bound, grid: AnyGrid) -> GuessedCurves:
        center, shares = bound.center_on(grid.size), grid.weights / grid.weights.sum()
        if isinstance(guess, Range):
            half, middle = (guess.high - guess.low) / 2, (guess.high + guess.low) / 2
            typical = np.sqrt(shares @ (middle - center) ** 2 + half**2 / 3)  # as if values were spread evenly
            furthest = np.sqrt(shares @ (np.abs(middle - center) + half) ** 2)
            return cls(
                center, float(typical), float(furthest), half, "half the guessed range", guess.low - half,
                guess.high + half,
            )  # fmt: skip
        values = _on_grid(guess, grid)
        away = float(np.sqrt(shares @ (values - center) ** 2))
        level = float(shares @ values)
        if np.ndim(guess) == 0:
            size, name = abs(level), "the guessed level"
            if not size:
                raise ParameterError(
                    "a guess of nothing has no size", shown(guess), "Pass the range that curves lie in."
                )
        else:  # a mean: errors are compared with its own variation
            size, name = float(np.sqrt(shares @ (values - level) ** 2)), ""
        furthest = STRAY * max(away, size * (1.0 if np.ndim(guess) else LEVEL))
        room = max(furthest - away, away)
        return cls(center, away, furthest, size, name, float(values.min()) - room, float(values.max()) + room)


def _on_grid(guess: ArrayLike, grid: AnyGrid) -> np.ndarray:
    try:
        values = np.asarray(guess, dtype=float).ravel()
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    values = np.full(grid.size, values[0]) if np.ndim(guess) == 0 else values
    if values.shape != (grid.size,) or not np.isfinite(values).all() or isinstance(guess, bool | str):
        raise ParameterError(
            f"a guess is a finite number, dp.Range(low, high), or one value for each of {grid.size} grid points",
            f"shape {np.shape(guess)}" if np.ndim(guess) else shown(guess),
            "Evaluate a curve on plan.grid.points.",
        )
    return values


@dataclass(frozen=True)
class BoundFit:
    """What a bound is for a guess: "too tight", "tight", "right" or "too loose", and the same in a sentence."""

    word: str
    sentence: str


def bound_fit(
    guess: Guess, bound: Bound, grid: AnyGrid, cost_over: Callable[[L2Ball], float] | None = None
) -> BoundFit:
    """Whether a bound suits a guess; `cost_over` says how many times the error is that of a smaller ball."""
    curves, radius = GuessedCurves.of(guess, bound, grid), bound.outer / root_length(grid)
    reach = f"{number(radius)} (root mean square)"
    wider = f"Values between {number(curves.low)} and {number(curves.high)} would hold them."
    if curves.typical > radius:
        far = f"curves like that typically lie {number(curves.typical)} from its centre, and it ends at {reach}"
        return BoundFit("too tight", f"The bound is too tight for the guess: {far}, so most would be cut. {wider}")
    if curves.furthest > radius * (1 + 1e-9):
        if isinstance(guess, Range):
            far = f"some curves like that lie {number(curves.furthest)} from its centre, and it ends at {reach}"
            return BoundFit("tight", f"The bound is tight for the guess: {far}.")
        far = (
            f"a mean that lies {number(curves.typical)} from its centre often has curves beyond {reach}, where it ends"
        )
        return BoundFit("tight", f"The bound may be tight for the guess: {far}. If yours have none there, it is right.")
    if curves.furthest == 0:
        return BoundFit("right", "The bound holds the guess, which is its very centre.")
    if radius > LOOSE * curves.furthest:
        times = radius / curves.furthest
        said = f"The bound is likely too loose for the guess: it is {times:.2g} times what curves like that need"
        if cost_over is None:
            return BoundFit("too loose", f"{said}. {wider}")
        cost = cost_over(L2Ball(curves.furthest * root_length(grid), bound.center))
        price = f"and the error about {cost:.2g} times as large as with one that fits"
        price = "which costs little here" if cost < LITTLE else price
        return BoundFit("too loose", f"{said}, {price}. {wider}")
    return BoundFit("right", f"The bound suits the guess: curves like that lie within {reach} of its centre.")
