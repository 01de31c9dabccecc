"""Independent discrete Laplace noise, drawn exactly by OpenDP."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.errors import ParameterError
from dpfda.noise.common import FLOATS, GUARD, check_coarse, drawn_by, in_steps, resolution, upwards
from dpfda.noise.samplers import measurements, metrics, mod, vectors
from dpfda.noise.studies import laplace


@dataclass(frozen=True)
class Laplace:
    """Independent discrete Laplace noise on lattices whose steps follow the scales.

    In lattice units all coordinates share one scale, `sensitivity / epsilon` rounded up (derivations: lattice of the
    noise). Methods make it with :meth:`calibrated`.

    Parameters
    ----------
    epsilon : Fraction
        What one draw costs.
    steps : array of float
        The step of each coordinate's lattice.
    sensitivity : int
        Everything that a neighbour can do in lattice units, rounding included.
    delta : Fraction, optional
        Default: 0, pure differential privacy.

    Examples
    --------
    >>> law = Laplace(Fraction(1), np.array([0.5, 0.25]), 4)
    >>> law.scales.tolist(), law.loss(np.array([1.0, 0.0]))
    ([2.0, 1.0], 0.5)
    """

    epsilon: Fraction
    steps: np.ndarray
    sensitivity: int
    delta: Fraction = Fraction(0)
    description: ClassVar[str] = "independent discrete Laplace noise"

    @classmethod
    def calibrated(
        cls, epsilon: Fraction, scales: np.ndarray, filter: np.ndarray, differences: Sensitivity, max_abs: np.ndarray
    ) -> Laplace:
        """The law with (very nearly) these scales that hides `filter * h` for every `h` among the differences.

        All arrays cover the noised coordinates only. Beyond the supremum the sensitivity counts one
        unit per coordinate for rounding, and what floats can add to a loss computed from them, so
        that an audit of float statistics stays below epsilon too.

        Parameters
        ----------
        epsilon : Fraction
            What one draw costs.
        scales : array of float
            The noise scale that each coordinate should have.
        filter : array of float
            What each coordinate is multiplied by before the noise.
        differences : Sensitivity
            Every difference that two neighbours can make in the statistic.
        max_abs : array of float
            The largest size that each coordinate of the statistic can have.
        """
        bits, fill = resolution(scales, filter, max_abs)
        steps = scales * 2.0**-bits
        real = differences.support(filter / steps) * GUARD
        slack = steps.size * (1 + math.ceil(fill * 2.0 ** (bits - FLOATS))) + 1
        check_coarse(bits, slack, real, steps.size, epsilon)
        return cls(epsilon, steps, math.floor(real) + slack)

    @cached_property
    def _scale(self) -> float:
        return upwards(Fraction(self.sensitivity) / self.epsilon)

    @cached_property
    def scales(self) -> np.ndarray:
        """The noise scale of each coordinate."""
        return self._scale * self.steps

    @property
    def variance(self) -> np.ndarray:
        """The variance of each coordinate."""
        return 2 * self.scales**2

    def loss(self, h: np.ndarray) -> float:
        """The largest log-likelihood ratio over all outcomes (derivations: the mechanism).

        Parameters
        ----------
        h : array of float
            A difference of two statistics, one number for each coordinate.
        """
        return float((np.abs(h) / self.scales).sum())

    def to_lattice(self, values: Sequence[Fraction]) -> list[int]:
        """Exact values as :meth:`draw` takes them. Confidential.

        Parameters
        ----------
        values : sequence of Fraction
            The exact statistic, one number for each coordinate. Confidential.
        """
        self._mechanism()  # certified before any charge, or not at all
        return in_steps(list(values), self.steps)

    def real(self, on_lattice: Sequence[int]) -> np.ndarray:
        """The same as floats. Confidential, for audits.

        Parameters
        ----------
        on_lattice : sequence
            What :meth:`to_lattice` gave. Confidential.
        """
        return np.array([float(k) for k in on_lattice]) * self.steps

    def _mechanism(self) -> mod.Measurement:
        return _certified(self._scale, self.sensitivity, self.epsilon)

    def draw(self, on_lattice: Sequence[int], count: int | None = None) -> np.ndarray:
        """Values plus exact noise: one outcome, or `count` rows of them.

        Parameters
        ----------
        on_lattice : sequence
            What :meth:`to_lattice` gave. Confidential.
        count : int, optional
            How many outcomes are drawn, a row for each. Default: one, as a vector.
        """
        return drawn_by(self._mechanism(), on_lattice, self.steps, count)

    def simulate(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Noise alone, `size` rows of it, fast and from a seed: for studies and bands, never for a release.

        Parameters
        ----------
        size : int
            How many rows of noise.
        rng : numpy.random.Generator
            Where the numbers come from.
        """
        return laplace((size, self.steps.size), rng) * self.scales


@lru_cache(maxsize=64)
def _certified(scale: float, sensitivity: int, epsilon: Fraction) -> mod.Measurement:
    """OpenDP's sampler, with OpenDP's own word that it costs no more than epsilon. Stateless, so kept."""
    mechanism = measurements.make_laplace(vectors(), metrics.l1_distance(T="i64"), scale=scale)
    if mechanism.map(sensitivity) > upwards(epsilon):
        raise ParameterError("the sampler must certify epsilon", float(epsilon), "Use a rounder epsilon.")
    return mechanism
