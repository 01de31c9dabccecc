"""Ball noise: uniform in direction, in one ball or in blocks, rounded exactly with interval arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.errors import ParameterError
from dpfda.noise.common import FLOATS, GUARD, RESOLUTION
from dpfda.noise.rounding import PLACES, Deviates, Placed, arb
from dpfda.noise.samplers import flint


@dataclass(frozen=True)
class Ball:
    """Noise with density proportional to ``exp(-epsilon sum_B ||x_B / axes_B||_2 / diameter)``.

    The sum runs over blocks of coordinates that begin at `starts`; a single block is the K-norm mechanism with a
    Euclidean norm, blocks of one coordinate are independent Laplace noise (derivations: ball noise). Methods make it
    with :meth:`calibrated`.

    Parameters
    ----------
    epsilon : Fraction
        What one draw costs.
    axes : array of float
        Semi-axes of the ball, one per coordinate.
    diameter : float
        The largest sum of norms that a neighbour can make.
    delta : Fraction, optional
        Default: 0, pure differential privacy.
    starts : tuple of int, optional
        Where blocks begin. Default: one block.

    Examples
    --------
    >>> Ball(Fraction(1), np.ones(2), 2.0).variance.tolist()
    [12.0, 12.0]
    """

    epsilon: Fraction
    axes: np.ndarray
    diameter: float
    delta: Fraction = Fraction(0)
    starts: tuple[int, ...] = (0,)

    @classmethod
    def calibrated(
        cls, epsilon: Fraction, differences: Sensitivity, max_abs: np.ndarray, starts: tuple[int, ...] = (0,)
    ) -> Ball:
        """Ball noise on the axes that suit the differences best; like Laplace, with room for a float audit.

        Blocks share the budget so that the energy of all noise together is smallest (derivations: blocks).

        Parameters
        ----------
        epsilon : Fraction
            What one draw costs.
        differences : Sensitivity
            Every difference that two neighbours can make in the statistic.
        max_abs : array of float
            The largest size that each coordinate of the statistic can have.
        starts : tuple of int, optional
            Where blocks begin. Default: one block.
        """
        axes = differences.axes()
        blocks = [slice(*pair) for pair in pairwise((*starts, axes.size))]
        with np.errstate(all="ignore"):
            if len(blocks) > 1:
                energies = [(axes[b].size + 1) * float((axes[b] ** 2).sum()) for b in blocks]
                axes = axes * np.repeat(np.power(energies, -0.25), [axes[b].size for b in blocks])
            places = np.arange(axes.size)
            alone = [differences.restricted(places[b]).radius(axes[b]) for b in blocks]
            diameter = differences.together(np.array(alone)) * GUARD
        if not ((axes > 0).all() and 0 < diameter < np.inf):
            raise ParameterError(
                "noise scales must be positive and finite",
                f"{axes.size} of them that are not",
                "Use fewer components, or a shorter length scale of the kernel.",
            )
        floats = 2.0**-FLOATS * sum(float(np.sqrt(((max_abs[b] / axes[b]) ** 2).sum())) for b in blocks)
        return cls(epsilon, axes, diameter + floats, starts=starts)

    @property
    def description(self) -> str:
        """The law in a few words, for statements."""
        return "ball noise, rounded exactly" if len(self.starts) == 1 else "blocks of ball noise, rounded exactly"

    @property
    def blocks(self) -> list[slice]:
        """The coordinates of each block."""
        return [slice(*pair) for pair in pairwise((*self.starts, self.axes.size))]

    @cached_property
    def _lengths(self) -> np.ndarray:
        """For each coordinate, how many its block has."""
        return np.repeat([b.stop - b.start for b in self.blocks], [b.stop - b.start for b in self.blocks])

    @property
    def scales(self) -> np.ndarray:
        """The noise scale of each coordinate."""
        return self.diameter / float(self.epsilon) * self.axes

    @property
    def variance(self) -> np.ndarray:
        """The variance of each coordinate."""
        return (self._lengths + 1) * self.scales**2

    def loss(self, h: np.ndarray) -> float:
        """Privacy loss of a difference `h`: at most epsilon for neighbours.

        Parameters
        ----------
        h : array of float
            A difference of two statistics, one number for each coordinate.
        """
        total = sum(float(np.sqrt(((h[b] / self.axes[b]) ** 2).sum())) for b in self.blocks)
        return float(self.epsilon) * total / self.diameter

    def to_lattice(self, values: Sequence[Fraction]) -> list[Placed]:
        """Exact values as :meth:`draw` takes them. Confidential.

        Parameters
        ----------
        values : sequence of Fraction
            The exact statistic, one number for each coordinate. Confidential.
        """
        return [Placed.of(x, step) for x, step in zip(values, self._units, strict=True)]

    def real(self, on_lattice: Sequence[Fraction]) -> np.ndarray:
        """The same as floats. Confidential, for audits.

        Parameters
        ----------
        on_lattice : sequence
            What :meth:`to_lattice` gave. Confidential.
        """
        return np.array([float(x) for x in on_lattice])

    @cached_property
    def _steps(self) -> np.ndarray:
        return self.scales * 2.0**-RESOLUTION

    @cached_property
    def _units(self) -> list[Fraction]:
        return [Fraction(step) for step in self._steps.tolist()]

    def draw(self, on_lattice: Sequence[Fraction], count: int | None = None) -> np.ndarray:
        """``round((c + N) / step) * step`` with the rounding decided exactly: post-processing of ideal noise.

        Parameters
        ----------
        on_lattice : sequence
            What :meth:`to_lattice` gave. Confidential.
        count : int, optional
            How many outcomes are drawn, a row for each. Default: one, as a vector.
        """
        if count is not None:
            return np.array([self.draw(on_lattice) for _ in range(count)])
        centres = self.to_lattice(on_lattice)
        widths = [Fraction(a) * Fraction(self.diameter) / self.epsilon for a in self.axes.tolist()]
        ratios = [width / step for width, step in zip(widths, self._units, strict=True)]
        drawn = [k for b in self.blocks for k in _rounded_ball(centres[b], ratios[b])]
        return np.array(drawn, dtype=float) * self._steps

    def simulate(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Noise alone, `size` rows of it, fast and from a seed: for studies and bands, never for a release.

        Parameters
        ----------
        size : int
            How many rows of noise.
        rng : numpy.random.Generator
            Where the numbers come from.
        """
        noise = rng.standard_normal((size, self.axes.size))
        for block in self.blocks:
            direction = noise[:, block]
            direction *= (rng.standard_gamma(direction.shape[1], size) / np.sqrt((direction**2).sum(axis=1)))[:, None]
        noise *= self.scales
        return noise


