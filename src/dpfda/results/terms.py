"""The parts of a band: noise, sampling, and what was left out; of one release, or of the difference of two.

Noise and sampling are simulated, since their laws are known. What was left out has a largest size at each point, and an
unknown sign (derivations: honest bands).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpfda.results.bands import check_level, fixed_generator, quantile

#: Simulated errors: the 95 % quantile of the largest of many is good to about 1 %.
DRAWS = 2000


@dataclass(frozen=True, eq=False)
class Terms:
    """The parts of a band at the points of a grid; `some` of them stand for all where there are many.

    `noise` and `sampling` are simulated errors at `some` points, a row each; `noise_sd` and `sampling_sd` their sizes
    everywhere. `bias` is how far off the curve may be for what was left out, `length` how long that is at most in the
    inner product of the `weights`, and a band ends at `lowest` and `highest`.
    """

    middle: np.ndarray
    published: np.ndarray
    some: np.ndarray
    noise: np.ndarray
    sampling: np.ndarray
    noise_sd: np.ndarray
    sampling_sd: np.ndarray
    bias: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    weights: np.ndarray
    length: float

    def minus(self, other: Terms) -> Terms:
        """The same for a difference of two independent releases on one grid."""
        turned = fixed_generator().permutation(len(other.noise))  # as both were simulated alike
        return Terms(
            self.middle - other.middle,
            self.published - other.published,
            self.some,
            self.noise - other.noise[turned],
            self.sampling - other.sampling[turned],
            np.hypot(self.noise_sd, other.noise_sd),
            np.hypot(self.sampling_sd, other.sampling_sd),
            self.bias + other.bias,  # the triangle inequality
            self.lowest - other.highest,
            self.highest - other.lowest,
            self.weights,
            self.length + other.length,
        )

    def sd(self, population: bool) -> np.ndarray:
        """The size of random errors at each point."""
        return np.hypot(self.noise_sd, self.sampling_sd) if population else self.noise_sd

    def errors(self, population: bool) -> np.ndarray:
        """Simulated random errors at some points."""
        return self.noise + self.sampling if population else self.noise

    def factor(self, level: float, population: bool) -> float:
        """How many times their size random errors reach, somewhere, once what was left out is allowed for.

        That has one sign, which is not known: errors of the same sign must fit beside all of it, those of the other
        only beside what it leaves.
        """
        check_level(level)
        errors, some = self.errors(population), self.some
        sd, bias = self.sd(population)[some] + 1e-300, self.bias[some]
        one_side = quantile((errors / sd).max(axis=1), level)
        return max(one_side, quantile(((np.abs(errors) - bias) / sd).max(axis=1), level))

    def p_value(self) -> float:
        """How likely errors of this size are, if the populations' curve is zero (for a difference).

        Of two looks the better one counts, at twice its price: the largest error anywhere, beyond what may have been
        left out there, and the length of all of them together, beyond the length of that.
        """
        errors, some = self.errors(True), self.some
        sd, bias = self.sd(True)[some] + 1e-300, self.bias[some]
        seen = float(((np.abs(self.middle[some]) - bias) / sd).max())
        sizes = ((errors / sd).max(axis=1), ((np.abs(errors) - bias) / sd).max(axis=1))
        anywhere = max(_share_beyond(size, seen) for size in sizes)
        weights = self.weights[some] * (self.weights.sum() / self.weights[some].sum())
        long = float(np.sqrt(weights @ self.middle[some] ** 2)) - self.length
        together = _share_beyond(np.sqrt(errors**2 @ weights), long)
        return min(1.0, 2 * min(anywhere, together))

    def limits(self, level: float, population: bool) -> tuple[np.ndarray, np.ndarray]:
        """The two curves of a band."""
        width = self.factor(level, population) * self.sd(population) + self.bias
        lower = np.clip(self.middle - width, self.lowest, self.highest)
        upper = np.clip(self.middle + width, self.lowest, self.highest)
        return np.minimum(lower, self.published), np.maximum(upper, self.published)


def _share_beyond(sizes: np.ndarray, seen: float) -> float:
    """The share of simulated sizes at or beyond one that was seen, itself counted."""
    return (1 + int((sizes >= seen).sum())) / (1 + len(sizes))
