"""What densities look like: kernel estimates without privacy, and how many modes a curve has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dpfda as dp


def bandwidth(n: int, dimension: int) -> float:
    """The privacy-safe order, in widths of the domain, with the sign that the paper leaves out."""
    return float(n ** (-1 / (4 + dimension)))


def kernel_estimate(plan: dp.DensityPlan, density: np.ndarray) -> np.ndarray:
    """The kernel estimate with this plan's kernel and bandwidth, without privacy, of a density on the cells."""
    basis = replace(plan, method=dp.methods.FRL(1)).basis  # the cosines, also where the plan's own basis is a lattice
    return basis.synthesize(basis.eigenvalues * basis.coefficients(density))


def modes(curve: np.ndarray, share: float = 0.05) -> int:
    """How many peaks a curve has, at its ends too, that stand out by this share of the highest one."""
    least, count, rising, extreme = share * float(curve.max()), 0, True, float(curve[0])
    for value in curve.tolist():
        extreme = max(extreme, value) if rising else min(extreme, value)
        if rising and value < extreme - least:
            count, rising, extreme = count + 1, False, value
        elif not rising and value > extreme + least:
            rising, extreme = True, value
    return count + rising
