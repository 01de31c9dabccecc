"""The mean curve: clip each record to a public body, add up integers, divide by a public number.

Under `replace` the statistic is the mean of the centred coefficients. Under `add-remove` it is
their sum over the public guess of n, followed by the count over the same guess, so both
relations share one scale; the released curve is then their quotient (derivations: add-remove).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds import exact, lattice
from dpfda.bounds.bodies import Bound
from dpfda.bounds.function_records import Functions
from dpfda.bounds.lattice import RADIUS
from dpfda.bounds.loops import Block, add_up
from dpfda.bounds.products import ExactProduct
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.core.doubles import doubles
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.count import quotient
from dpfda.problems.curves import standardize
from dpfda.problems.defaults import DefaultProblem, check_count, check_key
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary, are_integers
from dpfda.spaces.alignment import fill_gaps, unfilled
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.rules import Rules

#: Fixed-point bits of the public matrix that maps totals on the grid to coefficients (derivations: exact totals).
MATRIX_BITS = 52
#: Curves are rounded to this many bits of the body's outer radius on their way to coefficients,
#: and may reach this many times that radius (a part outside the basis is projected away). Bits as many as keep products
#: exact (derivations: exact totals); any room is safe, since coefficients are clipped afterwards.
CURVE_BITS, HEADROOM = 25, 4.0
#: Fixed-point bits of the matrix between clipped curves and functions: products of integers stay below 2^53
#: (derivations: left out).
PROJECTION_BITS = 28


@dataclass(frozen=True, eq=False)
class MeanProblem(DefaultProblem):
    """A mean of `n` curves on a grid, each clipped to `bound`."""

    basis: Eigenbasis
    bound: Bound
    n: int
    decay: float | None
    neighbors: str = "replace"
    invalid: str = "raise"
    standardize: bool = False
    fill: int | None = None
    alignment: Rules | None = None

    # -- public facts ---------------------------------------------------------------------

    @property
    def record(self) -> str:
        """What is protected as a whole."""
        return "curve" if self.alignment is None or self.alignment.unit is None else self.alignment.unit.name

    @property
    def record_grid(self) -> AnyGrid:
        """Where curves live as they are read: elsewhere than the mean, if that is of a function of them."""
        read = None if self.alignment is None else self.alignment.grid
        return self.grid if read is None else read

    @property
    def is_exact(self) -> bool:
        """Whether the bound is that of a function of curves, which no value of it leaves: nothing is clipped."""
        return isinstance(getattr(self.alignment, "pooling", None), Functions)

    @property
    def code_basis(self) -> Eigenbasis:
        """The orthonormal basis in which bounds on coefficients are understood."""
        return self.basis

    @property
    def width(self) -> int:
        return self.grid.size

    @property
    def needs_count(self) -> bool:
        return self.count_is_private

    @property
    def size(self) -> int:
        return self.basis.size + self.count_is_private

    @property
    def _encoded_size(self) -> int:
        return self.grid.size if self.bound.on_grid else self.code_basis.size

    @cached_property
    def inner_radius(self) -> float:
        """Lattice radius that the body's surface is mapped to: rounding stays within RADIUS."""
        return RADIUS - self.bound.widening(self._encoded_size)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Semi-axes of the set of encoded records, in coefficients: the body and its rounding.

        Curves are rounded to integers (derivations: integer clip), the basis is nearly orthonormal (derivations: basis
        excess) and its matrix is rounded (derivations: exact totals).
        """
        widened = self.bound.lengths(self.code_basis.size) * (RADIUS / self.inner_radius)
        if not self.bound.on_grid:
            return widened
        rounding = self.grid.size * self.code_basis.size * 2.0 ** (1 - MATRIX_BITS)
        return widened * np.sqrt(1 + self.code_basis.excess + rounding)

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """Two records of the body over n, or one of them over the public guess (derivations: bounded records)."""
        return self.bound.sensitivity(self.lengths, (1.0 if self.count_is_private else 2.0) / self.n)

    @property
    def max_abs(self) -> np.ndarray:
        return self.lengths

    @cached_property
    def prior_energy(self) -> np.ndarray:
        """``lambda_j^(1 + 1/beta)``, scaled to the square of the body's outer radius (derivations: minimax filter)."""
        exponent = 1 + 1 / self.decay if self.decay else 1.0
        shape = (self.basis.eigenvalues / self.basis.eigenvalues[0]) ** exponent
        return shape * (self.bound.outer**2 / shape.sum())

    @property
    def class_norms(self) -> np.ndarray:
        return np.array([self.bound.outer**2])

    @cached_property
    def center(self) -> np.ndarray:
        """The public centre as a curve."""
        return self.bound.center_on(self.grid.size)

    @cached_property
    def center_coefficients(self) -> np.ndarray:
        return self.basis.coefficients(self.center)

    @cached_property
    def offset(self) -> np.ndarray:
        return self.center - self.basis.synthesize(self.center_coefficients)

    @cached_property
    def key(self) -> str:
        facts = [
            codec.to_plain(self.bound),
            self.grid.points.tolist(),
            self.grid.weights.tolist(),
            self.standardize,
            self.fill,
            self.invalid,
            *(self.alignment.facts if self.alignment else ()),
        ]
        matrix = b"" if self.bound.on_grid else self._matrix.tobytes()
        return hashlib.sha256(codec.canonical(facts).encode() + matrix).hexdigest()

    # -- one record -----------------------------------------------------------------------

    def encode(self, batch: np.ndarray) -> np.ndarray:
        """One row of integers (held in floats) per record, inside the lattice body. A total function."""
        return self.encoded(Block(batch))

    def encoded(self, block: Block) -> np.ndarray:
        """The same for a block of rows."""
        return block.once(("encoded", self.key), lambda: self._encoded(block))

    def _encoded(self, block: Block) -> np.ndarray:
        if not self.bound.on_grid:
            found = block.kernels.coefficients(*self.to_coefficients(block), clipped=self._is_round)
            return np.asarray(found if self._is_round else self.bound.clip_lattice(found))
        placed = block.kernels.on_lattice(*self.curves(block), self.center, self.lattice_weights, lattice.HUGE)
        return np.asarray(block.kernels.clip(placed) if self._is_round else self.bound.clip_lattice(placed))

    @property
    def _is_round(self) -> bool:
        """Whether the body is a Euclidean ball on the lattice, which kernels know."""
        return self.bound.clip_lattice is lattice.clip_euclidean

    def to_coefficients(self, block: Block) -> tuple[np.ndarray | float | ExactProduct, ...]:
        """What kernels need for coefficients about the centre, in lattice units of the body's semi-axes.

        Curves, what becomes of each value, a matrix and units. Functions of each record alone: integer products, then
        elementwise steps.
        """
        steps = self.center, self.lattice_weights, 2.0**CURVE_BITS, self._product, self._coefficient_scale
        return *self.curves(block), *steps

    def distances(self, block: Block) -> np.ndarray:
        """Curves minus the centre, point by point; an unusable record is the centre."""
        curves, usable = self.curves(block)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.subtract(curves, self.center)
        found[~usable] = 0.0
        return np.asarray(found)

    def counted(self, block: Block, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What :meth:`encode` counts of records in the functions `kept`: values, their columns, and units of columns.

        Values times units, rounded, are in lattice units of the outer radius.
        """
        encoded = self.encoded(block)
        if self.bound.on_grid:
            every = np.arange(kept.size)
            return encoded @ self.projection(kept), every, np.full(kept.size, 2.0**-PROJECTION_BITS)
        return encoded, kept, self.bound.lengths(self.code_basis.size)[kept] / self.bound.outer

    def projection(self, kept: np.ndarray) -> np.ndarray:
        """Integer matrix of some functions: coarser than what linear algebra leaves to the machine."""
        return np.asarray(np.rint(self.code_basis.vectors[:, kept] * 2.0**PROJECTION_BITS))

    def total(self, batch: np.ndarray) -> np.ndarray:
        """Sum of :meth:`encode` over a batch."""
        return add_up(self.block_totals, batch, light=self._is_direct)

    @property
    def takes_rows(self) -> bool:
        """Whether rows are curves as they are: no gaps are filled, nothing is standardised."""
        return self.fill is None and not self.standardize

    @property
    def _is_direct(self) -> bool:
        """Whether rows are clipped as they come, value by value."""
        return self.bound.on_grid and self._is_round and self.takes_rows

    def block_totals(self, block: Block) -> np.ndarray:
        """Sum of :meth:`encode` over a block; one pass over memory when curves are taken as they are."""
        if not self._is_direct:
            return np.asarray(block.kernels.column_sums(self.encoded(block)))
        totals, unusual = block.kernels.sum_clipped(block.rows, self.center, self.lattice_weights)
        if unusual.size:
            try:
                totals += block.kernels.column_sums(self.encoded(block.take(unusual)))
            except RecordError as error:
                raise RecordError(error.problem, unusual[list(error.rows)].tolist(), error.cure) from None
        return np.asarray(totals)

    def curves(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Curves as they are encoded, and which of them are usable; the others may hold anything.

        Problems that share a block have the same grid.
        """
        return block.once(("curves", self.fill, self.standardize, self.invalid), lambda: self._prepared(block))

    def _prepared(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        curves = block.rows
        if self.fill is not None:
            curves = fill_gaps(doubles(curves), self.grid, self.fill)
        usable = block.kernels.usable_rows(curves)
        if self.invalid == "raise" and not usable.all():
            fill = "pass fill=<longest gap> to dp.read" if self.fill is None else "pass a larger fill to dp.read"
            raise RecordError(
                f"A curve holds missing or infinite values{unfilled(self.fill)}",
                np.flatnonzero(~usable).tolist(),
                f"Repair it, {fill}, or invalid='center' to count it as the centre.",
            )
        if self.standardize:
            curves = standardize(np.where(usable[:, None], curves, 0.0), self.grid)
        return curves, usable

    @cached_property
    def lattice_weights(self) -> np.ndarray:
        """From values on the grid to lattice units: ``sqrt(q_i) * inner radius / outer radius``."""
        if self.bound.on_grid:
            return np.sqrt(self.grid.weights) * (self.inner_radius / self.bound.outer)
        return np.sqrt(self.grid.weights) * (2.0**CURVE_BITS / (HEADROOM * self.bound.outer))

    @cached_property
    def _matrix(self) -> np.ndarray:
        """Integer matrix from rounded curves to coefficients (derivations: exact totals).

        By Cauchy-Schwarz every partial sum is below ``sqrt(K) 2^CURVE_BITS 2^bits < 2^53``: exact in floats.
        """
        return np.rint(self.code_basis.vectors * 2.0**self._matrix_bits)

    @property
    def _matrix_bits(self) -> int:
        return 53 - CURVE_BITS - 1 - int(np.ceil(0.5 * np.log2(self.grid.size)))

    @cached_property
    def _coefficient_scale(self) -> np.ndarray:
        unit = (HEADROOM * self.bound.outer) / 2.0 ** (CURVE_BITS + self._matrix_bits)
        return unit * self.inner_radius / self.bound.lengths(self.code_basis.size)

    @cached_property
    def _product(self) -> ExactProduct:
        return ExactProduct(self._matrix)

    # -- all records ----------------------------------------------------------------------

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "grid, bound or per-curve options")
        self._check_range(summary)
        check_count(self, summary)

    def _check_range(self, summary: Summary) -> None:
        """Totals that no records could have made do not pass: summaries may come from elsewhere."""
        totals = summary.totals
        if totals.shape != (self._encoded_size,) or not are_integers(totals) or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
        largest, far = summary.count * int(RADIUS), (np.abs(totals.astype(float)) > summary.count * RADIUS).any()
        if self.bound.clip_lattice is lattice.clip_euclidean:  # a sum is no longer than its records together
            far = far or sum(int(x) ** 2 for x in totals.tolist()) > largest**2
        if far:
            raise PlanMismatch("This summary holds totals that no clipped records can have; it is damaged.")

    def estimate(self, summary: Summary) -> list[Fraction]:
        values = self._values(summary.totals, 1 / (Fraction(self.inner_radius) * self.n))
        return [*values, Fraction(summary.count, self.n)] if self.count_is_private else values

    def _values(self, totals: np.ndarray, share: Fraction) -> list[Fraction]:
        """The statistic of these totals; `share` is one record's share of it, per lattice radius."""
        if self.bound.on_grid:
            unit = Fraction(self.bound.outer) * share / 2**MATRIX_BITS
            return [x * unit for x in exact.product(self._exact_matrix, totals)]
        return self._coefficient_values(totals, share)

    def _coefficient_values(self, totals: np.ndarray, share: Fraction) -> list[Fraction]:
        units = self.bound.lengths(self.code_basis.size).tolist()
        return [int(x) * Fraction(s) * share for x, s in zip(totals, units, strict=True)]

    @cached_property
    def _exact_matrix(self) -> np.ndarray:
        """``V'`` in fixed point: totals on the grid become coefficients exactly."""
        return np.rint(self.basis.vectors.T * 2.0**MATRIX_BITS).astype(np.int64)

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        return self.center_coefficients + (quotient(noisy, self.n, parts) if self.count_is_private else noisy)

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        """A noisy count multiplies the curve: its share of the error is the curve's size times its own."""
        return variance[:-1] + variance[-1] * self.prior_energy if self.count_is_private else variance

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        about = np.sqrt(self.prior_energy) if coefficients is None else coefficients - self.center_coefficients
        return np.append(about, 1.0) if self.count_is_private else about
