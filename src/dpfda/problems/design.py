"""Both sides of a regression, each encoded alone: a bounded vector of inputs, a bounded response.

Encoded vectors are integers of sixteen bits (held in floats), so sums of products of a billion
records are exact. Every design begins with a constant, whose own moment is public.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpfda.bounds.lattice import RADIUS, RADIUS_BITS, clip_euclidean
from dpfda.bounds.loops import Block
from dpfda.core import codec
from dpfda.problems.gram import DensityGram, Encoded, Gram, HalfGram
from dpfda.problems.mean import MeanProblem
from dpfda.spaces.inputs import FeatureMap

#: Bits of encoded inputs and responses where products of them are added up (derivations: exact totals), and the step
#: from the fine lattice of records to theirs.
SQUARE_BITS = 16
STEPS = 2.0 ** (SQUARE_BITS - RADIUS_BITS)
#: The constant of a design, as a share of the bound on its other inputs: a level is then told as well as a slope
#: (derivations: regression).
LEVEL = 0.5


#: How far beyond a radius responses still are when they are clipped to it, in radii: any number above one will do.
NEAR = 4.0


class Design(ABC):
    """A vector of inputs with a public bound on its norm, the constant first (derivations: regression)."""

    #: Records handled at a time: few enough to stay in a processor's cache. Products of as many stay exact in floats.
    chunk: ClassVar[int] = 1 << 12

    @property
    @abstractmethod
    def columns(self) -> int:
        """Numbers that one record brings."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the encoded vector."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """One step of an encoded number."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """Largest norm of an encoded vector, rounding included."""

    @property
    @abstractmethod
    def constant(self) -> float:
        """The first entry, the same for all records."""

    @property
    @abstractmethod
    def energies(self) -> np.ndarray:
        """Public guess of the mean square of each entry."""

    @property
    @abstractmethod
    def facts(self) -> list[object]:
        """Everything that decides how inputs are encoded, as plain data."""

    @abstractmethod
    def code(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is needed of each record, as integers in floats, and which are unusable (their constant stays)."""

    def decode(self, coded: np.ndarray) -> Encoded:
        """The vectors of coded records."""
        return Encoded(coded)

    def encode(self, inputs: np.ndarray) -> tuple[Encoded, np.ndarray]:
        """The vectors of records, and which records are unusable."""
        coded, bad = self.code(inputs)
        return self.decode(coded), bad

    @property
    @abstractmethod
    def gram(self) -> Gram:
        """How the first moment of these vectors is released."""

    @property
    @abstractmethod
    def restoring(self) -> np.ndarray:
        """From coefficients of the encoded vector to those of the user's own inputs (the constant first)."""


