"""How ranks are released: in which stages, with how many cosines, for which shares of the budget. All of it public.

The first stage takes levels straight from the range and finds out roughly where curves are; later ones take levels
that follow what was found, so that most numbers tell of what matters (derivations: percentiles).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpfda.core.codec import Fact, exact_fraction
from dpfda.core.errors import ParameterError, shown

#: What cosines of order k are multiplied by, ``k^-1/2``: higher ones say less and take their share of what one record
#: can change. In a stage of so many orders that most only have the constant of time, by a steeper power.
POWER, LONG, LONG_POWER = 0.5, 16, 0.75
#: By records times epsilon: of each stage its share, the cosines of time for the first order, how many orders have
#: some, by which power of the order there are fewer, and up to which order the constant of time follows. Chosen among
#: about 110 settings on simulated curves (derivations: fitted percentiles).
SCHEDULES: tuple[tuple[float, tuple[tuple[str, int, int, float, int], ...]], ...] = (
    (400, (("3/10", 5, 4, 1.0, 4), ("7/10", 10, 4, 1.2, 4))),
    (1500, (("1/5", 6, 4, 1.0, 4), ("4/5", 12, 10, 1.4, 10))),
    (4000, (("1/5", 8, 4, 1.0, 4), ("4/5", 16, 12, 1.2, 12))),
    (15000, (("1/15", 8, 4, 1.0, 4), ("14/15", 24, 12, 1.2, 12))),
    (70000, (("1/10", 12, 4, 1.0, 4), ("9/10", 32, 12, 0.8, 32))),
    (math.inf, (("1/30", 12, 4, 1.0, 4), ("29/30", 36, 12, 0.8, 32))),
)
#: From so many records times epsilon on, shares of cells over all times get this part: below, noise hides them.
POOLED = ((70000, Fraction(1, 50)), (5000, Fraction(1, 20)), (0, Fraction(0)))
#: Most orders, and most cosines of time for one: features of a level stay small integers.
MOST_ORDERS, MOST_FUNCTIONS = 32, 1024


@dataclass(frozen=True, eq=False)
class RankDesign(Fact):
    """Stages of cosines of ranks: for each its share of the budget, and the cosines of time for each order.

    After the first of them, shares of cells over all times may be released, to find values that many records have.

    Parameters
    ----------
    shares : sequence of Fraction
        What each stage gets of the budget; they add up to one with the count's.
    functions : sequence of sequences of int
        For each stage, how many cosines of time each order has; never more for a higher order.
    count : Fraction, optional
        What a noisy count of the records gets, where their number is private.
    pooled : Fraction, optional
        What shares of cells get, where they are released.

    Examples
    --------
    >>> RankDesign(("1/5", "4/5"), ((6, 4), (12, 6, 4)))
    RankDesign(shares=(1/5, 4/5), functions=((6, 4), (12, 6, 4)))
    """

    shares: tuple[Fraction, ...]
    functions: tuple[tuple[int, ...], ...]
    count: Fraction = Fraction(0)
    pooled: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        cure = "Take what a plan chooses: plan.chosen."
        shares = tuple(exact_fraction(share) for share in self.shares)
        count, pooled = exact_fraction(self.count), exact_fraction(self.pooled)
        functions = tuple(tuple(int(f) for f in stage) for stage in self.functions)
        known = [share for share in shares if share is not None]
        if len(known) != len(functions) or count is None or pooled is None or not known:
            raise ParameterError("stages have a share and cosines each", shown(self.shares), cure)
        if min(known) <= 0 or min(count, pooled) < 0 or sum(known, count + pooled) != 1:
            raise ParameterError("shares are positive and add up to one", shown(self.shares), cure)
        for stage in functions:
            falling = stage and all(a >= b for a, b in pairwise(stage))
            if not falling or stage[-1] < 1 or stage[0] > MOST_FUNCTIONS or len(stage) > MOST_ORDERS:
                raise ParameterError("higher orders have no more cosines of time", shown(stage), cure)
        object.__setattr__(self, "shares", tuple(known))
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "pooled", pooled)
        object.__setattr__(self, "functions", functions)

    def weights(self, stage: int) -> tuple[float, ...]:
        """What each order of a stage is multiplied by."""
        orders = len(self.functions[stage])
        power = LONG_POWER if orders > LONG else POWER
        return tuple(float(k) ** -power for k in range(1, orders + 1))

    @property
    def most(self) -> int:
        """The most cosines of time that an order has."""
        return max(stage[0] for stage in self.functions)

    def with_count(self, share: Fraction) -> RankDesign:
        """The same with a noisy count, which takes its share of all stages."""
        kept = 1 - share
        return RankDesign(tuple(s * kept for s in self.shares), self.functions, share, self.pooled * kept)

    def __repr__(self) -> str:
        more = "".join(f", {name}={share}" for name in ("count", "pooled") if (share := getattr(self, name)))
        return f"RankDesign(shares=({', '.join(map(str, self.shares))}), functions={self.functions}{more})"


def design_for(strength: float, available: int) -> RankDesign:
    """The stages for so many records times epsilon, on a grid that tells this many cosines of time apart.

    >>> design_for(1000.0, 48)
    RankDesign(shares=(1/5, 4/5), functions=((6, 3, 2, 2), (12, 5, 3, 2, 1, 1, 1, 1, 1, 1)))
    """
    rows = next(rows for limit, rows in SCHEDULES if strength < limit)
    functions = tuple(
        tuple(max(1, min(available, round(first * k**-decay))) if k <= orders else 1 for k in range(1, most + 1))
        for _, first, orders, decay, most in rows
    )
    pooled = next(share for least, share in POOLED if strength >= least)
    return RankDesign(tuple(Fraction(share) * (1 - pooled) for share, *_ in rows), functions, Fraction(0), pooled)
