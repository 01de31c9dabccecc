"""Inputs of a model: a public box, its cells, and bounded functions of a cell.

Inputs are clipped to the box and snapped to cells, so a function of the input is a function of
small integers, the same to the last bit whatever batch a record comes in. In one to three dimensions
the functions are the kernel's own (products of cosines); above that they are waves whose frequencies
follow the kernel's spectrum (derivations: kernel models).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError
from dpfda.spaces.basis import Eigenbasis, _sealed
from dpfda.spaces.grid import AnyGrid, Grid, ProductGrid
from dpfda.spaces.stationary import Gaussian, Matern, Stationary
from dpfda.spaces.tensor import ProductBasis, by_frequency

#: Cells per side: fine enough that snapping is invisible beside noise.
CELLS = {1: 1024, 2: 128, 3: 32}
CELLS_ABOVE = 256
#: Cosines to choose from, by dimension; waves above three dimensions come in pairs.
MOST_FUNCTIONS = {1: 64, 2: 160, 3: 200}
WAVES = 48
#: Steps of a full turn in which phases of waves are counted.
TURN = 1 << 20
#: Beyond this many inputs a kernel says little at any budget.
MOST_INPUTS = 10


@dataclass(frozen=True, eq=False)
class InputBox(Fact):
    """The public ranges of the inputs, and how finely points are told apart."""

    domain: tuple[tuple[float, float], ...]
    names: tuple[str, ...] | None = None

    @property
    def dimension(self) -> int:
        return len(self.domain)

    @property
    def cells(self) -> int:
        """Cells along each side."""
        return CELLS.get(self.dimension, CELLS_ABOVE)

    def snapped(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each point along each side (clipped to the box), and which points are unusable (missing)."""
        low, high = np.array(self.domain).T
        bad = np.isnan(points).any(axis=1)
        inside = np.clip(np.where(bad[:, None], low, points), low, high)
        places = ((inside - low) * (self.cells / (high - low))).astype(np.int64)
        return np.clip(places, 0, self.cells - 1, out=places), bad

    @property
    def all_cells(self) -> np.ndarray:
        """Every cell, one row each, the last side fastest."""
        shape = (self.cells,) * self.dimension
        return np.stack(np.unravel_index(np.arange(self.cells**self.dimension), shape), axis=-1)

    def clipped(self, points: np.ndarray) -> np.ndarray:
        """Points brought into the box, as predictions treat them."""
        low, high = np.array(self.domain).T
        return np.clip(points, low, high)

    @cached_property
    def grid(self) -> AnyGrid:
        """Midpoints of the cells; above three dimensions a coarse grid that only pictures and typical errors use."""
        size = self.cells if self.dimension <= 3 else max(2, int(1024 ** (1 / self.dimension)))
        numbered = ["x"] if self.dimension == 1 else [f"x{i + 1}" for i in range(self.dimension)]
        names = self.names or numbered
        axes = [Grid.midpoints(*side, size, name) for side, name in zip(self.domain, names, strict=True)]
        return axes[0] if len(axes) == 1 else ProductGrid(tuple(axes))


