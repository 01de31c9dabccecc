"""Which kernel a model of inputs takes, and how many of its functions are considered."""

from __future__ import annotations

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.methods import FRL, KNorm, Method
from dpfda.spaces.inputs import InputBox, kernel_basis
from dpfda.spaces.stationary import Gaussian, Stationary

#: Functions whose eigenvalue is above this share of the largest are those that the kernel gives weight.
FAINT = 0.025
#: How many of them, or how many times as many, are considered.
SHARES = (0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
#: Pairs of waves that a decision function has above three dimensions.
DECIDING = 24


def as_stationary(kernel: object) -> Stationary:
    """A kernel with a spectrum; None is Gaussian with a tenth of each side as length scale."""
    kernel = Gaussian() if kernel is None else kernel
    if not isinstance(kernel, Stationary):
        raise ParameterError(
            "a model's kernel must be Gaussian, Exponential or Matern",
            shown(kernel),
            "Pass kernel=dp.kernels.Gaussian().",
        )
    return kernel


def quieter(axes: np.ndarray) -> Method:
    """Ball noise or independent Laplace noise on all components of these lengths, whichever is smaller."""
    ball = (axes.size + 1) * float(axes @ axes) < 2 * float(axes.sum()) ** 2
    return KNorm(axes.size) if ball else FRL(axes.size)


def candidates(box: InputBox, kernel: Stationary) -> list[int]:
    """Numbers of functions to choose from; waves have equal weight, and their number is fixed."""
    if box.dimension > 3:
        return [2 * DECIDING + 1]
    values = kernel_basis(box, kernel).eigenvalues
    weighty = int((values >= FAINT * values.max()).sum())
    return sorted({min(values.size, max(2, round(weighty * share))) for share in SHARES})
