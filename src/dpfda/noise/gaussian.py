"""Discrete Gaussian noise, drawn exactly by OpenDP: approximate privacy, with a delta.

The analytic Gaussian formula is about a continuous law. What is drawn is discrete, so the formula
is met with a little to spare: on a lattice this fine, the two laws differ by a factor
``exp(gamma)`` outside tails of mass ``tail``, and both are charged (derivations: gaussian noise).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import scipy

from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.errors import ParameterError
from dpfda.noise.common import FLOATS, GUARD, check_coarse, drawn_by, in_steps, resolution
from dpfda.noise.samplers import flint, measurements, metrics, mod, vectors

#: Share of delta that is kept for what a discrete law does in its tails; any share is valid, both are charged
#: (derivations: gaussian noise).
TAIL = 1e-6


@dataclass(frozen=True)
class Gaussian:
    """Independent discrete Gaussian noise on lattices whose steps follow the scales.

    In lattice units all coordinates share one standard deviation (derivations: gaussian noise). Methods make it with
    :meth:`calibrated`.

    Parameters
    ----------
    epsilon, delta : Fraction
        What one draw costs.
    steps : array of float
        The step of each coordinate's lattice.
    sensitivity : float
        The Euclidean distance that a neighbour can make in lattice units, rounding included.

    Examples
    --------
    >>> import dpfda as dp
    >>> method = dp.methods.GaussianProcess(delta=1e-6)
    >>> plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.L2Ball(1.0), grid=16, method=method)
    >>> law = plan.stage.parts[0].law
    >>> isinstance(law, dp.noise.Gaussian), law.delta
    (True, Fraction(1, 1000000))
    """

    epsilon: Fraction
    delta: Fraction
    steps: np.ndarray
    sensitivity: float
    description: ClassVar[str] = "discrete Gaussian noise (not pure differential privacy: it has a delta)"

    @classmethod
    def calibrated(
        cls,
        epsilon: Fraction,
        delta: Fraction,
        shape: np.ndarray,
        filter: np.ndarray,
        differences: Sensitivity,
        max_abs: np.ndarray,
    ) -> Gaussian:
        """The law with scales proportional to `shape` that hides `filter * h` for every `h` among the differences.

        Parameters
        ----------
        epsilon : Fraction
            What one draw costs.
        delta : Fraction
            The probability with which the bound on the loss may fail.
        shape : array of float
            The noise scales in proportion to each other.
        filter : array of float
            What each coordinate is multiplied by before the noise.
        differences : Sensitivity
            Every difference that two neighbours can make in the statistic.
        max_abs : array of float
            The largest size that each coordinate of the statistic can have.
        """
        scales = shape * differences.radius(shape / filter) * multiplier(float(epsilon), float(delta))
        bits, fill = resolution(scales, filter, max_abs)
        steps = scales * 2.0**-bits
        real = differences.radius(steps / filter) * GUARD
        slack = math.sqrt(steps.size) * (1 + math.ceil(fill * 2.0 ** (bits - FLOATS))) + 1
        check_coarse(bits, slack, real, steps.size, epsilon)
        return cls(epsilon, delta, steps, math.nextafter(real + slack, math.inf))

    @cached_property
    def _scale(self) -> float:
        """Standard deviation in lattice units."""
        return self.sensitivity * discrete_multiplier(self.epsilon, self.delta, self.steps.size, self.sensitivity)

    @cached_property
    def scales(self) -> np.ndarray:
        """The standard deviation of each coordinate's noise."""
        return self._scale * self.steps

    @property
    def variance(self) -> np.ndarray:
        """The variance of each coordinate."""
        return self.scales**2

    def loss(self, h: np.ndarray) -> float:
        """Epsilon at the largest distance that a neighbour can make, in proportion below it.

        Parameters
        ----------
        h : array of float
            A difference of two statistics, one number for each coordinate.
        """
        return float(self.epsilon) * float(np.sqrt(((h / self.steps) ** 2).sum())) / self.sensitivity

    def to_lattice(self, values: Sequence[Fraction]) -> list[int]:
        """Exact values as :meth:`draw` takes them. Confidential.

        Parameters
        ----------
        values : sequence of Fraction
            The exact statistic, one number for each coordinate. Confidential.
        """
        self._mechanism()
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
        return _sampler(self._scale, self.sensitivity)

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
        return rng.standard_normal((size, self.steps.size)) * self.scales


@lru_cache(maxsize=64)
def _sampler(scale: float, sensitivity: float) -> mod.Measurement:
    """OpenDP's sampler, with its own word that the standard deviation is what was asked for. Stateless, so kept."""
    mechanism = measurements.make_gaussian(vectors(), metrics.l2_distance(T="f64"), scale=scale)
    if not mechanism.map(sensitivity) <= 0.5 * (sensitivity / scale) ** 2 * GUARD:
        raise ParameterError("the sampler must certify its scale", scale, "Use a rounder epsilon.")
    return mechanism


def log_delta(epsilon: float, sigma: float) -> float:
    """Logarithm of the smallest delta of continuous Gaussian noise, `sigma` per unit of sensitivity."""
    ndtr = scipy.special.log_ndtr
    above, below = ndtr(0.5 / sigma - epsilon * sigma), ndtr(-0.5 / sigma - epsilon * sigma)
    ratio = epsilon + below - above
    return float(above + math.log(-math.expm1(ratio))) if ratio < 0 else -math.inf


def multiplier(epsilon: float, delta: float) -> float:
    """Standard deviation per unit of sensitivity by the analytic Gaussian formula.

    >>> round(multiplier(1.0, 0.01), 3)
    1.878
    """
    low, high = 1e-6, 1.0
    while log_delta(epsilon, high) > math.log(delta):
        high *= 2
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if log_delta(epsilon, middle) > math.log(delta) else (low, middle)
    return high


def discrete_multiplier(epsilon: Fraction, delta: Fraction, size: int, sensitivity: float) -> float:
    """As :func:`multiplier`, for `size` coordinates of the discrete law, with a certificate.

    `sensitivity` is in lattice units, so the standard deviation is at least that times a known number.
    """
    e, d = float(epsilon), float(delta)
    sigma = multiplier(e, d)
    # Beyond `far` standard deviations lies less than TAIL * delta, also after a factor e^epsilon.
    far = math.sqrt(2 * (math.log(8 * size / (TAIL * d)) + e + 1))
    gamma = size * (far + 1) / (sigma * sensitivity)
    if not (gamma < 1e-3 and e > 2 * gamma):
        raise ParameterError(
            "the noise must be much coarser than its lattice", f"epsilon {e:g}, delta {d:g}", "Raise epsilon or delta."
        )
    inner = math.nextafter(e - 2 * gamma, 0.0)
    target = d * math.exp(-gamma) * (1 - 2 * TAIL)
    sigma = multiplier(inner, target)
    while not _certified(inner, target, sigma):
        sigma *= 1 + 1e-12
    return sigma


def _certified(epsilon: float, delta: float, sigma: float) -> bool:
    """Whether interval arithmetic proves the analytic formula for these floats."""
    for precision in (128, 512, 4096, 32768):
        with flint.ctx.workprec(precision):
            e, s, root = flint.arb(epsilon), flint.arb(sigma), flint.arb(2).sqrt()
            above = ((e * s - 1 / (2 * s)) / root).erfc() / 2
            below = ((e * s + 1 / (2 * s)) / root).erfc() / 2
            slack = flint.arb(delta) - above + e.exp() * below
            if slack >= 0:
                return True
            if slack < 0:
                return False
    return False
