"""How a radius is looked for: private choices among public radii, and how far off they can be.

Everything here follows from public facts: n, epsilon, the quantile and the radii on offer (derivations: private
choice).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpfda.noise.choice import chances
from dpfda.plans.schedule import Schedule
from dpfda.plans.shares import Cost
from dpfda.problems.norms import TELL_APART, octave_price
from dpfda.problems.stage import Stage

if TYPE_CHECKING:
    from dpfda.plans.radius import RadiusPlan

#: Radii on offer: from largest to smallest by a fourth of an octave each.
PER_OCTAVE = 4
#: The probability that a radius holds fewer curves than is promised, and that it is larger.
TOO_FEW, TOO_LARGE = 0.025, 0.025
#: What an octave more costs: so many records over epsilon, more of them (up to `TELL_APART`) while that is at most this
#: share of the records; and never more than this share of the curves that are to be held, for all octaves together.
FEWEST, SMALL, MOST = 4.0, 0.01, 0.5


class RadiusSearch(Schedule):
    """One or two choices from the same counts. Nothing is read again."""

    keeps_draws: ClassVar[bool] = False

    def __init__(self, plan: RadiusPlan):
        self.plan = plan

    @property
    @abstractmethod
    def places(self) -> np.ndarray:
        """The radii that the first choice is among, by their places."""

    @property
    @abstractmethod
    def price(self) -> float:
        """What an octave more costs there, as a share of the records."""

    @property
    @abstractmethod
    def held(self) -> float:
        """The share of the curves that the radius holds at least, nearly always; below zero where that means nothing.

        It holds for any curves of which the largest radius holds the quantile.
        """

    @property
    @abstractmethod
    def times(self) -> float | None:
        """How many times too large the radius is at most, nearly always; None where that is not known."""

    @property
    @abstractmethod
    def text(self) -> str:
        """How it is chosen, in words."""


class OneChoice(RadiusSearch):
    """One of all radii on offer, for the whole of epsilon."""

    @cached_property
    def first(self) -> Stage:
        return self.plan.problem.choice(self.plan.epsilon)

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        return None

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.plan.radii[[int(np.argmax(drawn[0]))]]

    @property
    def places(self) -> np.ndarray:
        return np.arange(self.plan.radii.size)

    @property
    def price(self) -> float:
        plan = self.plan
        octaves, strength = (plan.radii.size - 1) / PER_OCTAVE, plan.n * float(plan.epsilon)
        return min(MOST * plan.quantile / octaves, max(FEWEST / strength, min(SMALL, TELL_APART / strength)))

    @cached_property
    def held(self) -> float:
        return self.plan.quantile - most_missed(self._costs, TOO_FEW) / (self.plan.n * float(self.plan.epsilon))

    @cached_property
    def times(self) -> float:
        """By the steps that it may be too high, and the one to the next radius on offer."""
        return float(2 ** ((most_steps(self._costs, TOO_LARGE) + 1) / PER_OCTAVE))

    @property
    def _costs(self) -> np.ndarray:
        """Prices over the mean of the noise."""
        return self.plan.problem.prices * float(self.plan.epsilon / self.plan.problem.range)

    def costs(self, target: str) -> list[Cost]:
        return [Cost("the radius", 1, self.plan.epsilon)]

    @property
    def numbers_text(self) -> str:
        return f"one of {self.plan.radii.size} radii"

    @property
    def text(self) -> str:
        return "for the whole of epsilon"


def most_missed(costs: np.ndarray, chance: float) -> float:
    """By how much the wanted count may be missed, over the mean of the noise, but for this chance, whatever the curves.

    The worst there are: the largest radius alone holds the wanted count, and all others miss it by just as much.

    >>> round(most_missed(np.linspace(0, 1e-9, 5), 0.025), 3)
    4.369
    """
    below = costs[-1] - costs[:-1]  # what the others are cheaper by
    low, high = float(below.max()), float(below.max()) + float(np.log(costs.size / chance)) + 1
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        fine = 1 - chances(np.concatenate([[0.0], middle - below]))[0] <= chance
        low, high = (low, middle) if fine else (middle, high)
    return high


def most_steps(costs: np.ndarray, chance: float) -> int:
    """How many radii above the one that is wanted the chosen one may lie, but for this chance, whatever the curves.

    The worst there are: no smaller radius holds anybody.

    >>> most_steps(np.linspace(0, 400, 5), 0.025), most_steps(np.zeros(5), 0.025)
    (0, 4)
    """
    found = 0
    for wanted in range(costs.size - 1):
        above = chances(costs[wanted:] - costs[wanted])[::-1].cumsum()[::-1]  # of this radius or a larger one
        found = max(found, int((above > chance).sum()) - 1)
    return found


#: Of the search of version 0.1: octaves about the first choice in which the second looks (where all curves are alike,
#: too high is likelier), and the share of the curves to be held that all octaves together cost at most.
ABOVE, BELOW = 1, 8
MOST_OF_TWO = 0.8


class TwoChoices(RadiusSearch):
    """The octave, then the radius, for half of epsilon each: plans of version 0.1, whose range is wide."""

    @cached_property
    def first(self) -> Stage:
        return self.plan.problem.choice(self.plan.epsilon / 2)

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        if len(drawn) > 1:
            return None
        places = np.arange(*self._window(drawn))
        price = self._price(places.size / PER_OCTAVE)
        return replace(self.plan.problem, places=places, price=price).choice(self.plan.epsilon / 2)

    def _window(self, drawn: Sequence[np.ndarray]) -> tuple[int, int]:
        middle = int(self.plan.problem.places[int(np.argmax(drawn[0]))])
        low, high = middle - PER_OCTAVE * BELOW, middle + PER_OCTAVE * ABOVE + 1
        return max(low, 0), min(high, self.plan.radii.size)

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.plan.radii[[self._window(drawn)[0] + int(np.argmax(drawn[1]))]]

    @property
    def places(self) -> np.ndarray:
        return np.arange(self.plan.radii.size - 1, -1, -PER_OCTAVE)[::-1]

    @property
    def price(self) -> float:
        return self._price(self.places.size)

    def _price(self, octaves: float) -> float:
        """Enough to tell radii apart that hold all curves."""
        return octave_price(self.plan.n, self.plan.epsilon / 2, octaves, self.plan.quantile, MOST_OF_TWO)

    @property
    def held(self) -> float:
        size = PER_OCTAVE * (BELOW + ABOVE) + 1
        missed = float((np.log(20 * size) + TELL_APART) / (self.plan.n * float(self.plan.epsilon / 2)))
        return self.plan.quantile - missed

    @property
    def times(self) -> None:
        return None

    def costs(self, target: str) -> list[Cost]:
        half = self.plan.epsilon / 2
        return [Cost("the octave of the radius", 1, half), Cost("the radius within it", 1, half)]

    @property
    def numbers_text(self) -> str:
        return f"one of {self.places.size} octaves, then one of its radii"

    @property
    def text(self) -> str:
        return "first the octave, then the radius"
