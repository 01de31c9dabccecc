"""Whether noise follows its stated law: every coordinate alone, two-sided, and all of them together.

Draws come from the real noise step. Of each coordinate its scale is tested (too little noise and too much), its sign
and its shape; of all together, whether they go with one another or with the draw before, and whether a draw ever
comes back. Scales and signs have exact p-values, from sums of known law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from dpfda.noise import Ball, Choice, Gaussian
from dpfda.noise.common import RESOLUTION
from dpfda.noise.law import Law

#: Classes of equal probability in which the shape of a law is tested, and draws in each that are enough.
CLASSES, ENOUGH = 32, 1000


@dataclass(frozen=True)
class Finding:
    """One p-value: what was tested, on which coordinates, and the ratio of what was found to what was stated."""

    what: str
    p: float
    where: int | None = None
    ratio: float | None = None


@dataclass(frozen=True)
class View:
    """Numbers made of standardised noise that have one known law: its distribution, and the p-value of their sum."""

    what: str
    values: np.ndarray
    distribution: Callable[[np.ndarray], np.ndarray]
    of_sum: Callable[[np.ndarray, int], np.ndarray]
    mean: float
    power: float = 1.0  # of the scale in these numbers


def views(law: Law, z: np.ndarray) -> list[View]:
    """What is tested of noise in units of its scales."""
    if isinstance(law, Gaussian):
        return [View("scale", z**2, partial(scipy.special.chdtr, 1), _squares, 1.0, 2.0)]
    if not isinstance(law, Ball):
        return [View("scale", np.abs(z), lambda x: -np.expm1(-x), _gamma, 1.0)]
    found = []
    for block in law.blocks:
        size = block.stop - block.start
        length = np.sqrt((z[:, block] ** 2).sum(axis=1, keepdims=True))
        found.append(View("length", length, partial(scipy.special.gammainc, size), partial(_lengths, size), size))
        if size > 1:
            share, beta = (z[:, block] / length) ** 2, partial(scipy.special.betainc, 0.5, (size - 1) / 2)
            found.append(View("scale", share, beta, partial(_shares, size), 1 / size, 2.0))
    return found


def log_density(law: Law, z: np.ndarray) -> np.ndarray:
    """Logarithm of the density at noise in units of its scales, up to a constant."""
    if isinstance(law, Gaussian):
        return -(z**2).sum(axis=-1) / 2
    if isinstance(law, Ball):
        return -sum(np.sqrt((z[..., block] ** 2).sum(axis=-1)) for block in law.blocks)
    return -np.abs(z).sum(axis=-1)


def _gamma(total: np.ndarray, shape: float) -> np.ndarray:
    """Two-sided p-value of a sum that has a gamma law."""
    return np.minimum(1.0, 2 * np.minimum(scipy.special.gammainc(shape, total), scipy.special.gammaincc(shape, total)))


def _lengths(size: int, total: np.ndarray, n: int) -> np.ndarray:
    """Two-sided p-value of a sum of lengths of ball noise."""
    return _gamma(total, n * size)


def _squares(total: np.ndarray, n: int) -> np.ndarray:
    """Two-sided p-value of a sum of squares of Gaussian noise."""
    return _gamma(total / 2, n / 2)


def _shares(size: int, total: np.ndarray, n: int) -> np.ndarray:
    """Bernstein's inequality for a sum of squares of one coordinate of uniform directions."""
    mean, variance = 1 / size, 2 * (size - 1) / (size**2 * (size + 2))
    away = np.abs(total / n - mean)
    return np.minimum(1.0, 2 * np.exp(-n * away**2 / (2 * (variance + away / 3))))


def _fair(heads: np.ndarray, n: int) -> np.ndarray:
    """Two-sided p-value of tosses of a fair coin."""
    return np.minimum(1.0, 2 * np.minimum(scipy.special.bdtr(heads, n, 0.5), scipy.special.bdtrc(heads - 1, n, 0.5)))


