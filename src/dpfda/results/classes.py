"""One released function per class of a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpfda.results.function import FunctionRelease
from dpfda.results.joint import JointRelease

if TYPE_CHECKING:
    from dpfda.plans.classes import ClassPlan


class ClassRelease(JointRelease[FunctionRelease]):
    """Decision functions by the name of their class: each tells its class from the rest, and all see all records.

    Parameters
    ----------
    plan : ClassPlan
        The plan that was carried out.
    releases : dict
        One release for each class, by its name.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> x = np.random.default_rng(0).uniform(0, 3, (3000, 1))
    >>> model = dp.KernelClassifier(epsilon=1.0, domain=[(0, 3)], classes=[0, 1, 2]).fit(x, x[:, 0].astype(int))
    >>> list(model.release_)
    ['0', '1', '2']
    """

    plan: ClassPlan

    @property
    def band_promise(self) -> str:
        """What the bands of each of these releases promise, in one sentence."""
        return next(iter(self.values())).band_promise
