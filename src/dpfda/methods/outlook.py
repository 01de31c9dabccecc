"""What a way of releasing a mean should cost, before data: its risk over smooth and rough means.

The class of means is robust: the kernel's own smooth guess (which counts thrice), and means that fill the first
4, 8, 16, ... functions evenly, as rough as can be. Curves stray from their mean by the public spread, or by
some fraction of the bound. Round by round the noise, what shrinkage leaves of it, and the ellipsoid that must
hold curves about a centre with that error follow in closed form (derivations: choosing before data).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.methods.base import Method
from dpfda.methods.blockwise import octaves
from dpfda.methods.staged import Staged
from dpfda.noise import Ball
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part

# The class by which Auto chooses (derivations: choosing before data). Guesses: others cost accuracy, never privacy.

#: The smooth guess counts as much as this many rough ones.
SMOOTH_WEIGHT = 3.0
#: A mean has this share of the largest energy that the bound leaves to it.
MEAN_SHARE = 0.5
#: How far curves may stray, as shares of the bound's radius; and how far they do of a public spread, typically.
STRAYS, OF_SPREAD = (0.7, 0.35, 0.18), 0.6
#: A privately chosen ellipsoid is wider than the best one by this factor, more so with little to choose by.
WIDER, UNSURE = 1.2, 10.0


@dataclass(frozen=True, eq=False)
class Outlook:
    """Risks of releases of one problem at one budget."""

    problem: MeanProblem
    epsilon: Fraction
    spread: float | None = None

    @cached_property
    def shape(self) -> np.ndarray:
        """How the strayings' energy is spread over functions, by the kernel."""
        return shape_of(self.problem.basis.eigenvalues, 1.0)

    @cached_property
    def strays(self) -> list[float]:
        """Typical distances of curves from their mean."""
        if self.spread is not None:
            return [OF_SPREAD * self.spread]
        return [share * self.problem.bound.outer for share in STRAYS]

    @cached_property
    def means(self) -> np.ndarray:
        """Squared coefficients of the class of means at total energy one: smooth first, then ever rougher."""
        size = self.problem.basis.size
        rough = [np.where(np.arange(size) < stop, 1 / stop, 0.0) for stop in (*octaves(size)[1:], size)]
        smooth = self.problem.prior_energy / self.problem.prior_energy.sum()
        return np.array([smooth, *rough])

    @cached_property
    def weights(self) -> np.ndarray:
        weights = np.ones(len(self.means))
        weights[0] = SMOOTH_WEIGHT
        return weights / weights.sum()

    @cached_property
    def counts(self) -> list[int]:
        """Numbers of components worth a look: powers of two, and all."""
        size = int(self.problem.basis.size)
        return [*(2**k for k in range(size.bit_length()) if 2**k < size), size]

    def noise(self, method: Method) -> float:
        """Energy of the noise of a method of one round."""
        return sum(float(part.law.variance.sum()) for part in method.calibrate(self.problem, self.epsilon))

    def typical(self, method: Method) -> float:
        """The geometric mean of the risks over the class: what is minimised."""
        return float(np.exp((np.log(self.risks(method)) @ self.weights).mean()))

    def risks(self, method: Method) -> np.ndarray:
        """Expected squared errors of a method with all its parameters: by straying, then by mean."""
        staged = method if isinstance(method, Staged) else None
        parts = (staged.method if staged else method).calibrate(self.problem, self.epsilon)
        return np.array([self._risks(parts, staged, stray) for stray in self.strays])

    def _risks(self, parts: tuple[Part, ...], staged: Staged | None, stray: float) -> np.ndarray:
        outer, part = self.problem.bound.outer, parts[0]
        means = self.means * (MEAN_SHARE * max(outer**2 - stray**2, outer**2 / 2))
        count = int(part.where.max()) + 1
        noise = np.zeros(count)
        noise[part.where] = part.law.variance
        if staged is None and not isinstance(part.law, Ball):  # as drawn: noise, and the filter's bias
            missed = np.array([part.bias(mean).sum() + mean.sum() - mean[part.where].sum() for mean in means])
            return noise.sum() + missed + stray**2 / self.problem.n
        starts, sizes = octaves(count), np.diff((*octaves(count), count)).astype(float)
        inside = np.add.reduceat(means[:, :count], starts, axis=1)
        left = _left(inside, np.add.reduceat(noise, starts) / float(staged.share(0) if staged else 1) ** 2, sizes)
        if staged is not None:
            varying = stray**2 * np.add.reduceat(self.shape[:count], starts)
            left = self._refined(left, inside, varying, sizes, staged)
        return left.sum(axis=1) + means[:, count:].sum(axis=1) + stray**2 / self.problem.n

    def _refined(
        self, left: np.ndarray, inside: np.ndarray, varying: np.ndarray, sizes: np.ndarray, staged: Staged
    ) -> np.ndarray:
        """What later rounds make of the error that the first one left."""
        for number, step in enumerate(staged.steps):
            if step != "refine":
                continue
            chosen = staged.steps[number - 1] == "choose"
            about = (varying + left) * self._wider(staged) ** 2 if chosen else varying / OF_SPREAD**2 + WIDER * left
            left = _left(inside, self._noise(about, sizes) / float(staged.share(number)) ** 2, sizes)
        return left

    def _wider(self, staged: Staged) -> float:
        return WIDER * (1 + UNSURE / (self.problem.n * float(self.epsilon * staged.selection)))

    def _noise(self, about: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Noise energy of each block in a round at full epsilon that clips to the best ellipsoid for these energies."""
        axes = best_axes(about, sizes)
        heavy = axes * np.sqrt(sizes * (sizes + 1))
        blocks, ball = heavy * heavy.sum(axis=-1, keepdims=True), axes**2 * sizes * (sizes.sum() + 1)
        quieter = blocks.sum(axis=-1, keepdims=True) < ball.sum(axis=-1, keepdims=True)
        unit = (1.0 if self.problem.count_is_private else 2.0) / (self.problem.n * float(self.epsilon))
        return np.asarray(unit**2 * np.where(quieter, blocks, ball))


def best_axes(energies: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Semi-axes, one per block, of the ellipsoid with the least noise that holds records of these block energies.

    Ball noise in blocks costs ``(sum w_B s_B)^2``, with ``w_B^2 = L (L + 1)``; a record with energies ``r_B^2`` is
    inside if ``sum r_B^2 / s_B^2 <= 1``. Lagrange: ``s_B^3`` is proportional to ``r_B^2 / w_B``.
    """
    axes = np.cbrt(energies / np.sqrt(sizes * (sizes + 1)))
    return np.asarray(axes * np.sqrt((energies / axes**2).sum(axis=-1, keepdims=True)))


def shape_of(eigenvalues: np.ndarray, power: float) -> np.ndarray:
    """Energies that follow a power of the eigenvalues, adding up to one."""
    shape = (eigenvalues / eigenvalues[0]) ** power
    return np.asarray(shape / shape.sum())


def _left(signal: np.ndarray, noise: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """What shrinkage by blocks leaves: the best linear factor's error, and what estimating that factor costs."""
    kept = noise / np.maximum(signal + noise, 1e-300)
    return np.asarray(signal * kept + np.minimum(2 / sizes, 1.0) * noise * kept)
