"""Two classes told apart by the difference of their densities: labels times functions of the input, averaged.

The class of a new input is the one whose density is larger there, so that the sign of the difference is all that is
needed, and no minimiser has to be hidden: a mean is (derivations: class densities).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.sensitivities import EuclideanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.problems.labelled import TallyProblem
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.inputs import FeatureMap

#: Bits of the functions' values at cells: sums over 2^38 records stay below 2^63.
VALUE_BITS = 24
#: Noise on a function grows as its semi-axis falls, to this power: half way between noise alike on all functions and
#: noise alike in the kernel's norm. Second order: powers from 0 to 1 came within a point of accuracy of each other.
POWER = 0.5


@dataclass(frozen=True, eq=False)
class LabelMoments(TallyProblem):
    """Coefficients of the difference of two classes' densities, then the first `density` ones of the inputs' density.

    Both are in units of the uniform density of the box.
    """

    features: FeatureMap
    n: int
    levels: tuple[float, ...]
    density: int = 0
    neighbors: str = "replace"
    invalid: str = "raise"
    middle: float | None = None

    @property
    def basis(self) -> Eigenbasis:
        return self.features.basis

    @property
    def size(self) -> int:
        return self.basis.size + self.density

    @cached_property
    def weights(self) -> np.ndarray:
        """What functions are multiplied by before their norm is bounded: public, and any are valid."""
        values: np.ndarray = (self.features.axes / self.features.axes[0]) ** POWER
        return values

    @cached_property
    def _step(self) -> float:
        return float(np.abs(self.features.table / self.features.axes).max()) * 2.0**-VALUE_BITS

    @property
    def _unit(self) -> float:
        """One step of a total, in units of the uniform density of the box."""
        return self._step * self.features.box.grid.volume

    def _rows(self, places: np.ndarray) -> np.ndarray:
        """The functions at cells, as integers: look-ups and elementwise steps only."""
        return np.rint(self.features.at_cells(places) / self.features.axes / self._step).astype(np.int64)

    @cached_property
    def _norms(self) -> tuple[float, float]:
        """Largest norms of weighted functions over all cells: of all of them, of those of the density."""
        squares = (self._rows(self.features.box.all_cells) * (self._unit * self.weights)) ** 2
        found = [float(np.sqrt(squares[:, :size].sum(axis=1).max())) for size in (self.basis.size, self.density)]
        return found[0] * (1 + 1e-9), found[1] * (1 + 1e-9)

    @property
    def _diameter(self) -> float:
        return (1.0 if self.count_is_private else 2.0) / self.n

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """Of the difference: two labelled vectors, twice the largest apart at most (derivations: class densities)."""
        return EuclideanSensitivity(self._norms[0] / self.weights, self._diameter)

    @cached_property
    def density_sensitivity(self) -> Sensitivity:
        return EuclideanSensitivity(self._norms[1] / self.weights[: self.density], self._diameter)

    @property
    def max_abs(self) -> np.ndarray:
        tops = self._norms[0] / self.weights
        return np.append(tops, tops[: self.density])

    @property
    def prior_energy(self) -> np.ndarray:
        """A difference as large as the uniform density, spread as the kernel says."""
        share = self.features.axes**2 / float(self.basis.eigenvalues.sum())
        values: np.ndarray = share * float(self.features.box.grid.volume)
        return values

    def estimate(self, summary: Summary) -> list[Fraction]:
        places, levels = self.decoded(summary.totals)
        times = summary.totals[:, -1]
        rows = self._rows(places)
        signed = np.where(np.array(self.levels)[levels] > 0, times, -times)
        totals = [*(signed @ rows).tolist(), *(times @ rows[:, : self.density]).tolist()]
        unit = Fraction(self._unit) / self.n
        return [total * unit for total in totals]

    # -- after the noise --------------------------------------------------------------------

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        """The difference alone."""
        return noisy[..., : self.basis.size].copy()

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        return variance[: self.basis.size]

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        about = np.sqrt(self.prior_energy) if coefficients is None else coefficients
        return np.append(about, np.zeros(self.density))
