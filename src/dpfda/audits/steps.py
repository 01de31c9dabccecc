"""The noise step, many times: the real draws of a stage about two neighbouring statistics, on all processors."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from dpfda.audits.children import at_once
from dpfda.audits.laws import Finding, Tally, chances, choice_finding, strength
from dpfda.audits.outcomes import Bound, Side, likelihood, lower_bound
from dpfda.noise import Choice
from dpfda.problems.stage import Stage

#: Draws handled at a time.
CHUNK = 2048
#: Draws of one child.
ROUND = 25_000


@dataclass(frozen=True)
class NoiseStep:
    """What many draws of one stage's noise step have shown."""

    name: str
    draws: int
    findings: list[Finding]
    ratios: np.ndarray  # of the size of each coordinate's noise to its stated size
    bound: Bound
    strength: float | None  # with which a defect of one scale is seen; None where there are no scales


def noise_step(
    name: str,
    stage: Stage,
    sides: tuple[Side, Side],
    draws: int,
    false_alarm: float,
    report_progress: Callable[[int], None],
) -> NoiseStep:
    """Draw each side's noise `draws / 2` times; test every law, and bound epsilon from below."""
    counts = [Counts(stage, sides, side) for side in (0, 1)]
    workers = max(1, os.cpu_count() or 1)
    rounds = max(1, draws // 2 // (ROUND * workers))  # so that whoever waits hears of it
    shares = [share.size for share in np.array_split(np.arange(draws // 2), workers * rounds) if share.size]
    for count in counts:
        for start in range(0, len(shares), workers):
            for found in at_once([count.work(size) for size in shares[start : start + workers]]):
                count.join(found)
            report_progress(sum(shares[start : start + workers]))
    findings, ratios = [], [np.empty(0)]
    for i, part in enumerate(stage.parts):
        if isinstance(part.law, Choice):
            findings += [count.chosen(i) for count in counts]
            continue
        tally = counts[0].tallies[i]
        tally.join(counts[1].tallies[i].arrays())
        findings += tally.findings(part.where)
        ratios.append(tally.ratios)
    first, second = (np.concatenate(count.ratios) for count in counts)
    bound = lower_bound(first, second, float(stage.delta), false_alarm)
    seen = [s for s in (strength(part.law) for part in stage.parts) if s is not None]
    least = min(seen, default=None)
    return NoiseStep(name, first.size + second.size, findings, np.concatenate(ratios), bound, least)


class Counts:
    """Draws about one of two neighbours: a tally for each law, and the likelihood ratio of every draw."""

    def __init__(self, stage: Stage, sides: tuple[Side, Side], side: int):
        self.stage, self.sides, self.mine = stage, sides, sides[side]
        self.tallies = [Tally(part.law, real) for part, real in zip(stage.parts, self.mine.real, strict=True)]
        self.ratios: list[np.ndarray] = []

    def work(self, count: int) -> Callable[[], dict[str, np.ndarray]]:
        """So many draws, in batches, as arrays that :meth:`join` takes."""

        def work() -> dict[str, np.ndarray]:
            fresh = Counts(self.stage, self.sides, self.sides.index(self.mine))
            for start in range(0, count, CHUNK):
                fresh._draw(min(CHUNK, count - start))
            arrays = {f"{i}/{name}": a for i, t in enumerate(fresh.tallies) for name, a in t.arrays().items()}
            return {**arrays, "ratios": np.concatenate(fresh.ratios)}

        return work

    def _draw(self, size: int) -> None:
        ours, theirs = self.sides
        ratio = np.zeros(size)
        for i, (part, tally) in enumerate(zip(self.stage.parts, self.tallies, strict=True)):
            law, real = part.law, self.mine.real[i]
            outcomes = law.draw(self.mine.settled[i], size)
            tally.take(outcomes if isinstance(law, Choice) else (outcomes - real) / law.scales)
            ratio += likelihood(part, outcomes, ours.real[i], theirs.real[i])
        self.ratios.append(ratio)

    def join(self, arrays: dict[str, np.ndarray]) -> None:
        """What some work has counted."""
        self.ratios.append(arrays["ratios"])
        for i, tally in enumerate(self.tallies):
            prefix = f"{i}/"
            tally.join({name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)})

    def chosen(self, i: int) -> Finding:
        """Whether candidates were taken as often as they should be."""
        taken = self.tallies[i].sums["taken"]
        return choice_finding(taken, chances(cast(Choice, self.stage.parts[i].law), self.mine.real[i]) * taken.sum())
