"""The worst pair of neighbours: an attacker's search through the real `summarize` and `statistic`.

Starts are records that the plan sees best, corners, random and hostile ones. The best of them climb: by finite
differences of the loss where it bends, by random steps where it is flat. Then all other people are moved as well,
since a loss may depend on the company a record is in. What is found is a lower bound on the worst case; the proofs
(docs/derivations) give the upper one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpfda.audits.people import hostile, space_of
from dpfda.audits.targets import Company, Target
from dpfda.core.errors import RecordError

#: Pairs that climb, of all that were tried.
CLIMBERS = 4
#: How far apart finite differences are taken, in halves of a range: far above the lattice of encoded records.
APART = 1e-3
#: Random companies in which the worst pairs are tried, and different people in each.
COMPANIES, PEOPLE = 12, 97


@dataclass(frozen=True, eq=False)
class Pair:
    """Two records (rows of one person each) that take each other's place among the same others; or one that joins."""

    first: np.ndarray
    second: np.ndarray
    others: np.ndarray
    story: str

    @property
    def turned(self) -> Pair:
        return Pair(self.second, self.first, self.others, f"{self.story}, the other way round")

    def among(self, others: np.ndarray, whom: str) -> Pair:
        """The same two in other company."""
        return replace(self, others=others, story=f"{self.story}, among {whom}")


