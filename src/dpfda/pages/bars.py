"""What is spent of a budget, as a bar: one piece for each charge, and what is left is empty.

>>> Bar((1.0, 0.5), 3.0, own=0, description="1.5 of 3 spent").svg().count("<rect")
3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpfda.pages.safe import markup, text

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 1000, 20
#: More pieces than that cannot be told apart; the rest is one piece.
PIECES = 200


@dataclass(frozen=True)
class Bar:
    """A budget and the charges that it holds.

    Parameters
    ----------
    parts : sequence of float
        What was charged, in order.
    total : float
        The budget.
    own : int, optional
        The charge that a page is about: it is darker.
    description : str, optional
        The same in words, for screen readers.
    planned : float, optional
        What would be charged next: it is hatched.

    Examples
    --------
    >>> Bar((1,), 2, description="1 of 2 spent").svg()[:26]
    Markup('<svg class="bar" role="img')
    """

    parts: Sequence[float]
    total: float
    own: int | None = None
    description: str = ""
    planned: float = 0.0

    def svg(self) -> Markup:
        """The bar as markup of a page."""
        pieces = [(float(part), "own" if i == self.own else "spent") for i, part in enumerate(self.parts)]
        if len(pieces) > PIECES:
            pieces = [(sum(part for part, kind in pieces if kind == "spent"), "spent")] + [
                each for each in pieces if each[1] == "own"
            ]
        pieces += [(self.planned, "planned")] if self.planned else []
        made, left = [], 0.0
        for part, kind in pieces:
            wide = WIDTH * min(part / self.total, 1.0) if self.total > 0 else 0.0
            made.append(f'<rect class="{kind}" x="{left:.1f}" width="{max(wide - 2, 0.5):.1f}" height="{HEIGHT}"/>')
            left += wide
        made.append(f'<rect class="frame" x="0" width="{WIDTH}" height="{HEIGHT}" fill="none"/>')
        return markup(
            f'<svg class="bar" role="img" aria-label="{text(self.description)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'preserveAspectRatio="none">{"".join(made)}</svg>'
        )