@dataclass(frozen=True, eq=False)
class FeatureMap(Fact):
    """Functions ``psi_j`` of the input with ``sum_j psi_j(x)^2 <= kappa^2``: what a model is a combination of.

    Each is a basis function times its semi-axis ``s_j`` (the kernel's root eigenvalue), so that a combination's
    plain Euclidean norm is its norm in the kernel's space. The first one is constant.
    """

    box: InputBox
    kernel: Stationary
    size: int

    @cached_property
    def basis(self) -> Eigenbasis:
        whole = kernel_basis(self.box, self.kernel)
        odd = isinstance(whole, WaveBasis)  # a constant, and waves in pairs
        if not 1 <= self.size <= whole.size or (odd and not self.size % 2):
            raise ParameterError(
                f"components must be {'an odd number ' if odd else ''}between 1 and {whole.size} here",
                self.size,
                "Leave it out to have it chosen.",
            )
        return whole.first(self.size)

    @cached_property
    def axes(self) -> np.ndarray:
        """Semi-axes ``s_j``: coefficients are these times the combination's own."""
        return np.sqrt(self.basis.eigenvalues)

    @property
    def energies(self) -> np.ndarray:
        """Mean square of each function over the box."""
        if isinstance(self.basis, WaveBasis):
            return self.basis.eigenvalues * np.append(1.0, np.full(self.size - 1, 0.5))
        return self.basis.eigenvalues * self.basis.energies / self.basis.grid.volume

    @cached_property
    def kappa(self) -> float:
        """Largest Euclidean norm of the functions at any cell, rounded up."""
        if isinstance(self.basis, WaveBasis):
            return float(np.sqrt((self.axes[0] ** 2 + self.axes[1:] @ self.axes[1:] / 2) * (1 + 1e-9)))
        # sum_j s_j^2 psi_j(x)^2 over all cells, one axis after the other: a tensor of the squares along each side.
        assert isinstance(self.basis, WideCosines)
        squares = np.zeros(self.basis.frequencies)
        squares[tuple(self.basis.index.T)] = self.basis.eigenvalues
        for line in self._lines:
            squares = np.tensordot(squares, line**2, axes=(0, 1))
        return float(np.sqrt(squares.max() * (1 + 1e-9)))

    def expected(self, rough: float) -> np.ndarray:
        """Public guess of how a signal's squared size is spread over all functions that the kernel offers; sums to one.

        A share `rough` of it as the kernel says; the rest with squared coefficients that fall with the frequency to the
        power of three plus the dimension, as those of any smooth function do. Waves share alike.
        """
        whole = kernel_basis(self.box, self.kernel)
        if isinstance(whole, WaveBasis):
            return np.full(self.size, 1 / self.size)
        slow = 1 + (whole.index.astype(float) ** 2).sum(axis=1)  # type: ignore[attr-defined]
        smooth = slow ** (-(3 + self.box.dimension) / 2)
        kernel = whole.eigenvalues / float(whole.eigenvalues.sum())
        return rough * kernel + (1 - rough) * smooth / float(smooth.sum())

    def at_cells(self, places: np.ndarray) -> np.ndarray:
        """The functions at these cells, one row each: elementwise products and table look-ups only."""
        basis = self.basis
        if isinstance(basis, WaveBasis):
            return basis.at_phases(places) * self.axes
        values = np.broadcast_to(self.axes, (len(places), self.size)).copy()
        for a, line in enumerate(self._lines):
            values *= line[places[:, a]][:, basis.index[:, a]]  # type: ignore[attr-defined]
        return values

    @cached_property
    def table(self) -> np.ndarray:
        """The functions at every cell."""
        return self.at_cells(self.box.all_cells)

    @cached_property
    def _lines(self) -> list[np.ndarray]:
        return [self.basis.along(a, axis.points) for a, axis in enumerate(self.basis.grid.axes)]  # type: ignore[attr-defined]


class WideCosines(ProductBasis):
    """Products of cosines of a box that is wider than the domain on every side.

    On their own box cosines have level ends, which functions at hand need not have; on a wider one they bend as
    they like inside, and none of them is at its largest in a corner of the domain. They are orthonormal on the
    wide box only.
    """

    def __init__(self, grid: AnyGrid, eigenvalues: np.ndarray, index: np.ndarray):
        super().__init__(grid, eigenvalues, index)

    def _changed(self, eigenvalues: np.ndarray) -> WideCosines:
        return WideCosines(self.grid, eigenvalues, self.index[: eigenvalues.size])

    def along(self, axis: int, points: np.ndarray, derivative: int = 0) -> np.ndarray:
        low, length = wide_side(self.grid.axes[axis].span)
        frequency = np.pi * np.arange(self.frequencies[axis]) / length
        angle = np.multiply.outer(np.asarray(points) - low, frequency)
        height = np.full(frequency.size, np.sqrt(2 / length))
        height[0] = np.sqrt(1 / length)
        return -height * frequency * np.sin(angle) if derivative else height * np.cos(angle)

    @cached_property
    def energies(self) -> np.ndarray:
        """Squared norm of each function over the domain."""
        lines = [axis.weights @ self.along(a, axis.points) ** 2 for a, axis in enumerate(self.grid.axes)]
        return np.prod([line[self.index[:, a]] for a, line in enumerate(lines)], axis=0)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        raise ParameterError("these functions are not orthonormal on the domain", "values", "Fit them instead.")


def wide_side(span: tuple[float, float]) -> tuple[float, float]:
    """Start and length of the wider side around a range."""
    low, high = span
    return low - MARGIN * (high - low), (1 + 2 * MARGIN) * (high - low)


