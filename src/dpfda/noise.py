"""Noise laws, and the only door to randomness.

A law knows what it costs (`loss`), what it does to accuracy (`variance`) and how to be drawn
*exactly*: integers from the operating system's generator, no floating-point sampling, no seed.
Studies that need a million fast draws use :func:`simulate` and :func:`process` with their own
generator; a release cannot reach those.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import flint
import numpy as np
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_laplace
from opendp.metrics import l1_distance
from opendp.mod import enable_features

from .basis import Eigenbasis
from .errors import ParameterError
from .protocol import Reach

enable_features("contrib")

#: A sensitivity is computed in floating point from public numbers; this covers its rounding.
GUARD = 1 + 2.0**-40
#: Bits between a Laplace scale and its lattice step, and the largest settled integer.
RESOLUTION, RANGE = 40, 2**60
#: A statistic as a float is off by at most 2^-52 of its size, a difference of two by 2^-51.
FLOATS = 50


def _upwards(value: Fraction) -> float:
    """The smallest convenient float that is not below `value`."""
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


@dataclass(frozen=True)
class Laplace:
    """Independent discrete Laplace noise on lattices whose steps follow the scales.

    In lattice units all coordinates share one scale, `sensitivity / epsilon` rounded up, and
    `sensitivity` counts everything a neighbour can do, rounding included (derivations: lattice of the noise).
    """

    epsilon: Fraction
    steps: np.ndarray
    sensitivity: int
    delta: Fraction = Fraction(0)
    words: ClassVar[str] = "independent discrete Laplace noise"

    @classmethod
    def calibrated(
        cls, epsilon: Fraction, scales: np.ndarray, filter: np.ndarray, reach: Reach, extent: np.ndarray
    ) -> Laplace:
        """The law with (very nearly) these scales that hides `filter * h` for every `h` in reach.

        All arrays cover the noised coordinates only. Beyond the supremum the sensitivity counts one
        unit per coordinate for rounding, and what floats can add to a loss computed from them, so
        that an audit of float statistics stays below epsilon too.
        """
        with np.errstate(all="ignore"):
            fill = float((filter * extent / scales).max(initial=0.0))
        if not scales.size or not 0 < fill < 2.0**52 or not 0 < float(scales.max()) < math.inf:
            raise ParameterError(
                "noise scales must be positive, finite and comparable with the bound",
                f"{scales.size} of them, at a ratio of {fill:.1e}",
                "Check the method's parameters, n, epsilon and the bound.",
            )
        bits = min(RESOLUTION, math.floor(math.log2(RANGE / max(fill, 1.0))))
        steps = scales * 2.0**-bits
        real = reach.support(filter / steps) * GUARD
        slack = steps.size * (1 + math.ceil(fill * 2.0 ** (bits - FLOATS))) + 1
        if bits < 8 or not slack <= 2.0**-8 * real < math.inf:
            raise ParameterError(
                "the noise must be coarser than the lattice it is drawn on",
                f"{steps.size} coordinates at epsilon {float(epsilon):g}",
                "n times epsilon is out of range; use fewer components or a larger epsilon.",
            )
        return cls(epsilon, steps, math.floor(real) + slack)

    @cached_property
    def _scale(self) -> float:
        return _upwards(Fraction(self.sensitivity) / self.epsilon)

    @cached_property
    def scales(self) -> np.ndarray:
        return self._scale * self.steps

    @property
    def variance(self) -> np.ndarray:
        return 2 * self.scales**2

    def loss(self, h: np.ndarray) -> float:
        return float((np.abs(h) / self.scales).sum())

    def settle(self, values: Sequence[Fraction]) -> list[int]:
        """Each value rounded to its own lattice; clamped, so that the sum with noise stays in range."""
        self._mechanism()  # certified before any charge, or not at all
        rounded = (round(x / Fraction(step)) for x, step in zip(values, self.steps.tolist(), strict=True))
        return [max(-RANGE, min(RANGE, k)) for k in rounded]

    def real(self, settled: Sequence[int]) -> np.ndarray:
        return np.array([float(k) for k in settled]) * self.steps

    def _mechanism(self) -> Any:
        """OpenDP's sampler, with OpenDP's own word that it costs no more than epsilon."""
        mechanism = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=self._scale)
        if mechanism.map(self.sensitivity) > _upwards(self.epsilon):
            raise ParameterError("the sampler must certify epsilon", float(self.epsilon), "Use a rounder epsilon.")
        return mechanism

    def draw(self, settled: Sequence[int]) -> np.ndarray:
        return self.real(self._mechanism()(list(settled)))

    def simulate(self, size: int, rng: np.random.Generator) -> np.ndarray:
        return laplace((size, self.steps.size), rng) * self.scales


@dataclass(frozen=True)
class Ball:
    """Noise with density proportional to ``exp(-epsilon ||x / axes||_2 / diameter)`` (derivations: ball noise)."""

    epsilon: Fraction
    axes: np.ndarray
    diameter: float
    delta: Fraction = Fraction(0)
    words: ClassVar[str] = "ball noise, rounded exactly"

    @classmethod
    def calibrated(cls, epsilon: Fraction, reach: Reach, extent: np.ndarray) -> Ball:
        """Ball noise on the axes that suit the reach best; like Laplace, with room for a float audit."""
        axes = reach.axes()
        diameter = reach.radius(axes) * GUARD
        floats = 2.0**-FLOATS * float(np.sqrt(((extent / axes) ** 2).sum()))
        return cls(epsilon, axes, diameter + floats)

    @property
    def scales(self) -> np.ndarray:
        return self.diameter / float(self.epsilon) * self.axes

    @property
    def variance(self) -> np.ndarray:
        return (self.axes.size + 1) * self.scales**2

    def loss(self, h: np.ndarray) -> float:
        return float(self.epsilon) * float(np.sqrt(((h / self.axes) ** 2).sum())) / self.diameter

    def settle(self, values: Sequence[Fraction]) -> list[Fraction]:
        return list(values)

    def real(self, settled: Sequence[Fraction]) -> np.ndarray:
        return np.array([float(x) for x in settled])

    @cached_property
    def _steps(self) -> np.ndarray:
        return self.scales * 2.0**-RESOLUTION

    def draw(self, settled: Sequence[Fraction]) -> np.ndarray:
        """``round((c + N) / step) * step`` with the rounding decided exactly: post-processing of ideal noise."""
        steps = [Fraction(step) for step in self._steps.tolist()]
        widths = [Fraction(a) * Fraction(self.diameter) / self.epsilon for a in self.axes.tolist()]
        centres = [c / step for c, step in zip(settled, steps, strict=True)]
        ratios = [width / step for width, step in zip(widths, steps, strict=True)]
        return np.array(_rounded_ball(centres, ratios), dtype=float) * self._steps

    def simulate(self, size: int, rng: np.random.Generator) -> np.ndarray:
        dimension = self.axes.size
        direction = rng.standard_normal((size, dimension))
        radius = rng.standard_gamma(dimension, size) / np.sqrt((direction**2).sum(axis=1))
        return radius[:, None] * direction * self.scales


class _Uniforms:
    """Uniform numbers on (0, 1) known to as many bits as have been asked for so far."""

    def __init__(self, count: int):
        self.bits, self.known = 0, [0] * count

    def refine(self, bits: int) -> None:
        fresh = bits - self.bits
        self.known = [(k << fresh) | secrets.randbits(fresh) for k in self.known]
        self.bits = bits

    def intervals(self) -> list[Any]:
        unit = flint.arb(2) ** (-self.bits - 1)
        return [flint.arb(2 * k + 1, 1) * unit for k in self.known]


def _rounded_ball(centres: Sequence[Fraction], ratios: Sequence[Fraction]) -> list[int]:
    """Integers nearest to ``centre_j + ratio_j * N_j``, N of density ``exp(-||N||)``, without error.

    Uniform bits are intervals; interval arithmetic carries them through the transformation, and
    more bits are drawn until every coordinate rounds the same way over its whole interval.
    """
    size = len(centres)
    pairs = (size + 1) // 2
    uniforms = _Uniforms(size + 2 * pairs)
    while True:
        uniforms.refine(uniforms.bits + 192)
        with flint.ctx.workprec(uniforms.bits + 64):
            noise = _ball_interval(uniforms.intervals(), size, pairs)
            rounded = [
                (_arb(c) + _arb(r) * x + flint.arb(0.5)).floor().unique_fmpz()
                for c, r, x in zip(centres, ratios, noise, strict=True)
            ]
        if all(k is not None for k in rounded):
            return [int(k) for k in rounded]


def _arb(value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _ball_interval(uniforms: list[Any], size: int, pairs: int) -> list[Any]:
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


def laplace(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Standard Laplace variates for studies: exponentials with random signs, twice as fast as `rng.laplace`."""
    out = np.empty(shape)
    flat = out.reshape(-1)
    sign = np.uint64(1 << 63)
    for start in range(0, flat.size, 1 << 16):
        block = flat[start : start + (1 << 16)]
        rng.standard_exponential(out=block)
        bits = rng.integers(0, 1 << 64, block.size, dtype=np.uint64)
        np.bitwise_and(bits, sign, out=bits)
        np.bitwise_xor(block.view(np.uint64), bits, out=block.view(np.uint64))
    return out


