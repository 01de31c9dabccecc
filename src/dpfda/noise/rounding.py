"""Real noise to as many binary places as it takes: drawn from public numbers alone, before it meets any data.

Uniform bits are intervals; interval arithmetic carries them through a transformation, and more bits are appended
(never redrawn) until the first places of every number are known for certain. Data is then added as integers of the
same places. Only where a carry might still decide the result, with a chance of about one in `2^PLACES`, are more places
asked for: so the work of a draw does not tell what was added to it (derivations: ball noise).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction

from dpfda.noise.samplers import flint

#: Binary places in which noise and data meet, and random bits per uniform number that are drawn at a time. Any
#: are exact; with these a coordinate asks for more with a chance of about 2^-95 (derivations: ball noise).
PLACES, BITS = 96, 192


class Uniforms:
    """Uniform numbers on (0, 1) known to as many bits as have been asked for so far."""

    def __init__(self, count: int):
        self.bits, self.known = 0, [0] * count

    def refine(self) -> None:
        self.known = [(k << BITS) | secrets.randbits(BITS) for k in self.known]
        self.bits += BITS

    def intervals(self) -> list[flint.arb]:
        unit = flint.arb(2) ** (-self.bits - 1)
        return [flint.arb(2 * k + 1, 1) * unit for k in self.known]


class Deviates:
    """What a transformation makes of some uniform numbers."""

    def __init__(self, count: int, transformed: Callable[[list[flint.arb]], list[flint.arb]]):
        self.uniforms, self.transformed = Uniforms(count), transformed

    def floors(self, places: int) -> list[int]:
        """Each number times ``2^places``, rounded down: without error, and without a look at any data."""
        while True:
            if self.uniforms.bits < places + BITS // 2:
                self.uniforms.refine()
                continue
            with flint.ctx.workprec(self.uniforms.bits + 64):
                scale = flint.arb(2) ** places
                found = [(x * scale).floor().unique_fmpz() for x in self.transformed(self.uniforms.intervals())]
            known = [int(k) for k in found if k is not None]
            if len(known) == len(found):
                return known
            self.uniforms.refine()


class Placed(Fraction):
    """An exact number that knows its first places in some unit: divisions of data are done before noise is drawn."""

    __slots__ = ("first", "unit")
    unit: Fraction
    first: int

    @classmethod
    def of(cls, value: Fraction, unit: Fraction) -> Placed:
        if isinstance(value, Placed) and value.unit == unit:
            return value
        placed = cls(value)
        placed.unit, placed.first = unit, _floor(value / unit, PLACES)
        return placed

    def floor(self, places: int) -> int:
        """The number in its unit times ``2^places``, rounded down."""
        return self.first if places == PLACES else _floor(self / self.unit, places)

    def __repr__(self) -> str:
        return "Placed(confidential)"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        """Copies are placed again."""
        return Placed.of, (Fraction(self.numerator, self.denominator), self.unit)


def _floor(value: Fraction, places: int) -> int:
    return (value.numerator << places) // value.denominator


def arb(value: Fraction) -> flint.arb:
    """A rational number as an interval of the working precision."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))
