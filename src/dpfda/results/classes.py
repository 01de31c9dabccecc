"""One released function per class of a classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpfda.results import maps, plots
from dpfda.results.function import FunctionRelease
from dpfda.results.joint import JointRelease
from dpfda.results.wording import price

if TYPE_CHECKING:
    from dpfda.plans.classes import ClassPlan

#: What the height of a class's function means.
WINS = "decision (the highest is predicted)"


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

    def _draw(self, ax: plots.Places, level: float, look: plots.Look) -> plots.Axes:
        """Over one input every decision function, over two where each class is predicted."""
        if self._any.dimension == 2:
            best = np.argmax([part.values for part in self.values()], axis=0)
            return maps.regions(self._any.grid, best, list(self), ax, look, f"Predicted class, {price(self.plan)}")
        ax = super()._draw(ax, level, replace(look, ylabel=WINS if look.ylabel is None else look.ylabel))
        return ax

    @property
    def band_promise(self) -> str:
        """What the bands of each of these releases promise, in one sentence."""
        return next(iter(self.values())).band_promise
