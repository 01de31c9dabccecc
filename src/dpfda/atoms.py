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
#: A certified bound this close to a distance that is attained is not worth refining.
TIGHT = 1.01
#: Blocks that are compared with every single atom, and how often the worst of them are halved.
HUBS, HUB_ROUNDS = 128, 4
#: What cancellation can leave in a squared distance, as a share of the squared lengths.
CANCELLED = 1e-12
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

    def absolute(self, weights: np.ndarray) -> Diameter:
        """``sup sum_j weights_j |h_j|``, exact or certified."""
        first = self._measured(weights, _absolute)
        if first.gap <= TIGHT:
            return first
        # Cauchy-Schwarz: sum u |h| <= sqrt(sum v) sqrt(sum u^2 h^2 / v) for any v, from a Euclidean diameter.
        shares = self._shares(weights)
        other = float(np.sqrt(shares.sum())) * self._measured(weights / np.sqrt(shares), _euclidean).upper
        return Diameter(max(first.attained, min(first.upper, other)), first.attained)

    def _shares(self, weights: np.ndarray) -> np.ndarray:
        """The `v` for which Cauchy-Schwarz is nearly tightest: found on some of the atoms, sound for all."""
        x = self.outline(1024).atoms.blocks(EXACT).features()
        best, shares, spread = np.inf, weights, np.zeros(weights.size)
        best_shares = shares
        for step in range(24):  # each round looks at the pair that is farthest so far
            scaled = x * (weights / np.sqrt(shares))
            i, k, distance = _euclidean.pair(scaled)
            bound = float(np.sqrt(shares.sum())) * distance
            if bound < best:
                best, best_shares = bound, shares
            spread = spread + ((x[i] - x[k]) ** 2 - spread) * (2 / (step + 2))
            shares = weights * np.sqrt(spread + 1e-6 * spread.max())
        return best_shares

    def euclidean(self, weights: np.ndarray) -> Diameter:
        """``sup || weights h ||_2``, exact or certified."""
        return self._measured(weights, _euclidean)

    def _certified(self, diameter: Diameter) -> float:
        """The bound, if it is close enough to what two atoms were seen to differ by."""
        if diameter.gap > WIDEST_GAP:
            raise ParameterError(
                f"a certified sensitivity must lie within {WIDEST_GAP} of one that is attained",
                f"a ratio of {diameter.gap:.2f}",
                "Ask for fewer components or fewer cells.",
            )
        return diameter.upper

    def _measured(self, weights: np.ndarray, measure: _Measure) -> Diameter:
        """Compare blocks; where a pair might still be the farthest, halve its blocks and compare again."""
        most = measure.affordable(weights.size)
        blocks = self.atoms.blocks(EXACT if self.atoms.size <= EXACT else most)
        attained = 0.0 if blocks.alone else self.outline()._measured(weights, measure).attained / self.factor
        if measure is _euclidean and not blocks.alone and not self.lone:
            return self._hubs(blocks, self.atoms.euclidean_strays(most, weights), weights, attained)
        limit: np.ndarray | float = np.inf
        while True:
            x = blocks.features() * weights
            loose = np.zeros(len(x)) if blocks.alone else measure.lengths(blocks.strays() * weights)
            upper, seen = self._farthest(x, loose, weights, measure)
            upper, attained = np.minimum(upper, limit), max(attained, seen)
            if blocks.alone and self.atoms.size <= EXACT:
                return Diameter(attained * self.factor, attained * self.factor)
            open_blocks = upper > TIGHT * attained
            if not open_blocks.any():
                return Diameter(TIGHT * attained * self.factor, attained * self.factor)
            finer, parents = blocks.split(open_blocks)
            if len(finer.low) > most:
                return Diameter(float(upper.max()) * self.factor, attained * self.factor)
            blocks, limit = finer, upper[open_blocks][parents]  # parts stay within what the whole allowed

    def _hubs(self, blocks: Blocks, loose: np.ndarray, weights: np.ndarray, attained: float) -> Diameter:
        """Long vectors (corners, where cosines peak) are far from everything: they are compared with every atom.

        Best first: the hub that could reach farthest is halved, until that hardly matters any more.
        """
        x = blocks.features() * weights
        order = np.argsort(-_euclidean.lengths(x))
        hubs, others = blocks.taken(order[:HUBS]), order[HUBS:]
        upper, seen = np.zeros(1), 0.0
        if others.size:
            upper, seen = self._farthest(x[others], loose[others], weights, _euclidean)
        reach, far = self._hub_reach(hubs, loose[order[:HUBS]], weights)
        attained = max(attained, seen, far)
        for _ in range(HUB_ROUNDS):
            if reach.max() <= max(TIGHT * attained, float(upper.max())):
                break
            chosen = np.zeros(len(reach), dtype=bool)
            chosen[np.argsort(-reach)[: HUBS // 4]] = True
            finer, parents = hubs.split(chosen)
            own, far = self._hub_reach(finer, _euclidean.lengths(finer.strays() * weights), weights)
            attained = max(attained, far)
            reach = np.concatenate([reach[~chosen], np.minimum(own, reach[chosen][parents])])
            hubs = hubs.taken(~chosen).joined(finer)
        reached = max(float(upper.max()), float(reach.max()), attained)
        return Diameter(reached * self.factor, attained * self.factor)

    def _hub_reach(self, hubs: Blocks, loose: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """How far an atom of each hub can be from any atom, and the farthest that a middle really is."""
        far = self.atoms.farthest_from(hubs.middle, weights)
        far = np.maximum(far, _euclidean.lengths(hubs.features() * weights - self.rest * weights))
        return far + loose, float(far.max())

    def _farthest(
        self, x: np.ndarray, loose: np.ndarray, weights: np.ndarray, measure: _Measure
    ) -> tuple[np.ndarray, float]:
        """For each block how far one of its atoms can be from any other, and a distance that two really have."""
        rest = self.rest * weights
        if self.lone:  # adding a record moves the statistic by its own features
            lengths, alone = measure.lengths(x), float(measure.lengths(rest[None])[0])
            return np.maximum(lengths + loose, alone), max(float(lengths.max()), alone)
        upper, attained = measure.farthest(x, loose)
        apart = measure.lengths(x - rest)
        return np.maximum(upper, apart + loose), max(attained, float(apart.max()))

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

    def outline(self, most: int = OUTLINE) -> AtomReach:
        """Some atoms, corners included: quick, and close enough for choosing parameters."""
        lines = tuple(
            line[np.linspace(0, len(line) - 1, count).round().astype(int)]
            for line, count in zip(self.atoms.lines, self.atoms.counts(most), strict=True)
        )
        return AtomReach(Atoms(lines, self.atoms.index, self.atoms.height), self.factor, self.rest, self.lone)


class _Measure:
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
            return cdist(a, b, "cityblock")
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * (a @ b.T)
        return np.sqrt(np.maximum(squares, 0.0))


_absolute, _euclidean = _Measure(1, 2.0**32), _Measure(2, 2.0**37)
