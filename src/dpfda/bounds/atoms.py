"""The places a point can have, and how far apart their feature vectors lie.

A record is one of finitely many *atoms* (cells of a public grid, or bins of a table), each with a
feature vector: what it adds to the statistic. Features are products over the axes, so distances from
one atom to all others, or from every atom to the middle of its block, are computed axis by axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

#: What cancellation can leave in a squared distance, as a share of the squared lengths: far above rounding, and
#: added to the bound.
CANCELLED = 1e-12


@dataclass(frozen=True, eq=False)
class Atoms:
    """Feature vectors of a product of axes: ``feature_j(x) = height * prod_a lines[a][x_a, index[j, a]]``."""

    lines: tuple[np.ndarray, ...]
    index: np.ndarray
    height: float = 1.0
    whole: Atoms | None = None  # of which these are some

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(line) for line in self.lines)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def restricted(self, where: np.ndarray) -> Atoms:
        whole = None if self.whole is None else self.whole.restricted(where)
        return Atoms(self.lines, self.index[where], self.height, whole)

    @cached_property
    def largest(self) -> np.ndarray:
        """Largest absolute value of each coordinate."""
        if self.whole is not None:
            return self.whole.largest
        tops = [np.abs(line).max(axis=0) for line in self.lines]
        return self.height * np.prod([top[self.index[:, a]] for a, top in enumerate(tops)], axis=0)

    @cached_property
    def spans(self) -> np.ndarray:
        """Largest minus smallest value of each coordinate."""
        if self.whole is not None:
            return self.whole.spans
        low, high = np.ones(len(self.index)), np.ones(len(self.index))
        for a, line in enumerate(self.lines):
            bottom, top = line.min(axis=0)[self.index[:, a]], line.max(axis=0)[self.index[:, a]]
            corners = np.stack([low * bottom, low * top, high * bottom, high * top])
            low, high = corners.min(axis=0), corners.max(axis=0)
        return self.height * (high - low)

    def counts(self, most: int) -> tuple[int, ...]:
        """How many blocks along each axis, at most `most` altogether."""
        counts = list(self.shape)
        while np.prod(counts) > most:
            counts[int(np.argmax(counts))] = (max(counts) + 1) // 2
        return tuple(counts)

    def edges(self, most: int) -> list[np.ndarray]:
        """Where blocks begin and end along each axis."""
        return [np.linspace(0, s, c + 1).astype(int) for s, c in zip(self.shape, self.counts(most), strict=True)]

    def blocks(self, most: int) -> Blocks:
        """At most `most` blocks of neighbouring atoms that together hold all of them."""
        edges = self.edges(most)
        low = np.stack(np.meshgrid(*(e[:-1] for e in edges), indexing="ij"), axis=-1)
        high = np.stack(np.meshgrid(*(e[1:] for e in edges), indexing="ij"), axis=-1)
        return Blocks(self, low.reshape(-1, len(edges)), high.reshape(-1, len(edges)))

    def euclidean_strays(self, most: int, weights: np.ndarray) -> np.ndarray:
        """How far any atom of each block lies from its middle, in the weighted Euclidean norm.

        ``|f(g) - f(m)|^2 = k(g, g) + k(m, m) - 2 k(g, m)`` with a kernel that is a product over the axes before
        it is summed over frequencies: all atoms at once, axis by axis.
        """
        energy = np.zeros(tuple(line.shape[1] for line in self.lines))
        energy[tuple(self.index.T)] = (self.height * weights) ** 2
        edges = self.edges(most)
        middles = [
            np.repeat(line[(e[:-1] + e[1:]) // 2], np.diff(e), axis=0)
            for line, e in zip(self.lines, edges, strict=True)
        ]
        own = self._everywhere(energy, [line**2 for line in self.lines])
        middle = self._everywhere(energy, [other**2 for other in middles])
        cross = self._everywhere(energy, [a * b for a, b in zip(self.lines, middles, strict=True)])
        squares = own + middle - 2 * cross + CANCELLED * float(own.max())
        for a, e in enumerate(edges):
            squares = np.maximum.reduceat(squares, e[:-1], axis=a)
        return np.sqrt(np.maximum(squares, 0.0)).ravel()

    def farthest_from(self, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The largest weighted Euclidean distance from each of these atoms to any atom at all."""
        energy = np.zeros(tuple(line.shape[1] for line in self.lines))
        energy[tuple(self.index.T)] = (self.height * weights) ** 2
        own = self._everywhere(energy, [line**2 for line in self.lines])
        most = CANCELLED * float(own.max())
        farthest = np.zeros(len(places))
        for i, place in enumerate(places):
            seen = [line * line[x] for line, x in zip(self.lines, place, strict=True)]
            squares = own + float(own[tuple(place)]) - 2 * self._everywhere(energy, seen)
            farthest[i] = np.sqrt(float(squares.max()) + most)
        return farthest

    @staticmethod
    def _everywhere(energy: np.ndarray, lines: list[np.ndarray]) -> np.ndarray:
        """Sum over all frequencies at all atoms; each pass moves one axis to the end."""
        for line in lines:
            energy = np.tensordot(energy, line, axes=(0, 1))
        return energy