@lru_cache(maxsize=32)
def kernel_basis(box: InputBox, kernel: Stationary) -> Eigenbasis:
    """Functions of the box, by decreasing eigenvalue of the kernel at unit average variance."""
    if box.dimension > 3:
        return WaveBasis(box, kernel, 2 * WAVES + 1)
    grid = box.grid
    index = by_frequency(grid.shape, 4 * MOST_FUNCTIONS[box.dimension])
    values = np.ones(len(index))
    for a, axis in enumerate(grid.axes):
        line = kernel if kernel.length_scale is not None else default_length(kernel, axis.length)
        values *= line.spectrum(np.pi * index[:, a] / wide_side(axis.span)[1])
    order = np.argsort(-values, kind="stable")[: MOST_FUNCTIONS[box.dimension]]
    volume = float(np.prod([wide_side(axis.span)[1] for axis in grid.axes]))
    return WideCosines(grid, values[order] * (volume / values.sum()), index[order])


#: How much wider than the domain the box of the cosines is, on either side.
MARGIN = 0.15
#: Length scales of the kernel that are not given, as a share of the side; above three dimensions points lie far
#: apart, and the share is this one times the root of their number.
LENGTH, LENGTH_ABOVE = 0.1, 0.25


def default_length(kernel: Stationary, side: float) -> Stationary:
    """The kernel with its open length scale set for one side of the box."""
    return replace(kernel, length_scale=LENGTH * side)


class WaveBasis(Eigenbasis):
    """A constant, and cosines and sines of public directions whose frequencies follow the kernel's spectrum.

    Directions are a Halton sequence, the same on every machine. Frequencies are whole numbers of
    ``1/TURN`` turns per half cell, so that phases at cells are exact integers.
    """

    def __init__(self, box: InputBox, kernel: Stationary, size: int):
        self.box, self.kernel = box, kernel
        pairs = (size - 1) // 2
        self.turns = _sealed(_frequencies(box, kernel, pairs))
        self.eigenvalues = _sealed(np.append(0.5, np.full(2 * pairs, 0.5 / max(pairs, 1))))

    @property
    def grid(self) -> AnyGrid:  # type: ignore[override]
        return self.box.grid

    def _changed(self, eigenvalues: np.ndarray) -> WaveBasis:
        return WaveBasis(self.box, self.kernel, eigenvalues.size)

    @property
    def functions(self) -> np.ndarray:
        return self.evaluate(self.grid.points)

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        if derivative:
            raise ParameterError("derivatives are for curves", "a function of many inputs", "Difference it.")
        points = self.points(t)
        low, high = np.array(self.box.domain).T
        steps = (points - low) * (2 * self.box.cells / (high - low))
        return self._waves(steps @ self.turns)

    def at_phases(self, places: np.ndarray) -> np.ndarray:
        """At the middles of cells: whole numbers in, exact phases, look-ups out."""
        phases = ((2 * places + 1) @ self.turns) % TURN
        table = _turn_table()
        values = np.ones((len(places), self.size))
        values[:, 1::2] = table[phases]
        values[:, 2::2] = table[(phases - TURN // 4) % TURN]
        return values

    def _waves(self, phases: np.ndarray) -> np.ndarray:
        angle = phases * (2 * np.pi / TURN)
        values = np.ones((len(angle), self.size))
        values[:, 1::2], values[:, 2::2] = np.cos(angle), np.sin(angle)
        return values


@lru_cache(maxsize=1)
def _turn_table() -> np.ndarray:
    return np.cos(np.arange(TURN) * (2 * np.pi / TURN))


def _frequencies(box: InputBox, kernel: Stationary, pairs: int) -> np.ndarray:
    """Whole numbers, one column per wave: a sample of the kernel's spectral measure, spread evenly."""
    dimension = box.dimension
    spread = scipy.stats.qmc.Halton(dimension + 1, scramble=False).random(pairs + 1)[1:]
    normal = scipy.special.ndtri(spread[:, :dimension])
    if not isinstance(kernel, Gaussian):  # Matern: a Student distribution; the exponential is its nu = 1/2
        nu = kernel.nu if isinstance(kernel, Matern) else 0.5
        normal /= np.sqrt(scipy.special.gammaincinv(nu, spread[:, dimension:]) / nu)
    turns = np.empty((dimension, pairs), dtype=np.int64)
    for a, (low, high) in enumerate(box.domain):
        open_scale = LENGTH_ABOVE * np.sqrt(dimension) * (high - low)
        length = open_scale if kernel.length_scale is None else kernel.length_scale
        per_half_cell = (high - low) / (2 * box.cells) / length
        turns[a] = np.rint(normal[:, a] * per_half_cell / (2 * np.pi) * TURN).clip(-TURN, TURN)
    return turns
