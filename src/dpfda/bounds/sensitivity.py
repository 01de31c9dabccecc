"""What one neighbour can change: the contract that bounds answer to."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Sensitivity(Protocol):
    """Every difference ``h`` that two neighbours can make in the statistic before filtering."""

    def support(self, weights: np.ndarray) -> float:
        """``sup sum_j weights_j |h_j|``."""

    def radius(self, axes: np.ndarray) -> float:
        """``sup || h / axes ||_2``."""

    def matched(self, filter: np.ndarray) -> np.ndarray:
        """Laplace scales at epsilon 1 that minimise the noise energy for this filter."""

    def balance(self, prior_energy: np.ndarray) -> np.ndarray:
        """Precisions ``u`` with ``support(u) = 1`` that minimise ``sum 2 guess / (2 + guess u^2)``."""

    def axes(self) -> np.ndarray:
        """Semi-axes of the best ball noise for these differences."""

    def restricted(self, where: np.ndarray) -> Sensitivity:
        """The same differences seen on these coordinates only."""

    def together(self, alone: np.ndarray) -> float:
        """Sup of a sum over blocks of coordinates whose terms alone reach these."""

    def loosened(self) -> Sensitivity:
        """The paper's wider set: each coordinate bounded by the whole radius on its own."""

    def scaled(self, factor: float) -> Sensitivity:
        """All differences times a public factor."""

    def outline(self) -> Sensitivity:
        """Nearly the same set, cheaper to measure: for choosing parameters, never for calibrating noise."""
