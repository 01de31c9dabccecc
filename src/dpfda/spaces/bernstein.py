"""Bernstein polynomials on a lattice: the functions of a peer mechanism.

``B f = sum_k f(k / m) b_k`` turns values at lattice points into a smooth function. The iterated
operator ``I - (I - B)^h`` uses the same values: it corrects them by what B itself misses on the
lattice, ``B (I + (I - B) + ... + (I - B)^(h-1))``, so it costs no more noise.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.tensor import ProductBasis

#: Lattice points, over all axes: beyond this noise drowns any curve.
MOST_LATTICE = 4096
#: The same where values are corrected, by products of matrices of this size.
MOST_CORRECTED = 1024


class BernsteinBasis(ProductBasis):
    """One function per lattice point: what a value there adds to the released curve or surface.

    >>> from dpfda.spaces.grid import Grid
    >>> basis = BernsteinBasis(Grid.uniform(0, 1, 5), lattice=25, order=1)
    >>> x = basis.lattice_points
    >>> (basis.evaluate([0.2, 0.5, 0.9]) @ (x * np.sin(10 * x))).round(12).tolist()
    [0.110178601933, -0.272450850626, 0.271507204195]
    """

    def __init__(self, grid: AnyGrid, lattice: int, order: int = 1):
        self.lattice, self.order = lattice, order
        count = (lattice + 1) ** len(grid.axes)
        most = MOST_LATTICE if order == 1 else MOST_CORRECTED
        if count > most:
            raise ParameterError(
                f"a lattice has at most {most:,} points here", f"{count:,}", "Ask for a coarser lattice."
            )
        index = np.array(list(product(range(lattice + 1), repeat=len(grid.axes))))
        super().__init__(grid, np.ones(count), index)

    def _changed(self, eigenvalues: np.ndarray) -> BernsteinBasis:
        raise ParameterError("lattice functions come all together", "some of them", "Choose another lattice.")

    @property
    def lines(self) -> list[np.ndarray]:
        """Lattice points of each axis."""
        return [axis.span[0] + np.arange(self.lattice + 1) / self.lattice * axis.length for axis in self.grid.axes]

    @property
    def lattice_points(self) -> np.ndarray:
        """All lattice points: a vector on a line, one row each on a box."""
        if len(self.lines) == 1:
            return self.lines[0]
        return np.stack([line[self.index[:, a]] for a, line in enumerate(self.lines)], axis=-1)

    def along(self, axis: int, points: np.ndarray, derivative: int = 0) -> np.ndarray:
        line, m = self.grid.axes[axis], self.lattice
        x = np.clip((np.asarray(points) - line.span[0]) / line.length, 0.0, 1.0)[:, None]
        k = np.arange(m + 1)
        if not derivative:
            return scipy.stats.binom.pmf(k, m, x)
        return m / line.length * (scipy.stats.binom.pmf(k - 1, m - 1, x) - scipy.stats.binom.pmf(k, m - 1, x))

    @cached_property
    def correction(self) -> np.ndarray | None:
        """From lattice values to the values whose plain Bernstein polynomial is released; None if they are the same."""
        if self.order == 1:
            return None
        smooth = np.ones((1, 1))
        for axis, line in enumerate(self.lines):
            smooth = np.kron(smooth, self.along(axis, line))
        return _powers_sum(np.eye(self.size) - smooth, self.order)

    def evaluate(self, t: ArrayLike, derivative: int = 0) -> np.ndarray:
        plain = super().evaluate(t, derivative)
        return plain if self.correction is None else plain @ self.correction

    def synthesize(self, coefficients: ArrayLike) -> np.ndarray:
        values = np.asarray(coefficients, dtype=float)
        return super().synthesize(values if self.correction is None else values @ self.correction.T)

    def coefficients(self, values: ArrayLike) -> np.ndarray:
        raise ParameterError(
            "a Bernstein release lives on its lattice", "values on a grid", "Interpolate them at the lattice points."
        )

    @property
    def energies(self) -> np.ndarray:
        return self.grid.weights @ self.functions**2


def _powers_sum(matrix: np.ndarray, count: int) -> np.ndarray:
    """``I + M + ... + M^(count-1)``, by doubling: a few products for a high order."""
    total, power = np.eye(len(matrix)), matrix
    for bit in bin(count)[3:]:  # total is the sum of `done` powers, power the next one, after each digit of count
        total, power = total + power @ total, power @ power
        if bit == "1":
            total, power = total + power, power @ matrix
    return total
