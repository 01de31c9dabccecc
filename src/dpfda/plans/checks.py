"""Rules that several plans share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError, shown
from ..methods import Method
from ..protocol import MOST_RECORDS


def whole(name: str, value: Any, least: int, why: str) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}", shown(value), why)
    return int(value)


def number_of_records(n: Any, why: str) -> int:
    """At least two, and few enough for exact totals."""
    n = whole("n", n, 2, why)
    if n > MOST_RECORDS:
        raise ParameterError(f"n must be at most {MOST_RECORDS}", n, "Release several groups instead.")
    return n


def check_method(method: Any) -> None:
    if method is not None and not isinstance(method, Method):
        raise ParameterError(
            "method must be a dpfda method",
            shown(method),
            "Pass method=dp.Minimax(), dp.QR(), dp.FRL() or dp.KNorm(), or None for the default.",
        )
