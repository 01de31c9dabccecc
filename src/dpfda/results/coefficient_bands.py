"""Bands of coefficient functions that hold more than noise: what was left out has a released size, so have residuals.

The middle solves the released moments as they are, without the ridge that suits predictions. About it lie the noise of
both moments (simulated, the first one's through the solution), the records' own sampling where the population is asked
for, and what no released number holds, at most as long as the check says (derivations: bands of regressions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpfda.results.bands import DRAWS, check_level, fixed_generator, quantile

#: Eigenvalues of a first moment below this share of all of them are raised to it: noise alone can make them small.
FLOOR = 1e-4
#: Of the error that a band may have, this share is for simulated errors; the rest is for what sizes get wrong.
SIMULATED = 0.8
#: How high a left-out curve may be, in units of its root mean square: three, as for means, or as high as one jump would
#: make it: after M cosines a jump of height one leaves a curve of height 1/2 and root mean square 1/(pi sqrt(M)).
HEIGHT, JUMP = 3.0, np.pi / 2
#: Noise may have made a length too short: so many of its standard deviations are added (for a jump no more than a
#: fourth of it, so that noise alone makes none).
MARGIN = 1.0
#: What an error at a point usually is at most, as a share of draws: the standard deviation of a Gaussian one.
USUAL = 0.68
#: A check above this share of its cap has been cut short, and tells nothing.
SATURATED = 0.5
#: Energies above this share of their cap have been cut short.
CUT = 0.5
#: A first moment is as singular as this share of its simulated versions say.
SINGULAR = 0.9
#: Nothing known: heights up to so many times the public bound's radius over the root of the domain, as for means.
PUBLIC = 3.0


def floored_inverse(gram: np.ndarray) -> np.ndarray:
    """The inverse of a first moment (or of several), with a floor for what noise has made of its eigenvalues."""
    values, vectors = np.linalg.eigh(gram)
    least = FLOOR * np.maximum(values.sum(axis=-1), 1e-12)
    found: np.ndarray = (vectors / np.maximum(values, least[..., None])[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return found


@dataclass(frozen=True, eq=False)
class CheckedFit:
    """What the last stage of a checked regression drew, and what is public about it; coefficients are internal ones.

    `simulate` draws first moments that the data may have had, and noise like that of the last moments.
    """

    rough: np.ndarray
    moments: np.ndarray
    gram: np.ndarray
    restoring: np.ndarray
    simulate: Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    n: int
    units: np.ndarray
    lengths: np.ndarray
    length_noise: np.ndarray
    cap: float
    by_coefficient: np.ndarray
    by_piece: np.ndarray
    energy_scale: float
    largest: float
    outer: float
    span: float

    @property
    def middle(self) -> np.ndarray:
        """Internal coefficients that solve the released moments as they are."""
        found = self.rough.copy()
        found[:, : self.moments.shape[1]] += floored_inverse(self.gram) @ self.moments
        return found

    @property
    def is_saturated(self) -> bool:
        """Whether the check was cut short: what was left out may then be of any size."""
        return bool((self.lengths > SATURATED * self.cap).any())

    @cached_property
    def _simulated(self) -> tuple[np.ndarray, np.ndarray]:
        """Errors of the middle by noise (draws x coefficients x functions), and lengths of rows of the inverse."""
        rng, rows = fixed_generator(), len(self.gram)
        chunk = max(1, min(DRAWS, (1 << 22) // (rows * max(rows, self.moments.shape[1]))))
        solved, errors, lengths = floored_inverse(self.gram) @ self.moments, [], []
        for start in range(0, DRAWS, chunk):
            grams, noise = self.simulate(min(chunk, DRAWS - start), rng)
            inverses = floored_inverse(grams)
            errors.append(self.restoring @ (inverses @ (self.moments - noise) - solved))
            lengths.append(np.linalg.norm(self.restoring @ inverses, axis=-1))
        return np.concatenate(errors), np.concatenate(lengths)

    @property
    def energy(self) -> float:
        """Energy of a residual; where the check was cut short, that of a response at the radius it was clipped to."""
        seen = max(float(self.by_piece.sum()), 0.0) + self.energy_scale
        return min(seen * self.largest**2, self.outer**2) if seen < CUT else self.outer**2

    @property
    def left_out(self) -> np.ndarray:
        """How high the left-out part of each coefficient function may be: by the check, or by a share of its noise.

        Residuals that are typically longer than the cap were shortened, and what they show is made longer again; so is
        what an uncertain first moment may have made too short.
        """
        seen, margin = np.maximum(self.lengths, 0.0), MARGIN * self.length_noise
        wide = HEIGHT * (seen + margin)
        narrow = JUMP * float(np.sqrt(self.moments.shape[1])) * (seen + np.minimum(seen / 4, margin))
        heights = np.maximum(wide, narrow)
        plain = np.linalg.norm(self.restoring @ floored_inverse(self.gram), axis=1)
        vague = np.maximum(1.0, np.quantile(self._simulated[1], SINGULAR, axis=0) / plain)
        longer = max(1.0, float(np.sqrt(self.energy)) / self.cap)
        values: np.ndarray = heights * longer * vague * self.units / np.sqrt(self.span)
        return values

    def sampling(self, piece: np.ndarray) -> np.ndarray:
        """Variances of coefficient functions by sampling at points of these pieces: residuals' energies, and noise.

        Neighbouring pieces lend their energy: a piece is no wall.
        """
        each = np.maximum(self.by_piece, 0.0) + self.energy_scale
        padded = np.pad(each, 1)
        each = np.maximum(each, np.maximum(padded[:-2], padded[2:]))
        share = each / max(float(self.by_piece.sum()), float(each.mean()))
        pulled = np.maximum(self.by_coefficient, 0.0) + self.energy_scale
        pulled = pulled * self.largest**2 if pulled.sum() < CUT else np.full(pulled.size, self.outer**2 / pulled.size)
        pulled = pulled * self.units**2
        values: np.ndarray = pulled[:, None] * (share[piece] * (len(each) / self.span))[None] / self.n
        return values

    def half_widths(self, level: float, functions: np.ndarray, piece: np.ndarray, population: bool) -> np.ndarray:
        """Half-widths about the middle, one row per coefficient function.

        `functions` are those of responses at points of the domain, `piece` in which piece these lie.
        """
        check_level(level)
        count = self.moments.shape[1]
        errors = self._simulated[0] @ functions[:, :count].T
        if population:
            rng = fixed_generator()
            shape = functions[:, :count] / (np.linalg.norm(functions[:, :count], axis=1, keepdims=True) + 1e-300)
            strays = rng.standard_normal((*errors.shape[:2], count)) @ shape.T
            errors = errors + strays * np.sqrt(self.sampling(piece))
        flat = np.abs(errors.reshape(len(errors), -1))
        # Not the root mean square: first moments close to singular would decide it, however rare they are.
        spread = np.quantile(flat, USUAL, axis=0) + 1e-300
        worst = (flat / spread).max(axis=1)
        width = (quantile(worst, 1 - SIMULATED * (1 - level)) * spread).reshape(errors.shape[1:])
        values: np.ndarray = width + self.left_out[:, None]
        return values
