"""The first moment of a regression, ``mean x x'``, in as few numbers as its design allows.

In general these are the free entries of a symmetric matrix. Where inputs lie in a box of up to three
dimensions, the design's functions are fixed and only the density of the inputs is not: a few of its
cosine coefficients say all that is needed (derivations: regression).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.sensitivities import EuclideanSensitivity
from dpfda.spaces.inputs import FeatureMap
from dpfda.spaces.symmetric import ROOT2
from dpfda.spaces.tensor import CosineProductBasis, by_frequency

#: Numbers of cosines among which the density of inputs is described, by dimension; any are valid
#: (derivations: regression). And bits of their values, whose rounding `length` counts.
WAVES = {1: (1, 3, 6, 12), 2: (1, 4, 9, 20, 40), 3: (1, 8, 20, 60)}
DENSITY_BITS = 24
#: The density of inputs is taken to be at least this share of the uniform one: a fit goes nowhere without data
#: (derivations: regression).
LEAST = 0.1


@dataclass(frozen=True, eq=False)
class Encoded:
    """Design vectors of a batch, as integers held in floats: one row each, or rows of a table and who has which."""

    rows: np.ndarray
    which: np.ndarray | None = None

    def of_each(self, values: np.ndarray) -> np.ndarray:
        """What belongs to a row, for every record that has it."""
        return values if self.which is None else values[self.which]

    def counts(self) -> np.ndarray:
        """How many records have each row."""
        assert self.which is not None
        return np.bincount(self.which, minlength=len(self.rows))

    def against(self, values: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """``sum_i x_i y_i'``, exactly, for integers `values` (or with other `rows` for the design's)."""
        rows = self.rows if rows is None else rows
        if self.which is not None:
            columns = [np.bincount(self.which, weights=column, minlength=len(rows)) for column in values.T]
            values = np.stack(columns, axis=-1)
        return (rows.T @ values).astype(np.int64)


class Gram(ABC):
    """How the first moment is encoded, what a neighbour does to it (derivations: regression), and what matrix it is."""

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def length(self) -> float:
        """Largest norm of what one record adds."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """Largest distance between what two records add."""

    @property
    @abstractmethod
    def units(self) -> list[Fraction]:
        """Value of one step of each total."""

    @property
    @abstractmethod
    def first(self) -> float:
        """The first number, which is the same for all data where the number of records is public."""

    @abstractmethod
    def vagueness(self, noise: float, energies: np.ndarray) -> float:
        """Squared share of an error that one correction leaves, with noise of this standard deviation on the numbers.

        `energies` is the diagonal that the matrix is guessed to have.
        """

    @abstractmethod
    def doubt(self, noise: float) -> float:
        """Size of the error in the matrix that noise of this standard deviation on the numbers makes."""

    @property
    @abstractmethod
    def leverage(self) -> float:
        """Squared error in one entry of ``matrix @ coefficients``, per noise variance and squared coefficient."""

    @abstractmethod
    def totals(self, design: Encoded) -> np.ndarray:
        """Exact sums over records."""

    @abstractmethod
    def matrix(self, numbers: np.ndarray) -> np.ndarray:
        """The symmetric, positive semi-definite matrix nearest to what (noisy) numbers stand for."""

    def sensitivity(self, n: int, count_is_private: bool) -> EuclideanSensitivity:
        return EuclideanSensitivity(np.full(self.size, self.length if count_is_private else self.spread), 1 / n)


@dataclass(frozen=True, eq=False)
class HalfGram(Gram):
    """The upper triangle of ``x x'``: two rank-one matrices of norm B^2 differ by at most sqrt(2) B^2.

    (derivations: regression)
    """

    count: int
    unit: float
    radius: float
    constant: float

    @cached_property
    def upper(self) -> tuple[np.ndarray, np.ndarray]:
        return np.triu_indices(self.count)

    @property
    def size(self) -> int:
        return self.count * (self.count + 1) // 2

    @property
    def length(self) -> float:
        return self.radius**2

    @property
    def spread(self) -> float:
        return ROOT2 * self.radius**2 * (1 + 2.0**-48)

    @property
    def units(self) -> list[Fraction]:
        on = Fraction(self.unit) ** 2
        off = on * Fraction(ROOT2)
        return [on if i == k else off for i, k in zip(*(a.tolist() for a in self.upper), strict=True)]

    @property
    def first(self) -> float:
        return self.constant**2

    def vagueness(self, noise: float, energies: np.ndarray) -> float:
        return min(1.0, self.count * (noise / float(energies.min())) ** 2)

    def doubt(self, noise: float) -> float:
        return noise * float(np.sqrt(self.count))

    @property
    def leverage(self) -> float:
        return float(self.count)

    def totals(self, design: Encoded) -> np.ndarray:
        return (design.rows.T @ design.rows)[self.upper].astype(np.int64)

    def matrix(self, numbers: np.ndarray) -> np.ndarray:
        rows, columns = self.upper
        whole = np.zeros((*numbers.shape[:-1], self.count, self.count))
        entries = numbers / np.where(rows == columns, 1.0, ROOT2)
        whole[..., rows, columns] = entries
        whole[..., columns, rows] = entries
        values, vectors = np.linalg.eigh(whole)
        return (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


@dataclass(frozen=True, eq=False)
class DensityGram(Gram):
    """Cosine coefficients of the density of inputs, which the design's functions are integrated against.

    Two records differ by at most twice the largest norm of the cosines (derivations: regression).
    """

    map: FeatureMap
    count: int

    @classmethod
    def suited(cls, map: FeatureMap, budget: float) -> DensityGram:
        """As many cosines as can be told from noise: the density is then known to a third of its level at a point.

        `budget` is the number of records times the share of epsilon that goes into them.
        """
        found = [cls(map, count) for count in WAVES[map.box.dimension]]
        quiet = [g for g in found if g.count == 1 or g.count * (g.count + 1) * (g.spread / budget) ** 2 < 0.1]
        return quiet[-1]

    @cached_property
    def basis(self) -> CosineProductBasis:
        grid = self.map.box.grid
        index = by_frequency(grid.shape, self.count)
        return CosineProductBasis(grid, np.ones(len(index)), index)

    @cached_property
    def _lines(self) -> list[np.ndarray]:
        """Cosines of the unit interval along each side, one row per cell."""
        sides = enumerate(self.basis.grid.axes)
        return [self.basis.along(a, axis.points) * np.sqrt(axis.length) for a, axis in sides]

    def _cosines(self, places: np.ndarray) -> np.ndarray:
        values = np.ones((len(places), self.size))
        for a, line in enumerate(self._lines):
            values *= line[places[:, a]][:, self.basis.index[:, a]]
        return values

    @property
    def size(self) -> int:
        return self.basis.size

    @cached_property
    def length(self) -> float:
        """Every cosine at its largest at once; the constant one counts too."""
        tops = [np.abs(line).max(axis=0) for line in self._lines]
        heights = np.prod([top[self.basis.index[:, a]] for a, top in enumerate(tops)], axis=0)
        return float(np.sqrt((heights**2).sum()) * (1 + 1e-9) + np.sqrt(self.size) * 2.0**-DENSITY_BITS)

    @property
    def spread(self) -> float:
        """Two records differ in the cosines that are not constant, by twice their norm at most."""
        return 2 * float(np.sqrt(self.length**2 - 0.999))

    @property
    def units(self) -> list[Fraction]:
        return [Fraction(1, 2**DENSITY_BITS)] * self.size

    @property
    def first(self) -> float:
        return 1.0

    def vagueness(self, noise: float, energies: np.ndarray) -> float:
        """Where the density is wrong by a share, so is the correction; a uniform one may be wrong by a quarter."""
        return min(1.0, 0.05 + (self.size - 1) * noise**2)

    def doubt(self, noise: float) -> float:
        """None of its own: the density is kept away from zero."""
        return 0.0

    @property
    def leverage(self) -> float:
        """Noise multiplies functions: each entry sees it times the prediction, on its own axis."""
        return float(self.size * self.map.energies.mean() * self.map.energies.sum())

    def totals(self, design: Encoded) -> np.ndarray:
        counts = design.counts()
        totals = (counts[:-1] @ self._rounded).astype(np.int64)
        totals[0] += int(counts[-1]) << DENSITY_BITS  # a record without a place counts as spread evenly
        return totals

    @cached_property
    def _rounded(self) -> np.ndarray:
        return np.rint(self._table[0] * 2.0**DENSITY_BITS)

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """All cells' cosines and design functions."""
        cells = self.map.box.all_cells
        return self._cosines(cells), self.map.table

    def matrix(self, numbers: np.ndarray) -> np.ndarray:
        cosines, functions = self._table
        density = np.maximum(numbers @ cosines.T, LEAST) / len(cosines)
        if density.ndim == 1:
            return (functions * density[:, None]).T @ functions
        return np.stack([(functions * row[:, None]).T @ functions for row in density])
