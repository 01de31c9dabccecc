"""Units: whom the guarantee is about, and which of a unit's curves are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfda.core.checks import check_name
from dpfda.core.codec import Fact
from dpfda.core.errors import ParameterError, shown
from dpfda.core.nouns import a


@dataclass(frozen=True, eq=False)
class Unit(Fact):
    """Whom the guarantee is about: the public name of the column that says whose curve it is.

    A unit's curves are averaged into one.

    Parameters
    ----------
    name : str
        The column.
    most : int, optional
        The most curves of a unit that are kept: those whose labels come first in a fixed random order. Default: all.
    order : str, optional
        The column of these labels (a day, a visit). Default: their number within the unit.

    Examples
    --------
    >>> Unit("household", most=30, order="day").name
    'household'
    """

    name: str
    most: int | None = None
    order: str | None = None

    def __post_init__(self) -> None:
        for role in ("name", "order"):
            text = getattr(self, role)
            if role == "order" and text is None:
                continue
            if not isinstance(text, str) or not text.strip():
                raise ParameterError(f"the {role} of a unit is a column", shown(text), "Pass unit='household', say.")
            check_name("names of columns", text)
        if self.most is None:
            if self.order is not None:
                raise ParameterError("an order serves to keep some curves", "no most", "Pass most=30, say.")
            return
        if isinstance(self.most, bool) or not isinstance(self.most, int | np.integer) or self.most < 1:
            raise ParameterError("most must be a whole number of at least 1", shown(self.most), "Pass most=30, say.")
        object.__setattr__(self, "most", int(self.most))

    @property
    def description(self) -> str:
        """The rule as statements spell it."""
        return self.described(self.name)

    def described(self, noun: str) -> str:
        """The same where the unit is called by another noun than its column.

        Parameters
        ----------
        noun : str
            What the unit is called.
        """
        if self.most is None:
            return f"all curves of {a(noun)} are averaged into one"
        by = f"by a fixed random order of the labels in {self.order!r}" if self.order else "by their number"
        return f"at most {self.most} curves of {a(noun)} are kept ({by}, never by their values) and averaged"


def as_unit(unit: Any) -> Unit | None:
    """A column's name, or a whole rule."""
    if not (unit is None or isinstance(unit, str | Unit)):
        raise ParameterError("a unit is a column, or a rule", type(unit).__name__, "Pass unit='household', say.")
    return Unit(unit) if isinstance(unit, str) else unit