def simulate(plan: Any, statistic: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """`size` simulated releases of a plan about a given statistic, one row of coefficients each.

    For studies only: floating-point noise from a seeded generator is not a private release.
    """
    stage = getattr(plan, "stage", plan)  # a stage will do
    noise = stage.spread([part.law.simulate(size, rng) for part in stage.parts])
    return stage.problem.finish(np.asarray(statistic, dtype=float) + noise, stage.parts)


def process(basis: Eigenbasis, size: int, rng: np.random.Generator) -> np.ndarray:
    """`size` curves of the ICLP itself: Laplace coefficients with variances `basis.eigenvalues`.

    For studies only.

    >>> from dpfda.grid import Grid
    >>> from dpfda.kernels import Cosine, Matern
    >>> basis = Cosine(Matern(1.5, 0.1)).basis(Grid.midpoints(0, 1, 64))
    >>> process(basis, 3, np.random.default_rng(0)).shape
    (3, 64)
    """
    scales = np.sqrt(basis.eigenvalues / 2)
    curves = np.empty((size, basis.grid.size))
    rows = max(1, (1 << 18) // basis.grid.size)
    for start in range(0, size, rows):
        block = laplace((min(rows, size - start), basis.size), rng)
        block *= scales
        curves[start : start + rows] = basis.synthesize(block)
    return curves