def _rounded_ball(centres: Sequence[Placed], ratios: Sequence[Fraction]) -> list[int]:
    """Integers nearest to ``centre_j + ratio_j * N_j`` in units of steps, N of density ``exp(-||N||)``, without error.

    The noise is drawn first. Each sum lies within two units of its last place from there on, and more places are
    drawn in the rare case that it could round either way.
    """
    size = len(centres)
    pairs = (size + 1) // 2

    def stretched(uniforms: list[flint.arb]) -> list[flint.arb]:
        return [arb(r) * x for r, x in zip(ratios, _ball_interval(uniforms, size, pairs), strict=True)]

    noise, places = Deviates(size + 2 * pairs, stretched), PLACES
    while True:
        half = 1 << (places - 1)
        sums = [x + c.floor(places) + half for x, c in zip(noise.floors(places), centres, strict=True)]
        rounded = [k >> places for k in sums]
        if rounded == [(k + 1) >> places for k in sums]:
            return rounded
        places += PLACES


def _ball_interval(uniforms: list[flint.arb], size: int, pairs: int) -> list[flint.arb]:
    """Radius Gamma(size, 1) from `size` uniforms, direction from Box-Muller on the rest."""
    product = flint.arb(1)
    for u in uniforms[:size]:
        product *= u
    normals = []
    for u, v in zip(uniforms[size : size + pairs], uniforms[size + pairs :], strict=True):
        length, (sine, cosine) = (-2 * u.log()).sqrt(), (2 * v).sin_cos_pi()
        normals += [length * cosine, length * sine]
    normals = normals[:size]
    norm = sum((x * x for x in normals), flint.arb(0)).sqrt()
    stretch = -product.log() / norm
    return [x * stretch for x in normals]
