"""What reaches an accuracy: the smallest epsilon or n, found with few plans.

Expected errors fall nearly as powers of epsilon and n, so straight lines in logarithms lead to the answer. They need
not fall everywhere: where a plan comes to be made in another way an error may jump. So an answer is looked for between
two rungs of a ladder, and rungs above it are looked at as far as their errors are near the target. Risks jump by a few
per cent; the noise alone jumps by far more (one more round takes some of the budget), so all rungs are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import exp, log
from typing import TypeAlias

import numpy as np

from dpfda.core.errors import ParameterError

#: Where an answer is looked for, in equal steps of logarithms.
LADDERS = {"epsilon": (1e-4, 1e4, 65), "n": (2.0, 1e9, 70)}
#: An answer is this close to one that will not do, as a share of it.
CLOSE = 1e-6
#: The same for errors that are only nearly right.
ROUGHLY = 0.01
#: How errors fall, for a first guess: as this power.
FALL = 1.5
#: Above a rung whose error is this share of the target no other comes near it.
FAR_BELOW = 0.5
#: So many rungs above an answer are all looked at.
NEAREST = 4
#: And between the answer and the rung above it, so many times the answer.
BEYOND = (1.2, 1.1, 1.03, 1.01)

#: The error at an epsilon or n.
Errors: TypeAlias = Callable[[float], float]


def smallest(
    error: Errors,
    target: float,
    vary: str,
    known: tuple[float, float],
    rough: Errors | None = None,
    jumps: bool = False,
) -> float | int:
    """The smallest number from which on errors stay at or below a target; `known` is any number and its error.

    Where errors take long, `rough` ones lead close to the answer. Where they jump far, no rung is left out.
    """
    whole, above = vary == "n", _above_target(error, target)
    if rough is not None:
        try:
            nearly = _found(_above_target(rough, target), target, vary, known, False, ROUGHLY)
            ends = _around(above, nearly, whole)
        except ParameterError:  # out of reach, nearly
            ends = None
        if ends is not None:
            return _as_asked(_narrowed(above, *ends, whole, jumps, CLOSE), whole)
    return _as_asked(_found(above, target, vary, known, jumps, CLOSE), whole)


def _above_target(error: Errors, target: float) -> Errors:
    """How many times the target an error is, in logarithms: positive where it will not do."""
    return cache(lambda x: log(max(error(x), 1e-300) / target))


def _as_asked(x: float, whole: bool) -> float | int:
    return int(x) if whole else x


def _found(above: Errors, target: float, vary: str, known: tuple[float, float], jumps: bool, close: float) -> float:
    """The answer by a ladder, and then between two of its rungs."""
    whole, ladder = vary == "n", np.geomspace(*LADDERS[vary])

    def at(rung: int) -> float:
        return above(_rounded(float(ladder[rung]), whole))

    top = len(ladder) - 1
    if at(top) > 0:
        raise ParameterError(
            f"target must be reachable by some {vary} up to {ladder[-1]:g}",
            target,
            "What noise does not decide (bias, sampling) may exceed it: raise the target, or measure='error'.",
        )
    if jumps:
        rung = next((rung + 1 for rung in range(top - 1, -1, -1) if at(rung) > 0), 0)
    else:
        start = log(known[0]) + log(max(known[1], 1e-300) / target) / FALL
        rung = _first_rung(at, top, round((start - log(ladder[0])) / log(ladder[1] / ladder[0])))
    if rung == 0:
        return float(ladder[0])
    failing: float | None = _rounded(float(ladder[rung - 1]), whole)
    high = _rounded(float(ladder[rung]), whole)
    while failing is not None:
        answer = _narrowed(above, failing, high, whole, jumps, close)
        between = (_rounded(answer * step, whole) for step in BEYOND)
        failing = next((x for x in between if x < high and above(x) > 0), None)
    return answer


def _around(above: Errors, x: float, whole: bool) -> tuple[float, float] | None:
    """Two numbers near one, of which the larger will do and the smaller will not, if they are near."""
    step = ROUGHLY
    for _ in range(NEAREST):
        up = above(x) > 0
        step = max(2 * step, 1.2 * abs(above(x)) / FALL)
        other = _rounded(x * exp(step if up else -step), whole)
        if (above(other) > 0) != up:
            return (x, other) if up else (other, x)
        x = other
    return None


def _rounded(x: float, whole: bool) -> float:
    return float(round(x)) if whole else x


def _first_rung(at: Callable[[int], float], top: int, guess: int) -> int:
    """The first rung from which on all rungs will do; the last of them does."""
    low, high, reach = -1, top, 1
    while True:
        while high - low > 1:
            guess = min(max(guess, low + 1), high - 1)
            if at(guess) > 0:
                low = guess
                guess += reach
            else:
                high = guess
                guess -= reach
            if low >= 0 and high < top:  # a straight line between two rungs
                guess = round(low + (high - low) * at(low) / (at(low) - at(high)))
            reach *= 2
        beyond = next((rung for rung in _above(at, high, top) if at(rung) > 0), None)
        if beyond is None:
            return high
        low, high, guess, reach = beyond, top, beyond + 1, 1


def _above(at: Callable[[int], float], rung: int, top: int) -> Iterator[int]:
    """Rungs above one that are looked at: the nearest all, then ever fewer, up to one that is far below the target."""
    step = 0
    while rung + step < top and at(rung + step) > log(FAR_BELOW):
        step += 1 if step < NEAREST else step
        yield min(rung + step, top)


def _narrowed(above: Errors, low: float, high: float, whole: bool, jumps: bool, close: float) -> float:
    """A number that will do, next to one that will not: by straight lines, and by halves where these do not help."""
    before = [log(high / low)] * 3
    while high / low > 1 + close and not (whole and high - low <= 1):
        a, b = log(low), log(high)
        x = (a + b) / 2
        if not jumps and (b - a <= before[-3] / 2 or len(before) == 3):
            x = a + (b - a) * above(low) / (above(low) - above(high))
            least = max(0.4 * close, 0.6 / low if whole else 0.0)
            x += least if x - a < b - x else -least  # beyond the answer, so that the far end comes near
            x = min(max(x, a + close / 4), b - close / 4)
        middle = _rounded(exp(x), whole)
        if whole:
            middle = min(max(middle, low + 1), high - 1)
        before.append(b - a)
        low, high = (middle, high) if above(middle) > 0 else (low, middle)
    return high
