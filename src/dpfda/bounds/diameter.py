"""What two points of a box can differ by: the exact sensitivity of densities.

Two neighbours differ by two feature vectors, so sensitivities are diameters of a finite set in an
absolute or Euclidean norm. Up to 4,096 atoms all pairs are compared. Above that, blocks of atoms
are compared through one atom each, and how far the others can stray from it is added: a certified
upper bound (derivations: densities).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpfda.bounds.atoms import ABSOLUTE, EUCLIDEAN, Atoms, Blocks, Measure
from dpfda.bounds.sensitivities import BoxSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.errors import ParameterError

# All of these are sound, whatever their values: they decide how tight a certified bound is, and how long it takes
# (derivations: densities).

#: Up to this many atoms every pair is compared.
EXACT = 4096
#: A certified bound this close to a distance that is attained is not worth refining; what it may be off is charged.
TIGHT = 1.01
#: Blocks that are compared with every single atom, and how often the worst of them are halved.
HUBS, HUB_ROUNDS = 96, 3
#: How far a bound may lie above a distance that is attained; a looser one is refused.
WIDEST_GAP = 1.4
#: Atoms that stand for all of them while parameters are being chosen; noise is never calibrated by them.
OUTLINE = 256


@dataclass(frozen=True)
class Diameter:
    """A certified upper bound of a diameter, and a distance that two atoms really have."""

    upper: float
    attained: float

    @property
    def gap(self) -> float:
        """One where the bound is exact."""
        return self.upper / self.attained if self.attained > 0 else 1.0 if self.upper == 0 else np.inf


@dataclass(frozen=True, eq=False)
class AtomSensitivity:
    """Differences of two atoms' features, times `factor`; with `lone`, of one atom and nothing.

    `rest` holds the features of a record that has no atom (derivations: densities).
    """

    atoms: Atoms
    factor: float
    rest: np.ndarray
    lone: bool = False

    def absolute(self, weights: np.ndarray) -> Diameter:
        """``sup sum_j weights_j |h_j|``, exact or certified."""
        first = self._measured(weights, ABSOLUTE)
        if first.gap <= TIGHT:
            return first
        # Cauchy-Schwarz: sum u |h| <= sqrt(sum v) sqrt(sum u^2 h^2 / v) for any v, from a Euclidean diameter.
        shares = self._shares(weights)
        other = float(np.sqrt(shares.sum())) * self._measured(weights / np.sqrt(shares), EUCLIDEAN).upper
        return Diameter(max(first.attained, min(first.upper, other)), first.attained)

    def _shares(self, weights: np.ndarray) -> np.ndarray:
        """The `v` for which Cauchy-Schwarz is nearly tightest: found on some of the atoms, sound for all."""
        x = self.outline(1024).atoms.blocks(EXACT).features()
        best, shares, spread = np.inf, weights, np.zeros(weights.size)
        best_shares = shares
        for step in range(24):  # each round looks at the pair that is farthest so far
            scaled = x * (weights / np.sqrt(shares))
            i, k, distance = EUCLIDEAN.pair(scaled)
            bound = float(np.sqrt(shares.sum())) * distance
            if bound < best:
                best, best_shares = bound, shares
            spread = spread + ((x[i] - x[k]) ** 2 - spread) * (2 / (step + 2))
            shares = weights * np.sqrt(spread + 1e-6 * spread.max())
        return best_shares

    def euclidean(self, weights: np.ndarray) -> Diameter:
        """``sup || weights h ||_2``, exact or certified."""
        return self._measured(weights, EUCLIDEAN)

    def _certified(self, diameter: Diameter) -> float:
        """The bound, if it is close enough to what two atoms were seen to differ by."""
        if not diameter.gap <= WIDEST_GAP:
            raise ParameterError(
                f"a certified sensitivity must lie within {WIDEST_GAP} of one that is attained",
                f"a ratio of {diameter.gap:.2f}",
                "Ask for fewer components or fewer cells.",
            )
        return diameter.upper

    def _measured(self, weights: np.ndarray, measure: Measure) -> Diameter:
        """Compare blocks; where a pair might still be the farthest, halve its blocks and compare again."""
        most = measure.affordable(weights.size)
        blocks = self.atoms.blocks(EXACT if self.atoms.size <= EXACT else most)
        attained = 0.0 if blocks.alone else self.outline()._measured(weights, measure).attained / self.factor
        if measure is EUCLIDEAN and not blocks.alone and not self.lone:
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
        order = np.argsort(-EUCLIDEAN.lengths(x))
        hubs, others = blocks.taken(order[:HUBS]), order[HUBS:]
        upper, seen = np.zeros(1), 0.0
        if others.size:
            upper, seen = self._farthest(x[others], loose[others], weights, EUCLIDEAN)
        sensitivity, far = self._hub_reach(hubs, loose[order[:HUBS]], weights)
        attained = max(attained, seen, far)
        for _ in range(HUB_ROUNDS):
            if sensitivity.max() <= max(TIGHT * attained, float(upper.max())):
                break
            chosen = np.zeros(len(sensitivity), dtype=bool)
            chosen[np.argsort(-sensitivity)[: HUBS // 4]] = True
            finer, parents = hubs.split(chosen)
            own, far = self._hub_reach(finer, EUCLIDEAN.lengths(finer.strays() * weights), weights)
            attained = max(attained, far)
            sensitivity = np.concatenate([sensitivity[~chosen], np.minimum(own, sensitivity[chosen][parents])])
            hubs = hubs.taken(~chosen).joined(finer)
        reached = max(float(upper.max()), float(sensitivity.max()), attained)
        return Diameter(reached * self.factor, attained * self.factor)

    def _hub_reach(self, hubs: Blocks, loose: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """How far an atom of each hub can be from any atom, and the farthest that a middle really is."""
        far = self.atoms.farthest_from(hubs.middle, weights)
        far = np.maximum(far, EUCLIDEAN.lengths(hubs.features() * weights - self.rest * weights))
        return far + loose, float(far.max())

    def _farthest(
        self, x: np.ndarray, loose: np.ndarray, weights: np.ndarray, measure: Measure
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

    def balance(self, prior_energy: np.ndarray) -> np.ndarray:
        precision = BoxSensitivity(self.lengths, 1.0).balance(prior_energy)
        return precision / self.support(precision)

    def axes(self) -> np.ndarray:
        return np.sqrt(self.lengths)

    def together(self, alone: np.ndarray) -> float:
        return float(alone.sum())

    def restricted(self, where: np.ndarray) -> Sensitivity:
        return AtomSensitivity(self.atoms.restricted(where), self.factor, self.rest[where], self.lone)

    def loosened(self) -> Sensitivity:
        return BoxSensitivity(np.full(self.lengths.size, self.lengths.max()), 1.0)

    def scaled(self, factor: float) -> Sensitivity:
        return AtomSensitivity(self.atoms, self.factor * factor, self.rest, self.lone)

    def outline(self, most: int = OUTLINE) -> AtomSensitivity:
        """Some atoms, corners included: quick, and close enough for choosing parameters."""
        lines = tuple(
            line[np.linspace(0, len(line) - 1, count).round().astype(int)]
            for line, count in zip(self.atoms.lines, self.atoms.counts(most), strict=True)
        )
        some = Atoms(lines, self.atoms.index, self.atoms.height, self.atoms.whole or self.atoms)
        return AtomSensitivity(some, self.factor, self.rest, self.lone)
