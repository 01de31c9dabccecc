"""A density on a box: snap each point to a public cell, count, and expand in cosines.

The summary is an integer histogram, so any number of points costs the same from there on. Each cell
(or bin of a table, whose mass is spread evenly over its cells) has a feature vector in fixed point;
the statistic is their exact average, and what a neighbour can change is the difference of two of
them (derivations: densities). The constant coefficient is the same for all data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpfda.bounds import exact
from dpfda.bounds.atoms import Atoms
from dpfda.bounds.diameter import AtomSensitivity
from dpfda.bounds.loops import Block, add_up
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.defaults import DefaultProblem, check_count, check_key
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary
from dpfda.spaces.grid import Grid
from dpfda.spaces.tensor import ProductBasis

#: Fixed-point bits of the features along one axis: any number is valid, since sensitivities are those of the rounded
#: features (derivations: densities).
FEATURE_BITS = 32
#: Points that are counted at a time.
POINTS = 1 << 15
#: The public class of densities: bumps of these widths (in widths of the domain), and series whose
#: squared coefficients fall with these powers of the frequency (one more for each further dimension). A guess: a bad
#: one costs accuracy, never privacy (derivations: densities).
BUMPS, POWERS = np.geomspace(0.06, 0.6, 8), (3.0, 4.0, 5.0, 6.0)


@dataclass(frozen=True, eq=False)
class DensityProblem(DefaultProblem):
    """A density of `n` points on the cells of `basis.grid`, or on bins given by `edges`."""

    basis: ProductBasis
    n: int
    spectra: tuple[np.ndarray, ...]
    edges: tuple[np.ndarray, ...] | None = None
    decay: float | None = None
    eta: float | None = None
    neighbors: str = "replace"
    invalid: str = "raise"
    outside: str = "raise"
    shrinks: bool = True
    sketched: bool = False  # measure differences by their outline: for comparing methods, never for noise

    smooths: ClassVar[bool] = True

    # -- public facts ---------------------------------------------------------------------

    @property
    def record(self) -> str:
        return "point"

    @property
    def n_public(self) -> int:
        """The constant, which makes a density integrate to one."""
        return 1

    @property
    def width(self) -> int:
        return len(self.grid.axes)

    @property
    def needs_count(self) -> bool:
        return self.count_is_private

    @property
    def size(self) -> int:
        return self.basis.size + self.count_is_private

    @property
    def bins(self) -> tuple[int, ...]:
        """Atoms of each axis: its bins, or its cells."""
        return self.grid.shape if self.edges is None else tuple(len(edges) - 1 for edges in self.edges)

    @property
    def _height(self) -> float:
        """The constant function on the box, of norm one."""
        return float(1 / np.sqrt(self.grid.volume))

    @cached_property
    def _features(self) -> tuple[np.ndarray, ...]:
        """Features along each axis, on the unit interval, in fixed point: one row per cell or bin."""
        lines = []
        for a, axis in enumerate(self.grid.axes):
            line = self.basis.along(a, axis.points) * np.sqrt(axis.length)
            if self.edges is not None:
                line = spread(axis, self.edges[a]) @ line
            lines.append(np.rint(line * 2.0**FEATURE_BITS).astype(np.int64))
        return tuple(lines)

    @cached_property
    def _atoms(self) -> Atoms:
        lines = tuple(line / 2.0**FEATURE_BITS for line in self._features)
        return Atoms(lines, self.basis.index, self._height)

    @property
    def _rest(self) -> np.ndarray:
        """What a point without a place adds: the uniform density, which is all in the constant."""
        return self.center_coefficients

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """Of two atoms, or of one that is added: a diameter, or a largest length (derivations: densities)."""
        sensitivity = AtomSensitivity(self._atoms, 1 / self.n, self._rest, self.count_is_private)
        return sensitivity.outline() if self.sketched else sensitivity

    @property
    def max_abs(self) -> np.ndarray:
        return self._atoms.largest

    @cached_property
    def prior_energies(self) -> np.ndarray:
        """Squared coefficients of the public class of densities, the constant left out."""
        slow = np.sqrt((self.basis.index.astype(float) ** 2).sum(axis=1))
        slow[0] = np.inf
        bumps = [np.exp(-((np.pi * slow * width) ** 2)) for width in BUMPS]
        series = [slow ** -(power + self.width - 1) for power in POWERS]
        return self._height**2 * np.array(bumps + series * (len(bumps) // len(series)))

    @property
    def prior_energy(self) -> np.ndarray:
        return self.prior_energies.mean(axis=0)

    @property
    def class_norms(self) -> np.ndarray:
        return self._height**2 + self.prior_energies.sum(axis=1)

    @cached_property
    def sampling(self) -> np.ndarray:
        """A cosine of a random point has a variance of about one."""
        variance = np.full(self.basis.size, self._height**2 / self.n)
        variance[0] = 0.0
        return variance

    @cached_property
    def center_coefficients(self) -> np.ndarray:
        """The uniform density."""
        return np.eye(1, self.basis.size)[0] * self._height

    @cached_property
    def key(self) -> str:
        axes = [[*axis.span, axis.size] for axis in self.grid.axes]
        edges = None if self.edges is None else [e.tolist() for e in self.edges]
        return codec.digest(["density", axes, edges, self.outside, self.invalid])

    # -- one record -----------------------------------------------------------------------

    def total(self, batch: np.ndarray) -> np.ndarray:
        """How many points of a batch fall into each cell or bin, exact integers.

        A point that cannot be placed is an error, or (``invalid="center"``) counts as uniform: it adds
        to the number of points and to no cell.
        """
        return add_up(self.block_totals, batch, rows=POINTS)

    def block_totals(self, block: Block) -> np.ndarray:
        counts, stray = self._counted(block)
        if stray.size and self.invalid == "raise":
            clips = self.outside == "clip"
            raise RecordError(
                "A point is missing" if clips else "A point is missing or outside the domain",
                stray.tolist(),
                ("Drop it" if clips else "Widen the domain, pass outside='clip'")
                + ", or invalid='center' to count it as uniform.",
            )
        return counts

    def _counted(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Counts of cells or bins, and the points that have none."""
        if self.edges is None:
            spans = np.array([axis.span for axis in self.grid.axes])
            counts, lengths = np.array(self.bins), np.array([axis.length for axis in self.grid.axes])
            found: tuple[np.ndarray, np.ndarray] = block.kernels.count_cells(
                block.rows, spans, counts / lengths, counts, self.outside == "clip"
            )
            return found
        values = block.values
        places, bad = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=bool)
        for a, (axis, count) in enumerate(zip(self.grid.axes, self.bins, strict=True)):
            place, stray = self._placed(np.ascontiguousarray(values[:, a]), axis, a, count)
            places *= count
            places += place
            bad |= stray
        return np.bincount(places[~bad], minlength=int(np.prod(self.bins))), np.flatnonzero(bad)

    def places(self, x: np.ndarray) -> np.ndarray:
        """The atoms of points of a line, as records are placed; beyond the domain the outermost ones."""
        inside = np.clip(x, *self.grid.axes[0].span)
        return self._placed(inside, self.grid.axes[0], 0, self.bins[0])[0]

    @property
    def atom_edges(self) -> np.ndarray:
        """Where the atoms of a line begin and end."""
        axis = self.grid.axes[0]
        return np.linspace(*axis.span, axis.size + 1) if self.edges is None else self.edges[0]

    def _placed(self, x: np.ndarray, axis: Grid, a: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The cell or bin of each value along one axis, and which values have none."""
        low, high = axis.span
        stray = np.isnan(x) if self.outside == "clip" else ~((x >= low) & (x <= high))
        inside = np.clip(np.where(stray, low, x), low, high)
        if self.edges is None:
            place = ((inside - low) * (count / axis.length)).astype(np.int64)
        else:
            place = np.searchsorted(self.edges[a], inside, side="right") - 1
        return np.clip(place, 0, count - 1, out=place), stray

    def counted(self, counts: np.ndarray) -> Summary:
        """The summary of a table of counts: one whole number per cell or bin, checked by the caller."""
        totals = np.ascontiguousarray(counts, dtype=np.int64).ravel()
        return Summary(self.key, sum(totals.tolist()), totals)

    # -- all records ----------------------------------------------------------------------

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "domain, cells, bins or options")
        totals = summary.totals
        if totals.shape != (int(np.prod(self.bins)),) or totals.dtype != np.int64 or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the points with this plan.")
        placed = sum(totals.tolist())
        if (totals < 0).any() or placed > summary.count or (self.invalid == "raise" and placed != summary.count):
            raise PlanMismatch("This summary holds counts that no points can have; it is damaged.")
        check_count(self, summary)

    def estimate(self, summary: Summary) -> list[Fraction]:
        limbs = exact.contract(summary.totals.reshape(self.bins), self._features)
        unit = Fraction(self._height) / (2 ** (FEATURE_BITS * self.width) * self.n)
        values = [x * unit for x in exact.entries(limbs, self.basis.index)]
        return [*values, Fraction(summary.count, self.n)] if self.count_is_private else values

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        coefficients = noisy[..., : self.basis.size].copy()
        if self.count_is_private:
            coefficients /= np.maximum(noisy[..., -1:], 1 / self.n)
        coefficients[..., 0] = self._height
        return coefficients

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        """A noisy count multiplies the density: its share of the error is the density's size times its own."""
        return variance[:-1] + variance[-1] * self.prior_energy if self.count_is_private else variance

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        about = np.sqrt(self.prior_energy) if coefficients is None else coefficients - self.center_coefficients
        return np.append(about, 1.0) if self.count_is_private else about


def spread(axis: Grid, edges: np.ndarray) -> np.ndarray:
    """Each bin as an average over its cells: one row per bin, one column per cell; rows sum to one."""
    members = np.searchsorted(edges, axis.points, side="right") - 1
    matrix = np.zeros((len(edges) - 1, axis.size))
    matrix[np.clip(members, 0, len(edges) - 2), np.arange(axis.size)] = 1.0
    return matrix / matrix.sum(axis=1, keepdims=True)