@dataclass
class Found:
    """The worst pair of one pass, and how it was looked for."""

    target: Target
    pair: Pair
    loss: float = 0.0
    tried: int = 0
    refused: int = 0
    losses: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of what this pass may cost."""
        return self.loss / self.target.epsilon

    @property
    def passed(self) -> bool:
        return self.loss <= self.target.epsilon


class Search:
    """One attacker, with a fixed number of tries."""

    def __init__(self, target: Target, effort: int, rng: np.random.Generator, report_progress: Callable[[int], None]):
        self.target, self.left, self.rng, self.report_progress = target, effort, rng, report_progress
        self.space = space_of(target.problem)
        middle = self.space.middle[None]
        self.found = Found(target, Pair(middle, middle, middle, "nothing"))
        self._company: Company | None = None

    def run(self) -> Found:
        """All of it: starts, company, climbs."""
        ranked = sorted(self.starts(), key=self.tried, reverse=True)
        crowds = self.crowds(ranked[0])
        mixed = [pair.among(others, whom) for pair in ranked[:3] for whom, others in crowds]
        mixed = sorted([*mixed, *(pair.turned for pair in mixed)], key=self.tried, reverse=True)
        best = [self.found.pair, *ranked[: CLIMBERS // 2], *mixed[: CLIMBERS // 2]]
        for i, pair in enumerate(best):
            self.climb(pair, self.left // (len(best) + 1 - i))
        self.climb(self.found.pair, self.left)
        return self.found

    def tried(self, pair: Pair) -> float:
        """The loss of one pair; a record that the plan says it refuses cannot leak."""
        self.left, self.found.tried = self.left - 1, self.found.tried + 1
        self.report_progress(1)
        try:
            if self._company is None or self._company.others is not pair.others:
                self._company = Company(self.target, pair.others)
            loss = self._company.loss(pair.first, None if self.target.count_is_private else pair.second)
        except RecordError:
            self.found.refused += 1
            if self.target.problem.invalid == "raise":
                return -1.0
            loss = math.inf  # a run that stops for one neighbour only
        self.found.losses.append(loss)
        if loss > self.found.loss:
            self.found.loss, self.found.pair = loss, pair
        return loss

    # -- where to begin -------------------------------------------------------------------------

    def starts(self) -> list[Pair]:
        """Pairs that the plan sees best, then corners, random and hostile ones: about the centre, and in a corner."""
        space, rng, shapes = self.space, self.rng, len(self.space.shapes)
        weights = [*np.eye(shapes)[:12], np.ones(shapes), *rng.normal(size=(4, shapes)), self._precise()]
        found = []
        for far in (1.0, 1e3):
            for weight in weights:
                found.append(self._opposite(space.shaped(weight, far), f"opposite shapes, {far:g} times the bound"))
        found += [self._opposite(corner, "opposite corners") for corner in space.corners(rng, 8)]
        found += [
            self._alone(first[None], second[None], "random records")
            for first, second in zip(space.inside(rng, 12), space.inside(rng, 12), strict=True)
        ]
        odd = [(name, space.settled(record)[None]) for name, record in hostile(space.low.size)]
        for (name, record), (other, partner) in zip(odd, odd[-1:] + odd[:-1], strict=True):
            found.append(self._alone(record, partner, f"{name} against {other}"))
            found.append(self._alone(record, space.middle[None], f"{name} against the centre"))
        if self.target.keyed:
            several = np.repeat(space.shaped(weights[0], 1e3)[None], 5, axis=0)
            found.append(self._alone(several, space.opposite(several), "five equal curves of one person"))
        return found + [pair.among(pair.second[:1], "people like the other") for pair in found]

    def _precise(self) -> np.ndarray:
        """Shapes weighted as precisely as they leave."""
        weights = np.resize(np.append(self.target.precision, np.zeros(len(self.space.shapes))), len(self.space.shapes))
        weights = weights * np.linalg.norm(self.space.shapes, axis=1)
        return weights / max(float(np.linalg.norm(weights)), 1e-300)

    def _alone(self, first: np.ndarray, second: np.ndarray, story: str) -> Pair:
        return Pair(first, second, self.found.pair.others, story)

    def _opposite(self, record: np.ndarray, story: str) -> Pair:
        return self._alone(record[None], self.space.opposite(record)[None], story)

    def crowds(self, best: Pair) -> list[tuple[str, np.ndarray]]:
        """Others who are alike, at corners, anywhere, near and far, or hostile."""
        space, rng = self.space, self.rng
        finite = [record for _, record in hostile(space.low.size) if np.isfinite(record).all()]
        found = [("people like the first", best.first[:1]), ("corners", space.corners(rng, 7))]
        found += [("hostile people", space.settled(np.array(finite)))]
        found += [("people near and far", space.scattered(rng, PEOPLE)) for _ in range(COMPANIES // 2)]
        return found + [("people anywhere", space.inside(rng, PEOPLE)) for _ in range(COMPANIES // 2)]

    # -- uphill ---------------------------------------------------------------------------------

    def climb(self, pair: Pair, tries: int) -> None:
        """Uphill from a pair: along gradients while they help, by random steps then."""
        story, stop = pair.story, self.left - tries
        loss, stride = self.tried(pair), 0.5
        while self.left > stop and stride > 1e-4:
            uphill = self._uphill(pair, loss, stop)
            if uphill is None:
                break
            moved = self._moved(pair, uphill, stride, f"{story}, then along gradients")
            there = self.tried(moved)
            pair, loss, stride = (moved, there, 1.3 * stride) if there > loss else (pair, loss, stride / 2)
        wide = 0.3
        while self.left > stop and wide > 1e-6:
            step = self._aside(pair.first, wide), self._aside(pair.second, wide)
            moved = replace(pair, first=step[0], second=step[1], story=f"{story}, then random steps")
            there = self.tried(moved)
            wide *= 1.5 if there > loss else 0.9
            pair, loss = (moved, there) if there >= loss else (pair, loss)

    def _uphill(self, pair: Pair, loss: float, stop: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The direction in which the loss grows fastest, by finite differences; None where it is flat."""
        if not (np.isfinite(pair.first).all() and np.isfinite(pair.second).all()):
            return None
        axes = self.space.shapes
        slopes = np.zeros((2, len(axes)))
        for side in range(1 if self.target.count_is_private else 2):
            for i, axis in enumerate(axes):
                if self.left <= stop:
                    return None
                step = APART * axis * (np.arange(2)[:, None] == side)
                there = self.tried(self._moved(pair, step, 1.0, pair.story))
                slopes[side, i] = max(there - loss, -loss) / APART if there >= 0 else 0.0
        size = float(np.linalg.norm(slopes))
        return None if size == 0 else (slopes[0] @ axes / size, slopes[1] @ axes / size)

    def _moved(self, pair: Pair, step: Sequence[np.ndarray], stride: float, story: str) -> Pair:
        first, second = pair.first + stride * step[0], pair.second + stride * step[1]
        return replace(pair, first=self.space.settled(first), second=self.space.settled(second), story=story)

    def _aside(self, record: np.ndarray, wide: float) -> np.ndarray:
        """A random step, which may not leave the ranges every other time."""
        with np.errstate(over="ignore", invalid="ignore"):
            moved = record + wide * self.rng.normal(size=record.shape) * self.space.half
        kept = np.clip(moved, self.space.low, self.space.high) if self.rng.random() < 0.5 else moved
        return self.space.settled(kept)
