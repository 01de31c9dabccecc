"""What a released mean says of what it leaves out: a size, and whether it is cause for concern.

All of it is read off numbers that were released, so saying it costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpfda.results.beyond import TOO_SMALL
from dpfda.results.mean_bands import ALL_CUT, SEEN, Evidence

#: What was left out is large from this share of the released curve's own size on.
LARGE = 0.5


@dataclass(frozen=True)
class LeftOut:
    """How much of the mean of the curves is not in the release, as a height over the domain (root mean square).

    Parameters
    ----------
    value : float
        As it was drawn, noise included: it may be negative.
    scale : float
        The scale of its noise (Laplace).
    saturated : bool
        Whether it is so large that curves were cut to be measured: it may be more.
    limit : float
        The largest value that can be measured.
    large : bool
        Whether it is more than noise, and large beside the released curve.
    beyond : bool
        Whether most curves reach beyond the public bound, so that it is too small.

    Examples
    --------
    >>> print(LeftOut(0.01, 0.02, False, 0.5))
    Of the mean, 0.01 (root mean square, noise of scale 0.02) was left out.
    """

    value: float
    scale: float
    saturated: bool
    limit: float
    large: bool = False
    beyond: bool = False

    def __str__(self) -> str:
        more = " It may be more: this is near the largest size that can be measured." if self.saturated else ""
        size = f"{self.value:.3g} (root mean square, noise of scale {self.scale:.3g})"
        return f"Of the mean, {size} was left out.{more}"

    @property
    def caution(self) -> str:
        """One sentence where there is cause for concern, else nothing."""
        if self.beyond:
            return TOO_SMALL
        if self.large:
            size = f"{self.value:.2g} and more" if self.saturated else f"about {self.value:.2g}"
            return (
                f"Much was left out of this mean ({size}, as a height): it has finer features than the release can "
                "show, or many curves were clipped."
            )
        return ""


def measured(evidence: Evidence, root: float, shown: float, beyond: bool) -> LeftOut | None:
    """What a noisy length says, on a domain whose length has this root; None where there is none.

    `shown` is the size of the released curve about its own level, `beyond` whether most curves are beyond the bound.
    """
    length = evidence.left
    if length is None:
        return None
    seen, cut = length.drawn > SEEN * length.scale, length.drawn > ALL_CUT * length.cap
    large = seen and (cut or length.drawn > LARGE * shown * root)
    return LeftOut(length.drawn / root, length.scale / root, length.saturated, length.cap / root, large, beyond)
