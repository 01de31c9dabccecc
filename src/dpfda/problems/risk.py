"""A function of the input that minimises a regularised risk: classification, and robust regression.

Records are an input and a response. Inputs are snapped to the cells of a public box and responses to
levels, so a tally of distinct records says everything. The minimiser moves by at most
``slope kappa / (psi n)`` in the kernel's norm when one record is replaced (half of that when one is
added or removed), and the solver stops at a public distance from it (derivations: regularised risk).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.sensitivities import EuclideanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.problems.labelled import TallyProblem
from dpfda.problems.losses import Loss, minimize
from dpfda.problems.summary import Summary
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.inputs import FeatureMap

#: The solver's gradient, as a share of what one record adds to it; and the least that floats can certify. What
#: this leaves is charged, twice over (derivations: regularised risk).
TOLERANCE, FLOATS = 1e-3, 1e-9
#: Where the number of records is private, all of them together weigh less than this many times the public guess, so
#: that floats can certify the gradient (derivations: regularised risk).
MOST_TIMES = 100


@dataclass(frozen=True, eq=False)
class RiskProblem(TallyProblem):
    """``argmin (1/n) sum L(y_i, f(x_i)) + psi ||f||^2`` over combinations of `features`.

    `levels` are the values a response can have. Of a class against the rest they are -1 and 1, and records bring
    the number of their class; else they are evenly spaced about `middle`.
    """

    features: FeatureMap
    loss: Loss
    psi: float
    n: int
    levels: tuple[float, ...]
    middle: float | None = None
    neighbors: str = "replace"
    invalid: str = "raise"

    # -- public facts ---------------------------------------------------------------------

    @property
    def basis(self) -> Eigenbasis:
        return self.features.basis

    @property
    def size(self) -> int:
        return self.basis.size

    @property
    def tolerance(self) -> float:
        """Length of the gradient at which the solver stops, on every data set."""
        return self.loss.slope * self.features.kappa * max(TOLERANCE / self.n, FLOATS)

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """The true minimiser's way, and twice the distance of a computed one from it.

        With a gradient of length r the distance is at most ``r / (2 psi)``; r counts twice for its own rounding
        (derivations: regularised risk).
        """
        pull = self.loss.slope * self.features.kappa / (self.psi * self.n)
        way = pull / 2 if self.count_is_private else pull
        return EuclideanSensitivity(self.features.axes, way + 2 * self.tolerance / self.psi)

    @property
    def max_abs(self) -> np.ndarray:
        """A minimiser is no worse than zero: ``psi ||u||^2`` is at most the loss there."""
        zero = np.zeros(len(self.levels))
        at_zero = float(self.loss.values(np.array(self.levels), zero).max())
        return self.features.axes * np.sqrt(at_zero / self.psi)

    @property
    def prior_energy(self) -> np.ndarray:
        """A function of about the size of the responses, spread as the kernel says."""
        share = self.features.axes**2 / float(self.basis.eigenvalues.sum())
        return share * float(np.mean(np.square(self.levels))) * self.grid.volume

    # -- all records ----------------------------------------------------------------------

    def _weights(self, times: np.ndarray) -> np.ndarray:
        """What each distinct record weighs, given how often it occurs.

        With a private number m of records each weighs ``B/(B + m)`` over the public guess: B is so large that this is
        nearly one for data of about that size, and one record more still moves the minimiser no further than at full
        weight (derivations: regularised risk).
        """
        if not self.count_is_private:
            return times / self.n
        most = MOST_TIMES * self.n
        return times * (most / (most + sum(times.tolist())) / self.n)

    def estimate(self, summary: Summary) -> list[Fraction]:
        places, levels = self.decoded(summary.totals)
        u = minimize(
            self.loss,
            self.features.at_cells(places),
            np.array(self.levels)[levels],
            self._weights(summary.totals[:, -1]),
            self.psi,
            self.features.kappa,
            self.tolerance,
        )
        return [Fraction(x) * Fraction(s) for x, s in zip(u.tolist(), self.features.axes.tolist(), strict=True)]
