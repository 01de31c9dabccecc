"""The covariance of curves: encode coefficients, add up exact products, subtract the mean's own.

``n^2 S = n sum z z' - s s'`` in integers. Under `replace` one record moves S by at most
``4 tau^2 (n-1)/n^2``; under `add-remove` the scatter ``n S`` moves by at most ``4 tau^2``
(derivations: covariance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from dpfda.bounds.bodies import Ellipsoid, L2Ball
from dpfda.bounds.lattice import RADIUS, RADIUS_BITS
from dpfda.bounds.loops import Block, add_up
from dpfda.bounds.sensitivities import EuclideanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch
from dpfda.problems.count import quotient
from dpfda.problems.defaults import DefaultProblem, check_count, check_key
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary, are_integers
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.rules import Rules
from dpfda.spaces.symmetric import ROOT2, SymmetricBasis

#: Products need twice the bits of a record: encoded values have this many, so that totals of 2^30 records fit into 63
#: bits (derivations: exact totals). A plan is for no more; where data hold more all the same, totals grow.
SQUARE_BITS = 16
MOST_SQUARES = 2**30
#: The public class of covariances: shares of the bound squared that the strongest direction may carry, and
#: how much smoother than the kernel's guess of a mean it may be (derivations: covariance). A guess: a bad one costs
#: accuracy, never privacy.
SHARES, POWERS = (0.5, 0.15, 0.04), (1.0, 2.0)
#: The same where it does not follow the kernel: energies of one direction fall as these powers of frequency.
DECAYS = (2.0, 4.0)


@dataclass(frozen=True, eq=False)
class CovarianceProblem(DefaultProblem):
    """The covariance surface of `n` curves, each clipped to an L2 ball in the functions of `basis.line`."""

    basis: SymmetricBasis
    code: MeanProblem
    n: int
    decay: float | None
    shrinks: bool = True
    by_power: bool = False

    @classmethod
    def of(
        cls, basis: SymmetricBasis, bound: L2Ball, n: int, decay: float | None, *, neighbors: str, invalid: str,
        standardize: bool, fill: int | None, shrinks: bool, alignment: Rules | None = None, by_power: bool = False,
    ) -> CovarianceProblem:  # fmt: skip
        ball = Ellipsoid(np.full(basis.line.size, bound.radius), bound.center)
        code = MeanProblem(basis.line, ball, n, decay, neighbors, invalid, standardize, fill, alignment)
        return cls(basis, code, n, decay, shrinks, by_power)

    # -- public facts ---------------------------------------------------------------------

    @property
    def record_grid(self) -> AnyGrid:
        return self.code.grid

    @property
    def record(self) -> str:
        return self.code.record

    @property
    def alignment(self) -> Rules | None:
        return self.code.alignment

    @property
    def invalid(self) -> str:
        return self.code.invalid

    @property
    def neighbors(self) -> str:
        return self.code.neighbors

    @property
    def width(self) -> int:
        return self.code.width

    @property
    def needs_count(self) -> bool:
        return self.count_is_private

    @property
    def size(self) -> int:
        return self.basis.size + self.count_is_private

    @property
    def _square(self) -> float:
        """The largest squared norm of an encoded record, in units of the statistic: the ball, and its rounding."""
        radius = 2.0**SQUARE_BITS + 0.5 * np.sqrt(self.basis.line.size)
        return (radius * float(self._unit)) ** 2 * (1 + 2.0**-48)

    @cached_property
    def _unit(self) -> Fraction:
        """One lattice step of an encoded coefficient."""
        radius = Fraction(float(self.code.bound.outer))
        return radius / (Fraction(self.code.inner_radius) / 2 ** (RADIUS_BITS - SQUARE_BITS))

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """Of a covariance, or of a scatter over the public guess of n (derivations: covariance)."""
        n = self.n
        diameter = 4 / n if self.count_is_private else 4 * (n - 1) / n**2
        return EuclideanSensitivity(np.full(self.basis.size, self._square), diameter)

    @property
    def max_abs(self) -> np.ndarray:
        return np.full(self.basis.size, self._square)

    @cached_property
    def prior_energies(self) -> np.ndarray:
        """One strong direction each, as smooth as the kernel's guess of a mean or more so (derivations: covariance).

        Or, where `by_power`, with energies that fall as powers of frequency, whatever the kernel.
        """
        line = self.basis.line.eigenvalues / self.basis.line.eigenvalues[0]
        j, k = self.basis.index.T
        if self.by_power:
            shapes = [np.arange(1.0, line.size + 1) ** -decay for decay in DECAYS]
        else:
            shapes = [line ** (power * (1 + 1 / self.decay if self.decay else 1.0)) for power in POWERS]
        members = []
        for shape in shapes:
            shape = shape / shape.sum()
            members += [(s * self.code.bound.outer**2 * self.basis.heights) ** 2 * shape[j] * shape[k] for s in SHARES]
        return np.array(members)

    @property
    def prior_energy(self) -> np.ndarray:
        return self.prior_energies.mean(axis=0)

    @cached_property
    def key(self) -> str:
        return codec.digest(["covariance", self.code.key])

    # -- one record -----------------------------------------------------------------------

    def encode(self, batch: np.ndarray) -> np.ndarray:
        """One row of integers (held in floats) per record: coefficients inside the ball, and their rounding."""
        return self._encoded(Block(batch))

    def _encoded(self, block: Block) -> np.ndarray:
        return np.asarray(np.rint(self.code.encoded(block) * 2.0 ** (SQUARE_BITS - RADIUS_BITS)))

    def total(self, batch: np.ndarray) -> np.ndarray:
        """Sums of coefficients, then sums of products of pairs: exact integers."""
        return add_up(self.block_totals, batch)

    def block_totals(self, block: Block) -> np.ndarray:
        part = self._encoded(block)
        return np.append(block.kernels.column_sums(part), products_of_pairs(part))

    # -- all records ----------------------------------------------------------------------

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "grid, bound, kernel or per-curve options")
        size = self.basis.line.size
        totals = summary.totals
        if totals.shape != (size + size * (size + 1) // 2,) or not are_integers(totals) or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
        most = summary.count * (RADIUS / 2.0 ** (RADIUS_BITS - SQUARE_BITS) + size) ** 2
        if (np.abs(totals.astype(float)) > most).any():
            raise PlanMismatch("This summary holds totals that no clipped records can have; it is damaged.")
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        size, count = self.basis.line.size, summary.count
        sums = [int(x) for x in summary.totals[:size]]
        places = np.zeros((size, size), dtype=np.int64)
        places[np.triu_indices(size)] = np.arange(size * (size + 1) // 2)
        products = summary.totals[size:]
        share = self._unit**2 / max(count, 1) / self.n
        heights = {True: share, False: share * Fraction(ROOT2)}
        values = [
            (count * int(products[places[j, k]]) - sums[j] * sums[k]) * heights[j == k]
            for j, k in self.basis.index.tolist()
        ]
        return [*values, Fraction(count, self.n)] if self.count_is_private else values

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        return quotient(noisy, self.n, parts) if self.count_is_private else noisy.copy()

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        """A noisy count divides the scatter: its share of the error is the covariance's size times its own."""
        return variance[:-1] + variance[-1] * self.prior_energy if self.count_is_private else variance

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        about = np.sqrt(self.prior_energy) if coefficients is None else coefficients
        return np.append(about, 1.0) if self.count_is_private else about


def products_of_pairs(rows: np.ndarray) -> np.ndarray:
    """Sums over rows of the products of any two entries, each pair once: integers, exact in floats for a block."""
    return np.take((rows.T @ rows).ravel(), _upper(rows.shape[1])).astype(np.int64)


@lru_cache(maxsize=8)
def _upper(size: int) -> np.ndarray:
    """Places of the upper triangle in a flat matrix."""
    return np.ravel_multi_index(np.triu_indices(size), (size, size))
