"""What a release says of a budget that renews: the period it was charged in, and what all periods add up to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from dpfda.core.codec import Plain
from dpfda.core.errors import FileError

#: What charges can add up to, as it is spelt.
TOTAL = re.compile(r"[0-9]{1,2500}(/0*[1-9][0-9]{0,2499})?")
#: More than any study spends.
MOST = 10**9


@dataclass(frozen=True)
class Renewal:
    """A budget that renews every `every` (a year, say): the charge's `period` and what was `spent` over all of them."""

    every: str
    period: str
    spent: Fraction

    def to_plain(self) -> Plain:
        return {"every": self.every, "period": self.period, "spent": str(self.spent)}

    @classmethod
    def from_plain(cls, data: Plain) -> Renewal | None:
        """What :meth:`to_plain` wrote; nothing for nothing."""
        if data is None:
            return None
        said = data if isinstance(data, dict) else {}
        every, period, spent = (str(said.get(name, "\n")) for name in ("every", "period", "spent"))
        if not f"{every}{period}".isprintable() or not TOTAL.fullmatch(spent) or Fraction(spent) > MOST:
            raise FileError("The file does not say whole which budget was charged.")
        return cls(every, period, Fraction(spent))

    def __str__(self) -> str:
        return (
            f"Its budget renews every {self.every}; this charge is in that of {self.period}. Over all periods the "
            f"study has spent epsilon {float(self.spent):g} up to and including it: that is what holds for somebody "
            "whose data is in all of them."
        )
