"""Which kernel a model of inputs takes, how it is spoken of, and how many of its functions are considered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.methods import FRL, KNorm, Method
from dpfda.spaces.inputs import LENGTH, LENGTH_ABOVE, InputBox, kernel_basis
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


def kernel_words(kernel: Stationary, box: InputBox) -> str:
    """The kernel with the length scale that was left open filled in."""
    if kernel.length_scale is not None:
        return repr(kernel)
    share = f"{LENGTH:g}" if box.dimension <= 3 else f"{LENGTH_ABOVE * box.dimension**0.5:.2g}"
    return f"{type(kernel).__name__}, length scale {share} of each side"


def class_words(classes: Sequence[str], labels_read: bool) -> str:
    """Which classes there are, and whether that is private."""
    read = (
        " They were read from the data: a record with a label of its own would show as a class, which a public list of "
        "classes prevents."
    )
    return f"Which classes there are is public: {', '.join(classes)}.{read if labels_read else ''}"


def fit_words(criterion: str, psi: float) -> str:
    """What is minimised, in a sentence."""
    loss = criterion.replace("huber", "Huber")
    return f"The function minimises the mean {loss} loss plus {psi:.3g} times its squared norm in the kernel's space."


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
