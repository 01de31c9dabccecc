"""What two points of a box can differ by: the exact reach of densities.

A record is one of finitely many *atoms* (cells of a public grid, or bins of a table), each with a
feature vector: what it adds to the statistic. Two neighbours differ by two feature vectors, so
sensitivities are diameters of a finite set in an absolute or Euclidean norm. Up to 4,096 atoms all
pairs are compared. Above that, blocks of atoms are compared through one atom each, and how far the
others can stray from it is added: a certified upper bound (derivations: densities).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from .errors import ParameterError
from .protocol import Reach
from .reach import BoxReach

#: Up to this many atoms every pair is compared.
EXACT = 4096
#: Blocks that stand for the atoms of a larger grid, in the absolute and in the Euclidean norm.
BLOCKS, ROUND_BLOCKS = 4096, 16384
#: How far a bound may lie above a distance that is attained.
WIDEST_GAP = 1.4
#: Atoms that stand for all of them while parameters are being chosen.
OUTLINE = 256


@dataclass(frozen=True, eq=False)
class Atoms:
    """Feature vectors of a product of axes: ``feature_j(x) = height * prod_a lines[a][x_a, index[j, a]]``."""

    lines: tuple[np.ndarray, ...]
    index: np.ndarray
    height: float = 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(line) for line in self.lines)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def restricted(self, where: np.ndarray) -> Atoms:
        return Atoms(self.lines, self.index[where], self.height)

    @cached_property
    def largest(self) -> np.ndarray:
        """Largest absolute value of each coordinate."""
        tops = [np.abs(line).max(axis=0) for line in self.lines]
        return self.height * np.prod([top[self.index[:, a]] for a, top in enumerate(tops)], axis=0)

    @cached_property
    def spans(self) -> np.ndarray:
        """Largest minus smallest value of each coordinate."""
        low, high = np.ones(len(self.index)), np.ones(len(self.index))
        for a, line in enumerate(self.lines):
            bottom, top = line.min(axis=0)[self.index[:, a]], line.max(axis=0)[self.index[:, a]]
            corners = np.stack([low * bottom, low * top, high * bottom, high * top])
            low, high = corners.min(axis=0), corners.max(axis=0)
        return self.height * (high - low)

    def blocks(self, most: int) -> Blocks:
        """At most `most` blocks of neighbouring atoms, each with one atom in its middle."""
        counts = list(self.shape)
        while np.prod(counts) > most:
            counts[int(np.argmax(counts))] = (max(counts) + 1) // 2
        return Blocks(self, tuple(counts))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Atoms in blocks: one representative each, and how far the others stray from it."""

    atoms: Atoms
    counts: tuple[int, ...]

    @cached_property
    def _edges(self) -> list[np.ndarray]:
        return [
            np.linspace(0, size, count + 1).astype(int)
            for size, count in zip(self.atoms.shape, self.counts, strict=True)
        ]

    @cached_property
    def _middles(self) -> list[np.ndarray]:
        return [(edges[:-1] + edges[1:]) // 2 for edges in self._edges]

    @property
    def alone(self) -> bool:
        return self.counts == self.atoms.shape

    def features(self) -> np.ndarray:
        """One row per representative."""
        return self._tensor([line[p] for line, p in zip(self.atoms.lines, self._middles, strict=True)])

    def strays(self) -> np.ndarray:
        """How far any atom of a block can be from its representative, coordinate by coordinate."""
        apart, sizes = [], []
        for line, edges, middles in zip(self.atoms.lines, self._edges, self._middles, strict=True):
            middle = line[middles]
            widest = int(np.diff(edges).max())
            # Blocks differ by one atom in length; the last atom again does no harm to a maximum.
            members = np.minimum(edges[:-1, None] + np.arange(widest), edges[1:, None] - 1)
            apart.append(np.abs(line[members] - middle[:, None]).max(axis=1))
            sizes.append(np.abs(line[members]).max(axis=1))
        total = np.zeros((int(np.prod(self.counts)), len(self.atoms.index)))
        for a in range(len(apart)):  # |xy - uv| <= |x - u| |y| + |u| |y - v|, for any number of factors
            total += self._tensor([apart[b] if b == a else sizes[b] for b in range(len(apart))])
        return total

    def _tensor(self, lines: list[np.ndarray]) -> np.ndarray:
        values = np.full((1, len(self.atoms.index)), self.atoms.height)
        for a, line in enumerate(lines):
            values = (values[:, None, :] * line[None, :, self.atoms.index[:, a]]).reshape(-1, len(self.atoms.index))
        return values


@dataclass(frozen=True)
class Diameter:
    """A certified upper bound of a diameter, and a distance that two atoms really have."""

    upper: float
    attained: float

    @property
    def gap(self) -> float:
        """One where the bound is exact."""
        return self.upper / self.attained


@dataclass(frozen=True, eq=False)
class AtomReach:
    """Differences of two atoms' features, times `factor`; with `lone`, of one atom and nothing.

    `rest` holds the features of a record that has no atom.
    """

    atoms: Atoms
    factor: float
    rest: np.ndarray
    lone: bool = False

    def _vectors(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray | None]:
        return blocks.features(), None if blocks.alone else blocks.strays()

    def absolute(self, weights: np.ndarray) -> Diameter:
        """``sup sum_j weights_j |h_j|``, exact or certified."""
        first = self._measured(weights, BLOCKS, _absolute)
        if first.gap == 1:
            return first
        # Cauchy-Schwarz from the Euclidean diameter: sometimes the tighter of two sound bounds.
        euclidean = self._measured(np.sqrt(weights), ROUND_BLOCKS, _euclidean)
        other = float(np.sqrt(weights.sum())) * euclidean.upper
        return Diameter(max(first.attained, min(first.upper, other)), first.attained)

    def euclidean(self, weights: np.ndarray) -> Diameter:
        """``sup || weights h ||_2``, exact or certified."""
        return self._measured(weights, ROUND_BLOCKS, _euclidean)

    def _certified(self, diameter: Diameter) -> float:
        """The bound, if it is close enough to what two atoms were seen to differ by."""
        if diameter.gap > WIDEST_GAP:
            raise ParameterError(
                f"a certified sensitivity must lie within {WIDEST_GAP} of one that is attained",
                f"a ratio of {diameter.gap:.2f}",
                "Ask for fewer components or fewer cells.",
            )
        return diameter.upper

    def _measured(self, weights: np.ndarray, most: int, measure: _Measure) -> Diameter:
        blocks = self.atoms.blocks(EXACT if self.atoms.size <= EXACT else _affordable(most, weights.size))
        features, strays = self._vectors(blocks)
        loose = None if strays is None else measure.lengths(strays * weights)
        if self.lone:  # adding a record moves the statistic by its own features
            lengths = measure.lengths(features * weights)
            attained = max(lengths.max(), measure.lengths(self.rest[None] * weights)[0])
            upper = max(attained, (lengths if loose is None else lengths + loose).max())
        else:
            upper, attained = measure.diameter(features * weights, loose)
            apart = measure.lengths((features - self.rest) * weights)
            attained = max(attained, apart.max())
            upper = max(upper, (apart if loose is None else apart + loose).max())
        if loose is not None:  # corners, where cosines peak, are worth a look of their own
            attained = max(float(attained), self.outline()._measured(weights, most, measure).attained / self.factor)
        return Diameter(float(upper) * self.factor, float(attained) * self.factor)

    # -- what methods ask -----------------------------------------------------------------

    def support(self, weights: np.ndarray) -> float:
        # Noise is shaped, then calibrated: the same weights come twice, but for their height.
        height = float(weights.max())
        if not any(np.allclose(weights / height, shape, rtol=1e-14, atol=0) for shape, _ in self._seen):
            self._seen.append((weights / height, self._certified(self.absolute(weights / height))))
        return next(x for shape, x in self._seen if np.allclose(weights / height, shape, rtol=1e-14, atol=0)) * height

    @cached_property
    def _seen(self) -> list[tuple[np.ndarray, float]]:
        return []

    def radius(self, axes: np.ndarray) -> float:
        return self._certified(self.euclidean(1 / axes))

    @cached_property
    def lengths(self) -> np.ndarray:
        """What each coordinate can change by on its own."""
        return self.factor * (self.atoms.largest if self.lone else self.atoms.spans)

    def matched(self, filter: np.ndarray) -> np.ndarray:
        # Cosines of two points differ in all coordinates at once, as in a box: scales follow the
        # cube root of the filter, and the exact supremum sets their height.
        shape = np.cbrt(filter * self.lengths)
        return shape * self.support(filter / shape)

    def balance(self, guess: np.ndarray) -> np.ndarray:
        precision = BoxReach(self.lengths, 1.0).balance(guess)
        return precision / self.support(precision)

    def axes(self) -> np.ndarray:
        return np.sqrt(self.lengths)

    def restricted(self, where: np.ndarray) -> Reach:
        return AtomReach(self.atoms.restricted(where), self.factor, self.rest[where], self.lone)

    def loosened(self) -> Reach:
        return BoxReach(np.full(self.lengths.size, self.lengths.max()), 1.0)

    def scaled(self, factor: float) -> Reach:
        return AtomReach(self.atoms, self.factor * factor, self.rest, self.lone)

    def outline(self) -> AtomReach:
        """Some atoms, corners included: quick, and close enough for choosing parameters."""
        counts = self.atoms.blocks(OUTLINE).counts
        lines = tuple(
            line[np.linspace(0, len(line) - 1, count).round().astype(int)]
            for line, count in zip(self.atoms.lines, counts, strict=True)
        )
        return AtomReach(Atoms(lines, self.atoms.index, self.atoms.height), self.factor, self.rest, self.lone)


def _affordable(most: int, components: int) -> int:
    """Fewer blocks for many components: pairs times components stay within a few seconds."""
    return int(max(1024, min(most, np.sqrt(2.0**34 / max(1, components)))))


class _Measure:
    """A norm, row by row, and the largest distance between rows."""

    def __init__(self, order: int, rows: int):
        self.order, self.rows = order, rows

    def lengths(self, values: np.ndarray) -> np.ndarray:
        return np.abs(values).sum(axis=1) if self.order == 1 else np.sqrt((values**2).sum(axis=1))

    def diameter(self, x: np.ndarray, loose: np.ndarray | None) -> tuple[float, float]:
        """The largest ``|x_i - x_k| + loose_i + loose_k``, and the largest ``|x_i - x_k|``."""
        upper, attained = 0.0, 0.0
        for start in range(0, len(x), self.rows):
            part = slice(start, start + self.rows)
            distance = self._distances(x[part], x[start:])
            attained = max(attained, float(distance.max()))
            if loose is not None:
                distance += loose[part, None] + loose[None, start:]
                upper = max(upper, float(distance.max()))
        return (attained if loose is None else upper), attained

    def _distances(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self.order == 1:
            return cdist(a, b, "cityblock")
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * (a @ b.T)
        return np.sqrt(np.maximum(squares, 0.0))


_absolute, _euclidean = _Measure(1, 256), _Measure(2, 512)
