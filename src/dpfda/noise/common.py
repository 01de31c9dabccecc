"""What the laws share: guards against rounding, and how fine their lattices are (derivations: lattice of the noise)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpfda.core.errors import ParameterError
from dpfda.noise.samplers import mod

#: A sensitivity is computed in floating point from public numbers; this covers its rounding
#: (derivations: lattice of the noise).
GUARD = 1 + 2.0**-40
#: Bits between a scale and its lattice step, and the largest integer on it: sums with noise stay in 64 bits. Any are
#: valid, since the sensitivity is that on the lattice (derivations: lattice of the noise).
RESOLUTION, RANGE = 40, 2**60
#: A statistic as a float is off by at most 2^-52 of its size, a difference of two by 2^-51.
FLOATS = 50


def upwards(value: Fraction) -> float:
    """The smallest convenient float that is not below `value`."""
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


def resolution(scales: np.ndarray, filter: np.ndarray, max_abs: np.ndarray) -> tuple[int, float]:
    """Bits between scales and lattice steps, and the largest statistic in units of its scale."""
    with np.errstate(all="ignore"):
        fill = float((filter * max_abs / scales).max(initial=0.0))
    if not scales.size or not 0 < fill < 2.0**52 or not 0 < float(scales.max()) < math.inf:
        raise ParameterError(
            "noise scales must be positive, finite and comparable with the bound",
            f"{scales.size} of them, at a ratio of {fill:.1e}",
            "Check the method's parameters, n, epsilon and the bound.",
        )
    return min(RESOLUTION, math.floor(math.log2(RANGE / max(fill, 1.0)))), fill


def check_coarse(bits: int, slack: float, real: float, size: int, epsilon: Fraction) -> None:
    """Refuse noise that is not much coarser than its lattice: rounding would dominate the sensitivity."""
    if bits < 8 or not slack <= 2.0**-8 * real < math.inf:
        raise ParameterError(
            "the noise must be coarser than the lattice it is drawn on",
            f"{size} coordinates at epsilon {float(epsilon):g}",
            "n times epsilon is out of range; use fewer components or a larger epsilon.",
        )


def drawn_by(mechanism: mod.Measurement, on_lattice: Sequence[int], steps: np.ndarray, count: int | None) -> np.ndarray:
    """Noisy integers times their steps: one vector, or `count` of them by one call."""
    noisy = mechanism(list(on_lattice) * (1 if count is None else count))
    found: np.ndarray = np.array([float(k) for k in noisy]).reshape(-1, steps.size) * steps
    return found[0] if count is None else found


def in_steps(values: list[Fraction], steps: np.ndarray) -> list[int]:
    """Each value rounded to its own lattice; clamped, so that the sum with noise stays in range."""
    ratios = (step.as_integer_ratio() for step in steps.tolist())
    rounded = (nearest(x.numerator * q, x.denominator * p) for x, (p, q) in zip(values, ratios, strict=True))
    return [max(-RANGE, min(RANGE, k)) for k in rounded]


def nearest(numerator: int, denominator: int) -> int:
    """What `round` makes of the fraction, half to even, without the search for common factors.

    >>> [nearest(k, 4) for k in (-6, -2, -1, 1, 2, 3, 6, 7)] == [round(k / 4) for k in (-6, -2, -1, 1, 2, 3, 6, 7)]
    True
    """
    below, rest = divmod(numerator, denominator)
    return below + (2 * rest > denominator or (2 * rest == denominator and below % 2 == 1))
