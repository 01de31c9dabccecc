"""Probabilities of events and censorings in the cells of a horizon, as hazards make them, and noisy counts of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

#: Logarithms of hazards, over the whole horizon: their level, its standard deviation, and that of a trend in the
#: logarithm of time. They let survival at the horizon be nearly anything.
LEVEL, SPREAD, TREND = -1.2, 2.2, 0.4
#: Cosines, at most; the smallest logarithm of a hazard, and the largest hazard of a cell.
COSINES, LOWEST, HIGHEST = 24, -14.0, 20.0
#: Roughness of a hazard: the size of its cosines, and of an effect of each cell.
Rough = tuple[float, float]


@dataclass(frozen=True, eq=False)
class NoisyEvents:
    """Noisy counts of `n` records in bins that begin at `starts` of ``2 * cells + 1`` cells, Laplace of `scale`.

    Cells are of events, of censorings, and one of all who reached the horizon. Where n is private it is what all counts
    add up to.
    """

    cells: int
    starts: np.ndarray
    counts: np.ndarray
    scale: float
    n: float

    def coarser(self, cells: int) -> NoisyEvents:
        """The same with longer cells, so many of them: bins begin at cells of these."""
        times = self.cells // cells
        return NoisyEvents(cells, self.starts // times, self.counts, self.scale, self.n)

    @cached_property
    def matrix(self) -> np.ndarray:
        """Which cells each bin is made of, one row for each bin."""
        places = np.searchsorted(self.starts, np.arange(2 * self.cells + 1), side="right") - 1
        return np.equal.outer(np.arange(self.starts.size), places).astype(float)

    @property
    def event_edges(self) -> np.ndarray:
        """Edges of the bins of events, in cells."""
        return np.append(self.starts[self.starts < self.cells], self.cells)


@dataclass(frozen=True, eq=False)
class Prior:
    """What is guessed of the logarithms of all hazards: a covariance, with its root and its inverse."""

    covariance: np.ndarray
    root: np.ndarray
    precision: np.ndarray


class Cells:
    """Probabilities of cells from logarithms of hazards, which are constant within each: of events, of censorings."""

    def __init__(self, count: int):
        self.count = count
        middles = (np.arange(count) + 0.5) / count
        logs = np.log(middles)
        waves = np.arange(1, min(count - 1, COSINES) + 1)
        cosines = np.sqrt(2) * np.cos(np.pi * np.outer(middles, waves))
        self._level = SPREAD**2 + TREND**2 * np.multiply.outer(logs - logs.mean(), logs - logs.mean())
        self._waves = (cosines / waves**2) @ cosines.T
        self._highest = np.log(HIGHEST * count)

    def hazards(self, logs: np.ndarray) -> np.ndarray:
        """Hazards over each cell: of events, then of censorings."""
        values: np.ndarray = np.exp(np.clip(logs, LOWEST, self._highest)) / self.count
        return values

    def _parts(self, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Both hazards, who is left after each cell, who goes in it, and which share of these by an event."""
        both = self.hazards(logs)
        events, censored = both[..., : self.count], both[..., self.count :]
        total = events + censored
        sums = np.cumsum(total, axis=-1)
        left = np.exp(-sums)
        return events, censored, left, np.exp(total - sums) - left, events / total

    def probabilities(self, logs: np.ndarray) -> np.ndarray:
        """Of all cells; they add up to one."""
        _, _, left, gone, share = self._parts(logs)
        return np.concatenate([gone * share, gone * (1 - share), left[..., -1:]], axis=-1)

    def slopes(self, logs: np.ndarray) -> np.ndarray:
        """Derivatives of the probabilities, one column for each logarithm."""
        events, censored, left, gone, share = self._parts(logs)
        falls = -gone[:, None] * np.tril(np.ones((self.count, self.count)), -1) + np.diag(left)
        other, between = (1 - share)[:, None], np.diag(gone * share * (1 - share))
        first, second, share = falls * events, falls * censored, share[:, None]
        return np.vstack(
            [
                np.hstack([first * share + between, second * share - between]),
                np.hstack([first * other - between, second * other + between]),
                -left[-1] * np.concatenate([events, censored])[None],
            ]
        )

    def pulled(self, logs: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weights of cells times :meth:`slopes`, for many rows of logarithms at once."""
        events, censored, left, gone, share = self._parts(logs)
        of_events, of_censored = weights[..., : self.count], weights[..., self.count : -1]
        mixed = of_events * share + of_censored * (1 - share)
        lost = gone * mixed
        later = np.cumsum(lost[..., ::-1], axis=-1)[..., ::-1] - lost
        common = left * mixed - later - left[..., -1:] * weights[..., -1:]
        between = gone * share * (1 - share) * (of_events - of_censored)
        return np.concatenate([events * common + between, censored * common - between], axis=-1)

    @lru_cache(maxsize=32)  # noqa: B019  (there are three of these, for good)
    def prior(self, events: Rough, censored: Rough) -> Prior:
        """What is guessed of hazards of this roughness."""
        size, whole = self.count, np.zeros((2 * self.count, 2 * self.count))
        for part, (waves, cell) in enumerate((events, censored)):
            own = slice(part * size, (part + 1) * size)
            whole[own, own] = self._level + waves**2 * self._waves + (cell**2 + 1e-9) * np.eye(size)
        return Prior(whole, np.linalg.cholesky(whole), np.linalg.inv(whole))


@lru_cache(maxsize=4)
def cells_of(count: int) -> Cells:
    """The model of so many cells."""
    return Cells(count)


def summed(hazards: np.ndarray) -> np.ndarray:
    """Cumulative hazards at the edges of the cells, from zero."""
    return np.concatenate([np.zeros((*hazards.shape[:-1], 1)), np.cumsum(hazards, axis=-1)], axis=-1)


def inverse(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """The inverse of a covariance and half the logarithm of its determinant; what rounding spoils is mended."""
    sizes = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scaled, more = matrix / np.multiply.outer(sizes, sizes), 1e-12
    while True:
        try:
            root = np.linalg.cholesky(scaled + more * np.eye(len(matrix)))
            break
        except np.linalg.LinAlgError:
            more *= 100
    turned = np.linalg.inv(root) / sizes
    return turned.T @ turned, float(np.log(np.diag(root)).sum() + np.log(sizes).sum())
