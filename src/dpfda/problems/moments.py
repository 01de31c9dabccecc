"""Regression by released moments: ``T1 = mean x x'`` and ``T2 = mean x y'``, then clipped residuals.

A first stage releases both moments; solving them, with a ridge as strong as the noise, gives a rough
prediction. A second stage counts how large residuals are; two more release ``mean x r'`` of products
clipped to a radius that suits most of them, and correct the prediction: far less noise than the responses
themselves need (derivations: regression).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.lattice import RADIUS, clip_euclidean
from dpfda.bounds.loops import Block, add_up, each
from dpfda.bounds.sensitivities import EuclideanSensitivity, ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core import codec
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.defaults import DefaultProblem, check_count, check_key
from dpfda.problems.design import SQUARE_BITS, STEPS, Design, Response, energy
from dpfda.problems.gram import Encoded
from dpfda.problems.summary import Summary, are_integers
from dpfda.spaces.basis import Eigenbasis

#: Bits of the rough prediction's coefficients: products with sixteen-bit inputs stay below 2^53
#: (derivations: regression).
PREDICTION_BITS = 34
#: Radii among which the residuals' is chosen: each the last over the eighth root of two, from the largest one down.
#: Any public list is valid; this one spans twelve octaves.
RADII, SHRINK = 96, 2.0**-0.125


@dataclass(frozen=True, eq=False)
class PairProblem(DefaultProblem, ABC):
    """What all stages share: records of inputs and a response, each side encoded alone.

    `coded` records come from :meth:`code`: several stages then encode each record once. That is for reading only; the
    problem of a stage takes records as they come.
    """

    basis: Eigenbasis
    design: Design
    response: Response
    n: int
    neighbors: str
    invalid: str
    coded: bool = field(default=False, kw_only=True)

    @property
    def width(self) -> int:
        if self.coded:
            return self.design.code(np.empty((0, self.design.columns)))[0].shape[1] + self.response.size
        return self.design.columns + self.response.columns

    @property
    def diameter(self) -> float:
        """How far one record moves a mean of vectors of length one (derivations: regression)."""
        return (1.0 if self.count_is_private else 2.0) / self.n

    @property
    def prior_energy(self) -> np.ndarray:
        """Plans of several stages have guesses of their own."""
        return np.zeros(self.basis.size)

    # -- implemented by each stage ----------------------------------------------------------

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the statistic."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Digest of everything that decides how a record is encoded."""

    @property
    @abstractmethod
    def sensitivity(self) -> Sensitivity:
        """Every difference that two neighbours can make in the statistic."""

    @property
    @abstractmethod
    def max_abs(self) -> np.ndarray:
        """Largest absolute value of each coordinate of the statistic."""

    @abstractmethod
    def estimate(self, summary: Summary) -> list[Fraction]:
        """The statistic, exactly."""

    @abstractmethod
    def _products(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        """What encoded records add to the totals."""

    # -- records ----------------------------------------------------------------------------

    @property
    def chunk(self) -> int:
        """Records handled at a time; totals do not depend on it."""
        return self.design.chunk

    def total(self, batch: np.ndarray) -> np.ndarray:
        return add_up(self.block_totals, batch, rows=self.chunk)

    def block_totals(self, block: Block) -> np.ndarray:
        return self._products(*self._encoded(block))

    def _encoded(self, block: Block) -> tuple[Encoded, np.ndarray]:
        x, y = self._sides(block) if not self.coded else np.split(block.rows, [self.width - self.response.size], axis=1)
        return self.design.decode(x), self.response.decode(y)

    def code(self, batch: np.ndarray) -> np.ndarray:
        """Records as all stages need them: integers of both sides, in floats."""
        width = replace(self, coded=True).width
        return each(lambda block: np.hstack(self._sides(block)), batch, width, self.design.chunk)

    def _sides(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Integers of both sides; an unusable one is an error, or its public middle."""
        x, lost = self.design.code(block.values[:, : self.design.columns])
        y, missing = self.response.encode(block.columns(self.design.columns))
        bad = lost | missing
        if bad.any() and self.invalid == "raise":
            raise RecordError(
                "A record has a missing or infinite input, or a missing response",
                np.flatnonzero(bad).tolist(),
                "Repair or drop it, or pass invalid='center' to count it as the public middle.",
            )
        return x, y

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "inputs, bounds or options")
        totals = summary.totals
        if not are_integers(totals) or totals.shape != self.total(np.empty((0, self.width))).shape or summary.count < 0:
            raise PlanMismatch("This summary does not have the plan's shape; summarise the records with this plan.")
        if (np.abs(totals.astype(float)) > summary.count * 2.0 ** (2 * SQUARE_BITS + 2)).any():
            raise PlanMismatch("This summary holds totals that no clipped records can have; it is damaged.")
        check_count(self, summary)


@dataclass(frozen=True, eq=False)
class MomentProblem(PairProblem):
    """Both moments: the numbers that stand for T1 (the first of them is public), then T2 row by row.

    Two products differ by at most twice the largest (derivations: regression).
    """

    @property
    def first_size(self) -> int:
        return self.design.gram.size

    @property
    def size(self) -> int:
        return self.first_size + self.design.size * self.response.size

    @property
    def n_public(self) -> int:
        """The constant's own moment, where the number of records is public."""
        return 0 if self.count_is_private else 1

    @property
    def center_coefficients(self) -> np.ndarray:
        """The constant's moment stands first; nothing else is public."""
        return np.append(self.design.gram.first, np.zeros(self.size - 1))

    @property
    def _response_radius(self) -> float:
        """Largest norm of an encoded response, rounding included."""
        steps = 2.0**SQUARE_BITS + 0.5 * np.sqrt(self.response.size)
        return float(steps * self.response.unit / STEPS * (1 + 2.0**-48))

    @cached_property
    def first_sensitivity(self) -> Sensitivity:
        return self.design.gram.sensitivity(self.n, self.count_is_private)

    @cached_property
    def second_sensitivity(self) -> Sensitivity:
        far = self.design.radius * self._response_radius
        return EuclideanSensitivity(np.full(self.design.size * self.response.size, far), self.diameter)

    @property
    def sensitivity(self) -> Sensitivity:
        return self.second_sensitivity

    @property
    def max_abs(self) -> np.ndarray:
        far = self.design.radius * self._response_radius
        return np.append(np.full(self.first_size, self.design.gram.length), np.full(self.size - self.first_size, far))

    @cached_property
    def key(self) -> str:
        return codec.digest(["moments", self.design.facts, self.response.facts, self.invalid])

    def _products(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        return np.append(self.design.gram.totals(x), x.against(np.rint(y * STEPS)).ravel())

    def estimate(self, summary: Summary) -> list[Fraction]:
        firsts = zip(summary.totals.tolist(), self.design.gram.units, strict=False)
        unit = Fraction(self.design.unit) * Fraction(self.response.unit) / Fraction(STEPS) / self.n
        return [t * u / self.n for t, u in firsts] + [t * unit for t in summary.totals[self.first_size :].tolist()]

    def second(self, noisy: np.ndarray) -> np.ndarray:
        """T2 as a matrix, one row per entry of the design."""
        return noisy[..., self.first_size :].reshape(*noisy.shape[:-1], self.design.size, self.response.size)


@dataclass(frozen=True, eq=False)
class ResidualProblem(PairProblem):
    """``mean x r'`` of residuals ``r = y - x b``, each product clipped to an ellipsoid with these `axes` for `r`.

    The product is clipped as a whole, as a vector of length one times ``||x|| r``: a long `x` leaves a short `r`
    unharmed. Residuals are about as often one way as the other; clipping them only slows the correction down
    (derivations: regression).
    """

    rough: np.ndarray
    axes: np.ndarray

    @property
    def components(self) -> int:
        return self.axes.size

    @property
    def size(self) -> int:
        return self.design.size * self.components

    @cached_property
    def _lengths(self) -> np.ndarray:
        """Semi-axes of encoded products: the ellipsoid, and the rounding of both factors."""
        top = 2.0**SQUARE_BITS
        wider = (
            (1 + 0.5 * np.sqrt(self.design.size) / top) * (top + 0.5 * np.sqrt(self.components)) / (STEPS * self._inner)
        )
        return np.tile(self.axes * wider * (1 + 2.0**-48), self.design.size)

    @cached_property
    def sensitivity(self) -> Sensitivity:
        return EuclideanSensitivity(self._lengths, self.diameter)

    @property
    def max_abs(self) -> np.ndarray:
        return self._lengths

    @property
    def _inner(self) -> float:
        """Lattice radius that the ellipsoid's surface is mapped to."""
        return RADIUS - 0.5 * float(np.sqrt(self.components))

    @cached_property
    def key(self) -> str:
        facts = [self.design.facts, self.response.facts, self.invalid]
        return codec.digest(["residuals", facts, self.rough.tolist(), self.axes.tolist()])

    @cached_property
    def _prediction(self) -> tuple[np.ndarray, float]:
        """The rough coefficients as integers, and the value of one step of a prediction."""
        rough = self.rough[:, : self.components]
        largest = float(np.abs(rough).max()) + 1e-300
        top = largest * float(np.sqrt(((rough / largest) ** 2).sum(axis=0)).max()) + 1e-300
        step = float(2.0 ** (np.ceil(np.log2(top)) - PREDICTION_BITS))
        return np.rint(rough / step), step * self.design.unit

    def normalised(self, x: Encoded, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lengths of the design vectors, and residuals times them in units of the axes.

        Exact integer products, then elementwise steps in a fixed order: functions of the record alone.
        """
        integers, step = self._prediction
        predicted = x.of_each((x.rows @ integers) * step)
        lengths = np.sqrt(energy(x.rows))
        residual = (y[:, : self.components] * self.response.unit - predicted) / self.axes
        return lengths, residual * (x.of_each(lengths) * self.design.unit)[:, None]

    def _products(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        lengths, residual = self.normalised(x, y)
        directions = np.rint(x.rows * (2.0**SQUARE_BITS / lengths)[:, None])
        clipped = clip_euclidean(np.rint(residual * self._inner))
        return x.against(np.rint(clipped * STEPS), directions).ravel()

    def estimate(self, summary: Summary) -> list[Fraction]:
        share = 1 / (Fraction(2**SQUARE_BITS) * Fraction(STEPS) * Fraction(self._inner) * self.n)
        units = [Fraction(a) * share for a in np.tile(self.axes, self.design.size).tolist()]
        return [int(t) * unit for t, unit in zip(summary.totals, units, strict=True)]


@dataclass(frozen=True, eq=False)
class SizeProblem(PairProblem):
    """How many products of inputs and residuals have a size between two radii: the largest radius first.

    One record is in one place (derivations: regression).
    """

    residuals: ResidualProblem
    largest: float

    @property
    def radii(self) -> np.ndarray:
        return self.largest * SHRINK ** np.arange(RADII)

    @property
    def size(self) -> int:
        return RADII

    @cached_property
    def sensitivity(self) -> Sensitivity:
        return ManhattanSensitivity(np.ones(RADII), self.diameter)

    @property
    def max_abs(self) -> np.ndarray:
        return np.ones(RADII)

    @cached_property
    def key(self) -> str:
        return codec.digest(["sizes", self.residuals.key, self.largest])

    def _products(self, x: Encoded, y: np.ndarray) -> np.ndarray:
        size = np.sqrt(energy(self.residuals.normalised(x, y)[1]))
        place = np.searchsorted(-self.radii, -size, side="right") - 1
        return np.bincount(np.clip(place, 0, RADII - 1), minlength=RADII)

    def estimate(self, summary: Summary) -> list[Fraction]:
        return [Fraction(int(t), self.n) for t in summary.totals]

    def chosen(self, noisy: np.ndarray, share: float) -> float:
        """The smallest radius that holds this share of the residuals, by the noisy counts."""
        below = np.cumsum(noisy[::-1])[::-1]
        enough = np.flatnonzero(below >= share * below[0])
        return float(self.radii[enough.max()]) if enough.size else self.largest
