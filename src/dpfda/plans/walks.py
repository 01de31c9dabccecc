"""What follows from draws, step by step, worked out once for each beginning of them.

A schedule of several stages is asked again and again what its draws led to: for the next stage, for the release, for
its band. Each step follows from the one before and one more draw, all of them public, so steps are kept for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Stage

#: What is kept of each: the beginnings of one release are at most ten.
KEPT = 16
S = TypeVar("S")
K = TypeVar("K", bound=Hashable)


def recall(known: dict[K, S], key: K, make: Callable[[], S]) -> S:
    """What `make` gave for this key lately, or gives now; the oldest of what is known is forgotten.

    >>> known = {}
    >>> recall(known, "one", lambda: 1), recall(known, "one", lambda: 2)
    (1, 1)
    """
    found = known.get(key)
    if found is None:
        found = known[key] = make()
        if len(known) > KEPT:
            known.pop(list(known)[0], None)  # noqa: RUF015  (another thread may add to it meanwhile)
    return found


class Walks(Generic[S]):
    """States of a walk by the draws that led there: `first`, then what `step` makes of a state and all draws so far.

    >>> walks = Walks(0.0, lambda state, drawn: state + float(drawn[-1].sum()))
    >>> walks.after([np.array([1.0]), np.array([2.0, 3.0])])
    6.0
    """

    def __init__(self, first: S, step: Callable[[S, Sequence[np.ndarray]], S]):
        self._first, self._step = first, step
        self._known: dict[tuple[bytes, ...], S] = {}

    def after(self, drawn: Sequence[np.ndarray]) -> S:
        """The state that these draws lead to."""
        if not len(drawn):
            return self._first
        key = tuple(draw.tobytes() for draw in drawn)
        return recall(self._known, key, lambda: self._step(self.after(drawn[:-1]), drawn))


@dataclass(frozen=True)
class Centre:
    """What a round leaves: coefficients about the public centre, and how far off they may be, block by block."""

    about: np.ndarray
    errors: np.ndarray


@dataclass(frozen=True)
class Round:
    """Where the rounds of a mean are: stages so far, and what the next one is made of."""

    target: MeanProblem
    stages: tuple[Stage, ...] = ()
    centre: Centre = Centre(np.zeros(0), np.zeros(0))
    candidates: np.ndarray | None = None
    axes: np.ndarray | None = None
    rung: int | None = None
