"""The problem of a density, which plans of any epsilon share: what takes long is certified once."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpfda.problems.density import DensityProblem
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.stationary import Stationary
from dpfda.spaces.tensor import CosineProductBasis, by_frequency


@lru_cache(maxsize=8)
def density_problem(
    grid: AnyGrid,
    shape: tuple[int, ...],
    most: int,
    edges: tuple[tuple[float, ...], ...] | None,
    kernel: Stationary,
    bandwidths: tuple[float, ...],
    n: int,
    eta: float | None,
    neighbors: str,
    invalid: str,
    outside: str,
    shrinks: bool,
) -> DensityProblem:
    """A density on the cells of a grid, or on bins, of which at most so many cosines may leave."""
    index = by_frequency(shape, most)
    spectra = tuple(
        replace(kernel, length_scale=h).spectrum(np.arange(index[:, a].max() + 1) * (np.pi / axis.length))
        for a, (axis, h) in enumerate(zip(grid.axes, bandwidths, strict=True))
    )
    eigenvalues = np.prod([spectrum[index[:, a]] for a, spectrum in enumerate(spectra)], axis=0)
    basis, bins = CosineProductBasis(grid, eigenvalues, index), None if edges is None else tuple(map(np.array, edges))
    return DensityProblem(basis, n, spectra, bins, kernel.decay, eta, neighbors, invalid, outside, shrinks)


@lru_cache(maxsize=8)
def sketch_of(problem: DensityProblem) -> DensityProblem:
    """The same with differences measured by their outline: for comparing methods, never for noise."""
    return replace(problem, sketched=True)