@dataclass(frozen=True, eq=False)
class Covariates(Design):
    """Covariates clipped to a norm about zero, or each to a range of its own (derivations: regression)."""

    count: int
    norm: float | None = None
    ranges: tuple[tuple[float, float], ...] | None = None

    @property
    def facts(self) -> list[object]:
        return ["covariates", self.count, self.norm, self.ranges]

    @property
    def columns(self) -> int:
        return self.count

    @property
    def size(self) -> int:
        return self.count + 1

    @cached_property
    def _outer(self) -> float:
        """Norm of the largest scaled covariates."""
        return 1.0 if self.norm is not None else float(np.sqrt(self.count))

    @cached_property
    def unit(self) -> float:
        return self._outer / (2.0**SQUARE_BITS)

    @cached_property
    def _constant(self) -> float:
        return float(np.rint(LEVEL * 2.0**SQUARE_BITS))

    @cached_property
    def radius(self) -> float:
        others = 2.0**SQUARE_BITS + 0.5 * np.sqrt(self.count)
        return float(np.hypot(others, self._constant)) * self.unit * (1 + 2.0**-48)

    @cached_property
    def constant(self) -> float:
        return self._constant * self.unit

    @cached_property
    def energies(self) -> np.ndarray:
        inner = 1 / 9 if self.norm is not None else 1 / 3
        return np.append((self._constant * self.unit) ** 2, np.full(self.count, inner))

    @cached_property
    def _middle(self) -> np.ndarray:
        return (
            np.zeros(self.count) if self.ranges is None else np.array([(low + high) / 2 for low, high in self.ranges])
        )

    @cached_property
    def _half(self) -> np.ndarray:
        if self.ranges is None:
            return np.full(self.count, float(self.norm or 1.0))
        return np.array([(high - low) / 2 for low, high in self.ranges])

    def code(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bad = ~np.isfinite(inputs).all(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.where(bad[:, None], 0.0, (inputs - self._middle) / self._half)
        rows = np.empty((len(inputs), self.size))
        rows[:, 0] = self._constant
        if self.norm is not None:
            with np.errstate(over="ignore"):
                rows[:, 1:] = np.rint(clip_euclidean(np.rint(scaled * RADIUS)) * STEPS)
        else:
            rows[:, 1:] = np.rint(np.clip(scaled, -1.0, 1.0) * (2.0**SQUARE_BITS / self._outer))
        return rows, bad

    @cached_property
    def gram(self) -> Gram:
        return HalfGram(self.size, self.unit, self.radius, self.constant)

    @property
    def restoring(self) -> np.ndarray:
        matrix = np.diag(np.append(self._constant * self.unit, 1 / self._half))
        matrix[0, 1:] = -self._middle / self._half
        return matrix


@dataclass(frozen=True, eq=False)
class Features(Design):
    """Functions of inputs in a public box; `budget` is about how many records, times epsilon, tell their density.

    Their norm is at most the kernel's (derivations: kernel models), and rounding (derivations: regression).
    """

    map: FeatureMap
    budget: float
    chunk: ClassVar[int] = 1 << 12  # each chunk passes over the whole table of cells once

    @property
    def facts(self) -> list[object]:
        return ["features", codec.to_plain(self.map), self.gram.size]

    @property
    def columns(self) -> int:
        return self.map.box.dimension

    @property
    def size(self) -> int:
        return self.map.size

    @property
    def unit(self) -> float:
        return self.map.kappa / 2.0**SQUARE_BITS

    @property
    def radius(self) -> float:
        return (2.0**SQUARE_BITS + 0.5 * np.sqrt(self.size)) * self.unit * (1 + 2.0**-48)

    @cached_property
    def constant(self) -> float:
        place = np.zeros((1, self.columns), dtype=np.int64)
        return float(np.rint(float(self.map.at_cells(place)[0, 0]) / self.unit)) * self.unit

    @property
    def energies(self) -> np.ndarray:
        return self.map.energies

    def code(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        box = self.map.box
        places, bad = box.snapped(inputs)
        if box.dimension <= 3:
            which = np.ravel_multi_index(tuple(places.T), (box.cells,) * box.dimension)
            which[bad] = len(self._table) - 1
            return which[:, None].astype(float), bad
        rows = np.rint(self.map.at_cells(places) / self.unit)
        rows[bad, 1:] = 0.0
        return rows, bad

    def decode(self, coded: np.ndarray) -> Encoded:
        return Encoded(self._table, coded[:, 0].astype(np.int64)) if self.map.box.dimension <= 3 else Encoded(coded)

    @cached_property
    def _table(self) -> np.ndarray:
        """The vector of every cell, and last that of a record without a place: the constant alone."""
        rows = np.rint(self.map.table / self.unit)
        return np.append(rows, rows[:1] * np.eye(1, self.size), axis=0)

    @cached_property
    def gram(self) -> Gram:
        if self.map.box.dimension <= 3:
            return DensityGram.suited(self.map, self.budget)
        return HalfGram(self.size, self.unit, self.radius, self.constant)

    @property
    def restoring(self) -> np.ndarray:
        return np.diag(self.map.axes)


class Response(ABC):
    """A vector with a public bound on its norm, encoded on the fine lattice of records (derivations: regression)."""

    @property
    @abstractmethod
    def columns(self) -> int: ...

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def unit(self) -> float:
        """One step of the fine lattice."""

    @property
    @abstractmethod
    def facts(self) -> list[object]:
        """Everything that decides how responses are encoded, as plain data."""

    @property
    @abstractmethod
    def outer(self) -> float:
        """The bound on the norm."""

    @abstractmethod
    def encode(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """One row of integers inside the lattice ball per record, and which records are unusable (zero).

        Curves raise an error of their own for those, where that is the rule.
        """

    def decode(self, coded: np.ndarray) -> np.ndarray:
        """What :meth:`encode` gave, as rows of this response's own lattice."""
        return coded


@dataclass(frozen=True, eq=False)
class CurveResponse(Response):
    """Coefficients of a curve in the first functions of a basis, clipped to a ball about the public centre."""

    code: MeanProblem

    @property
    def facts(self) -> list[object]:
        return ["curve", self.code.key]

    @property
    def columns(self) -> int:
        return self.code.width

    @property
    def size(self) -> int:
        return self.code.basis.size

    @property
    def unit(self) -> float:
        return float(Fraction(float(self.code.bound.outer)) / Fraction(self.code.inner_radius))

    @property
    def outer(self) -> float:
        return float(self.code.bound.outer)

    def encode(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        return self.code.encoded(block), np.zeros(len(block.rows), dtype=bool)


@dataclass(frozen=True, eq=False)
class NumberResponse(Response):
    """A number clipped to a public range, about the middle of it."""

    range: tuple[float, float]

    columns: ClassVar[int] = 1
    size: ClassVar[int] = 1

    @property
    def facts(self) -> list[object]:
        return ["number", *self.range]

    @property
    def middle(self) -> float:
        return (self.range[0] + self.range[1]) / 2

    @property
    def outer(self) -> float:
        return (self.range[1] - self.range[0]) / 2

    @property
    def unit(self) -> float:
        return self.outer / RADIUS

    def encode(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        values = block.values
        bad = np.isnan(values).any(axis=1)
        inside = np.clip(np.where(bad[:, None], self.middle, values), *self.range)
        return np.clip(np.rint((inside - self.middle) / self.unit), -RADIUS, RADIUS), bad


@dataclass(frozen=True, eq=False)
class Shortened(Response):
    """A response that is clipped further, to a ball of a public `radius` about the same centre.

    Records are encoded as the `inner` response says, so that stages which clip alike or not share them
    (derivations: regression).
    """

    inner: Response
    radius: float

    @property
    def columns(self) -> int:
        return self.inner.columns

    @property
    def size(self) -> int:
        return self.inner.size

    @property
    def facts(self) -> list[object]:
        return [*self.inner.facts, "within", self.radius]

    @property
    def outer(self) -> float:
        return self.radius

    @property
    def unit(self) -> float:
        return self.radius / (RADIUS - 0.5 * float(np.sqrt(self.size)))

    def encode(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        return self.inner.encode(block)

    def decode(self, coded: np.ndarray) -> np.ndarray:
        """Far rows are brought near first: the clip would shorten them further than needed."""
        rows = self.inner.decode(coded) * (self.inner.unit / self.unit)
        near = np.minimum(1.0, NEAR * RADIUS / np.maximum(np.sqrt(energy(rows)), 1.0))
        return clip_euclidean(np.rint(rows * near[:, None]))


def energy(rows: np.ndarray) -> np.ndarray:
    """Squared norms, elementwise and in a fixed order: a function of the record alone."""
    return sum(np.ascontiguousarray((rows * rows).T), np.zeros(len(rows)))
