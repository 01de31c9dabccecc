"""What a test of two groups found: whether their populations differ, and where."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from dpfda.core.errors import ParameterError

#: Stretches that are told of in a sentence.
SHOWN = 5


@dataclass(frozen=True, eq=False)
class DifferenceTest:
    """A test of whether two populations have the same curve: what :meth:`Difference.test` returns.

    Parameters
    ----------
    p_value : float
        How surprising a difference this large would be, somewhere, if there were none: noise, sampling, and all that
        may have been left out of either release are allowed for.
    level : float
        The level at which `where` is decided.
    t : array
        The points of the grid.
    where : array of bool
        Where the populations differ, all points at once, with probability `level` of no mistake.

    Examples
    --------
    >>> DifferenceTest(0.01, 0.95, np.arange(4.0), np.array([False, True, True, False])).intervals
    [(1.0, 2.0)]
    """

    p_value: float
    level: float
    t: np.ndarray
    where: np.ndarray

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """The stretches of the grid where they differ; for curves on a line."""
        if self.t.ndim > 1 or self.where.shape != self.t.shape:
            raise ParameterError("intervals are for curves on a line", "a surface", "Use `where`.")
        found = []
        for differs, places in groupby(range(self.t.size), key=lambda place: bool(self.where[place])):
            stretch = list(places)
            if differs:
                found.append((float(self.t[stretch[0]]), float(self.t[stretch[-1]])))
        return found

    @property
    def _stretches(self) -> str:
        """Where, in words, for curves on a line."""
        if self.t.ndim > 1 or self.where.shape != self.t.shape:
            return ""
        found = [f"from {low:.4g} to {high:.4g}" if low < high else f"at {low:.4g}" for low, high in self.intervals]
        return f" ({', '.join(found[:SHOWN])}{', ...' if len(found) > SHOWN else ''})"

    def __str__(self) -> str:
        where = f"they differ at {int(self.where.sum())} of {self.where.size} points{self._stretches}"
        seen = where if self.where.any() else "nowhere do they differ for sure, which does not say that they are alike"
        return f"p = {self.p_value:.2g}; at the {self.level:.0%} level {seen}."