def _pearson(classes: np.ndarray, n: int) -> np.ndarray:
    """p-values of counts in classes of equal probability; few draws get few classes, for the law holds in the limit."""
    while classes.shape[1] > 2 and n < ENOUGH * classes.shape[1]:
        classes = classes[:, ::2] + classes[:, 1::2]
    count = classes.shape[1]
    return scipy.special.chdtrc(count - 1, ((classes - n / count) ** 2 / (n / count)).sum(axis=1))


def strength(law: Law) -> float | None:
    """How well the scale of one coordinate is seen, against Laplace noise; None where there are no scales.

    A coordinate of ball noise that is short by a share d lowers its mean share of the squared length, 1/M, by a share
    ``2 d (M-1)/(M+2)``, whose standard error is ``sqrt(2 (M-1)/(M+2) / draws)``.
    """
    if isinstance(law, Choice):
        return None
    if isinstance(law, Gaussian):
        return float(np.sqrt(2))
    if not isinstance(law, Ball):
        return 1.0
    sizes = [block.stop - block.start for block in law.blocks]
    return min(1.0 if m == 1 else float(np.sqrt(2 * (m - 1) / (m + 2))) for m in sizes)


class Tally:
    """Sums over draws of one law, from which every p-value follows. Those of several processes add up."""

    def __init__(self, law: Law, about: np.ndarray):
        """`about` is what the noise is added to: floats of that size tell it only so finely."""
        self.law = law
        steps = getattr(law, "steps", law.scales * 2.0**-RESOLUTION)
        self.grain = np.minimum(np.maximum(steps, 4 * np.spacing(np.abs(about) + law.scales)) / law.scales, 1.0)
        self.sums: dict[str, np.ndarray] = {}
        self.seen: list[np.ndarray] = []

    def take(self, z: np.ndarray) -> None:
        """Count a batch of noise vectors, in units of the stated scales."""
        self._add("draws", np.array(len(z)))
        if isinstance(self.law, Choice):
            self._add("taken", z.sum(axis=0))
            return
        self.seen.append(_marks(z))
        signs = np.where(z >= 0, 1.0, -1.0)
        self._add("plus", (signs > 0).sum(axis=0))
        self._add("squares", (z**2).sum(axis=0))
        self._add("signs", signs.T @ signs)
        self._add("after", (signs[1:] == signs[:-1]).sum(axis=0))
        self._add("steps", np.array(len(z) - 1))
        if not isinstance(self.law, Ball):
            middle = 0.6744897501960817 if isinstance(self.law, Gaussian) else np.log(2)
            large = np.where(np.abs(z) > middle, 1.0, -1.0)
            self._add("large", large.T @ large)
        for i, view in enumerate(views(self.law, z)):
            self._add(f"sum {i}", view.values.sum(axis=0))
            places = np.minimum((view.distribution(view.values) * CLASSES).astype(int), CLASSES - 1)
            counts = [np.bincount(column, minlength=CLASSES) for column in places.T]
            self._add(f"classes {i}", np.array(counts))

    def _add(self, name: str, value: np.ndarray) -> None:
        self.sums[name] = self.sums[name] + value if name in self.sums else value

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, to be sent to another process."""
        return {**self.sums, "seen": np.concatenate(self.seen) if self.seen else np.empty(0)}

    def join(self, arrays: dict[str, np.ndarray]) -> None:
        """What another process has counted."""
        for name, value in arrays.items():
            self.seen.append(value) if name == "seen" else self._add(name, value)

    # -- what follows -----------------------------------------------------------------------------

    @property
    def draws(self) -> int:
        return int(self.sums["draws"])

    def findings(self, where: np.ndarray) -> list[Finding]:
        """All p-values; `where` are the coordinates of the statistic."""
        n = self.draws
        found = [Finding("sign", float(p), int(j)) for p, j in zip(_fair(self.sums["plus"], n), where, strict=True)]
        for i, view in enumerate(views(self.law, np.ones((1, where.size)))):
            total, classes = self.sums[f"sum {i}"], self.sums[f"classes {i}"]
            shapes = _pearson(classes, n)
            for j, (p, shape) in enumerate(zip(view.of_sum(total, n), shapes, strict=True)):
                place = int(where[self._start(i) + j])
                ratio = float((total[j] / n / view.mean) ** (1 / view.power))
                found += [
                    Finding(view.what, float(p), place, ratio),
                    Finding(f"shape of the {view.what}", float(shape), place),
                ]
        return found + self._together(n, where)

    def _start(self, i: int) -> int:
        """The first coordinate that view `i` is about."""
        if not isinstance(self.law, Ball):
            return 0
        starts = [block.start for block in self.law.blocks for _ in range(1 if block.stop - block.start == 1 else 2)]
        return starts[i]

    def _together(self, n: int, where: np.ndarray) -> list[Finding]:
        """Coordinates with one another, with the draw before, and draws that came back."""
        found = [Finding("the draw before", float(p), int(j))
                 for p, j in zip(_fair(self.sums["after"], int(self.sums["steps"])), where, strict=True)]  # fmt: skip
        upper = np.triu_indices(where.size, 1)
        for name, what in (("signs", "signs of two coordinates"), ("large", "sizes of two coordinates")):
            if name in self.sums and upper[0].size:
                p = _fair((n + self.sums[name][upper]) / 2, n)
                worst = int(np.argmin(p))
                found.append(Finding(what, min(1.0, float(p[worst]) * p.size), int(where[upper[0][worst]])))
        seen = np.concatenate(self.seen)
        again = seen.size - np.unique(seen).size
        # Marks have 53 bits, and noise lies on a lattice, which may be coarse where n is very large.
        expected = seen.size**2 / 2 * (2.0**-53 + float(np.prod(self.grain)))
        chance = float(scipy.stats.poisson.sf(again - 1, expected)) if again else 1.0
        found.append(Finding("draws that came back", chance))
        return found

    @property
    def ratios(self) -> np.ndarray:
        """Root mean square of each coordinate, over that of its law."""
        squares = self.sums["squares"] / self.draws
        return np.sqrt(squares * self.law.scales**2 / self.law.variance)


def _marks(z: np.ndarray) -> np.ndarray:
    """One number per draw that tells draws apart: their exact digits, mixed."""
    bits = np.ascontiguousarray(z).view(np.uint64)
    mixed = np.zeros(len(z), dtype=np.uint64)
    for column in bits.T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed.astype(np.float64)


def chances(law: Choice, scores: np.ndarray) -> np.ndarray:
    """Probability of each candidate: permute and flip takes the largest score with exponential noise.

    Noise t of candidate i wins if that of every other j stays below ``t - away_i + away_j``. With
    ``v = exp(away_i - t)`` that is a polynomial in v over (0, 1), times ``exp(-away_i)``: Gauss's rule is exact.
    """
    return np.exp(log_chances(law, scores))


def log_chances(law: Choice, scores: np.ndarray) -> np.ndarray:
    """Their logarithms, which stay finite where a candidate is hopeless."""
    away = (scores.max() - scores) * float(law.epsilon / law.range)
    nodes, weights = np.polynomial.legendre.leggauss(scores.size // 2 + 1)
    below = 1 - (1 + nodes)[:, None] / 2 * np.exp(-away)[None, :]
    found = np.zeros(scores.size)
    for i in range(scores.size):
        found[i] = float(weights @ np.delete(below, i, axis=1).prod(axis=1)) / 2
    return np.log(found) - away


def choice_finding(counts: np.ndarray, expected: np.ndarray) -> Finding:
    """Pearson's test of candidates taken; those that are hardly ever taken count as one."""
    order = np.argsort(expected)
    rare = order[np.cumsum(expected[order]) < 20]
    kept = np.setdiff1d(np.arange(expected.size), rare)
    observed, wanted = np.append(counts[kept], counts[rare].sum()), np.append(expected[kept], expected[rare].sum())
    if wanted[-1] == 0:
        observed, wanted = observed[:-1], wanted[:-1]
    pearson = float(((observed - wanted) ** 2 / wanted).sum())
    return Finding("candidates taken", float(scipy.special.chdtrc(max(observed.size - 1, 1), pearson)))
