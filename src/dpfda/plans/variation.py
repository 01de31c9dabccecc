"""How much curves vary about their mean: a last stage for confidence bands, and what its draws (and a check) come to.

Sizes of variation are told apart by block of frequencies and by piece of the domain (derivations: stages).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
import scipy

from dpfda.bounds.bodies import Ellipsoid
from dpfda.noise import Laplace
from dpfda.problems.ellipsoid_stages import VaryProblem
from dpfda.problems.left_out import LeftOutProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part, Stage
from dpfda.problems.together import Together
from dpfda.results.mean_bands import Evidence, Length

if TYPE_CHECKING:
    from dpfda.plans.rounds import Rounds

#: Sizes of variation are measured up to this many times the squared distance that the last ellipsoid was made for.
FURTHER = 1.5
#: Pieces of the domain in which variation is told apart: one for each of this many records times epsilon.
FOR_A_PIECE, FEWEST_PIECES, MOST_PIECES = 20.0, 4, 24
#: The same where there is one round, which has less of both: from one piece up to four.
FOR_A_HALF = 10.0


def vary_about(inner: MeanProblem, starts: tuple[int, ...], epsilon: Fraction, by_frequency: bool) -> VaryProblem:
    """Sizes of variation about the centre of the last of several rounds; earlier plans asked by frequency as well."""
    cuts = _cuts(inner, float(np.clip(inner.n * float(epsilon) / FOR_A_PIECE, FEWEST_PIECES, MOST_PIECES)))
    return VaryProblem(inner, starts if by_frequency else (), reference_of(inner, starts), cuts)


def vary_in_one_round(inner: MeanProblem, epsilon: Fraction) -> VaryProblem:
    """Sizes of curves about the public centre, where no other centre was found."""
    cuts = _cuts(inner, float(np.clip(inner.n * float(epsilon) / FOR_A_HALF, 1, FEWEST_PIECES)))
    return VaryProblem(inner, (), inner.bound.outer, cuts)


def reference_of(inner: MeanProblem, starts: tuple[int, ...]) -> float:
    """The distance from the centre up to which variation is measured: somewhat beyond the last ellipsoid."""
    sizes = np.diff((*starts, inner.basis.size))
    axes, weights = cast(Ellipsoid, inner.bound).axes[list(starts)], np.sqrt(sizes * (sizes + 1))
    return float(np.sqrt(FURTHER * (axes**3 * weights).sum() / (axes * weights).sum()))


def variation_stage(problem: VaryProblem, epsilon: Fraction, together: Together | None, place: int) -> Stage:
    """The stage that draws the sizes; where there are two lists of them, each costs half of epsilon."""
    blocks, parts = len(problem.starts), []
    lists = [where for where in (np.arange(blocks), np.arange(blocks, problem.size)) if where.size]
    for where in lists:
        sensitivity, ones, share = problem.sensitivity.restricted(where), np.ones(where.size), epsilon / len(lists)
        scales = ones * (sensitivity.support(ones) / float(share))
        parts.append(Part(where, ones, Laplace.calibrated(share, scales, ones, sensitivity, ones)))
    return Stage(problem, tuple(parts), together, place)


def _cuts(inner: MeanProblem, pieces: float) -> tuple[int, ...]:
    """Into how many pieces each axis is cut to see where curves vary: as many as noise lets us tell apart."""
    grid = inner.grid
    most = (pieces / grid.count) ** (1 / len(grid.domain.axes))
    cuts = tuple(min(max(1, int(most)), axis.size) for axis in grid.domain.axes)
    return cuts if grid.count == 1 else (grid.count, *cuts)  # components may vary by different amounts


def variance_of(stage: Stage, draw: np.ndarray) -> np.ndarray:
    """How much curves vary at each grid point, about the centre of the stage: too much rather than too little.

    Noisy sizes are taken at one scale of their noise above what was drawn, and each piece at the size of its largest
    neighbour, since nothing is known of where inside a piece curves vary.
    """
    problem, blocks = cast(VaryProblem, stage.problem), len(cast(VaryProblem, stage.problem).starts)
    grid = problem.inner.grid
    sizes = np.minimum(np.maximum(draw[blocks:], 0.0) + stage.scales[blocks:], 1.0)
    lengths = np.bincount(problem.pieces, grid.weights, problem.windows)
    near = 3 if grid.count == 1 else (1, 3)  # components are no neighbours
    found = (sizes * problem.reference**2 / lengths).reshape(problem.cuts)
    return np.asarray(scipy.ndimage.maximum_filter(found, near, mode="nearest").ravel()[problem.pieces])


def filled_of(stage: Stage, draw: np.ndarray, count: float) -> tuple[float, float]:
    """The mean square of curves over the square of the length they were cut to, and the standard deviation of noise.

    `count` is the number of records over the public one.
    """
    blocks = len(cast(VaryProblem, stage.problem).starts)
    return float(draw[blocks:].sum()) / count, float(np.sqrt(2 * (stage.scales[blocks:] ** 2).sum())) / count


def length_of(stage: Stage, drawn: float, count: float) -> Length:
    """The length of what was left out, as it was drawn, with its noise and the length that each part was cut to."""
    return Length(drawn / count, float(stage.scales[0]) / count, cast(LeftOutProblem, stage.problem).cap)


def evidence_of(rounds: Rounds, drawn: Sequence[np.ndarray], smallest: bool) -> Evidence:
    """What the bands of a mean in rounds rest on; `smallest` where a radius was chosen that may hold no curve."""
    home, steps, stages = rounds.home, rounds.method.steps, rounds.stages(drawn)
    count, count_noise = 1.0, 0.0
    if home.count_is_private:
        first = steps.index("centre")
        count = max(float(drawn[first][-1]), 1 / home.n)  # over the public guess of it
        count_noise = float(stages[first].scales[-1]) / count
    variance, left, pieces, filled = None, None, 1, None
    for stage, draw, step in zip(stages, drawn, steps, strict=True):
        if step == "vary":
            variance, pieces = variance_of(stage, draw) / count, cast(VaryProblem, stage.problem).windows
            filled = filled_of(stage, draw, count)
        elif step == "check":
            left = length_of(stage, float(draw[0]), count)
    last = cast(MeanProblem, stages[rounds.decisive - 1].problem)
    about = None if len(rounds.method.shares) == 1 else last.center
    return Evidence(rounds.kept, variance, left, about, pieces, smallest, "radius" in steps, filled, count_noise)
