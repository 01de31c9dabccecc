"""What a way of releasing a mean should cost, before data: one risk for all ways, over curves of any size.

A class of public guesses stands for what curves may be: a bound that is right or several times too large, means that
are most or little of a curve, smooth and rough. Round by round the noise, what shrinkage leaves of it, and the
ellipsoid that must hold curves about a centre with that error follow in closed form. Logarithms of risks are averaged,
so that no guess outweighs the others (derivations: choosing before data).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from dpfda.methods.base import Method
from dpfda.methods.blockwise import octaves
from dpfda.methods.staged import Staged
from dpfda.problems.mean import MeanProblem

# The class by which Auto chooses. Guesses: others cost accuracy, never privacy.

#: How many times too large a bound may be.
LOOSE = (1.0, 2.0, 4.0, 8.0)
#: What share of a curve's squared size its mean is, and how its squared coefficients and those of the strayings fall
#: off: as these powers of their number.
MEAN_SHARES, MEAN_DECAYS, STRAY_DECAYS = (0.97, 0.8, 0.5, 0.25), (4.0, 3.0, 2.0), (4.0, 2.0)
#: How far curves stray of a public spread, typically.
OF_SPREAD = 0.6
#: A privately chosen radius is larger than typical curves by this factor, an ellipsoid counts as wider than the best by
#: the other: so that one round and two are weighed alike where they are in simulations, at n epsilon of about 550 (and
#: 1,000 where the scale is public). That is wider than ellipsoids are: clipping, too, must pay.
LARGER, WIDER = 1.5, 2.3


@dataclass(frozen=True, eq=False)
class Outlook:
    """Risks of releases of one problem at one budget; `known` says that curves are about as large as the bound."""

    problem: MeanProblem
    epsilon: Fraction
    spread: float | None = None
    known: bool = False
    wider: float = WIDER

    @cached_property
    def _class(self) -> _Class:
        return _class_of(self.problem.basis.size, self.problem.bound.outer, self.spread, self.known)

    @property
    def sizes(self) -> np.ndarray:
        """How large curves are, member by member."""
        return self._class.sizes

    @property
    def means(self) -> np.ndarray:
        """Squared coefficients of the mean, a row for each member."""
        return self._class.means

    @property
    def strays(self) -> np.ndarray:
        """Mean squared coefficients of what curves stray by, a row for each member."""
        return self._class.strays

    @property
    def described(self) -> str:
        """The class in words."""
        bounds = "" if self.known else f"bounds that are right to {max(LOOSE):g} times too large, and "
        return f"{bounds}smooth to rough curves"

    def typical(self, method: Method) -> float:
        """The geometric mean of the risks over the class: what is minimised."""
        return float(np.exp(np.log(self.risks(method)).mean()))

    def risks(self, method: Method) -> np.ndarray:
        """Expected squared errors of a method with all its parameters, member by member, sampling included."""
        return self.errors(method) + self._class.strayed / self.problem.n

    def errors(self, method: Method) -> np.ndarray:
        """The same without sampling: what noise leaves after shrinkage, and what is not released."""
        staged = method if isinstance(method, Staged) else None
        parts = (staged.method if staged else method).calibrate(self.problem, self.epsilon)
        count = 1 + max(int(part.where.max()) for part in parts)
        noise = np.full(count, np.inf)
        for part in parts:
            noise[part.where] = part.law.variance / part.filter**2
        if staged is None:
            left = _left(self.means[:, :count], noise)
        else:
            first = noise / float(staged.first_share) ** 2 * self._rescaled(staged)[:, None]
            left = self._refined(_left(self.means[:, :count], first), staged)
        return np.asarray(left.sum(axis=1) + self.means[:, count:].sum(axis=1))

    def _rescaled(self, staged: Staged) -> np.ndarray:
        """What a private radius makes of the first round's noise energy."""
        if staged.radius is None:
            return np.ones(len(self.sizes))
        return np.minimum(LARGER * self.sizes / self.problem.bound.outer, 1.0) ** 2

    def _refined(self, left: np.ndarray, staged: Staged) -> np.ndarray:
        """What later rounds make of the error that the first one left."""
        count = left.shape[1]
        starts, sizes = octaves(count), np.diff((*octaves(count), count))
        varying = np.add.reduceat(self.strays[:, :count], starts, axis=1)
        for number, step in enumerate(staged.steps):
            if step == "refine":
                about = self.wider**2 * (varying + np.add.reduceat(left, starts, axis=1))
                noise = self.block_noise(about, sizes.astype(float)) / float(staged.share(number)) ** 2
                left = _left(self.means[:, :count], np.repeat(noise, sizes, axis=1))
        return left

    def block_noise(self, about: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Noise of each coefficient of a block in a round at full epsilon, clipped to the best ellipsoid for these."""
        return self.noise_within(best_axes(about, sizes), sizes)

    def noise_within(self, axes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The same in an ellipsoid with these semi-axes: blocks of ball noise or one ball, whichever is quieter."""
        heavy = axes * np.sqrt(sizes * (sizes + 1))
        blocks, ball = heavy * heavy.sum(axis=-1, keepdims=True) / sizes, axes**2 * (sizes.sum() + 1)
        quieter = (blocks * sizes).sum(axis=-1, keepdims=True) < (ball * sizes).sum(axis=-1, keepdims=True)
        unit = (1.0 if self.problem.count_is_private else 2.0) / (self.problem.n * float(self.epsilon))
        return np.asarray(unit**2 * np.where(quieter, blocks, ball))


@dataclass(frozen=True, eq=False)
class _Class:
    """The class of curves: their sizes, squared coefficients of means and of strayings, and what the latter add to."""

    sizes: np.ndarray
    means: np.ndarray
    strays: np.ndarray
    strayed: np.ndarray


@lru_cache(maxsize=8)
def _class_of(functions: int, outer: float, spread: float | None, known: bool) -> _Class:
    """The class for a bound, which plans of other numbers and budgets share."""
    powers = {decay: np.arange(1.0, functions + 1) ** -decay for decay in (*MEAN_DECAYS, *STRAY_DECAYS)}
    shapes = {decay: power / power.sum() for decay, power in powers.items()}
    sizes, means, strays = [], [], []
    for loose, share, mean, stray in product((1.0,) if known else LOOSE, MEAN_SHARES, MEAN_DECAYS, STRAY_DECAYS):
        size = outer / loose
        far = (1 - share) * size**2 if spread is None else (OF_SPREAD * spread) ** 2
        sizes.append(size)
        means.append(share * size**2 * shapes[mean])
        strays.append(far * shapes[stray])
    found = _Class(np.array(sizes), np.array(means), np.array(strays), np.array(strays).sum(axis=1))
    for shared in (found.sizes, found.means, found.strays, found.strayed):
        shared.setflags(write=False)
    return found


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


def _left(signal: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """What the best linear shrinkage leaves of signal and noise; all of the signal where nothing was released."""
    kept = np.divide(noise, signal + noise, out=np.ones(np.broadcast_shapes(signal.shape, noise.shape)),
                     where=np.isfinite(noise))  # fmt: skip
    return np.asarray(signal * kept)
