"""Records that a plan is tried on before data: public rows, how often each is there, and what they add up to.

A public guess stands for private records. A few hundred different rows are enough: each is counted as often as it takes
to come to n. Nothing here is private, and nothing of it reaches a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import scipy

from dpfda.bounds.loops import using
from dpfda.methods.outlook import shape_of
from dpfda.noise import Choice
from dpfda.plans.forecasts import STRAY_SD
from dpfda.problems.contracts import Encoder
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary
from dpfda.spaces.basis import Eigenbasis

#: Different curves that are invented, half of them mirror images.
MOST_CURVES = 200
#: How far invented curves stray from their mean, as a share of the bound's radius, where nothing is said: the geometric
#: mean of thirteen sets was 0.25 (0.13 to 0.53), and no better guess followed from their means.
STRAY = 0.25
#: Strayings fall as this power of the kernel's eigenvalues. With the right spread, errors were within 20 % of those for
#: the records themselves in 0.79, 0.85, 0.75 and 0.71 of 52 cells of those sets for powers 1, 0.75, 0.5 and 0.25.
POWER = 0.75


@dataclass(frozen=True, eq=False)
class Invented:
    """Public records as encoders take them: a row for each that differs, and how often it is there, or its share."""

    rows: np.ndarray
    times: np.ndarray

    @classmethod
    def evenly(cls, rows: np.ndarray, n: int) -> Invented:
        """These rows as `n` records, each as often as the others, nearly; of more rows than that, some."""
        if n < len(rows):
            rows = rows[np.arange(n) * len(rows) // n]
        times = np.full(len(rows), n // len(rows))
        times[: n - int(times.sum())] += 1
        return cls(rows, times)

    @property
    def shares(self) -> np.ndarray:
        """How much of all of them each row is."""
        return np.asarray(self.times / self.times.sum())

    def sample(self, n: int, seed: Sequence[int]) -> Invented:
        """So many records of a population that has these shares."""
        return Invented(self.rows, np.random.default_rng(seed).multinomial(n, self.shares))

    def summary(self, encoder: Encoder) -> Summary:
        """What they add up to. It has no key, so no plan would release it."""
        often = np.unique(self.times[self.times > 0]).tolist()
        bits = [1 << bit for bit in range(int(self.times.max()).bit_length())]
        if len(often) <= len(bits):
            parts = [self._some(encoder, self.times == count, count) for count in often]
        else:  # doubled and added
            parts = [self._some(encoder, self.times & bit > 0, bit) for bit in bits]
        return reduce(Summary.plus, parts)

    def _some(self, encoder: Encoder, which: np.ndarray, often: int) -> Summary:
        rows = self.rows[which]
        with using("plain", 1):  # so few rows are not worth a compiler, however often plans are tried
            return encoder.kind("", len(rows), encoder.total(rows)).times(often)


def statistic(stage: Stage, records: Invented) -> np.ndarray:
    """The numbers of a stage right before noise, of public records: floats, as a private statistic never is.

    Each stage reads the records alone, as if there were a pass for it.
    """
    values = np.array([float(x) for x in stage.problem.estimate(records.summary(stage.problem))])
    return stage.spread([_filtered(part, values) for part in stage.parts])


def _filtered(part: Part, values: np.ndarray) -> np.ndarray:
    found: np.ndarray = part.filter * values[part.where]
    if part.threshold is None or part.threshold_after_noise:
        return found
    return np.asarray(np.sign(found) * np.maximum(np.abs(found) - part.threshold, 0.0))


def simulated(stage: Stage, exact: np.ndarray, seed: Sequence[int] | None) -> np.ndarray:
    """What a stage could draw about these numbers: its noise from a seed, for public records only; None for none."""
    rng = None if seed is None else np.random.default_rng(seed)
    found = exact.copy()
    for part in stage.parts:
        noisy = found[part.where] + (0.0 if rng is None else part.law.simulate(1, rng)[0])
        found[part.where] = np.eye(noisy.size)[noisy.argmax()] if isinstance(part.law, Choice) else noisy
    public = stage.problem.n_public
    found[:public] = stage.problem.center_coefficients[:public]
    return found


@dataclass(frozen=True, eq=False)
class Around:
    """Where invented curves lie: functions they are made of, the centre and radius of a ball, how far they stray."""

    basis: Eigenbasis
    center: np.ndarray
    outer: float
    stray: float

    def curves(self, mean: np.ndarray, n: int, seed: int, most: int = MOST_CURVES) -> Invented:
        """`n` curves whose mean is exactly this one: mirror images of each other, smooth to rough, of various sizes.

        They reach no further than the ball lets them, where it holds their mean.
        """
        rng, half = np.random.default_rng([seed, most]), min(most, n) // 2
        pairs = min(range(max(1, half * 4 // 5), half + 1), key=lambda count: (n // 2) % count)  # nearly all are in one
        ways = rng.standard_normal((pairs, self.basis.size))
        ways *= np.sqrt(shape_of(self.basis.eigenvalues, POWER))
        ways /= np.maximum(np.sqrt((ways**2).sum(axis=1, keepdims=True)), 1e-300)
        evenly = scipy.special.ndtri((np.arange(pairs) + 0.5) / pairs)
        lengths = self.stray * np.exp(STRAY_SD * rng.permutation(evenly) - STRAY_SD**2)
        away = mean - self.center
        room, lean = self.outer**2 - float(self.basis.grid.weights @ away**2), ways @ self.basis.coefficients(away)
        if room > 0:
            lengths = np.minimum(lengths, np.sqrt(lean**2 + room) - np.abs(lean))
        strays = self.basis.synthesize(lengths[:, None] * ways)
        rows, each = np.concatenate([mean + strays, mean - strays]), n // 2 // pairs
        if left := n - 2 * pairs * each:  # a few are the mean itself
            return Invented(np.concatenate([rows, mean[None]]), np.append(np.full(2 * pairs, each), left))
        return Invented(rows, np.full(2 * pairs, each))
