"""What a plan of a radius promises before any data: how many curves it holds, and how much too large it may be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.plans.accuracy import Accuracy
from dpfda.plans.verdict import verdict
from dpfda.results.bands import Band
from dpfda.results.verdict import Verdict
from dpfda.results.wording import AccuracyWords

if TYPE_CHECKING:
    from dpfda.plans.radius import RadiusPlan


class RadiusAccuracy(Accuracy):
    """Of a quantile: by which share of the curves it may be missed."""

    plan: RadiusPlan
    signal_name = "the share of curves that are to be held"

    @property
    def signal(self) -> float:
        return float(self.plan.quantile)

    @cached_property
    def verdict(self) -> Verdict:
        return RadiusVerdict(verdict(self.plan, self.rated, self.signal_name, self.rate), self.plan)

    @property
    def risk_range(self) -> tuple[float, float]:
        return self.expected_risk, self.expected_risk

    @property
    def expected_error(self) -> float:
        return self.plan.missed**2

    @cached_property
    def expected_risk(self) -> float:
        return self.plan.missed**2

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """A radius has no points."""
        raise ParameterError("a radius has no curve", "points", "Plan a mean with it.")

    def band(self, level: float = 0.95) -> Band:
        """A radius has no band."""
        raise ParameterError("a radius has no curve", "points", "Plan a mean with it.")


class RadiusVerdict(Verdict):
    """The verdict on a radius, by what it is sure to hold."""

    def __init__(self, found: Verdict, plan: RadiusPlan):
        super().__init__(found.ratio, found.signal, plan.wording.records, found._find)
        self._plan = plan

    @property
    def sentence(self) -> str:
        return f"{self.word.capitalize()}: {promise(self._plan)}"


def promise(plan: RadiusPlan) -> str:
    """How far off the radius can be, in a sentence."""
    records = plan.wording.records
    if not plan.means_something:
        return (
            f"nothing can be promised of the radius with {plan.n:,} {records} at epsilon {float(plan.epsilon):g}: it "
            f"could be anything between {plan.radii[0]:.3g} and {plan.radii[-1]:.3g}, and is not released."
        )
    held = f"with a probability of 95 % the radius holds at least {_down(plan.held)} of the {records}"
    if plan.times is None:
        return f"{held}."
    return (
        f"{held}, and is at most {_up(plan.times)} times as large as one that holds {plan.quantile:.3g} of them needs "
        "to be (or as the smallest on offer)."
    )


def _down(share: float) -> str:
    return f"{floor(100 * share) / 100:g}"


def _up(times: float) -> str:
    return f"{ceil(10 * times - 1e-9) / 10:g}"


@dataclass(frozen=True)
class Held(AccuracyWords):
    """How accurate a radius will be: which share of the curves it holds, in words."""

    plan: RadiusPlan
    risk: str = "share of the curves by which the quantile may be missed, squared"

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        return (("quantile", f"{self.plan.quantile:.3g}"), ("verdict", str(self.plan.verdict)))

    @property
    def sentence(self) -> str:
        told = promise(self.plan)
        cure = "" if self.plan.means_something else f" {self.plan.verdict.cure}"
        return f"{told[0].upper()}{told[1:]}{cure} This depends on no data."
