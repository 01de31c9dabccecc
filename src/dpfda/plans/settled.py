"""What a regression by moments settles before data: stages, their shares of the budget, and functions in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpfda.core.codec import LATER, Fact

#: Share of the budget for the moments of residuals, where there are four stages.
SECOND = Fraction(3, 25)


@dataclass(frozen=True, eq=False)
class Moments(Fact):
    """What was settled before data: functions in each stage, the first moment's share, and the passes over the data."""

    components: int
    refined: int
    split: float
    passes: int
    first: Fraction = Fraction(1)
    size: Fraction = Fraction(0)

    @property
    def last(self) -> Fraction:
        """What is left for the last stage."""
        return 1 - self.first - self.size - SECOND


@dataclass(frozen=True, eq=False)
class Guided(Fact):
    """The same where the radius of responses is found first.

    Shares are of all of epsilon; those of `moments` are of what the radius and the check leave.

    `way` is "mean" (the mean alone), "residuals" (the mean, the size of residuals about it, then their moments) or
    "moments" (as `moments` says, with responses clipped to the radius).
    """

    way: str
    radius: Fraction
    count: Fraction = Fraction(0)
    mean: Fraction = Fraction(0)
    first: Fraction = Fraction(0)
    size: Fraction = Fraction(0)
    components: int = 0
    refined: int = 0
    moments: Moments | None = None
    #: Share of the check for bands, which leaves with the last moments of residuals; older plans have none.
    check: Fraction | None = field(default=None, metadata=LATER)

    @property
    def left(self) -> Fraction:
        """What is left for the stages after the radius, without the check."""
        return 1 - self.radius - (self.check or 0)

    @property
    def last(self) -> Fraction:
        """What is left for the moments of residuals."""
        return self.left - self.count - self.mean - self.first - self.size

    @property
    def passes(self) -> int:
        after = {"mean": 1, "residuals": 3, "moments": 0 if self.moments is None else self.moments.passes}[self.way]
        return after + (self.radius > 0)
