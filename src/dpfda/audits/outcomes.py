"""What outcomes tell about the pair they came from: an event, and a lower bound on epsilon.

The likelihood ratio of two neighbours' outcomes is known, since the auditor knows both statistics. On one half of the
outcomes a threshold is chosen, on the other half the event "ratio above it" is counted for both neighbours. If its
probabilities are p and q then epsilon is at least log((p - delta)/q); Clopper and Pearson bound both. A sound plan
stays below its epsilon but for a stated rate of false alarms; a broken one is shown to be broken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from dpfda.audits.laws import log_chances, log_density
from dpfda.noise import Choice
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary

#: Thresholds that are tried on the first half.
THRESHOLDS = 200


@dataclass(frozen=True, eq=False)
class Side:
    """One of two neighbours, as the noise step of one stage meets it: settled numbers, and the same as floats."""

    settled: list[Any]
    real: list[np.ndarray]


def side_of(stage: Stage, summary: Summary) -> Side:
    settled = stage.to_lattice(summary)
    return Side(settled, [part.law.real(s) for part, s in zip(stage.parts, settled, strict=True)])


def likelihood(part: Part, outcomes: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """How much more likely outcomes of one part are from our side than from theirs, as logarithms."""
    law = part.law
    if isinstance(law, Choice):
        ratio = log_chances(law, ours) - log_chances(law, theirs)
        return np.asarray(ratio[np.argmax(outcomes, axis=-1)])
    return log_density(law, (outcomes - ours) / law.scales) - log_density(law, (outcomes - theirs) / law.scales)


@dataclass(frozen=True)
class Bound:
    """A lower bound on epsilon, from held-out outcomes of both neighbours."""

    outcomes: int
    event: float
    hits: tuple[int, int]
    lower: float  # at 95 per cent, both directions together
    certain: float  # but for the false-alarm rate of the audit


def lower_bound(first: np.ndarray, second: np.ndarray, delta: float, false_alarm: float) -> Bound:
    """The better of both directions; `first` and `second` are log-likelihood ratios of the two sides' outcomes."""
    found = [_one_way(*sides, delta, false_alarm / 2) for sides in ((first, second), (-second, -first))]
    return max(found, key=lambda bound: bound.lower)


def _one_way(first: np.ndarray, second: np.ndarray, delta: float, false_alarm: float) -> Bound:
    (train, test), (other_train, other_test) = (np.array_split(side, 2) for side in (first, second))
    thresholds = np.unique(np.quantile(np.concatenate([train, other_train]), np.linspace(0, 1, THRESHOLDS + 2)[1:-1]))
    promise = [_log_ratio(_above(train, c), train.size, _above(other_train, c), other_train.size, delta, 0.05)
               for c in thresholds]  # fmt: skip
    best = float(thresholds[int(np.argmax(promise))])
    hits = _above(test, best), _above(other_test, best)
    lower, certain = (_log_ratio(hits[0], test.size, hits[1], other_test.size, delta, a) for a in (0.025, false_alarm))
    return Bound(test.size + other_test.size, best, hits, lower, certain)


def _above(values: np.ndarray, threshold: float) -> int:
    return int((values >= threshold).sum())


def _log_ratio(hits: int, n: int, others: int, m: int, delta: float, alpha: float) -> float:
    """Clopper and Pearson: at least this, but for a probability `alpha` (half of it for each side)."""
    low = 0.0 if hits == 0 else float(scipy.special.betaincinv(hits, n - hits + 1, alpha / 2))
    high = 1.0 if others == m else float(scipy.special.betainccinv(others + 1, m - others, alpha / 2))
    return max(0.0, float(np.log((low - delta) / high))) if low > delta else 0.0