@dataclass(frozen=True, eq=False)
class Blocks:
    """Boxes of atoms, from `low` to before `high` along each axis: the middle one stands for all of a box."""

    atoms: Atoms
    low: np.ndarray
    high: np.ndarray

    @property
    def alone(self) -> bool:
        return bool((self.high - self.low == 1).all())

    @property
    def middle(self) -> np.ndarray:
        return (self.low + self.high) // 2

    def features(self) -> np.ndarray:
        """One row per block: the features of its middle."""
        return self._product([line[self.middle[:, a]] for a, line in enumerate(self.atoms.lines)])

    def strays(self) -> np.ndarray:
        """How far any atom of a block can be from its middle, coordinate by coordinate."""
        apart, sizes = [], []
        for a, line in enumerate(self.atoms.lines):
            sides, which = np.unique(np.stack([self.low[:, a], self.high[:, a]]), axis=1, return_inverse=True)
            # Sides differ in length; the last atom again does no harm to a maximum.
            members = np.minimum(sides[0][:, None] + np.arange((sides[1] - sides[0]).max()), sides[1][:, None] - 1)
            middle = line[(sides[0] + sides[1]) // 2]
            apart.append(np.abs(line[members] - middle[:, None]).max(axis=1)[which])
            sizes.append(np.abs(line[members]).max(axis=1)[which])
        total = np.zeros((len(self.low), len(self.atoms.index)))
        for a in range(len(apart)):  # |xy - uv| <= |x - u| |y| + |u| |y - v|, for any number of factors
            total += self._product([apart[b] if b == a else sizes[b] for b in range(len(apart))])
        return total

    def taken(self, which: np.ndarray) -> Blocks:
        return Blocks(self.atoms, self.low[which], self.high[which])

    def joined(self, other: Blocks) -> Blocks:
        return Blocks(self.atoms, np.vstack([self.low, other.low]), np.vstack([self.high, other.high]))

    def split(self, kept: np.ndarray) -> tuple[Blocks, np.ndarray]:
        """The blocks `kept`, each halved along every axis where it can be, and which one each part comes from."""
        low, high = self.low[kept], self.high[kept]
        parents = np.arange(len(low))
        for a in range(low.shape[1]):
            half = (low[:, a] + high[:, a] + 1) // 2
            left, right = high.copy(), low.copy()
            left[:, a], right[:, a] = half, half
            low, high = np.vstack([low, right]), np.vstack([left, high])
            real = (high > low).all(axis=1)
            low, high, parents = low[real], high[real], np.tile(parents, 2)[real]
        return Blocks(self.atoms, low, high), parents

    def _product(self, lines: list[np.ndarray]) -> np.ndarray:
        values = np.full((len(self.low), len(self.atoms.index)), self.atoms.height)
        for a, line in enumerate(lines):
            values *= line[:, self.atoms.index[:, a]]
        return values


class Measure:
    """A norm, row by row, and the largest distance between rows."""

    def __init__(self, order: int, work: float):
        self.order, self.work = order, work

    def affordable(self, components: int) -> int:
        """How many blocks may be compared in a few seconds."""
        return int(np.clip(np.sqrt(self.work / max(1, components)), 1024, 16384))

    def lengths(self, values: np.ndarray) -> np.ndarray:
        return np.abs(values).sum(axis=1) if self.order == 1 else np.sqrt((values**2).sum(axis=1))

    def farthest(self, x: np.ndarray, loose: np.ndarray) -> tuple[np.ndarray, float]:
        """For each row the largest ``|x_i - x_k| + loose_i + loose_k``, and the largest ``|x_i - x_k|``."""
        upper, attained = np.zeros(len(x)), 0.0
        for start in range(0, len(x), 256):
            part = slice(start, start + 256)
            distance = self._distances(x[part], x[start:])
            attained = max(attained, float(distance.max()))
            distance += loose[part, None] + loose[None, start:]
            upper[part] = np.maximum(upper[part], distance.max(axis=1))
            upper[start:] = np.maximum(upper[start:], distance.max(axis=0))
        return upper, attained

    def pair(self, x: np.ndarray) -> tuple[int, int, float]:
        """Two rows that lie farthest apart, and how far."""
        distances = self._distances(x, x)
        i, k = np.unravel_index(int(distances.argmax()), distances.shape)
        return int(i), int(k), float(distances[i, k])

    def _distances(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self.order == 1:
            return scipy.spatial.distance.cdist(a, b, "cityblock")
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * (a @ b.T)
        return np.sqrt(np.maximum(squares, 0.0))


#: Both norms, with the work that takes a few seconds: any amount is sound, more is tighter.
ABSOLUTE, EUCLIDEAN = Measure(1, 2.0**32), Measure(2, 2.0**37)
