"""A noise distribution with its exact draw: the contract of every law."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np


class Law(Protocol):
    """A noise distribution on a block of coordinates, with its exact draw.

    What lies between the statistic and its noise is each law's own: integers, or exact numbers that know their places.
    """

    @property
    def epsilon(self) -> Fraction:
        """What one draw costs."""

    @property
    def delta(self) -> Fraction:
        """The probability with which that may fail; zero for pure differential privacy."""

    @property
    def description(self) -> str:
        """The law in a few words, for statements."""

    @property
    def scales(self) -> np.ndarray:
        """The noise scale of each coordinate."""

    @property
    def variance(self) -> np.ndarray:
        """The variance of each coordinate."""

    def loss(self, h: np.ndarray) -> float:
        """Privacy loss of a difference `h`: at most epsilon for neighbours."""

    def to_lattice(self, values: Sequence[Fraction]) -> Sequence[Any]:
        """Exact values as :meth:`draw` takes them. Confidential."""

    def real(self, on_lattice: Sequence[Any]) -> np.ndarray:
        """The same as floats. Confidential, for audits."""

    def draw(self, on_lattice: Sequence[Any], count: int | None = None) -> np.ndarray:
        """Values plus exact noise: one outcome, or `count` rows of them."""

    def simulate(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Noise alone, `size` rows of it, fast and from a seed: for studies and bands, never for a release."""
